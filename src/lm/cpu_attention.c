/* Attention by blocks of queries: the scores of BLOCK queries against all keys that they see are in a worker's scratch at a time,
 * never a matrix of all against all. The way back computes them again from the logarithms of the sums that the way there kept.
 *
 * A block is what one product multiplies: BLOCK queries of one head; where a text has a single query (a model that writes), the
 * heads that share its keys. */
#include "lm/cpu_internal.h"

#include <math.h>
#include <string.h>

#define FAST _Pragma("clang fp reassociate(on) contract(fast)")

enum { BLOCK = 64 };

struct attention {
    struct lm_cpu *cpu;
    const struct lm_attention *shape;
    float *out, *sums, *dq, *dk, *dv;
    const float *q, *k, *v, *dout, *given; /* given: the result, on the way back */
    int v_stride, dv_stride;
    _Atomic int next; /* what nobody has taken yet */
};

/* Rows of scores: query `first` of the text sees `seen` keys, each later one more (or all see the same). */
static void softmax(float *restrict scores, float *restrict sums, int64_t sums_stride, int rows, int64_t keys,
                    int64_t seen, int more)
{
    FAST for (int i = 0; i < rows; i++)
    {
        float *restrict row = scores + i * keys;
        int64_t n = seen + (int64_t)i * more;
        float largest = row[0], total = 0;
        for (int64_t j = 0; j < n; j++)
            largest = row[j] > largest ? row[j] : largest;
        for (int64_t j = 0; j < n; j++) {
            row[j] = lm_exp(row[j] - largest);
            total += row[j];
        }
        float scale = 1 / total;
        for (int64_t j = 0; j < n; j++)
            row[j] *= scale;
        memset(row + n, 0, (size_t)(keys - n) * sizeof *row);
        if (sums)
            sums[i * sums_stride] = largest + logf(total);
    }
}

/* Queries from..from + rows of a text in head h. */
static void queries_forward(const struct attention *at, const struct lm_text *text, int h, int from, int rows,
                            float *scores)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, q_stride = shape->heads * d, k_stride = shape->kv_heads * d,
            kv = h / (shape->heads / shape->kv_heads);
    int64_t first = text->query + from, seen = text->keys - text->queries + from + 1, keys = seen + rows - 1;
    const float *k = at->k + text->key * k_stride + kv * d, *v = at->v + text->key * at->v_stride + kv * d;
    lm_cpu_product(false, true, rows, keys, d, 1 / sqrtf((float)d), at->q + first * q_stride + h * d, q_stride, k,
                   k_stride, 0, scores, keys);
    softmax(scores, at->sums ? at->sums + first * shape->heads + h : NULL, shape->heads, rows, keys, seen, 1);
    lm_cpu_product(false, false, rows, d, keys, 1, scores, keys, v, at->v_stride, 0, at->out + first * q_stride + h * d,
                   q_stride);
}

/* The one query of a text, in the heads that share keys and values. */
static void group_forward(const struct attention *at, const struct lm_text *text, int kv, float *scores)
{
    const struct lm_heads *shape = &at->shape->heads;
    int group = shape->heads / shape->kv_heads;
    int64_t d = shape->size, k_stride = shape->kv_heads * d,
            row = ((int64_t)text->query * shape->heads + (int64_t)kv * group);
    const float *k = at->k + text->key * k_stride + kv * d, *v = at->v + text->key * at->v_stride + kv * d;
    lm_cpu_product(false, true, group, text->keys, d, 1 / sqrtf((float)d), at->q + row * d, d, k, k_stride, 0, scores,
                   text->keys);
    softmax(scores, at->sums ? at->sums + row : NULL, 1, group, text->keys, text->keys, 0);
    lm_cpu_product(false, false, group, d, text->keys, 1, scores, text->keys, v, at->v_stride, 0, at->out + row * d, d);
}

static void forward_part(void *closure, int worker, int workers)
{
    struct attention *at = closure;
    const struct lm_heads *shape = &at->shape->heads;
    (void)workers;
    int item = atomic_fetch_add(&at->next, 1), base = 0;
    for (int t = 0; t < at->shape->count; t++) {
        const struct lm_text *text = &at->shape->texts[t];
        int blocks = (text->queries + BLOCK - 1) / BLOCK, group = shape->heads / shape->kv_heads;
        int items = text->queries == 1 ? shape->kv_heads : shape->heads * blocks;
        float *scores = lm_cpu_scratch(at->cpu, worker, (int64_t)text->keys * (group > BLOCK ? group : BLOCK));
        for (; item < base + items; item = atomic_fetch_add(&at->next, 1)) {
            int mine = item - base, from = (blocks - 1 - mine / shape->heads) * BLOCK; /* the longest first */
            if (text->queries == 1)
                group_forward(at, text, mine, scores);
            else
                queries_forward(at, text, mine % shape->heads, from,
                                text->queries - from < BLOCK ? text->queries - from : BLOCK, scores);
        }
        base += items;
    }
}

