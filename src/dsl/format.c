/* Tree to text: akgen dsl fmt. An expression stands on one line where it fits; else its outermost list of arguments or of
 * operands takes a line for each. */
#include "dsl/dsl.h"

#include <string.h>

enum { STEP = 4, LEVEL_CHOICE = 0, LEVEL_TRAILER = 13 };

struct formatter {
    struct text text;
    size_t line; /* where the current line begins */
    int indent;
};

static void put(struct formatter *f, const char *text)
{
    text_add(&f->text, text);
}

static void new_line(struct formatter *f)
{
    put(f, "\n");
    f->line = f->text.length;
    for (int i = 0; i < f->indent; i++)
        put(f, " ");
}

static void put_text(struct text *text, const char *content)
{
    bool lines = strchr(content, '\n') != NULL;
    char quote = !lines && strchr(content, '"') && !strchr(content, '\'') ? '\'' : '"';
    text_add(text, lines ? "\"\"\"" : quote == '"' ? "\"" : "'");
    for (const char *at = content; *at; at++) {
        if (*at == quote)
            text_add(text, "\\");
        text_append(text, at, 1);
        if (*at == '\\' && at[1]) /* the character behind it belongs to it */
            text_append(text, ++at, 1);
    }
    text_add(text, lines ? "\"\"\"" : quote == '"' ? "\"" : "'");
}

static void flat(struct text *text, const struct dsl_expr *expr, int level);

static void flat_items(struct text *text, const struct dsl_expr *expr, int from)
{
    for (int i = from; i < expr->count; i++) {
        text_add(text, i > from ? ", " : "");
        flat(text, expr->items[i], LEVEL_CHOICE);
    }
}

/* An operand, in brackets where the operator binds more tightly. */
static void flat_operation(struct text *text, const struct dsl_expr *expr)
{
    int level = dsl_operator_level(expr->op);
    bool comparison = level == dsl_operator_level(DSL_EQUAL);
    if (expr->kind == DSL_UNARY) {
        text_addf(text, expr->op == DSL_NOT ? "%s " : "%s", dsl_operator_text(expr->op));
        flat(text, expr->items[0], level);
    } else if (expr->op == DSL_POWER) {
        flat(text, expr->items[0], LEVEL_TRAILER);
        text_add(text, "**");
        flat(text, expr->items[1], dsl_operator_level(DSL_NEGATE));
    } else {
        flat(text, expr->items[0], comparison ? level + 1 : level);
        text_addf(text, " %s ", dsl_operator_text(expr->op));
        flat(text, expr->items[1], level + 1);
    }
}

static int level_of(const struct dsl_expr *expr)
{
    if (expr->kind == DSL_CHOICE)
        return LEVEL_CHOICE;
    return expr->kind == DSL_UNARY || expr->kind == DSL_BINARY ? dsl_operator_level(expr->op) : LEVEL_TRAILER;
}

