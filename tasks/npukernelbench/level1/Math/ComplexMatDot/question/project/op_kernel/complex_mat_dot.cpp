// ComplexMatDot: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void complex_mat_dot(GM_ADDR matx, GM_ADDR maty, GM_ADDR result,
    GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
