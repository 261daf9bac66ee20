/* What a model costs, from its configuration: memory as the pass itself asks for it, and arithmetic. */
#ifndef LM_PLAN_H
#define LM_PLAN_H

#include "lm/adapters.h"

struct lm_plan_options {
    bool training;
    bool recompute;                             /* training: activations are made again */
    const struct lm_adapters_options *adapters; /* training: what is trained, or NULL: all */
    int tokens;                                 /* of a pass */
    int texts, longest;                         /* writing: texts at a time, and their tokens */
    bool int8;                                  /* writing: weights are int8 (int8.h) */
    bool online; /* training: the model writes its answers, `texts` of them at a time, beside a reference */
    int threads; /* 0: one for each processor */
};
/* Bytes, in float32. */
struct lm_plan {
    int64_t parameters, active, trained; /* active: those that a token goes through */
    int64_t weights, gradients, means, activations, cache, all;
    double operations; /* multiplications and additions for a token */
};
/* Errors: models with experts are not trained; adapters that cannot be. */
struct akgen_error *lm_plan(const struct lm_config *config, const struct lm_plan_options *options,
                            struct lm_plan *plan);

#endif
