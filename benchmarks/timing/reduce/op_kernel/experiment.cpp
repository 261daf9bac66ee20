// Sums by several orders of instructions, on one core: 30000 floats halved by additions down to one repeat, or by ReduceRepeat
// all the way; 256 floats by pairs or triples of the two instructions that reduce. The tiling data say how often: the
// difference between that and never is what the published programs read off the clock. The first two read it without waiting
// for their copy, which is under way, so theirs counts here as well.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t LONG = 30000, SHORT = 256, REPEAT = 64, BLOCK = 8; // floats

__aicore__ inline void Count(uint32_t elements)
{
    SetVectorMask<float, MaskMode::COUNTER>(0, elements);
}

__aicore__ inline void Repeats(const LocalTensor<float> &to, const LocalTensor<float> &from, uint32_t elements)
{
    Count(elements);
    ReduceRepeat<ReduceType::SUM, float, float, false>(to, from, MASK_PLACEHOLDER, 1, 1, 1, 8);
}

__aicore__ inline void Blocks(const LocalTensor<float> &to, const LocalTensor<float> &from, uint32_t elements)
{
    Count(elements);
    ReduceDataBlock<ReduceType::SUM, float, float, false>(to, from, MASK_PLACEHOLDER, 1, 1, 1, 8);
}

__aicore__ inline void Halve(const LocalTensor<float> &to, const LocalTensor<float> &from)
{
    LocalTensor<float> source = from;
    uint32_t length = LONG;
    while (length > REPEAT) {
        const uint32_t left = (length + 2 * BLOCK - 1) / (2 * BLOCK) * BLOCK;
        Count(length - left);
        Add<float, false>(to, source, source[left], MASK_PLACEHOLDER, 1, BinaryRepeatParams());
        PipeBarrier<PIPE_V>();
        length = left;
        source = to;
    }
    Repeats(to, source, length);
}

__aicore__ inline void Repeat(const LocalTensor<float> &to, const LocalTensor<float> &from)
{
    LocalTensor<float> source = from;
    for (uint32_t length = LONG; length > 1; length = (length + REPEAT - 1) / REPEAT) {
        Repeats(to, source, length);
        PipeBarrier<PIPE_V>();
        source = to;
    }
}

extern "C" __global__ __aicore__ void experiment(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, LONG);
    zGm.SetGlobalBuffer((__gm__ float *)z, BLOCK);
    LocalTensor<float> from(TPosition::VECCALC, 0, LONG), between(TPosition::VECCALC, LONG * sizeof(float), LONG / 2);
    LocalTensor<float> to(TPosition::VECCALC, (LONG + LONG / 2) * sizeof(float), REPEAT);
    Duplicate(to, 0.0f, REPEAT);
    const uint32_t times = *(__gm__ uint32_t *)tiling;
    if (times || TILING_KEY_IS(3) || TILING_KEY_IS(4) || TILING_KEY_IS(5))
        DataCopy(from, xGm, LONG);
    PipeBarrier<PIPE_ALL>();
    for (uint32_t i = 0; i < times; i++) {
        SetMaskCount();
        if (TILING_KEY_IS(1)) {
            Halve(between, from);
        } else if (TILING_KEY_IS(2)) {
            Repeat(between, from);
        } else if (TILING_KEY_IS(3)) {
            Repeats(between, from, SHORT);
            PipeBarrier<PIPE_V>();
            Repeats(to, between, SHORT / REPEAT);
        } else if (TILING_KEY_IS(4)) {
            Blocks(between, from, SHORT);
            PipeBarrier<PIPE_V>();
            Blocks(between, between, SHORT / BLOCK);
            PipeBarrier<PIPE_V>();
            Blocks(to, between, SHORT / BLOCK / BLOCK);
        } else if (TILING_KEY_IS(5)) {
            Blocks(between, from, SHORT);
            PipeBarrier<PIPE_V>();
            Repeats(to, between, SHORT / BLOCK);
        }
        PipeBarrier<PIPE_V>();
        SetMaskNorm();
    }
    ResetMask();
    PipeBarrier<PIPE_ALL>();
    DataCopy(zGm, to, BLOCK);
}
