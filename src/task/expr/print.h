/* Formulas as text: one way to write each, which is what a model is taught. */
#ifndef TASK_EXPR_PRINT_H
#define TASK_EXPR_PRINT_H

#include "base/text.h"
#include "task/expr/tree.h"

/* How tightly the operators of formulas bind; what is no operator binds tightest. */
enum { EXPR_LOOSE, EXPR_OR, EXPR_AND, EXPR_COMPARES, EXPR_SUM, EXPR_PRODUCT, EXPR_SIGN, EXPR_POWER, EXPR_ATOM };
int expr_binds(const struct expr *expr);
/* How tightly an operand has to bind to stand without parentheses. */
int expr_operand_binds(const struct expr *call, int operand);
/* The shortest text of a number that reads as it, 1e-5 rather than 1e-05. */
void expr_add_number(struct text *text, double number);
/* Adds an expression with as few parentheses as leave its value as it is: a + (b + c) has none. */
void expr_print(struct text *text, const struct expr *expr);

#endif
