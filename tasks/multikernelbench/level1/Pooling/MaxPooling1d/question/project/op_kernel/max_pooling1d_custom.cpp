// MaxPooling1d: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void max_pooling1d_custom(GM_ADDR x, GM_ADDR y,
    GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
