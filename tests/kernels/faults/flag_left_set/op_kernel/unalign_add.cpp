#include "kernel_operator.h"

using namespace AscendC;

// One flag too many is set; the sums are right.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    pipe.InitBuffer(xBuffer, TILE * sizeof(half));
    pipe.InitBuffer(yBuffer, TILE * sizeof(half));
    LocalTensor<half> xLocal = xBuffer.Get<half>();
    LocalTensor<half> yLocal = yBuffer.Get<half>();
    event_t loaded = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE2_V));
    event_t added = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE3));
    event_t computed = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_MTE2));
    event_t stored = static_cast<event_t>(pipe.FetchEventID(HardEvent::MTE3_MTE2));
    SetFlag<HardEvent::V_S>(EVENT_ID0); // BUG:
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(loaded);
        WaitFlag<HardEvent::MTE2_V>(loaded);
        Add(xLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE3>(added);
        WaitFlag<HardEvent::V_MTE3>(added);
        SetFlag<HardEvent::V_MTE2>(computed);
        WaitFlag<HardEvent::V_MTE2>(computed);
        DataCopy(zGm[at], xLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(stored);
        WaitFlag<HardEvent::MTE3_MTE2>(stored);
    }
}
