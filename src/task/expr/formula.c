/* A formula's text: what its words mean, which of them are functions, and what cannot be right in any case. */
#include "task/expr/formula_internal.h"
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

struct resolver {
    struct arena *arena;
    const struct formula_name *names;
    const struct formula_step *steps; /* known so far */
    int count, step_count;
    const char *output; /* whose formula it is */
};

enum formula_kind formula_kind_of(const struct expr *call)
{
    return formula_function_of(call)->kind;
}

bool formula_of_all(const struct expr *call)
{
    const int first = formula_function_of(call)->arguments;
    return call->kid_count > first && call->kids[first]->node == NODE_WORD;
}

bool formula_names_axes(const struct expr *call)
{
    return call->kid_count > formula_function_of(call)->arguments && !formula_of_all(call);
}

static const char *known_names(const struct resolver *r)
{
    const char *known = "";
    for (int i = 0; i < r->count; i++)
        known = arena_printf(r->arena, "%s%s%s", known, i ? ", " : "", r->names[i].name);
    for (int i = 0; i < r->step_count; i++)
        known = arena_printf(r->arena, "%s%s%s", known, *known ? ", " : "", r->steps[i].name);
    return known;
}

/* The number of a name: of an input or attribute, behind them of a step; -1 if it is none. */
static int number_of(const struct resolver *r, const char *name)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->names[i].name, name) == 0)
            return i;
    for (int i = 0; i < r->step_count; i++)
        if (strcmp(r->steps[i].name, name) == 0)
            return r->count + i;
    return -1;
}

static struct akgen_error *resolve_name(const struct resolver *r, struct expr *node)
{
    static const struct expr_value pi = {.kind = EXPR_REAL, .real = 3.14159265358979323846};
    const struct expr_value *constant = strcmp(node->name, "pi") == 0 ? &pi : expr_word_value(node->name);
    node->index = number_of(r, node->name);
    if (node->index >= 0 && node->index < r->count && r->names[node->index].refusal)
        return expr_error_at(node, "%s", r->names[node->index].refusal);
    if (node->index >= 0)
        return NULL;
    if (!constant || constant->kind == EXPR_NONE)
        return expr_error_at(node, "'%s' is no input, attribute or step before; there are %s", node->name,
                             known_names(r));
    node->node = NODE_VALUE;
    node->value = *constant;
    return NULL;
}

static bool is_all(const struct expr *node)
{
    return node->node == NODE_WORD && strcmp(node->name, "all") == 0;
}

/* The number of an axis, from the end if it is negative. */
static struct akgen_error *resolve_axis(const struct expr *call, struct expr *axis)
{
    const struct expr *number = axis;
    bool minus = axis->node == NODE_CALL && strcmp(axis->name, "neg") == 0;
    if (minus)
        number = axis->kids[0];
    if (number->node != NODE_VALUE || number->value.kind != EXPR_INT)
        return expr_error_at(axis, "%s goes along axes, which are whole numbers%s", call->name,
                             formula_function_of(call)->kind >= FORMULA_ROW ? "" : ", or over 'all' of the tensor");
    struct expr_value value = number->value;
    value.integer = minus ? -value.integer : value.integer;
    axis->node = NODE_VALUE;
    axis->value = value;
    axis->kid_count = 0;
    return NULL;
}

/* [0, 1], and (0, 1) behind dim=, are axes 0, 1. */
static void spread_axes(struct arena *arena, struct expr *call)
{
    const int first = formula_function_of(call)->arguments;
    if (call->kid_count != first + 1 || call->kids[first]->node != NODE_LIST)
        return;
    const struct expr *list = call->kids[first];
    struct expr **kids = arena_alloc(arena, sizeof *kids * (size_t)(first + list->kid_count));
    memcpy(kids, call->kids, sizeof *kids * (size_t)first);
    memcpy(kids + first, list->kids, sizeof *kids * (size_t)list->kid_count);
    call->kids = kids;
    call->kid_count = first + list->kid_count;
}

/* What stands behind the tensor of sum(x, ..): `all`, or axes. The last axis is what it goes along anyway. */
static struct akgen_error *resolve_axes(struct expr *call)
{
    const struct formula_function *function = formula_function_of(call);
    const int first = function->arguments, count = call->kid_count - first;
    struct akgen_error *error = NULL;
    if (count == 1 && is_all(call->kids[first]) && function->kind < FORMULA_ROW) {
        call->kids[first]->index = -1;
        return NULL;
    }
    if (count > 1 && function->kind >= FORMULA_ROW)
        return expr_error_at(call->kids[first + 1], "%s goes along one axis", call->name);
    for (int i = first; i < call->kid_count && !error; i++) {
        error = resolve_axis(call, call->kids[i]);
        for (int k = first; k < i && !error; k++)
            if (call->kids[k]->value.integer == call->kids[i]->value.integer)
                error =
                    expr_error_at(call->kids[i], "axis %lld is given twice", (long long)call->kids[i]->value.integer);
    }
    if (!error && count == 1 && call->kids[first]->value.integer == -1)
        call->kid_count = first;
    return error;
}

