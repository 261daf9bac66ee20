/* ReduceProd, ReduceAny and ReduceAll of a matrix, and ReduceXorSum. Rows are halved again and again: a binary tree.
 * shape = rows, columns, whether the rows are reduced (RA). Steps and temporary space: asc-devkit, NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/report.h"

enum { FLOATS = 8, HALVES = 16, BYTES = 32, CAST_NONE = 0, CAST_ROUND = 5 };

struct tree {
    struct npu_core *core;
    const struct npu_adv *call;
    enum npu_op op;
    uint8_t type;
    uint32_t rows, columns, pitch;
    bool reuse;
};

static struct npu_tensor from(const struct npu_tensor *tensor, uint8_t type, uint32_t first)
{
    struct npu_tensor part = *tensor;
    uint32_t bytes = adv_bytes(type, first);
    part.addr += bytes;
    part.bytes = part.bytes > bytes ? part.bytes - bytes : 0;
    return part;
}

static uint32_t power_of_two(uint32_t n)
{
    return UINT32_C(1) << (31 - (uint32_t)__builtin_clz(n));
}

/* acc[i] = acc[i] op acc[i + half] until `least` elements are left of `count`, a power of two. */
static void halve(const struct tree *t, struct npu_tensor acc, uint32_t count, uint32_t least, uint32_t unit)
{
    while (count > least) {
        count /= 2;
        adv_binary(t->core, t->op, acc, acc, from(&acc, t->type, count * unit), t->type, count * unit);
    }
}

static void copy(const struct tree *t, struct npu_tensor dst, struct npu_tensor src, uint32_t count)
{
    adv_scalar_op(t->core, NPU_OP_ADDS, dst, src, 0, t->type, count);
}

/* RA: rows fold onto each other, in the temporary space or (isReuseSource) in the source. */

static void columns_to_row(const struct tree *t)
{
    const struct npu_tensor *src = &t->call->src[0];
    uint32_t split = power_of_two(t->rows), rest = t->rows - split;
    if (t->rows == 1) {
        copy(t, t->call->dst[0], *src, t->columns);
        return;
    }
    struct npu_tensor acc = *src, second = from(src, t->type, split * t->pitch);
    if (!t->reuse && !rest) {
        split /= 2;
        acc = adv_tmp(t->core, t->call, 0, adv_bytes(t->type, split * t->pitch));
        adv_binary(t->core, t->op, acc, *src, from(src, t->type, split * t->pitch), t->type, split * t->pitch);
    } else if (!t->reuse) {
        acc = adv_tmp(t->core, t->call, 0, adv_bytes(t->type, split * t->pitch));
        copy(t, acc, *src, split * t->pitch);
    }
    if (rest)
        adv_binary(t->core, t->op, acc, acc, second, t->type, rest * t->pitch);
    halve(t, acc, split, 1, t->pitch);
    copy(t, t->call->dst[0], acc, t->columns);
}

/* ReduceProd, AR: each row to eight floats, those spread over blocks and multiplied. */

static void product_of_row(const struct tree *t, uint32_t row, struct npu_tensor spread, struct npu_tensor slots)
{
    struct npu_tensor src = from(&t->call->src[0], AKGEN_FLOAT, row * t->pitch);
    struct npu_tensor slot = from(&slots, AKGEN_FLOAT, row * FLOATS), acc = t->reuse ? src : slot;
    uint32_t last = t->columns, split = power_of_two(last), rest = last >= FLOATS ? last - split : 0;
    uint32_t width = split;
    if (!t->reuse && !rest && split > FLOATS) {
        width = split / 2;
        adv_binary(t->core, t->op, acc, src, from(&src, AKGEN_FLOAT, width), AKGEN_FLOAT, width);
    } else if (!t->reuse) {
        copy(t, acc, src, rest ? split : last);
    }
    if (rest)
        adv_binary(t->core, t->op, acc, acc, from(&src, AKGEN_FLOAT, split), AKGEN_FLOAT, rest);
    halve(t, acc, width, FLOATS, 1);
    struct npu_insn brcb = ADV_INSN(NPU_OP_BRCB, MASK_REG, AKGEN_FLOAT, .repeat = 1, .dst_blk = 1, .dst_rep = 8,
                                    .dst = spread, .src0 = acc);
    adv_issue(t->core, &brcb);
    uint32_t blocks = last < FLOATS ? split : FLOATS;
    if (last < FLOATS && split != last)
        adv_binary(t->core, t->op, spread, spread, from(&spread, AKGEN_FLOAT, split * FLOATS), AKGEN_FLOAT,
                   (last - split) * FLOATS);
    halve(t, spread, blocks, 1, FLOATS);
    copy(t, slot, spread, FLOATS);
}

