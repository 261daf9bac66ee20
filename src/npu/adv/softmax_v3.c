/* SoftmaxFlashV3: the flash softmax of half data whose rows are first moved towards their mean, part by part, and whose
 * statistics carry the mean of what was seen so far. shape[0..5] = srcM, srcK, oriSrcM, oriSrcK, loopCnt, splitMeanCnt;
 * scalar[0] = alpha, a float; tiling: SoftMaxTiling. dst[0] result, dst[1] mean, dst[2] sum, dst[3] max, dst[4] expMax
 * (half); src[0] x, src[1] mean, src[2] sum, src[3] max so far. Statistics are blocks of equal elements.
 * Steps and temporary space: asc-devkit, SoftmaxFlashV3, NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/report.h"

enum { CAST_NONE = 0, CAST_ROUND = 4, PARTS = 8, BLOCK32 = 8, LEAST_COLUMNS = 512 };

/* A group of rows: the data in float, four statistics, room to reduce, and a row. */
struct flash {
    struct npu_core *core;
    const struct npu_adv *call;
    uint32_t row, rows, cols, valid, part; /* columns: in memory, of data, of a part */
    float pull;                            /* alpha / (1 - alpha) */
    struct npu_tensor x, mean, folds, largest, shift, before;
};

static void block_sums(const struct flash *f, struct npu_tensor dst, struct npu_tensor src, uint32_t repeats)
{
    struct npu_insn insn = ADV_INSN(NPU_OP_BLOCK_REDUCE_SUM, MASK_REG, AKGEN_FLOAT, .dst_blk = 1, .src0_blk = 1,
                                    .dst_rep = 1, .src0_rep = NPU_REPEAT / NPU_BLOCK);
    for (uint32_t at = 0; at < repeats; at += NPU_MAX_REPEAT) {
        insn.repeat = repeats - at < NPU_MAX_REPEAT ? repeats - at : NPU_MAX_REPEAT;
        insn.dst = dst;
        insn.src0 = src;
        insn.dst.addr += (uint64_t)at * NPU_BLOCK;
        insn.src0.addr += (uint64_t)at * NPU_REPEAT;
        adv_issue(f->core, &insn);
    }
}

/* 64 sums of a row: of eight neighbours each in its first 512 columns, to which the other columns are added 64 at a
 * time. */
static void fold_row(const struct flash *f, uint32_t row)
{
    struct npu_tensor x = adv_part(&f->x, AKGEN_FLOAT, row * f->cols, f->cols);
    struct npu_tensor sums = adv_part(&f->folds, AKGEN_FLOAT, row * ADV_LANES32, ADV_LANES32);
    block_sums(f, sums, x, LEAST_COLUMNS / ADV_LANES32);
    for (uint32_t at = LEAST_COLUMNS; at < f->valid; at += ADV_LANES32) {
        uint32_t count = f->valid - at < ADV_LANES32 ? f->valid - at : ADV_LANES32;
        adv_binary(f->core, NPU_OP_ADD, sums, adv_part(&x, AKGEN_FLOAT, at, count), sums, AKGEN_FLOAT, count);
        adv_reset_mask(f->core);
    }
}

/* f->mean = the mean of each row; every part of x moves away from the row's mean by its own mean's distance from it. */
static void move_parts(const struct flash *f)
{
    struct npu_core *core = f->core;
    uint32_t stats = f->rows * BLOCK32;
    for (uint32_t row = 0; row < f->rows; row++)
        fold_row(f, row);
    block_sums(f, f->largest, f->folds, f->rows);
    if (f->part)
        adv_scalar_op(core, NPU_OP_MULS, f->largest, f->largest, 1.0f / (float)f->part, AKGEN_FLOAT, stats);
    adv_reset_mask(core);
    block_sums(f, f->shift, f->largest, (f->rows + PARTS - 1) / PARTS);
    adv_rows_spread(core, f->shift, f->shift, f->folds, f->rows, BLOCK32);
    adv_scalar_op(core, NPU_OP_MULS, f->mean, f->shift, 1.0f / PARTS, AKGEN_FLOAT, stats);
    adv_binary(core, NPU_OP_SUB, f->shift, f->mean, f->largest, AKGEN_FLOAT, stats);
    adv_scalar_op(core, NPU_OP_MULS, f->shift, f->shift, f->pull, AKGEN_FLOAT, stats);
    for (uint32_t row = 0; row < f->rows; row++) {
        struct npu_insn insn = ADV_INSN(NPU_OP_BRCB, MASK_REG, AKGEN_FLOAT, .repeat = 1, .dst_blk = 1, .dst_rep = PARTS,
                                        .dst = adv_part(&f->folds, AKGEN_FLOAT, 0, PARTS * BLOCK32),
                                        .src0 = adv_part(&f->shift, AKGEN_FLOAT, row * PARTS, PARTS));
        adv_issue(core, &insn);
        struct adv_rows parts = adv_nd(adv_part(&f->x, AKGEN_FLOAT, row * f->cols, f->cols), AKGEN_FLOAT, f->part);
        adv_rows_binary(core, NPU_OP_SUB, parts, parts, adv_spread(insn.dst, AKGEN_FLOAT, BLOCK32), PARTS, f->part);
    }
    adv_reset_mask(core);
}