static void flat_inner(struct text *text, const struct dsl_expr *expr)
{
    switch (expr->kind) {
    case DSL_NAME:
        text_add(text, expr->name ? expr->name : "None");
        break;
    case DSL_INT:
    case DSL_REAL:
        text_add(text, expr->digits);
        break;
    case DSL_TEXT:
        put_text(text, expr->name);
        break;
    case DSL_TRUE:
        text_add(text, "True");
        break;
    case DSL_FALSE:
        text_add(text, "False");
        break;
    case DSL_NONE:
        text_add(text, "None");
        break;
    case DSL_TUPLE:
    case DSL_LIST:
        text_add(text, expr->kind == DSL_TUPLE ? "(" : "[");
        flat_items(text, expr, 0);
        text_add(text, expr->kind == DSL_LIST ? "]" : expr->count == 1 ? ",)" : ")");
        break;
    case DSL_UNARY:
    case DSL_BINARY:
        flat_operation(text, expr);
        break;
    case DSL_CHOICE:
        flat(text, expr->items[0], 1);
        text_add(text, " if ");
        flat(text, expr->items[1], 1);
        text_add(text, " else ");
        flat(text, expr->items[2], LEVEL_CHOICE);
        break;
    case DSL_CALL:
        flat(text, expr->items[0], LEVEL_TRAILER);
        text_add(text, "(");
        flat_items(text, expr, 1);
        text_add(text, ")");
        break;
    case DSL_ATTRIBUTE: {
        bool number = expr->items[0]->kind == DSL_INT || expr->items[0]->kind == DSL_REAL;
        text_add(text, number ? "(" : "");
        flat(text, expr->items[0], LEVEL_TRAILER);
        text_addf(text, "%s.%s", number ? ")" : "", expr->name);
        break;
    }
    case DSL_INDEX:
        flat(text, expr->items[0], LEVEL_TRAILER);
        text_add(text, "[");
        if (expr->items[1]->kind == DSL_TUPLE && expr->items[1]->count > 1)
            flat_items(text, expr->items[1], 0);
        else
            flat(text, expr->items[1], LEVEL_CHOICE);
        text_add(text, "]");
        break;
    case DSL_SLICE:
        if (expr->items[0])
            flat(text, expr->items[0], LEVEL_CHOICE);
        text_add(text, ":");
        if (expr->items[1])
            flat(text, expr->items[1], LEVEL_CHOICE);
        break;
    case DSL_NAMED:
        text_addf(text, "%s=", expr->name);
        flat(text, expr->items[0], LEVEL_CHOICE);
        break;
    }
}

/* The expression on one line, in brackets if it binds less tightly than `level`. */
static void flat(struct text *text, const struct dsl_expr *expr, int level)
{
    bool brackets = level_of(expr) < level;
    text_add(text, brackets ? "(" : "");
    flat_inner(text, expr);
    text_add(text, brackets ? ")" : "");
}

char *dsl_expr_text(struct arena *arena, const struct dsl_expr *expr)
{
    struct text text = {0};
    flat(&text, expr, LEVEL_CHOICE);
    char *copy = arena_strdup(arena, text.bytes);
    text_free(&text);
    return copy;
}

static bool has_comments(const struct dsl_expr *expr)
{
    if (!expr)
        return false;
    bool has = expr->trail || expr->lead.count;
    for (int i = 0; i < expr->count && !has; i++)
        has = has_comments(expr->items[i]);
    return has;
}

static void put_comments(struct formatter *f, const struct dsl_comments *comments)
{
    for (int i = 0; i < comments->count; i++) {
        put(f, comments->items[i].text);
        new_line(f);
    }
}

static void put_expr(struct formatter *f, const struct dsl_expr *expr);

/* Items from `from` on, a line for each. */
static void put_items(struct formatter *f, const struct dsl_expr *expr, int from)
{
    f->indent += STEP;
    for (int i = from; i < expr->count; i++) {
        const struct dsl_expr *item = expr->items[i];
        new_line(f);
        put_comments(f, &item->lead);
        put_expr(f, item);
        put(f, ",");
        if (item->trail)
            text_addf(&f->text, "  %s", item->trail);
    }
    f->indent -= STEP;
    new_line(f);
}

/* a + b + c on lines of its own, an operand each. */
static void put_operands(struct formatter *f, const struct dsl_expr *expr)
{
    const struct dsl_expr *left = expr->items[0];
    int level = dsl_operator_level(expr->op);
    bool comparison = level == dsl_operator_level(DSL_EQUAL);
    bool chain = left->kind == DSL_BINARY && dsl_operator_level(left->op) == level && !comparison &&
                 level != dsl_operator_level(DSL_POWER);
    if (chain)
        put_operands(f, left);
    else
        flat(&f->text, left, comparison ? level + 1 : level);
    text_addf(&f->text, " %s", dsl_operator_text(expr->op));
    new_line(f);
    flat(&f->text, expr->items[1], level + 1);
}

