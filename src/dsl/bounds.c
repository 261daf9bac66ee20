/* The largest number of elements that the host function can make of a buffer's size, whatever the shapes: where it is known, and all
 * buffers fit at that, nothing has to be decided at the launch. Sizes, and what they are made of, are taken not to be negative;
 * of an expression that is not understood no bound is known. */
#include "dsl/lower_internal.h"
#include "dsl/usage.h"
#include "npu/npu.h"

#include <limits.h>
#include <string.h>

#define NO_BOUND INT64_MAX
enum { STEPS = 4000, NAMES = 512 }; /* of one question; NAMES: that it follows, each through the host function's text */

struct bounds {
    const struct lowering *lowering;
    int steps, names; /* that may be taken yet: names stand for expressions of names */
};

static int64_t bound_of(struct bounds *bounds, const struct dsl_expr *expr);

/* What the name stands for everywhere: a constant of the file, the default of a parameter that is the program's own, or what one
 * statement of the host function assigns; NULL: it is something else. */
static const struct dsl_expr *value_of(const struct lowering *lowering, const char *name)
{
    const struct dsl_statement *host = lowering->program->host;
    const bool of_file = !dsl_scope_find(&lowering->program->host_names, name);
    int assignments = 0;
    for (int i = 0; !of_file && i < host->function->count; i++)
        if (strcmp(host->function->parameters[i].name, name) == 0)
            return lowering->opdef->roles[i].kind == DSL_PARAMETER_DEFAULT && !block_assigns(&host->body, name)
                       ? host->function->parameters[i].value
                       : NULL;
    const struct dsl_expr *value = lower_value_of(of_file ? &lowering->tree->body : &host->body, name, &assignments);
    return assignments == 1 ? value : NULL;
}

/* The expression, or what the name that it is stands for. */
static const struct dsl_expr *meaning_of(struct bounds *bounds, const struct dsl_expr *expr)
{
    const struct dsl_expr *value = expr;
    while (value && value->kind == DSL_NAME && bounds->steps-- > 0 && bounds->names-- > 0) {
        expr = value;
        value = value_of(bounds->lowering, value->name);
    }
    return value ? value : expr;
}

