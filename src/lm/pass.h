/* Batches through a model and back on a backend: what plain.h specifies, fast. Kept for the way back is what a layer cannot make
 * again quickly; attention never has a matrix of all tokens by all, and the scores of the vocabulary exist for some rows at a
 * time. */
#ifndef LM_PASS_H
#define LM_PASS_H

#include "lm/adapters.h"
#include "lm/backend.h"
#include "lm/int8.h"
#include "lm/model.h"

struct lm_pass_options {
    int tokens;    /* of the largest batch */
    bool training; /* there is a way back */
    /* Of each layer only what comes in is kept; the way back computes the rest again, for a third more time. */
    bool checkpoint;
    const struct lm_adapters *adapters; /* or NULL; the way back gives their gradients then, in place of the model's */
    const float *adapter_weights;
    /* Or NULL: what matrices multiply with, but for embeddings and routers. There is no way back then. */
    const struct lm_int8 *int8;
};
struct lm_pass;

/* `weights`: the layout's parameters, on the host. A backend on the host uses them where they are; others copy them, and again
 * when lm_pass_weights says that they have changed. Errors: not enough memory, said with how much is asked for. The caller frees. */
struct akgen_error *lm_pass_new(struct lm_backend *backend, const struct lm_layout *layout, const float *weights,
                                const struct lm_pass_options *options, struct lm_pass **pass);
void lm_pass_free(struct lm_pass *pass);
void lm_pass_weights(struct lm_pass *pass, const float *weights);
void lm_pass_adapters(struct lm_pass *pass, const float *weights);
/* What the pass multiplies with, of the parameters that are trained (the model's, or the adapters'): elements in the backend's memory,
 * which lm_operations.adamw writes beside its float32 weights. NULL on the host, where there are none but those weights. */
void *lm_pass_elements(struct lm_pass *pass);

/* Takes a batch through all layers. Its arrays have to stay until the next one. */
void lm_pass_forward(struct lm_pass *pass, const struct lm_batch *batch);

/* Keys and values of texts that go on: `cells` rows for each layer, one a token; whose is which is the caller's to know. Errors: not
 * enough memory. The caller frees it, before the pass. */
struct lm_cache;
struct akgen_error *lm_cache_new(struct lm_pass *pass, int64_t cells, struct lm_cache **cache);
void lm_cache_free(struct lm_cache *cache);
/* Bytes of a cell, in all layers. */
int64_t lm_cache_bytes(const struct lm_pass *pass);
/* Cells [from, from + count) are also those from `to` on, in all layers. For backends on the host. */
void lm_cache_copy(struct lm_cache *cache, int64_t to, int64_t from, int64_t count);
/* As lm_pass_forward, of texts whose first past[t] tokens the cache has in the cells from cells[t] on: the batch's are those behind
 * them, and come to lie there too. There is no way back. */
void lm_pass_continue(struct lm_pass *pass, const struct lm_batch *batch, struct lm_cache *cache, const int64_t *cells,
                      const int *past);
/* Scores (count, V) of what comes behind these rows of the batch. */
void lm_pass_scores(struct lm_pass *pass, const int32_t *rows, int count, float *scores);
/* The logarithm of each label's probability (N), 0 where there is none. */
void lm_pass_log_probs(struct lm_pass *pass, float *log_probs);
/* The same; and `gradients` (the layout's or the adapters', float32 in the backend's memory) += that of the sum of factors[i] * log_probs[i].
 * factors (N) on the host. Once for each forward. */
void lm_pass_backward(struct lm_pass *pass, const float *factors, float *log_probs, float *gradients);
/* What `gradients` hold is forgotten, as if they were zeroed: a backward pass has to follow, which writes those of matrices and adds to the others. */
void lm_pass_renew(struct lm_pass *pass, float *gradients);

#endif
