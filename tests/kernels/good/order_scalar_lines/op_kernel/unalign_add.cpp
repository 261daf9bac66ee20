#include "kernel_operator.h"

using namespace AscendC;

// Each block counts its tiles in a cache line of its own by SetValue, cleans it, and behind SyncAll reads the next one.
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
    GlobalTensor<int32_t> counts;
    counts.SetGlobalBuffer((__gm__ int32_t *)GetUserWorkspace(workspace), BLOCKS * 16);
    counts.SetValue(GetBlockIdx() * 16, int32_t(PER_BLOCK / TILE));
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(counts[GetBlockIdx() * 16]);
    SyncAll();
    uint32_t other = (GetBlockIdx() + 1) % BLOCKS;
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(counts[other * 16]);
    uint32_t tiles = counts.GetValue(other * 16);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint32_t at = tile * TILE;
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(zLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], zLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
}