static struct akgen_error *no_function(const struct resolver *r, const struct expr *call)
{
    /* What others have, and what to write for it. */
    static const char *const instead[][2] = {
        {"prod", "exp(sum(log(x))) where x is positive"},
        {"cumprod", "exp(cumsum(log(x))) where x is positive"},
        {"dropout", "x * mask / (1 - p), the mask being an input"},
        {"isnan", "x != x"},
        {"isinf", "abs(x) == inf"},
        {"arange", "index(x, axis), or index(y, axis) of the output y"},
        {"iota", "index(x, axis), or index(y, axis) of the output y"},
        {"tril", "where(index(x, -1) <= index(x, -2), x, 0)"},
        {"triu", "where(index(x, -1) >= index(x, -2), x, 0)"},
        {"len", "size(x)"},
        {"numel", "size(x, all)"},
        {"shape", "size(x, axis)"},
        {"dot", "sum(a * b) for rows, a program in AscendDSL (docs/dsl.md) for matrices"},
        {"argmax", "a program in AscendDSL with tl.row_argmax (docs/dsl.md)"},
        {"argmin", "a program in AscendDSL with tl.row_argmin (docs/dsl.md)"},
        {"argsort", "a program in AscendDSL with tl.sort (docs/dsl.md)"},
        {"cummax", "cumsum, the only running result that a formula has, or a program in AscendDSL (docs/dsl.md)"},
        {"cummin", "cumsum, the only running result that a formula has, or a program in AscendDSL (docs/dsl.md)"},
        {"reshape", "shapes that NumPy's rules bring together: a formula does not rearrange elements"},
        {"view", "shapes that NumPy's rules bring together: a formula does not rearrange elements"},
        {"flatten", "sums over several axes, sum(x, -2, -1), or over 'all': a formula does not rearrange elements"},
        {"matmul", "a program in AscendDSL (docs/dsl.md)"},
        {"mm", "a program in AscendDSL (docs/dsl.md)"},
        {"bmm", "a program in AscendDSL (docs/dsl.md)"},
        {"einsum", "a program in AscendDSL (docs/dsl.md)"},
        {"transpose", "a program in AscendDSL (docs/dsl.md)"},
        {"permute", "a program in AscendDSL (docs/dsl.md)"},
        {"gather", "a program in AscendDSL (docs/dsl.md)"},
        {"median", "a program in AscendDSL with tl.sort (docs/dsl.md)"},
        {"sort", "a program in AscendDSL with tl.sort (docs/dsl.md)"},
        {"topk", "a program in AscendDSL with tl.sort (docs/dsl.md)"},
    };
    for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
        if (strcmp(instead[i][0], call->name) == 0)
            return expr_error_at(call, "there is no function '%s'; write %s", call->name, instead[i][1]);
    return expr_error_at(call, "there is no function '%s'%s; there are %s", call->name,
                         names_hint(r->arena, call->name, formula_function_names(r->arena)),
                         formula_functions(r->arena));
}

static struct akgen_error *resolve_call(const struct resolver *r, struct expr *node)
{
    bool smallest = strcmp(node->name, "min") == 0, largest = strcmp(node->name, "max") == 0;
    if ((smallest || largest) && (node->kid_count == 1 || (node->kid_count == 2 && is_all(node->kids[1]))))
        node->name = smallest ? "amin" : "amax";
    node->index = formula_function_find(node->name);
    if (node->index < 0)
        return no_function(r, node);
    const struct formula_function *function = formula_function_of(node);
    node->name = function->name;
    spread_axes(r->arena, node);
    if (function->kind >= FORMULA_SUMMARY && node->kid_count > function->arguments)
        return resolve_axes(node);
    if (node->kid_count == function->arguments)
        return NULL;
    return expr_error_at(node, "%s takes %d argument%s, not %d", function->name, function->arguments,
                         function->arguments > 1 ? "s" : "", node->kid_count);
}

static struct akgen_error *resolve(const struct resolver *r, struct expr *node);

/* A bound of a slice is a whole number: of numbers, attributes and sizes. */
static struct akgen_error *resolve_bound(const struct resolver *r, struct expr *node)
{
    static const char *const operators[] = {"neg", "+", "-", "*", "/", "//", "%", "min", "max"};
    struct akgen_error *error = NULL;
    if (!node)
        return NULL;
    if (node->node == NODE_WORD || (node->node == NODE_CALL && strcmp(node->name, "size") == 0))
        return resolve(r, node);
    if (node->node == NODE_VALUE && node->value.kind == EXPR_INT)
        return NULL;
    bool known = false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        known |= node->node == NODE_CALL && strcmp(operators[i], node->name) == 0;
    if (!known || node->kid_count != (strcmp(node->name, "neg") == 0 ? 1 : 2))
        return expr_error_at(node, "a bound is made of whole numbers, attributes and size(x) by + - * // min max");
    for (int i = 0; i < node->kid_count && !error; i++)
        error = resolve_bound(r, node->kids[i]);
    return error;
}

