/* Gradients of LayerNorm: LayerNormGrad for x, LayerNormGradBeta for gamma and beta. Steps and temporary space:
 * asc-devkit, the APIs' documents and NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/report.h"

enum { CAST_NONE = 0 };

static struct npu_tensor floats(struct npu_core *core, const struct npu_adv *call, uint32_t first, uint32_t count)
{
    return adv_tmp(core, call, first * 4, count * 4);
}

/* Of LayerNormGrad: the host rounds the rows at a time up without looking at the space; what does not fit lands behind
 * it, as on the chip. */
static struct npu_tensor floats_or_behind(struct npu_core *core, const struct npu_adv *call, uint32_t first,
                                          uint32_t count)
{
    struct npu_tensor part = call->tmp;
    if ((first + count) * 4 > part.bytes)
        npu_note(core, false, FAULT(adv_tmp_too_small), "sharedTmpBuffer", 0,
                 "%s works on %u bytes of temporary space and has %u: the rest lands behind it", core->api,
                 (first + count) * 4, part.bytes);
    part.addr += (uint64_t)first * 4;
    part.bytes = count * 4;
    return part;
}

/* LayerNormGrad: dst = gradient of x, xhat (for gamma); src = dy, x, variance, mean, gamma; scalar[0] = epsilon. */
struct grad {
    struct npu_core *core;
    const struct npu_adv *call;
    const struct LayerNormGradTiling *t;
    uint32_t rows, h;
    float epsilon, back, back_twice;                        /* 1 / H, 2 / H */
    struct npu_tensor x1, x2, x3, variance_grad, mean_grad; /* dy * gamma, x - mean, x1 / std; packed sums */
    struct npu_tensor packed, wide;                         /* scratch: a float a row, and rows */
};

static struct adv_rows rows_of(const struct grad *g, struct npu_tensor tensor)
{
    return adv_nd(tensor, AKGEN_FLOAT, g->h);
}

/* Each row filled with its own value. */
static void spread_rows(const struct grad *g, struct npu_tensor dst, const struct npu_tensor *packed)
{
    adv_await_vector(g->core);
    for (uint32_t row = 0; row < g->rows; row++)
        adv_rows_fill(g->core, adv_rows_from(rows_of(g, dst), row),
                      adv_scalar(AKGEN_FLOAT, adv_read_float(g->core, packed, row)), 1, g->h);
}

static void all_elements(const struct grad *g, enum npu_op op, struct npu_tensor dst, struct npu_tensor a,
                         struct npu_tensor b)
{
    adv_binary(g->core, op, dst, a, b, AKGEN_FLOAT, g->rows * g->h);
}

static void scaled_sums(const struct grad *g, struct npu_tensor dst, struct npu_tensor x, double factor)
{
    adv_scalar_op(g->core, NPU_OP_MULS, g->wide, x, factor, AKGEN_FLOAT, g->rows * g->h);
    uint32_t width = adv_fold(g->core, rows_of(g, g->wide), g->rows, g->h);
    adv_row_sums(g->core, dst, rows_of(g, g->wide), g->rows, width);
}

/* packed = 1 / sqrt(packed) */
static void inverse_root(const struct grad *g)
{
    adv_unary(g->core, NPU_OP_SQRT, g->packed, g->packed, AKGEN_FLOAT, g->rows);
    adv_duplicate(g->core, g->wide, 1, AKGEN_FLOAT, g->rows);
    adv_binary(g->core, NPU_OP_DIV, g->packed, g->wide, g->packed, AKGEN_FLOAT, g->rows);
}

/* variance_grad = sum(-0.5 * x1 * x2 * (variance + epsilon)^-1.5) */
static void variance_gradient(const struct grad *g, struct npu_tensor variance)
{
    struct npu_core *core = g->core;
    adv_scalar_op(core, NPU_OP_ADDS, g->packed, variance, g->epsilon, AKGEN_FLOAT, g->rows);
    adv_binary(core, NPU_OP_MUL, g->wide, g->packed, g->packed, AKGEN_FLOAT, g->rows);
    adv_binary(core, NPU_OP_MUL, g->packed, g->wide, g->packed, AKGEN_FLOAT, g->rows);
    inverse_root(g);
    spread_rows(g, g->wide, &g->packed);
    all_elements(g, NPU_OP_MUL, g->wide, g->x2, g->wide);
    all_elements(g, NPU_OP_MUL, g->wide, g->x1, g->wide);
    scaled_sums(g, g->variance_grad, g->wide, -0.5);
}

