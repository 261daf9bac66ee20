// ApplyFusedEmaAdam: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void apply_fused_ema_adam(GM_ADDR grad, GM_ADDR var, GM_ADDR m, GM_ADDR v,
    GM_ADDR s, GM_ADDR step, GM_ADDR var_out, GM_ADDR m_out, GM_ADDR v_out, GM_ADDR s_out, GM_ADDR workspace,
    GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
