/* SoftMax and its relatives over the last axis of a matrix.
 *
 * shape[0..3] = srcM, srcK, oriSrcM, oriSrcK: rows and columns in memory, and how many of them are data. Statistics of
 * a row (sum, max) are one 32-byte block of equal elements, or with ADV_PACKED one element. tiling: SoftMaxTiling.
 * Operands: dst[0] result, dst[1] sum, dst[2] max, dst[3] expMax, dst[4] outReduceMax; src[0] x (SoftmaxGrad: y),
 * src[1] max so far (SoftmaxGrad: dy), src[2] sum so far.
 * Work is done in float. Steps, rows at a time and temporary space: asc-devkit, the SoftMax APIs, NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/order/order.h"
#include "npu/order/schedule.h"
#include "npu/report.h"
#include "npu/scalar/access.h"

#include <string.h>

enum { CAST_NONE = 0, CAST_ROUND = 4, BLOCK32 = 8 };

/* What a call computes. */
enum { DIVIDE = 1, LOGARITHM = 2 };

/* Rows [row, row + rows) of a call. */
struct group {
    struct npu_core *core;
    const struct npu_adv *call;
    uint32_t row, rows;
    uint32_t all_rows, cols, valid; /* in memory, and columns that are data */
    uint32_t block;                 /* elements of a statistic in temporary space: 8, or 16 beside half statistics */
    uint32_t width;                 /* elements of a statistic: block, or 1 when packed */
    uint8_t stat_type;              /* of the statistics' tensors */
    struct npu_tensor x;            /* half data: the group in float */
    struct npu_tensor stat, factor, folds;
};

static bool is_half(const struct group *g)
{
    return g->call->type == AKGEN_FLOAT16;
}

static struct adv_rows matrix(const struct group *g, const struct npu_tensor *tensor, uint8_t type)
{
    struct adv_rows all =
        g->call->flags & NPU_ADV_NZ ? adv_nz(*tensor, type, g->all_rows) : adv_nd(*tensor, type, g->cols);
    return adv_rows_from(all, g->row);
}

/* A matrix of the group's own rows in temporary space. */
static struct adv_rows own(const struct group *g, struct npu_tensor tensor)
{
    return g->call->flags & NPU_ADV_NZ ? adv_nz(tensor, AKGEN_FLOAT, g->rows) : adv_nd(tensor, AKGEN_FLOAT, g->cols);
}

/* Where the group's data is computed: in temporary space if it is half, else in the result. */
static struct adv_rows working(const struct group *g)
{
    return is_half(g) ? own(g, g->x) : matrix(g, &g->call->dst[0], AKGEN_FLOAT);
}

static uint32_t stat_count(const struct group *g)
{
    return g->rows * g->width;
}

/* The group's part of a statistic in the caller's tensor; its rows are a block of its own type. */
static struct npu_tensor stat_part(const struct group *g, const struct npu_tensor *tensor, uint8_t type)
{
    uint32_t wide = NPU_BLOCK * 8 / npu_element_bits(type);
    uint32_t width = g->call->flags & NPU_ADV_PACKED ? 1 : wide;
    return adv_part(tensor, type, g->row * width, g->rows * width);
}

static void copy32(struct npu_core *core, struct npu_tensor dst, struct npu_tensor src, uint32_t count)
{
    adv_rows_copy(core, adv_nd(dst, AKGEN_FLOAT, 0), adv_nd(src, AKGEN_FLOAT, 0), 1, count);
}

static void put(const struct group *g, const struct npu_tensor *tensor, struct npu_tensor stat)
{
    if (!tensor->addr)
        return;
    struct npu_tensor to = stat_part(g, tensor, g->stat_type);
    if (g->stat_type == AKGEN_FLOAT16)
        adv_cast(g->core, to, AKGEN_FLOAT16, stat, AKGEN_FLOAT, CAST_ROUND, stat_count(g));
    else
        copy32(g->core, to, stat, stat_count(g));
}