static void put_long(struct formatter *f, const struct dsl_expr *expr)
{
    bool list = expr->kind == DSL_TUPLE || expr->kind == DSL_LIST, call = expr->kind == DSL_CALL && expr->count > 1;
    if (list && expr->count) {
        put(f, expr->kind == DSL_TUPLE ? "(" : "[");
        put_items(f, expr, 0);
        put(f, expr->kind == DSL_TUPLE ? ")" : "]");
    } else if (call) {
        put_expr(f, expr->items[0]);
        put(f, "(");
        put_items(f, expr, 1);
        put(f, ")");
    } else if (expr->kind == DSL_NAMED) {
        text_addf(&f->text, "%s=", expr->name);
        put_expr(f, expr->items[0]);
    } else if (expr->kind == DSL_BINARY && expr->op != DSL_POWER && !has_comments(expr)) {
        put(f, "(");
        f->indent += STEP;
        new_line(f);
        put_operands(f, expr);
        f->indent -= STEP;
        new_line(f);
        put(f, ")");
    } else {
        flat(&f->text, expr, LEVEL_CHOICE);
    }
}

static void put_expr(struct formatter *f, const struct dsl_expr *expr)
{
    struct text line = {0};
    enum { BEHIND = 2 }; /* a bracket, a comma or a colon */
    bool comments = false;
    for (int i = 0; i < expr->count; i++)
        comments |= has_comments(expr->items[i]);
    flat(&line, expr, LEVEL_CHOICE);
    if (!comments && f->text.length - f->line + line.length + BEHIND <= DSL_WIDTH)
        text_add(&f->text, line.bytes);
    else
        put_long(f, expr);
    text_free(&line);
}

/* Without the brackets that a tuple has elsewhere. */
static void put_open(struct formatter *f, const struct dsl_expr *expr)
{
    struct text line = {0};
    bool open = expr->kind == DSL_TUPLE && expr->count > 1 && !has_comments(expr);
    if (open)
        flat_items(&line, expr, 0);
    if (open && f->text.length - f->line + line.length <= DSL_WIDTH)
        text_add(&f->text, line.bytes);
    else
        put_expr(f, expr);
    text_free(&line);
}

static void put_block(struct formatter *f, const struct dsl_block *block);

/* ":", the comment behind it and the block. */
static void put_body(struct formatter *f, const char *trail, const struct dsl_block *body)
{
    put(f, ":");
    if (trail)
        text_addf(&f->text, "  %s", trail);
    f->indent += STEP;
    put_block(f, body);
    f->indent -= STEP;
}

static void put_parameter(struct formatter *f, const struct dsl_parameter *parameter)
{
    put(f, parameter->name);
    if (parameter->annotation) {
        put(f, ": ");
        flat(&f->text, parameter->annotation, LEVEL_CHOICE);
    }
    if (parameter->value) {
        put(f, parameter->annotation ? " = " : "=");
        flat(&f->text, parameter->value, LEVEL_CHOICE);
    }
}

/* The parameters on one line; false: they are too long for one or have comments, and nothing was put. */
static bool put_flat_parameters(struct formatter *f, const struct dsl_function *function)
{
    struct formatter line = {0};
    bool comments = false;
    for (int i = 0; i < function->count; i++) {
        comments |= function->parameters[i].trail || function->parameters[i].lead.count;
        put(&line, i ? ", " : "");
        put_parameter(&line, &function->parameters[i]);
    }
    bool fits = !comments && f->text.length - f->line + line.text.length + 2 <= DSL_WIDTH;
    if (fits && line.text.bytes)
        put(f, line.text.bytes);
    text_free(&line.text);
    return fits;
}

static void put_def(struct formatter *f, const struct dsl_statement *statement)
{
    const struct dsl_function *function = statement->function;
    for (int i = 0; i < function->decorator_count; i++) {
        put(f, "@");
        flat(&f->text, function->decorators[i], LEVEL_CHOICE);
        new_line(f);
    }
    text_addf(&f->text, "def %s(", function->name);
    if (!put_flat_parameters(f, function)) {
        f->indent += STEP;
        for (int i = 0; i < function->count; i++) {
            const struct dsl_parameter *parameter = &function->parameters[i];
            new_line(f);
            put_comments(f, &parameter->lead);
            put_parameter(f, parameter);
            put(f, ",");
            if (parameter->trail)
                text_addf(&f->text, "  %s", parameter->trail);
        }
        f->indent -= STEP;
        new_line(f);
    }
    put(f, ")");
    put_body(f, statement->trail, &statement->body);
}

