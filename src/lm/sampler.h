/* The next token, drawn from scores. In transformers' order: the scores over the temperature, then the top_k largest, of these the fewest whose
 * probabilities reach top_p, of these the ones that are at least min_p times as probable as the first. */
#ifndef LM_SAMPLER_H
#define LM_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct lm_sampling {
    double temperature; /* 0: always the most probable, the first of equals */
    int top_k;          /* 0: all */
    double top_p;       /* 1: all */
    double min_p;       /* 0: all */
    uint64_t seed;      /* with a token's place in its text it decides the draw, whatever else is drawn */
};
extern const struct lm_sampling lm_sampling_defaults; /* temperature 1, nothing cut, seed 0 */

/* Room for draws; the caller frees. */
struct lm_sampler;
struct lm_sampler *lm_sampler_new(int vocabulary);
void lm_sampler_free(struct lm_sampler *sampler);
/* A token of the text whose place is `place`. scores (V); those that are -INFINITY are never drawn. */
int32_t lm_sampler_draw(struct lm_sampler *sampler, const float *scores, const struct lm_sampling *sampling, int place);

/* Whether a token can be drawn from scores: none is NaN or infinitely large, and one is finite. */
bool lm_scores_are_numbers(const float *scores, int vocabulary);

struct lm_likely {
    int32_t token;
    float log_prob;
};
/* The logarithm of a token's probability before temperature and cuts, and of the `count` most probable ones, these first. */
float lm_log_prob(const float *scores, int vocabulary, int32_t token, struct lm_likely *likely, int count);

#endif
