#include "kernel_operator.h"

using namespace AscendC;

// The kernel of ../flags, and block 0 counts where the compiler's instructions that gather, choose, merge and convert
// differ from plain loops.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

class Arrange {
public:
    __aicore__ inline void Run(TPipe &pipe, GM_ADDR z)
    {
        pipe.InitBuffer(buffer, 8192);
        values = buffer.GetWithOffset<float>(256, 0);
        others = buffer.GetWithOffset<float>(256, 1024);
        result = buffer.GetWithOffset<float>(512, 2048);
        words = buffer.GetWithOffset<uint32_t>(256, 4096);
        for (uint32_t i = 0; i < 256; i++) {
            values.SetValue(i, float((i * 37) % 101) - 50.0f);
            others.SetValue(i, float(i) * 0.5f);
        }
        PipeBarrier<PIPE_ALL>();
        set_mask_norm();
        set_vector_mask(uint64_t(-1), uint64_t(-1));
        Gathers();
        Selects();
        Sorts();
        Converts();
        uint32_t sum = ld_dev((__gm__ uint32_t *)z, 8);
        st_dev(sum ^ 1, (__gm__ uint32_t *)z, 8);
        bool changed = ld_dev((__gm__ uint32_t *)z + 1, 4) == (sum ^ 1);
        st_dev(sum, (__gm__ uint32_t *)z, 8);
        AscendC::printf("dev %d", int(changed));
    }

private:
    template <typename T> __aicore__ inline __ubuf__ T *At(uint32_t byte)
    {
        return (__ubuf__ T *)(buffer.GetWithOffset<uint8_t>(32, byte).GetPhyAddr());
    }
    __aicore__ inline uint32_t Offset(uint32_t byte)
    {
        LocalTensor<uint8_t> front = buffer.Get<uint8_t>();
        LocalMemAllocator<Hardware::UB> all;
        return uint32_t(front.GetPhyAddr() - all.Alloc<uint8_t, 32>().GetPhyAddr()) + byte;
    }
    __aicore__ inline void Gathers()
    {
        int wrong = 0, wrongBlocks = 0, wrongKept = 0;
        for (uint32_t i = 0; i < 64; i++)
            words.SetValue(i, (i * 5 % 64) * 4);
        PipeBarrier<PIPE_ALL>();
        vgather(At<uint32_t>(2048), At<uint32_t>(4096), Offset(64), 8, 1);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 64; i++)
            wrong += result.GetValue(i) != values.GetValue(16 + i * 5 % 64);
        for (uint32_t i = 0; i < 8; i++)
            words.SetValue(i, (7 - i) * 32);
        PipeBarrier<PIPE_ALL>();
        vgatherb(At<uint32_t>(2048), At<uint32_t>(4096), Offset(0), 8, 1, 1);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 64; i++)
            wrongBlocks += result.GetValue(i) != values.GetValue((7 - i / 8) * 8 + i % 8);
        set_mask_count();
        set_vector_mask(0, 96);
        vreducev2(At<uint32_t>(2048), At<uint32_t>(0), At<uint32_t>(0), 1, 1, 2, 8, 0);
        PipeBarrier<PIPE_ALL>();
        set_mask_norm();
        set_vector_mask(uint64_t(-1), uint64_t(-1));
        for (uint32_t i = 0; i < 48; i++)
            wrongKept += result.GetValue(i) != values.GetValue(2 * i + 1);
        AscendC::printf("gather %d, gatherb %d, reduce %d (%d), ", wrong, wrongBlocks, wrongKept,
                        int(GetGatherMaskRemainCount()));
    }
    __aicore__ inline void Selects()
    {
        int wrong = 0;
        for (uint32_t i = 0; i < 4; i++)
            words.SetValue(i, 0x0f0f3355u);
        PipeBarrier<PIPE_ALL>();
        set_cmpmask(At<uint32_t>(4096));
        vsel(At<float>(2048), At<float>(0), At<float>(1024), 2, 1, 1, 1, 8, 8, 8);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 128; i++)
            wrong += result.GetValue(i) != (0x0f0f3355u >> (i % 32) & 1 ? values.GetValue(i) : others.GetValue(i));
        words.ReinterpretCast<float>().SetValue(0, 3.0f);
        words.SetValue(8, 0xaaaaaaaau);
        words.SetValue(9, 0xaaaaaaaau);
        PipeBarrier<PIPE_ALL>();
        set_cmpmask(At<uint32_t>(4096));
        vsel(At<float>(2048), At<float>(0), At<uint8_t>(4096 + 32), 1, 1, 1, 1, 8, 8, 8, 1);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 64; i++)
            wrong += result.GetValue(i) != (i % 2 ? values.GetValue(i) : 3.0f);
        AscendC::printf("select %d, ", wrong);
    }
    __aicore__ inline void Sorts()
    {
        int wrong = 0, wrongMerge = 0;
        for (uint32_t i = 0; i < 64; i++)
            words.SetValue(i, i);
        PipeBarrier<PIPE_ALL>();
        vbitsort(At<float>(2048), At<float>(0), At<uint32_t>(4096), 2);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t list = 0; list < 2; list++)
            for (uint32_t i = 0; i < 32; i++) {
                float value = result.GetValue(64 * list + 2 * i);
                wrong += i && value > result.GetValue(64 * list + 2 * i - 2);
                wrong += value != values.GetValue(result.ReinterpretCast<uint32_t>().GetValue(64 * list + 2 * i + 1));
            }
        __ubuf__ float *lists[4] = {At<float>(2048), At<float>(2048 + 256), nullptr, nullptr};
        vmrgsort4(At<float>(5120), lists, 32 | 32 << 16, 1 | 3 << 8);
        PipeBarrier<PIPE_ALL>();
        LocalTensor<float> merged = buffer.GetWithOffset<float>(128, 5120);
        for (uint32_t i = 1; i < 64; i++)
            wrongMerge += merged.GetValue(2 * i) > merged.GetValue(2 * i - 2);
        AscendC::printf("sort %d, merge %d, ", wrong, wrongMerge);
    }
    __aicore__ inline void Converts()
    {
        int wrong = 0, wrongPairs = 0;
        vsubreluconv_f322f16(At<half>(2048), At<float>(0), At<float>(1024), 1, 1, 1, 1, 8, 8, 8, false);
        PipeBarrier<PIPE_ALL>();
        LocalTensor<half> narrow = result.ReinterpretCast<half>();
        for (uint32_t i = 0; i < 64; i++) {
            float difference = values.GetValue(i) - others.GetValue(i);
            wrong += narrow.GetValue(i) != half(difference > 0.0f ? difference : 0.0f);
        }
        for (uint32_t i = 0; i < 128; i++)
            narrow.SetValue(i, half(float(i % 16) - 8.0f));
        PipeBarrier<PIPE_ALL>();
        vconv_f162s4r(At<void>(4096), At<half>(2048), 1, 1, 1, 2, 8);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 64; i++)
            wrongPairs += (words.ReinterpretCast<uint8_t>().GetValue(i) & 15) != ((2 * i % 16) ^ 8);
        AscendC::printf("relu %d, int4 %d, ", wrong, wrongPairs);
    }

    TBuf<QuePosition::VECCALC> buffer;
    LocalTensor<float> values, others, result;
    LocalTensor<uint32_t> words;
};

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
        Arrange arrange;
        arrange.Run(pipe, z);
    }
}
