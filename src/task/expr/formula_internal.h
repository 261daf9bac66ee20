/* What parsing a formula (formula.c) and computing it (formula_values.c) share: the functions. */
#ifndef TASK_EXPR_FORMULA_INTERNAL_H
#define TASK_EXPR_FORMULA_INTERNAL_H

#include "task/expr/formula.h"
#include "task/expr/tree.h"

struct formula_function {
    const char *name;
    int arguments;
    enum formula_kind kind;
    union {
        double (*unary)(double x);
        double (*binary)(double a, double b);
        double (*ternary)(double a, double b, double c);
        void (*row)(const double *x, int64_t n, double *out); /* SUMMARY: out is one element */
    };
};
/* The number of a function, -1 if there is none of that name. */
int formula_function_find(const char *name);
/* Their names, up to a NULL. */
const char *const *formula_function_names(struct arena *arena);
/* The function of a call. */
const struct formula_function *formula_function_of(const struct expr *call);
/* The function is written as an operator. */
bool formula_is_sign(const struct formula_function *function);
/* Its result is one of its operands. */
bool formula_chooses(const struct formula_function *function);

#endif
