/* TopK: the k largest or smallest of each row, best first, and their indices. dst = values, indices; src = x, indices,
 * finished rows; count = k; shape = outter, inner, n, whether isLargest, isInitIndex, isHasfinish, TOPK_NSMALL.
 *
 * Steps, and which field of the tiling says what: asc-devkit, TopK, NPU_ARCH 2201. Rows are sorted in pairs with their
 * indices, the smallest as the largest of the negated. Small mode sorts rows of 32 all at once. */
#include "npu/adv/pairs.h"
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/order/order.h"
#include "npu/report.h"
#include "npu/scalar/access.h"

#include <string.h>

enum { SORT32 = 32, MOST_INNER = 4096, FIRST_OF_2 = 1, SECOND_OF_2 = 2, FIRST_OF_4 = 3 };

struct top {
    struct npu_core *core;
    const struct npu_adv *call;
    const struct TopkTiling *t;
    uint32_t k, outer, inner, n;
    bool largest, has_index;
    struct npu_tensor buffer[2]; /* pairs of a row; small mode: of all rows, then the negated source */
    struct npu_tensor index;
};

static void sort32(const struct top *t, struct npu_tensor src, uint32_t repeat)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_SORT32, MASK_REG, t->call->type, .repeat = repeat, .dst = t->buffer[0],
                                    .src0 = src, .src1 = t->index);
    insn.dst.bytes = repeat * SORT32 * ADV_PAIR;
    adv_issue(t->core, &insn);
}

/* Elements of the temporary space from `first` on, where the tiling puts something. */
static struct npu_tensor space_of(const struct top *t, int32_t first, uint32_t bytes)
{
    return adv_tmp(t->core, t->call, adv_bytes(t->call->type, (uint32_t)first), bytes);
}

static void make_index(struct top *t, int32_t first, uint32_t rows)
{
    t->index = space_of(t, first, rows * t->inner * 4);
    struct npu_adv numbers = {.op = NPU_ADV_ARANGE,
                              .type = AKGEN_INT32,
                              .dst_type = AKGEN_INT32,
                              .count = t->inner,
                              .scalar = {0, 1},
                              .dst = {adv_part(&t->index, AKGEN_INT32, 0, t->inner)}};
    adv_arange(t->core, &numbers);
    adv_reset_mask(t->core);
    if (rows > 1) {
        struct npu_tensor others = adv_part(&t->index, AKGEN_INT32, t->inner, (rows - 1) * t->inner);
        adv_rows_copy(t->core, adv_nd(others, AKGEN_INT32, t->inner), adv_nd(t->index, AKGEN_INT32, 0), rows - 1,
                      t->inner);
    }
}

/* Normal mode. */

/* Lists of 32 to lists of z, four at a time while whole groups of four are left. Returns z; *at: in which buffer. */
static uint32_t merge_fours(const struct top *t, uint32_t *at)
{
    uint32_t z = SORT32;
    for (; z * ADV_LISTS <= t->inner; z *= ADV_LISTS) {
        const struct npu_tensor *src = &t->buffer[*at], *dst = &t->buffer[*at ^ 1];
        struct npu_tensor list[ADV_LISTS];
        for (uint32_t i = 0; i < ADV_LISTS; i++)
            list[i] = adv_pairs(src, i * z, z);
        uint32_t groups = t->inner / ADV_LISTS / z;
        struct npu_tensor merged = adv_pairs(dst, 0, groups * ADV_LISTS * z);
        adv_merge_lists(t->core, t->call->type, &merged, list, groups);
        adv_copy_pairs(t->core, src, dst, 0, t->inner);
        *at ^= 1;
    }
    return z;
}

