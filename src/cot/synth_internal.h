/* An operator on its way: a family makes its formulas (synth_families.c of pieces of synth_expression.c), then a style says them in words
 * (synth_words.c), and the texts of a task hold what they need (synth.c). */
#ifndef COT_SYNTH_INTERNAL_H
#define COT_SYNTH_INTERNAL_H

#include "base/random.h"
#include "base/text.h"
#include "cot/synth.h"
#include "task/expr/tree.h"

#include <stdbool.h>

enum { SYNTH_TENSORS = 12, SYNTH_ATTRS = 8, SYNTH_STEPS = 16, SYNTH_NAMES = 64 };

/* Which elements of the operator's largest tensor a tensor has one for. */
enum synth_place {
    SYNTH_FULL,
    SYNTH_COLUMN /* each column */,
    SYNTH_ROW /* each row */,
    SYNTH_ONE,
    SYNTH_HALF /* half of each row */,
    SYNTH_AXIS /* all but one along `axis` */
};
struct synth_tensor {
    const char *name, *type; /* type: NULL: the case's */
    bool in_place;           /* an output that has the memory, and the name, of an input */
    enum synth_place place;
    bool output;
};
struct synth_attr {
    const char *name, *value;
    bool whole;
};
struct synth_step {
    const char *name;
    struct expr *tree;
    struct expr *said; /* what the description says of it where steps are rounded: the tree without that */
    const char *told;  /* its sentence, where a family has written that; NULL: none has */
    bool output;
};
struct synth {
    struct arena *arena;
    struct rng rng;
    const char *family, *op;
    struct synth_tensor tensors[SYNTH_TENSORS];
    struct synth_attr attrs[SYNTH_ATTRS];
    struct synth_step steps[SYNTH_STEPS];
    const char *names[SYNTH_NAMES]; /* that are taken */
    int tensor_count, attr_count, step_count, name_count;
    bool lists;           /* the tensors are lists of tensors, whose members are computed alike */
    const char *absent;   /* an input that may be missing, and is; NULL: none */
    const char *along;    /* the attribute that holds the axis of sums; NULL: none does */
    const char *counted;  /* the tensor whose elements a formula counts; NULL: none does */
    const char *count;    /* what their number may be called */
    const char *unused;   /* an attribute that no formula has; NULL: there is none */
    bool rounds;          /* each step, to the type of the tensors */
    bool even;            /* rows have halves */
    int axis;             /* of SYNTH_AXIS */
    int rank;             /* of the largest tensor; 0: any */
    const char *generate; /* the values of inputs */
};

/* Chance. */
static inline int synth_pick(struct synth *s, int count)
{
    return (int)rng_integer(&s->rng, 0, count);
}
static inline bool synth_chance(struct synth *s, int percent)
{
    return synth_pick(s, 100) < percent;
}
/* One of the words in a text that '|' separates; in the arena. */
const char *synth_choose(struct synth *s, const char *words);

/* Names (synth_names.c). */
/* A name that is not taken yet, fit for what '|' separates in `words`: one of these, one with a number behind, or one of no meaning. */
const char *synth_name(struct synth *s, const char *words);
/* A name of an operator. */
const char *synth_op_name(struct synth *s);

/* What an operator has; each returns the name. */
const char *synth_input(struct synth *s, enum synth_place place, const char *words);
const char *synth_mask(struct synth *s); /* one of truths, for each element */
const char *synth_attr(struct synth *s, const char *words, const char *values);
void synth_output(struct synth *s, const char *name, enum synth_place place, const char *type);
/* A step, whose text is parsed. */
void synth_step(struct synth *s, const char *name, bool output, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Expressions (synth_expression.c). */
/* One that has each of the atoms at least once, and about so many functions besides what combines them. */
const char *synth_expression(struct synth *s, const char *const *atoms, int count, int functions);
/* A number as formulas have them. */
const char *synth_number(struct synth *s);

/* Makes the formulas of a family (synth_families.c). */
void synth_make_family(struct synth *s);

/* What goes by positions (synth_places.c): the family of that name. */
void synth_make_place(struct synth *s);

/* Rounding (synth_rounded.c). */
/* Rounds each step of a small operator whose tensors have one type. */
void synth_round(struct synth *s);
/* The sentence that says so. */
const char *synth_rounds_in_words(struct synth *s);

/* Words (synth_words.c). */
const char *synth_describe(struct synth *s);

#endif