/* mean_grad = sum(-x1 / std) + variance_grad / H * sum(-2 * x2); xhat = x2 / std, x3 = x1 / std */
static void mean_gradient(const struct grad *g, struct npu_tensor variance, struct npu_tensor xhat)
{
    struct npu_core *core = g->core;
    adv_scalar_op(core, NPU_OP_ADDS, g->packed, variance, g->epsilon, AKGEN_FLOAT, g->rows);
    inverse_root(g);
    spread_rows(g, g->wide, &g->packed);
    all_elements(g, NPU_OP_MUL, xhat, g->x2, g->wide);
    all_elements(g, NPU_OP_MUL, g->x3, g->x1, g->wide);
    scaled_sums(g, g->mean_grad, g->x3, -1);
    scaled_sums(g, g->packed, g->x2, -2);
    adv_scalar_op(core, NPU_OP_MULS, g->packed, g->packed, g->back, AKGEN_FLOAT, g->rows);
    adv_binary(core, NPU_OP_MUL, g->packed, g->variance_grad, g->packed, AKGEN_FLOAT, g->rows);
    adv_binary(core, NPU_OP_ADD, g->mean_grad, g->mean_grad, g->packed, AKGEN_FLOAT, g->rows);
}

/* dx = x3 + variance_grad * 2 / H * x2 + mean_grad / H */
static void x_gradient(const struct grad *g, struct npu_tensor dx)
{
    struct npu_core *core = g->core;
    adv_scalar_op(core, NPU_OP_MULS, g->variance_grad, g->variance_grad, g->back_twice, AKGEN_FLOAT, g->rows);
    spread_rows(g, g->wide, &g->variance_grad);
    all_elements(g, NPU_OP_MUL, g->x1, g->wide, g->x2);
    adv_scalar_op(core, NPU_OP_MULS, g->mean_grad, g->mean_grad, g->back, AKGEN_FLOAT, g->rows);
    spread_rows(g, g->wide, &g->mean_grad);
    all_elements(g, NPU_OP_ADD, g->x1, g->x1, g->wide);
    all_elements(g, NPU_OP_ADD, dx, g->x1, g->x3);
}

static void grad_rows(const struct grad *g, uint32_t row)
{
    struct npu_core *core = g->core;
    const struct npu_adv *call = g->call;
    const struct LayerNormGradTiling *t = g->t;
    uint32_t count = g->rows * g->h, first = row * g->h;
    bool half = call->type == AKGEN_FLOAT16;
    struct npu_tensor one = call->tmp, two = call->tmp;
    if (half) {
        one = floats_or_behind(core, call, t->tmpTensor1Pos, t->tmpTensor1Size);
        two = floats_or_behind(core, call, t->tmpTensor2Pos, t->tmpTensor2Size);
    }
    struct npu_tensor part[5];
    for (int i = 0; i < 4; i++)
        part[i] = i < 2 ? adv_part(&call->src[i], call->type, first, count)
                        : adv_part(&call->src[i], call->type, row, g->rows);
    part[4] = call->src[4];
#define AS_FLOAT(i, to, n)                                                                                             \
    (half ? (adv_cast(core, to, AKGEN_FLOAT, part[i], AKGEN_FLOAT16, CAST_NONE, n), to) : part[i])
    struct npu_tensor dy = AS_FLOAT(0, one, count), gamma = AS_FLOAT(4, two, g->h);
    adv_rows_binary(core, NPU_OP_MUL, rows_of(g, g->x1), rows_of(g, dy), adv_nd(gamma, AKGEN_FLOAT, 0), g->rows, g->h);
    struct npu_tensor x = AS_FLOAT(1, one, count), mean = AS_FLOAT(3, two, g->rows);
    spread_rows(g, g->wide, &mean);
    all_elements(g, NPU_OP_SUB, g->x2, x, g->wide);
    struct npu_tensor variance = AS_FLOAT(2, one, g->rows);
#undef AS_FLOAT
    variance_gradient(g, variance);
    mean_gradient(g, variance, half ? two : adv_part(&call->dst[1], AKGEN_FLOAT, first, count));
    x_gradient(g, half ? g->packed : adv_part(&call->dst[0], AKGEN_FLOAT, first, count));
    if (half) {
        adv_cast(core, adv_part(&call->dst[0], AKGEN_FLOAT16, first, count), AKGEN_FLOAT16, g->packed, AKGEN_FLOAT,
                 CAST_NONE, count);
        adv_cast(core, adv_part(&call->dst[1], AKGEN_FLOAT16, first, count), AKGEN_FLOAT16, two, AKGEN_FLOAT, CAST_NONE,
                 count);
    }
}