static void get(const struct group *g, struct npu_tensor to, const struct npu_tensor *tensor)
{
    struct npu_tensor from = stat_part(g, tensor, g->stat_type);
    if (g->stat_type == AKGEN_FLOAT16)
        adv_cast(g->core, to, AKGEN_FLOAT, from, AKGEN_FLOAT16, CAST_NONE, stat_count(g));
    else
        copy32(g->core, to, from, stat_count(g));
}

/* g->stat = max or sum of each row. */
static void reduce(const struct group *g, enum npu_op op, struct adv_rows x)
{
    if (g->width > 1)
        adv_rows_reduce_spread(g->core, op, g->stat, x, g->folds, g->rows, g->valid, g->block);
    else
        adv_rows_reduce(g->core, op, g->stat, x, g->folds, g->rows, g->valid);
}

/* x = op(x, stat), a row with its own statistic. Packed ones are spread now. */
static void with_stat(const struct group *g, enum npu_op op, struct adv_rows dst, struct adv_rows x)
{
    if (g->width == 1)
        adv_rows_spread(g->core, g->stat, g->stat, g->folds, g->rows, g->block);
    adv_rows_binary(g->core, op, dst, x, adv_spread(g->stat, AKGEN_FLOAT, g->block), g->rows, g->cols);
}

/* exp(max so far - new max): the factor by which what was summed so far shrinks. stat: the rows' own max, then the new
 * one. */
static void shrink_factor(const struct group *g)
{
    struct npu_core *core = g->core;
    uint32_t count = stat_count(g);
    get(g, g->factor, &g->call->src[1]);
    adv_binary(core, NPU_OP_MAX, g->stat, g->factor, g->stat, AKGEN_FLOAT, count);
    adv_binary(core, NPU_OP_SUB, g->factor, g->factor, g->stat, AKGEN_FLOAT, count);
    adv_unary(core, NPU_OP_EXP, g->factor, g->factor, AKGEN_FLOAT, count);
}

/* expMax has the type of the data; beside float statistics of half data its blocks have twice the elements. */
static void put_factor(const struct group *g)
{
    struct npu_core *core = g->core;
    const struct npu_tensor *to = &g->call->dst[3];
    if (!is_half(g)) /* it was computed there */
        return;
    struct npu_tensor part = stat_part(g, to, AKGEN_FLOAT16), from = g->factor;
    uint32_t count = g->width > 1 ? g->rows * 2 * BLOCK32 : g->rows;
    if (g->width == BLOCK32) { /* the data is in dst by now */
        from = g->x;
        for (uint32_t at = 0; at < 2 * BLOCK32; at += BLOCK32) {
            struct adv_rows wide = adv_nd(g->x, AKGEN_FLOAT, 2 * BLOCK32);
            wide.tensor.addr += at * sizeof(float);
            adv_rows_copy(core, wide, adv_nd(g->factor, AKGEN_FLOAT, BLOCK32), g->rows, BLOCK32);
        }
    }
    adv_cast(core, part, AKGEN_FLOAT16, from, AKGEN_FLOAT, CAST_ROUND, count);
}

/* stat: the rows' own sum, then the whole one; folds: what remains of the sum so far. */
static void whole_sum(const struct group *g)
{
    struct npu_core *core = g->core;
    uint32_t count = stat_count(g);
    get(g, g->folds, &g->call->src[2]);
    adv_binary(core, NPU_OP_MUL, g->folds, g->factor, g->folds, AKGEN_FLOAT, count);
    adv_binary(core, NPU_OP_ADD, g->stat, g->folds, g->stat, AKGEN_FLOAT, count);
}

