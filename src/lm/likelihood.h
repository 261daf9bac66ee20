/* How probable texts are to a model that only reads them: the measure by which a corpus is sifted. */
#ifndef LM_LIKELIHOOD_H
#define LM_LIKELIHOOD_H

#include "base/error.h"

struct lm_likelihood;
/* Reads a folder's model and vocabulary. Of a text the first `longest` tokens are read, or as many as the model can. threads 0: one for each processor.
 * Errors: a file is missing or wrong; not enough memory. The caller frees. */
struct akgen_error *lm_likelihood_new(const char *folder, int longest, int threads, struct lm_likelihood **likelihood);
void lm_likelihood_free(struct lm_likelihood *likelihood);
/* A digest of the weights, 16 hexadecimal digits or more; it lives as long as the model. */
const char *lm_likelihood_model(const struct lm_likelihood *likelihood);
/* losses[i]: the mean of -log p over text i's tokens behind the first, whose exponential is its perplexity. NaN: it has fewer than two, or the
 * vocabulary's patterns take too many steps on it. The same texts in the same order have the same losses. */
void lm_likelihood_of(struct lm_likelihood *likelihood, const char *const *texts, int count, double *losses);

#endif
