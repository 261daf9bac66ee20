/* What training makes smaller, as a function of the log-probabilities that the model gives to the learned tokens; each objective
 * says how its loss changes with each of them, and the pass does the rest.
 *   SFT   the mean of -log p over the learned tokens of a step
 *   DPO   the mean over pairs of -log sigmoid(beta * ((log p - log ref) of the better - the same of the worse)), sums over their tokens
 *         (Rafailov et al., 2023)
 *   GRPO  the mean over texts of the mean over their tokens of -min(r A, clip(r, 1 - e, 1 + e) A) + beta * (ref/p - log(ref/p) - 1), r = p / old,
 *         A = (reward - mean of its group) / (their standard deviation + 1e-4)
 *         (Shao et al., 2024; TRL's loss_type "grpo") */
#ifndef LM_OBJECTIVE_H
#define LM_OBJECTIVE_H

#include "lm/batch.h"

enum lm_objective { LM_SFT, LM_DPO, LM_GRPO };
struct lm_objective_options {
    enum lm_objective kind;
    double beta; /* of DPO and GRPO */
    double clip; /* e of GRPO */
};

/* Of a batch; all sums, for batches make a step together. */
struct lm_objective_sums {
    double loss;             /* its share of the step's */
    double chosen, rejected; /* DPO: beta * (log p - log ref), over pairs */
    double right;            /* DPO: pairs whose better text has the larger one */
    double kl;               /* GRPO: over texts, of their tokens' mean */
};

/* `whole`: what the step's mean is over: learned tokens (SFT), pairs (DPO), texts (GRPO). log_probs (N): now; reference (N), old (N): of the model at
 * the begin (unused by SFT; old NULL: log_probs are). rewards: of the batch's texts, groups of `group` one behind the other (GRPO). Adds to the sums, and sets factors (N) to
 * the derivatives of the loss. */
void lm_objective(const struct lm_objective_options *options, const struct lm_batch *batch, double whole,
                  const float *log_probs, const float *reference, const float *old, const float *rewards, int group,
                  struct lm_objective_sums *sums, float *factors);

#endif
