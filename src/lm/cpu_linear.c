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
    if (n <= LM_FEW) {
        struct lm_few few = {.n = n,
                             .in = in,
                             .out = out,
                             .x = x,
                             .x_stride = x_stride,
                             .w = w,
                             .scale = scale,
                             .y = y,
                             .y_stride = y_stride,
                             .keep = keep};
        lm_cpu_few(lm_cpu_of(backend), &few);
        return;
    }
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
                      int n, int in, int out, float scale, int keep)
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
                                 .beta = (float)keep,
                                 .c = dw,
                                 .c_stride = in};
    multiply(lm_cpu_of(backend), &product);
}
