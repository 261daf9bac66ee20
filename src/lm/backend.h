/* What a pass through the model is made of, on whatever computes it: the CPU (cpu.h), or a GPU.
 *
 * Arrays lie in the backend's memory. An array of "elements" has the backend's own type (float32, bfloat16), which only it looks
 * at; gradients of parameters and whatever is declared as float are float32 there. Matrices lie row by row; `stride` counts
 * elements from a row to the next. What a gradient says is added to ("+=") has to hold something before. Operations on a
 * GPU may still run when the call returns; download waits for them. */
#ifndef LM_BACKEND_H
#define LM_BACKEND_H

#include "lm/batch.h"
#include "lm/config.h"

struct lm_backend;

/* Up to so many rows, what `linear` makes of a row does not depend on the other rows, to the last bit. */
enum { LM_FEW = 32 };

/* The heads of n rows. */
struct lm_heads {
    int n;               /* rows */
    int heads, kv_heads; /* H, KV */
    int size;            /* D */
    float eps;           /* of their norms */
};
/* Queries and the keys that they may see: a text's queries are those of its last keys, and none sees a later key. */
struct lm_text {
    int query, queries; /* the first row of q, and how many */
    int64_t key;        /* the first row of k and v */
    int keys;           /* how many, at least as many as queries */
};
struct lm_attention {
    struct lm_heads heads; /* n: queries in all */
    const struct lm_text *texts;
    int count;
};

/* A step of AdamW: m and v are running means of the gradient and its square, and
 *   w = w - rate * decay * w - rate / bias1 * m / (sqrt(v / bias2) + eps),  as PyTorch has it. */
struct lm_adamw {
    float rate, beta1, beta2, eps, decay;
    float bias1, bias2; /* 1 - beta^step */
    float scale;        /* what the gradient is multiplied with first: it was clipped, or is a sum of several */
};

struct lm_operations {
    const char *name; /* "cpu float32" */
    int element;      /* bytes */
    bool on_host;     /* arrays are the process's own memory, and elements float32 */

    /* Memory. It is not zeroed. NULL where there is none. */
    void *(*allocate)(struct lm_backend *backend, int64_t bytes);
    void (*release)(struct lm_backend *backend, void *array);
    void (*zero)(struct lm_backend *backend, void *array, int64_t bytes);
    void (*upload)(struct lm_backend *backend, void *to, const void *from, int64_t bytes);
    void (*download)(struct lm_backend *backend, void *to, const void *from, int64_t bytes);
    /* Elements from and to float32 on the host. */
    void (*narrow)(struct lm_backend *backend, void *to, const float *from, int64_t count);
    void (*widen)(struct lm_backend *backend, float *to, const void *from, int64_t count);

    /* y (n, out) = scale * x (n, in) W^T + keep * y, W (out, in); keep is 0 or 1. The strides are those of x and y. */
    void (*linear)(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const void *w, int n,
                   int in, int out, float scale, int keep);
    /* y (n, out) = x (n, in) W^T, row o of W (out, in) times scales[o]. NULL: the backend has none of it. */
    void (*linear_int8)(struct lm_backend *backend, void *y, int y_stride, const void *x, int x_stride, const int8_t *w,
                        const float *scales, int n, int in, int out);
    /* dx (n, in) = scale * dy (n, out) W + keep * dx. */
    void (*linear_dx)(struct lm_backend *backend, void *dx, int dx_stride, const void *dy, int dy_stride, const void *w,
                      int n, int in, int out, float scale, int keep);
    /* dw (out, in) = scale * dy^T x + keep * dw. */
    void (*linear_dw)(struct lm_backend *backend, float *dw, const void *dy, int dy_stride, const void *x, int x_stride,
                      int n, int in, int out, float scale, int keep);

