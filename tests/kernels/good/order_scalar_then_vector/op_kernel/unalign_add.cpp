#include "kernel_operator.h"

using namespace AscendC;

// The scalar unit writes ones that V multiplies by, and reads a sum of V: S_V, V_S and the way back, by hand.
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
    TBuf<TPosition::VECCALC> xBuf, yBuf, oneBuf;
    pipe.InitBuffer(xBuf, TILE * sizeof(half));
    pipe.InitBuffer(yBuf, TILE * sizeof(half));
    pipe.InitBuffer(oneBuf, TILE * sizeof(half));
    LocalTensor<half> xLocal = xBuf.Get<half>();
    LocalTensor<half> yLocal = yBuf.Get<half>();
    LocalTensor<half> oneLocal = oneBuf.Get<half>();
    for (uint32_t i = 0; i < TILE; i++) {
        oneLocal.SetValue(i, half(1));
    }
    SetFlag<HardEvent::S_V>(EVENT_ID0);
    WaitFlag<HardEvent::S_V>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Mul(xLocal, xLocal, oneLocal, TILE);
        PipeBarrier<PIPE_V>();
        Add(xLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_S>(EVENT_ID2);
        WaitFlag<HardEvent::V_S>(EVENT_ID2);
        half first = xLocal.GetValue(0);
        xLocal.SetValue(0, first);
        SetFlag<HardEvent::S_MTE3>(EVENT_ID3);
        WaitFlag<HardEvent::S_MTE3>(EVENT_ID3);
        DataCopy(zGm[at], xLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
}
