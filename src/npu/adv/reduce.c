/* Sum and Mean of the last axis: shape[0] = outter rows, shape[1] = inner (elements of a row, padding included),
 * shape[2] = n (elements that count). Results lie one after the other. */
#include "npu/adv/rows.h"
#include "npu/report.h"

static uint32_t repeats_of(uint8_t type, uint32_t count)
{
    uint32_t lanes = NPU_REPEAT * 8 / npu_element_bits(type);
    return (count + lanes - 1) / lanes;
}

/* Every repeat of `count` elements becomes one. */
static void reduce_once(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint8_t type,
                        uint32_t count)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_WHOLE_REDUCE_SUM, MASK_REG, type);
    insn.repeat = 1;
    insn.dst_rep = 1;
    insn.src0_blk = 1;
    insn.src0_rep = NPU_REPEAT / NPU_BLOCK;
    insn.dst = dst;
    insn.src0 = src;
    adv_count_mask(core, count);
    adv_issue(core, &insn);
    adv_reset_mask(core);
}

/* One row: whole repeats, then the partial sums as one row, until one is left. */
static void sum_row(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, struct npu_tensor partial,
                    uint8_t type, uint32_t count)
{
    while (repeats_of(type, count) > 1) {
        reduce_once(core, partial, src, type, count);
        src = partial;
        count = repeats_of(type, count);
    }
    reduce_once(core, dst, src, type, count);
}

/* CANN's routine uses inner for the begin of the next row only: with a single row it does no harm. */
static void check_shape(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t outter = call->shape[0], inner = call->shape[1], n = call->shape[2];
    static const char rule[] =
        "%s of %u rows, %u of %u elements each: outter and n are at least 1, n is at most inner, "
        "and inner is a whole number of 32-byte blocks";
    bool ragged = adv_bytes(call->type, inner) % NPU_BLOCK;
    if (!outter || !n || n > inner || (ragged && outter > 1))
        npu_trap(core, FAULT(adv_shape), "params", rule, core->api, outter, n, inner);
    if (ragged)
        npu_note(core, false, FAULT(adv_shape), "params", 0, rule, core->api, outter, n, inner);
}

static void sum_rows(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t outter = call->shape[0], inner = call->shape[1], n = call->shape[2];
    uint32_t partials = repeats_of(call->type, n);
    struct npu_tensor partial = partials > 1 ? adv_tmp(core, call, 0, adv_bytes(call->type, partials)) : call->tmp;
    for (uint32_t row = 0; row < outter; row++)
        sum_row(core, adv_part(&call->dst[0], call->type, row, 1),
                adv_part(&call->src[0], call->type, row * inner, inner), partial, call->type, n);
}

void adv_sum(struct npu_core *core, const struct npu_adv *call)
{
    check_shape(core, call);
    sum_rows(core, call);
}

/* half with accType float: a row at a time is summed and scaled in float. */
static void mean_in_float(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t outter = call->shape[0], inner = call->shape[1], n = call->shape[2];
    enum { CAST_NONE = 0 };
    struct npu_tensor row32 = adv_tmp(core, call, 0, inner * 4);
    struct npu_tensor partial = adv_tmp(core, call, inner * 4, repeats_of(AKGEN_FLOAT, n) * 4);
    for (uint32_t row = 0; row < outter; row++) {
        struct npu_tensor src = adv_part(&call->src[0], call->type, row * inner, inner);
        adv_cast(core, row32, AKGEN_FLOAT, src, AKGEN_FLOAT16, CAST_NONE, n);
        sum_row(core, partial, row32, partial, AKGEN_FLOAT, n);
        adv_scalar_op(core, NPU_OP_MULS, partial, partial, 1.0F / (float)n, AKGEN_FLOAT, 1);
        adv_cast(core, row32, AKGEN_FLOAT16, partial, AKGEN_FLOAT, CAST_NONE, 1);
        /* A sum of one element moves it to an address that only has to be a multiple of 2. */
        reduce_once(core, adv_part(&call->dst[0], AKGEN_FLOAT16, row, 1), row32, AKGEN_FLOAT16, 1);
    }
}

/* flags bit 8: accType is float and T half. */
void adv_mean(struct npu_core *core, const struct npu_adv *call)
{
    check_shape(core, call);
    if (call->type == AKGEN_FLOAT16 && call->flags & NPU_ADV_IN_FLOAT) {
        mean_in_float(core, call);
        return;
    }
    sum_rows(core, call);
    adv_scalar_op(core, NPU_OP_MULS, call->dst[0], call->dst[0], 1.0F / (float)call->shape[2], call->type,
                  call->shape[0]);
}