static struct npu_tensor stat(const struct flash *f, const struct npu_tensor *all)
{
    return adv_part(all, AKGEN_FLOAT, f->row * BLOCK32, f->rows * BLOCK32);
}

/* to = largest + (of - mean) x pull; `shift` keeps the product. */
static void shifted_max(const struct flash *f, struct npu_tensor to, struct npu_tensor largest, struct npu_tensor of,
                        struct npu_tensor mean, struct npu_tensor shift)
{
    uint32_t stats = f->rows * BLOCK32;
    adv_binary(f->core, NPU_OP_SUB, shift, of, mean, AKGEN_FLOAT, stats);
    adv_scalar_op(f->core, NPU_OP_MULS, shift, shift, f->pull, AKGEN_FLOAT, stats);
    adv_binary(f->core, NPU_OP_ADD, to, largest, shift, AKGEN_FLOAT, stats);
}

/* The new max beside that so far, as CANN's steps stand: an operand that shares memory with the result before it is
 * read after it is written. f->largest: the factor by which what was summed so far shrinks. */
static void join_max(const struct flash *f, struct npu_tensor max, struct npu_tensor mean)
{
    struct npu_core *core = f->core;
    uint32_t stats = f->rows * BLOCK32;
    struct npu_tensor old_max = stat(f, &f->call->src[3]);
    shifted_max(f, f->largest, old_max, stat(f, &f->call->src[1]), mean, f->before);
    adv_binary(core, NPU_OP_MAX, max, max, f->largest, AKGEN_FLOAT, stats);
    adv_binary(core, NPU_OP_SUB, f->largest, old_max, max, AKGEN_FLOAT, stats);
    adv_binary(core, NPU_OP_ADD, f->largest, f->before, f->largest, AKGEN_FLOAT, stats);
    adv_unary(core, NPU_OP_EXP, f->largest, f->largest, AKGEN_FLOAT, stats);
    adv_binary(core, NPU_OP_MUL, stat(f, &f->call->dst[2]), f->largest, stat(f, &f->call->src[2]), AKGEN_FLOAT, stats);
}

/* expMax: sixteen halves of a row's factor. The data is in dst by now. */
static void put_factor(const struct flash *f)
{
    for (uint32_t half = 0; half < 2; half++) {
        struct adv_rows wide = adv_nd(f->x, AKGEN_FLOAT, 2 * BLOCK32);
        wide.tensor.addr += half * NPU_BLOCK;
        adv_rows_copy(f->core, wide, adv_nd(f->largest, AKGEN_FLOAT, BLOCK32), f->rows, BLOCK32);
    }
    struct npu_tensor to = adv_part(&f->call->dst[4], AKGEN_FLOAT16, f->row * 2 * BLOCK32, f->rows * 2 * BLOCK32);
    adv_cast(f->core, to, AKGEN_FLOAT16, f->x, AKGEN_FLOAT, CAST_ROUND, f->rows * 2 * BLOCK32);
}

static void put_mean(const struct flash *f, struct npu_tensor mean)
{
    uint32_t stats = f->rows * BLOCK32;
    if (!(f->call->flags & NPU_ADV_UPDATE)) {
        adv_rows_copy(f->core, adv_nd(mean, AKGEN_FLOAT, 0), adv_nd(f->mean, AKGEN_FLOAT, 0), 1, stats);
        return;
    }
    float loops = (float)f->call->shape[4];
    adv_scalar_op(f->core, NPU_OP_MULS, mean, stat(f, &f->call->src[1]), loops - 1.0f, AKGEN_FLOAT, stats);
    adv_binary(f->core, NPU_OP_ADD, mean, mean, f->mean, AKGEN_FLOAT, stats);
    adv_scalar_op(f->core, NPU_OP_MULS, mean, mean, 1.0f / loops, AKGEN_FLOAT, stats);
}

