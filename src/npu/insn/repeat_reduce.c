/* Reductions that one instruction does: WholeReduce* (a repeat to one value), BlockReduce* (a 32-byte block to one
 * value), PairReduceSum (neighbours to one value) and vcadd's accumulating form. CANN's newer names are ReduceRepeat,
 * ReduceDataBlock and ReducePairElem.
 *
 * asc-devkit docs, 基础API/Memory矢量计算/归约计算/: ReduceRepeat, ReduceDataBlock, ReducePairElem;
 * 归约计算辅助配置接口/: GetReduceRepeatSumSpr, GetReduceRepeatMaxMinSpr. */
#include "npu/gm/shadow.h"
#include "npu/insn/insn.h"
#include "npu/insn/reduce_internal.h"
#include "npu/isa.h"
#include "npu/memory.h"
#include "npu/report.h"

#include <string.h>

/* Shared. */
static const uint8_t *block_address(const struct npu_insn *insn, uint32_t blk, uint32_t rep, uint32_t r, uint32_t block)
{
    return (const uint8_t *)insn->src0.addr + ((size_t)r * rep + (size_t)block * blk) * NPU_BLOCK;
}

static bool selected_defined(struct npu_core *core, const uint8_t *block, const uint64_t mask[2], uint32_t from,
                             uint32_t n, size_t size)
{
    if (npu_ub_defined(core, block, n * size))
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (npu_lane_selected(mask, from + i) && !npu_ub_defined(core, block + i * size, size))
            return false;
    return true;
}

static void widen(float *lane, const uint8_t *from, uint32_t n, bool half)
{
    if (half) {
        const npu_f16 *value = (const npu_f16 *)from;
        for (uint32_t i = 0; i < n; i++)
            lane[i] = (float)value[i];
    } else {
        memcpy(lane, from, n * sizeof *lane);
    }
}

void npu_load_repeat(struct npu_core *core, const struct npu_insn *insn, const struct npu_vector *v, uint32_t blk,
                     uint32_t rep, uint32_t r, struct npu_repeat *repeat)
{
    bool half = insn->src_type == AKGEN_FLOAT16;
    size_t size = half ? 2 : 4;
    uint32_t per_block = (uint32_t)(NPU_BLOCK / size);
    npu_vector_mask(v, r, repeat->mask);
    repeat->undefined = NULL;
    bool whole = npu_vector_whole(v) && (r + 1 < v->repeats || v->last == v->per_repeat);
    const uint8_t *first = block_address(insn, blk, rep, r, 0);
    if (whole && blk == 1 && npu_ub_defined(core, first, NPU_REPEAT)) {
        widen(repeat->lane, first, v->per_repeat, half);
        return;
    }
    for (uint32_t from = 0; from < v->per_repeat; from += per_block) {
        uint64_t wanted = repeat->mask[from / 64] >> from % 64 & ((UINT64_C(1) << per_block) - 1);
        const uint8_t *block = block_address(insn, blk, rep, r, from / per_block);
        if (!wanted) { /* the block may lie outside UB */
            memset(repeat->lane + from, 0, per_block * sizeof *repeat->lane);
            continue;
        }
        if (!repeat->undefined && !selected_defined(core, block, repeat->mask, from, per_block, size))
            repeat->undefined = block;
        widen(repeat->lane + from, block, per_block, half);
        for (uint32_t i = 0; i < per_block; i++)
            if (!(wanted >> i & 1))
                repeat->lane[from + i] = 0;
    }
}

float npu_reduce_add(float a, float b, bool half)
{
    /* The float sum of two halves rounds to the same half as the exact sum: 24 bits >= 2 * 11 + 2. */
    return half ? (float)(half_t)(a + b) : a + b;
}

float npu_tree_sum(float *lane, uint32_t n, bool half)
{
    for (uint32_t width = n / 2; width; width /= 2) {
        if (half)
            for (uint32_t i = 0; i < width; i++)
                lane[i] = (float)(half_t)(lane[2 * i] + lane[2 * i + 1]);
        else
            for (uint32_t i = 0; i < width; i++)
                lane[i] = lane[2 * i] + lane[2 * i + 1];
    }
    return lane[0];
}

