/* Transpose and ConfusionTranspose with a tiling: a matrix in ND to its transpose. dst = result, src = x, shape[0] =
 * transposeType. Steps: asc-devkit, Transpose, NPU_ARCH 2201. */
#include "npu/adv/transpose.h"

#include "npu/adv/tiling.h"
#include "npu/lanes.h"

static uint32_t va_of(const struct npu_core *core, uint64_t addr)
{
    return npu_in_ub(core, addr) ? (uint32_t)(addr - (uint64_t)core->ub) : NPU_VA_OUTSIDE;
}

void adv_transpose_blocks(struct npu_core *core, uint8_t type, const uint64_t dst[ADV_LIST],
                          const uint64_t src[ADV_LIST], uint32_t repeat, uint32_t dst_rep, uint32_t src_rep)
{
    for (uint32_t i = 0; i < ADV_LIST; i++) {
        core->regs.va[i / 8][i % 8] = va_of(core, dst[i]);
        core->regs.va[2 + i / 8][i % 8] = va_of(core, src[i]);
    }
    struct npu_insn insn = {.op = NPU_OP_TRANS_DATA_5HD,
                            .form = NPU_FORM_MASK_REG,
                            .dst_type = type,
                            .src_type = type,
                            .mode = 0 | 2 << 3,         /* VA0 and VA2 are the first registers of dst and src */
                            .repeat = (uint8_t)repeat}; /* CANN's variable for it has eight bits */
    /* A stride is added even to a single repeat. */
    insn.dst_rep = (uint16_t)(repeat > 1 ? dst_rep : 0);
    insn.src0_rep = (uint16_t)(repeat > 1 ? src_rep : 0);
    adv_issue(core, &insn);
}

/* Sixteen rows at a time. Of 32-bit elements a row of the result is two blocks. */
void adv_transpose(struct npu_core *core, const struct npu_adv *call)
{
    enum { NONE = 0, ND2ND_ONLY = 7 };
    if (call->shape[0] == NONE || call->shape[0] > ND2ND_ONLY) /* CANN's does nothing either */
        return;
    if (call->shape[0] != ND2ND_ONLY)
        npu_lacks(core, "Transpose with a transposeType other than TRANSPOSE_ND2ND_ONLY");
    const struct ConfusionTransposeTiling *t = call->tiling;
    uint32_t size = npu_element_bits(call->type) / 8, block = NPU_BLOCK / size, height = t->param1, width = t->param2;
    if (!height || height % ADV_LIST || !width || width % block || t->param0 != block || t->param3 != height / ADV_LIST)
        npu_trap(core, "adv_shape", "tiling",
                 "Transpose of %u rows of %u elements: the rows are a multiple of 16, the elements of a row whole "
                 "32-byte blocks, and the tiling is made for the element's size",
                 height, width);
    for (uint32_t row = 0; row < height; row += ADV_LIST) {
        uint64_t dst[ADV_LIST], src[ADV_LIST];
        for (uint32_t i = 0; i < ADV_LIST; i++) {
            uint32_t column = size == 2 ? i : i / 2, second = size == 2 ? 0 : i % 2 * block;
            dst[i] = call->dst[0].addr + adv_bytes(call->type, row + height * column + second);
            src[i] = call->src[0].addr + adv_bytes(call->type, (row + i) * width);
        }
        adv_transpose_blocks(core, call->type, dst, src, t->param5, t->param4, 1);
    }
}