static void products(const struct tree *t)
{
    struct npu_core *core = t->core;
    struct npu_tensor spread = adv_tmp(core, t->call, 0, NPU_REPEAT), slots = t->call->src[0];
    if (!t->reuse) {
        uint32_t split = power_of_two(t->columns), kept = split == t->columns && t->rows > 1 ? split / 2 : split;
        uint32_t floats = t->rows * FLOATS + (kept > FLOATS ? kept - FLOATS : 0);
        slots = adv_tmp(core, t->call, NPU_REPEAT, floats * 4);
    }
    for (uint32_t row = 0; row < t->rows; row++)
        product_of_row(t, row, spread, slots);
    adv_duplicate(core, spread, 1, AKGEN_UINT32, NPU_REPEAT / 4);
    struct npu_insn pick =
        ADV_INSN(NPU_OP_GATHER_MASK, MASK_REG, AKGEN_FLOAT, .src1_type = AKGEN_UINT32,
                 .flags = NPU_INSN_REDUCE_MODE | NPU_INSN_USER_PATTERN, .mask = {FLOATS}, .repeat = t->rows,
                 .src0_blk = 1, .src0_rep = 1, .dst = t->call->dst[0], .src0 = slots, .src1 = spread);
    adv_issue(core, &pick);
}

/* ReduceAny, ReduceAll of bytes, AR: as halves, each row to a block, then the blocks. */

static void reduce_blocks(const struct tree *t, struct npu_tensor dst, struct npu_tensor src, uint32_t valid)
{
    enum { BLOCKS = 8 };
    for (uint32_t row = 0; row < t->rows;) {
        uint32_t left = t->rows - row, blocks = left < BLOCKS ? left : BLOCKS;
        struct npu_insn insn = ADV_INSN(t->op == NPU_OP_MAX ? NPU_OP_BLOCK_REDUCE_MAX : NPU_OP_BLOCK_REDUCE_MIN,
                                        MASK_BITS, AKGEN_FLOAT16, .dst_rep = 1, .src0_blk = 1, .src0_rep = BLOCKS);
        for (uint32_t block = 0; block < blocks; block++)
            insn.mask[block / 4] |= ((UINT64_C(1) << valid) - 1) << block % 4 * HALVES;
        insn.repeat = left / BLOCKS ? left / BLOCKS : 1;
        insn.dst = from(&dst, AKGEN_FLOAT16, row);
        insn.src0 = from(&src, AKGEN_FLOAT16, row * HALVES);
        adv_issue(t->core, &insn);
        row += insn.repeat * blocks;
    }
    adv_reset_mask(t->core);
}

/* Rows of 17 to 31 bytes lose those from the 17th on: CANN's routine takes up to 31 for one block of halves. */
static void bytes_to_column(struct tree t)
{
    struct npu_core *core = t.core;
    uint32_t split = t.columns < BYTES ? 0 : power_of_two(t.columns), valid = t.columns < HALVES ? t.columns : HALVES;
    struct npu_tensor halves = adv_tmp(core, t.call, 0, t.pitch * 2 + t.rows * BYTES);
    struct npu_tensor slots = from(&halves, AKGEN_FLOAT16, t.pitch);
    if (t.columns > HALVES && t.columns < BYTES)
        npu_note(core, false, FAULT(adv_shape), "srcShape", 0,
                 "%s of rows of %u bytes looks at the first 16 of each; rows of 32 and more are reduced as a whole",
                 core->api, t.columns);
    t.type = AKGEN_FLOAT16;
    for (uint32_t row = 0; row < t.rows; row++) {
        adv_cast(core, halves, AKGEN_FLOAT16, from(&t.call->src[0], AKGEN_UINT8, row * t.pitch), AKGEN_UINT8, CAST_NONE,
                 t.pitch);
        if (split && split != t.columns)
            adv_binary(core, t.op, halves, halves, from(&halves, AKGEN_FLOAT16, split), AKGEN_FLOAT16,
                       t.columns - split);
        halve(&t, halves, split, HALVES, 1);
        copy(&t, from(&slots, AKGEN_FLOAT16, row * HALVES), halves, HALVES);
    }
    reduce_blocks(&t, halves, slots, valid);
    adv_cast(core, t.call->dst[0], AKGEN_UINT8, halves, AKGEN_FLOAT16, CAST_NONE, t.rows);
}

