/* Right answers, broken in a known way: one change, chosen by chance among those of mutations.def that the text has a place for. */
#ifndef COT_MUTATE_H
#define COT_MUTATE_H

#include "base/arena.h"
#include "base/random.h"

#include <stdbool.h>

enum cot_mutable { COT_FORMULAS, COT_PROGRAM, COT_KERNEL_FILE, COT_HOST_FILE };
struct cot_mutation {
    const char *name;          /* "missing EnQue": one of few */
    const char *why;           /* a sentence: what is wrong with it */
    const char *text;          /* the broken text */
    int line;                  /* where the change begins in both texts, from 1 */
    const char *wrong, *right; /* the lines that differ, without line end; wrong: NULL where a line is missing */
};
/* Everything lives in the arena. The same state of `rng` makes the same change. False: the text has no place for any. */
bool cot_mutate(struct arena *arena, struct rng *rng, enum cot_mutable of, const char *text,
                struct cot_mutation *mutation);

#endif
