// ApplyAdamWV2: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void apply_adam_wv2(GM_ADDR var, GM_ADDR m, GM_ADDR v, GM_ADDR grad,
    GM_ADDR step, GM_ADDR max_grad_norm, GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
