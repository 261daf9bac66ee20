/* A formula is a tree of steps, and a step is what one call of torch would be: it is done for a block of elements, and
 * rounded, before the next one. */
#include "task/expr/formula.h"
#include "task/expr/tree.h"
#include "task/tensor/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct formula {
    const struct expr *tree;
    uint64_t uses; /* bit i: name number i */
};

/* Functions and operators. */
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double sign(double x)
{
    return isnan(x) ? x : (x > 0) - (x < 0);
}

static double negative(double x)
{
    return -x; /* 0 - x would make 0 of -0 */
}

/* As torch.minimum and torch.maximum: nan wins. */
static double least(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}

static double greatest(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

#define OPERATOR(name, sign)                                                                                           \
    static double name(double a, double b)                                                                             \
    {                                                                                                                  \
        return a sign b;                                                                                               \
    }
OPERATOR(add, +)
OPERATOR(subtract, -)
OPERATOR(multiply, *)
OPERATOR(divide, /)
OPERATOR(less, <)
OPERATOR(more, >)
OPERATOR(at_most, <=)
OPERATOR(at_least, >=)
OPERATOR(equal, ==)
OPERATOR(differ, !=)

static const struct {
    const char *name;
    double (*unary)(double);
    double (*binary)(double, double);
} functions[] = {
    {"abs", fabs, NULL},   {"sqrt", sqrt, NULL},    {"exp", exp, NULL},      {"expm1", expm1, NULL},
    {"log", log, NULL},    {"log1p", log1p, NULL},  {"log2", log2, NULL},    {"sin", sin, NULL},
    {"cos", cos, NULL},    {"tan", tan, NULL},      {"asin", asin, NULL},    {"acos", acos, NULL},
    {"atan", atan, NULL},  {"sinh", sinh, NULL},    {"cosh", cosh, NULL},    {"tanh", tanh, NULL},
    {"erf", erf, NULL},    {"erfc", erfc, NULL},    {"floor", floor, NULL},  {"ceil", ceil, NULL},
    {"round", rint, NULL}, {"trunc", trunc, NULL},  {"sign", sign, NULL},    {"sigmoid", sigmoid, NULL},
    {"min", NULL, least},  {"max", NULL, greatest}, {"neg", negative, NULL}, {"+", NULL, add},
    {"-", NULL, subtract}, {"*", NULL, multiply},   {"/", NULL, divide},     {"**", NULL, pow},
    {"<", NULL, less},     {">", NULL, more},       {"<=", NULL, at_most},   {">=", NULL, at_least},
    {"==", NULL, equal},   {"!=", NULL, differ},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool is_sign(int function)
{
    return !expr_is_word(functions[function].name) || functions[function].unary == negative;
}

const char *formula_functions(struct arena *arena)
{
    const char *names = "";
    for (int i = 0; i < FUNCTIONS; i++)
        if (!is_sign(i))
            names = arena_printf(arena, "%s%s%s", names, i ? " " : "", functions[i].name);
    return names;
}

/* Resolving. */
struct resolver {
    struct arena *arena;
    const struct formula_name *names;
    int count;
    uint64_t uses;
};

static struct akgen_error *resolve_name(struct resolver *r, struct expr *node)
{
    const struct expr_value *constant = expr_word_value(node->name);
    const char *known = "";
    for (int i = 0; i < r->count; i++) {
        if (strcmp(r->names[i].name, node->name) == 0) {
            node->index = i;
            r->uses |= 1ULL << i;
            return r->names[i].refusal ? expr_error_at(node, "%s", r->names[i].refusal) : NULL;
        }
        known = arena_printf(r->arena, "%s%s%s", known, i ? ", " : "", r->names[i].name);
    }
    if (!constant || constant->kind == EXPR_NONE)
        return expr_error_at(node, "'%s' is no input or attribute; there are %s", node->name, known);
    node->node = NODE_VALUE;
    node->value = *constant;
    return NULL;
}

static struct akgen_error *resolve_call(struct resolver *r, struct expr *node)
{
    int index = 0;
    while (index < FUNCTIONS && strcmp(functions[index].name, node->name) != 0)
        index++;
    node->index = index;
    if (index == FUNCTIONS && !expr_is_word(node->name))
        return expr_error_at(node, "a formula has no '%s'", node->name);
    if (index == FUNCTIONS)
        return expr_error_at(node, "there is no function '%s'; there are %s", node->name, formula_functions(r->arena));
    int arguments = functions[index].binary ? 2 : 1;
    if (node->kid_count != arguments)
        return expr_error_at(node, "%s takes %d argument%s, not %d", node->name, arguments, arguments > 1 ? "s" : "",
                             node->kid_count);
    return NULL;
}

static struct akgen_error *resolve(struct resolver *r, struct expr *node)
{
    struct akgen_error *error = NULL;
    switch (node->node) {
    case NODE_WORD:
        error = resolve_name(r, node);
        break;
    case NODE_CALL:
        error = resolve_call(r, node);
        break;
    case NODE_VALUE:
        error = node->value.kind == EXPR_TEXT ? expr_error_at(node, "a formula has no text") : NULL;
        break;
    case NODE_CHOICE:
        break;
    case NODE_COLUMN:
        return expr_error_at(node, "a formula has no columns; make '%s' an attribute", node->name);
    case NODE_LIST:
    case NODE_INDEX:
    case NODE_SLICE:
        return expr_error_at(node, "a formula has no lists");
    }
    for (int i = 0; i < node->kid_count && !error; i++)
        error = resolve(r, node->kids[i]);
    return error;
}

struct akgen_error *formula_parse(struct arena *arena, const char *text, const struct formula_name *names, int count,
                                  const struct formula **formula)
{
    struct expr *tree;
    struct resolver r = {.arena = arena, .names = names, .count = count};
    struct akgen_error *error = expr_tree_parse(arena, text, &tree);
    if (!error)
        error = resolve(&r, tree);
    *formula = arena_copy(arena, &(struct formula){tree, r.uses}, sizeof **formula);
    return error;
}

const struct expr *formula_tree(const struct formula *formula)
{
    return formula->tree;
}

bool formula_uses(const struct formula *formula, int index)
{
    return formula->uses >> index & 1;
}

/* Evaluating. */
static void block(const struct expr *node, enum akgen_dtype steps, const double *const *values, int n, double *out);

/* A call's value: its first argument is in `out` already. Signs round; the smaller of two numbers is one of them. */
static void call(const struct expr *node, enum akgen_dtype steps, const double *const *values, int n, double *out)
{
    double (*unary)(double) = functions[node->index].unary, (*binary)(double, double) = functions[node->index].binary;
    double second[FORMULA_BLOCK];
    if (unary) {
        for (int i = 0; i < n; i++)
            out[i] = task_round(steps, unary(out[i]));
        return;
    }
    block(node->kids[1], steps, values, n, second);
    for (int i = 0; i < n; i++)
        out[i] = binary(out[i], second[i]);
    for (int i = 0; i < n && is_sign(node->index); i++)
        out[i] = task_round(steps, out[i]);
}

static void choose(const struct expr *node, enum akgen_dtype steps, const double *const *values, int n, double *out)
{
    double yes[FORMULA_BLOCK], no[FORMULA_BLOCK];
    block(node->kids[1], steps, values, n, yes);
    block(node->kids[2], steps, values, n, no);
    for (int i = 0; i < n; i++)
        out[i] = out[i] != 0 ? yes[i] : no[i];
}

static void block(const struct expr *node, enum akgen_dtype steps, const double *const *values, int n, double *out)
{
    if (node->node == NODE_VALUE) {
        for (int i = 0; i < n; i++)
            out[i] = node->value.real;
    } else if (node->node == NODE_WORD) {
        memcpy(out, values[node->index], sizeof *out * (size_t)n);
    } else {
        block(node->kids[0], steps, values, n, out);
        (node->node == NODE_CHOICE ? choose : call)(node, steps, values, n, out);
    }
}

void formula_block(const struct formula *formula, enum akgen_dtype steps, const double *const *values, int n,
                   double *out)
{
    block(formula->tree, steps, values, n, out);
}
