/* The evaluator of values: what a tree's words mean (resolve), what it is in one case (bind), and its elements. */
#include "base/names.h"
#include "task/expr/functions.h"
#include "task/expr/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resolving. */
const char *const *expr_function_names(struct arena *arena)
{
    enum { MOST = 128 };
    const char **names = arena_alloc(arena, sizeof *names * (MOST + 1));
    const struct expr_function *function;
    int count = 0;
    for (int i = 0; (function = expr_function_at(i)) && count < MOST; i++)
        if (expr_is_word(function->name))
            names[count++] = function->name;
    return names;
}

static struct akgen_error *resolve_word(struct expr *node)
{
    const struct expr_value *constant = expr_word_value(node->name);
    const struct expr_function *function = expr_function_find(node->name);
    if (constant) {
        node->node = NODE_VALUE;
        node->value = *constant;
    } else if (function && function->least == 0) {
        node->node = NODE_CALL;
        node->function = function;
    } else {
        node->node = NODE_VALUE;
        node->value = (struct expr_value){.kind = EXPR_TEXT, .text = node->name};
    }
    return NULL;
}

static struct akgen_error *resolve_column(struct arena *arena, struct expr *node, const struct expr_columns *columns)
{
    const char *known = "";
    for (int i = 0; columns && i < columns->count; i++) {
        if (strcmp(columns->names[i], node->name) == 0) {
            node->index = i;
            return NULL;
        }
        known = arena_printf(arena, "%s%s%s", known, i ? ", " : "", columns->names[i]);
    }
    return expr_error_at(node, "cases.csv has no column '%s', its columns are %s", node->name, known);
}

static struct akgen_error *resolve_call(struct arena *arena, struct expr *node)
{
    const struct expr_function *function = node->function = expr_function_find(node->name);
    if (!function && !expr_is_word(node->name))
        return expr_error_at(node, "'%s' is for formulas alone", node->name);
    if (!function)
        return expr_error_at(node, "there is no function '%.64s' (docs/tasks.md lists them)%s", node->name,
                             names_hint(arena, node->name, expr_function_names(arena)));
    if (node->kid_count >= function->least && node->kid_count <= function->most)
        return NULL;
    if (function->least == function->most)
        return expr_error_at(node, "%s takes %d argument%s, not %d", function->name, function->most,
                             function->most == 1 ? "" : "s", node->kid_count);
    return expr_error_at(node, "%s takes %d to %d arguments, not %d", function->name, function->least, function->most,
                         node->kid_count);
}

static struct akgen_error *resolve(struct arena *arena, struct expr *node, const struct expr_columns *columns)
{
    struct akgen_error *error = NULL;
    if (node->node == NODE_WORD)
        error = resolve_word(node);
    else if (node->node == NODE_COLUMN)
        error = resolve_column(arena, node, columns);
    else if (node->node == NODE_CALL)
        error = resolve_call(arena, node);
    for (int i = 0; i < node->kid_count && !error; i++)
        if (node->kids[i])
            error = resolve(arena, node->kids[i], columns);
    return error;
}

struct akgen_error *expr_parse(struct arena *arena, const char *text, const struct expr_columns *columns,
                               const struct expr **expr)
{
    struct expr *tree;
    struct akgen_error *error = expr_tree_parse(arena, text, &tree);
    *expr = tree;
    return error ? error : resolve(arena, tree, columns);
}

const char *expr_text(const struct expr *expr)
{
    return expr->text;
}

bool expr_mentions(const struct expr *expr, int column)
{
    bool mentions = expr->node == NODE_COLUMN && expr->index == column;
    for (int i = 0; i < expr->kid_count && !mentions; i++)
        mentions = expr->kids[i] && expr_mentions(expr->kids[i], column);
    return mentions;
}

bool expr_branches_fit(const struct expr *expr, bool (*fits)(const struct expr_value *value))
{
    struct expr_value rule = {.kind = EXPR_RULE};
    if (expr->node == NODE_CHOICE)
        return expr_branches_fit(expr->kids[1], fits) && expr_branches_fit(expr->kids[2], fits);
    if (expr->node == NODE_VALUE)
        return fits(&expr->value);
    return fits(expr->node == NODE_CALL && expr_function_is_rule(expr->function) ? &rule : NULL);
}

/* Binding. */
static const struct expr *constant_new(const struct expr_scope *scope, struct expr_value value)
{
    struct expr *node = arena_alloc(scope->arena, sizeof *node);
    node->value = value;
    return node;
}

