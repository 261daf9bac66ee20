// MulSigmoidMulAddCustom: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void mul_sigmoid_mul_add_custom(GM_ADDR input, GM_ADDR mulscalar1,
    GM_ADDR mulscalar2, GM_ADDR addscalar3, GM_ADDR outputs, GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
