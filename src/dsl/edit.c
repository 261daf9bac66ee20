/* Building and changing trees. */
#include "dsl/edit.h"
#include "base/array.h"
#include "dsl/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct dsl_expr *new_expr(struct edit *edit, enum dsl_expr_kind kind)
{
    struct dsl_expr *expr = arena_alloc(edit->arena, sizeof *expr);
    expr->kind = kind;
    expr->place = edit->place;
    expr->op = DSL_NO_OPERATOR;
    return expr;
}

static void add_item(struct edit *edit, struct dsl_expr *expr, struct dsl_expr *item)
{
    ARRAY_ADD(edit->arena, expr->items, expr->count, expr->capacity, item);
}

struct dsl_expr *edit_name(struct edit *edit, const char *name)
{
    struct dsl_expr *expr = new_expr(edit, DSL_NAME);
    expr->name = name;
    return expr;
}

struct dsl_expr *edit_negative(struct edit *edit, struct dsl_expr *value)
{
    if (value->kind == DSL_UNARY && value->op == DSL_NEGATE)
        return value->items[0];
    struct dsl_expr *minus = new_expr(edit, DSL_UNARY);
    minus->op = DSL_NEGATE;
    add_item(edit, minus, value);
    return minus;
}

struct dsl_expr *edit_integer(struct edit *edit, int64_t value)
{
    if (value < 0 && value != INT64_MIN)
        return edit_negative(edit, edit_integer(edit, -value));
    struct dsl_expr *expr = new_expr(edit, DSL_INT);
    expr->integer = value;
    expr->digits = arena_printf(edit->arena, "%" PRId64, value);
    return expr;
}

struct dsl_expr *edit_real(struct edit *edit, double value)
{
    if (signbit(value))
        return edit_negative(edit, edit_real(edit, -value));
    struct dsl_expr *expr = new_expr(edit, DSL_REAL);
    expr->real = value;
    const char *digits = arena_printf(edit->arena, "%.17g", value);
    expr->digits = strpbrk(digits, ".en") ? digits : arena_printf(edit->arena, "%s.0", digits);
    return expr;
}

struct dsl_expr *edit_text(struct edit *edit, const char *text)
{
    struct dsl_expr *expr = new_expr(edit, DSL_TEXT);
    expr->name = text;
    return expr;
}

struct dsl_expr *edit_binary(struct edit *edit, enum dsl_operator op, struct dsl_expr *a, struct dsl_expr *b)
{
    struct dsl_expr *expr = new_expr(edit, DSL_BINARY);
    expr->op = op;
    add_item(edit, expr, a);
    add_item(edit, expr, b);
    expr->height = 1 + (a->height > b->height ? a->height : b->height);
    return expr;
}

/* The integer that an expression is; false: it is none. */
static bool is_constant(const struct dsl_expr *expr, int64_t *value)
{
    if (expr->kind == DSL_INT) {
        *value = expr->integer;
        return true;
    }
    if (expr->kind == DSL_UNARY && expr->op == DSL_NEGATE && expr->items[0]->kind == DSL_INT) {
        *value = -expr->items[0]->integer;
        return true;
    }
    return false;
}

struct dsl_expr *edit_sum(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b)
{
    int64_t x = 0, y = 0, sum;
    bool first = is_constant(a, &x), second = is_constant(b, &y);
    if (first && second && !__builtin_add_overflow(x, y, &sum))
        return edit_integer(edit, sum);
    if (first && x == 0)
        return b;
    if (second && y == 0)
        return a;
    return edit_binary(edit, DSL_ADD, a, b);
}

struct dsl_expr *edit_difference(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b)
{
    int64_t x = 0, y = 0, difference;
    if (is_constant(b, &y) && is_constant(a, &x) && !__builtin_sub_overflow(x, y, &difference))
        return edit_integer(edit, difference);
    if (is_constant(b, &y) && y == 0)
        return a;
    if (tree_equal(a, b))
        return edit_integer(edit, 0);
    if (a->kind == DSL_BINARY && a->op == DSL_ADD && tree_equal(a->items[0], b))
        return a->items[1];
    if (a->kind == DSL_BINARY && a->op == DSL_ADD && tree_equal(a->items[1], b))
        return a->items[0];
    return edit_binary(edit, DSL_SUBTRACT, a, b);
}

