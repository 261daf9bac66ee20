/* The evaluator of formulas: an elementwise operator as one expression over tensors and numbers, `formula` of an output
 * in task.yaml, the reference of people's own tasks. */
#ifndef TASK_FORMULA_H
#define TASK_FORMULA_H

#include "abi/dtype.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

enum { FORMULA_MAX_NAMES = 64, FORMULA_BLOCK = 512 };
struct formula;
struct formula_name {
    const char *name;
    const char *refusal; /* why a formula cannot take it, NULL if it can */
};

/* Parses a formula over these names, at most FORMULA_MAX_NAMES. */
struct akgen_error *formula_parse(struct arena *arena, const char *text, const struct formula_name *names, int count,
                                  const struct formula **formula);
struct expr;
/* Its tree (task/expr/tree.h), of which `index` of a word is the number of its name. */
const struct expr *formula_tree(const struct formula *formula);
/* True if the formula names name number `index`. */
bool formula_uses(const struct formula *formula, int index);
/* Its values for n <= FORMULA_BLOCK elements: values[i][e] is name number i at element e, values[i] is needed for the
 * names that the formula uses. Every step is rounded to the type `steps`. */
void formula_block(const struct formula *formula, enum akgen_dtype steps, const double *const *values, int n,
                   double *out);
/* Names of the functions, separated by spaces. */
const char *formula_functions(struct arena *arena);

#endif
