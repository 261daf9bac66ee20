/* Norms of rows and of heads, and the rotation of heads. Rows are cut among the workers; what all rows add to (the gradients of
 * the weights) each worker sums for itself first. */
#include "lm/cpu_internal.h"

#include <math.h>
#include <string.h>

#define FAST _Pragma("clang fp reassociate(on) contract(fast)")

static float squares_of(const float *x, int c)
{
    FAST float sum = 0;
    for (int j = 0; j < c; j++)
        sum += x[j] * x[j];
    return sum;
}

/* y = w * x * r. */
static void scale_row(float *restrict y, const float *restrict x, const float *restrict w, float r, int c)
{
    for (int j = 0; j < c; j++)
        y[j] = x[j] * r * w[j];
}

/* dx += r * g - x * r^3 / c * sum(g * x) with g = dy * w;  dw += dy * x * r. */
static void row_back(float *restrict dx, float *restrict dw, const float *restrict dy, const float *restrict x,
                     const float *restrict w, float r, int c)
{
    FAST float dot = 0;
    for (int j = 0; j < c; j++)
        dot += dy[j] * w[j] * x[j];
    float back = dot * r * r * r / (float)c;
    for (int j = 0; j < c; j++)
        dx[j] += r * dy[j] * w[j] - x[j] * back;
    for (int j = 0; j < c; j++)
        dw[j] += dy[j] * x[j] * r;
}

struct norm {
    struct lm_cpu *cpu;
    float *y, *scales, *sum, *dx, *dw;
    const float *x, *more, *w, *dy;
    float eps;
    int n, c;
};

LM_CPU_WIDE static void norm_part(void *closure, int worker, int workers)
{
    const struct norm *norm = closure;
    int64_t first, last, c = norm->c;
    team_share(norm->n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++) {
        const float *x = norm->x + i * c;
        if (norm->more) {
            float *restrict sum = norm->sum + i * c;
            const float *more = norm->more + i * c;
            for (int j = 0; j < c; j++)
                sum[j] = x[j] + more[j];
            x = sum;
        } else if (norm->sum) {
            memcpy(norm->sum + i * c, x, (size_t)c * sizeof *x);
        }
        float r = 1 / sqrtf(squares_of(x, norm->c) / (float)c + norm->eps);
        norm->scales[i] = r;
        scale_row(norm->y + i * c, x, norm->w, r, norm->c);
    }
}

void lm_cpu_norm(struct lm_backend *backend, void *y, float *scales, void *sum, const void *x, const void *more,
                 const void *w, float eps, int n, int c)
{
    struct norm norm = {.y = y, .scales = scales, .sum = sum, .x = x, .more = more, .w = w, .eps = eps, .n = n, .c = c};
    team_run(lm_cpu_of(backend)->team, norm_part, &norm);
}

LM_CPU_WIDE static void again_part(void *closure, int worker, int workers)
{
    const struct norm *norm = closure;
    int64_t first, last, c = norm->c;
    team_share(norm->n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++)
        scale_row(norm->y + i * c, norm->x + i * c, norm->w, norm->scales[i], norm->c);
}

void lm_cpu_norm_again(struct lm_backend *backend, void *y, const float *scales, const void *x, const void *w, int n,
                       int c)
{
    struct norm norm = {.y = y, .scales = (float *)scales, .x = x, .w = w, .n = n, .c = c};
    team_run(lm_cpu_of(backend)->team, again_part, &norm);
}

/* Adds each worker's sums, in the workers' order, so that it is the same from run to run. */
static void add_partial(const struct lm_cpu *cpu, float *to, int64_t from, int count)
{
    for (int worker = 0; worker < team_threads(cpu->team); worker++)
        for (int j = 0; j < count; j++)
            to[j] += cpu->scratch[worker].floats[from + j];
}

LM_CPU_WIDE static void norm_back_part(void *closure, int worker, int workers)
{
    const struct norm *norm = closure;
    int64_t first, last, c = norm->c;
    float *dw = lm_cpu_scratch(norm->cpu, worker, c);
    memset(dw, 0, (size_t)c * sizeof *dw);
    team_share(norm->n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++)
        row_back(norm->dx + i * c, dw, norm->dy + i * c, norm->x + i * c, norm->w, norm->scales[i], norm->c);
}

void lm_cpu_norm_back(struct lm_backend *backend, void *dx, float *dw, const void *dy, const float *scales,
                      const void *x, const void *w, int n, int c)
{
    struct norm norm = {
        .cpu = lm_cpu_of(backend), .dx = dx, .dy = dy, .scales = (float *)scales, .x = x, .w = w, .n = n, .c = c};
    team_run(norm.cpu->team, norm_back_part, &norm);
    if (dw)
        add_partial(norm.cpu, dw, 0, c);
}

