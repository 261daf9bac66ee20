/* The expressions of task.yaml and of cells in cases.csv: shapes, dtypes, attributes and what fills an input.
 *
 *   expression := cond | cond '?' expression ':' expression
 *   operators, loosest first: == != < <= > >=,  + -,  * / // %,  unary -,  postfix [i] and [from:to]
 *   primary := number | true | false | None | inf | nan | word | "text" | $column | name(args) | [list] | (expression)
 *
 * A word that names no function is text: float16, mean. Negative indices count from the end. docs/tasks.md lists the
 * functions. Functions such as rand and randn give one value per element; everything else is known per case. */
#ifndef TASK_EXPR_H
#define TASK_EXPR_H

#include "abi/dtype.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum expr_kind { EXPR_NONE, EXPR_BOOL, EXPR_INT, EXPR_REAL, EXPR_TEXT, EXPR_LIST };
struct expr_value {
    enum expr_kind kind;
    int64_t integer; /* EXPR_BOOL: 0 or 1 */
    double real;
    const char *text;
    const struct expr_value *items;
    int count;
};

struct expr; /* a parsed expression; lives in the arena it was parsed into */

/* What names in an expression stand for. */
struct expr_scope {
    struct arena *arena;        /* results live here */
    const char *const *columns; /* a row of cases.csv */
    const char *const *values;
    int column_count;
    uint64_t key;          /* random stream: the same key, the same numbers */
    enum akgen_dtype type; /* of the tensor being filled; decides how fine rand is */
    int64_t elements;      /* of the tensor being filled */
};

/* Parses; the error says at which column of the text. */
struct akgen_error *expr_parse(struct arena *arena, const char *text, struct expr **expr);
/* Resolves columns, folds everything that is the same for all elements and checks arguments; what remains is a constant
 * or numbers per element. */
struct akgen_error *expr_bind(const struct expr *expr, const struct expr_scope *scope, struct expr **bound);
/* Binds and yields one value; random functions draw element 0 of the stream. */
struct akgen_error *expr_eval(const struct expr *expr, const struct expr_scope *scope, struct expr_value *value);
/* Parses and evaluates in one step. */
struct akgen_error *expr_eval_text(const char *text, const struct expr_scope *scope, struct expr_value *value);
/* The constant that a bound expression is, or NULL if it has a value per element. */
const struct expr_value *expr_constant(const struct expr *bound);

enum { EXPR_BLOCK = 512 };
/* Elements first .. first + n - 1 of a bound expression; n <= EXPR_BLOCK, first a multiple of EXPR_BLOCK. */
void expr_block(const struct expr *bound, const struct expr_scope *scope, int64_t first, int n, double *out);

/* A cell of cases.csv as a value: a literal if it parses as one ("[4, 3]", "1.2", "None"), else text. */
struct expr_value expr_cell(struct arena *arena, const char *text);
bool expr_is_number(const struct expr_value *value);
/* Bool, int or real as a double. */
double expr_number(const struct expr_value *value);
/* How a value reads in a message. */
const char *expr_show(struct arena *arena, const struct expr_value *value);

#endif
