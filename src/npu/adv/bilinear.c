/* BilinearInterpolation: a software function on this chip, made of Gatherb, Brcb, Mul, Add and Adds. Steps: asc-devkit,
 * the document BilinearInterpolation(ISASI); which registers and strides: impl/basic_api, NPU_ARCH 2201. */
#include "npu/adv/adv.h"
#include "npu/issue/issue.h"
#include "npu/order/order.h"

enum { REPEAT = 256, BLOCKS = 8, LANES = 128 };

static struct npu_insn start(enum npu_op op, struct npu_tensor dst, struct npu_tensor src0, uint32_t repeat)
{
    return (struct npu_insn)ADV_INSN(op, MASK_REG, AKGEN_FLOAT16, .src1_type = AKGEN_FLOAT16, .repeat = repeat,
                                     .dst_blk = 1, .src0_blk = 1, .src1_blk = 1, .dst_rep = BLOCKS, .src0_rep = BLOCKS,
                                     .src1_rep = BLOCKS, .dst = dst, .src0 = src0);
}

/* Every repeat under the mask that the kernel gave. */
static void masked(struct npu_insn *insn, const struct npu_adv *call)
{
    insn->form = call->shape[5] ? NPU_FORM_MASK_BITS : NPU_FORM_MASK_LEN;
    insn->mask[0] = call->scalar[0];
    insn->mask[1] = call->scalar[1];
}

/* src0 gathered by blocks and src1 spread over blocks, multiplied in the temporary space. */
static void products(struct npu_core *core, const struct npu_adv *call, struct npu_tensor gathered,
                     struct npu_tensor spread, uint32_t repeat)
{
    struct npu_insn insn = start(NPU_OP_GATHERB, gathered, call->src[0], repeat);
    insn.dst_type = insn.src_type = AKGEN_UINT16;
    insn.src1 = call->src[1];
    npu_issue_from(core, &insn);
    insn = start(NPU_OP_BRCB, spread, call->src[2], call->src[2].bytes / 2 / BLOCKS);
    adv_issue(core, &insn);
    insn = start(NPU_OP_MUL, gathered, spread, repeat);
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = LANES;
    insn.src1 = gathered;
    if (!call->shape[1]) { /* one weight for a whole repeat */
        insn.src0_blk = 0;
        insn.src0_rep = 1;
    }
    adv_issue(core, &insn);
}

void adv_bilinear(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t across = call->shape[0], down = call->shape[4], repeat = (uint8_t)(across * down);
    uint32_t weights = call->src[2].bytes / 2 / BLOCKS * REPEAT;
    struct npu_tensor gathered = adv_tmp(core, call, 0, across * down * REPEAT);
    struct npu_tensor spread = adv_tmp(core, call, across * down * REPEAT, weights);
    products(core, call, gathered, spread, repeat);
    for (uint32_t i = 0; i < down && across > 1; i++) {
        struct npu_tensor sum = adv_part(&gathered, AKGEN_FLOAT16, i * across * LANES, across * LANES);
        struct npu_insn insn =
            start(NPU_OP_ADD, sum, adv_part(&sum, AKGEN_FLOAT16, LANES, (across - 1) * LANES), across - 1);
        masked(&insn, call);
        insn.src1 = sum;
        insn.dst_rep = insn.src1_rep = 0;
        npu_issue_from(core, &insn);
    }
    npu_order_barrier(core->order, NPU_LANE_V);
    struct npu_insn insn = start(NPU_OP_ADDS, call->dst[0], gathered, down);
    masked(&insn, call);
    insn.dst_blk = (uint16_t)call->shape[2];
    insn.dst_rep = (uint16_t)(call->shape[3] * 2 / 32);
    insn.src0_rep = (uint16_t)(across * BLOCKS);
    npu_issue_from(core, &insn);
}