/* Heads: of a row of qkv, H of q and KV of k are normed and turned. */
struct rotation {
    struct lm_cpu *cpu;
    float *q, *k, *dqkv;
    const float *qkv, *q_norm, *k_norm, *angles, *dq, *dk;
    struct lm_heads shape;
};

static void rotate_head(float *restrict y, const float *restrict x, const float *restrict w,
                        const float *restrict angles, float eps, int d)
{
    int half = d / 2;
    float r = 1 / sqrtf(squares_of(x, d) / (float)d + eps);
    for (int j = 0; j < half; j++) {
        float a = x[j] * r * w[j], b = x[j + half] * r * w[j + half];
        y[j] = a * angles[j] - b * angles[j + half];
        y[j + half] = b * angles[j] + a * angles[j + half];
    }
}

LM_CPU_WIDE static void rotate_part(void *closure, int worker, int workers)
{
    const struct rotation *at = closure;
    int64_t first, last, d = at->shape.size, heads = at->shape.heads, kv_heads = at->shape.kv_heads;
    team_share(at->shape.n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++) {
        const float *row = at->qkv + i * (heads + 2 * kv_heads) * d, *angles = at->angles + i * d;
        for (int64_t h = 0; h < heads; h++)
            rotate_head(at->q + (i * heads + h) * d, row + h * d, at->q_norm, angles, at->shape.eps, (int)d);
        for (int64_t h = 0; h < kv_heads; h++)
            rotate_head(at->k + (i * kv_heads + h) * d, row + (heads + h) * d, at->k_norm, angles, at->shape.eps,
                        (int)d);
    }
}

void lm_cpu_rotate(struct lm_backend *backend, void *q, void *k, const void *qkv, const void *q_norm,
                   const void *k_norm, const float *angles, const struct lm_heads *shape)
{
    struct rotation rotation = {
        .q = q, .k = k, .qkv = qkv, .q_norm = q_norm, .k_norm = k_norm, .angles = angles, .shape = *shape};
    team_run(lm_cpu_of(backend)->team, rotate_part, &rotation);
}

/* `turned`: room for d floats. */
static void head_back(float *restrict dx, float *restrict dw, float *restrict turned, const float *restrict dy,
                      const float *restrict x, const float *restrict w, const float *restrict angles, float eps, int d)
{
    int half = d / 2;
    for (int j = 0; j < half; j++) {
        turned[j] = dy[j] * angles[j] + dy[j + half] * angles[j + half];
        turned[j + half] = dy[j + half] * angles[j] - dy[j] * angles[j + half];
    }
    memset(dx, 0, (size_t)d * sizeof *dx);
    row_back(dx, dw, turned, x, w, 1 / sqrtf(squares_of(x, d) / (float)d + eps), d);
}

LM_CPU_WIDE static void rotate_back_part(void *closure, int worker, int workers)
{
    const struct rotation *at = closure;
    int64_t first, last, d = at->shape.size, heads = at->shape.heads, kv_heads = at->shape.kv_heads;
    float *dw = lm_cpu_scratch(at->cpu, worker, 3 * d), *turned = dw + 2 * d; /* q's, k's, room */
    memset(dw, 0, (size_t)(2 * d) * sizeof *dw);
    team_share(at->shape.n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++) {
        int64_t row = i * (heads + 2 * kv_heads) * d;
        for (int64_t h = 0; h < heads; h++)
            head_back(at->dqkv + row + h * d, dw, turned, at->dq + (i * heads + h) * d, at->qkv + row + h * d,
                      at->q_norm, at->angles + i * d, at->shape.eps, (int)d);
        for (int64_t h = 0; h < kv_heads; h++)
            head_back(at->dqkv + row + (heads + h) * d, dw + d, turned, at->dk + (i * kv_heads + h) * d,
                      at->qkv + row + (heads + h) * d, at->k_norm, at->angles + i * d, at->shape.eps, (int)d);
    }
}

void lm_cpu_rotate_back(struct lm_backend *backend, void *dqkv, float *dq_norm, float *dk_norm, const void *dq,
                        const void *dk, const void *qkv, const void *q_norm, const void *k_norm, const float *angles,
                        const struct lm_heads *shape)
{
    struct rotation rotation = {.cpu = lm_cpu_of(backend),
                                .dqkv = dqkv,
                                .dq = dq,
                                .dk = dk,
                                .qkv = qkv,
                                .q_norm = q_norm,
                                .k_norm = k_norm,
                                .angles = angles,
                                .shape = *shape};
    team_run(rotation.cpu->team, rotate_back_part, &rotation);
    if (dq_norm)
        add_partial(rotation.cpu, dq_norm, 0, shape->size);
    if (dk_norm)
        add_partial(rotation.cpu, dk_norm, shape->size, shape->size);
}