/* The calls. */

static struct tree tree_of(struct npu_core *core, const struct npu_adv *call, enum npu_op op)
{
    struct tree t = {.core = core, .call = call, .op = op, .type = call->type, .rows = call->shape[0]};
    uint32_t block = NPU_BLOCK * 8 / npu_element_bits(call->type);
    t.columns = call->shape[1];
    t.pitch = (t.columns + block - 1) / block * block;
    t.reuse = call->flags & NPU_ADV_REUSE_SOURCE;
    if (!t.rows || !t.columns)
        npu_trap(core, FAULT(adv_shape), "srcShape", "%s of %u x %u elements", core->api, t.rows, t.columns);
    adv_reset_mask(core);
    return t;
}

void adv_pattern_prod(struct npu_core *core, const struct npu_adv *call)
{
    struct tree t = tree_of(core, call, NPU_OP_MUL);
    if (call->shape[2])
        columns_to_row(&t);
    else
        products(&t);
    adv_reset_mask(core);
}

/* Numbers that are 0 or 1: the largest is whether any is 1, the smallest whether all are. Bytes go two at a time where
 * the rows are reduced. */
static void logic(struct npu_core *core, const struct npu_adv *call, enum npu_op op, enum npu_op bits,
                  adv_routine *floats)
{
    if (call->type == AKGEN_FLOAT) {
        floats(core, call);
        return;
    }
    struct tree t = tree_of(core, call, call->shape[2] ? bits : op);
    if (call->shape[2]) {
        t.type = AKGEN_INT16;
        t.pitch /= 2;
        t.columns = (t.columns + 1) / 2;
        columns_to_row(&t);
    } else {
        bytes_to_column(t);
    }
    adv_reset_mask(core);
}

ADV_VARIANT(pattern_any, logic, NPU_OP_MAX, NPU_OP_OR, adv_pattern_max)
ADV_VARIANT(pattern_all, logic, NPU_OP_MIN, NPU_OP_AND, adv_pattern_min)

/* (a and not b) or (b and not a), as not (a and b) and (a or b); then the sum in float. */
void adv_xor_sum(struct npu_core *core, const struct npu_adv *call)
{
    bool reuse = call->flags & NPU_ADV_REUSE_SOURCE;
    uint32_t count = call->count, room = call->tmp.bytes / 2 / (reuse ? 2 : 3) / BYTES * BYTES;
    if (room < count)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "ReduceXorSum of %u elements has room for %u in %u bytes of temporary space", count, room,
                 call->tmp.bytes);
    struct npu_tensor a = adv_tmp(core, call, 0, room * 4), b = from(&a, AKGEN_INT16, room);
    struct npu_tensor work = reuse ? call->src[1] : adv_tmp(core, call, room * 4, room * 2);
    adv_binary(core, NPU_OP_AND, a, call->src[0], call->src[1], AKGEN_INT16, count);
    adv_binary(core, NPU_OP_OR, b, call->src[0], call->src[1], AKGEN_INT16, count);
    adv_unary(core, NPU_OP_NOT, a, a, AKGEN_INT16, count);
    adv_binary(core, NPU_OP_AND, b, a, b, AKGEN_INT16, count);
    adv_cast(core, a, AKGEN_FLOAT, b, AKGEN_INT16, CAST_NONE, count);
    struct npu_insn sum =
        ADV_INSN(NPU_OP_REDUCE_SUM, COUNT, AKGEN_FLOAT, .count = count, .dst = a, .src0 = a, .aux = work);
    adv_issue(core, &sum);
    adv_cast(core, call->dst[0], AKGEN_INT16, a, AKGEN_FLOAT, CAST_ROUND, 1);
    adv_reset_mask(core);
}
