/* The one way to write a formula. */
#include "task/expr/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int binds;
    bool either; /* (a + b) + c is a + (b + c) */
} operators[] = {
    {"or", EXPR_OR, true},        {"and", EXPR_AND, true},      {"not", EXPR_AND, false},
    {"<", EXPR_COMPARES, false},  {">", EXPR_COMPARES, false},  {"<=", EXPR_COMPARES, false},
    {">=", EXPR_COMPARES, false}, {"==", EXPR_COMPARES, false}, {"!=", EXPR_COMPARES, false},
    {"+", EXPR_SUM, true},        {"-", EXPR_SUM, false},       {"*", EXPR_PRODUCT, true},
    {"/", EXPR_PRODUCT, false},   {"//", EXPR_PRODUCT, false},  {"%", EXPR_PRODUCT, false},
    {"neg", EXPR_SIGN, false},    {"**", EXPR_POWER, false},
};

static int row_of(const struct expr *expr)
{
    for (size_t i = 0; expr->node == NODE_CALL && i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].name, expr->name) == 0)
            return (int)i;
    return -1;
}

int expr_binds(const struct expr *expr)
{
    int row = row_of(expr);
    if (expr->node == NODE_VALUE && expr->value.real < 0)
        return EXPR_SIGN;
    return row < 0 ? EXPR_ATOM : operators[row].binds;
}

int expr_operand_binds(const struct expr *call, int operand)
{
    int row = row_of(call);
    if (row < 0 || (call->kid_count == 1 && operators[row].binds == EXPR_AND)) /* within parentheses */
        return EXPR_LOOSE;
    int binds = operators[row].binds;
    if (binds == EXPR_POWER)
        return operand ? EXPR_SIGN : EXPR_ATOM;
    if (binds == EXPR_SIGN)
        return EXPR_POWER;
    if (binds == EXPR_COMPARES) /* one alone: a < b < c is none */
        return binds + 1;
    return operand && !operators[row].either ? binds + 1 : binds;
}

void expr_add_number(struct text *text, double number)
{
    char digits[400] = "";
    double size = fabs(number);
    bool plain = number == 0 || (size >= 1e-3 && size < 1e9);
    for (int precision = 0; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, plain ? "%.*f" : "%.*e", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    const char *exponent = strchr(digits, 'e');
    if (exponent) {
        text_append(text, digits, (size_t)(exponent - digits));
        text_addf(text, "e%ld", strtol(exponent + 1, NULL, 10));
    } else {
        text_add(text, digits);
    }
}

static void add_at_least(struct text *text, const struct expr *expr, int binds)
{
    bool enclosed = expr_binds(expr) < binds;
    text_add(text, enclosed ? "(" : "");
    expr_print(text, expr);
    text_add(text, enclosed ? ")" : "");
}

static void add_operand(struct text *text, const struct expr *call, int operand)
{
    add_at_least(text, call->kids[operand], expr_operand_binds(call, operand));
}

static void add_call(struct text *text, const struct expr *call)
{
    int row = row_of(call);
    if (row >= 0 && call->kid_count == 2) {
        add_operand(text, call, 0);
        text_addf(text, operators[row].binds == EXPR_POWER ? "%s" : " %s ", call->name);
        add_operand(text, call, 1);
    } else if (row >= 0 && operators[row].binds == EXPR_SIGN) {
        text_add(text, "-");
        add_operand(text, call, 0);
    } else {
        text_addf(text, "%s(", call->name);
        for (int i = 0; i < call->kid_count; i++) {
            text_add(text, i ? ", " : "");
            expr_print(text, call->kids[i]);
        }
        text_add(text, ")");
    }
}

void expr_print(struct text *text, const struct expr *expr)
{
    switch (expr->node) {
    case NODE_VALUE:
        expr_add_number(text, expr->value.real);
        break;
    case NODE_WORD:
        text_add(text, expr->name);
        break;
    case NODE_CALL:
        add_call(text, expr);
        break;
    case NODE_SLICE:
    case NODE_INDEX:
        add_at_least(text, expr->kids[0], EXPR_ATOM);
        text_add(text, "[");
        if (expr->kids[1])
            expr_print(text, expr->kids[1]);
        if (expr->node == NODE_SLICE)
            text_add(text, ":");
        if (expr->node == NODE_SLICE && expr->kids[2])
            expr_print(text, expr->kids[2]);
        text_add(text, "]");
        break;
    case NODE_CHOICE:
        text_add(text, "where(");
        for (int i = 0; i < 3; i++) {
            text_add(text, i ? ", " : "");
            expr_print(text, expr->kids[i]);
        }
        text_add(text, ")");
        break;
    case NODE_LIST:
    case NODE_COLUMN:
        break; /* formulas have neither */
    }
}