struct dsl_expr *edit_product(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b)
{
    int64_t x = 0, y = 0, product;
    bool first = is_constant(a, &x), second = is_constant(b, &y);
    if (first && second && !__builtin_mul_overflow(x, y, &product))
        return edit_integer(edit, product);
    if (first && x == 1)
        return b;
    if (second && y == 1)
        return a;
    return edit_binary(edit, DSL_MULTIPLY, a, b);
}

static struct dsl_expr *call_name(struct edit *edit, struct dsl_expr *function, int count,
                                  struct dsl_expr *const *arguments)
{
    struct dsl_expr *call = new_expr(edit, DSL_CALL);
    add_item(edit, call, function);
    for (int i = 0; i < count; i++)
        if (arguments[i])
            add_item(edit, call, arguments[i]);
    return call;
}

static struct dsl_expr *extreme(struct edit *edit, const char *name, bool smaller, struct dsl_expr *a,
                                struct dsl_expr *b)
{
    int64_t x, y;
    if (tree_equal(a, b))
        return a;
    if (is_constant(a, &x) && is_constant(b, &y))
        return edit_integer(edit, smaller == (x < y) ? x : y);
    return call_name(edit, edit_name(edit, name), 2, (struct dsl_expr *[]){a, b});
}

struct dsl_expr *edit_smaller(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b)
{
    return extreme(edit, "min", true, a, b);
}

struct dsl_expr *edit_larger(struct edit *edit, struct dsl_expr *a, struct dsl_expr *b)
{
    return extreme(edit, "max", false, a, b);
}

struct dsl_expr *edit_attribute(struct edit *edit, struct dsl_expr *of, const char *name)
{
    struct dsl_expr *expr = new_expr(edit, DSL_ATTRIBUTE);
    expr->name = name;
    add_item(edit, expr, of);
    return expr;
}

struct dsl_expr *edit_piece(struct edit *edit, struct dsl_expr *buffer, struct dsl_expr *from)
{
    if (!from || tree_is_integer(from, 0))
        return buffer;
    struct dsl_expr *slice = new_expr(edit, DSL_SLICE), *index = new_expr(edit, DSL_INDEX);
    add_item(edit, slice, from);
    add_item(edit, slice, NULL);
    add_item(edit, index, buffer);
    add_item(edit, index, slice);
    return index;
}

struct dsl_expr *edit_call(struct edit *edit, const char *name, int count, struct dsl_expr *const *arguments)
{
    struct dsl_expr *call = call_name(edit, edit_attribute(edit, edit_name(edit, "tl"), name), count, arguments);
    call->operation = dsl_operation_find(name);
    if (!call->operation)
        call->operation = dsl_operation_find_lowered(name);
    return call;
}

void edit_add_named(struct edit *edit, struct dsl_expr *call, const char *name, struct dsl_expr *value)
{
    struct dsl_expr *named = new_expr(edit, DSL_NAMED);
    named->name = name;
    add_item(edit, named, value);
    add_item(edit, call, named);
}

struct dsl_expr *edit_take_argument(struct dsl_expr *call, const char *name)
{
    struct dsl_expr *argument = call_argument(call, name);
    for (int i = 1; argument && i < call->count; i++)
        if (call->items[i] == argument || (call->items[i]->kind == DSL_NAMED && call->items[i]->items[0] == argument)) {
            memmove(&call->items[i], &call->items[i + 1], (size_t)(call->count - i - 1) * sizeof *call->items);
            call->count--;
            break;
        }
    return argument;
}

void edit_order_arguments(struct edit *edit, struct dsl_expr *call)
{
    struct dsl_expr *ordered = new_expr(edit, DSL_CALL);
    struct operation_parameter parameter = {.row = call->operation->parameters, .number = -1};
    add_item(edit, ordered, call->items[0]);
    while (operation_next_parameter(&parameter)) {
        struct dsl_expr *argument = call_argument_for(call, &parameter);
        if (argument && parameter.optional)
            edit_add_named(edit, ordered, arena_strndup(edit->arena, parameter.name, (size_t)parameter.length),
                           argument);
        else if (argument)
            add_item(edit, ordered, argument);
    }
    call->items = ordered->items;
    call->count = ordered->count;
    call->capacity = ordered->capacity;
}

void edit_lead(struct edit *edit, struct dsl_statement *statement, const struct dsl_comments *comments)
{
    struct dsl_comments all = {0};
    for (int i = 0; i < comments->count; i++)
        ARRAY_ADD(edit->arena, all.items, all.count, all.capacity, comments->items[i]);
    for (int i = 0; i < statement->lead.count; i++)
        ARRAY_ADD(edit->arena, all.items, all.count, all.capacity, statement->lead.items[i]);
    statement->lead = all;
}

