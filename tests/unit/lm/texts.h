/* Texts of random tokens for the tests of passes. */
#ifndef UNIT_LM_TEXTS_H
#define UNIT_LM_TEXTS_H

#include "base/random.h"
#include "lm/batch.h"

struct texts {
    struct lm_batch batch;
    int32_t tokens[1024], labels[1024];
    float factors[1024];
    int starts[16], n;
};

/* Of these lengths; some tokens have no label. */
static inline void make_texts(struct texts *texts, const int *lengths, int count, int vocabulary)
{
    struct rng rng;
    rng_seed(&rng, 5);
    *texts = (struct texts){0};
    for (int t = 0; t < count; t++)
        texts->starts[t + 1] = texts->n += lengths[t];
    for (int i = 0; i < texts->n; i++) {
        texts->tokens[i] = (int32_t)rng_integer(&rng, 0, vocabulary);
        texts->labels[i] = rng_uniform(&rng) < 0.3 ? LM_NO_LABEL : (int32_t)rng_integer(&rng, 0, vocabulary);
        texts->factors[i] = (float)rng_normal(&rng);
    }
    texts->batch = (struct lm_batch){texts->tokens, texts->labels, texts->starts, count};
}

#endif
