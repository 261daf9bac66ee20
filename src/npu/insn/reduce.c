/* ReduceSum, ReduceMax, ReduceMin: all elements to one value. Composites of vcadd, vcmax and vcmin.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/归约计算/: ReduceSum.md, ReduceMax.md, ReduceMin.md (关键特性说明). On the
 * 910B:
 *   ReduceSum, count form   a binary tree in each repeat, the repeats' sums added in order, sharedTmpBuffer untouched
 *   ReduceSum, mask forms   a binary tree in each repeat, the sums gathered in sharedTmpBuffer and reduced so again
 *   ReduceMax, ReduceMin    each repeat's extreme and index into sharedTmpBuffer, then the extremes of those */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/reduce_internal.h"
#include "npu/isa.h"
#include "npu/report.h"

#include <assert.h>
#include <string.h>

static enum npu_reduction reduction_of(const struct npu_insn *insn)
{
    return insn->op == NPU_OP_REDUCE_MAX   ? NPU_REDUCE_MAX
           : insn->op == NPU_OP_REDUCE_MIN ? NPU_REDUCE_MIN
                                           : NPU_REDUCE_SUM;
}

/* The count form, or ReduceSum<T, false> whose mask is already in the registers: sums in the accumulator. */
static bool accumulates(const struct npu_insn *insn)
{
    return insn->op == NPU_OP_REDUCE_SUM && (insn->form == NPU_FORM_COUNT || insn->form == NPU_FORM_MASK_REG);
}

/* The instruction's own repeats: ReduceSum<T, false> takes one, or what counter mode says. */
static struct npu_insn with_repeats(const struct npu_insn *insn)
{
    struct npu_insn one = *insn;
    if (insn->form == NPU_FORM_MASK_REG && insn->op == NPU_OP_REDUCE_SUM)
        one.repeat = 1;
    if (insn->form == NPU_FORM_COUNT || insn->form == NPU_FORM_MASK_REG)
        one.src0_rep = NPU_REPEAT / NPU_BLOCK;
    one.src0_blk = 1;
    return one;
}

static bool nothing_to_do(const struct npu_insn *insn, const struct npu_regs *regs)
{
    return insn->form == NPU_FORM_COUNT ? !insn->count : npu_reduce_nop(insn, regs);
}