static struct dsl_statement *new_statement(struct edit *edit, enum dsl_statement_kind kind)
{
    struct dsl_statement *statement = arena_alloc(edit->arena, sizeof *statement);
    statement->kind = kind;
    statement->place = edit->place;
    statement->op = DSL_NO_OPERATOR;
    return statement;
}

struct dsl_statement *edit_statement(struct edit *edit, struct dsl_expr *call)
{
    struct dsl_statement *statement = new_statement(edit, DSL_EXPRESSION);
    statement->value = call;
    return statement;
}

struct dsl_statement *edit_assign(struct edit *edit, const char *name, struct dsl_expr *value)
{
    struct dsl_statement *statement = new_statement(edit, DSL_ASSIGN);
    statement->target = edit_name(edit, name);
    statement->value = value;
    return statement;
}

struct dsl_statement *edit_for(struct edit *edit, const char *name, struct dsl_expr *from, struct dsl_expr *to,
                               struct dsl_expr *step)
{
    struct dsl_statement *statement = new_statement(edit, DSL_FOR);
    statement->target = edit_name(edit, name);
    statement->value = call_name(edit, edit_name(edit, "range"), 3, (struct dsl_expr *[]){from, to, step});
    return statement;
}

struct dsl_statement *edit_stage(struct edit *edit, const char *stage)
{
    struct dsl_statement *statement = new_statement(edit, DSL_WITH);
    statement->value = edit_call(edit, stage, 0, NULL);
    return statement;
}

void edit_append(struct edit *edit, struct dsl_block *block, struct dsl_statement *statement)
{
    ARRAY_ADD(edit->arena, block->items, block->count, block->capacity, statement);
}

void edit_insert(struct edit *edit, struct dsl_block *block, int at, struct dsl_statement *statement)
{
    edit_append(edit, block, statement);
    memmove(&block->items[at + 1], &block->items[at], (size_t)(block->count - 1 - at) * sizeof(struct dsl_statement *));
    block->items[at] = statement;
}

struct dsl_expr *edit_copy(struct edit *edit, const struct dsl_expr *expr)
{
    if (!expr)
        return NULL;
    struct dsl_expr *copy = arena_copy(edit->arena, expr, sizeof *expr);
    copy->items = arena_alloc(edit->arena, (size_t)(expr->count + 1) * sizeof(struct dsl_expr *));
    copy->capacity = expr->count + 1;
    copy->lead = (struct dsl_comments){0};
    copy->trail = NULL;
    for (int i = 0; i < expr->count; i++)
        copy->items[i] = edit_copy(edit, expr->items[i]);
    return copy;
}

bool tree_equal(const struct dsl_expr *a, const struct dsl_expr *b)
{
    if (!a || !b)
        return a == b;
    bool same = a->kind == b->kind && a->op == b->op && a->count == b->count && !a->name == !b->name &&
                (!a->name || strcmp(a->name, b->name) == 0) && a->integer == b->integer && a->real == b->real &&
                signbit(a->real) == signbit(b->real);
    for (int i = 0; same && i < a->count; i++)
        same = tree_equal(a->items[i], b->items[i]);
    return same;
}

bool tree_is_integer(const struct dsl_expr *expr, int64_t value)
{
    return expr->kind == DSL_INT && expr->integer == value;
}

static bool is_name(const struct dsl_expr *expr, const char *name)
{
    return expr->kind == DSL_NAME && expr->name && same_name(expr->name, name);
}

bool tree_mentions(const struct dsl_expr *expr, const char *name)
{
    bool found = expr && is_name(expr, name);
    for (int i = 0; expr && !found && i < expr->count; i++) {
        const struct dsl_expr *item = expr->items[i];
        found = item && (item->count ? tree_mentions(item, name) : is_name(item, name));
    }
    return found;
}

void tree_visit(struct dsl_expr *expr, void (*visit)(void *closure, struct dsl_expr *part), void *closure)
{
    if (!expr)
        return;
    visit(closure, expr);
    for (int i = 0; i < expr->count; i++)
        tree_visit(expr->items[i], visit, closure);
}

