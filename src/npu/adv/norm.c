/* Normalisation of the last axis: LayerNorm (with mean and variance, and with rstd), DeepNorm, RmsNorm, Normalize.
 *
 * Work is done in float, as many rows at a time as the tiling says. Operands of LayerNorm and DeepNorm: dst = output,
 * mean, variance (packed, one element a row); src = x, gamma, beta, and of DeepNorm gx. Steps, their order and
 * temporary space: asc-devkit, the APIs' documents and NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/report.h"

enum { CAST_NONE = 0, BLOCK32 = ADV_BLOCK32 };

static struct npu_tensor floats(struct npu_core *core, const struct npu_adv *call, uint32_t first, uint32_t count)
{
    return adv_tmp(core, call, first * 4, count * 4);
}

static struct adv_rows single(struct npu_tensor tensor, uint32_t pitch)
{
    return adv_nd(tensor, AKGEN_FLOAT, pitch);
}

/* The sums of folded rows as blocks of 8 equal elements. Eights of rows go through Brcb, which wants a multiple of 8
 * sources in `spare`; the rest is summed once for each element. */
static void spread_sums(struct npu_core *core, struct npu_tensor blocks, struct npu_tensor spare, struct adv_rows x,
                        uint32_t rows, uint32_t width)
{
    uint32_t eights = x.pitch >= 2 * BLOCK32 ? rows / BLOCK32 * BLOCK32 : 0;
    if (eights) {
        adv_row_sums(core, spare, x, eights, width);
        for (uint32_t row = 0; row < eights; row += 31 * BLOCK32) {
            struct npu_insn insn = ADV_INSN(NPU_OP_BRCB, MASK_REG, AKGEN_FLOAT);
            uint32_t part = eights - row < 31 * BLOCK32 ? eights - row : 31 * BLOCK32;
            insn.repeat = part / BLOCK32;
            insn.dst_blk = 1;
            insn.dst_rep = BLOCK32;
            insn.dst = adv_part(&blocks, AKGEN_FLOAT, row * BLOCK32, part * BLOCK32);
            insn.src0 = adv_part(&spare, AKGEN_FLOAT, row, part);
            adv_issue(core, &insn);
        }
    }
    for (uint32_t row = eights; row < rows; row++) {
        struct adv_rows one = adv_rows_from(x, row);
        one.pitch = 0;
        adv_row_sums(core, adv_part(&blocks, AKGEN_FLOAT, row * BLOCK32, BLOCK32), one, BLOCK32, width);
    }
}

/* x += gamma and beta, row by row, into dst. Half gamma and beta are converted in `spare`. */
static void affine(struct npu_core *core, struct adv_rows dst, struct adv_rows x, struct npu_tensor spare,
                   const struct npu_tensor *gamma, const struct npu_tensor *beta, uint8_t affine_type, uint32_t rows,
                   uint32_t cols)
{
    const struct npu_tensor *operand[2] = {gamma, beta};
    static const enum npu_op op[2] = {NPU_OP_MUL, NPU_OP_ADD};
    int last = beta->addr ? 1 : gamma->addr ? 0 : -1;
    for (int i = 0; i < 2; i++) {
        if (!operand[i]->addr)
            continue;
        struct npu_tensor row = *operand[i];
        if (affine_type == AKGEN_FLOAT16) {
            adv_cast(core, spare, AKGEN_FLOAT, row, AKGEN_FLOAT16, CAST_NONE, cols);
            row = spare;
        }
        struct adv_rows to = i == last && dst.type == AKGEN_FLOAT ? dst : x;
        adv_rows_binary(core, op[i], to, x, single(row, 0), rows, cols);
    }
    if (dst.type == AKGEN_FLOAT16)
        adv_rows_cast(core, dst, x, CAST_NONE, rows, cols);
    else if (last < 0)
        adv_rows_copy(core, dst, x, rows, cols);
}

/* LayerNorm and DeepNorm. */

struct layer_norm {
    uint32_t h, summed;   /* elements of a row in memory, and how many of them make the mean */
    float back;           /* 1 / how many count */
    float epsilon, alpha; /* alpha: DeepNorm */
    bool deep;
    struct npu_tensor a, b, c, mean, variance; /* temporary space; statistics of half data as well */
};