void lm_cpu_attention(struct lm_backend *backend, void *out, float *sums, const void *q, const void *k, const void *v,
                      int v_stride, const struct lm_attention *shape)
{
    struct attention attention = {.cpu = lm_cpu_of(backend),
                                  .shape = shape,
                                  .out = out,
                                  .sums = sums,
                                  .q = q,
                                  .k = k,
                                  .v = v,
                                  .v_stride = v_stride};
    team_run(attention.cpu->team, forward_part, &attention);
}

/* p = exp(scores - sums), and ds = scale * p * (dp - delta) in the place of dp. */
static void scores_back(float *restrict p, float *restrict dp, const float *restrict sums, int64_t sums_stride,
                        const float *restrict delta, float scale, int rows, int64_t keys, int64_t seen)
{
    FAST for (int i = 0; i < rows; i++)
    {
        float *restrict pi = p + i * keys, *restrict di = dp + i * keys;
        int64_t n = seen + i;
        float sum = sums[i * sums_stride], less = delta[i];
        for (int64_t j = 0; j < n; j++) {
            pi[j] = lm_exp(pi[j] - sum);
            di[j] = scale * pi[j] * (di[j] - less);
        }
        memset(pi + n, 0, (size_t)(keys - n) * sizeof *pi);
        memset(di + n, 0, (size_t)(keys - n) * sizeof *di);
    }
}

static float dot(const float *restrict a, const float *restrict b, int64_t count)
{
    FAST float sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void queries_back(const struct attention *at, const struct lm_text *text, int h, int from, int rows,
                         float *scratch)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, q_stride = shape->heads * d, k_stride = shape->kv_heads * d,
            kv = h / (shape->heads / shape->kv_heads);
    int64_t first = text->query + from, seen = text->keys - text->queries + from + 1, keys = seen + rows - 1;
    int64_t q = first * q_stride + h * d, k = text->key * k_stride + kv * d;
    const float *v = at->v + text->key * at->v_stride + kv * d;
    float *dv = at->dv + text->key * at->dv_stride + kv * d, scale = 1 / sqrtf((float)d), delta[BLOCK];
    float *p = scratch, *dp = scratch + rows * keys;
    for (int i = 0; i < rows; i++)
        delta[i] = dot(at->dout + q + i * q_stride, at->given + q + i * q_stride, d);
    lm_cpu_product(false, true, rows, keys, d, scale, at->q + q, q_stride, at->k + k, k_stride, 0, p, keys);
    lm_cpu_product(false, true, rows, keys, d, 1, at->dout + q, q_stride, v, at->v_stride, 0, dp, keys);
    scores_back(p, dp, at->sums + first * shape->heads + h, shape->heads, delta, scale, rows, keys, seen);
    lm_cpu_product(false, false, rows, d, keys, 1, dp, keys, at->k + k, k_stride, 0, at->dq + q, q_stride);
    lm_cpu_product(true, false, keys, d, rows, 1, dp, keys, at->q + q, q_stride, 1, at->dk + k, k_stride);
    lm_cpu_product(true, false, keys, d, rows, 1, p, keys, at->dout + q, q_stride, 1, dv, at->dv_stride);
}

/* All queries that see one text's keys in one of their heads: nobody else adds to their gradients. */
static void keys_back(const struct attention *at, const struct lm_text *text, int kv, float *scratch)
{
    const struct lm_heads *shape = &at->shape->heads;
    int64_t d = shape->size, k_stride = shape->kv_heads * d;
    int group = shape->heads / shape->kv_heads;
    for (int64_t j = 0; j < text->keys; j++) {
        memset(at->dk + (text->key + j) * k_stride + kv * d, 0, (size_t)d * sizeof *at->dk);
        memset(at->dv + (text->key + j) * at->dv_stride + kv * d, 0, (size_t)d * sizeof *at->dv);
    }
    for (int h = kv * group; h < (kv + 1) * group; h++)
        for (int from = 0; from < text->queries; from += BLOCK)
            queries_back(at, text, h, from, text->queries - from < BLOCK ? text->queries - from : BLOCK, scratch);
}

static void back_part(void *closure, int worker, int workers)
{
    struct attention *at = closure;
    int kv_heads = at->shape->heads.kv_heads;
    (void)workers;
    for (int item; (item = atomic_fetch_add(&at->next, 1)) < at->shape->count * kv_heads;) {
        const struct lm_text *text = &at->shape->texts[item / kv_heads];
        keys_back(at, text, item % kv_heads, lm_cpu_scratch(at->cpu, worker, (int64_t)2 * BLOCK * text->keys));
    }
}

void lm_cpu_attention_back(struct lm_backend *backend, void *dq, void *dk, void *dv, int dv_stride, const void *dout,
                           const void *out, const float *sums, const void *q, const void *k, const void *v,
                           int v_stride, const struct lm_attention *shape)
{
    struct attention attention = {.cpu = lm_cpu_of(backend),
                                  .shape = shape,
                                  .sums = (float *)sums,
                                  .dq = dq,
                                  .dk = dk,
                                  .dv = dv,
                                  .dv_stride = dv_stride,
                                  .dout = dout,
                                  .given = out,
                                  .q = q,
                                  .k = k,
                                  .v = v,
                                  .v_stride = v_stride};
    team_run(attention.cpu->team, back_part, &attention);
}
