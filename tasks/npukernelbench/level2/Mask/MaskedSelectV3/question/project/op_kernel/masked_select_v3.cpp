// MaskedSelectV3: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void masked_select_v3(GM_ADDR x, GM_ADDR mask, GM_ADDR y, GM_ADDR shape_out,
    GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
