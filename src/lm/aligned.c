/* The tree of beginnings. */
#include "lm/aligned.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1, PLACES = 1 << 20 };

/* A beginning: its parent's, and a token behind it. */
struct beginning {
    int32_t token;
    int parent, child, sibling; /* NONE: there is none */
    double share;               /* of its token, by the model, behind the parent */
    double rest;                /* of the tokens that are allowed behind it and were not drawn yet */
    double mass;                /* at most so much of what follows it is of the grammar */
    bool seen;                  /* a draw came here: rest and mass are known */
};
struct lm_aligned {
    int vocabulary, tries, drawn; /* drawn: the draws before this one */
    struct lm_sampling sampling;
    struct beginning *beginnings;
    int count, room, at;
    double *shares;         /* (V), of the tokens that `rest` is of at the place at which the draw is; 0 of others */
    double accepted, least; /* the product so far; the draw is not accepted below `least` */
};

static int add(struct lm_aligned *aligned, int parent, int32_t token, double share)
{
    if (aligned->count == aligned->room) {
        aligned->room = aligned->room ? 2 * aligned->room : 64;
        aligned->beginnings = memory_grow(aligned->beginnings, (size_t)aligned->room * sizeof *aligned->beginnings);
    }
    aligned->beginnings[aligned->count] =
        (struct beginning){.token = token, .parent = parent, .child = NONE, .sibling = NONE, .share = share, .mass = 1};
    if (parent != NONE) {
        aligned->beginnings[aligned->count].sibling = aligned->beginnings[parent].child;
        aligned->beginnings[parent].child = aligned->count;
    }
    return aligned->count++;
}

/* A draw begins, with a number below which it is not accepted; the last one has none. */
static void begin(struct lm_aligned *aligned)
{
    struct rng rng;
    rng_seed(&rng, aligned->sampling.seed + 0xd1b54a32d192ed03U * (uint64_t)(aligned->drawn + 1));
    aligned->at = 0;
    aligned->accepted = 1;
    aligned->least = aligned->drawn + 1 < aligned->tries ? rng_uniform(&rng) : -1;
}

struct lm_aligned *lm_aligned_new(int vocabulary, const struct lm_sampling *sampling, int tries)
{
    struct lm_aligned *aligned = memory_alloc(sizeof *aligned);
    *aligned = (struct lm_aligned){.vocabulary = vocabulary, .tries = tries, .sampling = *sampling};
    aligned->shares = memory_alloc((size_t)vocabulary * sizeof *aligned->shares);
    add(aligned, NONE, -1, 1);
    begin(aligned);
    return aligned;
}

void lm_aligned_free(struct lm_aligned *aligned)
{
    if (aligned) {
        free(aligned->beginnings);
        free(aligned->shares);
    }
    free(aligned);
}

/* The model's probability of each token, at the temperature. */
static void find_shares(struct lm_aligned *aligned, const float *scores)
{
    double sum = 0, most = -INFINITY;
    for (int i = 0; i < aligned->vocabulary; i++)
        most = scores[i] > most ? scores[i] : most;
    for (int i = 0; i < aligned->vocabulary; i++)
        sum += aligned->shares[i] = exp((scores[i] - most) / aligned->sampling.temperature);
    for (int i = 0; i < aligned->vocabulary; i++)
        aligned->shares[i] /= sum;
}

/* What a beginning's mass is by what is known of those behind it. */
static double mass_of(const struct lm_aligned *aligned, int at)
{
    const struct beginning *beginning = &aligned->beginnings[at];
    double mass = beginning->rest;
    for (int i = beginning->child; i != NONE; i = aligned->beginnings[i].sibling)
        mass += aligned->beginnings[i].share * aligned->beginnings[i].mass;
    return mass;
}

bool lm_aligned_reject(struct lm_aligned *aligned)
{
    if (aligned->least < 0)
        return false;
    for (int i = aligned->at; i != NONE; i = aligned->beginnings[i].parent)
        if (aligned->beginnings[i].seen)
            aligned->beginnings[i].mass = mass_of(aligned, i);
        else
            aligned->beginnings[i].mass = 0; /* nothing ends behind it */
    aligned->drawn++;
    begin(aligned);
    return true;
}

bool lm_aligned_weigh(struct lm_aligned *aligned, const float *scores, float *allowed)
{
    struct beginning *at = &aligned->beginnings[aligned->at];
    bool any = false;
    find_shares(aligned, scores);
    for (int i = at->child; i != NONE; i = aligned->beginnings[i].sibling)
        aligned->shares[aligned->beginnings[i].token] = 0;
    at->rest = 0;
    for (int i = 0; i < aligned->vocabulary; i++)
        at->rest += aligned->shares[i] = allowed[i] > -INFINITY ? aligned->shares[i] : 0;
    if (!at->seen) {
        at->seen = true;
        at->mass = at->rest;
        aligned->accepted *= at->mass;
    }
    if (aligned->accepted < aligned->least)
        return !lm_aligned_reject(aligned);
    for (int i = at->child; i != NONE; i = aligned->beginnings[i].sibling)
        any |= aligned->beginnings[i].mass > 0;
    for (int i = at->child; i != NONE && (any || at->rest > 0); i = aligned->beginnings[i].sibling)
        allowed[aligned->beginnings[i].token] +=
            (float)(aligned->sampling.temperature * log(aligned->beginnings[i].mass));
    return true;
}

void lm_aligned_take(struct lm_aligned *aligned, int32_t token)
{
    int at = aligned->beginnings[aligned->at].child;
    while (at != NONE && aligned->beginnings[at].token != token)
        at = aligned->beginnings[at].sibling;
    if (at == NONE) {
        double share = aligned->shares[token], rest = 0;
        for (int i = 0; i < aligned->vocabulary; i++)
            rest += i == token ? 0 : aligned->shares[i];
        aligned->beginnings[aligned->at].rest = rest;
        at = add(aligned, aligned->at, token, share);
    }
    aligned->at = at;
}

int lm_aligned_place(const struct lm_aligned *aligned, int written)
{
    return written + aligned->drawn * PLACES;
}
