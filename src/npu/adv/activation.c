/* Activation functions, element by element over as many elements at a time as the temporary space holds. */
#include "npu/adv/adv.h"

/* 1 / (1 + exp(-x)). The temporary space holds the ones that are divided. Steps: asc-devkit, Sigmoid. */
void adv_sigmoid(struct npu_core *core, const struct npu_adv *call)
{
    uint8_t type = call->type;
    uint32_t step = adv_split(core, call, type, 1);
    for (uint32_t first = 0; first < call->count; first += step) {
        uint32_t count = call->count - first < step ? call->count - first : step;
        struct npu_tensor dst = adv_part(&call->dst[0], type, first, count);
        struct npu_tensor src = adv_part(&call->src[0], type, first, count);
        struct npu_tensor ones = adv_tmp(core, call, 0, adv_bytes(type, count));
        adv_scalar_op(core, NPU_OP_MULS, dst, src, -1, type, count);
        adv_unary(core, NPU_OP_EXP, dst, dst, type, count);
        adv_scalar_op(core, NPU_OP_ADDS, dst, dst, 1, type, count);
        adv_duplicate(core, ones, 1, type, count);
        adv_binary(core, NPU_OP_DIV, dst, ones, dst, type, count);
    }
}
