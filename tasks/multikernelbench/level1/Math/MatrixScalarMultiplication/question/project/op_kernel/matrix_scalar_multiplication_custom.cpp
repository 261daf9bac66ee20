// MatrixScalarMultiplication: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void matrix_scalar_multiplication_custom(GM_ADDR A, GM_ADDR C,
    GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
