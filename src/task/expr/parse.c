/* Text to tree, by recursive descent: one function per level of the grammar in expr.h. */
#include "task/expr/tree.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An evaluator needs a block of numbers per argument and level, so a tree has a height that fits every stack. */
enum { MAX_DEPTH = 64, MAX_HEIGHT = 128, MAX_ITEMS = 4096 };

struct parser {
    struct arena *arena;
    const char *text, *at;
    struct akgen_error *error; /* the first one; parsing stops there */
    int depth;
    uint64_t nodes;
};

static struct expr *parse_expression(struct parser *p);
static struct expr *parse_tuple(struct parser *p);

static struct expr *fail(struct parser *p, const char *expected)
{
    if (!p->error)
        p->error =
            error_new("in '%.100s', column %d: expected %s, found %s%.20s%s", p->text, (int)(p->at - p->text) + 1,
                      expected, *p->at ? "'" : "", *p->at ? p->at : "the end", *p->at ? "'" : "");
    return NULL;
}

struct akgen_error *expr_error_at(const struct expr *node, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_new("in '%.100s', column %d: %s", node->text, node->at, message);
}

/* At something that other languages have. */
static struct expr *refuse(struct parser *p, const char *instead)
{
    if (!p->error)
        p->error = error_new("in '%.100s', column %d: '%.*s' is not supported: %s", p->text, (int)(p->at - p->text) + 1,
                             *p->at == '.' ? 2 : 1, p->at, instead);
    return NULL;
}

static struct expr *too_deep(struct parser *p)
{
    return fail(p, "fewer nested parts");
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

static bool part_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool expr_is_word(const char *name)
{
    return part_of_word(*name);
}

static struct expr *node_new(struct parser *p, enum expr_node kind, const char *at)
{
    struct expr *node = arena_alloc(p->arena, sizeof *node);
    node->node = kind;
    node->text = p->text;
    node->at = (int)(at - p->text) + 1;
    node->place = ++p->nodes;
    return node;
}

/* The node with its kids, which may be NULL; NULL if the tree gets too high. */
static struct expr *with_kids(struct parser *p, struct expr *node, struct expr *const *kids, int count)
{
    node->kids = arena_copy(p->arena, kids, sizeof *kids * (size_t)count);
    node->kid_count = count;
    for (int i = 0; i < count; i++)
        if (kids[i] && kids[i]->height >= node->height)
            node->height = kids[i]->height + 1;
    return node->height <= MAX_HEIGHT ? node : too_deep(p);
}

static struct expr *call_node(struct parser *p, const char *name, const char *at, struct expr *const *kids, int count)
{
    struct expr *node = node_new(p, NODE_CALL, at);
    node->name = name;
    return with_kids(p, node, kids, count);
}

/* A word that stands alone. */
static bool accept_word(struct parser *p, const char *word)
{
    skip_blanks(p);
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0 || part_of_word(p->at[length]))
        return false;
    p->at += length;
    return true;
}

/* `name =` in front of an argument; nothing is consumed where it is no such argument. */
static bool accept_keyword(struct parser *p, const char *name)
{
    const char *start = p->at;
    if (accept_word(p, name) && accept(p, "=") && *p->at != '=')
        return true;
    p->at = start;
    return false;
}

/* Axes are also written as dim=, and in parentheses behind it. keepdim=True says what is so anyway. */
static struct expr *parse_item(struct parser *p)
{
    static const char *const axes[] = {"dim", "axis", "dims", "axes"};
    bool named = false;
    for (size_t i = 0; i < sizeof axes / sizeof *axes && !named; i++)
        named = accept_keyword(p, axes[i]);
    skip_blanks(p);
    return named && *p->at == '(' ? parse_tuple(p) : parse_expression(p);
}

static bool accept_kept(struct parser *p)
{
    if (!accept_keyword(p, "keepdim") && !accept_keyword(p, "keepdims"))
        return false;
    return accept_word(p, "True") || accept_word(p, "true") || (fail(p, "True: axes stay, with a size of 1"), false);
}