static void softmax_group(const struct group *g, int what)
{
    struct npu_core *core = g->core;
    const struct npu_adv *call = g->call;
    bool update = call->flags & NPU_ADV_UPDATE;
    struct adv_rows src = matrix(g, &call->src[0], call->type), dst = matrix(g, &call->dst[0], call->type);
    struct adv_rows x = working(g);
    if (is_half(g))
        adv_rows_cast(core, x, src, CAST_NONE, g->rows, g->cols);
    reduce(g, NPU_OP_MAX, is_half(g) ? x : src);
    if (update) {
        put(g, &call->dst[4], g->stat);
        shrink_factor(g);
    }
    put(g, &call->dst[2], g->stat);
    with_stat(g, NPU_OP_SUB, x, is_half(g) ? x : src);
    adv_rows_unary(core, NPU_OP_EXP, x, x, g->rows, g->cols);
    if (is_half(g) && !(what & DIVIDE))
        adv_rows_cast(core, dst, x, CAST_ROUND, g->rows, g->cols);
    reduce(g, NPU_OP_ADD, x);
    if (update) {
        if (!(what & DIVIDE))
            put_factor(g);
        whole_sum(g);
        if (what & DIVIDE) /* SoftmaxFlash: the factor of results that were divided already */
            adv_binary(core, NPU_OP_DIV, g->factor, g->folds, g->stat, AKGEN_FLOAT, stat_count(g));
    }
    put(g, &call->dst[1], g->stat);
    if (!(what & DIVIDE))
        return;
    with_stat(g, NPU_OP_DIV, x, x);
    if (what & LOGARITHM) {
        adv_rows_unary(core, NPU_OP_LN, x, x, g->rows, g->cols);
        adv_rows_scalar(core, NPU_OP_MULS, x, x, 0.4342944819, g->rows, g->cols);
    }
    if (is_half(g))
        adv_rows_cast(core, dst, x, CAST_ROUND, g->rows, g->cols);
    if (update)
        put_factor(g);
}

/* Max and sum are given. */
static void simple_group(const struct group *g)
{
    struct npu_core *core = g->core;
    const struct npu_adv *call = g->call;
    struct adv_rows src = matrix(g, &call->src[0], call->type), dst = matrix(g, &call->dst[0], call->type);
    struct adv_rows x = working(g);
    if (is_half(g))
        adv_rows_cast(core, x, src, CAST_NONE, g->rows, g->cols);
    get(g, g->stat, &call->src[1]);
    with_stat(g, NPU_OP_SUB, x, is_half(g) ? x : src);
    adv_rows_unary(core, NPU_OP_EXP, x, x, g->rows, g->cols);
    get(g, g->stat, &call->src[2]);
    with_stat(g, NPU_OP_DIV, x, x);
    if (is_half(g))
        adv_rows_cast(core, dst, x, CAST_ROUND, g->rows, g->cols);
}

/* sum(dy * y) of each row, which is the result in front; else (dy - sum) * y. */
static void grad_group(const struct group *g, struct npu_tensor y32, struct npu_tensor dy32)
{
    struct npu_core *core = g->core;
    const struct npu_adv *call = g->call;
    struct adv_rows y = matrix(g, &call->src[0], call->type), dy = matrix(g, &call->src[1], call->type);
    struct adv_rows dst = matrix(g, &call->dst[0], call->type), work = own(g, g->x);
    if (is_half(g)) {
        struct adv_rows y_own = own(g, y32), dy_own = own(g, dy32);
        adv_rows_cast(core, y_own, y, CAST_NONE, g->rows, g->cols);
        adv_rows_cast(core, dy_own, dy, CAST_NONE, g->rows, g->cols);
        y = y_own;
        dy = dy_own;
    }
    adv_rows_binary(core, NPU_OP_MUL, work, y, dy, g->rows, g->cols);
    reduce(g, NPU_OP_ADD, work);
    if (call->flags & NPU_ADV_FRONT) {
        put(g, &call->dst[0], g->stat);
        return;
    }
    with_stat(g, NPU_OP_SUB, work, dy);
    adv_rows_binary(core, NPU_OP_MUL, is_half(g) ? work : dst, work, y, g->rows, g->cols);
    if (is_half(g))
        adv_rows_cast(core, dst, work, CAST_ROUND, g->rows, g->cols);
}

/* How many rows at a time. */

