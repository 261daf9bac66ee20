#include "kernel_operator.h"

using namespace AscendC;

// Two vector instructions with masks write the two halves of each repeat: they share no byte, so nothing has to order them.
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
    TBuf<TPosition::VECCALC> xBuf, yBuf, zBuf;
    pipe.InitBuffer(xBuf, TILE * sizeof(half));
    pipe.InitBuffer(yBuf, TILE * sizeof(half));
    pipe.InitBuffer(zBuf, TILE * sizeof(half));
    LocalTensor<half> xLocal = xBuf.Get<half>();
    LocalTensor<half> yLocal = yBuf.Get<half>();
    LocalTensor<half> zLocal = zBuf.Get<half>();
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        uint64_t low[2] = {~0ull, 0}, high[2] = {0, ~0ull};
        Add(zLocal, xLocal, yLocal, low, TILE / 128, {1, 1, 1, 8, 8, 8});
        Add(zLocal, xLocal, yLocal, high, TILE / 128, {1, 1, 1, 8, 8, 8});
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], zLocal, TILE);
        SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
        SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
    }
}
