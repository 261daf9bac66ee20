#include "kernel_operator.h"

using namespace AscendC;

// TPipe::Reset between two phases that lay out UB in different ways. It waits until V may write again, not MTE2.
constexpr uint32_t BLOCKS = 16, PER_BLOCK = 2048, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    for (uint32_t phase = 0; phase < 2; phase++) {
        TQue<TPosition::VECIN, 2> xQueue, yQueue;
        TQue<TPosition::VECOUT, 2> zQueue;
        if (phase) {
            pipe.InitBuffer(zQueue, 2, TILE * sizeof(half));
        }
        pipe.InitBuffer(xQueue, 2, TILE * sizeof(half));
        pipe.InitBuffer(yQueue, 2, TILE * sizeof(half));
        if (!phase) {
            pipe.InitBuffer(zQueue, 2, TILE * sizeof(half));
        }
        for (uint32_t at = phase * PER_BLOCK / 2; at < (phase + 1) * PER_BLOCK / 2; at += TILE) {
            LocalTensor<half> a = xQueue.AllocTensor<half>(), b = yQueue.AllocTensor<half>();
            DataCopy(a, xGm[at], TILE);
            DataCopy(b, yGm[at], TILE); // BUG: hazard_war
            xQueue.EnQue(a);
            yQueue.EnQue(b);
            a = xQueue.DeQue<half>();
            b = yQueue.DeQue<half>();
            LocalTensor<half> c = zQueue.AllocTensor<half>();
            Add(c, a, b, TILE);
            xQueue.FreeTensor(a);
            yQueue.FreeTensor(b);
            zQueue.EnQue(c);
            c = zQueue.DeQue<half>();
            DataCopy(zGm[at], c, TILE); // OTHER: still reading
            zQueue.FreeTensor(c);
        }
        pipe.Reset();
    }
}