enum family { SOFTMAX, FLASH, FLASH_V2, GRAD, SIMPLE };

static uint32_t round_down(uint32_t rows, uint32_t limit, uint32_t unit)
{
    return rows < limit && rows > unit ? rows / unit * unit : rows;
}

/* The rows that CANN takes at a time when a shape differs from the tiling's; `floats` of temporary space. */
static uint32_t rows_at_a_time(const struct group *g, enum family family, uint32_t floats)
{
    const struct npu_adv *call = g->call;
    uint32_t block = NPU_BLOCK * 8 / npu_element_bits(g->stat_type), k = g->cols, rows;
    bool half = is_half(g), nz = call->flags & NPU_ADV_NZ;
    if (family == GRAD)
        rows = floats / (half ? 2 * 16 + 3 * k + 64 : (call->flags & NPU_ADV_FRONT && !nz ? 1 : 2) * BLOCK32 + k + 64);
    else if (family == FLASH)
        rows = floats / (block * (call->flags & NPU_ADV_UPDATE ? 4 : 2) + 2 * k);
    else if (nz)
        rows = floats / (family == FLASH_V2 ? 48 + k : ADV_PANEL + k);
    else if (family == FLASH_V2)
        rows = floats / (half ? 2 * block + k + 64 : block + 64);
    else
        rows = floats / (half ? block + k + 64 : block + 64);
    return round_down(rows, call->shape[2], 8);
}

/* Floats of temporary space that `rows` rows take. */
static uint32_t floats_of(struct group *g, enum family family, uint32_t rows)
{
    bool half = is_half(g), nz = g->call->flags & NPU_ADV_NZ;
    uint32_t fold = rows * (nz ? ADV_PANEL : ADV_LANES32), spread = (rows + 7) / 8 * ADV_LANES32;
    bool factor = half && g->call->flags & NPU_ADV_UPDATE;
    uint32_t data = family == GRAD ? (half ? 3 : 1) : half;
    return rows * (data * g->cols + g->block * (1 + factor)) + (fold > spread ? fold : spread);
}

static struct npu_tensor take(const struct group *g, uint32_t *floats, uint32_t count)
{
    struct npu_tensor part = adv_tmp(g->core, g->call, *floats * sizeof(float), count * sizeof(float));
    *floats += count;
    return part;
}

/* Shape and temporary space of a call; the step in rows. */
static uint32_t begin(struct npu_core *core, const struct npu_adv *call, enum family family, struct group *g)
{
    *g = (struct group){.core = core, .call = call, .all_rows = call->shape[0], .cols = call->shape[1]};
    g->valid = call->shape[3] ? call->shape[3] : g->cols;
    bool half_stats = call->type == AKGEN_FLOAT16 && !(call->flags & NPU_ADV_IN_FLOAT);
    g->stat_type = half_stats ? AKGEN_FLOAT16 : AKGEN_FLOAT;
    g->block = half_stats && family != SOFTMAX ? 16 : half_stats && call->dst[1].addr ? 16 : BLOCK32;
    g->width = call->flags & NPU_ADV_PACKED ? 1 : g->block;
    uint32_t unit = call->flags & NPU_ADV_NZ ? ADV_PANEL * 2 : NPU_BLOCK;
    if (!g->all_rows || !g->cols || g->valid > g->cols || adv_bytes(call->type, g->cols) % unit)
        npu_trap(core, FAULT(adv_shape), "softmaxShapeInfo",
                 "%s of %u x %u elements, %u columns of them data: rows are whole 32-byte blocks (NZ: 16 columns)",
                 core->api, g->all_rows, g->cols, g->valid);
    const struct SoftMaxTiling *tiling = call->tiling;
    uint32_t floats = call->tmp.bytes / sizeof(float), step;
    bool fits = tiling->srcM == g->all_rows && tiling->srcK == g->cols;
    if ((fits || call->flags & NPU_ADV_TRUST_TILING) && family != FLASH && !(call->flags & NPU_ADV_NZ)) {
        step = tiling->splitM;
    } else {
        step = rows_at_a_time(g, family, floats);
        while (step > 1 && floats_of(g, family, step) > floats)
            step--;
    }
    if (!step)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s needs %u bytes of temporary space for a row, sharedTmpBuffer has %u (splitM of the tiling is %u)",
                 core->api, floats_of(g, family, 1) * 4, call->tmp.bytes, tiling->splitM);
    return step;
}

