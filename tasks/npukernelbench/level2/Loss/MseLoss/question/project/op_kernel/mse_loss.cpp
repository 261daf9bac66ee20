// MseLoss: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void mse_loss(GM_ADDR predict, GM_ADDR label, GM_ADDR y, GM_ADDR workspace,
    GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