/* Items up to `close`, which is consumed; NULL: an error. */
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
        if (*close == ')' && accept_kept(p))
            continue;
        struct expr *item = p->error ? NULL : *close == ')' ? parse_item(p) : parse_expression(p);
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
    struct expr *node = node_new(p, NODE_VALUE, p->at);
    node->value = (struct expr_value){.kind = EXPR_REAL, .real = real};
    if (end_int >= end_real)
        node->value = (struct expr_value){.kind = EXPR_INT, .integer = integer, .real = real};
    p->at = end_real > end_int ? end_real : end_int;
    return node;
}

static const struct {
    const char *word;
    struct expr_value value;
} constants[] = {
    {"true", {.kind = EXPR_BOOL, .integer = 1, .real = 1}},
    {"True", {.kind = EXPR_BOOL, .integer = 1, .real = 1}},
    {"false", {.kind = EXPR_BOOL}},
    {"False", {.kind = EXPR_BOOL}},
    {"None", {.kind = EXPR_NONE}},
    {"inf", {.kind = EXPR_REAL, .real = INFINITY}},
    {"nan", {.kind = EXPR_REAL, .real = NAN}},
};

const struct expr_value *expr_word_value(const char *word)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(constants[i].word, word) == 0)
            return &constants[i].value;
    return NULL;
}

static const char *word_at(struct parser *p)
{
    const char *start = p->at;
    while (part_of_word(*p->at))
        p->at++;
    return arena_strndup(p->arena, start, (size_t)(p->at - start));
}

static struct expr *parse_word(struct parser *p)
{
    const char *start = p->at, *word = word_at(p);
    if (!expr_word_value(word) && accept(p, "(")) {
        int count;
        struct expr **kids = parse_items(p, ")", &count);
        return kids ? call_node(p, word, start, kids, count) : NULL;
    }
    struct expr *node = node_new(p, NODE_WORD, start);
    node->name = word;
    return node;
}

static struct expr *parse_column(struct parser *p)
{
    const char *start = p->at++;
    if (!part_of_word(*p->at))
        return fail(p, "the name of a column");
    struct expr *node = node_new(p, NODE_COLUMN, start);
    node->name = word_at(p);
    return node;
}

static struct expr *parse_text(struct parser *p)
{
    const char *end = strchr(p->at + 1, *p->at);
    if (!end)
        return fail(p, "a closing quote");
    struct expr *node = node_new(p, NODE_VALUE, p->at);
    node->value =
        (struct expr_value){.kind = EXPR_TEXT, .text = arena_strndup(p->arena, p->at + 1, (size_t)(end - p->at - 1))};
    p->at = end + 1;
    return node;
}

static struct expr *parse_list(struct parser *p)
{
    int count;
    struct expr *node = node_new(p, NODE_LIST, p->at - 1), **kids = parse_items(p, "]", &count);
    return kids ? with_kids(p, node, kids, count) : NULL;
}

static struct expr *parse_tuple(struct parser *p)
{
    int count;
    struct expr *node = node_new(p, NODE_LIST, p->at++), **kids = parse_items(p, ")", &count);
    return kids ? with_kids(p, node, kids, count) : NULL;
}

static struct expr *parse_primary(struct parser *p)
{
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p);
    if (part_of_word(*p->at))
        return parse_word(p);
    if (*p->at == '$')
        return parse_column(p);
    if (*p->at == '"' || *p->at == '\'')
        return parse_text(p);
    if (accept(p, "(")) {
        struct expr *inner = parse_expression(p);
        return !inner || accept(p, ")") ? inner : fail(p, "')'");
    }
    return accept(p, "[") ? parse_list(p) : fail(p, "a value");
}

bool expr_is_space(const char *name)
{
    static const char *const spaces[] = {"torch", "np",         "numpy", "math", "F",
                                         "nn",    "functional", "tl",    "jnp",  "special"};
    bool space = false;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        space |= strcmp(spaces[i], name) == 0;
    return space;
}

