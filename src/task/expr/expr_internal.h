/* The tree behind task/expr/expr.h, shared by the parser, the binder and the functions. */
#ifndef TASK_EXPR_INTERNAL_H
#define TASK_EXPR_INTERNAL_H

#include "task/expr/expr.h"

enum expr_node { NODE_VALUE, NODE_COLUMN, NODE_LIST, NODE_CALL, NODE_INDEX, NODE_SLICE, NODE_CHOICE };
struct expr {
    enum expr_node node;
    struct expr_value value;              /* NODE_VALUE */
    const char *name;                     /* NODE_COLUMN */
    const struct expr_function *function; /* NODE_CALL; operators are calls too */
    struct expr **kids;
    int kid_count;
    uint64_t place; /* number of the node in its expression: separates random streams */
};

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
const struct expr_function *expr_function_find(const char *name, size_t length);
/* Needs all elements of the tensor in one block. */
bool expr_function_whole(const struct expr_function *function);
/* 64 random bits for (key, counter): splitmix64's output function on a Weyl sequence. */
static inline uint64_t expr_mix(uint64_t key, uint64_t counter)
{
    uint64_t z = key + (counter + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

#endif
