/* A model with a larger vocabulary: texts that are one token of it wherever they stand. The embedding of each begins as the mean of those of the
 * tokens that the text was before, and so does its row of the output matrix. */
#ifndef LM_EXTEND_H
#define LM_EXTEND_H

#include "base/error.h"

struct lm_extend_options {
    const char *folder; /* the model */
    const char *const *texts;
    int count;
    const char *out; /* which may not be there yet */
};
struct lm_extended {
    long long parameters;
    int vocabulary; /* before: less by the texts */
};
/* Writes a folder that is whole or not there, in the type of the model's embedding. Errors: `out` is there; a file is missing or wrong; rows of the
 * embedding are no tokens, so that new ones have no place behind the old; a text that is a token already, is empty, or is no UTF-8. */
struct akgen_error *lm_extend(const struct lm_extend_options *options, struct lm_extended *extended);

#endif
