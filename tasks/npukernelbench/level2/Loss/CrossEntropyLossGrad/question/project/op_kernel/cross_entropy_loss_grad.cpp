// CrossEntropyLossGrad: the kernel.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void cross_entropy_loss_grad(GM_ADDR grad_loss, GM_ADDR log_prob,
    GM_ADDR target, GM_ADDR weight, GM_ADDR grad_zloss, GM_ADDR lse_for_zloss, GM_ADDR x_grad,
    GM_ADDR workspace, GM_ADDR tiling)
{
    // To write, with GET_TILING_DATA(data, tiling) for what the tiling function saved.
}
