/* An operator on its way: a family makes its formulas (synth_families.c, synth_short.c, synth_gradients.c, synth_norm_gradients.c, synth_gates.c,
 * synth_vectors.c, synth_places.c, synth_positions.c, synth_halves.c, synth_selected.c of pieces of synth_expression.c), whose steps may be
 * rounded (synth_rounded.c); then a style says them (synth_formula.c) and words (synth_words.c, synth_cases.c, synth_sums.c, synth_facts.c) in
 * an order and with notes (synth_describe.c), and the texts of a task hold what they need (synth.c). */
#ifndef COT_SYNTH_INTERNAL_H
#define COT_SYNTH_INTERNAL_H

#include "base/random.h"
#include "base/text.h"
#include "cot/synth.h"
#include "task/expr/tree.h"

#include <stdbool.h>

enum { SYNTH_TENSORS = 12, SYNTH_ATTRS = 8, SYNTH_STEPS = 16, SYNTH_NAMES = 64, SYNTH_BRANCHES = 4 };

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
    bool kept;          /* an input that stays where no formula names it: its elements are overwritten */
    bool each;          /* SYNTH_ONE where tensors are lists: one number for each tensor of a list */
    const char *stride; /* the attribute that says how far its elements lie apart; NULL: they are neighbours */
};
struct synth_attr {
    const char *name, *value, *type; /* type: as task.yaml has it */
    bool silent;                     /* no formula has it */
};
/* What an operator may compute by the value of an attribute. */
struct synth_branch {
    const char *value;
    struct expr *tree;
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
    bool lists;          /* the tensors are lists of tensors, whose members are computed alike */
    const char *absent;  /* an input that may be missing, and is; NULL: none */
    const char *along;   /* the attribute that holds the axis of sums; NULL: none does */
    const char *counted; /* the tensor whose elements a formula counts; NULL: none does */
    const char *count;   /* what their number may be called */
    const char
        *unused; /* an attribute that no formula has and that the description may leave alone; NULL: there is none */
    const char *idle;    /* an input that no formula has; NULL: there is none */
    const char *idle_as; /* its type and shape; NULL: those of the first output */
    const char *length;  /* the attribute that holds the number of elements; NULL: none does */
    const char *mode;    /* the attribute that chooses among branches; NULL: none does */
    const char *modal;   /* the step whose value it chooses */
    struct synth_branch branches[SYNTH_BRANCHES];
    int branch_count, chosen;
    const char *reductions; /* "none|sum|mean": what `mode` chooses among, of the step before; NULL: no such thing */
    bool told;              /* the description has to tell the value of `mode` */
    bool flat;              /* tensors have one dimension */
    bool small;             /* any sizes, few elements too; nothing but single elements is computed */
    bool apart;             /* results have no input in common */
    bool replaces;          /* an output takes the place of an input, also where sentences are given */
    bool plain;             /* no lists, and outputs of their own */
    const char *derivative, *derived; /* a step, and of what it is the derivative; NULL: none is */
    const char *halved; /* the attribute that names the dimension whose halves are taken; NULL: none does */
    bool columns;       /* sums over all rows stand beside those of a row: words say which is which */
    bool without_mean;  /* rows are not centred, in the gradient of a norm */
    const char *lead;   /* what is told first; NULL: nothing */
    const char *held, *definition,
        *opens;  /* what an input holds, what a function is, which half opens: told behind the steps; NULL: nothing */
    bool rounds; /* each step, to the type of the tensors */
    bool even;   /* rows have halves */
    int axis;    /* of SYNTH_AXIS */
    int rank;    /* of the largest tensor; 0: any */
    const char *generate; /* the values of inputs */
    const struct synth_style *style;
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

/* How a description is written. */
struct synth_style {
    enum { SYNTH_HAT, SYNTH_STARS, SYNTH_PRODUCT } power;
    enum { SYNTH_CALL, SYNTH_PYTHON, SYNTH_C } choice;
    const char *index; /* behind tensors: "[i]", "" */
    int term;          /* of a sum that is written out, 1 to 3; 0: none */
    const char *torch; /* in front of functions: "torch.", "" */
    const char *times;
    bool bars, dense; /* |x|; no blanks around * and / */
    bool bare;        /* "variance" for var(x): there is one x whose mean and variance are meant */
    bool spread;      /* "f(x[0]) + f(x[1]) + ... + f(x[n - 1])" for sums over all */
    bool grouped;     /* quotients stand in parentheses within products */
    bool mute;        /* sums have no axes: words say them */
    bool digits;      /* more of them than a double has */
    int words;        /* percent of expressions that are words */
    uint64_t seed;    /* which of its names a function has in all of the description */
};

/* The tensor of this name; NULL. And whether anything has it. */
const struct synth_tensor *synth_tensor_of(const struct synth *s, const char *name);
bool synth_is_name(const struct synth *s, const char *name);
/* Renames a word in a formula. */
void synth_rename(struct expr *expr, const char *from, const char *to);

/* Names (synth_names.c). */
/* A name that is not taken yet, fit for what '|' separates in `words`: one of these, one with a number behind, or one of no meaning. Behind
 * '!' it may be that of a function. */
const char *synth_name(struct synth *s, const char *words);
/* That of a result: in `percent` of cases where a text is the call of a function and nothing else, this function's. */
const char *synth_result_name(struct synth *s, const char *words, const char *text, int percent);
/* A name of an operator. */
const char *synth_op_name(struct synth *s);

/* What an operator has; each returns the name. */
const char *synth_input(struct synth *s, enum synth_place place, const char *words);
const char *synth_mask(struct synth *s); /* one of truths, for each element */
const char *synth_attr(struct synth *s, const char *words, const char *values);
/* One that no formula has. */
const char *synth_silent(struct synth *s, const char *words, const char *type, const char *value);
void synth_output(struct synth *s, const char *name, enum synth_place place, const char *type);
/* A step, whose text is parsed; one that is an output; and one that is where it is `shown`. Each returns the name. */
const char *synth_step(struct synth *s, const char *name, const char *text);
const char *synth_result(struct synth *s, const char *name, const char *text, enum synth_place place, const char *type);
const char *synth_shown(struct synth *s, bool shown, const char *name, const char *text, enum synth_place place,
                        const char *type);
/* A result as large as an input whose sentence is given. */
void synth_told(struct synth *s, const char *output, const char *formula, const char *told);
/* Expressions (synth_expression.c). */
/* One that has each of the atoms at least once, and about so many functions besides what combines them. */
const char *synth_expression(struct synth *s, const char *const *atoms, int count, int functions);
/* A number as formulas have them. */
const char *synth_number(struct synth *s);

/* A function of one value. */
const char *synth_apply(struct synth *s, const char *of);
/* One of the forms that '|' separates: in it `$1` is the first of the parts, `{a|b}` one of these forms, `{60:a|b}` the first of both in
 * sixty of a hundred, `#` a number. Parts are drawn first, then the form, then what is in it, from left to right. */
const char *synth_put_parts(struct synth *s, const char *forms, const char *const *parts);
#define synth_put(s, forms, ...) synth_put_parts(s, forms, (const char *const[]){__VA_ARGS__})
/* The same of one form, in which '|' separates nothing. */
const char *synth_fill_parts(struct synth *s, const char *form, const char *const *parts);
#define synth_fill(s, form, ...) synth_fill_parts(s, form, (const char *const[]){__VA_ARGS__})
/* Text that a family writes, as a formula. */
struct expr *synth_parse(struct synth *s, const char *text);
/* Such text in the one way in which answers have it. */
const char *synth_printed(struct synth *s, const char *text);
/* A step that gets a name `percent` times of a hundred: its name, or what stands for it within products. */
const char *synth_named(struct synth *s, int percent, const char *words, const char *text);

/* Makes the formulas of a family (synth_families.c); FAMILY(name, weight) has its synth_make_name(). */
void synth_make_family(struct synth *s);
/* Two steps: the halves of `x`. */
void synth_take_halves(struct synth *s, const char *x, const char *a, const char *b);
/* A gate of `of` and its name, which may be that of its function. */
const char *synth_named_opening(struct synth *s, const char *of, const char **text);
#define FAMILY(name, weight) void synth_make_##name(struct synth *s);
#include "cot/synth_families.def"
#undef FAMILY
extern const char *const synth_input_words, *const synth_output_words, *const synth_step_words,
                                                                           *const synth_number_words;

/* Formulas (synth_formula.c). */
bool synth_is_call(const struct expr *expr, const char *name);
bool synth_is_all(const struct expr *call);
bool synth_is_summary(const struct expr *expr);
bool synth_along_rows(const struct expr *expr);
bool synth_over_all(const struct expr *expr);
/* Whether a part of it is such. */
bool synth_has(const struct expr *expr, bool (*of)(const struct expr *expr));
const char *synth_formula(struct synth *s, const struct expr *expr);
/* A function's name in formulas: the same one wherever it stands. */
const char *synth_called(struct synth *s, const char *name);
/* Its names in words, that '|' separates; "": it has none. */
const char *synth_nouns(const char *name);

/* Rounding (synth_rounded.c). */
/* Rounds each step of a small operator whose tensors have one type. */
void synth_round(struct synth *s);
/* The sentence that says so. */
const char *synth_rounds_in_words(struct synth *s);

/* Words (synth_words.c). */
/* An expression, of which `depth` levels may be words. */
const char *synth_in_words(struct synth *s, const struct expr *expr, int depth);
/* What a step computes; `alone`: it is all, so that its name need not be said. */
const char *synth_statement(struct synth *s, const struct synth_step *step, bool alone);
/* Some functions of an expression, written out once more as documentation does, each in a sentence. */
void synth_define(struct synth *s, struct text *text, const struct expr *expr);
bool synth_is_in_place(const struct synth *s, const char *name);

/* Sums over a row and over all rows (synth_sums.c). */
/* Whether an expression has sums over all rows. */
bool synth_goes_down(const struct synth *s, const struct expr *expr);
/* " over the rows", behind "the sum"; "". */
const char *synth_over(struct synth *s, const struct expr *call);
/* What a step with a sum over all rows computes. */
const char *synth_column_statement(struct synth *s, const char *name, const struct expr *tree);
/* The same of a sum or mean of each row; NULL: the step is none. */
const char *synth_row_statement(struct synth *s, const char *name, const struct expr *tree);
/* A statement, and that its sums are those of a row. */
const char *synth_with_row_sums(struct synth *s, const char *said, const struct expr *tree);
/* All steps of the gradient of a norm. */
void synth_tell_norm_gradient(struct synth *s, struct text *text);

/* All steps of a gradient, of which one is the derivative of something (synth_gradients.c). */
void synth_tell_derivative(struct synth *s, struct text *text);

/* Cases (synth_cases.c). */
/* "`y = a` where `c`, else `b`", of where(c, a, b); comparisons may be words. */
const char *synth_choice(struct synth *s, const char *name, const struct expr *call);
/* "`y` is true where `c`", of a comparison. */
const char *synth_truth(struct synth *s, const char *name, const struct expr *tree);
/* "`y = a / b`, rounded and clamped to [-128, 127]"; NULL: it is no such tree (synth_quantised.c). */
const char *synth_clamped(struct synth *s, const char *name, const struct expr *tree);
/* What a step computes by the value of an attribute: `branches`, or `reductions` of the step before. */
const char *synth_mode(struct synth *s, const struct synth_step *step);

/* What is told of functions besides (synth_facts.c); "": nothing, this time. */
/* Behind the statement of a step. */
const char *synth_clause(struct synth *s, const struct expr *tree);
/* In a sentence of its own; `first`: which stands before all others. */
const char *synth_fact(struct synth *s, bool *first);

/* The description (synth_describe.c). */
const char *synth_describe(struct synth *s);
/* A text that begins with a capital letter. */
const char *synth_capital(struct synth *s, const char *text);

#endif
