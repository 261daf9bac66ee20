#include "kernel_operator.h"

using namespace AscendC;

// V reads a whole buffer whose second half is still being loaded, and uses some of it (times zero).
constexpr uint32_t BLOCKS = 32, PER_BLOCK = 1024, TILE = 256; // of 32768 elements

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
    TBuf<QuePosition::VECCALC> both, more;
    pipe.InitBuffer(both, 2 * TILE * sizeof(half));
    pipe.InitBuffer(more, 2 * TILE * sizeof(half));
    LocalTensor<half> xLocal = both.Get<half>(), yLocal = xLocal[TILE], spare = more.Get<half>();
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        DataCopy(yLocal, yGm[at], TILE);        // OTHER:
        Muls(spare, xLocal, (half)1, 2 * TILE); // BUG: hazard_raw
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(spare, spare, yLocal, TILE);
        Muls(spare[TILE], spare[TILE], (half)0, 16);
        Add(spare, spare, spare[TILE], 16);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], spare, TILE);
        PipeBarrier<PIPE_ALL>();
    }
}