static bool all_selected(const uint64_t mask[2], uint32_t n)
{
    return mask[0] == UINT64_MAX && (n == 64 || mask[1] == UINT64_MAX);
}

/* The extreme of n lanes, n a multiple of 8, none of them NaN: eight running ones that the compiler keeps in a
 * register. */
static float extreme_of(const float *lane, uint32_t n, bool max)
{
    enum { WIDTH = 8 };
    float best[WIDTH];
    memcpy(best, lane, sizeof best);
    if (max) {
        for (uint32_t i = WIDTH; i < n; i += WIDTH)
            for (uint32_t k = 0; k < WIDTH; k++)
                best[k] = lane[i + k] > best[k] ? lane[i + k] : best[k];
    } else {
        for (uint32_t i = WIDTH; i < n; i += WIDTH)
            for (uint32_t k = 0; k < WIDTH; k++)
                best[k] = lane[i + k] < best[k] ? lane[i + k] : best[k];
    }
    for (uint32_t k = 1; k < WIDTH; k++)
        if (max ? best[k] > best[0] : best[k] < best[0])
            best[0] = best[k];
    return best[0];
}

static bool any_nan(const float *lane, uint32_t n)
{
    uint32_t nans = 0;
    for (uint32_t i = 0; i < n; i++)
        nans |= lane[i] != lane[i];
    return nans;
}

uint32_t npu_first_extreme(const struct npu_repeat *repeat, uint32_t from, uint32_t n, enum npu_reduction reduction)
{
    bool max = reduction == NPU_REDUCE_MAX;
    if (n >= 64 && all_selected(repeat->mask, n) && !any_nan(repeat->lane, n)) {
        float value = extreme_of(repeat->lane, n, max);
        uint32_t first = 0;
        while (repeat->lane[first] != value)
            first++;
        return first;
    }
    uint32_t best = NPU_MAX_LANES;
    for (uint32_t i = from; i < from + n; i++) {
        if (!npu_lane_selected(repeat->mask, i))
            continue;
        float value = repeat->lane[i];
        if (value != value)
            return i;
        if (best == NPU_MAX_LANES || (max ? value > repeat->lane[best] : value < repeat->lane[best]))
            best = i;
    }
    return best;
}