static void put_if(struct formatter *f, const struct dsl_statement *statement, const char *word)
{
    put(f, word);
    put_expr(f, statement->value);
    put_body(f, statement->trail, &statement->body);
    if (!statement->orelse.count)
        return;
    const struct dsl_statement *other = statement->orelse.items[0];
    new_line(f);
    put_comments(f, statement->elif ? &other->lead : &statement->orelse_lead);
    if (statement->elif) {
        put_if(f, other, "elif ");
    } else {
        put(f, "else");
        put_body(f, statement->orelse_trail, &statement->orelse);
    }
}

static void put_head(struct formatter *f, const struct dsl_statement *statement, const char *word)
{
    put(f, word);
    put_expr(f, statement->value);
    put_body(f, statement->trail, &statement->body);
}

static void put_assign(struct formatter *f, const struct dsl_statement *statement)
{
    put_open(f, statement->target);
    if (statement->note) {
        put(f, ": ");
        flat(&f->text, statement->note, LEVEL_CHOICE);
    }
    text_addf(&f->text, " %s= ", statement->op == DSL_NO_OPERATOR ? "" : dsl_operator_text(statement->op));
    put_open(f, statement->value);
}

static void put_statement(struct formatter *f, const struct dsl_statement *statement)
{
    switch (statement->kind) {
    case DSL_EXPRESSION:
        put_open(f, statement->value);
        break;
    case DSL_ASSIGN:
        put_assign(f, statement);
        break;
    case DSL_FOR:
        put(f, "for ");
        put_open(f, statement->target);
        put_head(f, statement, " in ");
        return;
    case DSL_WHILE:
        put_head(f, statement, "while ");
        return;
    case DSL_WITH:
        put_head(f, statement, "with ");
        return;
    case DSL_IF:
        put_if(f, statement, "if ");
        return;
    case DSL_DEF:
        put_def(f, statement);
        return;
    case DSL_RETURN:
        put(f, statement->value ? "return " : "return");
        if (statement->value)
            put_open(f, statement->value);
        break;
    case DSL_BREAK:
        put(f, "break");
        break;
    case DSL_CONTINUE:
        put(f, "continue");
        break;
    case DSL_PASS:
        put(f, "pass");
        break;
    case DSL_ASSERT:
        put(f, "assert ");
        put_expr(f, statement->value);
        if (statement->note) {
            put(f, ", ");
            put_expr(f, statement->note);
        }
        break;
    case DSL_IMPORT:
        put(f, statement->name);
        break;
    case DSL_REMARKS:
        break;
    }
    if (statement->trail)
        text_addf(&f->text, "  %s", statement->trail);
}

static void put_block(struct formatter *f, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_comments *lead = &statement->lead;
        bool function = statement->kind == DSL_DEF || (i && block->items[i - 1]->kind == DSL_DEF);
        if (i && (statement->after_blank || function))
            put(f, function && !f->indent ? "\n\n" : "\n");
        for (int j = 0; j < lead->count; j++) {
            if (j && lead->items[j].after_blank)
                put(f, "\n");
            new_line(f);
            put(f, lead->items[j].text);
        }
        if (statement->kind == DSL_REMARKS)
            continue;
        if (lead->count && statement->apart)
            put(f, "\n");
        new_line(f);
        put_statement(f, statement);
    }
}

char *dsl_format(struct arena *arena, const struct dsl_tree *tree)
{
    struct formatter f = {0};
    put_block(&f, &tree->body);
    put(&f, "\n");
    const char *text = f.text.bytes;
    while (*text == '\n') /* every line begins with its own */
        text++;
    char *copy = arena_strdup(arena, text);
    text_free(&f.text);
    return copy;
}
