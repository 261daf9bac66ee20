// Fill: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void fill(GM_ADDR dims, GM_ADDR value, GM_ADDR y, GM_ADDR workspace,
    GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