/* x in float: DeepNorm's is alpha * x + gx. */
static struct adv_rows layer_input(struct npu_core *core, const struct npu_adv *call, const struct layer_norm *n,
                                   uint32_t row, uint32_t rows)
{
    uint8_t type = call->type;
    struct adv_rows x = adv_rows_from(adv_nd(call->src[0], type, n->h), row);
    struct adv_rows gx = adv_rows_from(adv_nd(call->src[3], type, n->h), row);
    struct adv_rows a = single(n->a, n->h), b = single(n->b, n->h), c = single(n->c, n->h);
    if (type == AKGEN_FLOAT16)
        adv_rows_cast(core, a, x, CAST_NONE, rows, n->h);
    if (!n->deep)
        return type == AKGEN_FLOAT16 ? a : x;
    if (type == AKGEN_FLOAT16) {
        adv_rows_cast(core, c, gx, CAST_NONE, rows, n->h);
        adv_rows_scalar(core, NPU_OP_MULS, a, a, n->alpha, rows, n->h);
        adv_rows_binary(core, NPU_OP_ADD, a, c, a, rows, n->h);
    } else {
        adv_rows_scalar(core, NPU_OP_MULS, b, x, n->alpha, rows, n->h);
        adv_rows_binary(core, NPU_OP_ADD, a, gx, b, rows, n->h);
    }
    return a;
}

static void layer_norm_rows(struct npu_core *core, const struct npu_adv *call, const struct layer_norm *n, uint32_t row,
                            uint32_t rows)
{
    uint32_t h = n->h, blocks = rows * BLOCK32;
    struct adv_rows x = layer_input(core, call, n, row, rows), b = single(n->b, h), c = single(n->c, h);
    struct npu_tensor mean = adv_part(&n->mean, AKGEN_FLOAT, row, rows);
    struct npu_tensor variance = adv_part(&n->variance, AKGEN_FLOAT, row, rows);
    /* The mean of each row, packed and in blocks at the start of b. */
    adv_rows_scalar(core, NPU_OP_MULS, c, x, n->back, rows, h);
    uint32_t width = adv_fold(core, c, rows, n->summed);
    adv_row_sums(core, mean, c, rows, width);
    struct npu_tensor spare = n->b;
    spare.addr += (uint64_t)blocks * 4;
    spread_sums(core, n->b, spare, c, rows, width);
    adv_rows_binary(core, NPU_OP_SUB, c, x, adv_spread(n->b, AKGEN_FLOAT, BLOCK32), rows, h);
    /* The variance likewise, in a: x is not needed any more. */
    adv_rows_binary(core, NPU_OP_MUL, b, c, c, rows, h);
    adv_rows_scalar(core, NPU_OP_MULS, b, b, n->back, rows, h);
    width = adv_fold(core, b, rows, n->summed);
    adv_row_sums(core, variance, b, rows, width);
    spare = n->a;
    spare.addr += (uint64_t)blocks * 4;
    spread_sums(core, n->a, spare, b, rows, width);
    adv_scalar_op(core, NPU_OP_ADDS, n->a, n->a, n->epsilon, AKGEN_FLOAT, blocks);
    adv_unary(core, NPU_OP_SQRT, n->a, n->a, AKGEN_FLOAT, blocks);
    adv_duplicate(core, n->b, 1, AKGEN_FLOAT, blocks);
    adv_binary(core, NPU_OP_DIV, n->a, n->b, n->a, AKGEN_FLOAT, blocks);
    adv_rows_binary(core, NPU_OP_MUL, c, c, adv_spread(n->a, AKGEN_FLOAT, BLOCK32), rows, h);
    struct adv_rows dst = adv_rows_from(adv_nd(call->dst[0], call->type, h), row);
    affine(core, dst, c, n->a, &call->src[1], &call->src[2], call->type, rows, h);
}

