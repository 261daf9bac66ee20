// Sgd: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void sgd_custom(GM_ADDR param, GM_ADDR grad, GM_ADDR velocity, GM_ADDR new_param,
    GM_ADDR workspace, GM_ADDR tiling)
{
    // To write: the shapes are those of the case at hand.
}
