/* How weights change: AdamW under a rate that warms up and falls, and gradients clipped by their norm; as transformers' Trainer
 * has it, step by step. */
#ifndef LM_OPTIMIZER_H
#define LM_OPTIMIZER_H

#include "lm/backend.h"
#include "lm/model.h"

#include <stdbool.h>

struct lm_optimizer_options {
    double rate; /* the largest */
    bool cosine; /* it falls to 0 by half a cosine; otherwise it stays */
    int warmup;  /* steps in which it rises from 0: the first one's is 0, as transformers has it */
    int steps;   /* in all */
    double beta1, beta2, eps;
    double decay; /* of matrices; vectors, which are norms' weights, have none */
    double clip;  /* the gradient's largest norm; 0: any */
};
/* PyTorch's: betas 0.9 and 0.999, eps 1e-8; no decay, clipped at 1. */
extern const struct lm_optimizer_options lm_optimizer_defaults;

/* Running means of the gradient and its square, as long as the parameters, in the backend's memory. */
struct lm_optimizer {
    struct lm_optimizer_options options;
    struct lm_backend *backend;
    const struct lm_layout *layout;
    float *m, *v;
    int step; /* steps done */
};

/* All zero. Errors: the backend has no memory for them. The caller frees. */
struct akgen_error *lm_optimizer_new(struct lm_optimizer *optimizer, struct lm_backend *backend,
                                     const struct lm_layout *layout, const struct lm_optimizer_options *options);
void lm_optimizer_free(struct lm_optimizer *optimizer);
/* The rate of step `step`, counted from 0. */
double lm_optimizer_rate(const struct lm_optimizer_options *options, int step);
/* One step. weights, gradient: the layout's, in the backend's memory; elements: what a pass uses of them, or NULL. Returns the
 * gradient's norm before it is clipped; if that is no finite number, nothing changes but the count of steps. */
double lm_optimizer_step(struct lm_optimizer *optimizer, float *weights, void *elements, const float *gradient);

#endif
