/* Parsing, binding and evaluating expressions: a recursive-descent parser, then a tree walk that folds constants. */
#include "task/expr/expr.h"

#include "task/expr/expr_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32, MAX_ITEMS = 4096, MAX_ARGS = 8 };

/* Parser. */
struct parser {
    struct arena *arena;
    const char *text, *at;
    struct akgen_error *error; /* the first one; parsing stops there */
    int depth;
    uint64_t nodes;
};

static struct expr *parse_expression(struct parser *p);

static struct expr *fail(struct parser *p, const char *expected)
{
    if (!p->error)
        p->error =
            error_new("in '%.100s', column %d: expected %s, found %s%.20s%s", p->text, (int)(p->at - p->text) + 1,
                      expected, *p->at ? "'" : "", *p->at ? p->at : "the end", *p->at ? "'" : "");
    return NULL;
}

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool accept(struct parser *p, const char *token)
{
    skip_blanks(p);
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

static struct expr *node_new(struct parser *p, enum expr_node kind)
{
    struct expr *node = arena_alloc(p->arena, sizeof *node);
    node->node = kind;
    node->place = ++p->nodes;
    return node;
}

static struct expr *value_node(struct parser *p, struct expr_value value)
{
    struct expr *node = node_new(p, NODE_VALUE);
    node->value = value;
    return node;
}

static struct expr *call_node(struct parser *p, const struct expr_function *function, struct expr **kids, int count)
{
    struct expr *node = node_new(p, NODE_CALL);
    node->function = function;
    node->kids = arena_alloc(p->arena, sizeof *kids * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        node->kids[i] = kids[i];
    node->kid_count = count;
    return node;
}

/* Items up to `close`, which is consumed. */
static struct expr **parse_items(struct parser *p, const char *close, int *count)
{
    int room = 4;
    struct expr **items = arena_alloc(p->arena, sizeof *items * (size_t)room);
    *count = 0;
    if (accept(p, close))
        return items;
    do {
        if (*count == MAX_ITEMS)
            return (void *)fail(p, "fewer items");
        if (*count == room) {
            struct expr **more = arena_alloc(p->arena, sizeof *items * (size_t)(room *= 2));
            memcpy(more, items, sizeof *items * (size_t)*count);
            items = more;
        }
        struct expr *item = parse_expression(p);
        if (!item)
            return NULL;
        items[(*count)++] = item;
    } while (accept(p, ","));
    return accept(p, close) ? items : (void *)fail(p, close[0] == ')' ? "',' or ')'" : "',' or ']'");
}

static struct expr *parse_number(struct parser *p)
{
    char *end_int, *end_real;
    double real = strtod(p->at, &end_real);
    long long integer = strtoll(p->at, &end_int, 10);
    struct expr_value value = {.kind = EXPR_REAL, .real = real};
    if (end_int >= end_real)
        value = (struct expr_value){.kind = EXPR_INT, .integer = integer};
    p->at = end_real > end_int ? end_real : end_int;
    return value_node(p, value);
}

static const struct {
    const char *word;
    struct expr_value value;
} constants[] = {
    {"true", {.kind = EXPR_BOOL, .integer = 1}},
    {"True", {.kind = EXPR_BOOL, .integer = 1}},
    {"false", {.kind = EXPR_BOOL}},
    {"False", {.kind = EXPR_BOOL}},
    {"None", {.kind = EXPR_NONE}},
    {"inf", {.kind = EXPR_REAL, .real = INFINITY}},
    {"nan", {.kind = EXPR_REAL, .real = NAN}},
};

static struct expr *parse_word(struct parser *p)
{
    const char *start = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    size_t length = (size_t)(p->at - start);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strlen(constants[i].word) == length && memcmp(start, constants[i].word, length) == 0)
            return value_node(p, constants[i].value);
    const struct expr_function *function = expr_function_find(start, length);
    if (accept(p, "(")) {
        if (!function) {
            p->at = start;
            return fail(p, "a function (see docs/tasks.md)");
        }
        int count;
        struct expr **kids = parse_items(p, ")", &count);
        if (!kids)
            return NULL;
        if (count < function->least || count > function->most) {
            p->error = error_new("in '%.100s': %s takes %d to %d arguments, not %d", p->text, function->name,
                                 function->least, function->most, count);
            return NULL;
        }
        return call_node(p, function, kids, count);
    }
    if (function && function->least == 0)
        return call_node(p, function, NULL, 0);
    return value_node(p, (struct expr_value){.kind = EXPR_TEXT, .text = arena_strndup(p->arena, start, length)});
}

static struct expr *parse_primary(struct parser *p)
{
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p);
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        return parse_word(p);
    if (accept(p, "$")) {
        const char *start = p->at;
        while (isalnum((unsigned char)*p->at) || *p->at == '_')
            p->at++;
        if (p->at == start)
            return fail(p, "the name of a column");
        struct expr *node = node_new(p, NODE_COLUMN);
        node->name = arena_strndup(p->arena, start, (size_t)(p->at - start));
        return node;
    }
    if (accept(p, "(")) {
        struct expr *inner = parse_expression(p);
        return !inner || accept(p, ")") ? inner : fail(p, "')'");
    }
    if (accept(p, "[")) {
        struct expr *node = node_new(p, NODE_LIST);
        node->kids = parse_items(p, "]", &node->kid_count);
        return node->kids ? node : NULL;
    }
    if (*p->at == '"' || *p->at == '\'') {
        const char *end = strchr(p->at + 1, *p->at);
        if (!end)
            return fail(p, "a closing quote");
        const char *text = arena_strndup(p->arena, p->at + 1, (size_t)(end - p->at - 1));
        p->at = end + 1;
        return value_node(p, (struct expr_value){.kind = EXPR_TEXT, .text = text});
    }
    return fail(p, "a value");
}