/* torch.exp(x) is exp(x), x.sum(0) is sum(x, 0). */
static struct expr *parse_member(struct parser *p, struct expr *base)
{
    const char *start = ++p->at, *name = word_at(p);
    if (base->node == NODE_WORD && expr_is_space(base->name)) {
        p->at = start;
        return parse_word(p);
    }
    int count;
    if (strcmp(name, "T") == 0 && p->at[strspn(p->at, " ")] != '(') {
        p->at = start - 1;
        return refuse(p, "a formula does not transpose; write a program in AscendDSL (docs/dsl.md)");
    }
    if (!accept(p, "("))
        return fail(p, "'(': what stands behind a value and a point is a function of it");
    struct expr **items = parse_items(p, ")", &count),
                **kids = arena_alloc(p->arena, sizeof *kids * (size_t)(count + 1));
    kids[0] = base;
    if (items)
        memcpy(kids + 1, items, sizeof *kids * (size_t)count);
    return items ? call_node(p, name, start, kids, count + 1) : NULL;
}

static bool at_member(const struct parser *p)
{
    return *p->at == '.' && isalpha((unsigned char)p->at[1]);
}

static struct expr *parse_postfix(struct parser *p)
{
    struct expr *base = parse_primary(p);
    while (base && at_member(p))
        base = parse_member(p, base);
    while (base && accept(p, "[")) {
        const char *start = p->at - 1;
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
        struct expr *const kids[] = {base, from, to};
        base = with_kids(p, node_new(p, slice ? NODE_SLICE : NODE_INDEX, start), kids, 3);
        while (base && at_member(p))
            base = parse_member(p, base);
    }
    return base;
}

static struct expr *parse_unary(struct parser *p)
{
    skip_blanks(p);
    const char *start = p->at;
    bool inverted = (*p->at == '!' && p->at[1] != '=') || *p->at == '~';
    bool negative = accept(p, "-") || (inverted && p->at++);
    struct expr *part = negative ? NULL : parse_postfix(p);
    skip_blanks(p);
    const char *sign = p->at;
    if (!negative && !(part && (accept(p, "**") || accept(p, "^"))))
        return part;
    if (++p->depth > MAX_DEPTH)
        return too_deep(p);
    struct expr *kid = parse_unary(p);
    p->depth--;
    if (!kid)
        return NULL;
    return negative ? call_node(p, inverted ? "not" : "neg", start, &kid, 1)
                    : call_node(p, "**", sign, (struct expr *const[]){part, kid}, 2);
}

/* Binary operators by level, loosest first; longer tokens before their prefixes. */
static const char *const levels[][7] = {
    {"==", "!=", "<=", ">=", "<", ">"},
    {"+", "-"},
    {"//", "*", "/", "%"},
};
enum { LEVELS = sizeof levels / sizeof *levels, COMPARISONS = 0 };

static const char *accept_operator(struct parser *p, int level)
{
    for (const char *const *op = levels[level]; *op; op++)
        if (accept(p, *op))
            return *op;
    return NULL;
}

static struct expr *parse_binary(struct parser *p, int level)
{
    if (level == LEVELS)
        return parse_unary(p);
    struct expr *left = parse_binary(p, level + 1);
    for (int terms = 1; left; terms++) {
        skip_blanks(p);
        if (*p->at == '@')
            return refuse(p, "a formula has no matrix products; write a program in AscendDSL (docs/dsl.md)");
        const char *start = p->at, *op = accept_operator(p, level);
        if (!op)
            return left;
        if (level == COMPARISONS && terms > 1) { /* not what a < b < c says in mathematics */
            p->at = start;
            return fail(p, "one comparison, the other in parentheses");
        }
        struct expr *kids[2] = {left, parse_binary(p, level + 1)};
        if (!kids[1])
            return NULL;
        left = call_node(p, op, start, kids, 2);
    }
    return NULL;
}

