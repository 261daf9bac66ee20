#include "kernel_operator.h"

using namespace AscendC;

// Operands that share bytes and may: halves that are widened from the upper half of the floats' own place, floats that are
// narrowed where they lie, sums that repeats add up in src1.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256, REPEAT = 64; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    TBuf<> sumBuffer;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(inQueue, 1, 2 * TILE * sizeof(float));
    pipe.InitBuffer(outQueue, 1, TILE * sizeof(half));
    pipe.InitBuffer(sumBuffer, TILE * sizeof(float));
    LocalTensor<float> sum = sumBuffer.Get<float>();
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        LocalTensor<half> in = inQueue.AllocTensor<half>();
        DataCopy(in[TILE], xGm[at], TILE);
        DataCopy(in[3 * TILE], yGm[at], TILE);
        inQueue.EnQue(in);
        in = inQueue.DeQue<half>();
        LocalTensor<float> wide = in.ReinterpretCast<float>();
        Cast(wide, in[TILE], RoundMode::CAST_NONE, TILE);
        Cast(wide[TILE], in[3 * TILE], RoundMode::CAST_NONE, TILE);
        Duplicate(sum, 0.0f, TILE);
        for (uint32_t i = 0; i < TILE; i += REPEAT) { // x and y of these elements, one repeat each
            Add(sum[i], wide[i], sum[i], REPEAT, 2, {1, 1, 1, 0, TILE / 8, 0});
        }
        LocalTensor<half> narrow = sum.ReinterpretCast<half>();
        Cast(narrow, sum, RoundMode::CAST_RINT, TILE);
        inQueue.FreeTensor(in);
        LocalTensor<half> out = outQueue.AllocTensor<half>();
        Adds(out, narrow, (half)0, TILE);
        outQueue.EnQue(out);
        out = outQueue.DeQue<half>();
        DataCopy(zGm[at], out, TILE);
        outQueue.FreeTensor(out);
    }
}
