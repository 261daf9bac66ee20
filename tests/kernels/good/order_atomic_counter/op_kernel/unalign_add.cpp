#include "kernel_operator.h"

using namespace AscendC;

// Every block adds one to a counter in GM when its sums are there, and looks at it until all have done so.
constexpr uint32_t BLOCKS = 16, PER_BLOCK = 2048, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    TBuf<TPosition::VECCALC> xBuf, yBuf, zBuf;
    pipe.InitBuffer(xBuf, TILE * sizeof(half));
    pipe.InitBuffer(yBuf, TILE * sizeof(half));
    pipe.InitBuffer(zBuf, TILE * sizeof(half));
    LocalTensor<half> xLocal = xBuf.Get<half>();
    LocalTensor<half> yLocal = yBuf.Get<half>();
    LocalTensor<half> zLocal = zBuf.Get<half>();
    GlobalTensor<half> sums;
    sums.SetGlobalBuffer((__gm__ half *)GetUserWorkspace(workspace), BLOCKS * PER_BLOCK);
    uint32_t other = (GetBlockIdx() + 5) % BLOCKS;
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((__gm__ int32_t *)((__gm__ half *)GetUserWorkspace(workspace) + BLOCKS * PER_BLOCK),
                          BLOCKS * 8);
    TBuf<TPosition::VECCALC> wordBuf;
    pipe.InitBuffer(wordBuf, BLOCKS * 32);
    LocalTensor<int32_t> word = wordBuf.Get<int32_t>();
    if (GetBlockIdx() == 0) {
        Duplicate(word, 0, BLOCKS * 8);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID2);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID2);
        DataCopy(words, word, BLOCKS * 8);
    }
    SyncAll();
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(zLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(sums[begin + at], zLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }
    Duplicate(word, 0, 8);
    PipeBarrier<PIPE_ALL>();
    word.SetValue(0, 1);
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<int32_t>();
    DataCopy(words, word, 8);
    SetAtomicNone();
    PipeBarrier<PIPE_ALL>();
    do {
        DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(words);
    } while (words.GetValue(0) != BLOCKS);
    zGm.SetGlobalBuffer((__gm__ half *)z + other * PER_BLOCK, PER_BLOCK);
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, sums[other * PER_BLOCK + at], TILE);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], xLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }
}
