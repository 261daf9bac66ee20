#include "kernel_operator.h"

using namespace AscendC;

// A queue of depth 0 works in place: its tensor lives on between AllocTensor and FreeTensor.
constexpr uint32_t BLOCKS = 16, PER_BLOCK = 2048, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    TQue<TPosition::VECIN, 0> xQueue, yQueue;
    TQue<TPosition::VECOUT, 0> zQueue;
    pipe.InitBuffer(xQueue, 2, TILE * sizeof(half));
    pipe.InitBuffer(yQueue, 2, TILE * sizeof(half));
    pipe.InitBuffer(zQueue, 2, TILE * sizeof(half));
    LocalTensor<half> xLocal, yLocal, zLocal;
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        xQueue.AllocTensor<half>(xLocal);
        yQueue.AllocTensor<half>(yLocal);
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        xQueue.EnQue(xLocal);
        yQueue.EnQue(yLocal);
        xQueue.DeQue<half>(xLocal);
        yQueue.DeQue<half>(yLocal);
        zQueue.AllocTensor<half>(zLocal);
        Add(zLocal, xLocal, yLocal, TILE);
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
        zQueue.EnQue(zLocal);
        zQueue.DeQue<half>(zLocal);
        DataCopy(zGm[at], zLocal, TILE);
        zQueue.FreeTensor(zLocal);
    }
}
