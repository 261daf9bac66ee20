/* LoRA: to a matrix W (out, in) a product of two small ones is added, W + alpha / rank * B A with A (rank, in) and B (out, rank),
 * and only these are trained (Hu et al., 2021). Files are those of PEFT: adapter_config.json, adapter_model.safetensors. */
#ifndef LM_ADAPTERS_H
#define LM_ADAPTERS_H

#include "lm/model.h"

enum lm_target { LM_Q, LM_K, LM_V, LM_OUT, LM_GATE, LM_UP, LM_DOWN, LM_TARGETS };
struct lm_adapters_options {
    int rank;
    float alpha;
    bool targets[LM_TARGETS];
};
/* Where the two matrices of a target begin in an array of float32; -1: it has none. */
struct lm_adapter {
    int64_t a, b;
};
struct lm_adapters {
    struct lm_adapters_options options;
    struct lm_layout layout; /* its `parameters` and `size` alone: names as PEFT has them */
    struct lm_adapter (*layers)[LM_TARGETS];
};

/* Lays out adapters for a dense model. Errors: it has experts; a rank below 1; no target. */
struct akgen_error *lm_adapters_make(struct lm_adapters *adapters, const struct lm_layout *model,
                                     const struct lm_adapters_options *options);
void lm_adapters_free(struct lm_adapters *adapters);
/* A new adapter changes nothing: B is zero, and A uniform in +-1/sqrt(in), as PEFT has it. */
float *lm_adapters_new(const struct lm_adapters *adapters, struct rng *rng);
/* Adds the products to a model's weights. */
void lm_adapters_merge(const struct lm_adapters *adapters, const float *weights, struct lm_model *model);
/* Reads and writes PEFT's two files. `base`: the model that they belong to, as adapter_config.json names it. */
struct akgen_error *lm_adapters_read(const char *folder, const struct lm_layout *model, struct lm_adapters *adapters,
                                     float **weights);
struct akgen_error *lm_adapters_write(const struct lm_adapters *adapters, const float *weights, const char *folder,
                                      const char *base);
/* Reads a folder's model, with the adapters of another (NULL: none) merged into it. */
struct akgen_error *lm_model_read_merged(struct lm_model *model, const char *folder, const char *adapter);
/* The matrix of a target in a layer: its offset in the model, and its sizes. */
void lm_target_matrix(const struct lm_config *config, const struct lm_layer *layer, enum lm_target target,
                      int64_t *offset, int *in, int *out);
/* "q_proj", .. */
extern const char *const lm_target_names[LM_TARGETS];

#endif
