/* Answers that a model writes to prompts, a group for each, and what they are worth: the first half of a step of online GRPO, and
 * what pairs for DPO are made of. */
#ifndef LM_ROLLOUT_H
#define LM_ROLLOUT_H

#include "base/text.h"
#include "lm/adapters.h"
#include "lm/judge.h"
#include "lm/samples.h"

struct lm_rollout_options {
    int group;   /* answers of a prompt */
    int most;    /* tokens of an answer */
    int longest; /* of prompt and answer; 0: what the model can read */
    uint64_t seed;
    int threads; /* 0: one for each processor */
    const struct lm_judge *judge;
    const struct lm_adapters *adapters; /* or NULL: the model alone writes */
    const float *adapter_weights;
};
struct lm_answer {
    int32_t *tokens; /* (count), with the one that ends it */
    int count;
    struct text text; /* without that one; bytes may be NULL */
    bool ended;
    struct lm_worth worth;
};
struct lm_rollout {
    struct lm_answer *answers; /* (prompts * group), the group of a prompt together */
    int prompts, group;
    int64_t written;         /* tokens of all answers */
    double writing, judging; /* seconds */
};

/* Writes answers to the prompts order[first..last) of `prompts` (LM_PROMPTS), drawn from the model's own distribution (temperature 1, nothing cut),
 * and has them judged. An answer is decided by weights, prompt, seed, round, the prompt's number and its place in the group alone.
 * Errors: no memory, and the judge's. The caller frees, after errors too. */
struct akgen_error *lm_rollout(struct lm_model *model, const struct lm_tokenizer *tokenizer,
                               const struct lm_samples *prompts, const int *order, int first, int last, int round,
                               const struct lm_rollout_options *options, struct lm_rollout *rollout);
void lm_rollout_free(struct lm_rollout *rollout);
/* Whether the answers of a prompt, counted from 0, are not all worth the same: others have no advantage over each other. */
bool lm_rollout_differs(const struct lm_rollout *rollout, int prompt);

#endif