/* What is left, two lists at a time, each cut to its best k. */
static void merge_twos(const struct top *t, uint32_t z, uint32_t *at)
{
    uint32_t sorted = z, left = t->inner - z;
    for (uint32_t length = z; length >= SORT32; length /= ADV_LISTS) {
        for (; left >= length; left -= length) {
            struct npu_tensor list[ADV_LISTS] = {
                adv_pairs(&t->buffer[*at], 0, sorted < t->k ? sorted : t->k),
                adv_pairs(&t->buffer[*at], sorted, length < t->k ? length : t->k),
            };
            struct npu_tensor merged = t->buffer[*at ^ 1];
            merged.bytes = list[0].bytes + list[1].bytes;
            adv_merge_lists(t->core, t->call->type, &merged, list, 1);
            sorted += length;
            *at ^= 1;
        }
    }
}

static void pick(const struct top *t, struct npu_tensor dst, struct npu_tensor pairs, uint8_t type, int pattern,
                 int32_t mask)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_GATHER_MASK, MASK_REG, type, .mode = (uint8_t)pattern,
                                    .flags = NPU_INSN_REDUCE_MODE, .mask = {(uint64_t)(uint32_t)mask}, .repeat = 1,
                                    .src0_blk = 1, .src0_rep = 8, .dst = dst, .src0 = pairs);
    adv_issue(t->core, &insn);
    adv_reset_mask(t->core);
}

static bool is_finished(const struct top *t, uint32_t row)
{
    bool finished;
    uint64_t addr = t->call->src[2].addr + row;
    npu_order_auto_edge(t->core, NPU_LANE_V, NPU_LANE_S);
    npu_scalar_access(t->core, addr, sizeof finished, false, false);
    memcpy(&finished, (const void *)addr, sizeof finished);
    npu_order_edge(t->core->order, NPU_LANE_S, NPU_LANE_V);
    return finished;
}

static struct npu_tensor behind(const struct npu_tensor *tensor, uint8_t type, uint32_t first)
{
    struct npu_tensor part = *tensor;
    part.addr += adv_bytes(type, first);
    part.bytes -= part.bytes < adv_bytes(type, first) ? part.bytes : adv_bytes(type, first);
    return part;
}

static void normal(struct top *t)
{
    struct npu_core *core = t->core;
    const struct npu_adv *call = t->call;
    uint8_t type = call->type;
    bool half = type == AKGEN_FLOAT16;
    for (int i = 0; i < 2; i++)
        t->buffer[i] = space_of(t, i * t->t->innerDataSize, t->inner * ADV_PAIR);
    if (!t->has_index)
        make_index(t, t->t->srcIndexOffset, 1);
    for (uint32_t row = 0; row < t->outer; row++) {
        struct npu_tensor x = adv_part(&call->src[0], type, row * t->inner, t->inner);
        if (!t->largest) {
            adv_scalar_op(core, NPU_OP_MULS, t->buffer[1], x, -1, type, t->inner);
            x = t->buffer[1];
        }
        sort32(t, x, t->t->sortRepeat);
        adv_copy_pairs(core, &t->buffer[1], &t->buffer[0], 0, t->inner);
        uint32_t at = 0, z = merge_fours(t, &at);
        merge_twos(t, z, &at);
        uint32_t index_row = row * (uint32_t)t->t->kAlignFourBytes;
        uint32_t value_row = half ? row * (uint32_t)t->t->kAlignTwoBytes : index_row;
        pick(t, behind(&call->dst[0], type, value_row), t->buffer[at], type, half ? FIRST_OF_4 : FIRST_OF_2,
             half ? t->t->maskVreducev2TwoBytes : t->t->maskVreducev2FourBytes);
        struct npu_tensor indices = behind(&call->dst[1], AKGEN_INT32, index_row);
        pick(t, indices, t->buffer[at], AKGEN_FLOAT, SECOND_OF_2, t->t->maskVreducev2FourBytes);
        if (call->shape[5] && is_finished(t, row))
            adv_duplicate(core, indices, t->n, AKGEN_INT32, t->k);
    }
}

/* Small mode. */

