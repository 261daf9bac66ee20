#include "kernel_operator.h"

using namespace AscendC;

// TBuf::Get asks for more than the buffer has; what is kept in the next buffer is overwritten without order.
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
    TBuf<> small, next;
    pipe.InitBuffer(small, 32);
    pipe.InitBuffer(next, 32);
    LocalTensor<half> kept = next.Get<half>(), wide = small.Get<half>(32);
    DataCopy(kept, xGm, 16);      // OTHER: the write before
    Duplicate(wide, (half)0, 32); // BUG: hazard_waw
    PipeBarrier<PIPE_ALL>();
    Muls(kept, kept, (half)0, 16);
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
        Add(zOut, zOut, kept, 16);
        zQueue.EnQue(zOut);
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
        LocalTensor<half> zLocal = zQueue.DeQue<half>();
        DataCopy(zGm[at], zLocal, TILE);
        zQueue.FreeTensor(zLocal);
    }
}
