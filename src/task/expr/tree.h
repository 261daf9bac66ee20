/* The tree that the parser makes of a text, and that both evaluators walk. */
#ifndef TASK_EXPR_TREE_H
#define TASK_EXPR_TREE_H

#include "task/expr/expr.h"

enum { EXPR_MAX_ARGS = 8 };

enum expr_node { NODE_VALUE, NODE_WORD, NODE_COLUMN, NODE_LIST, NODE_CALL, NODE_INDEX, NODE_SLICE, NODE_CHOICE };
struct expr {
    enum expr_node node;
    const char *text;        /* what the whole was parsed from */
    int at;                  /* column of the text where the node starts, an operator where it stands; from 1 */
    struct expr_value value; /* NODE_VALUE; a number has `real` besides, as if it had been written with a point */
    const char *name;        /* NODE_WORD, NODE_COLUMN; NODE_CALL: the function or the operator, "neg" for a sign */
    struct expr **kids;      /* NODE_INDEX: the list and the index; NODE_SLICE: the list, from and to or NULL */
    int kid_count;
    uint64_t place; /* number of the node in its expression: separates random streams */
    int height;     /* of the tree below */
    /* What an evaluator makes of the node. */
    const struct expr_function *function; /* NODE_CALL of a value */
    int index;                            /* NODE_COLUMN: of the column. In a formula: of the name or the function */
};

/* Parses a text; which words, columns and functions there are is the evaluator's business. */
struct akgen_error *expr_tree_parse(struct arena *arena, const char *text, struct expr **tree);
/* Steps `name = expression;` and the expression that they end with, which has no name; at most `most`. */
struct expr_step {
    const char *name;
    int at; /* column of the text where it starts, from 1 */
    struct expr *tree;
};
struct akgen_error *expr_steps_parse(struct arena *arena, const char *text, struct expr_step *steps, int most,
                                     int *count);
/* An error at a node: "in 'TEXT', column 3: ...". */
struct akgen_error *expr_error_at(const struct expr *node, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
/* true, false, None, inf, nan: the word's value, NULL if it is none of them. */
const struct expr_value *expr_word_value(const char *word);
/* True for a function that is written as a word: + and ** are not. */
bool expr_is_word(const char *name);

/* True if a word of the tree is this one. */
bool expr_names(const struct expr *expr, const char *name);

#endif
