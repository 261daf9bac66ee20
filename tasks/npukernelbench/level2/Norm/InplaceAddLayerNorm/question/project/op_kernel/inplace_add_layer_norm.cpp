// InplaceAddLayerNorm: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void inplace_add_layer_norm(GM_ADDR x1, GM_ADDR x2, GM_ADDR gamma,
    GM_ADDR beta, GM_ADDR bias, GM_ADDR x1_out, GM_ADDR mean, GM_ADDR rstd, GM_ADDR x2_out, GM_ADDR workspace,
    GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
