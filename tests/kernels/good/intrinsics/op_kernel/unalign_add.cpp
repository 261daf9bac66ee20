#include "kernel_operator.h"

using namespace AscendC;

// The kernel of ../flags, and block 0 computes with plain pointers, sets registers and dumps what it has.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(xBuffer, TILE * sizeof(half));
    pipe.InitBuffer(yBuffer, TILE * sizeof(half));
    LocalTensor<half> xLocal = xBuffer.Get<half>();
    LocalTensor<half> yLocal = yBuffer.Get<half>();
    event_t loaded = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE2_V));
    event_t added = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE3));
    event_t computed = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE2));
    event_t stored = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE3_MTE2));
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(loaded);
        WaitFlag<HardEvent::MTE2_V>(loaded);
        Add(xLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE3>(added);
        WaitFlag<HardEvent::V_MTE3>(added);
        SetFlag<HardEvent::V_MTE2>(computed);
        WaitFlag<HardEvent::V_MTE2>(computed);
        DataCopy(zGm[at], xLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(stored);
        WaitFlag<HardEvent::MTE3_MTE2>(stored);
    }
    if (GetBlockIdx() == 0) {
        TBuf<QuePosition::VECCALC> leftBuffer, rightBuffer, resultBuffer;
        pipe.InitBuffer(leftBuffer, 64 * sizeof(float));
        pipe.InitBuffer(rightBuffer, 64 * sizeof(float));
        pipe.InitBuffer(resultBuffer, 64 * sizeof(float));
        LocalTensor<float> left = leftBuffer.Get<float>(), right = rightBuffer.Get<float>();
        LocalTensor<float> result = resultBuffer.Get<float>();
        __ubuf__ float *l = (__ubuf__ float *)left.GetPhyAddr(), *r = (__ubuf__ float *)right.GetPhyAddr();
        __ubuf__ float *to = (__ubuf__ float *)result.GetPhyAddr();
        set_mask_norm();
        set_vector_mask(0, UINT64_MAX);
        vector_dup(l, 1.5f, 1, 1, 1, (uint8_t)8, (uint8_t)8);
        vector_dup(r, 2.0f, 1, 1, 1, (uint8_t)8, (uint8_t)8);
        pipe_barrier(PIPE_V);
        vmul(to, l, r, 1, 1, 1, 1, 8, 8, 8);
        pipe_barrier(PIPE_V);
        vadds(to, to, -4.0f, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vabs(to, to, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vconv_f322s32r((__ubuf__ int32_t *)l, to, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vcgadd(r, to, 1, 1, 1, 8);
        pipe_barrier(PIPE_V);
        set_flag(PIPE_V, PIPE_S, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
        vcmpvs_gt((__ubuf__ uint8_t *)to, to, 0.5f, 1, 1, 1, 8, 8);
        set_flag(PIPE_V, PIPE_S, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID1);
        AscendC::printf("%x ", result.ReinterpretCast<uint32_t>().GetValue(1));
        AscendC::printf("%d %f ", left.ReinterpretCast<int32_t>().GetValue(63), right.GetValue(7));
        copy_ubuf_to_ubuf((__ubuf__ void *)l, (__ubuf__ void *)r, 0, 1, 1, 0, 0);
        pipe_barrier(PIPE_V);
        set_flag(PIPE_V, PIPE_S, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
        DumpAccChkPoint(left, 7, 0, 2);
        uint32_t sizes[2] = {1, 2};
        DumpTensor(right, 8, 2, ShapeInfo(2, sizes));
        set_atomic_f16();
        set_atomic_max();
        uint16_t type, op;
        GetStoreAtomicConfig(type, op);
        SetStoreAtomicConfig<AtomicDtype::ATOMIC_NONE, AtomicOp::ATOMIC_SUM>();
        AscendC::printf("%u %u %d %d ", type, op, int(GetCtrlSpr<48, 48>()),
                        GetSaturationFlag<SaturationMode::FLOAT>());
        // Three halves of x behind one of padding; the paddings hold 7.
        SetPadValue(half(7.0f));
        LocalTensor<half> padded = result.ReinterpretCast<half>();
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        DataCopyPad(padded, xGm, DataCopyExtParams(1, 3 * sizeof(half), 0, 0, 0),
                    DataCopyPadExtParams<half>(false, 1, 2, 0));
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
        AscendC::printf("%f %f", padded.GetValue(0), padded.GetValue(4));
    }
}
