/* The expressions of task.yaml and of cells in cases.csv: shapes, dtypes, attributes, checks and what fills an input.
 *
 *   expression := cond | cond '?' expression ':' expression | cond 'if' cond 'else' expression
 *   operators, loosest first: or || |,  and && &,  not,  == != < <= > >=,  + -,  * / // %,  unary - ! ~,  ** ^,
 *                             postfix [i] and [from:to]
 *   primary := number | true | false | None | inf | nan | word | "text" | $column | name(args) | [list] | (expression)
 *
 * One parser (parse.c) makes a tree of it. Two evaluators give the tree a meaning: this one, values of a case, and
 * formulas (formula.h), over tensors. Each knows its own functions and operators.
 *
 * Here a word that names no function is text: float16, mean. Negative indices count from the end. docs/tasks.md lists
 * the functions. Functions such as rand and randn give one value per element; everything else is known per case. */
#ifndef TASK_EXPR_EXPR_H
#define TASK_EXPR_EXPR_H

#include "abi/dtype.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What a task's `check` says upstream's comparison is; docs/tasks.md, Judging. */
enum expr_rule { RULE_ABS_REL, RULE_ABS_REL_ANY, RULE_ALLCLOSE, RULE_REL_MAX1, RULE_SHARE };

enum expr_kind { EXPR_NONE, EXPR_BOOL, EXPR_INT, EXPR_REAL, EXPR_TEXT, EXPR_LIST, EXPR_RULE };
struct expr_value {
    enum expr_kind kind;
    int64_t integer; /* EXPR_BOOL: 0 or 1; EXPR_RULE: an enum expr_rule */
    double real;
    const char *text;               /* EXPR_TEXT; of a cell: how it reads in cases.csv */
    const struct expr_value *items; /* EXPR_LIST; EXPR_RULE: its numbers */
    int count;
};

struct expr; /* a parsed expression; lives in the arena it was parsed into */

/* The columns that an expression may name, as in the header of cases.csv. */
struct expr_columns {
    const char *const *names;
    int count;
};
/* What names in an expression stand for. */
struct expr_scope {
    struct arena *arena;            /* results live here */
    const struct expr_value *cells; /* a row of cases.csv, as many as there were columns when it was parsed */
    uint64_t key;                   /* random stream: the same key, the same numbers */
    enum akgen_dtype type;          /* of the tensor being filled; decides how fine rand is */
    int64_t elements;               /* of the tensor being filled */
};

/* Parses; the error says at which column of the text. `columns` NULL: there are none. */
struct akgen_error *expr_parse(struct arena *arena, const char *text, const struct expr_columns *columns,
                               const struct expr **expr);
/* True for what others put in front of a function's name and a point: torch, np. */
bool expr_is_space(const char *name);
/* The text that it was parsed from. */
const char *expr_text(const struct expr *expr);
/* True if the expression names column number `column`. */
bool expr_mentions(const struct expr *expr, int column);
/* True if `fits` holds for whatever the expression may come out as: each branch of its choices. It is given the value
 * that the branch always has (of a rule: without its numbers), or NULL where that is known per case alone. */
bool expr_branches_fit(const struct expr *expr, bool (*fits)(const struct expr_value *value));
/* Names of the functions, up to a NULL. */
const char *const *expr_function_names(struct arena *arena);

/* Resolves columns, folds everything that is the same for all elements and checks arguments; what remains is a constant
 * or numbers per element. */
struct akgen_error *expr_bind(const struct expr *expr, const struct expr_scope *scope, const struct expr **bound);
/* Binds and yields one value; random functions draw element 0 of the stream. */
struct akgen_error *expr_eval(const struct expr *expr, const struct expr_scope *scope, struct expr_value *value);
/* The constant that a bound expression is, or NULL if it has a value per element. */
const struct expr_value *expr_constant(const struct expr *bound);

enum { EXPR_BLOCK = 512 };
/* Elements first .. first + n - 1 of a bound expression; n <= EXPR_BLOCK, first a multiple of EXPR_BLOCK. */
void expr_block(const struct expr *bound, const struct expr_scope *scope, int64_t first, int n, double *out);

/* A cell of cases.csv as a value: a literal if it parses as one ("[4, 3]", "1.2", "None"), else text. */
struct expr_value expr_cell(struct arena *arena, const char *text);
/* A value as a cell: the same with `text` as cases.csv would have it. */
struct expr_value expr_as_cell(struct arena *arena, struct expr_value value);
bool expr_is_number(const struct expr_value *value);
/* Bool, int or real as a double. */
double expr_number(const struct expr_value *value);
/* How a value reads in a message. */
const char *expr_show(struct arena *arena, const struct expr_value *value);

/* 64 random bits for (key, counter): splitmix64's output function on a Weyl sequence. */
static inline uint64_t expr_mix(uint64_t key, uint64_t counter)
{
    uint64_t z = key + (counter + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

#endif