static struct npu_tensor write_pattern(const struct top *t, struct npu_tensor at, const void *words, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 2) {
        npu_scalar_access(t->core, at.addr + i, 2, true, false);
        memcpy((void *)(at.addr + i), (const uint8_t *)words + i, 2);
    }
    at.bytes = NPU_BLOCK;
    return at;
}

/* Of every row's 32 pairs what the pattern says, rows of k one after the other. */
static void pick_all(const struct top *t, struct npu_tensor dst, uint8_t type, uint8_t pattern_type,
                     struct npu_tensor pattern)
{
    struct npu_insn insn =
        ADV_INSN(NPU_OP_GATHER_MASK, MASK_REG, type, .flags = NPU_INSN_REDUCE_MODE | NPU_INSN_USER_PATTERN,
                 .mask = {NPU_REPEAT * 8 / npu_element_bits(type)}, .repeat = t->outer, .src0_blk = 1, .src0_rep = 8,
                 .src1_type = pattern_type, .dst = dst, .src0 = t->buffer[0], .src1 = pattern);
    adv_issue(t->core, &insn);
    adv_reset_mask(t->core);
}

static void small(struct top *t)
{
    const struct npu_adv *call = t->call;
    uint32_t all = t->outer * t->inner;
    t->buffer[0] = space_of(t, 0, all * ADV_PAIR);
    struct npu_tensor patterns = space_of(t, t->t->topkMrgSrc1MaskSizeOffset, 2 * NPU_BLOCK), x = call->src[0];
    if (!t->has_index)
        make_index(t, t->t->topkNSmallSrcIndexOffset, t->outer);
    if (!t->largest) {
        x = space_of(t, t->t->innerDataSize, adv_bytes(call->type, all));
        adv_scalar_op(t->core, NPU_OP_MULS, x, call->src[0], -1, call->type, all);
    }
    sort32(t, x, t->outer);
    adv_await_vector(t->core);
    struct npu_tensor second = patterns;
    second.addr += NPU_BLOCK;
    bool half = call->type == AKGEN_FLOAT16;
    patterns = half ? write_pattern(t, patterns, &t->t->vreducehalfValMask0, 16)
                    : write_pattern(t, patterns, &t->t->vreduceValMask0, 8);
    second = write_pattern(t, second, &t->t->vreduceIdxMask0, 8);
    npu_order_edge(t->core->order, NPU_LANE_S, NPU_LANE_V);
    pick_all(t, call->dst[0], call->type, half ? AKGEN_UINT16 : AKGEN_UINT32, patterns);
    pick_all(t, call->dst[1], AKGEN_FLOAT, AKGEN_UINT32, second);
}

void adv_topk(struct npu_core *core, const struct npu_adv *call)
{
    struct top t = {.core = core, .call = call, .t = call->tiling, .k = call->count, .outer = call->shape[0]};
    bool is_small = call->shape[6];
    t.inner = call->shape[1];
    t.n = call->shape[2];
    t.largest = call->shape[3];
    t.has_index = call->shape[4];
    t.index = call->src[1];
    if (!t.outer || t.inner % SORT32 || t.inner > (is_small ? SORT32 : MOST_INNER) || t.n > t.inner || !t.k ||
        t.k > t.n)
        npu_trap(core, FAULT(adv_shape), "topKInfo",
                 "TopK of %u rows of %u elements, %u with padding, k = %u: 1 <= k <= n <= inner, and inner is a "
                 "multiple of 32, at most %u",
                 t.outer, t.n, t.inner, t.k, is_small ? SORT32 : MOST_INNER);
    adv_reset_mask(core);
    (is_small ? small : normal)(&t);
    if (!t.largest)
        adv_scalar_op(core, NPU_OP_MULS, call->dst[0], call->dst[0], -1, call->type, (uint32_t)t.t->maskOffset);
    adv_reset_mask(core);
}
