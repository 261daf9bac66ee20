/* Matrix products. Each worker multiplies a part of the result by itself: one call of the library that uses all threads would
 * make them wait for each other several times, and keep threads of its own. */
#include "lm/cpu_internal.h"

#include <dnnl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Of libgomp, which oneDNN runs on: how many threads a call from this thread may use. */
void omp_set_num_threads(int threads);

void lm_cpu_alone(void)
{
    static _Thread_local bool alone;
    if (!alone)
        omp_set_num_threads(1);
    alone = true;
}

void lm_cpu_product(bool a_turned, bool b_turned, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                    int64_t a_stride, const float *b, int64_t b_stride, float beta, float *c, int64_t c_stride)
{
    lm_cpu_alone();
    dnnl_status_t status = m && n ? dnnl_sgemm(a_turned ? 'T' : 'N', b_turned ? 'T' : 'N', m, n, k, alpha, a, a_stride,
                                               b, b_stride, beta, c, c_stride)
                                  : dnnl_success;
    if (status != dnnl_success) { /* wrong arguments, or no memory for its buffers */
        fprintf(stderr, "oneDNN cannot multiply (%lld, %lld) and (%lld, %lld): status %d\n", (long long)m, (long long)k,
                (long long)k, (long long)n, (int)status);
        abort();
    }
}

enum { GRAIN = 16 };

static void part(void *closure, int worker, int workers)
{
    const struct lm_product *p = closure;
    int64_t first, last;
    if (lm_product_by_rows(p->m, p->n, workers)) {
        team_share(p->m, GRAIN, worker, workers, &first, &last);
        lm_cpu_product(p->a_turned, p->b_turned, last - first, p->n, p->k, p->alpha,
                       p->a + (p->a_turned ? first : first * p->a_stride), p->a_stride, p->b, p->b_stride, p->beta,
                       p->c + first * p->c_stride, p->c_stride);
    } else {
        team_share(p->n, GRAIN, worker, workers, &first, &last);
        lm_cpu_product(p->a_turned, p->b_turned, p->m, last - first, p->k, p->alpha, p->a, p->a_stride,
                       p->b + (p->b_turned ? first * p->b_stride : first), p->b_stride, p->beta, p->c + first,
                       p->c_stride);
    }
}

/* ---- Few rows
 *
 * A model that writes multiplies a row or some with all of its weights, which take as long as memory gives them. Each number is
 * summed in an order that does not depend on how many rows there are, each product and its sum rounded once, which is not left to
 * the compiler: a text is the same in any batch. */

