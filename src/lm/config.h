/* config.json of a language model: Qwen3's architecture, dense (Qwen3ForCausalLM) or with experts (Qwen3MoeForCausalLM), as
 * transformers 4.51 reads it. What a file asks for beyond that is refused by its name. */
#ifndef LM_CONFIG_H
#define LM_CONFIG_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LM_MAX_LAYERS = 1024, LM_NO_TOKEN = -1 };

struct lm_config {
    int vocabulary;             /* V: rows of the embedding, at least the tokenizer's ids */
    int hidden;                 /* C: channels between the layers */
    int layers;                 /* L */
    int heads, kv_heads;        /* H query heads, which share KV heads in groups of H / KV */
    int head_size;              /* D, even; H * D need not be C */
    int intermediate;           /* I: channels inside a dense layer's MLP */
    int max_positions;          /* what a text may be long */
    float rope_theta;           /* base of the rotary angles */
    float norm_eps;             /* added to the mean square in RMSNorm */
    float initial_spread;       /* standard deviation of the matrices of a new model */
    bool tied;                  /* the output matrix is the embedding */
    int begin_token, end_token; /* or LM_NO_TOKEN; generation_config.json may name more ends */

    /* Experts: 0 of them is a dense model. */
    int experts, experts_per_token;  /* E, K */
    int expert_intermediate;         /* channels inside an expert */
    bool normalise_experts;          /* the K weights of a token are divided by their sum */
    bool dense_layer[LM_MAX_LAYERS]; /* has an MLP instead of experts */
};

/* Reads a file of at most 1 MiB. Errors name the file, the field, and what would be right; sizes whose products leave 2^40
 * parameters are refused before anything is allocated. */
struct akgen_error *lm_config_read(const char *path, struct lm_config *config);
/* The same of a text in memory, which `path` names in errors. */
struct akgen_error *lm_config_parse(const char *path, const char *json, size_t length, struct lm_config *config);
/* Writes what transformers and vLLM read; `dtype`: the type of the weights beside it, "float32" or "bfloat16". */
struct akgen_error *lm_config_write(const char *path, const struct lm_config *config, const char *dtype);
/* True if layer `layer` has experts. */
static inline bool lm_config_sparse(const struct lm_config *config, int layer)
{
    return config->experts > 0 && !config->dense_layer[layer];
}

#endif
