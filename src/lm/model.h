/* The parameters of a model, in one array of float32, and where each of them is.
 *
 * Matrices are stored as Hugging Face's Linear has them, (outputs, inputs), row by row. What is multiplied with the same
 * input lies together: a layer's q, k and v are one matrix, and so are gate and up. */
#ifndef LM_MODEL_H
#define LM_MODEL_H

#include "base/random.h"
#include "lm/config.h"
#include "lm/safetensors.h"

/* Where the parameters of a layer begin, counted in elements. C = hidden, H, KV = heads, D = head_size, E = experts. */
struct lm_layer {
    int64_t attention_norm; /* (C) */
    int64_t q, k, v;        /* (H*D, C), (KV*D, C), (KV*D, C): one matrix of (H + 2*KV)*D rows */
    int64_t q_norm, k_norm; /* (D) each */
    int64_t out;            /* (C, H*D) */
    int64_t mlp_norm;       /* (C) */
    int64_t router;         /* (E, C), or -1 in a dense layer */
    int64_t gate, up;    /* (I, C) each, one matrix; with experts expert 0's, and expert e's is e * expert_size later */
    int64_t down;        /* (C, I); the same */
    int64_t expert_size; /* elements from an expert's matrices to the next one's; 0 in a dense layer */
    int inner;           /* I: of the MLP, or of each expert */
};
/* A parameter as files have it. */
struct lm_parameter {
    char *name;
    int rank; /* 1 or 2 */
    int64_t shape[2], offset, count;
};
struct lm_layout {
    struct arena arena;
    struct lm_config config;
    int64_t embedding;               /* (V, C) */
    struct lm_layer *layers;         /* L of them */
    int64_t norm;                    /* (C): the last one */
    int64_t head;                    /* (V, C): the embedding's where they are tied */
    int64_t size;                    /* elements of all */
    struct lm_parameter *parameters; /* by their offsets */
    int count;
};
struct lm_model {
    struct lm_layout layout;
    float *weights; /* layout.size of them */
};

/* Lays out the parameters of a configuration. */
void lm_layout_make(struct lm_layout *layout, const struct lm_config *config);
void lm_layout_free(struct lm_layout *layout);
/* What the published models count: parameters, of which those of the experts that a token does not go through are idle. */
int64_t lm_layout_active(const struct lm_layout *layout);

/* A new model: matrices and embeddings normal with the configuration's spread, norms 1. */
void lm_model_new(struct lm_model *model, const struct lm_config *config, struct rng *rng);
/* A whole tensor of weights. An error where one is NaN or infinite, which tells the first. */
struct akgen_error *lm_weights_read(const struct lm_tensors *tensors, const struct lm_tensor *tensor, float *weights);
/* Reads a folder's config.json and safetensors files. Errors: a file is missing or wrong; a parameter is missing, has another
 * shape, is none of the model's, or holds what is no finite number. The caller frees. */
struct akgen_error *lm_model_read(struct lm_model *model, const char *folder);
/* The type of a folder's embedding. */
struct akgen_error *lm_model_type(const char *folder, enum lm_dtype *dtype);
/* Writes config.json and safetensors files (safetensors.h) of at most `largest` bytes each into an existing folder. */
struct akgen_error *lm_model_write(const struct lm_model *model, const char *folder, enum lm_dtype dtype,
                                   int64_t largest);
void lm_model_free(struct lm_model *model);

#endif