const struct expr_value *expr_constant(const struct expr *bound)
{
    return bound->node == NODE_VALUE ? &bound->value : NULL;
}

static struct akgen_error *bind_column(const struct expr *expr, const struct expr_scope *scope,
                                       const struct expr **bound)
{
    if (!scope->cells)
        return expr_error_at(expr, "'$%s' differs from case to case", expr->name);
    *bound = constant_new(scope, scope->cells[expr->index]);
    return NULL;
}

static struct akgen_error *bind_list(const struct expr *expr, const struct expr_scope *scope, const struct expr **bound)
{
    struct expr_value *items = arena_alloc(scope->arena, sizeof *items * (size_t)(expr->kid_count + 1));
    for (int i = 0; i < expr->kid_count; i++) {
        struct akgen_error *error = expr_eval(expr->kids[i], scope, &items[i]);
        if (error)
            return error;
    }
    *bound = constant_new(scope, (struct expr_value){.kind = EXPR_LIST, .items = items, .count = expr->kid_count});
    return NULL;
}

static struct akgen_error *bind_position(const struct expr *expr, const struct expr_scope *scope, int otherwise,
                                         int count, int *position)
{
    *position = otherwise;
    if (!expr)
        return NULL;
    struct expr_value value;
    struct akgen_error *error = expr_eval(expr, scope, &value);
    if (error)
        return error;
    if (value.kind != EXPR_INT)
        return error_new("an index must be an integer, not %s", expr_show(scope->arena, &value));
    if (value.integer < -count || value.integer > count)
        return error_new("index %lld is outside of a list of %d", (long long)value.integer, count);
    *position = (int)(value.integer < 0 ? value.integer + count : value.integer);
    return NULL;
}

/* list[i] and list[from:to]. */
static struct akgen_error *bind_index(const struct expr *expr, const struct expr_scope *scope,
                                      const struct expr **bound)
{
    struct expr_value list;
    int from, to;
    struct akgen_error *error = expr_eval(expr->kids[0], scope, &list);
    if (!error && list.kind != EXPR_LIST)
        error = error_new("%s is no list: it cannot be indexed", expr_show(scope->arena, &list));
    if (!error)
        error = bind_position(expr->kids[1], scope, 0, list.count, &from);
    if (!error)
        error = bind_position(expr->kids[2], scope, list.count, list.count, &to);
    if (error)
        return error;
    if (expr->node == NODE_SLICE) {
        list.items += from;
        list.count = to > from ? to - from : 0;
        *bound = constant_new(scope, list);
    } else if (from < list.count) {
        *bound = constant_new(scope, list.items[from]);
    } else {
        return error_new("index %d is outside of a list of %d", from, list.count);
    }
    return NULL;
}

/* What stands for a call whose arguments are known, or differ from element to element. */
static struct akgen_error *check_elements(const struct expr *call, const struct expr_scope *scope)
{
    const struct expr_function *function = call->function;
    if (!function->block)
        return error_new("%s has no meaning per element", function->name);
    if (expr_function_whole(function) && scope->elements > EXPR_BLOCK)
        return error_new("%s takes at most %d elements", function->name, EXPR_BLOCK);
    for (int i = 0; i < call->kid_count; i++) {
        const struct expr_value *value = expr_constant(call->kids[i]);
        if (value && !expr_is_number(value))
            return error_new("%s needs numbers, not %s", function->name, expr_show(scope->arena, value));
    }
    return NULL;
}

static struct akgen_error *bind_call(const struct expr *expr, const struct expr_scope *scope, const struct expr **bound)
{
    struct expr *call = arena_copy(scope->arena, expr, sizeof *call);
    struct expr_value args[EXPR_MAX_ARGS], value;
    bool constant = expr->function->constant != NULL;
    call->kids = arena_alloc(scope->arena, sizeof *call->kids * (size_t)(expr->kid_count + 1));
    for (int i = 0; i < expr->kid_count; i++) {
        const struct expr *kid;
        struct akgen_error *error = expr_bind(expr->kids[i], scope, &kid);
        if (error)
            return error;
        call->kids[i] = (struct expr *)kid;
        constant &= expr_constant(kid) != NULL;
        if (constant)
            args[i] = *expr_constant(kid);
    }
    *bound = call;
    if (!constant)
        return check_elements(call, scope);
    struct akgen_error *error = expr->function->constant(scope, args, expr->kid_count, &value);
    if (!error)
        *bound = constant_new(scope, value);
    return error;
}