static void flash_group(const struct flash *f)
{
    struct npu_core *core = f->core;
    const struct npu_adv *call = f->call;
    uint32_t stats = f->rows * BLOCK32, first = f->row * f->cols, count = f->rows * f->cols;
    bool update = call->flags & NPU_ADV_UPDATE;
    struct npu_tensor mean = stat(f, &call->dst[1]), sum = stat(f, &call->dst[2]), max = stat(f, &call->dst[3]);
    struct adv_rows x = adv_nd(f->x, AKGEN_FLOAT, f->cols);
    adv_cast(core, f->x, AKGEN_FLOAT, adv_part(&call->src[0], AKGEN_FLOAT16, first, count), AKGEN_FLOAT16, CAST_NONE,
             count);
    adv_reset_mask(core);
    move_parts(f);
    put_mean(f, mean);
    adv_rows_reduce_spread(core, NPU_OP_MAX, f->largest, x, f->folds, f->rows, f->valid, BLOCK32);
    shifted_max(f, max, f->largest, f->mean, mean, f->shift);
    if (update)
        join_max(f, max, mean);
    adv_binary(core, NPU_OP_SUB, f->shift, max, f->shift, AKGEN_FLOAT, stats);
    adv_rows_binary(core, NPU_OP_SUB, x, x, adv_spread(f->shift, AKGEN_FLOAT, BLOCK32), f->rows, f->cols);
    adv_unary(core, NPU_OP_EXP, f->x, f->x, AKGEN_FLOAT, count);
    adv_cast(core, adv_part(&call->dst[0], AKGEN_FLOAT16, first, count), AKGEN_FLOAT16, f->x, AKGEN_FLOAT, CAST_ROUND,
             count);
    adv_rows_reduce_spread(core, NPU_OP_ADD, f->mean, x, f->folds, f->rows, f->valid, BLOCK32);
    if (update) {
        adv_binary(core, NPU_OP_ADD, sum, sum, f->mean, AKGEN_FLOAT, stats);
        put_factor(f);
    } else {
        adv_rows_copy(core, adv_nd(sum, AKGEN_FLOAT, 0), adv_nd(f->mean, AKGEN_FLOAT, 0), 1, stats);
    }
}

static struct npu_tensor take(const struct flash *f, uint32_t *floats, uint32_t count)
{
    struct npu_tensor part = adv_tmp(f->core, f->call, *floats * sizeof(float), count * sizeof(float));
    *floats += count;
    return part;
}

void adv_softmax_flash_v3(struct npu_core *core, const struct npu_adv *call)
{
    const struct SoftMaxTiling *tiling = call->tiling;
    float alpha = (float)adv_number(AKGEN_FLOAT, call->scalar[0]);
    struct flash f = {
        .core = core, .call = call, .cols = tiling->splitK, .valid = call->shape[3], .pull = alpha / (1.0f - alpha)};
    uint32_t rows = tiling->rangeM * tiling->splitM + tiling->tailM, step = tiling->splitM;
    if (call->shape[5] != PARTS || f.cols < LEAST_COLUMNS || f.valid < LEAST_COLUMNS || f.valid > f.cols ||
        f.valid % (PARTS * BLOCK32) || !step)
        npu_trap(
            core, FAULT(adv_shape), "params",
            "SoftmaxFlashV3 of %u columns, %u of them data, in %u parts, %u rows at a time: at least 512 columns, a "
            "multiple of 64, in 8 parts",
            f.cols, f.valid, call->shape[5], step);
    f.part = f.valid / PARTS;
    adv_reset_mask(core);
    for (f.row = 0; f.row < rows; f.row += step) {
        f.rows = rows - f.row < step ? rows - f.row : step;
        uint32_t at = 0;
        f.x = take(&f, &at, f.rows * f.cols);
        f.mean = take(&f, &at, f.rows * BLOCK32);
        f.folds = take(&f, &at, f.rows * ADV_LANES32);
        f.largest = take(&f, &at, f.rows * BLOCK32);
        f.shift = take(&f, &at, f.rows * BLOCK32);
        f.before = f.shift;
        if (call->flags & NPU_ADV_UPDATE)
            f.before = take(&f, &at, f.rows * BLOCK32);
        flash_group(&f);
    }
    adv_reset_mask(core);
}
