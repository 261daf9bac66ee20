/* The optimizer's step: one way through weights, means and gradient. */
#include "base/memory.h"
#include "lm/cpu_internal.h"

#include <math.h>
#include <stdlib.h>

#define FAST _Pragma("clang fp reassociate(on) contract(fast)")

/* SOON: how many floats ahead memory is asked for them, which several streams at once would wait for else. */
enum { CHUNK = 1 << 14, SOON = 256 };

struct squares {
    const float *gradient;
    int64_t count;
    double *sums; /* of each chunk, so that the sum does not depend on who took which */
};

LM_CPU_WIDE static void squares_part(void *closure, int worker, int workers)
{
    const struct squares *at = closure;
    int64_t first, last;
    team_share(at->count, CHUNK, worker, workers, &first, &last);
    for (int64_t from = first; from < last; from += CHUNK) {
        float lanes[LM_CPU_LINE] = {0}, sum = 0;
        int64_t to = from + CHUNK < last ? from + CHUNK : last, i = from;
        for (; i + LM_CPU_LINE <= to; i += LM_CPU_LINE) {
            __builtin_prefetch(at->gradient + i + SOON);
            for (int l = 0; l < LM_CPU_LINE; l++)
                lanes[l] += at->gradient[i + l] * at->gradient[i + l];
        }
        for (; i < to; i++)
            lanes[0] += at->gradient[i] * at->gradient[i];
        for (int l = 0; l < LM_CPU_LINE; l++)
            sum += lanes[l];
        at->sums[from / CHUNK] = sum;
    }
}

double lm_cpu_squares(struct lm_backend *backend, const float *gradient, int64_t count)
{
    int64_t chunks = (count + CHUNK - 1) / CHUNK;
    struct squares squares = {gradient, count, memory_alloc((size_t)(chunks + 1) * sizeof *squares.sums)};
    double sum = 0;
    team_run(lm_cpu_of(backend)->team, squares_part, &squares);
    for (int64_t i = 0; i < chunks; i++)
        sum += squares.sums[i];
    free(squares.sums);
    return sum;
}

struct adamw {
    float *weights, *m, *v;
    const float *gradient;
    int64_t count;
    const struct lm_adamw *step;
};

LM_CPU_WIDE static void adamw_part(void *closure, int worker, int workers)
{
    const struct adamw *at = closure;
    const struct lm_adamw step = *at->step;
    int64_t first, last;
    team_share(at->count, LM_CPU_LINE, worker, workers, &first, &last);
    float *restrict w = at->weights, *restrict m = at->m, *restrict v = at->v;
    const float *restrict gradient = at->gradient;
    float keep = 1 - step.rate * step.decay, rate = step.rate / step.bias1, root = 1 / sqrtf(step.bias2);
    for (int64_t line = first; line < last; line += LM_CPU_LINE) {
        int64_t end = line + LM_CPU_LINE < last ? line + LM_CPU_LINE : last;
        __builtin_prefetch(w + line + SOON, 1);
        __builtin_prefetch(m + line + SOON, 1);
        __builtin_prefetch(v + line + SOON, 1);
        __builtin_prefetch(gradient + line + SOON);
        for (int64_t i = line; i < end; i++) {
            FAST float g = gradient[i] * step.scale;
            m[i] = step.beta1 * m[i] + (1 - step.beta1) * g;
            v[i] = step.beta2 * v[i] + (1 - step.beta2) * g * g;
            w[i] = keep * w[i] - rate * m[i] / (sqrtf(v[i]) * root + step.eps);
        }
    }
}

void lm_cpu_adamw(struct lm_backend *backend, float *weights, void *elements, float *m, float *v, const float *gradient,
                  int64_t count, const struct lm_adamw *step)
{
    struct adamw adamw = {weights, m, v, gradient, count, step};
    (void)elements;
    team_run(lm_cpu_of(backend)->team, adamw_part, &adamw);
}