/* The data type of type_as(x, y) is that of y, an input: steps have none. */
static struct akgen_error *check_typed(const struct resolver *r, const struct expr *call)
{
    const struct expr *of = call->kids[1];
    if (of->node == NODE_WORD && of->index < r->count)
        return NULL;
    return expr_error_at(of, "%s rounds to the data type of an input, which is named here", call->name);
}

/* The first argument of index(y), where y is no name before. */
static bool is_own_output(const struct resolver *r, const struct expr *node)
{
    return node->node == NODE_WORD && strcmp(node->name, r->output) == 0 && number_of(r, node->name) < 0;
}

static struct akgen_error *resolve(const struct resolver *r, struct expr *node)
{
    struct akgen_error *error = NULL;
    int arguments = node->kid_count;
    switch (node->node) {
    case NODE_WORD:
        return resolve_name(r, node);
    case NODE_CALL:
        if ((error = resolve_call(r, node)))
            return error;
        arguments = formula_function_of(node)->arguments;
        if (formula_kind_of(node) == FORMULA_PLACE && is_own_output(r, node->kids[0])) {
            node->kids[0]->index = FORMULA_OWN;
            return NULL;
        }
        break;
    case NODE_VALUE:
        return node->value.kind == EXPR_TEXT ? expr_error_at(node, "a formula has no text") : NULL;
    case NODE_CHOICE:
        break;
    case NODE_COLUMN:
        return expr_error_at(node, "a formula has no columns; make '%s' an attribute", node->name);
    case NODE_LIST:
        return expr_error_at(node, "a formula has no lists");
    case NODE_INDEX:
    case NODE_SLICE:
        error = resolve(r, node->kids[0]);
        error = error ? error : resolve_bound(r, node->kids[1]);
        return error ? error : resolve_bound(r, node->kids[2]);
    }
    for (int i = 0; i < arguments && !error; i++)
        error = resolve(r, node->kids[i]);
    if (!error && node->node == NODE_CALL && formula_kind_of(node) == FORMULA_TYPED)
        error = check_typed(r, node);
    return error;
}

/* A step needs a name of its own. */
static struct akgen_error *check_name(const struct resolver *r, const char *text, const struct expr_step *step)
{
    if (!step->name || (number_of(r, step->name) < 0 && !expr_word_value(step->name)))
        return NULL;
    return error_new("in '%.100s', column %d: '%s' has a meaning already, a step needs a name of its own", text,
                     step->at, step->name);
}

/* The names that a tree needs, bit i for number i. */
static uint64_t names_of(const struct resolver *r, const struct expr *node)
{
    uint64_t names = 0;
    if (node && node->node == NODE_WORD && node->index >= 0)
        return node->index < r->count ? 1ULL << node->index : r->steps[node->index - r->count].uses;
    for (int i = 0; node && i < node->kid_count; i++)
        names |= names_of(r, node->kids[i]);
    return names;
}

struct akgen_error *formula_parse(struct arena *arena, const char *text, const struct formula_name *names, int count,
                                  const struct formula *before, const char *name, int output,
                                  const struct formula **formula)
{
    struct expr_step parsed[FORMULA_MAX_STEPS];
    int known = before ? before->count : 0, added;
    struct formula_step *steps = arena_alloc(arena, sizeof *steps * (size_t)(known + FORMULA_MAX_STEPS));
    struct resolver r = {
        .arena = arena, .names = names, .count = count, .steps = steps, .step_count = known, .output = name};
    if (known)
        memcpy(steps, before->steps, sizeof *steps * (size_t)known);
    struct akgen_error *error = expr_steps_parse(arena, text, parsed, FORMULA_MAX_STEPS, &added);
    for (int i = 0; i < added && !error; i++) {
        bool result = !parsed[i].name;
        if (!(error = check_name(&r, text, &parsed[i])))
            error = resolve(&r, parsed[i].tree);
        uint64_t needed = error ? 0 : names_of(&r, parsed[i].tree);
        steps[r.step_count++] =
            (struct formula_step){result ? name : parsed[i].name, parsed[i].tree, output, result, needed};
    }
    *formula =
        arena_copy(arena, &(struct formula){arena_strdup(arena, text), steps, r.step_count, count}, sizeof **formula);
    return error;
}

bool formula_uses(const struct formula *formula, int index)
{
    return formula->steps[formula->count - 1].uses >> index & 1;
}

static bool has_place(const struct expr *node)
{
    bool has = node && node->node == NODE_WORD && node->index == FORMULA_OWN;
    for (int i = 0; node && i < node->kid_count && !has; i++)
        has = has_place(node->kids[i]);
    return has;
}

bool formula_places(const struct formula *formula, int output)
{
    bool places = false;
    for (int i = 0; i < formula->count && !places; i++)
        places = formula->steps[i].output == output && has_place(formula->steps[i].tree);
    return places;
}
