#include "kernel_operator.h"

using namespace AscendC;

// Every block adds a part of each sum of its neighbour into z by atomic stores; zeros come first, behind SyncAll.
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
    Duplicate(zLocal, half(0), TILE);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(zGm[at], zLocal, TILE);
    }
    SyncAll();
    SetAtomicAdd<half>();
    uint32_t other = (GetBlockIdx() + 1) % BLOCKS;
    GlobalTensor<half> next;
    next.SetGlobalBuffer((__gm__ half *)z + other * PER_BLOCK, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + other * PER_BLOCK, PER_BLOCK);
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], xLocal, TILE);
        DataCopy(next[at], yLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
    SetAtomicNone();
}
