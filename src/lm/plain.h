/* The model as a textbook has it: loops in the order of the formulas, every activation in memory, sums in double. It is the
 * specification: the fast passes (pass.h) are tested against it. */
#ifndef LM_PLAIN_H
#define LM_PLAIN_H

#include "lm/batch.h"
#include "lm/model.h"

/* Takes a batch of N tokens through the model.
 * `logits` (N, V): scores of each next token; may be NULL.
 * `log_probs` (N): the logarithm of each label's probability, 0 where there is no label; may be NULL.
 * `gradients` (layout.size), added to: of the sum over the labels of factors[i] * log_probs[i]; may be NULL, as `factors` (N)
 * then. */
void lm_plain_pass(const struct lm_model *model, const struct lm_batch *batch, float *logits, float *log_probs,
                   const float *factors, float *gradients);

/* The operations, each with its gradient, which is added to what is there. All matrices lie row by row. */

/* y (n, out) = x (n, in) W^T, W (out, in). */
void lm_plain_linear(float *y, const float *x, const float *w, int n, int in, int out);
/* dx (n, in) += dy W;  dw (out, in) += dy^T x.  Either may be NULL. */
void lm_plain_linear_back(float *dx, float *dw, const float *dy, const float *x, const float *w, int n, int in,
                          int out);
/* Each row of x (n, c) over the root of its mean square, times w (c). */
void lm_plain_norm(float *y, const float *x, const float *w, float eps, int n, int c);
void lm_plain_norm_back(float *dx, float *dw, const float *dy, const float *x, const float *w, float eps, int n, int c);
/* Turns channels i and i + d/2 of each row's heads by position * theta^(-2i/d), in place; `sign` -1 turns back, which is the
 * gradient. x (n, heads, d). */
void lm_plain_rotate(float *x, const int *positions, float theta, int sign, int n, int heads, int d);
/* Causal attention inside a text of n tokens: out, q (n, heads, d); k, v (n, kv_heads, d); p (heads, n, n) keeps the softmax. */
void lm_plain_attention(float *out, float *p, const float *q, const float *k, const float *v, int n, int heads,
                        int kv_heads, int d);
void lm_plain_attention_back(float *dq, float *dk, float *dv, const float *dout, const float *p, const float *q,
                             const float *k, const float *v, int n, int heads, int kv_heads, int d);
/* y = silu(gate) * up, n elements each. */
void lm_plain_swiglu(float *y, const float *gate, const float *up, int64_t n);
void lm_plain_swiglu_back(float *dgate, float *dup, const float *dy, const float *gate, const float *up, int64_t n);
/* Which k of e experts each token takes, (n, k), the likeliest first, and their weights in its sum, (n, k), from the router's
 * scores (n, e). */
void lm_plain_route(int *chosen, float *weights, const float *scores, bool normalise, int n, int e, int k);
/* dscores (n, e) += what the weights' gradient dweights (n, k) makes of it. */
void lm_plain_route_back(float *dscores, const float *dweights, const float *scores, const int *chosen, bool normalise,
                         int n, int e, int k);

#endif
