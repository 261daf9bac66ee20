/* Building and changing trees: what the compiler's passes are written with. New parts take the place of what they are made
 * from, so that each line of the project leads back to one of the program. */
#ifndef DSL_EDIT_H
#define DSL_EDIT_H

#include "dsl/program.h"

/* A pass at work on a tree. */
struct edit {
    struct arena *arena;
    struct dsl_place place; /* new parts stand there */
};

struct dsl_expr *edit_name(struct edit *edit, const char *name);
struct dsl_expr *edit_integer(struct edit *edit, int64_t value);
/* -value. */
struct dsl_expr *edit_negative(struct edit *edit, struct dsl_expr *value);
/* `value` has to be finite. */
struct dsl_expr *edit_real(struct edit *edit, double value);
struct dsl_expr *edit_text(struct edit *edit, const char *text);
struct dsl_expr *edit_binary(struct edit *edit, enum dsl_operator op, struct dsl_expr *a, struct dsl_expr *b);
/* a + b, a - b, a * b; integers are folded, 0 and 1 fall away. */
struct dsl_expr *edit_sum(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b);
struct dsl_expr *edit_difference(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b);
struct dsl_expr *edit_product(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b);
/* min(a, b) and max(a, b), of which the one is taken that is known to be it. */
struct dsl_expr *edit_smaller(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b);
struct dsl_expr *edit_larger(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b);
/* `module.name`. */
struct dsl_expr *edit_attribute(struct edit *edit, struct dsl_expr *of, const char *name);
/* `buffer[from:]`; the buffer itself where `from` is NULL or 0. */
struct dsl_expr *edit_piece(struct edit *edit, struct dsl_expr *buffer, struct dsl_expr *from);
/* tl.NAME(arguments): as many as are not NULL. */
struct dsl_expr *edit_call(struct edit *edit, const char *name, int count, struct dsl_expr *const *arguments);
#define EDIT_CALL(edit, name, ...)                                                                                     \
    edit_call(edit, name, (int)(sizeof((struct dsl_expr *[]){__VA_ARGS__}) / sizeof(struct dsl_expr *)),               \
              (struct dsl_expr *[]){__VA_ARGS__})
/* Adds `name=value` to a call. */
void edit_add_named(struct edit *edit, struct dsl_expr *call, const char *name, struct dsl_expr *value);
/* Takes the argument for the operation's parameter of this name out of the call; NULL: it has none. */
struct dsl_expr *edit_take_argument(struct dsl_expr *call, const char *name);

/* Puts the arguments in the order of the operation's parameters: those that it must have without names, the others behind them
 * by name. */
void edit_order_arguments(struct edit *edit, struct dsl_expr *call);
/* Puts comments before those of the statement. */
void edit_lead(struct edit *edit, struct dsl_statement *statement, const struct dsl_comments *comments);

struct dsl_statement *edit_statement(struct edit *edit, struct dsl_expr *call);
struct dsl_statement *edit_assign(struct edit *edit, const char *name, struct dsl_expr *value);
/* `for name in range(from, to, step):`. */
struct dsl_statement *edit_for(struct edit *edit, const char *name, struct dsl_expr *from, struct dsl_expr *to,
                               struct dsl_expr *step);
/* `with tl.STAGE():`. */
struct dsl_statement *edit_stage(struct edit *edit, const char *stage);
void edit_append(struct edit *edit, struct dsl_block *block, struct dsl_statement *statement);
/* Puts it before number `at` of the block. */
void edit_insert(struct edit *edit, struct dsl_block *block, int at, struct dsl_statement *statement);

struct dsl_expr *edit_copy(struct edit *edit, const struct dsl_expr *expr);
/* The same text, whatever stands around it. */
bool tree_equal(const struct dsl_expr *a, const struct dsl_expr *b);
bool tree_is_integer(const struct dsl_expr *expr, int64_t value);
/* Whether the name is read in the expression. */
bool tree_mentions(const struct dsl_expr *expr, const char *name);
/* Calls visit for the expression and every part of it, outermost first. */
void tree_visit(struct dsl_expr *expr, void (*visit)(void *closure, struct dsl_expr *part), void *closure);
/* Calls visit for every expression of a statement and what is below it, in the order of the text. */
void statement_visit(struct dsl_statement *statement, void (*visit)(void *closure, struct dsl_expr *expr),
                     void *closure);
/* Whether the statement, or one below it, assigns the name. */
bool statement_assigns(const struct dsl_statement *statement, const char *name);
bool block_assigns(const struct dsl_block *block, const char *name);
/* Whether the name is mentioned in the statement or below it, assigned or read. */
bool statement_mentions(const struct dsl_statement *statement, const char *name);
/* In how many expressions and targets of the block. */
int block_mentions(const struct dsl_block *block, const char *name);
/* Puts `value` in the place of every reading of the name in the block. */
void edit_substitute(struct edit *edit, struct dsl_block *block, const char *name, const struct dsl_expr *value);
/* The call tl.NAME(..) that the statement is; NULL: it is another. */
struct dsl_expr *statement_call(const struct dsl_statement *statement);
/* The same of a statement that is nothing but the call. */
struct dsl_expr *statement_operation(const struct dsl_statement *statement);
/* Whether the statement calls tl.NAME. */
bool statement_calls(const struct dsl_statement *statement, const char *name);
/* True if a statement of the block does, or of the blocks in it. */
bool block_calls(const struct dsl_block *block, const char *name);
/* DSL_PLACE_COPYIN and so on of `with tl.STAGE():`, -1 for another statement. */
int statement_stage(const struct dsl_statement *statement);
/* The name of the buffer that an operand is or is a piece of; NULL: it is no buffer. `from`: where the piece begins, NULL: at
 * the beginning. */
const char *operand_buffer(const struct dsl_expr *operand, struct dsl_expr **from);

#endif