/* The fields that LayerNormTiling and DeepNormTiling share have the same names and places. */
static void layer_norm(struct npu_core *core, const struct npu_adv *call, bool deep)
{
    const struct LayerNormTiling *t = call->tiling;
    bool half = call->type == AKGEN_FLOAT16, reuse = call->flags & NPU_ADV_REUSE_SOURCE && !half;
    uint32_t rows = t->bLength * t->sLength;
    if (!t->hLength || !rows || !t->oneTmpSize || t->oneTmpSize % t->hLength || t->originalHLength > t->hLength ||
        adv_bytes(call->type, t->hLength) % NPU_BLOCK)
        npu_trap(core, FAULT(adv_tiling), "tiling",
                 "%s has a tiling of %u x %u x %u (%u of them data) with %u elements at a time: the host's tiling "
                 "function makes one that works",
                 core->api, t->bLength, t->sLength, t->hLength, t->originalHLength, t->oneTmpSize);
    struct layer_norm n = {.h = t->hLength,
                           .summed = deep ? t->originalHLength : t->hLength,
                           .back = t->lastDimValueBack,
                           .epsilon = (float)adv_number(call->type, call->scalar[0]),
                           .alpha = (float)adv_number(call->type, call->scalar[1]),
                           .deep = deep};
    adv_tmp(core, call, 0, t->tmpBufSize * 4);
    n.a = reuse ? call->src[0] : floats(core, call, t->firstTmpStartPos, t->oneTmpSize);
    n.b = floats(core, call, reuse ? t->firstTmpStartPos : t->secondTmpStartPos, t->oneTmpSize);
    n.c = floats(core, call, reuse ? t->secondTmpStartPos : t->thirdTmpStartPos, t->oneTmpSize);
    n.mean = half ? floats(core, call, t->meanTmpTensorPos, rows) : call->dst[1];
    n.variance = half ? floats(core, call, t->varianceTmpTensorPos, rows) : call->dst[2];
    uint32_t step = t->oneTmpSize / t->hLength;
    adv_reset_mask(core);
    for (uint32_t row = 0; row < rows; row += step)
        layer_norm_rows(core, call, &n, row, rows - row < step ? rows - row : step);
    if (half) {
        adv_cast(core, call->dst[1], AKGEN_FLOAT16, n.mean, AKGEN_FLOAT, CAST_NONE, rows);
        adv_cast(core, call->dst[2], AKGEN_FLOAT16, n.variance, AKGEN_FLOAT, CAST_NONE, rows);
    }
}

ADV_VARIANT(layer_norm, layer_norm, false)
ADV_VARIANT(deep_norm, layer_norm, true)

/* RmsNorm. */

/* tmp: rstd of each row, then x squared and later x / rms, then half data in float and later gamma. */
static void rms_norm_rows(struct npu_core *core, const struct npu_adv *call, const struct RmsNormTiling *t,
                          uint32_t row, uint32_t rows)
{
    uint32_t h = t->hLength;
    bool half = call->type == AKGEN_FLOAT16;
    struct npu_tensor rstd = floats(core, call, 0, t->mainBsLengthAlign);
    struct adv_rows work = single(floats(core, call, t->mainBsLengthAlign, t->mainBshLength), h);
    struct adv_rows x = adv_rows_from(adv_nd(call->src[0], call->type, h), row);
    struct npu_tensor wide = call->tmp;
    if (half) {
        wide = floats(core, call, t->mainBsLengthAlign + t->mainBshLength, t->mainBshLength);
        adv_rows_cast(core, single(wide, h), x, CAST_NONE, rows, h);
        x = single(wide, h);
    }
    adv_rows_binary(core, NPU_OP_MUL, work, x, x, rows, h);
    adv_row_sums(core, rstd, work, rows, adv_fold(core, work, rows, t->originalHLength));
    adv_scalar_op(core, NPU_OP_MULS, rstd, rstd, t->reciprocalOfHLength, AKGEN_FLOAT, rows);
    adv_scalar_op(core, NPU_OP_ADDS, rstd, rstd, (float)adv_number(call->type, call->scalar[0]), AKGEN_FLOAT, rows);
    adv_unary(core, NPU_OP_LN, rstd, rstd, AKGEN_FLOAT, rows);
    adv_scalar_op(core, NPU_OP_MULS, rstd, rstd, -0.5, AKGEN_FLOAT, rows);
    adv_unary(core, NPU_OP_EXP, rstd, rstd, AKGEN_FLOAT, rows);
    adv_await_vector(core);
    for (uint32_t r = 0; r < rows; r++)
        adv_rows_scalar(core, NPU_OP_MULS, adv_rows_from(work, r), adv_rows_from(x, r), adv_read_float(core, &rstd, r),
                        1, h);
    const struct npu_tensor none = {0};
    struct adv_rows dst = adv_rows_from(adv_nd(call->dst[0], call->type, h), row);
    affine(core, dst, work, wide, &call->src[1], &none, call->type, rows, h);
}

