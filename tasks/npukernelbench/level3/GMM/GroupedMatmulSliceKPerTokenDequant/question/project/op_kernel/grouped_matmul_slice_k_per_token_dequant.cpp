// GroupedMatmulSliceKPerTokenDequant: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void grouped_matmul_slice_k_per_token_dequant(GM_ADDR a, GM_ADDR b,
    GM_ADDR scale, GM_ADDR per_token_scale, GM_ADDR groupList, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
