/* What a run learns from, and which rows each of its steps takes: the same for whatever computes the steps. */
#ifndef LM_COURSE_H
#define LM_COURSE_H

#include "lm/samples.h"
#include "lm/train.h"

struct lm_course {
    const struct lm_train_options *options;
    const struct lm_samples *samples;
    int steps, steps_of_an_epoch, warmup;
    int *order, epoch; /* of the samples' groups, and which epoch's it is; -1: none yet */
};

/* Reads a run's rows; `eval` stays empty where there are none. tokenizer: of the model's folder, or NULL if it has none; the caller frees it and
 * both sets, after errors too. Errors: a file is missing or wrong; there is nothing to learn. */
struct akgen_error *lm_course_read(const struct lm_train_options *options, const struct lm_config *config,
                                   struct lm_tokenizer **tokenizer, struct lm_samples *data, struct lm_samples *eval);
/* Counts the steps. Options and samples have to stay. The caller frees. */
void lm_course_make(struct lm_course *course, const struct lm_train_options *options, const struct lm_samples *samples);
void lm_course_free(struct lm_course *course);
/* The groups of a step, counted from 0: [*first, *last) of course->order. */
void lm_course_step(struct lm_course *course, int step, int *first, int *last);
/* What the mean of some groups is over: learned tokens (SFT), pairs (DPO), texts (GRPO). */
double lm_course_whole(const struct lm_train_options *options, const struct lm_samples *samples, const int *order,
                       int first, int last);

#endif
