#include "kernel_operator.h"

using namespace AscendC;

// The ratio comes from __mix__ alone: the two AIVs of a block write out each other's sums when their AIC says so.
constexpr uint32_t ELEMENTS = 32768, AIVS = 32, PER_AIV = ELEMENTS / AIVS;
constexpr uint16_t ADDED = 0, GO = 1;

__aicore__ inline void AddOnVector(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR sums)
{
    uint32_t mine = GetBlockIdx() * PER_AIV, other = (GetBlockIdx() ^ 1) * PER_AIV;
    LocalMemAllocator<Hardware::UB> ub;
    LocalTensor<half> a = ub.Alloc<half, PER_AIV>(), b = ub.Alloc<half, PER_AIV>(), c = ub.Alloc<half, PER_AIV>();
    GlobalTensor<half> xGm, yGm, zGm, sumGm;
    xGm.SetGlobalBuffer((__gm__ half *)x + mine, PER_AIV);
    yGm.SetGlobalBuffer((__gm__ half *)y + mine, PER_AIV);
    zGm.SetGlobalBuffer((__gm__ half *)z + other, PER_AIV);
    sumGm.SetGlobalBuffer((__gm__ half *)sums, ELEMENTS);
    DataCopy(a, xGm, PER_AIV);
    DataCopy(b, yGm, PER_AIV);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Add(a, a, b, PER_AIV);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(sumGm[mine], a, PER_AIV);
    CrossCoreSetFlag<2, PIPE_MTE3>(ADDED);
    CrossCoreWaitFlag<2>(GO);
    DataCopy(c, sumGm[other], PER_AIV);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(zGm, c, PER_AIV);
}

extern "C" __schedmode__(1) __global__
    __mix__(1, 2) void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    if ASCEND_IS_AIC {
        CrossCoreWaitFlag<2>(ADDED);
        CrossCoreSetFlag<2, PIPE_FIX>(GO);
    } else {
        AddOnVector(x, y, z, GetUserWorkspace(workspace));
    }
}
