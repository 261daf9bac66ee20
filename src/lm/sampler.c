/* Cuts and draws. */
#include "lm/sampler.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

const struct lm_sampling lm_sampling_defaults = {.temperature = 1, .top_p = 1};

struct candidate {
    float score;
    int32_t token;
    double weight; /* in proportion to its probability, the largest has 1 */
};
struct lm_sampler {
    int vocabulary;
    struct candidate *candidates;
};

struct lm_sampler *lm_sampler_new(int vocabulary)
{
    struct lm_sampler *sampler = memory_alloc(sizeof *sampler);
    sampler->vocabulary = vocabulary;
    sampler->candidates = memory_alloc((size_t)vocabulary * sizeof *sampler->candidates);
    return sampler;
}

void lm_sampler_free(struct lm_sampler *sampler)
{
    if (sampler)
        free(sampler->candidates);
    free(sampler);
}

static int32_t largest(const float *scores, int vocabulary)
{
    int32_t best = 0;
    for (int32_t token = 1; token < vocabulary; token++)
        if (scores[token] > scores[best])
            best = token;
    return best;
}

/* The larger score first, of equals the smaller token. */
static int by_score(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (a->token > b->token) - (a->token < b->token);
}

/* Candidates whose weight is at least `least`. */
static int keep(struct candidate *candidates, int count, double least)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (candidates[i].weight >= least)
            candidates[kept++] = candidates[i];
    return kept;
}

static double sum_of(const struct candidate *candidates, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += candidates[i].weight;
    return sum;
}

/* Of sorted candidates the first that together have `share` of all weights. */
static int cut_share(const struct candidate *candidates, int count, double total, double share)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        if ((sum += candidates[i].weight) >= share * total)
            return i + 1;
    return count;
}

int32_t lm_sampler_draw(struct lm_sampler *sampler, const float *scores, const struct lm_sampling *sampling, int place)
{
    int32_t best = largest(scores, sampler->vocabulary);
    if (sampling->temperature <= 0)
        return best;
    struct candidate *candidates = sampler->candidates;
    int count = 0;
    for (int32_t token = 0; token < sampler->vocabulary; token++)
        if (scores[token] > -INFINITY)
            candidates[count++] = (struct candidate){
                scores[token], token, exp(((double)scores[token] - scores[best]) / sampling->temperature)};
    if (sampling->top_k > 0 && sampling->top_k < count) {
        qsort(candidates, (size_t)count, sizeof *candidates, by_score);
        count = sampling->top_k;
    }
    if (sampling->top_p < 1) {
        /* What is smaller than this is, all together, less than what is cut: it need not be sorted. */
        double total = sum_of(candidates, count);
        count = keep(candidates, count, (1 - sampling->top_p) * total / count);
        qsort(candidates, (size_t)count, sizeof *candidates, by_score);
        count = cut_share(candidates, count, total, sampling->top_p);
    }
    if (sampling->min_p > 0)
        count = keep(candidates, count, sampling->min_p < 1 ? sampling->min_p : 1);
    struct rng rng;
    rng_seed(&rng, sampling->seed + 0x9e3779b97f4a7c15U * (uint64_t)(place + 1));
    double rest = rng_uniform(&rng) * sum_of(candidates, count);
    for (int i = 0; i < count; i++)
        if ((rest -= candidates[i].weight) < 0)
            return candidates[i].token;
    return candidates[count - 1].token;
}

bool lm_scores_are_numbers(const float *scores, int vocabulary)
{
    bool any = false, all = true;
    for (int i = 0; i < vocabulary; i++) {
        all &= scores[i] < INFINITY;
        any |= scores[i] > -INFINITY;
    }
    return all && any;
}

float lm_log_prob(const float *scores, int vocabulary, int32_t token, struct lm_likely *likely, int count)
{
    double sum = 0;
    float most = scores[largest(scores, vocabulary)];
    for (int i = 0; i < vocabulary; i++)
        sum += exp((double)scores[i] - most);
    double all = most + log(sum);
    int found = 0;
    for (int32_t i = 0; i < vocabulary && count; i++) {
        if (found == count && !(scores[i] - all > likely[count - 1].log_prob))
            continue;
        int at = found < count ? found++ : count - 1;
        for (; at > 0 && (float)(scores[i] - all) > likely[at - 1].log_prob; at--)
            likely[at] = likely[at - 1];
        likely[at] = (struct lm_likely){i, (float)(scores[i] - all)};
    }
    return (float)(scores[token] - all);
}
