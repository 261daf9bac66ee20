/* BatchNorm: mean and variance of each column over the rows (the batch), then gamma and beta of each row. A part of the
 * columns at a time, as the tiling says. dst = output, mean, variance; src = x, gamma, beta; scalar[0] = epsilon. Steps
 * and temporary space: asc-devkit, BatchNorm, NPU_ARCH 2201. */
#include "npu/adv/rows.h"
#include "npu/adv/tiling.h"
#include "npu/report.h"

enum { CAST_NONE = 0 };

struct batch {
    struct npu_core *core;
    const struct npu_adv *call;
    uint32_t rows, columns; /* columns: of this part */
    float back, epsilon;
    struct npu_tensor a, b, c;
    struct npu_tensor mean, variance; /* of this part, float */
};

/* The columns' sums of c. */
static void sum_rows(const struct batch *n, struct npu_tensor dst, struct npu_tensor from)
{
    struct adv_rows sum = adv_nd(dst, AKGEN_FLOAT, n->columns), all = adv_nd(from, AKGEN_FLOAT, n->columns);
    if (n->rows == 1)
        adv_rows_copy(n->core, sum, all, 1, n->columns);
    for (uint32_t row = 1; row < n->rows; row++)
        adv_rows_binary(n->core, NPU_OP_ADD, sum, row == 1 ? all : sum, adv_rows_from(all, row), 1, n->columns);
}

/* c = op(c, a row's own number), the numbers being float or half. */
static void by_row(const struct batch *n, enum npu_op op, const struct npu_tensor *numbers)
{
    struct npu_tensor source = *numbers;
    if (n->call->type == AKGEN_FLOAT16) {
        source = n->a;
        adv_cast(n->core, source, AKGEN_FLOAT, *numbers, AKGEN_FLOAT16, CAST_NONE, n->rows);
    }
    struct adv_rows b = adv_nd(n->b, AKGEN_FLOAT, n->columns), c = adv_nd(n->c, AKGEN_FLOAT, n->columns);
    adv_await_vector(n->core);
    for (uint32_t row = 0; row < n->rows; row++)
        adv_rows_fill(n->core, adv_rows_from(b, row), adv_scalar(AKGEN_FLOAT, adv_read_float(n->core, &source, row)), 1,
                      n->columns);
    adv_rows_binary(n->core, op, c, b, c, n->rows, n->columns);
}

static void part(const struct batch *n, struct adv_rows x, struct adv_rows dst)
{
    struct npu_core *core = n->core;
    uint32_t rows = n->rows, columns = n->columns;
    struct adv_rows a = adv_nd(n->a, AKGEN_FLOAT, columns), b = adv_nd(n->b, AKGEN_FLOAT, columns);
    struct adv_rows c = adv_nd(n->c, AKGEN_FLOAT, columns);
    if (x.type == AKGEN_FLOAT16) {
        adv_rows_cast(core, a, x, CAST_NONE, rows, columns);
        x = a;
    }
    adv_rows_scalar(core, NPU_OP_MULS, c, x, n->back, rows, columns);
    sum_rows(n, n->mean, n->c);
    adv_rows_binary(core, NPU_OP_SUB, c, x, adv_nd(n->mean, AKGEN_FLOAT, 0), rows, columns);
    adv_rows_binary(core, NPU_OP_MUL, b, c, c, rows, columns);
    adv_rows_scalar(core, NPU_OP_MULS, b, b, n->back, rows, columns);
    sum_rows(n, n->variance, n->b);
    adv_scalar_op(core, NPU_OP_ADDS, n->a, n->variance, n->epsilon, AKGEN_FLOAT, columns);
    adv_unary(core, NPU_OP_SQRT, n->a, n->a, AKGEN_FLOAT, columns);
    adv_duplicate(core, n->b, 1, AKGEN_FLOAT, columns);
    adv_binary(core, NPU_OP_DIV, n->a, n->b, n->a, AKGEN_FLOAT, columns);
    adv_rows_binary(core, NPU_OP_MUL, c, c, adv_nd(n->a, AKGEN_FLOAT, 0), rows, columns);
    by_row(n, NPU_OP_MUL, &n->call->src[1]);
    by_row(n, NPU_OP_ADD, &n->call->src[2]);
    if (dst.type == AKGEN_FLOAT16)
        adv_rows_cast(core, dst, c, CAST_NONE, rows, columns);
    else
        adv_rows_copy(core, dst, c, rows, columns);
}

static struct adv_rows columns_from(struct npu_tensor tensor, uint8_t type, uint32_t pitch, uint32_t first)
{
    uint32_t bytes = adv_bytes(type, first);
    tensor.addr += bytes;
    tensor.bytes -= bytes;
    return adv_nd(tensor, type, pitch);
}

void adv_batch_norm(struct npu_core *core, const struct npu_adv *call)
{
    const struct BatchNormTiling *t = call->tiling;
    uint8_t type = call->type;
    bool half = type == AKGEN_FLOAT16;
    uint32_t rows = t->originalBLength, all = t->meanVarSize, step = t->shCurLength;
    if (!rows || !all || !step || step * rows > t->oneTmpSize || adv_bytes(type, step) % NPU_BLOCK ||
        adv_bytes(type, all) % NPU_BLOCK)
        npu_trap(core, FAULT(adv_tiling), "tiling",
                 "BatchNorm has a tiling of %u rows of %u elements, %u columns at a time in %u: the host's tiling "
                 "function makes one that works",
                 rows, all, step, t->oneTmpSize);
    struct batch n = {.core = core, .call = call, .rows = rows, .back = t->firstDimValueBack};
    n.epsilon = (float)adv_number(type, call->scalar[0]);
    n.a = adv_tmp(core, call, t->firstTmpStartPos * 4, t->oneTmpSize * 4);
    n.b = adv_tmp(core, call, t->secondTmpStartPos * 4, t->oneTmpSize * 4);
    n.c = adv_tmp(core, call, t->thirdTmpStartPos * 4, t->oneTmpSize * 4);
    struct npu_tensor mean = half ? adv_tmp(core, call, t->meanTmpTensorPos * 4, all * 4) : call->dst[1];
    struct npu_tensor variance = half ? adv_tmp(core, call, t->varianceTmpTensorPos * 4, all * 4) : call->dst[2];
    adv_reset_mask(core);
    for (uint32_t first = 0; first < all; first += step) {
        n.columns = all - first < step ? all - first : step;
        n.mean = adv_part(&mean, AKGEN_FLOAT, first, n.columns);
        n.variance = adv_part(&variance, AKGEN_FLOAT, first, n.columns);
        part(&n, columns_from(call->src[0], type, all, first), columns_from(call->dst[0], type, all, first));
        for (int i = 1; half && i < 3; i++)
            adv_cast(core, adv_part(&call->dst[i], type, first, n.columns), type, i == 1 ? n.mean : n.variance,
                     AKGEN_FLOAT, CAST_NONE, n.columns);
    }
}
