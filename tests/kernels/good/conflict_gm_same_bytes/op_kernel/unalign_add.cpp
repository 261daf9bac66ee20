#include "kernel_operator.h"

using namespace AscendC;

// MTE3 writes the same tile twice, and nothing orders the two.
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
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(xLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], xLocal, TILE); // OTHER:
        DataCopy(zGm[at], xLocal, TILE); // NOTE:
        PipeBarrier<PIPE_ALL>();
    }
}
