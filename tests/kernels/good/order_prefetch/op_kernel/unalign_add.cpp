#include "kernel_operator.h"

using namespace AscendC;

// Two tiles are in the queues before the first is taken out; the loop loads two ahead.
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
    TQue<TPosition::VECIN, 2> xQueue, yQueue;
    TQue<TPosition::VECOUT, 2> zQueue;
    pipe.InitBuffer(xQueue, 3, TILE * sizeof(half));
    pipe.InitBuffer(yQueue, 3, TILE * sizeof(half));
    pipe.InitBuffer(zQueue, 2, TILE * sizeof(half));
    constexpr uint32_t TILES = PER_BLOCK / TILE;
    for (uint32_t tile = 0; tile < TILES + 2; tile++) {
        if (tile >= 2) {
            LocalTensor<half> a = xQueue.DeQue<half>(), b = yQueue.DeQue<half>(), c = zQueue.AllocTensor<half>();
            Add(c, a, b, TILE);
            xQueue.FreeTensor(a);
            yQueue.FreeTensor(b);
            zQueue.EnQue(c);
        }
        if (tile < TILES) {
            LocalTensor<half> a = xQueue.AllocTensor<half>(), b = yQueue.AllocTensor<half>();
            DataCopy(a, xGm[tile * TILE], TILE);
            DataCopy(b, yGm[tile * TILE], TILE);
            xQueue.EnQue(a);
            yQueue.EnQue(b);
        }
        if (tile >= 2) {
            LocalTensor<half> c = zQueue.DeQue<half>();
            DataCopy(zGm[(tile - 2) * TILE], c, TILE);
            zQueue.FreeTensor(c);
        }
    }
}