static struct akgen_error *bind_choice(const struct expr *expr, const struct expr_scope *scope,
                                       const struct expr **bound)
{
    const struct expr *condition;
    struct akgen_error *error = expr_bind(expr->kids[0], scope, &condition);
    if (error)
        return error;
    const struct expr_value *value = expr_constant(condition);
    if (!value || !expr_is_number(value))
        return error_new("the condition before '?' must be true or false for the whole case");
    return expr_bind(expr->kids[expr_number(value) != 0 ? 1 : 2], scope, bound);
}

struct akgen_error *expr_bind(const struct expr *expr, const struct expr_scope *scope, const struct expr **bound)
{
    switch (expr->node) {
    case NODE_VALUE:
        *bound = constant_new(scope, expr->value);
        return NULL;
    case NODE_COLUMN:
        return bind_column(expr, scope, bound);
    case NODE_LIST:
        return bind_list(expr, scope, bound);
    case NODE_INDEX:
    case NODE_SLICE:
        return bind_index(expr, scope, bound);
    case NODE_CHOICE:
        return bind_choice(expr, scope, bound);
    case NODE_CALL:
        return bind_call(expr, scope, bound);
    case NODE_WORD: /* resolved when it was parsed */
        break;
    }
    abort();
}

void expr_block(const struct expr *bound, const struct expr_scope *scope, int64_t first, int n, double *out)
{
    if (bound->node == NODE_VALUE) {
        const struct expr_value *value = &bound->value;
        for (int i = 0; i < n; i++)
            out[i] = value->kind == EXPR_LIST ? expr_number(&value->items[first + i]) : expr_number(value);
        return;
    }
    double blocks[EXPR_MAX_ARGS][EXPR_BLOCK];
    const double *args[EXPR_MAX_ARGS];
    for (int i = 0; i < bound->kid_count; i++) {
        expr_block(bound->kids[i], scope, first, n, blocks[i]);
        args[i] = blocks[i];
    }
    bound->function->block(scope, expr_mix(scope->key, bound->place), args, bound->kid_count, first, n, out);
}

struct akgen_error *expr_eval(const struct expr *expr, const struct expr_scope *scope, struct expr_value *value)
{
    const struct expr *bound;
    struct akgen_error *error = expr_bind(expr, scope, &bound);
    if (error)
        return error;
    if (expr_constant(bound)) {
        *value = bound->value;
    } else {
        struct expr_scope one = *scope;
        one.type = AKGEN_DOUBLE;
        one.elements = 1;
        *value = (struct expr_value){.kind = EXPR_REAL};
        expr_block(bound, &one, 0, 1, &value->real);
    }
    return NULL;
}

/* Values. */
struct expr_value expr_cell(struct arena *arena, const char *text)
{
    const struct expr *expr;
    struct expr_value value = {.kind = EXPR_TEXT, .text = text};
    struct expr_scope nothing = {.arena = arena};
    struct akgen_error *error = expr_parse(arena, text, NULL, &expr);
    if (!error)
        error = expr_eval(expr, &nothing, &value);
    if (error)
        value = (struct expr_value){.kind = EXPR_TEXT, .text = text};
    if (value.kind != EXPR_TEXT)
        value.text = text;
    error_free(error);
    return value;
}

struct expr_value expr_as_cell(struct arena *arena, struct expr_value value)
{
    if (value.kind != EXPR_TEXT)
        value.text = expr_show(arena, &value);
    return value;
}

bool expr_is_number(const struct expr_value *value)
{
    return value->kind == EXPR_BOOL || value->kind == EXPR_INT || value->kind == EXPR_REAL;
}

double expr_number(const struct expr_value *value)
{
    return value->kind == EXPR_REAL ? value->real : (double)value->integer;
}

static const char *show_items(struct arena *arena, const struct expr_value *value)
{
    const char *list = "";
    for (int i = 0; i < value->count; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", expr_show(arena, &value->items[i]));
    return list;
}

const char *expr_show(struct arena *arena, const struct expr_value *value)
{
    switch (value->kind) {
    case EXPR_NONE:
        return "None";
    case EXPR_BOOL:
        return value->integer ? "true" : "false";
    case EXPR_INT:
        return arena_printf(arena, "%lld", (long long)value->integer);
    case EXPR_REAL:
        return arena_printf(arena, "%.17g", value->real);
    case EXPR_TEXT:
        return arena_printf(arena, "'%s'", value->text);
    case EXPR_LIST:
        return arena_printf(arena, "[%s]", show_items(arena, value));
    case EXPR_RULE:
        return arena_printf(arena, "%s(%s)", expr_rule_name((enum expr_rule)value->integer), show_items(arena, value));
    }
    return "";
}