uint64_t npu_lane_bits(float value, bool half)
{
    if (half) {
        half_t narrow = (half_t)value;
        uint16_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return bits;
    }
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void npu_store_lane(uint8_t *at, float value, bool half)
{
    uint64_t bits = npu_lane_bits(value, half);
    memcpy(at, &bits, half ? 2 : 4); /* little-endian, as the chip */
}

void npu_check_reduce_dst(struct npu_core *core, const struct npu_tensor *dst, uint32_t alignment)
{
    const char *name = npu_isa[core->insn->op].name;
    if (!npu_in_ub(core, dst->addr) && !npu_position_on_ub(dst->position))
        npu_trap(core, FAULT(vec_position), "dst",
                 "%s writes Unified Buffer only, but dst does not lie in it (position %d)", name, dst->position);
    uint64_t offset = dst->addr - (uint64_t)core->ub;
    if (offset % alignment)
        npu_trap(core, FAULT(vec_alignment), "dst", "dst of %s starts at UB byte %llu, which is no multiple of %u",
                 name, (unsigned long long)offset, alignment);
}

bool npu_reduce_nop(const struct npu_insn *insn, const struct npu_regs *regs)
{
    return !npu_vector_shape(insn, regs, npu_element_bits(insn->src_type)).repeats;
}

static enum npu_reduction reduction_of(const struct npu_insn *insn)
{
    switch (insn->op) {
    case NPU_OP_WHOLE_REDUCE_MAX:
    case NPU_OP_BLOCK_REDUCE_MAX:
        return NPU_REDUCE_MAX;
    case NPU_OP_WHOLE_REDUCE_MIN:
    case NPU_OP_BLOCK_REDUCE_MIN:
        return NPU_REDUCE_MIN;
    default:
        return NPU_REDUCE_SUM;
    }
}

static uint32_t size_of(const struct npu_insn *insn)
{
    return insn->src_type == AKGEN_FLOAT16 ? 2 : 4;
}

static struct npu_vector shape_of(const struct npu_insn *insn, const struct npu_regs *regs)
{
    return npu_vector_shape(insn, regs, npu_element_bits(insn->src_type));
}

/* dst is written in runs of `bytes` every `step`, the last repeat's run being `last_bytes` long. */
static int list_dst(struct npu_access *accesses, const struct npu_insn *insn, uint32_t repeats, uint32_t bytes,
                    uint32_t last_bytes, int64_t step)
{
    struct npu_access run = {.addr = insn->dst.addr,
                             .bytes = bytes,
                             .count = repeats,
                             .count2 = 1,
                             .stride = step,
                             .write = true,
                             .flags = insn->dst.flags,
                             .tensor = &insn->dst,
                             .operand = "dst"};
    int n = 0;
    if (bytes != last_bytes)
        run.count--;
    if (run.count)
        accesses[n++] = run;
    if (bytes != last_bytes) {
        run.addr += (uint64_t)(repeats - 1) * step;
        run.bytes = last_bytes;
        run.count = 1;
        accesses[n++] = run;
    }
    return n;
}

/* Which selected unit of `lanes` lanes is the last one of a mask, counted from 1. */
static uint32_t last_unit(const uint64_t mask[2], uint32_t lanes)
{
    uint32_t high = mask[1]   ? 128 - (uint32_t)__builtin_clzll(mask[1])
                    : mask[0] ? 64 - (uint32_t)__builtin_clzll(mask[0])
                              : 0;
    return (high + lanes - 1) / lanes;
}

/* Blocks and pairs: one result of `size` bytes for each `lanes` lanes, repeats `step` bytes apart. */
static int check_units(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                       struct npu_access *accesses, uint32_t lanes, uint32_t alignment, int64_t step)
{
    if (npu_reduce_nop(insn, regs))
        return 0;
    struct npu_vector v = shape_of(insn, regs);
    uint32_t bits = npu_element_bits(insn->src_type), size = bits / 8;
    npu_check_form(core, insn, regs, bits);
    npu_check_reduce_dst(core, &insn->dst, alignment);
    npu_check_operand(core, &insn->src0, "src0");
    uint64_t last[2];
    npu_vector_mask(&v, v.repeats - 1, last);
    int n = list_dst(accesses, insn, v.repeats, last_unit(v.mask, lanes) * size, last_unit(last, lanes) * size, step);
    return npu_list_operand(accesses, n, &v, &insn->src0, bits, insn->src0_blk, insn->src0_rep, false, "src0");
}

/* Writes one result and its definedness; the first undefined source of an instruction is reported. */
static void store_result(struct npu_core *core, uint8_t *at, float value, bool half, bool defined)
{
    npu_store_lane(at, value, half);
    if (defined)
        npu_ub_define(core, at, half ? 2 : 4);
    else
        npu_ub_undefine(core, at, half ? 2 : 4);
}

static void report_undefined(struct npu_core *core, const struct npu_repeat *repeat, bool *reported)
{
    if (repeat->undefined && !*reported)
        npu_undefined_read(core, "src0", repeat->undefined);
    *reported |= repeat->undefined != NULL;
}

/* WholeReduce. */
enum reduce_order { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };

/* Bytes of one result, which is also dst's alignment and the unit of dstRepStride: ReduceRepeat.md, table 3. */
static uint32_t whole_unit(const struct npu_insn *insn)
{
    uint32_t size = size_of(insn);
    if (reduction_of(insn) == NPU_REDUCE_SUM || insn->mode == ONLY_VALUE)
        return size;
    return insn->mode == ONLY_INDEX ? 4 : 2 * size;
}

int npu_check_whole_reduce(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                           struct npu_access *accesses)
{
    if (npu_reduce_nop(insn, regs))
        return 0;
    if (insn->mode > ONLY_INDEX)
        npu_trap(core, FAULT(reduce_order), "order", "ReduceOrder is %u, the values are 0 to 3", insn->mode);
    struct npu_vector v = shape_of(insn, regs);
    uint32_t unit = whole_unit(insn), bits = npu_element_bits(insn->src_type);
    npu_check_form(core, insn, regs, bits);
    npu_check_reduce_dst(core, &insn->dst, unit);
    npu_check_operand(core, &insn->src0, "src0");
    int n = list_dst(accesses, insn, v.repeats, unit, unit, (int64_t)insn->dst_rep * unit);
    return npu_list_operand(accesses, n, &v, &insn->src0, bits, insn->src0_blk, insn->src0_rep, false, "src0");
}

static void store_extreme(struct npu_core *core, const struct npu_insn *insn, uint8_t *at, float value, uint32_t index,
                          bool defined)
{
    bool half = insn->src_type == AKGEN_FLOAT16;
    uint32_t size = half ? 2 : 4;
    if (insn->mode != ONLY_INDEX)
        store_result(core, at + (insn->mode == INDEX_VALUE ? size : 0), value, half, defined);
    if (insn->mode == ONLY_VALUE)
        return;
    uint8_t *index_at = at + (insn->mode == VALUE_INDEX ? size : 0);
    uint32_t index_bytes = insn->mode == ONLY_INDEX ? 4 : size;
    memcpy(index_at, &index, index_bytes);
    if (defined)
        npu_ub_define(core, index_at, index_bytes);
    else
        npu_ub_undefine(core, index_at, index_bytes);
}

/* The extreme of all repeats so far, for GetReduceMaxMinCount; ties keep the earlier one. */
static void keep_extreme(struct npu_core *core, float *best, float value, uint32_t index, enum npu_reduction reduction,
                         bool half, bool first)
{
    bool better = value != value ? *best == *best : reduction == NPU_REDUCE_MAX ? value > *best : value < *best;
    if (!first && !better)
        return;
    *best = value;
    core->results.reduce_value = npu_lane_bits(value, half);
    core->results.reduce_index = index;
}

void npu_exec_whole_reduce(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    if (npu_reduce_nop(insn, regs))
        return;
    struct npu_vector v = shape_of(insn, regs);
    enum npu_reduction reduction = reduction_of(insn);
    bool half = insn->src_type == AKGEN_FLOAT16, reported = false;
    uint32_t unit = whole_unit(insn);
    float best = 0;
    for (uint32_t r = 0; r < v.repeats; r++) {
        struct npu_repeat repeat;
        npu_load_repeat(core, insn, &v, insn->src0_blk, insn->src0_rep, r, &repeat);
        report_undefined(core, &repeat, &reported);
        uint8_t *at = (uint8_t *)insn->dst.addr + (size_t)r * insn->dst_rep * unit;
        if (reduction == NPU_REDUCE_SUM) {
            store_result(core, at, npu_tree_sum(repeat.lane, v.per_repeat, half), half, !repeat.undefined);
            continue;
        }
        uint32_t lane = npu_first_extreme(&repeat, 0, v.per_repeat, reduction);
        store_extreme(core, insn, at, repeat.lane[lane], lane, !repeat.undefined);
        keep_extreme(core, &best, repeat.lane[lane], r * v.per_repeat + lane, reduction, half, r == 0);
    }
}

/* BlockReduce. */
int npu_check_block_reduce(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                           struct npu_access *accesses)
{
    uint32_t size = size_of(insn); /* eight results a repeat: their length aligns dst and is dstRepStride's unit */
    return check_units(core, insn, regs, accesses, NPU_BLOCK / size, 8 * size, (int64_t)insn->dst_rep * 8 * size);
}

void npu_exec_block_reduce(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    if (npu_reduce_nop(insn, regs))
        return;
    struct npu_vector v = shape_of(insn, regs);
    enum npu_reduction reduction = reduction_of(insn);
    bool half = insn->src_type == AKGEN_FLOAT16, reported = false;
    uint32_t size = size_of(insn), per_block = NPU_BLOCK / size;
    for (uint32_t r = 0; r < v.repeats; r++) {
        struct npu_repeat repeat;
        npu_load_repeat(core, insn, &v, insn->src0_blk, insn->src0_rep, r, &repeat);
        report_undefined(core, &repeat, &reported);
        uint8_t *at = (uint8_t *)insn->dst.addr + (size_t)r * insn->dst_rep * 8 * size;
        float result[8];
        bool write[8], defined[8];
        for (uint32_t b = 0; b < 8; b++) { /* all of a repeat is read before any of it is written */
            uint32_t from = b * per_block;
            write[b] = repeat.mask[from / 64] >> from % 64 & ((UINT64_C(1) << per_block) - 1);
            if (!write[b])
                continue;
            defined[b] =
                !repeat.undefined || selected_defined(core, block_address(insn, insn->src0_blk, insn->src0_rep, r, b),
                                                      repeat.mask, from, per_block, size);
            result[b] = reduction == NPU_REDUCE_SUM
                            ? npu_tree_sum(repeat.lane + from, per_block, half)
                            : repeat.lane[npu_first_extreme(&repeat, from, per_block, reduction)];
        }
        for (uint32_t b = 0; b < 8; b++)
            if (write[b])
                store_result(core, at + b * size, result[b], half, defined[b]);
    }
}

/* PairReduceSum. */
enum { PAIR_STEP = NPU_REPEAT / 2 }; /* bytes of a repeat's results, and dstRepStride's unit */

int npu_check_pair_reduce(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                          struct npu_access *accesses)
{
    return check_units(core, insn, regs, accesses, 2, NPU_BLOCK, (int64_t)insn->dst_rep * PAIR_STEP);
}

/* Whether both elements of a pair that are selected are defined. */
static bool pair_defined(struct npu_core *core, const struct npu_insn *insn, const struct npu_repeat *repeat,
                         uint32_t r, uint32_t lane)
{
    uint32_t size = size_of(insn), per_block = NPU_BLOCK / size;
    const uint8_t *block = block_address(insn, insn->src0_blk, insn->src0_rep, r, lane / per_block);
    return selected_defined(core, block + lane % per_block * size, repeat->mask, lane, 2, size);
}

void npu_exec_pair_reduce(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    if (npu_reduce_nop(insn, regs))
        return;
    struct npu_vector v = shape_of(insn, regs);
    bool half = insn->src_type == AKGEN_FLOAT16, reported = false;
    uint32_t size = size_of(insn);
    for (uint32_t r = 0; r < v.repeats; r++) {
        struct npu_repeat repeat;
        bool defined[NPU_MAX_LANES / 2];
        npu_load_repeat(core, insn, &v, insn->src0_blk, insn->src0_rep, r, &repeat);
        report_undefined(core, &repeat, &reported);
        for (uint32_t lane = 0; lane < v.per_repeat; lane += 2)
            defined[lane / 2] = !repeat.undefined || pair_defined(core, insn, &repeat, r, lane);
        uint8_t *at = (uint8_t *)insn->dst.addr + (size_t)r * insn->dst_rep * PAIR_STEP;
        for (uint32_t lane = 0; lane < v.per_repeat; lane += 2)
            if (repeat.mask[lane / 64] >> lane % 64 & 3)
                store_result(core, at + lane / 2 * size, npu_reduce_add(repeat.lane[lane], repeat.lane[lane + 1], half),
                             half, defined[lane / 2]);
    }
}

/* Vcadd into the accumulator. */
int npu_check_vcadd_acc(struct npu_core *core, struct npu_insn *insn, const struct npu_regs *regs,
                        struct npu_access *accesses)
{
    if (npu_reduce_nop(insn, regs))
        return 0;
    struct npu_vector v = shape_of(insn, regs);
    uint32_t bits = npu_element_bits(insn->src_type);
    npu_check_form(core, insn, regs, bits);
    npu_check_operand(core, &insn->src0, "src0");
    return npu_list_operand(accesses, 0, &v, &insn->src0, bits, insn->src0_blk, insn->src0_rep, false, "src0");
}

void npu_exec_vcadd_acc(struct npu_core *core, const struct npu_insn *insn, const struct npu_regs *regs)
{
    if (npu_reduce_nop(insn, regs))
        return;
    struct npu_vector v = shape_of(insn, regs);
    bool half = insn->src_type == AKGEN_FLOAT16, reported = false;
    float sum = 0;
    for (uint32_t r = 0; r < v.repeats; r++) {
        struct npu_repeat repeat;
        npu_load_repeat(core, insn, &v, insn->src0_blk, insn->src0_rep, r, &repeat);
        report_undefined(core, &repeat, &reported);
        float partial = npu_tree_sum(repeat.lane, v.per_repeat, half);
        sum = r ? npu_reduce_add(sum, partial, half) : partial;
    }
    core->results.acc_value = npu_lane_bits(sum, half);
}
