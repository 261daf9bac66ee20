#include "kernel_operator.h"

using namespace AscendC;

// V reads what the scalar unit may still be writing; auto-sync inserts the flag.
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
    LocalTensor<half> zero = spare.Get<half>();
    Duplicate(zero, (half)1, TILE);
    PipeBarrier<PIPE_ALL>();
    zero.SetValue(0, (half)2);             // OTHER: the write
    Muls(zero[TILE], zero, (half)0, TILE); // BUG: hazard_raw
    PipeBarrier<PIPE_V>();
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
        PipeBarrier<PIPE_V>();
        Add(zOut, zOut, zero[TILE], TILE);
        zQueue.EnQue(zOut);
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
        LocalTensor<half> zLocal = zQueue.DeQue<half>();
        DataCopy(zGm[at], zLocal, TILE);
        zQueue.FreeTensor(zLocal);
    }
}