void adv_rms_norm(struct npu_core *core, const struct npu_adv *call)
{
    const struct RmsNormTiling *t = call->tiling;
    uint32_t rows = t->bLength * t->sLength;
    if (!rows || !t->hLength || !t->mainBsLength || t->mainBshLength != t->mainBsLength * t->hLength ||
        t->originalHLength > t->hLength || adv_bytes(call->type, t->hLength) % NPU_BLOCK)
        npu_trap(core, FAULT(adv_tiling), "tiling",
                 "RmsNorm has a tiling of %u x %u x %u with %u rows at a time: the host's tiling function makes one "
                 "that works",
                 t->bLength, t->sLength, t->hLength, t->mainBsLength);
    adv_reset_mask(core);
    for (uint32_t row = 0; row < rows; row += t->mainBsLength)
        rms_norm_rows(core, call, t, row, rows - row < t->mainBsLength ? rows - row : t->mainBsLength);
}

/* Normalize, and LayerNorm with rstd. */

/* What both know: a rows of r elements, `pitch` of them in memory. dst = output, mean, rstd; src = x, gamma, beta,
 * mean, variance; dst_type = type of gamma and beta. */
struct normalize {
    uint32_t a, r, pitch;
    float epsilon;
    struct npu_tensor mean, variance, rstd, space;
};

static void centre_rows(struct npu_core *core, const struct normalize *n, struct adv_rows x, struct adv_rows filled,
                        const struct npu_tensor *values, enum npu_op op, uint32_t row, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        adv_rows_fill(core, adv_rows_from(filled, i), adv_scalar(AKGEN_FLOAT, adv_read_float(core, values, row + i)), 1,
                      n->r);
    adv_rows_binary(core, op, x, x, filled, rows, n->r);
}

static void normalize_rows(struct npu_core *core, const struct npu_adv *call, const struct normalize *n,
                           struct npu_tensor half_affine, uint32_t row, uint32_t rows, uint32_t step)
{
    struct adv_rows src = adv_rows_from(adv_nd(call->src[0], call->type, n->pitch), row);
    struct adv_rows a = single(adv_part(&n->space, AKGEN_FLOAT, 0, step * n->pitch), n->pitch);
    struct adv_rows b = single(adv_part(&n->space, AKGEN_FLOAT, step * n->pitch, step * n->pitch), n->pitch);
    if (call->type == AKGEN_FLOAT16)
        adv_rows_cast(core, a, src, CAST_NONE, rows, n->r);
    else
        adv_rows_copy(core, a, src, rows, n->r);
    centre_rows(core, n, a, b, &n->mean, NPU_OP_SUB, row, rows);
    centre_rows(core, n, a, b, &n->rstd, NPU_OP_MUL, row, rows);
    struct adv_rows dst = adv_rows_from(adv_nd(call->dst[0], call->type, n->pitch), row);
    affine(core, dst, a, half_affine, &call->src[1], &call->src[2], call->dst_type, rows, n->r);
}

static void normalize(struct npu_core *core, const struct npu_adv *call, const struct normalize *n)
{
    uint32_t pair = 2 * n->pitch * 4, space = n->space.bytes, affine_bytes = call->dst_type == AKGEN_FLOAT16 ? pair : 0;
    uint32_t step = space < affine_bytes ? 0 : (space - affine_bytes) / pair;
    if (!step || space < n->a * 4)
        npu_trap(core, FAULT(adv_tmp_too_small), "sharedTmpBuffer",
                 "%s needs %u bytes of temporary space for a row of %u elements and %u for %u rows, it has %u",
                 core->api, pair + affine_bytes, n->pitch, n->a * 4, n->a, space);
    step = step < n->a ? step : n->a;
    struct npu_tensor ones = adv_part(&n->space, AKGEN_FLOAT, 0, n->a);
    adv_scalar_op(core, NPU_OP_ADDS, n->rstd, n->variance, n->epsilon, AKGEN_FLOAT, n->a);
    adv_duplicate(core, ones, 1, AKGEN_FLOAT, n->a);
    adv_unary(core, NPU_OP_SQRT, n->rstd, n->rstd, AKGEN_FLOAT, n->a);
    adv_binary(core, NPU_OP_DIV, n->rstd, ones, n->rstd, AKGEN_FLOAT, n->a);
    adv_await_vector(core);
    struct npu_tensor half_affine = n->space;
    half_affine.addr += (uint64_t)step * pair;
    for (uint32_t row = 0; row < n->a; row += step)
        normalize_rows(core, call, n, half_affine, row, n->a - row < step ? n->a - row : step, step);
}