void adv_layer_norm_grad(struct npu_core *core, const struct npu_adv *call)
{
    const struct LayerNormGradTiling *t = call->tiling;
    bool half = call->type == AKGEN_FLOAT16, reuse = call->flags & NPU_ADV_REUSE_SOURCE && !half;
    uint32_t rows = t->bLength * t->sLength;
    if (!rows || !t->hLength || !t->nohCalSize || t->oneCalSize != t->nohCalSize * t->hLength || t->hLength % 8)
        npu_trap(core, FAULT(adv_tiling), "tiling",
                 "LayerNormGrad has a tiling of %u x %u x %u, %u rows at a time: the host's tiling function makes one "
                 "that works",
                 t->bLength, t->sLength, t->hLength, t->nohCalSize);
    struct grad g = {.core = core, .call = call, .t = t, .h = t->hLength};
    g.epsilon = (float)adv_number(call->type, call->scalar[0]);
    g.back = (float)adv_number(AKGEN_FLOAT, t->lastDimValueBack);
    g.back_twice = (float)adv_number(AKGEN_FLOAT, t->lastDimValueBackMulTwo);
    g.x1 = reuse ? call->src[0] : floats_or_behind(core, call, t->x1TensorPos, t->x1TensorSize);
    g.x2 = reuse ? call->src[1] : floats_or_behind(core, call, t->x2TensorPos, t->x2TensorSize);
    g.x3 = floats_or_behind(core, call, t->x3TensorPos, t->x3TensorSize);
    g.variance_grad = floats_or_behind(core, call, t->pdVarTensorPos, t->pdVarTensorSize);
    g.mean_grad = floats_or_behind(core, call, t->pdMeanTensorPos, t->pdMeanTensorSize);
    g.wide = floats_or_behind(core, call, t->tmpTensorBSHPos, t->tmpTensorBSHSize);
    g.packed = half ? floats_or_behind(core, call, t->tmpTensorPos, t->tmpTensorSize) : call->dst[0];
    adv_reset_mask(core);
    for (uint32_t row = 0; row < rows; row += t->nohCalSize) {
        g.rows = rows - row < t->nohCalSize ? rows - row : t->nohCalSize;
        if (!half) /* the rows' own part of the result is free until the end */
            g.packed = adv_part(&call->dst[0], AKGEN_FLOAT, row * g.h, g.rows * g.h);
        if (reuse) {
            g.x1 = adv_part(&call->src[0], AKGEN_FLOAT, row * g.h, g.rows * g.h);
            g.x2 = adv_part(&call->src[1], AKGEN_FLOAT, row * g.h, g.rows * g.h);
        }
        grad_rows(&g, row);
    }
}

/* LayerNormGradBeta: dst = gradient of gamma, of beta; src = xhat, dy. Sums over all rows, in float. */
void adv_layer_norm_grad_beta(struct npu_core *core, const struct npu_adv *call)
{
    const struct LayerNormGradBetaTiling *t = call->tiling;
    bool half = call->type == AKGEN_FLOAT16, reuse = call->flags & NPU_ADV_REUSE_SOURCE && !half;
    uint32_t h = t->hLength, rows = t->bLength * t->sLength, step = t->bsCurLength;
    if (!h || !rows || !step || adv_bytes(call->type, h) % NPU_BLOCK || t->originalHLength > h)
        npu_trap(core, FAULT(adv_tiling), "tiling",
                 "LayerNormGradBeta has a tiling of %u x %u x %u, %u rows at a time: the host's tiling function makes "
                 "one that works",
                 t->bLength, t->sLength, h, step);
    struct adv_rows sum[2];
    for (int i = 0; i < 2; i++)
        sum[i] = adv_nd(half ? floats(core, call, i ? t->betaTempTensorPos : t->gammaTempTensorPos, h) : call->dst[i],
                        AKGEN_FLOAT, h);
    adv_reset_mask(core);
    for (uint32_t row = 0; row < rows; row += step) {
        uint32_t n = rows - row < step ? rows - row : step;
        struct adv_rows xhat = adv_rows_from(adv_nd(call->src[0], call->type, h), row), product = xhat;
        struct adv_rows dy = adv_rows_from(adv_nd(call->src[1], call->type, h), row);
        if (!reuse)
            product = adv_nd(floats(core, call, t->resForGammaTmpTensorPos, n * h), AKGEN_FLOAT, h);
        if (half) {
            struct adv_rows wide = adv_nd(floats(core, call, t->inputDyTmpTensorPos, n * h), AKGEN_FLOAT, h);
            adv_rows_cast(core, wide, dy, CAST_NONE, n, h);
            adv_rows_cast(core, product, xhat, CAST_NONE, n, h);
            dy = wide;
            xhat = product;
        }
        adv_rows_binary(core, NPU_OP_MUL, product, dy, xhat, n, h);
        for (int i = 0; i < 2; i++)
            for (uint32_t r = 0; r < n; r++) {
                struct adv_rows term = adv_rows_from(i ? dy : product, r);
                if (row + r == 0)
                    adv_rows_copy(core, sum[i], term, 1, t->originalHLength);
                else
                    adv_rows_binary(core, NPU_OP_ADD, sum[i], term, sum[i], 1, t->originalHLength);
            }
    }
    for (int i = 0; half && i < 2; i++)
        adv_cast(core, call->dst[i], AKGEN_FLOAT16, sum[i].tensor, AKGEN_FLOAT, CAST_NONE, t->originalHLength);
}
