/* The MLP's activation, and the probabilities of labels. */
#include "lm/cpu_internal.h"

#include <math.h>
#include <string.h>

#define FAST _Pragma("clang fp reassociate(on) contract(fast)")

struct swiglu {
    float *y;
    const float *gate_up, *dy;
    int n, inner;
};

LM_CPU_WIDE static void swiglu_part(void *closure, int worker, int workers)
{
    const struct swiglu *at = closure;
    int64_t first, last, inner = at->inner;
    team_share(at->n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++) {
        FAST float *restrict y = at->y + i * inner;
        const float *restrict gate = at->gate_up + 2 * i * inner, *restrict up = gate + inner;
        for (int64_t j = 0; j < inner; j++)
            y[j] = gate[j] / (1 + lm_exp(-gate[j])) * up[j];
    }
}

void lm_cpu_swiglu(struct lm_backend *backend, void *y, const void *gate_up, int n, int inner)
{
    struct swiglu swiglu = {.y = y, .gate_up = gate_up, .n = n, .inner = inner};
    team_run(lm_cpu_of(backend)->team, swiglu_part, &swiglu);
}

LM_CPU_WIDE static void swiglu_back_part(void *closure, int worker, int workers)
{
    const struct swiglu *at = closure;
    int64_t first, last, inner = at->inner;
    team_share(at->n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++) {
        FAST float *restrict dgate = at->y + 2 * i * inner, *restrict dup = dgate + inner;
        const float *restrict gate = at->gate_up + 2 * i * inner, *restrict up = gate + inner,
                              *restrict dy = at->dy + i * inner;
        for (int64_t j = 0; j < inner; j++) {
            float s = 1 / (1 + lm_exp(-gate[j])), silu = gate[j] * s;
            dgate[j] = dy[j] * up[j] * (s + silu * (1 - s));
            dup[j] = dy[j] * silu;
        }
    }
}

void lm_cpu_swiglu_back(struct lm_backend *backend, void *dgate_up, const void *dy, const void *gate_up, int n,
                        int inner)
{
    struct swiglu swiglu = {.y = dgate_up, .gate_up = gate_up, .dy = dy, .n = n, .inner = inner};
    team_run(lm_cpu_of(backend)->team, swiglu_back_part, &swiglu);
}

struct probabilities {
    float *log_probs, *scores;
    const int32_t *labels;
    const float *factors;
    int n;
    int64_t vocabulary;
};

static float sum_of_exponentials(const float *restrict scores, float largest, int64_t count)
{
    FAST float total = 0;
    for (int64_t v = 0; v < count; v++)
        total += lm_exp(scores[v] - largest);
    return total;
}

LM_CPU_WIDE static void probabilities_part(void *closure, int worker, int workers)
{
    const struct probabilities *at = closure;
    int64_t first, last;
    team_share(at->n, 1, worker, workers, &first, &last);
    for (int64_t i = first; i < last; i++) {
        float *restrict scores = at->scores + i * at->vocabulary;
        int32_t label = at->labels[i];
        if (label == LM_NO_LABEL) {
            at->log_probs[i] = 0;
            if (at->factors)
                memset(scores, 0, (size_t)at->vocabulary * sizeof *scores);
            continue;
        }
        float largest = lm_largest(scores, at->vocabulary),
              total = sum_of_exponentials(scores, largest, at->vocabulary);
        at->log_probs[i] = scores[label] - largest - logf(total);
        if (!at->factors)
            continue;
        float scale = -at->factors[i] / total;
        for (int64_t v = 0; v < at->vocabulary; v++)
            scores[v] = scale * lm_exp(scores[v] - largest);
        scores[label] += at->factors[i];
    }
}

void lm_cpu_log_probs(struct lm_backend *backend, float *log_probs, void *scores, const int32_t *labels,
                      const float *factors, int n, int vocabulary)
{
    struct probabilities probabilities = {.log_probs = log_probs,
                                          .scores = scores,
                                          .labels = labels,
                                          .factors = factors,
                                          .n = n,
                                          .vocabulary = vocabulary};
    team_run(lm_cpu_of(backend)->team, probabilities_part, &probabilities);
}
