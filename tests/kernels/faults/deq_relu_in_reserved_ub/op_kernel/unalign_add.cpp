#include "kernel_operator.h"

using namespace AscendC;

// AddDeqRelu puts its sums into the UB that CANN reserves, over what the kernel keeps there and adds to the result.
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
    TBuf<> all;
    pipe.InitBuffer(all, 196608 - 6 * TILE * sizeof(half));
    LocalTensor<half> one = all.Get<half>(), kept = all.GetWithOffset<half>(64, 184 * 1024 - 6 * TILE * sizeof(half));
    Duplicate(one, (half)1, 512);
    Duplicate(kept, (half)0, 64);
    LocalTensor<int32_t> words = one.ReinterpretCast<int32_t>();
    Duplicate(words, 3, 256);
    SetDeqScale((half)1);
    AddDeqRelu(one[1024], words, words[128], 128); // BUG: ub_reserved
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
        Add(zOut, zOut, kept, 64);
        zQueue.EnQue(zOut);
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
        LocalTensor<half> zLocal = zQueue.DeQue<half>();
        DataCopy(zGm[at], zLocal, TILE);
        zQueue.FreeTensor(zLocal);
    }
}