static struct expr *parse_postfix(struct parser *p)
{
    struct expr *base = parse_primary(p);
    while (base && accept(p, "[")) {
        struct expr *from = NULL, *to = NULL;
        bool slice = accept(p, ":");
        if (!slice) {
            if (!(from = parse_expression(p)))
                return NULL;
            slice = accept(p, ":");
        }
        skip_blanks(p);
        if (slice && *p->at != ']' && !(to = parse_expression(p)))
            return NULL;
        if (!accept(p, "]"))
            return fail(p, "']'");
        struct expr *node = node_new(p, slice ? NODE_SLICE : NODE_INDEX);
        node->kids = arena_alloc(p->arena, 3 * sizeof *node->kids);
        node->kids[0] = base;
        node->kids[1] = from;
        node->kids[2] = to;
        node->kid_count = 3;
        base = node;
    }
    return base;
}

static struct expr *parse_unary(struct parser *p)
{
    if (!accept(p, "-"))
        return parse_postfix(p);
    if (++p->depth > MAX_DEPTH)
        return fail(p, "less nesting");
    struct expr *kid = parse_unary(p);
    p->depth--;
    return kid ? call_node(p, expr_function_find("neg", 3), &kid, 1) : NULL;
}

/* Binary operators by level, loosest first; longer tokens before their prefixes. */
static const char *const levels[][7] = {
    {"==", "!=", "<=", ">=", "<", ">"},
    {"+", "-"},
    {"//", "*", "/", "%"},
};
enum { LEVELS = sizeof levels / sizeof *levels };

static struct expr *parse_binary(struct parser *p, int level)
{
    if (level == LEVELS)
        return parse_unary(p);
    struct expr *left = parse_binary(p, level + 1);
    while (left) {
        const char *const *op = levels[level];
        while (*op && !accept(p, *op))
            op++;
        if (!*op)
            return left;
        struct expr *kids[2] = {left, parse_binary(p, level + 1)};
        if (!kids[1])
            return NULL;
        left = call_node(p, expr_function_find(*op, strlen(*op)), kids, 2);
    }
    return NULL;
}

static struct expr *parse_expression(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        return fail(p, "less nesting");
    struct expr *left = parse_binary(p, 0);
    if (left && accept(p, "?")) {
        struct expr *node = node_new(p, NODE_CHOICE);
        node->kids = arena_alloc(p->arena, 3 * sizeof *node->kids);
        node->kid_count = 3;
        node->kids[0] = left;
        if (!(node->kids[1] = parse_expression(p)))
            return NULL;
        if (!accept(p, ":"))
            return fail(p, "':'");
        left = (node->kids[2] = parse_expression(p)) ? node : NULL;
    }
    p->depth--;
    return left;
}

struct akgen_error *expr_parse(struct arena *arena, const char *text, struct expr **expr)
{
    struct parser p = {.arena = arena, .text = text, .at = text};
    *expr = parse_expression(&p);
    if (*expr) {
        skip_blanks(&p);
        if (*p.at)
            *expr = fail(&p, "an operator or the end");
    }
    return p.error;
}

/* Binding. */
static struct expr *constant_new(const struct expr_scope *scope, struct expr_value value)
{
    struct expr *node = arena_alloc(scope->arena, sizeof *node);
    node->value = value;
    return node;
}

const struct expr_value *expr_constant(const struct expr *bound)
{
    return bound->node == NODE_VALUE ? &bound->value : NULL;
}

static struct akgen_error *bind_column(const struct expr *expr, const struct expr_scope *scope, struct expr **bound)
{
    for (int i = 0; i < scope->column_count; i++)
        if (strcmp(scope->columns[i], expr->name) == 0) {
            *bound = constant_new(scope, expr_cell(scope->arena, scope->values[i]));
            return NULL;
        }
    const char *known = "";
    for (int i = 0; i < scope->column_count; i++)
        known = arena_printf(scope->arena, "%s%s%s", known, i ? ", " : "", scope->columns[i]);
    return error_new("cases.csv has no column '%s', its columns are %s", expr->name, known);
}