/* "min", "max", "cdiv" and so on of a call, of Python or of tl; "": it is no call. */
static const char *function_of(const struct dsl_expr *expr)
{
    const char *name = expr->kind == DSL_CALL ? expr->items[0]->name : NULL;
    return name ? name : "";
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t product(int64_t a, int64_t b)
{
    int64_t all;
    return a == NO_BOUND || b == NO_BOUND || __builtin_mul_overflow(a, b, &all) ? NO_BOUND : all;
}

/* A number that the expression is a multiple of. */
static int64_t factor_of(struct bounds *bounds, const struct dsl_expr *expr)
{
    expr = meaning_of(bounds, expr);
    if (bounds->steps-- <= 0)
        return 1;
    if (expr->kind == DSL_BINARY && expr->op == DSL_MULTIPLY) {
        int64_t factor = product(factor_of(bounds, expr->items[0]), factor_of(bounds, expr->items[1]));
        return factor == NO_BOUND ? 1 : factor;
    }
    return expr->kind == DSL_INT && expr->integer > 0 ? expr->integer
           : strcmp(function_of(expr), "pitch") == 0  ? DSL_PITCH
                                                      : 1;
}

/* A quotient, rounded up, by what is at least 1. */
static int64_t quotient(struct bounds *bounds, int64_t a, const struct dsl_expr *by)
{
    int64_t least = factor_of(bounds, by);
    return a == NO_BOUND ? NO_BOUND : a / least + (a % least > 0);
}

/* a * b, where `max(1, tile // b) * b` is bounded though neither factor has a good bound. */
static int64_t bound_of_product(struct bounds *bounds, const struct dsl_expr *a, const struct dsl_expr *b)
{
    const struct dsl_expr *factors[] = {meaning_of(bounds, a), meaning_of(bounds, b)};
    for (int side = 0; side < 2 && bounds->steps-- > 0; side++) {
        const struct dsl_expr *one = factors[side], *other = factors[!side];
        const bool min = strcmp(function_of(one), "min") == 0, max = strcmp(function_of(one), "max") == 0;
        if (one->kind == DSL_BINARY && one->op == DSL_FLOOR_DIVIDE &&
            tree_equal(meaning_of(bounds, one->items[1]), other))
            return bound_of(bounds, one->items[0]);
        int64_t bound = min ? NO_BOUND : 0;
        for (int i = 1; (min || max) && i < one->count; i++) {
            int64_t part = bound_of_product(bounds, one->items[i], other);
            bound = min ? smaller(bound, part) : larger(bound, part);
        }
        if (min || max)
            return bound;
    }
    return product(bound_of(bounds, factors[0]), bound_of(bounds, factors[1]));
}

static int64_t bound_of_call(struct bounds *bounds, const struct dsl_expr *call)
{
    const char *name = function_of(call);
    const bool min = strcmp(name, "min") == 0;
    int64_t bound = min ? NO_BOUND : 0;
    if (strcmp(name, "num_vec_cores") == 0 || strcmp(name, "num_cube_cores") == 0)
        return name[4] == 'v' ? npu_socs->aiv : npu_socs->aic;
    if (strcmp(name, "cdiv") == 0 && call->count == 3)
        return quotient(bounds, bound_of(bounds, call->items[1]), call->items[2]);
    if (strcmp(name, "pitch") == 0 && call->count == 2) {
        bound = bound_of(bounds, call->items[1]);
        return bound > NO_BOUND - DSL_PITCH ? NO_BOUND : (bound + DSL_PITCH - 1) / DSL_PITCH * DSL_PITCH;
    }
    if (!min && strcmp(name, "max") != 0)
        return NO_BOUND;
    for (int i = 1; i < call->count; i++) {
        int64_t part = bound_of(bounds, call->items[i]);
        bound = min ? smaller(bound, part) : larger(bound, part);
    }
    return bound;
}

static int64_t bound_of_operation(struct bounds *bounds, const struct dsl_expr *expr)
{
    int64_t a, b, sum;
    if (expr->op == DSL_MULTIPLY)
        return bound_of_product(bounds, expr->items[0], expr->items[1]);
    a = bound_of(bounds, expr->items[0]);
    b = bound_of(bounds, expr->items[1]);
    switch (expr->op) {
    case DSL_ADD:
        return a == NO_BOUND || b == NO_BOUND || __builtin_add_overflow(a, b, &sum) ? NO_BOUND : sum;
    case DSL_SUBTRACT:
        return a;
    case DSL_FLOOR_DIVIDE:
        return quotient(bounds, a, expr->items[1]);
    case DSL_REMAINDER:
        return smaller(a, b);
    default:
        return NO_BOUND;
    }
}

static int64_t bound_of(struct bounds *bounds, const struct dsl_expr *expr)
{
    expr = meaning_of(bounds, expr);
    if (bounds->steps-- <= 0)
        return NO_BOUND;
    switch (expr->kind) {
    case DSL_INT:
        return expr->integer;
    case DSL_CHOICE:
        return larger(bound_of(bounds, expr->items[0]), bound_of(bounds, expr->items[2]));
    case DSL_CALL:
        return bound_of_call(bounds, expr);
    case DSL_BINARY:
        return bound_of_operation(bounds, expr);
    default:
        return NO_BOUND;
    }
}

bool lower_cores_run_at_once(struct lowering *lowering)
{
    const bool cube = dsl_usage_cube(lowering->program);
    struct bounds bounds = {lowering, STEPS, NAMES};
    const struct dsl_expr *cores = meaning_of(&bounds, lowering->program->launch->items[0]->items[1]);
    int least = INT_MAX; /* cores that a chip has: a number that is written down stays on the smallest */
    for (const struct npu_soc *soc = npu_socs; soc->name; soc++)
        least = (int)smaller(least, cube ? soc->aic : soc->aiv);
    return bound_of(&bounds, cores) <= (cores->kind == DSL_INT ? least : cube ? npu_socs->aic : npu_socs->aiv);
}

int64_t lower_most_elements(struct lowering *lowering, const struct lower_buffer *buffer)
{
    struct bounds bounds = {lowering, STEPS, NAMES};
    int64_t bound = bound_of(&bounds, lower_host_terms(lowering, buffer->size));
    return bound == NO_BOUND ? -1 : bound;
}
