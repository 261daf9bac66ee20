/* Operators made at random: formulas, words that describe them, and the task on which an answer is proved. The same seed makes the
 * same operator on every machine. */
#ifndef COT_SYNTH_H
#define COT_SYNTH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Values of inputs: any, positive ones, within (-0.9, 0.9). */
enum { SYNTH_VALUES = 3 };
/* Data types that an operator may be of. */
enum { SYNTH_TYPES = 3 };
extern const char *const synth_types[SYNTH_TYPES];
struct synth_operator {
    const char *op;          /* its name, in CamelCase */
    const char *family;      /* "elementwise", "norm", ..: a row of synth_families.def */
    const char *description; /* what desc.md holds below its title */
    const char
        *yaml[SYNTH_VALUES]; /* task.yaml, reference `formula`, with one kind of values for its inputs and another */
    const char *cases;       /* cases.csv: case 0 is of a usual size, the others are small */
    /* With outputs in place, as the description has them: what a program is of, with `listed` as lists. NULL: it is that above. */
    const char *meant_yaml[SYNTH_VALUES];
    const char *listed; /* " a b ": its tensors that are lists where `lists` */
    const char *answer; /* the formulas, "d = x - mean(x); y = d * scale", as cot_formula_text prints them */
    bool lists;         /* its tensors are lists: the task is that of one member of them */
    const char
        *in_place;       /* its outputs that are inputs, "m_new=m v_new=v": the task has them as tensors of their own */
    const char *absent;  /* an input that may be missing and is, of which the task knows nothing; NULL: none */
    const char *idle;    /* an input that no formula has, and of which the task knows nothing either; NULL: none */
    const char *idle_as; /* its type and shape, "int32 [1]"; NULL: those of the first output */
    int turned;          /* how many of the first outputs are asked for behind the others */
    unsigned types;      /* bits 1u << index into synth_types */
    uint64_t key;        /* graph_key of the formulas */
    int operations;      /* functions and operators in them */
};
/* Of pairs as `in_place` has them, the input that an output of this name is; NULL: it is none. In the arena. */
const char *synth_place_of(struct arena *arena, const char *pairs, const char *name, size_t length);
/* Everything lives in the arena. */
void synth_operator_make(struct arena *arena, uint64_t seed, struct synth_operator *made);
/* The same operator in one of its data types, as plain as its proof is: no lists, outputs of their own, no input that is missing. */
void synth_operator_make_plain(struct arena *arena, uint64_t seed, int type, struct synth_operator *made);

#endif