enum { LANES = 8, OUTS = 4, MOST_SUMS = 6 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* y[r * y_stride + o] = scale * x[r] . row o of w + keep * y, of `rows` rows and `outs` outputs: enough sums at a time that none waits, and few enough
 * that they stay in registers. */
static inline __attribute__((always_inline)) void dots(int rows, int outs, float *y, int64_t y_stride, const float *x,
                                                       int64_t x_stride, const float *w, int64_t w_stride, int in,
                                                       float scale, int keep)
{
    lanes even[MOST_SUMS] = {0}, odd[MOST_SUMS] = {0};
    int i = 0;
    for (; i + 2 * LANES <= in; i += 2 * LANES)
        for (int o = 0; o < outs; o++) {
            const float *at = w + o * w_stride + i;
            lanes first = *(const lanes *)at, second = *(const lanes *)(at + LANES);
            for (int r = 0; r < rows; r++) {
                const float *of = x + r * x_stride + i;
                even[o * rows + r] = __builtin_elementwise_fma(first, *(const lanes *)of, even[o * rows + r]);
                odd[o * rows + r] = __builtin_elementwise_fma(second, *(const lanes *)(of + LANES), odd[o * rows + r]);
            }
        }
    for (int o = 0; o < outs; o++)
        for (int r = 0; r < rows; r++) {
            lanes sums = even[o * rows + r] + odd[o * rows + r];
            float sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
            for (int j = i; j < in; j++)
                sum = __builtin_fmaf(w[o * w_stride + j], x[r * x_stride + j], sum);
            float *to = y + r * y_stride + o;
            *to = __builtin_fmaf(scale, sum, keep ? *to : 0);
        }
}

/* Outputs [o, o + outs) of all rows. */
static inline __attribute__((always_inline)) void few_outs(const struct lm_product *p, int64_t o, int outs)
{
    const float *w = p->b + o * p->b_stride;
    int in = (int)p->k, keep = p->beta > 0;
    int64_t r = 0;
    for (; outs == OUTS && p->m - r >= 2;) {
        const float *x = p->a + r * p->a_stride;
        float *y = p->c + r * p->c_stride + o;
        int rows = p->m - r == 2 || p->m - r == 4 ? 2 : 3;
        for (int half = 0; half < OUTS; half += 2, y += 2)
            if (rows == 3)
                dots(3, 2, y, p->c_stride, x, p->a_stride, w + half * p->b_stride, p->b_stride, in, p->alpha, keep);
            else
                dots(2, 2, y, p->c_stride, x, p->a_stride, w + half * p->b_stride, p->b_stride, in, p->alpha, keep);
        r += rows;
    }
    for (; r < p->m; r++) {
        const float *x = p->a + r * p->a_stride;
        float *y = p->c + r * p->c_stride + o;
        if (outs == OUTS)
            dots(1, OUTS, y, p->c_stride, x, p->a_stride, w, p->b_stride, in, p->alpha, keep);
        for (int i = 0; outs < OUTS && i < outs; i++)
            dots(1, 1, y + i, p->c_stride, x, p->a_stride, w + i * p->b_stride, p->b_stride, in, p->alpha, keep);
    }
}

static void few_part(void *closure, int worker, int workers)
{
    const struct lm_product *p = closure;
    int64_t first, last;
    team_share(p->n, LM_CPU_LINE, worker, workers, &first, &last);
    for (int64_t o = first; o < last; o += OUTS)
        few_outs(p, o, last - o < OUTS ? (int)(last - o) : OUTS);
}

static void multiply(struct lm_cpu *cpu, struct lm_product *product)
{
    if (lm_product_is_bf16(cpu, product))
        lm_product_bf16(cpu, product);
    else
        team_run(cpu->team, part, product);
}

void lm_cpu_linear(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const void *w, int n,
                   int in, int out, float scale, int keep)
{
    struct lm_product product = {.alpha = scale,
                                 .b_turned = true,
                                 .m = n,
                                 .n = out,
                                 .k = in,
                                 .a = x,
                                 .a_stride = x_stride,
                                 .b = w,
                                 .b_stride = in,
                                 .beta = (float)keep,
                                 .c = y,
                                 .c_stride = y_stride};
    if (n <= LM_FEW)
        team_run(lm_cpu_of(backend)->team, few_part, &product);
    else
        multiply(lm_cpu_of(backend), &product);
}

void lm_cpu_linear_dx(struct lm_backend *backend, void *dx, int dx_stride, const void *dy, int dy_stride, const void *w,
                      int n, int in, int out, float scale, int keep)
{
    struct lm_product product = {.alpha = scale,
                                 .m = n,
                                 .n = in,
                                 .k = out,
                                 .a = dy,
                                 .a_stride = dy_stride,
                                 .b = w,
                                 .b_stride = in,
                                 .beta = (float)keep,
                                 .c = dx,
                                 .c_stride = dx_stride};
    multiply(lm_cpu_of(backend), &product);
}

void lm_cpu_linear_dw(struct lm_backend *backend, float *dw, const void *dy, int dy_stride, const void *x, int x_stride,
                      int n, int in, int out, float scale)
{
    struct lm_product product = {.alpha = scale,
                                 .a_turned = true,
                                 .m = out,
                                 .n = in,
                                 .k = n,
                                 .a = dy,
                                 .a_stride = dy_stride,
                                 .b = x,
                                 .b_stride = x_stride,
                                 .beta = 1,
                                 .c = dw,
                                 .c_stride = in};
    multiply(lm_cpu_of(backend), &product);
}
