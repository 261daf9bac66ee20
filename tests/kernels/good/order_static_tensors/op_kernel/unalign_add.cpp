#include "kernel_operator.h"

using namespace AscendC;

// Tensors by address, no TPipe: two slots, flags by hand, and each id stands for a slot.
constexpr uint32_t BLOCKS = 16, PER_BLOCK = 2048, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    constexpr uint32_t SLOT = 3 * TILE * sizeof(half);
    for (int32_t slot = 0; slot < 2; slot++) {
        SetFlag<HardEvent::V_MTE2>(slot);
        SetFlag<HardEvent::MTE3_V>(slot);
    }
    for (uint32_t tile = 0; tile < PER_BLOCK / TILE; tile++) {
        int32_t slot = tile % 2;
        LocalTensor<half> a(TPosition::VECIN, slot * SLOT, TILE), b(TPosition::VECIN, slot * SLOT + TILE * 2, TILE),
            c(TPosition::VECOUT, slot * SLOT + TILE * 4, TILE);
        WaitFlag<HardEvent::V_MTE2>(slot);
        DataCopy(a, xGm[tile * TILE], TILE);
        DataCopy(b, yGm[tile * TILE], TILE);
        SetFlag<HardEvent::MTE2_V>(slot);
        WaitFlag<HardEvent::MTE2_V>(slot);
        WaitFlag<HardEvent::MTE3_V>(slot);
        Add(c, a, b, TILE);
        SetFlag<HardEvent::V_MTE2>(slot);
        SetFlag<HardEvent::V_MTE3>(slot);
        WaitFlag<HardEvent::V_MTE3>(slot);
        DataCopy(zGm[tile * TILE], c, TILE);
        SetFlag<HardEvent::MTE3_V>(slot);
    }
    for (int32_t slot = 0; slot < 2; slot++) {
        WaitFlag<HardEvent::V_MTE2>(slot);
        WaitFlag<HardEvent::MTE3_V>(slot);
    }
}
