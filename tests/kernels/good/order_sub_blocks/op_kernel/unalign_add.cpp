#include "kernel_operator.h"

using namespace AscendC;

// The two AIVs of a block: each adds half a share, and stores what the other has added (mode 1).
constexpr uint32_t BLOCKS = 16, PER_BLOCK = 2048, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
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
    if (g_coreType == AIC) {
        return;
    }
    constexpr uint32_t HALF = PER_BLOCK / 2;
    uint32_t own = GetBlockIdx() * HALF, other = (GetBlockIdx() ^ 1) * HALF;
    GlobalTensor<half> sums;
    sums.SetGlobalBuffer((__gm__ half *)GetUserWorkspace(workspace), BLOCKS * PER_BLOCK);
    xGm.SetGlobalBuffer((__gm__ half *)x + own, HALF);
    yGm.SetGlobalBuffer((__gm__ half *)y + own, HALF);
    zGm.SetGlobalBuffer((__gm__ half *)z + other, HALF);
    for (uint32_t at = 0; at < HALF; at += TILE) {
        DataCopy(xLocal, xGm[at], TILE);
        DataCopy(yLocal, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        Add(zLocal, xLocal, yLocal, TILE);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(sums[own + at], zLocal, TILE);
        CrossCoreSetFlag<1, PIPE_MTE3>(2);
        CrossCoreWaitFlag(2);
        DataCopy(xLocal, sums[other + at], TILE);
        SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
        DataCopy(zGm[at], xLocal, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }
}
