#include "kernel_operator.h"

using namespace AscendC;

// The kernel of ../flags, and block 0 prints what instructions leave in registers: sums, extremes, counts, comparisons, and
// how masks and scales reach the instructions that take them as they are.
class Registers {
public:
    __aicore__ inline void Run(TPipe &pipe)
    {
        pipe.InitBuffer(buffer, 8 * 1024);
        LocalTensor<float> all = buffer.Get<float>();
        src = all;
        dst = all[512];
        tmp = all[1024];
        other = all[1536];
        for (uint32_t i = 0; i < 512; i++) {
            src.SetValue(i, float(i * 37 % 101)); // 100 is first at 30
        }
        Sums();
        Extremes();
        Counts();
        Comparisons();
        Masks();
        Scales();
    }

private:
    __aicore__ inline void Sums()
    {
        ReduceSum(dst, src, tmp, 130);
        AscendC::printf("sum %f %f", GetAccVal<float>(), GetReduceRepeatSumSpr<float>());
        Cast(other.ReinterpretCast<half>(), src, RoundMode::CAST_NONE, 20);
        PipeBarrier<PIPE_V>();
        ReduceSum(dst.ReinterpretCast<half>(), other.ReinterpretCast<half>(), tmp.ReinterpretCast<half>(), 20);
        AscendC::printf(" %f", float(GetAccVal<half>()));
    }
    __aicore__ inline void Extremes()
    {
        float value = 0, index = 0;
        WholeReduceMax(dst, src, 64, 8, 1, 1, 8);
        GetReduceMaxMinCount<float>(value, index);
        AscendC::printf("\nmax %f %u", value, *reinterpret_cast<uint32_t *>(&index));
        WholeReduceMin(dst, src[8], 60, 1, 1, 1, 8);
        GetReduceRepeatMaxMinSpr<float>(value, index);
        AscendC::printf(" min %f %u", value, *reinterpret_cast<uint32_t *>(&index));
        half halfValue = 0, halfIndex = 0;
        WholeReduceMax(dst.ReinterpretCast<half>(), other.ReinterpretCast<half>(), 16, 1, 1, 1, 8);
        GetReduceMaxMinCount<half>(halfValue, halfIndex);
        AscendC::printf(" half %f %u", float(halfValue), *reinterpret_cast<uint16_t *>(&halfIndex));
        ReduceMin(dst, src[8], tmp, 40, true);
        GetReduceMaxMinCount<float>(value, index);
        AscendC::printf(" %f", value);
    }
    __aicore__ inline void Counts()
    {
        uint64_t kept = 0;
        GatherMask(dst, src, uint8_t(3), true, 70, {1, 2, 16, 0}, kept);
        AscendC::printf("\ncounts %u %u", uint32_t(kept), uint32_t(GetGatherMaskRemainCount()));
        LocalTensor<uint32_t> pattern = other[256].ReinterpretCast<uint32_t>();
        Duplicate(pattern, uint32_t(0x80000001), 64);
        PipeBarrier<PIPE_V>();
        GatherMask(dst, src, pattern, false, 0, {1, 4, 8, 0}, kept);
        AscendC::printf(" %u", uint32_t(kept));
    }
    __aicore__ inline void Comparisons()
    {
        LocalTensor<uint8_t> bits = tmp.ReinterpretCast<uint8_t>();
        Duplicate(other, 50.0f, 64);
        PipeBarrier<PIPE_V>();
        Compare(src, other, CMPMODE::LT, uint64_t(64), {1, 1, 1, 8, 8, 8});
        GetCmpMask(bits);
        AscendC::printf("\ncompared %x %x", tmp.ReinterpretCast<uint32_t>().GetValue(0),
                        tmp.ReinterpretCast<uint32_t>().GetValue(1));
        // Mode 0 with the bits of the comparison, mode 2 with the address of the same bits, mode 1 with 7.
        BinaryRepeatParams params{1, 1, 1, 8, 8, 8};
        SetVectorMask<float>(64);
        Select<float, SELMODE::VSEL_CMPMASK_SPR>(dst, src, other, 1, params);
        LocalTensor<uint32_t> address = tmp[64].ReinterpretCast<uint32_t>();
        Duplicate(address, uint32_t(reinterpret_cast<uint64_t>(bits.GetPhyAddr())), 32);
        PipeBarrier<PIPE_V>();
        SetCmpMask(address);
        SetVectorMask<float>(64);
        Select<float, SELMODE::VSEL_TENSOR_TENSOR_MODE>(dst[64], src, other, 1, params);
        Duplicate(tmp[128], 7.0f, 32);
        PipeBarrier<PIPE_V>();
        SetCmpMask(tmp[128]);
        SetVectorMask<float>(64);
        Select(dst[128], bits, src, 1, params);
        ResetMask();
        AscendC::printf(" selected %f %f %f %f %f %f", dst.GetValue(1), dst.GetValue(2), dst.GetValue(65),
                        dst.GetValue(66), dst.GetValue(129), dst.GetValue(130));
    }
    // A call by count leaves all elements and normal mode to the next that takes the mask as it is.
    __aicore__ inline void Masks()
    {
        Duplicate(dst, 0.0f, 256);
        PipeBarrier<PIPE_V>();
        SetMaskCount();
        SetVectorMask<float, MaskMode::COUNTER>(0, 100);
        Adds<float, false>(dst, dst, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
        SetMaskNorm();
        SetVectorMask<float, MaskMode::NORMAL>(0, 0x5);
        PipeBarrier<PIPE_V>();
        Adds<float, false>(dst, dst, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
        PipeBarrier<PIPE_V>();
        Adds(tmp, dst, 0.0f, 10);
        Adds<float, false>(dst, dst, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
        PipeBarrier<PIPE_V>();
        ReduceSum(tmp, dst, other, 256); // 100 in counter mode, 2 by bits, 64 after the call by count
        AscendC::printf("\nmasked %f", GetAccVal<float>());
    }
    __aicore__ inline void Scales()
    {
        LocalTensor<int32_t> whole = tmp.ReinterpretCast<int32_t>();
        LocalTensor<half> halves = dst.ReinterpretCast<half>();
        Duplicate(whole, int32_t(1000), 64);
        PipeBarrier<PIPE_V>();
        SetDeqScale(half(0.125f));
        Cast(halves, whole, RoundMode::CAST_NONE, 64);
        Duplicate(tmp.ReinterpretCast<int16_t>(), int16_t(300), 128);
        PipeBarrier<PIPE_V>();
        SetDeqScale(0.5f, -30, true);
        CastDequant<int8_t, int16_t, false, false>(other.ReinterpretCast<int8_t>(), tmp.ReinterpretCast<int16_t>(), 32);
        AscendC::printf("\nscaled %f %d", float(halves.GetValue(63)), other.ReinterpretCast<int8_t>().GetValue(0));
    }

    TBuf<QuePosition::VECCALC> buffer;
    LocalTensor<float> src, dst, tmp, other;
};

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
        Registers().Run(pipe);
    }
}