static uint32_t data_rows(const struct group *g)
{
    const struct SoftMaxTiling *tiling = g->call->tiling;
    bool fits = tiling->srcM == g->call->shape[0] && tiling->srcK == g->call->shape[1];
    return fits || !g->call->shape[2] ? g->all_rows : g->call->shape[2];
}

static void run(struct npu_core *core, const struct npu_adv *call, enum family family, int what)
{
    struct group g;
    uint32_t step = begin(core, call, family, &g), rows = data_rows(&g);
    adv_reset_mask(core);
    for (g.row = 0; g.row < rows; g.row += step) {
        g.rows = rows - g.row < step ? rows - g.row : step;
        uint32_t at = 0, fold = g.rows * (call->flags & NPU_ADV_NZ ? ADV_PANEL : ADV_LANES32);
        uint32_t spread = (g.rows + 7) / 8 * ADV_LANES32;
        struct npu_tensor y32 = call->tmp, dy32 = call->tmp;
        if (is_half(&g) || family == GRAD)
            g.x = take(&g, &at, g.rows * g.cols);
        if (is_half(&g) && family == GRAD) {
            y32 = take(&g, &at, g.rows * g.cols);
            dy32 = take(&g, &at, g.rows * g.cols);
        }
        g.stat = take(&g, &at, g.rows * g.block);
        if (call->flags & NPU_ADV_UPDATE)
            g.factor = is_half(&g) ? take(&g, &at, g.rows * g.block) : stat_part(&g, &call->dst[3], AKGEN_FLOAT);
        g.folds = take(&g, &at, fold > spread ? fold : spread);
        if (family == GRAD)
            grad_group(&g, y32, dy32);
        else if (family == SIMPLE)
            simple_group(&g);
        else
            softmax_group(&g, what);
    }
    adv_reset_mask(core);
}

ADV_VARIANT(softmax, run, SOFTMAX, DIVIDE)
ADV_VARIANT(log_softmax, run, SOFTMAX, DIVIDE | LOGARITHM)
ADV_VARIANT(softmax_flash, run, FLASH, DIVIDE)
ADV_VARIANT(softmax_flash_v2, run, FLASH_V2, 0)
ADV_VARIANT(simple_softmax, run, SIMPLE, 0)
ADV_VARIANT(softmax_grad, run, GRAD, 0)

/* Rows whose max has the bits scalar[0] become scalar[1]; the answer: whether there was one. The scalar unit reads the
 * statistics once the vector pipe has written them. */
void adv_adjust_softmax(struct npu_core *core, const struct npu_adv *call)
{
    uint32_t rows = call->shape[0], cols = call->shape[1];
    uint8_t stat_type = call->dst_type;
    uint32_t size = npu_element_bits(stat_type) / 8, step = call->flags & NPU_ADV_PACKED ? size : NPU_BLOCK;
    struct adv_rows all =
        call->flags & NPU_ADV_NZ ? adv_nz(call->dst[0], call->type, rows) : adv_nd(call->dst[0], call->type, cols);
    npu_order_edge(core->order, NPU_LANE_V, NPU_LANE_S);
    npu_schedule_drain(core, NPU_PIPE_V);
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t addr = call->src[1].addr + (uint64_t)row * step, bits = 0;
        npu_scalar_access(core, addr, size, false, false);
        memcpy(&bits, (const void *)addr, size);
        if (bits != call->scalar[0])
            continue;
        *call->answer = true;
        adv_rows_fill(core, adv_rows_from(all, row), call->scalar[1], 1, cols);
    }
    adv_reset_mask(core);
}