static struct akgen_error *bind_list(const struct expr *expr, const struct expr_scope *scope, struct expr **bound)
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
static struct akgen_error *bind_index(const struct expr *expr, const struct expr_scope *scope, struct expr **bound)
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

static struct akgen_error *bind_call(const struct expr *expr, const struct expr_scope *scope, struct expr **bound)
{
    struct expr *call = arena_alloc(scope->arena, sizeof *call);
    struct expr_value args[MAX_ARGS];
    bool constant = expr->function->constant != NULL;
    *call = *expr;
    call->kids = arena_alloc(scope->arena, sizeof *call->kids * (size_t)(expr->kid_count + 1));
    for (int i = 0; i < expr->kid_count; i++) {
        struct akgen_error *error = expr_bind(expr->kids[i], scope, &call->kids[i]);
        if (error)
            return error;
        const struct expr_value *value = expr_constant(call->kids[i]);
        constant &= value != NULL;
        args[i] = value ? *value : (struct expr_value){.kind = EXPR_REAL};
    }
    if (constant) {
        *bound = constant_new(scope, (struct expr_value){.kind = EXPR_NONE});
        return expr->function->constant(scope, args, expr->kid_count, &(*bound)->value);
    }
    if (!expr->function->block)
        return error_new("%s has no meaning per element", expr->function->name);
    if (expr_function_whole(expr->function) && scope->elements > EXPR_BLOCK)
        return error_new("%s takes at most %d elements", expr->function->name, EXPR_BLOCK);
    for (int i = 0; i < expr->kid_count; i++)
        if (!expr_is_number(&args[i]))
            return error_new("%s needs numbers, not %s", expr->function->name, expr_show(scope->arena, &args[i]));
    *bound = call;
    return NULL;
}

static struct akgen_error *bind_choice(const struct expr *expr, const struct expr_scope *scope, struct expr **bound)
{
    struct expr *condition;
    struct akgen_error *error = expr_bind(expr->kids[0], scope, &condition);
    if (error)
        return error;
    const struct expr_value *value = expr_constant(condition);
    if (!value || !expr_is_number(value))
        return error_new("the condition before '?' must be true or false for the whole case");
    return expr_bind(expr->kids[expr_number(value) != 0 ? 1 : 2], scope, bound);
}

struct akgen_error *expr_bind(const struct expr *expr, const struct expr_scope *scope, struct expr **bound)
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
        break;
    }
    return bind_call(expr, scope, bound);
}

void expr_block(const struct expr *bound, const struct expr_scope *scope, int64_t first, int n, double *out)
{
    if (bound->node == NODE_VALUE) {
        const struct expr_value *value = &bound->value;
        for (int i = 0; i < n; i++)
            out[i] = value->kind == EXPR_LIST ? expr_number(&value->items[first + i]) : expr_number(value);
        return;
    }
    double blocks[MAX_ARGS][EXPR_BLOCK];
    const double *args[MAX_ARGS];
    for (int i = 0; i < bound->kid_count; i++) {
        expr_block(bound->kids[i], scope, first, n, blocks[i]);
        args[i] = blocks[i];
    }
    bound->function->block(scope, expr_mix(scope->key, bound->place), args, bound->kid_count, first, n, out);
}

struct akgen_error *expr_eval(const struct expr *expr, const struct expr_scope *scope, struct expr_value *value)
{
    struct expr *bound;
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

struct akgen_error *expr_eval_text(const char *text, const struct expr_scope *scope, struct expr_value *value)
{
    struct expr *expr;
    struct akgen_error *error = expr_parse(scope->arena, text, &expr);
    if (!error && (error = expr_eval(expr, scope, value)))
        error_prefix(error, "in '%.100s'", text);
    return error;
}

/* Values. */
struct expr_value expr_cell(struct arena *arena, const char *text)
{
    struct expr *expr;
    struct expr_value value = {.kind = EXPR_TEXT, .text = text};
    struct expr_scope nothing = {.arena = arena};
    struct akgen_error *error = expr_parse(arena, text, &expr);
    if (!error && expr->node != NODE_COLUMN)
        error = expr_eval(expr, &nothing, &value);
    if (error)
        value = (struct expr_value){.kind = EXPR_TEXT, .text = text};
    error_free(error);
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

const char *expr_show(struct arena *arena, const struct expr_value *value)
{
    const char *list = "";
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
        for (int i = 0; i < value->count; i++)
            list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", expr_show(arena, &value->items[i]));
        return arena_printf(arena, "[%s]", list);
    }
    return "";
}
