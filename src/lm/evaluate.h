/* What a model makes of rows that it does not learn from: how probable their tokens are to it, and which of two answers it takes for the
 * better one. Rows are those of samples.h, of single texts or of pairs; those with a "source" are counted by it too. */
#ifndef LM_EVALUATE_H
#define LM_EVALUATE_H

#include "lm/samples.h"

struct lm_evaluate_options {
    const char *folder, *adapter; /* the model; PEFT's folder, or NULL */
    const char *reference;        /* of pairs: the model that margins are counted against, or NULL */
    double beta;                  /* of pairs with a reference */
    const char *const *data;
    int data_count;
    int tokens;  /* of a pass */
    int longest; /* tokens of a text, others are cut; 0: as long as the model can read */
    int threads; /* 0: one for each processor */
    bool int8;   /* the model's weights are rounded to int8 (int8.h) */
};
struct lm_evaluated {
    const char *source; /* NULL: of all rows */
    int rows;
    int64_t tokens, learned;
    double loss, accuracy; /* over learned tokens: the mean of -log p, and the share that is the most probable one */
    double chosen,
        rejected; /* pairs: means of an answer's log p, over all of its tokens; less the reference's, times beta */
    double right; /* pairs: share whose better answer has the larger one */
    double right_by_token; /* likewise of the means over an answer's tokens */
};
struct lm_evaluation {
    struct arena arena;
    bool pairs, referred; /* referred: against a reference */
    int cut, left_out;    /* rows */
    struct lm_evaluated all, *sources;
    int source_count; /* 0: no row has one; rows without one are "" otherwise */
};
/* The caller frees the arena, after errors too. Errors: a file is missing or wrong; there is nothing to learn in the rows. */
struct akgen_error *lm_evaluate(const struct lm_evaluate_options *options, struct lm_evaluation *evaluation);

#endif
