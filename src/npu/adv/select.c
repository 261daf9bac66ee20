/* Select by a mask of one byte, halfword or word per element: 0 takes the tensor, anything else the scalar (flags
 * NPU_ADV_REVERSE: the other way round). shape[0] = firstAxis, shape[1] = srcLastAxis, shape[2] = maskLastAxis, count =
 * elements of the source tensor; src[0] tensor, src[1] mask; scalar[0]; flags NPU_ADV_KEEP_MASK unless isReuseMask;
 * shape[3] = bytes of a mask element. Steps and temporary space: asc-devkit, Select, NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/report.h"

enum { CAST_NONE = 0, CAST_ODD = 6, CMP_EQ = 2, CMP_NE = 5, TENSOR_SCALAR = 1 };
enum { LEAST_TMP = 1024, TAIL_TMP = 256 /* left alone */, MOST_REPEATS = 255, HALF_LANES = 128 };

/* The mask as halves that are 0 or not: narrowing a word rounds to odd, so that no value becomes 0. */
static void mask_to_half(struct npu_core *core, struct npu_tensor dst, struct npu_tensor mask, uint32_t bytes,
                         uint32_t count)
{
    uint8_t type = bytes == 4 ? AKGEN_FLOAT : bytes == 2 ? AKGEN_INT16 : AKGEN_UINT8;
    adv_cast(core, dst, AKGEN_FLOAT16, mask, type, bytes == 4 ? CAST_ODD : CAST_NONE, count);
}

/* Compare takes whole repeats and writes its bits over them. */
static void select_part(struct npu_core *core, const struct npu_adv *call, struct npu_tensor mask,
                        struct npu_tensor space, uint32_t first, uint32_t count, uint32_t mask_bytes)
{
    mask_to_half(core, space, mask, mask_bytes, count);
    struct npu_insn compare = {
        .op = NPU_OP_COMPARE_SCALAR, .form = NPU_FORM_MASK_REG, .dst_type = AKGEN_UINT8, .src_type = AKGEN_FLOAT16};
    compare.mode = call->flags & NPU_ADV_REVERSE ? CMP_NE : CMP_EQ;
    compare.flags = NPU_INSN_SCALAR_SRC1;
    compare.repeat = (count + HALF_LANES - 1) / HALF_LANES;
    compare.dst = compare.src0 = space;
    compare.src0_blk = 1;
    compare.src0_rep = NPU_REPEAT / NPU_BLOCK;
    adv_issue(core, &compare);
    struct npu_insn select = ADV_INSN(NPU_OP_SELECT, COUNT, call->type);
    select.src1_type = AKGEN_UINT8;
    select.mode = TENSOR_SCALAR;
    select.flags = NPU_INSN_SCALAR_SRC1;
    select.scalar = call->scalar[0];
    select.count = count;
    select.dst = adv_part(&call->dst[0], call->type, first, count);
    select.src0 = adv_part(&call->src[0], call->type, first, count);
    select.aux = space;
    adv_issue(core, &select);
}

/* The scalar, a repeat of it, at the start of the space: CANN fills CMPMASK from there. */
static void scalar_repeat(struct npu_core *core, const struct npu_adv *call)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_DUPLICATE, COUNT, call->type);
    insn.scalar = call->scalar[0];
    insn.count = NPU_REPEAT * 8 / npu_element_bits(call->type);
    insn.dst = call->tmp;
    adv_issue(core, &insn);
}

/* Elements at a time. CANN takes 256 bytes off the space without looking: with less the difference wraps around, and
 * what does not fit lands behind the space. */
static uint32_t elements_at_a_time(struct npu_core *core, uint32_t bytes)
{
    if (bytes < LEAST_TMP)
        npu_note(core, false, FAULT(adv_tmp_too_small), "sharedTmpBuffer", 0,
                 "%s has %u bytes of temporary space, it should have %u: the rest of what it writes lands behind it",
                 core->api, bytes, LEAST_TMP);
    uint32_t step = (bytes - TAIL_TMP) / 2 / NPU_BLOCK * NPU_BLOCK;
    if (step > MOST_REPEATS * HALF_LANES)
        step = MOST_REPEATS * HALF_LANES;
    if (!step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s has %u bytes of temporary space, of which it leaves 256 alone: it never comes to an end",
                 core->api, bytes);
    return step;
}

void adv_select_bytes(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t mask_bytes = call->shape[3], offset = 0;
    struct npu_tensor mask = call->src[1], closed = mask;
    bool longer = call->shape[1] != call->shape[2];
    adv_reset_mask(core);
    if (longer && call->flags & NPU_ADV_KEEP_MASK) {
        offset = (call->count * mask_bytes + NPU_BLOCK - 1) / NPU_BLOCK * NPU_BLOCK;
        closed = adv_tmp(core, call, 0, offset);
    }
    uint32_t step = elements_at_a_time(core, call->tmp.bytes - offset);
    scalar_repeat(core, call);
    if (longer)
        adv_close_up(core, closed, mask, call->shape[0], call->shape[1] * mask_bytes, call->shape[2] * mask_bytes);
    struct npu_tensor space = adv_tmp(core, call, offset, call->tmp.bytes - offset);
    for (uint32_t first = 0; first < call->count; first += step) {
        uint32_t count = call->count - first < step ? call->count - first : step;
        struct npu_tensor part = adv_part(&closed, AKGEN_UINT8, first * mask_bytes, count * mask_bytes);
        select_part(core, call, part, space, first, count, mask_bytes);
    }
}
