// PaddingMatmul: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void padding_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace,
    GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
