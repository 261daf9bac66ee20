#include "kernel_operator.h"

using namespace AscendC;

// A ring of three slots in one buffer; a slot is waited for three rounds after its flag was set.
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
    TBuf<TPosition::VECCALC> allBuf;
    pipe.InitBuffer(allBuf, 6 * TILE * sizeof(half));
    LocalTensor<half> allLocal = allBuf.Get<half>();
    for (int32_t slot = 0; slot < 3; slot++) {
        SetFlag<HardEvent::MTE3_MTE2>(slot);
    }
    for (uint32_t tile = 0; tile < PER_BLOCK / TILE; tile++) {
        int32_t slot = tile % 3;
        LocalTensor<half> a = allLocal[slot * 2 * TILE], b = a[TILE];
        WaitFlag<HardEvent::MTE3_MTE2>(slot);
        DataCopy(a, xGm[tile * TILE], TILE);
        DataCopy(b, yGm[tile * TILE], TILE);
        SetFlag<HardEvent::MTE2_V>(slot);
        WaitFlag<HardEvent::MTE2_V>(slot);
        Add(a, a, b, TILE);
        SetFlag<HardEvent::V_MTE3>(slot);
        WaitFlag<HardEvent::V_MTE3>(slot);
        DataCopy(zGm[tile * TILE], a, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(slot);
    }
    for (int32_t slot = 0; slot < 3; slot++) {
        WaitFlag<HardEvent::MTE3_MTE2>(slot);
    }
}
