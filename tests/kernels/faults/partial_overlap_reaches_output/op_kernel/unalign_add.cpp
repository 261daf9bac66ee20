#include "kernel_operator.h"

using namespace AscendC;

// The destination begins inside of the source, and what comes of it is added to the result.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQueue, yQueue;
    TQue<QuePosition::VECOUT, 2> zQueue;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(xQueue, 2, TILE * sizeof(half));
    pipe.InitBuffer(yQueue, 2, TILE * sizeof(half));
    pipe.InitBuffer(zQueue, 2, TILE * sizeof(half));
    TBuf<> spare;
    pipe.InitBuffer(spare, 4096);
    LocalTensor<float> one = spare.Get<float>();
    Duplicate(one, 1.0f, 1024);
    LocalTensor<half> ahead = one.ReinterpretCast<half>()[1024];
    Duplicate(ahead, (half)0, 512);
    Adds(ahead[16], ahead, (half)0, TILE); // OTHER:
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        LocalTensor<half> xIn = xQueue.AllocTensor<half>();
        LocalTensor<half> yIn = yQueue.AllocTensor<half>();
        DataCopy(xIn, xGm[at], TILE);
        DataCopy(yIn, yGm[at], TILE);
        xQueue.EnQue(xIn);
        yQueue.EnQue(yIn);
        LocalTensor<half> xLocal = xQueue.DeQue<half>();
        LocalTensor<half> yLocal = yQueue.DeQue<half>();
        LocalTensor<half> zOut = zQueue.AllocTensor<half>();
        Add(zOut, xLocal, yLocal, TILE);
        Add(zOut, zOut, ahead, TILE);
        zQueue.EnQue(zOut);
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
        LocalTensor<half> zLocal = zQueue.DeQue<half>();
        DataCopy(zGm[at], zLocal, TILE); // BUG: undefined_output
        zQueue.FreeTensor(zLocal);
    }
}
