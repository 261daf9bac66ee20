#include "kernel_operator.h"

using namespace AscendC;

// Without __vector__ the guarded Fixpipe would make this a kernel of both kinds of core.
constexpr uint32_t ELEMENTS = 32768, BLOCKS = 16, PER_BLOCK = ELEMENTS / BLOCKS;

extern "C" __global__ __vector__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    LocalMemAllocator<Hardware::UB> ub;
    LocalTensor<half> a = ub.Alloc<half, PER_BLOCK>(), b = ub.Alloc<half, PER_BLOCK>();
    GlobalTensor<half> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ half *)x + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + GetBlockIdx() * PER_BLOCK, PER_BLOCK);
    if ASCEND_IS_AIC {
        LocalMemAllocator<Hardware::L0C> l0c;
        LocalTensor<float> sum = l0c.Alloc<TPosition::CO1, float, 256>();
        FixpipeParamsV220 out(16, 16, 16, 16, false);
        out.quantPre = QuantMode_t::F322F16;
        Fixpipe<half, float, CFG_ROW_MAJOR>(zGm, sum, out);
    }
    DataCopy(a, xGm, PER_BLOCK);
    DataCopy(b, yGm, PER_BLOCK);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Add(a, a, b, PER_BLOCK);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(zGm, a, PER_BLOCK);
}
