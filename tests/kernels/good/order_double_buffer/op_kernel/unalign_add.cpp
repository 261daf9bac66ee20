#include "kernel_operator.h"

using namespace AscendC;

// Two buffers for each tensor and flags of their own: while one tile is added, the next is loaded and the last stored. x is
// worked on before y has come.
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 128, SLOTS = 2; // of 32768 elements
constexpr int32_t X = 0, Y = SLOTS, Z = 0;                               // event ids, one per slot from here on

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer, zBuffer;
    pipe.InitBuffer(xBuffer, SLOTS * TILE * sizeof(half));
    pipe.InitBuffer(yBuffer, SLOTS * TILE * sizeof(half));
    pipe.InitBuffer(zBuffer, SLOTS * TILE * sizeof(half));
    LocalTensor<half> xAll = xBuffer.Get<half>(), yAll = yBuffer.Get<half>(), zAll = zBuffer.Get<half>();
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    for (int32_t slot = 0; slot < (int32_t)SLOTS; slot++) {
        SetFlag<HardEvent::V_MTE2>(X + slot);
        SetFlag<HardEvent::V_MTE2>(Y + slot);
        SetFlag<HardEvent::MTE3_V>(Z + slot);
    }
    for (uint32_t tile = 0; tile < PER_BLOCK / TILE; tile++) {
        int32_t slot = tile % SLOTS;
        LocalTensor<half> xLocal = xAll[slot * TILE], yLocal = yAll[slot * TILE], zLocal = zAll[slot * TILE];
        WaitFlag<HardEvent::V_MTE2>(X + slot);
        DataCopy(xLocal, xGm[tile * TILE], TILE);
        SetFlag<HardEvent::MTE2_V>(X + slot);
        WaitFlag<HardEvent::V_MTE2>(Y + slot);
        DataCopy(yLocal, yGm[tile * TILE], TILE);
        SetFlag<HardEvent::MTE2_V>(Y + slot);

        WaitFlag<HardEvent::MTE3_V>(Z + slot);
        WaitFlag<HardEvent::MTE2_V>(X + slot);
        Muls(zLocal, xLocal, half(1), TILE);
        SetFlag<HardEvent::V_MTE2>(X + slot);
        PipeBarrier<PIPE_V>();
        WaitFlag<HardEvent::MTE2_V>(Y + slot);
        Add(zLocal, zLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE2>(Y + slot);
        SetFlag<HardEvent::V_MTE3>(Z + slot);

        WaitFlag<HardEvent::V_MTE3>(Z + slot);
        DataCopy(zGm[tile * TILE], zLocal, TILE);
        SetFlag<HardEvent::MTE3_V>(Z + slot);
    }
    for (int32_t slot = 0; slot < (int32_t)SLOTS; slot++) {
        WaitFlag<HardEvent::V_MTE2>(X + slot);
        WaitFlag<HardEvent::V_MTE2>(Y + slot);
        WaitFlag<HardEvent::MTE3_V>(Z + slot);
    }
}
