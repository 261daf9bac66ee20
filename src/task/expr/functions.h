/* The functions of values: what they are called, and how they compute. */
#ifndef TASK_EXPR_FUNCTIONS_H
#define TASK_EXPR_FUNCTIONS_H

#include "task/expr/expr.h"

struct expr_function {
    const char *name;
    int least, most; /* arguments */
    /* Value from constant arguments; NULL: the function gives a value per element whatever its arguments are. */
    struct akgen_error *(*constant)(const struct expr_scope *scope, const struct expr_value *args, int count,
                                    struct expr_value *result);
    /* Values of a block from its arguments' blocks; NULL: has no meaning per element. args[i][j] is argument i at
     * element first + j. */
    void (*block)(const struct expr_scope *scope, uint64_t key, const double *const *args, int count, int64_t first,
                  int n, double *out);
};
/* NULL if there is none of that name. */
const struct expr_function *expr_function_find(const char *name);
/* Number `index` of the table, NULL behind the last. */
const struct expr_function *expr_function_at(int index);
/* Needs all elements of the tensor in one block. */
bool expr_function_whole(const struct expr_function *function);
/* Yields an EXPR_RULE. */
bool expr_function_is_rule(const struct expr_function *function);
/* How a rule is called. */
const char *expr_rule_name(enum expr_rule rule);

#endif
