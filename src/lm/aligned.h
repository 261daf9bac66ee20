/* Answers of a grammar with the probabilities that the model gives them among all answers of it. Taking tokens out at each place alone does not: it leads into
 * beginnings that the model finds likely only as those of other texts, `clip` in front of a name that is not there, and what follows is noise.
 *
 * A text is drawn several times, until one is accepted. What a draw shows is kept as a tree of beginnings: for each the share of the model's
 * probability behind it that the grammar leaves, as far as it is known, an upper bound. A draw weighs tokens by that, and each place that it is the
 * first to come to has a share of its own: their product is the probability with which the draw is accepted. That is rejection sampling whose
 * envelope each rejection makes tighter (Dymetman, Bouchard and Carter, "The OS* algorithm", 2012; of grammars: Park et al., "Grammar-Aligned Decoding", 2024),
 * exact where temperature alone forms the draw; cuts by top_k, top_p and min_p are made of the weighed tokens. The last draw is accepted whatever it is. */
#ifndef LM_ALIGNED_H
#define LM_ALIGNED_H

#include "lm/sampler.h"

enum { LM_MOST_TRIES = 1024 };
struct lm_aligned;
/* For one text, which is drawn at most `tries` times; the temperature must not be 0. The caller frees. */
struct lm_aligned *lm_aligned_new(int vocabulary, const struct lm_sampling *sampling, int tries);
void lm_aligned_free(struct lm_aligned *aligned);

/* Before each token: scores (V) of the model; allowed (V): those of the tokens that the grammar allows, -INFINITY of others, at least one. Weighs
 * `allowed`. False: the draw is not accepted, the text begins anew. */
bool lm_aligned_weigh(struct lm_aligned *aligned, const float *scores, float *allowed);
/* The token that was drawn from what was weighed. */
void lm_aligned_take(struct lm_aligned *aligned, int32_t token);
/* What was drawn comes to no end. False: it was the last draw, and is accepted; else the text begins anew. */
bool lm_aligned_reject(struct lm_aligned *aligned);
/* A number of the draw's own for a place in the text, as lm_sampler_draw wants it: the first has the places of the text. */
int lm_aligned_place(const struct lm_aligned *aligned, int written);

#endif
