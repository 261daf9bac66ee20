// StridesliceNegConcatV2: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void strideslice_neg_concat_v2(GM_ADDR input, GM_ADDR output,
    GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