static void check_rows(struct npu_core *core, const struct npu_adv *call)
{
    const uint32_t *shape = call->shape;
    if (!shape[0] || !shape[1] || shape[1] > shape[2] || adv_bytes(call->type, shape[2]) % NPU_BLOCK)
        npu_trap(core, FAULT(adv_shape), "para",
                 "%s of %u rows, %u of %u elements each: rows are whole 32-byte blocks in memory", core->api, shape[0],
                 shape[1], shape[2]);
}

/* shape = aLength, rLength, rLengthWithPadding. */
void adv_normalize(struct npu_core *core, const struct npu_adv *call)
{
    check_rows(core, call);
    struct normalize n = {.a = call->shape[0], .r = call->shape[1], .pitch = call->shape[2]};
    n.epsilon = (float)adv_number(AKGEN_FLOAT, call->scalar[0]);
    n.mean = call->src[3];
    n.variance = call->src[4];
    n.rstd = call->dst[2];
    n.space = call->tmp;
    adv_reset_mask(core);
    normalize(core, call, &n);
}

/* Mean and variance of rows, two buffers of `step` rows each; then as Normalize. */
static void mean_and_variance(struct npu_core *core, const struct npu_adv *call, const struct normalize *n,
                              const struct LayerNormSeparateTiling *t, uint32_t row, uint32_t rows)
{
    struct npu_tensor first = floats(core, call, t->firstTmpStartPos, t->oneTmpSize);
    struct npu_tensor second = floats(core, call, t->secondTmpStartPos, t->oneTmpSize);
    struct adv_rows src = adv_rows_from(adv_nd(call->src[0], call->type, n->pitch), row);
    struct adv_rows a = single(first, n->pitch), b = single(second, n->pitch);
    bool half = call->type == AKGEN_FLOAT16;
    if (half)
        adv_rows_cast(core, a, src, CAST_NONE, rows, n->r);
    adv_rows_scalar(core, NPU_OP_MULS, a, half ? a : src, t->rValueBack, rows, n->r);
    uint32_t width = adv_fold(core, a, rows, n->r);
    adv_row_sums(core, adv_part(&n->mean, AKGEN_FLOAT, row, rows), a, rows, width);
    if (half)
        adv_rows_cast(core, a, src, CAST_NONE, rows, n->r);
    else
        adv_rows_copy(core, a, src, rows, n->r);
    adv_await_vector(core);
    for (uint32_t i = 0; i < rows; i++)
        adv_rows_scalar(core, NPU_OP_ADDS, adv_rows_from(a, i), adv_rows_from(a, i),
                        -adv_read_float(core, &n->mean, row + i), 1, n->r);
    adv_rows_binary(core, NPU_OP_MUL, b, a, a, rows, n->r);
    adv_rows_scalar(core, NPU_OP_MULS, b, b, t->rValueBack, rows, n->r);
    width = adv_fold(core, b, rows, n->r);
    adv_row_sums(core, adv_part(&n->variance, AKGEN_FLOAT, row, rows), b, rows, width);
}

void adv_layer_norm_rstd(struct npu_core *core, const struct npu_adv *call)
{
    check_rows(core, call);
    const struct LayerNormSeparateTiling *t = call->tiling;
    struct normalize n = {.a = call->shape[0], .r = call->shape[1], .pitch = call->shape[2]};
    if (!t->oneTmpSize || t->oneTmpSize % n.pitch)
        npu_trap(core, FAULT(adv_tiling), "tiling", "LayerNorm has a tiling for %u elements at a time; rows have %u",
                 t->oneTmpSize, n.pitch);
    n.epsilon = (float)adv_number(AKGEN_FLOAT, call->scalar[0]);
    n.mean = call->dst[1];
    n.rstd = call->dst[2];
    n.variance = floats(core, call, t->varianceTmpTensorPos, n.a);
    uint32_t step = t->oneTmpSize / n.pitch;
    adv_reset_mask(core);
    for (uint32_t row = 0; row < n.a; row += step)
        mean_and_variance(core, call, &n, t, row, n.a - row < step ? n.a - row : step);
    n.space = adv_tmp(core, call, t->firstTmpStartPos * 4, call->tmp.bytes - t->firstTmpStartPos * 4);
    normalize(core, call, &n);
}