static struct expr *parse_negation(struct parser *p)
{
    skip_blanks(p);
    const char *start = p->at;
    if (!accept_word(p, "not"))
        return parse_binary(p, 0);
    if (++p->depth > MAX_DEPTH)
        return too_deep(p);
    struct expr *kid = parse_negation(p);
    p->depth--;
    return kid ? call_node(p, "not", start, &kid, 1) : NULL;
}

/* What `and` (the tighter one) and `or` join, however they are written. */
static struct expr *parse_joined(struct parser *p, bool tight)
{
    struct expr *left = tight ? parse_negation(p) : parse_joined(p, true);
    while (left) {
        skip_blanks(p);
        const char *start = p->at;
        if (tight ? !accept_word(p, "and") && !accept(p, "&&") && !accept(p, "&")
                  : !accept_word(p, "or") && !accept(p, "||") && !accept(p, "|"))
            return left;
        struct expr *kids[2] = {left, tight ? parse_negation(p) : parse_joined(p, true)};
        left = kids[1] ? call_node(p, tight ? "and" : "or", start, kids, 2) : NULL;
    }
    return NULL;
}

static struct expr *parse_expression(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        return too_deep(p);
    struct expr *left = parse_joined(p, false);
    if (left && accept(p, "?")) {
        struct expr *node = node_new(p, NODE_CHOICE, p->at - 1), *kids[3] = {left, parse_expression(p)};
        if (!kids[1])
            return NULL;
        if (!accept(p, ":"))
            return fail(p, "':'");
        left = (kids[2] = parse_expression(p)) ? with_kids(p, node, kids, 3) : NULL;
    } else if (left && accept_word(p, "if")) { /* as in Python: value if condition else other */
        struct expr *node = node_new(p, NODE_CHOICE, p->at - 2), *kids[3] = {parse_joined(p, false), left};
        if (kids[0] && !accept_word(p, "else"))
            return fail(p, "'else'");
        left = kids[0] && (kids[2] = parse_expression(p)) ? with_kids(p, node, kids, 3) : NULL;
    }
    p->depth--;
    return left;
}

struct akgen_error *expr_tree_parse(struct arena *arena, const char *text, struct expr **tree)
{
    struct parser p = {.arena = arena, .text = arena_strdup(arena, text)};
    p.at = p.text;
    *tree = parse_expression(&p);
    if (*tree) {
        skip_blanks(&p);
        if (*p.at)
            *tree = fail(&p, "an operator or the end");
    }
    return p.error;
}

/* `name =` in front of a step; NULL, and nothing is consumed, where there is none. */
static const char *accept_name(struct parser *p)
{
    skip_blanks(p);
    const char *start = p->at, *name = part_of_word(*start) && !isdigit((unsigned char)*start) ? word_at(p) : NULL;
    if (name && accept(p, "=") && *p->at != '=')
        return name;
    p->at = start;
    return NULL;
}

struct akgen_error *expr_steps_parse(struct arena *arena, const char *text, struct expr_step *steps, int most,
                                     int *count)
{
    struct parser p = {.arena = arena, .text = arena_strdup(arena, text)};
    p.at = p.text;
    *count = 0;
    do {
        skip_blanks(&p);
        struct expr_step step = {.at = (int)(p.at - p.text) + 1};
        step.name = accept_name(&p);
        if (*count == most)
            return fail(&p, "fewer steps"), p.error;
        if (!(step.tree = parse_expression(&p)))
            return p.error;
        steps[(*count)++] = step;
        if (step.name && !accept(&p, ";"))
            return fail(&p, "an operator or ';' and what is made of the step"), p.error;
        if (!step.name)
            break;
    } while (true);
    skip_blanks(&p);
    if (*p.at)
        fail(&p, "an operator or the end");
    return p.error;
}

bool expr_names(const struct expr *expr, const char *name)
{
    bool named = expr->node == NODE_WORD && strcmp(expr->name, name) == 0;
    for (int i = 0; i < expr->kid_count && !named; i++)
        named = expr->kids[i] && expr_names(expr->kids[i], name);
    return named;
}
