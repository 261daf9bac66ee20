#include "kernel_operator.h"

using namespace AscendC;

// The scalar unit reads a word again that another core has changed: its cache still has the old one.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
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
    TBuf<> wordBuffer;
    pipe.InitBuffer(wordBuffer, 32);
    LocalTensor<int32_t> word = wordBuffer.Get<int32_t>();
    GlobalTensor<int32_t> mine, next;
    mine.SetGlobalBuffer((__gm__ int32_t *)GetUserWorkspace(workspace) + GetBlockIdx() * 16, 8);
    next.SetGlobalBuffer((__gm__ int32_t *)GetUserWorkspace(workspace) + (GetBlockIdx() + 1) % BLOCKS * 16, 8);
    int32_t seen = 0;
    for (int32_t turn = 1; turn <= 2; turn++) {
        Duplicate(word, turn, 8);
        PipeBarrier<PIPE_ALL>();
        DataCopy(mine, word, 8);
        SyncAll();
        seen = next.GetValue(0); // BUG: dcache_stale_read
        SyncAll();
    }
    if (seen != 2) {
        return;
    }
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
        zQueue.EnQue(zOut);
        xQueue.FreeTensor(xLocal);
        yQueue.FreeTensor(yLocal);
        LocalTensor<half> zLocal = zQueue.DeQue<half>();
        DataCopy(zGm[at], zLocal, TILE);
        zQueue.FreeTensor(zLocal);
    }
}
