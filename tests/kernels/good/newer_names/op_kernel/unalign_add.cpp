#include "kernel_operator.h"

using namespace AscendC;

// The kernel of ../flags, and block 0 prints what the newer names of CompareScalar, WholeReduce*, BlockReduce* and
// PairReduceSum compute of 0, 1, ... 63.
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
        TBuf<QuePosition::VECCALC> countBuffer, resultBuffer;
        pipe.InitBuffer(countBuffer, 64 * sizeof(float));
        pipe.InitBuffer(resultBuffer, 64 * sizeof(float));
        LocalTensor<float> counted = countBuffer.Get<float>(), result = resultBuffer.Get<float>();
        LocalTensor<uint8_t> bits = result.ReinterpretCast<uint8_t>();
        CreateVecIndex(counted, 0.0f, 64);
        Compares(bits, counted, 60.0f, CMPMODE::GE, 64);
        AscendC::printf("%x %x ", bits.GetValue(6), bits.GetValue(7));
        Compares(bits, counted, 8.0f, CMPMODE::LT, uint64_t(64), 1, {1, 1, 8, 8});
        AscendC::printf("%x %x ", bits.GetValue(0), bits.GetValue(1));
        ReduceRepeat<ReduceType::SUM>(result, counted, 64, 1, 1, 1, 8);
        AscendC::printf("%f ", result.GetValue(0));
        ReduceRepeat<ReduceType::MAX>(result, counted, 64, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
        AscendC::printf("%f ", result.GetValue(0));
        ReduceRepeat<ReduceType::MIN>(result, counted, 64, 1, 1, 1, 8);
        AscendC::printf("%f ", result.GetValue(0));
        ReduceDataBlock<ReduceType::SUM>(result, counted, 64, 1, 1, 1, 8);
        AscendC::printf("%f ", result.GetValue(7));
        ReduceDataBlock<ReduceType::MAX>(result, counted, 64, 1, 1, 1, 8);
        AscendC::printf("%f ", result.GetValue(7));
        ReduceDataBlock<ReduceType::MIN>(result, counted, 64, 1, 1, 1, 8);
        AscendC::printf("%f ", result.GetValue(7));
        ReducePairElem<ReduceType::SUM>(result, counted, 64, 1, 1, 1, 8);
        AscendC::printf("%f", result.GetValue(31));
    }
}