    /* x (n, c) = the rows of the table (V, c) that the tokens name. */
    void (*embed)(struct lm_backend *backend, void *x, const void *table, const int32_t *tokens, int n, int c);
    /* dtable (V, c) += dx, by the tokens. */
    void (*embed_back)(struct lm_backend *backend, float *dtable, const void *dx, const int32_t *tokens, int n, int c);
    /* sum = x + more (more may be NULL: sum is x then, and may be NULL); y = w * sum / root of its mean square; scales (n) keeps 1 / that. */
    void (*norm)(struct lm_backend *backend, void *y, float *scales, void *sum, const void *x, const void *more,
                 const void *w, float eps, int n, int c);
    /* y again, from what the pass kept. */
    void (*norm_again)(struct lm_backend *backend, void *y, const float *scales, const void *x, const void *w, int n,
                       int c);
    /* dx (n, c) += , dw (c) += (dw may be NULL). */
    void (*norm_back)(struct lm_backend *backend, void *dx, float *dw, const void *dy, const float *scales,
                      const void *x, const void *w, int n, int c);
    /* q (n, H, D) and k (n, KV, D) = the parts of qkv (n, H + 2 KV, D), each head over the root of its mean square, times its weight,
     * and turned by its angles, (n, D): cosines of the D/2 pairs, then sines. */
    void (*rotate)(struct lm_backend *backend, void *q, void *k, const void *qkv, const void *q_norm,
                   const void *k_norm, const float *angles, const struct lm_heads *shape);
    /* The first H + KV heads of dqkv = their gradient; dq_norm, dk_norm (D) += (may be NULL). */
    void (*rotate_back)(struct lm_backend *backend, void *dqkv, float *dq_norm, float *dk_norm, const void *dq,
                        const void *dk, const void *qkv, const void *q_norm, const void *k_norm, const float *angles,
                        const struct lm_heads *shape);
    /* out, q (queries, H, D); k (keys, KV, D); v's rows are `v_stride` apart; sums (queries, H) keeps the logarithms of the softmaxes' sums. */
    void (*attention)(struct lm_backend *backend, void *out, float *sums, const void *q, const void *k, const void *v,
                      int v_stride, const struct lm_attention *shape);
    /* dq, dk = ; dv = , whose rows are `dv_stride` apart. */
    void (*attention_back)(struct lm_backend *backend, void *dq, void *dk, void *dv, int dv_stride, const void *dout,
                           const void *out, const float *sums, const void *q, const void *k, const void *v,
                           int v_stride, const struct lm_attention *shape);
    /* y (n, inner) = silu(gate) * up, gate and up beside each other in (n, 2 inner). */
    void (*swiglu)(struct lm_backend *backend, void *y, const void *gate_up, int n, int inner);
    void (*swiglu_back)(struct lm_backend *backend, void *dgate_up, const void *dy, const void *gate_up, int n,
                        int inner);
    /* Of scores (n, V): log_probs (n) of the labels; the scores become factors[i] times the gradient of log_probs[i] (factors may be
     * NULL: they stay); rows without a label have 0, and no gradient. */
    void (*log_probs)(struct lm_backend *backend, float *log_probs, void *scores, const int32_t *labels,
                      const float *factors, int n, int vocabulary);
    /* y (count, c) = rows of x; x's rows = those of y, which are `stride` apart; x's rows += factors * those of y. */
    void (*take_rows)(struct lm_backend *backend, void *y, const void *x, const int32_t *rows, int count, int c);
    void (*put_rows)(struct lm_backend *backend, void *x, const void *y, int stride, const int32_t *rows, int count,
                     int c);
    void (*add_rows)(struct lm_backend *backend, void *x, const void *y, const int32_t *rows, const float *factors,
                     int count, int c);
    /* The sum of the squares of a gradient. */
    double (*squares)(struct lm_backend *backend, const float *gradient, int64_t count);
    /* A step of `count` parameters; `elements`, which may be NULL, is what the pass uses of them. */
    void (*adamw)(struct lm_backend *backend, float *weights, void *elements, float *m, float *v, const float *gradient,
                  int64_t count, const struct lm_adamw *step);
};

struct lm_backend {
    const struct lm_operations *operations;
};

#endif
