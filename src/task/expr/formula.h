/* Formulas over tensors, `formula` of an output in task.yaml: the reference of people's own tasks, and what the planner of
 * AscendDSL starts from (docs/tasks.md, A task of your own).
 *
 *   formula := (name '=' expression ';')* expression
 *
 * Shapes go together as in NumPy: sizes are compared from the last one, and 1 stretches. x[a:b] is a part of each row, a
 * row being what lies along the last axis; sum(x) and the like leave one element of a row, sum(x, all) one of the tensor,
 * sum(x, 0, 1) one of what lies along these axes, which stay with a size of 1.
 * A step's name, and that of an output, is known to what follows, in later outputs too; index(y) knows the output's shape before. */
#ifndef TASK_EXPR_FORMULA_H
#define TASK_EXPR_FORMULA_H

#include "abi/dtype.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct expr;
struct task_tensor;
enum { FORMULA_MAX_NAMES = 64, FORMULA_MAX_STEPS = 64 };
/* The output whose formula it is, which has a shape and no values yet: index(y) alone may name it. */
enum { FORMULA_OWN = -2 };

struct formula_name {
    const char *name;
    const char *refusal; /* why a formula cannot take it, NULL if it can */
};
struct formula_step {
    const char *name;
    const struct expr
        *tree;     /* task/expr/tree.h. `index` of a word: the number of its name, from `names` on of the step, or
                              * FORMULA_OWN; of a call: of the function */
    int output;    /* whose formula it stands in */
    bool result;   /* it is that output */
    uint64_t uses; /* the names that it needs, itself or through other steps: bit i for number i */
};
/* All steps that an output may need: those of its own formula come last, and the last one is its value. */
struct formula {
    const char *text;
    const struct formula_step *steps;
    int count, names; /* names: inputs and attributes */
};

enum formula_kind {
    FORMULA_UNARY,
    FORMULA_BINARY,
    FORMULA_TERNARY,
    FORMULA_TYPED, /* of one, rounded to the data type of the input that the second argument names */
    FORMULA_JOIN,
    FORMULA_SUMMARY,
    FORMULA_SIZE,
    FORMULA_ROW,
    FORMULA_PLACE
};
/* What the function of a call computes, and of how many tensors; the name `all` and axes behind them are no tensors. */
enum formula_kind formula_kind_of(const struct expr *call);
bool formula_of_all(const struct expr *call);
/* The call names axes other than the last one. */
bool formula_names_axes(const struct expr *call);

/* Parses the formula of output number `output`, called `name`, over these names, at most FORMULA_MAX_NAMES. `before`: the
 * formula of the output in front of it, NULL for the first. */
struct akgen_error *formula_parse(struct arena *arena, const char *text, const struct formula_name *names, int count,
                                  const struct formula *before, const char *name, int output,
                                  const struct formula **formula);
/* True if the formula names name number `index`, itself or in a step that it needs. */
bool formula_uses(const struct formula *formula, int index);
/* True if some step of this output's formula goes by the output's own shape: index(y). */
bool formula_places(const struct formula *formula, int output);
/* Names of the functions, separated by spaces. */
const char *formula_functions(struct arena *arena);

/* Formulas as a grammar in GBNF (lm/grammar.h), in the arena. Each text of it parses over names that it may use; what a name is, and that no
 * step takes that of another, is not in it. It bounds nesting and rows of operators so that parsing does not. */
const char *formula_grammar(struct arena *arena);
/* The same of statements `name = expression`, the answers of --language graph (task_with_formulas). */
const char *formula_statements_grammar(struct arena *arena);
/* What an answer to one task may name. */
struct formula_answer {
    const struct formula_readable {
        const char *name;
        bool whole; /* an integer: a bound of a slice may be made of it */
        bool typed; /* a tensor of numbers, whose data type may be rounded to */
    } *names;       /* inputs and attributes that formulas take */
    int name_count;
    const char *const *outputs;
    int output_count;
    bool elements; /* each element is computed by itself: no sums, sizes, positions and parts of rows */
};
/* The same of the answers to one task: a statement reads these names and those of statements before it, each name has one statement, each output
 * has one, and the last one ends the text. Steps have names of a list. By marks, which are AKGen's own (lm/grammar.h). NULL: there are too many
 * outputs for that, or one has a name that no statement can have. */
const char *formula_answer_grammar(struct arena *arena, const struct formula_answer *answer);

/* What the names stand for in a case: a tensor, of which the shape is enough for formula_bind, or a number. */
struct formula_argument {
    const struct task_tensor *tensor; /* NULL: a number */
    double number;
    bool whole; /* the number is an integer: a size may be made of it */
};
struct formula_bound;
/* A number as a tensor of this type holds it. In an integer type it is cut off, or the type's last number where that has no room; NaN is
 * 0; in bool it is 1 unless it is 0. */
double formula_held(enum akgen_dtype type, double value);
/* Finds the shapes of all steps of a case. An error where they do not fit together: "in 'TEXT', column 3: ...". Per output, `outputs`: its
 * shape; `steps`: the type that each of its steps is rounded to. */
struct akgen_error *formula_bind(struct arena *arena, const struct formula *formula,
                                 const struct formula_argument *arguments, const struct task_tensor *const *outputs,
                                 const enum akgen_dtype *steps, struct formula_bound **bound);
/* The axes that a call with rows goes along, and the shape of its operand: 8 sizes, 1 in front of the shape; bit i for size i.
 * False if the formula has no such call. */
bool formula_axes(const struct formula_bound *bound, const struct expr *call, unsigned *axes, int64_t dims[8]);
/* The shape of what a call yields: its sizes are the last ones of `dims`; returns how many, -1 if the formula has no such call. */
int formula_call_shape(const struct formula_bound *bound, const struct expr *call, int64_t dims[8]);
/* The shape of a step: at most 8 sizes, the last ones of `dims`; returns how many. */
int formula_shape(const struct formula_bound *bound, int step, int64_t dims[8]);
/* An error unless a step has the shape of an output, or one that stretches to it; sizes of 1 may be left out. */
struct akgen_error *formula_fits(const struct formula_bound *bound, int step, const struct task_tensor *output);
/* True if some function jumps (round, sign, a comparison) at what another way of computing may place on the other side of the
 * jump. formula_lean moves what such functions are taken of, by `lean` of its size: what changes may be either. */
bool formula_jumps(const struct formula_bound *bound);
void formula_lean(struct formula_bound *bound, double lean);
/* The step has only whole numbers, whatever the inputs are. */
bool formula_whole(const struct formula_bound *bound, int step);
/* Computes a step for an output that it fits, row by row: `store` gets elements first .. first + n - 1. The tensors of the
 * arguments have values; rows that it keeps live in the arena of formula_bind. */
void formula_compute(struct formula_bound *bound, int step, const struct task_tensor *output,
                     void (*store)(void *state, int64_t first, int64_t n, const double *values), void *state);

#endif