static uint32_t round_up(uint32_t n, uint32_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Elements of sharedTmpBuffer that the call uses; 0 = none. The documentation's formulas, in stages: a stage leaves two
 * elements (value, index) per repeat for Max and Min, one for Sum. With one repeat only a value passes through. */
static uint32_t tmp_elements(const struct npu_insn *insn, uint32_t repeats, uint32_t lanes)
{
    assert(lanes >= 8);
    uint32_t per_block = lanes / 8;
    if (accumulates(insn))
        return 0;
    if (insn->op == NPU_OP_REDUCE_SUM)
        return round_up(repeats, per_block);
    if (repeats == 1)
        return per_block;
    uint32_t first = round_up(2 * repeats, per_block);
    if (!(insn->flags & NPU_INSN_CAL_INDEX))
        return first;
    uint32_t second_count = (2 * repeats + lanes - 1) / lanes * 2, second = round_up(second_count, per_block);
    if (second_count <= 2)
        return first + second;
    uint32_t third_count = (second_count + lanes - 1) / lanes * 2;
    return first + second + round_up(third_count, per_block);
}

/* Repeats that go through sharedTmpBuffer: the count form of Max and Min does its ragged end apart. */
static uint32_t tmp_repeats(const struct npu_insn *insn, const struct npu_vector *v)
{
    if (insn->form != NPU_FORM_COUNT || v->repeats == 1)
        return v->repeats;
    return insn->count / v->per_repeat;
}

static int list_tmp(struct npu_core *core, const struct npu_insn *insn, const struct npu_vector *v, uint32_t size,
                    struct npu_access *accesses, int n)
{
    uint32_t bytes = tmp_elements(insn, tmp_repeats(insn, v), v->per_repeat) * size;
    if (!bytes)
        return n;
    npu_check_operand(core, &insn->aux, "sharedTmpBuffer");
    if (insn->aux.bytes && insn->aux.bytes < bytes)
        npu_trap(core, FAULT(reduce_tmp_too_small), "sharedTmpBuffer",
                 "%s over %u repeats needs %u bytes of sharedTmpBuffer, it has %u", npu_isa[insn->op].name, v->repeats,
                 bytes, insn->aux.bytes);
    accesses[n++] = (struct npu_access){.addr = insn->aux.addr,
                                        .bytes = bytes,
                                        .count = 1,
                                        .count2 = 1,
                                        .write = true,
                                        .flags = insn->aux.flags,
                                        .tensor = &insn->aux,
                                        .operand = "sharedTmpBuffer"};
    return n;
}

int npu_check_reduce(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                     struct npu_access *accesses)
{
    struct npu_insn one = with_repeats(insn);
    if (nothing_to_do(&one, regs))
        return 0;
    uint32_t bits = npu_element_bits(insn->src_type), size = bits / 8;
    if (insn->form == NPU_FORM_COUNT && insn->count > core->ub_bytes / size)
        npu_trap(core, FAULT(reduce_count), "count", "count is %d, UB holds %u elements", (int)insn->count,
                 core->ub_bytes / size);
    if (insn->form != NPU_FORM_COUNT && !regs->counter && one.repeat > core->ub_bytes / size)
        npu_trap(core, FAULT(vec_repeat), "repeatTime", "%s repeats %d times; UB holds %u elements",
                 npu_isa[insn->op].name, (int)one.repeat, core->ub_bytes / size);
    struct npu_vector v = npu_vector_shape(&one, regs, bits);
    bool index = insn->flags & NPU_INSN_CAL_INDEX;
    struct npu_insn limited =
        one; /* repeatTime may exceed the register: the API issues as many instructions as it takes */
    limited.repeat = one.repeat > NPU_MAX_REPEAT ? NPU_MAX_REPEAT : one.repeat;
    npu_check_form(core, &limited, regs, bits);
    npu_check_reduce_dst(core, &insn->dst, index ? 2 * size : size);
    npu_check_operand(core, &insn->src0, "src0");
    accesses[0] = (struct npu_access){.addr = insn->dst.addr,
                                      .bytes = index ? 2 * size : size,
                                      .count = 1,
                                      .count2 = 1,
                                      .write = true,
                                      .flags = insn->dst.flags,
                                      .tensor = &insn->dst,
                                      .operand = "dst"};
    int n = npu_list_operand(accesses, 1, &v, &insn->src0, bits, one.src0_blk, one.src0_rep, false, "src0");
    return list_tmp(core, insn, &v, size, accesses, n);
}

/* Execution. */
struct outcome {
    float value;
    uint32_t index;
    bool defined;
};

/* Sums of `n` numbers in memory by trees of one repeat each, until one is left. */
static float tree_over(uint8_t *at, uint32_t n, uint32_t lanes, bool half)
{
    while (n > 1) {
        uint32_t sums = (n + lanes - 1) / lanes;
        for (uint32_t i = 0; i < sums; i++) {
            float lane[NPU_MAX_LANES];
            for (uint32_t k = 0; k < lanes; k++) {
                uint32_t element = i * lanes + k;
                lane[k] = element >= n ? 0 : half ? (float)((npu_f16 *)at)[element] : ((npu_f32 *)at)[element];
            }
            npu_store_lane(at + i * (half ? 2 : 4), npu_tree_sum(lane, lanes, half), half);
        }
        n = sums;
    }
    return half ? (float)*(npu_f16 *)at : *(npu_f32 *)at;
}

static struct outcome sum(struct npu_core *core, const struct npu_insn *insn, const struct npu_vector *v)
{
    bool half = insn->src_type == AKGEN_FLOAT16, into_tmp = !accumulates(insn);
    uint8_t *tmp = (uint8_t *)insn->aux.addr;
    struct outcome out = {0, 0, true};
    for (uint32_t r = 0; r < v->repeats; r++) {
        struct npu_repeat repeat;
        npu_load_repeat(core, insn, v, 1, insn->src0_rep, r, &repeat);
        if (repeat.undefined && out.defined)
            npu_undefined_read(core, "src0", repeat.undefined);
        out.defined &= !repeat.undefined;
        float partial = npu_tree_sum(repeat.lane, v->per_repeat, half);
        if (into_tmp)
            npu_store_lane(tmp + (size_t)r * (half ? 2 : 4), partial, half);
        else
            out.value = r ? npu_reduce_add(out.value, partial, half) : partial; /* -0 stays -0 */
    }
    if (into_tmp)
        out.value = tree_over(tmp, v->repeats, v->per_repeat, half);
    else
        core->results.acc_value = npu_lane_bits(out.value, half);
    return out;
}

/* Comparing the repeats' extremes one after the other gives what the stages in sharedTmpBuffer give: the first of
 * them. */
static struct outcome extreme(struct npu_core *core, const struct npu_insn *insn, const struct npu_vector *v)
{
    enum npu_reduction reduction = reduction_of(insn);
    bool half = insn->src_type == AKGEN_FLOAT16;
    uint32_t step =
        insn->src0_rep * (half ? 16 : 8); /* elements between repeats: what the API multiplies the repeat with */
    struct outcome out = {0, 0, true};
    uint32_t lane_of_best = 0;
    for (uint32_t r = 0; r < v->repeats; r++) {
        struct npu_repeat repeat;
        npu_load_repeat(core, insn, v, 1, insn->src0_rep, r, &repeat);
        if (repeat.undefined && out.defined)
            npu_undefined_read(core, "src0", repeat.undefined);
        out.defined &= !repeat.undefined;
        uint32_t lane = npu_first_extreme(&repeat, 0, v->per_repeat, reduction);
        float value = repeat.lane[lane];
        bool better = value != value                ? out.value == out.value
                      : reduction == NPU_REDUCE_MAX ? value > out.value
                                                    : value < out.value;
        if (r == 0 || better) {
            out.value = value;
            out.index = r * step + lane;
            lane_of_best = lane;
        }
    }
    core->results.reduce_value = npu_lane_bits(out.value, half);
    /* The register holds the index of the last stage: exact for one repeat only (GetReduceRepeatMaxMinSpr). */
    core->results.reduce_index = v->repeats == 1 ? lane_of_best : 0;
    return out;
}

static void set_defined(struct npu_core *core, const void *at, size_t bytes, bool defined)
{
    if (defined)
        npu_ub_define(core, at, bytes);
    else
        npu_ub_undefine(core, at, bytes);
}

void npu_exec_reduce(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    struct npu_insn one = with_repeats(insn);
    if (nothing_to_do(&one, regs))
        return;
    bool half = insn->src_type == AKGEN_FLOAT16, index = insn->flags & NPU_INSN_CAL_INDEX;
    size_t size = half ? 2 : 4;
    struct npu_vector v = npu_vector_shape(&one, regs, npu_element_bits(insn->src_type));
    struct outcome out = reduction_of(insn) == NPU_REDUCE_SUM ? sum(core, &one, &v) : extreme(core, &one, &v);
    uint32_t tmp = tmp_elements(insn, tmp_repeats(insn, &v), v.per_repeat);
    if (tmp) /* intermediate values that no documentation describes; dst may lie in there and comes last */
        npu_ub_undefine(core, (void *)insn->aux.addr, tmp * size);
    uint8_t *dst = (uint8_t *)insn->dst.addr;
    npu_store_lane(dst, out.value, half);
    set_defined(core, dst, size, out.defined);
    if (index) {
        memcpy(dst + size, &out.index, size); /* its low 16 bits for half */
        set_defined(core, dst + size, size, out.defined);
    }
}
