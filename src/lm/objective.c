/* Losses and their derivatives. */
#include "lm/objective.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool learned(const struct lm_batch *batch, int i)
{
    return batch->labels[i] != LM_NO_LABEL;
}

/* The sum of log p - log ref over a text's tokens. */
static double gain(const struct lm_batch *batch, int text, const float *log_probs, const float *reference)
{
    double sum = 0;
    for (int i = batch->starts[text]; i < batch->starts[text + 1]; i++)
        if (learned(batch, i))
            sum += (double)log_probs[i] - reference[i];
    return sum;
}

static void spread(const struct lm_batch *batch, int text, double factor, float *factors)
{
    for (int i = batch->starts[text]; i < batch->starts[text + 1]; i++)
        factors[i] = learned(batch, i) ? (float)factor : 0;
}

static void sft(const struct lm_batch *batch, double whole, const float *log_probs, struct lm_objective_sums *sums,
                float *factors)
{
    for (int i = 0; i < lm_batch_tokens(batch); i++)
        if (learned(batch, i)) {
            sums->loss -= log_probs[i] / whole;
            factors[i] = (float)(-1 / whole);
        }
}

static void dpo(double beta, const struct lm_batch *batch, double whole, const float *log_probs, const float *reference,
                struct lm_objective_sums *sums, float *factors)
{
    for (int pair = 0; pair < batch->texts; pair += 2) {
        double chosen = beta * gain(batch, pair, log_probs, reference),
               rejected = beta * gain(batch, pair + 1, log_probs, reference), margin = chosen - rejected;
        double factor = beta / (1 + exp(margin)) / whole; /* beta * sigmoid(-margin) */
        sums->loss += (margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin) / whole;
        sums->chosen += chosen;
        sums->rejected += rejected;
        sums->right += margin > 0;
        spread(batch, pair, -factor, factors);
        spread(batch, pair + 1, factor, factors);
    }
}

/* (reward - mean) / (standard deviation + 1e-4), of a group. */
static double advantage(const float *rewards, int group, int which)
{
    double mean = 0, square = 0;
    for (int i = 0; i < group; i++)
        mean += rewards[i] / (double)group;
    for (int i = 0; i < group; i++)
        square += (rewards[i] - mean) * (rewards[i] - mean) / (group - 1);
    return (rewards[which] - mean) / (sqrt(square) + 1e-4);
}

static void grpo(const struct lm_objective_options *options, const struct lm_batch *batch, int text, double share,
                 double advantage, const float *log_probs, const float *reference, const float *old,
                 struct lm_objective_sums *sums, float *factors)
{
    int count = 0;
    for (int i = batch->starts[text]; i < batch->starts[text + 1]; i++)
        count += learned(batch, i);
    for (int i = batch->starts[text]; i < batch->starts[text + 1]; i++) {
        if (!learned(batch, i))
            continue;
        double ratio = old ? exp((double)log_probs[i] - old[i]) : 1, apart = (double)reference[i] - log_probs[i];
        double clipped = fmin(fmax(ratio, 1 - options->clip), 1 + options->clip);
        double kl = exp(apart) - apart - 1;
        bool free = ratio * advantage <= clipped * advantage; /* the minimum is the one that changes with p */
        double part = share / count;
        sums->loss += part * (options->beta * kl - fmin(ratio * advantage, clipped * advantage));
        sums->kl += kl / count;
        factors[i] = (float)(part * (options->beta * (1 - exp(apart)) - (free ? ratio * advantage : 0)));
    }
}

void lm_objective(const struct lm_objective_options *options, const struct lm_batch *batch, double whole,
                  const float *log_probs, const float *reference, const float *old, const float *rewards, int group,
                  struct lm_objective_sums *sums, float *factors)
{
    memset(factors, 0, (size_t)lm_batch_tokens(batch) * sizeof *factors);
    if (options->kind == LM_SFT)
        sft(batch, whole, log_probs, sums, factors);
    else if (options->kind == LM_DPO)
        dpo(options->beta, batch, whole, log_probs, reference, sums, factors);
    else
        for (int text = 0; text < batch->texts; text++)
            grpo(options, batch, text, 1 / whole, advantage(rewards + text / group * group, group, text % group),
                 log_probs, reference, old, sums, factors);
}
