// ScatterList: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void scatter_list(GM_ADDR var, GM_ADDR indice, GM_ADDR updates, GM_ADDR mask,
    GM_ADDR var_ref, GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
