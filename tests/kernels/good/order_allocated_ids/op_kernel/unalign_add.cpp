#include "kernel_operator.h"

using namespace AscendC;

// AllocEventID for what is waited for a round later, ReleaseEventID at the end; a queue beside it takes ids of its own.
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
    TQue<TPosition::VECIN, 4> yQueue;
    pipe.InitBuffer(yQueue, 4, TILE * sizeof(half));
    TBuf<TPosition::VECCALC> xBuf, zBuf;
    pipe.InitBuffer(xBuf, 2 * TILE * sizeof(half));
    pipe.InitBuffer(zBuf, 2 * TILE * sizeof(half));
    LocalTensor<half> xLocal = xBuf.Get<half>();
    LocalTensor<half> zLocal = zBuf.Get<half>();
    TEventID read[2], stored[2];
    for (int32_t i = 0; i < 2; i++) {
        read[i] = pipe.AllocEventID<HardEvent::V_MTE2>();
        stored[i] = pipe.AllocEventID<HardEvent::MTE3_V>();
        SetFlag<HardEvent::V_MTE2>(read[i]);
        SetFlag<HardEvent::MTE3_V>(stored[i]);
    }
    TEventID loaded = pipe.AllocEventID<HardEvent::MTE2_V>(), added = pipe.AllocEventID<HardEvent::V_MTE3>();
    for (uint32_t tile = 0; tile < PER_BLOCK / TILE; tile++) {
        uint32_t at = tile * TILE, slot = tile % 2;
        LocalTensor<half> yIn = yQueue.AllocTensor<half>();
        DataCopy(yIn, yGm[at], TILE);
        yQueue.EnQue(yIn);
        WaitFlag<HardEvent::V_MTE2>(read[slot]);
        DataCopy(xLocal[slot * TILE], xGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(loaded);
        LocalTensor<half> yOut = yQueue.DeQue<half>();
        WaitFlag<HardEvent::MTE2_V>(loaded);
        WaitFlag<HardEvent::MTE3_V>(stored[slot]);
        Add(zLocal[slot * TILE], xLocal[slot * TILE], yOut, TILE);
        SetFlag<HardEvent::V_MTE2>(read[slot]);
        SetFlag<HardEvent::V_MTE3>(added);
        yQueue.FreeTensor(yOut);
        WaitFlag<HardEvent::V_MTE3>(added);
        DataCopy(zGm[at], zLocal[slot * TILE], TILE);
        SetFlag<HardEvent::MTE3_V>(stored[slot]);
    }
    for (int32_t i = 0; i < 2; i++) {
        WaitFlag<HardEvent::V_MTE2>(read[i]);
        WaitFlag<HardEvent::MTE3_V>(stored[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE2>(read[i]);
        pipe.ReleaseEventID<HardEvent::MTE3_V>(stored[i]);
    }
    pipe.ReleaseEventID<HardEvent::MTE2_V>(loaded);
    pipe.ReleaseEventID<HardEvent::V_MTE3>(added);
}