void statement_visit(struct dsl_statement *statement, void (*visit)(void *closure, struct dsl_expr *expr),
                     void *closure)
{
    if (statement->value)
        visit(closure, statement->value);
    if (statement->target)
        visit(closure, statement->target);
    for (int i = 0; i < statement->body.count; i++)
        statement_visit(statement->body.items[i], visit, closure);
    for (int i = 0; i < statement->orelse.count; i++)
        statement_visit(statement->orelse.items[i], visit, closure);
}

static bool block_any(const struct dsl_block *block, const char *name,
                      bool (*test)(const struct dsl_statement *statement, const char *name))
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++)
        found = test(block->items[i], name);
    return found;
}

bool statement_assigns(const struct dsl_statement *statement, const char *name)
{
    return (statement->target && tree_mentions(statement->target, name)) ||
           block_any(&statement->body, name, statement_assigns) ||
           block_any(&statement->orelse, name, statement_assigns);
}

bool block_assigns(const struct dsl_block *block, const char *name)
{
    return block_any(block, name, statement_assigns);
}

bool statement_mentions(const struct dsl_statement *statement, const char *name)
{
    return tree_mentions(statement->target, name) || tree_mentions(statement->value, name) ||
           block_any(&statement->body, name, statement_mentions) ||
           block_any(&statement->orelse, name, statement_mentions);
}

struct substitution {
    struct edit *edit;
    const char *name;
    const struct dsl_expr *value;
};

static void substitute(void *closure, struct dsl_expr *part)
{
    const struct substitution *substitution = closure;
    for (int i = 0; i < part->count; i++) {
        struct dsl_expr *item = part->items[i];
        if (item && is_name(item, substitution->name))
            part->items[i] = edit_copy(substitution->edit, substitution->value);
    }
}

static void substitute_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, substitute, closure);
}

void edit_substitute(struct edit *edit, struct dsl_block *block, const char *name, const struct dsl_expr *value)
{
    struct substitution substitution = {edit, name, value};
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        if (statement->value && statement->value->kind == DSL_NAME && statement->value->name &&
            strcmp(statement->value->name, name) == 0)
            statement->value = edit_copy(edit, value);
        if (statement->value)
            substitute_below(&substitution, statement->value);
        edit_substitute(edit, &statement->body, name, value);
        edit_substitute(edit, &statement->orelse, name, value);
    }
}

int block_mentions(const struct dsl_block *block, const char *name)
{
    int count = 0;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        count += tree_mentions(statement->value, name) + tree_mentions(statement->target, name) +
                 block_mentions(&statement->body, name) + block_mentions(&statement->orelse, name);
    }
    return count;
}

struct dsl_expr *statement_call(const struct dsl_statement *statement)
{
    struct dsl_expr *value = statement->value;
    bool call = (statement->kind == DSL_EXPRESSION || statement->kind == DSL_ASSIGN) && value &&
                value->kind == DSL_CALL && value->operation;
    return call ? value : NULL;
}

struct dsl_expr *statement_operation(const struct dsl_statement *statement)
{
    return statement->kind == DSL_EXPRESSION ? statement_call(statement) : NULL;
}

bool statement_calls(const struct dsl_statement *statement, const char *name)
{
    const struct dsl_expr *call = statement_call(statement);
    return call && same_name(call->operation->name, name);
}

bool block_calls(const struct dsl_block *block, const char *name)
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++)
        found = statement_calls(block->items[i], name) || block_calls(&block->items[i]->body, name) ||
                block_calls(&block->items[i]->orelse, name);
    return found;
}

int statement_stage(const struct dsl_statement *statement)
{
    static const char *const names[] = {
        [DSL_PLACE_COPYIN] = "copyin", [DSL_PLACE_COMPUTE] = "compute", [DSL_PLACE_COPYOUT] = "copyout"};
    if (statement->kind != DSL_WITH)
        return -1;
    for (int i = DSL_PLACE_COPYIN; i <= DSL_PLACE_COPYOUT; i++)
        if (expr_is(statement->value->items[0], "tl", names[i]))
            return i;
    return -1;
}

const char *operand_buffer(const struct dsl_expr *operand, struct dsl_expr **from)
{
    struct dsl_expr *begins = NULL;
    if (operand->kind == DSL_INDEX) {
        begins = operand->items[1]->kind == DSL_SLICE ? operand->items[1]->items[0] : operand->items[1];
        operand = operand->items[0];
    }
    if (from)
        *from = begins;
    bool buffer = operand->kind == DSL_NAME && (operand->type == DSL_TYPE_BUFFER || operand->type == DSL_TYPE_PIECE);
    return buffer ? operand->name : NULL;
}
