/* Words to tree: the expressions. */
#include "base/array.h"
#include "dsl/parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What reads a tree goes down it by recursion: its height fits every stack. */
enum { DEPTH_MAX = 64, HEIGHT_MAX = 256, ITEMS_MAX = 4096 };

static const struct {
    const char *text;
    int level;
} operators[] = {
#define OPERATOR(value, text, level) [value] = {text, level},
    DSL_OPERATORS(OPERATOR)
#undef OPERATOR
};

int dsl_operator_level(enum dsl_operator op)
{
    return operators[op].level;
}

const char *dsl_operator_text(enum dsl_operator op)
{
    return operators[op].text;
}

bool parser_is(const struct parser *p, const char *text)
{
    return *p->now->text == *text && (p->now->kind == TOKEN_NAME || p->now->kind == TOKEN_SIGN) &&
           strcmp(p->now->text, text) == 0;
}

bool parser_accept(struct parser *p, const char *text)
{
    bool is = parser_is(p, text);
    p->now += is;
    return is;
}

void parser_expect(struct parser *p, const char *expected)
{
    static const char *const ends[] = {
        [TOKEN_LINE] = "the end of the line",
        [TOKEN_INDENT] = "an indented line",
        [TOKEN_DEDENT] = "the end of the block",
        [TOKEN_END] = "the end of the program",
        [TOKEN_TEXT] = "a text",
    };
    const struct dsl_token *now = p->now;
    if (p->told == now->place.line)
        return;
    p->told = now->place.line;
    const struct dsl_token *last = now > p->words->tokens ? now - 1 : now;
    struct dsl_place place = now->place;
    bool opened = last->kind == TOKEN_SIGN && strcmp(last->text, "(") == 0;
    bool behind = last->place.line < place.line && (opened || strstr(expected, "')'"));
    expected = behind && opened ? "')'" : expected;
    if (behind) /* a bracket that was not closed goes on in the next line: what is missing is missing there */
        place = (struct dsl_place){last->place.line, last->place.column + last->place.length, 1};
    bool named = behind || now->kind == TOKEN_TEXT || now->kind >= TOKEN_LINE;
    const char *remedy =
        named ? arena_printf(p->arena, "write %s at the caret", expected)
              : arena_printf(p->arena, "write %s before '%.60s', or take '%.60s' away", expected, now->text, now->text);
    if (named)
        dsl_complain(p->messages, place, DSL_RULE_syntax, remedy, "expected %s, found %s", expected,
                     behind ? ends[TOKEN_LINE] : ends[now->kind]);
    else
        dsl_complain(p->messages, now->place, DSL_RULE_syntax, remedy, "expected %s, found '%.60s'", expected,
                     now->text);
}

const struct dsl_remark *parser_remark(const struct parser *p)
{
    const struct dsl_words *words = p->words;
    bool is = p->remark < words->remark_count && words->remarks[p->remark].before <= p->now - words->tokens;
    return is ? &words->remarks[p->remark] : NULL;
}

const char *parser_trail(struct parser *p)
{
    const struct dsl_remark *remark = parser_remark(p);
    if (!remark || remark->alone || remark->line != p->now[-1].place.line)
        return NULL;
    p->remark++;
    return remark->comment.text;
}

const char *const parser_words[] = {
    "and",  "as",    "assert", "break", "class",  "continue", "def",  "del",    "elif",  "else",     "except",  "False",
    "for",  "from",  "global", "if",    "import", "in",       "is",   "lambda", "None",  "nonlocal", "not",     "or",
    "pass", "raise", "return", "True",  "try",    "while",    "with", "yield",  "async", "await",    "finally", NULL};

static bool is_word_of_the_language(const char *name)
{
    for (const char *const *word = parser_words; *word; word++)
        if (*name == **word && strcmp(name, *word) == 0)
            return true;
    return false;
}

const char *parser_name(struct parser *p, const char *expected)
{
    if (p->now->kind == TOKEN_NAME && !is_word_of_the_language(p->now->text))
        return p->now++->text;
    parser_expect(p, expected);
    return NULL;
}

static struct dsl_expr *node(struct parser *p, enum dsl_expr_kind kind, struct dsl_place place)
{
    struct dsl_expr *expr = arena_alloc(p->arena, sizeof *expr);
    *expr = (struct dsl_expr){.kind = kind, .place = place, .op = DSL_NO_OPERATOR};
    return expr;
}

static void add_item(struct parser *p, struct dsl_expr *expr, struct dsl_expr *item)
{
    if (item && item->height >= HEIGHT_MAX) {
        if (p->told != item->place.line)
            dsl_complain(p->messages, item->place, DSL_RULE_depth, "give a part of it a name",
                         "the expression has more than %d parts in each other", HEIGHT_MAX);
        p->told = item->place.line;
        item = node(p, DSL_NONE, item->place);
    }
    if (item && item->height >= expr->height)
        expr->height = item->height + 1;
    ARRAY_ADD(p->arena, expr->items, expr->count, expr->capacity, item);
}

static struct dsl_expr *operation(struct parser *p, enum dsl_operator op, struct dsl_place place, struct dsl_expr *left,
                                  struct dsl_expr *right)
{
    struct dsl_expr *expr = node(p, right ? DSL_BINARY : DSL_UNARY, place);
    expr->op = op;
    add_item(p, expr, left);
    if (right)
        add_item(p, expr, right);
    return expr;
}

static struct dsl_expr *refuse(struct parser *p, struct dsl_place place, const char *what, const char *remedy)
{
    if (p->told != place.line)
        dsl_complain(p->messages, place, DSL_RULE_not_in_the_language, remedy, "there is no %s in AscendDSL", what);
    p->told = place.line;
    return node(p, DSL_NONE, place);
}

/* Comments between the parts of a list: what stands before an item is its lead. */
static void take_item_lead(struct parser *p, struct dsl_comments *lead)
{
    for (const struct dsl_remark *remark; (remark = parser_remark(p)); p->remark++)
        ARRAY_ADD(p->arena, lead->items, lead->count, lead->capacity, remark->comment);
}

/* Items with commas between them up to the closing bracket, which is read. False: it is not there. */
static bool parse_items(struct parser *p, struct dsl_expr *list, const char *close,
                        struct dsl_expr *(*parse_item)(struct parser *), bool *comma)
{
    while (!parser_accept(p, close)) {
        struct dsl_comments lead = {0};
        const struct dsl_token *from = p->now;
        take_item_lead(p, &lead);
        if (list->count == ITEMS_MAX || p->now->kind == TOKEN_END) {
            parser_expect(p, close);
            return false;
        }
        struct dsl_expr *item = parse_item(p);
        item->lead = lead;
        add_item(p, list, item);
        bool more = parser_accept(p, ",");
        *comma |= more;
        item->trail = parser_trail(p);
        if ((!more && !parser_is(p, close)) || p->now == from) {
            parser_expect(p, close[0] == ')' ? "',' or ')'" : "',' or ']'");
            return false;
        }
    }
    return true;
}

/* What may stand between brackets: a comprehension is not among it. */
static struct dsl_expr *parse_item(struct parser *p)
{
    struct dsl_place place = p->now->place;
    if (parser_is(p, "*") || parser_is(p, "**")) {
        p->now++;
        parse_choice(p);
        return refuse(p, place, "unpacking of arguments", "name each argument");
    }
    struct dsl_expr *item = parse_choice(p);
    if (parser_is(p, "for"))
        return refuse(p, p->now->place, "comprehension", "write a loop");
    return item;
}

/* VALUE or NAME=VALUE. */
static struct dsl_expr *parse_argument(struct parser *p)
{
    bool named = p->now->kind == TOKEN_NAME && p->now[1].kind == TOKEN_SIGN && strcmp(p->now[1].text, "=") == 0;
    if (!named)
        return parse_item(p);
    struct dsl_expr *argument = node(p, DSL_NAMED, p->now->place);
    argument->name = p->now->text;
    p->now += 2;
    add_item(p, argument, parse_choice(p));
    return argument;
}

static void check_order(struct parser *p, const struct dsl_expr *call)
{
    for (int i = 2; i < call->count; i++)
        if (call->items[i]->kind != DSL_NAMED && call->items[i - 1]->kind == DSL_NAMED)
            dsl_complain(p->messages, call->items[i]->place, DSL_RULE_syntax, "name this argument too, or put it first",
                         "an argument without a name stands behind one with a name");
}

/* FROM:TO or one value, between the brackets of an index. */
static struct dsl_expr *parse_subscript(struct parser *p)
{
    struct dsl_place place = p->now->place;
    struct dsl_expr *from = parser_is(p, ":") ? NULL : parse_item(p);
    if (!parser_accept(p, ":"))
        return from;
    struct dsl_expr *slice = node(p, DSL_SLICE, place);
    add_item(p, slice, from);
    add_item(p, slice, parser_is(p, "]") || parser_is(p, ",") || parser_is(p, ":") ? NULL : parse_choice(p));
    if (parser_is(p, ":"))
        return refuse(p, p->now->place, "step in a slice", "give the distance as stride= of tl.load or tl.store");
    return slice;
}

static struct dsl_expr *parse_call(struct parser *p, struct dsl_expr *function, struct dsl_place place)
{
    bool comma = false;
    struct dsl_expr *call = node(p, DSL_CALL, function->kind == DSL_NAME ? function->place : place);
    if (function->kind == DSL_ATTRIBUTE)
        call->place = function->place;
    add_item(p, call, function);
    if (parse_items(p, call, ")", parse_argument, &comma))
        check_order(p, call);
    return call;
}

static struct dsl_expr *parse_index(struct parser *p, struct dsl_expr *of, struct dsl_place place)
{
    bool comma = false;
    struct dsl_expr *list = node(p, DSL_TUPLE, place), *index = node(p, DSL_INDEX, place);
    parse_items(p, list, "]", parse_subscript, &comma);
    if (!list->count) {
        dsl_complain(p->messages, place, DSL_RULE_syntax, NULL, "the index is missing");
        add_item(p, list, node(p, DSL_NONE, place));
    }
    add_item(p, index, of);
    add_item(p, index, comma || list->count > 1 ? list : list->items[0]);
    return index;
}

/* What follows a primary: calls, indices, attributes. */
static struct dsl_expr *parse_trailers(struct parser *p, struct dsl_expr *expr)
{
    for (int count = 0;; count++) {
        struct dsl_place place = p->now->place;
        if (count == DEPTH_MAX) {
            dsl_complain(p->messages, place, DSL_RULE_depth, NULL, "more than %d calls and indices in a row",
                         DEPTH_MAX);
            return expr;
        }
        if (parser_accept(p, "(")) {
            expr = parse_call(p, expr, place);
        } else if (parser_accept(p, "[")) {
            expr = parse_index(p, expr, place);
        } else if (parser_accept(p, ".")) {
            struct dsl_expr *attribute = node(p, DSL_ATTRIBUTE, p->now->place);
            add_item(p, attribute, expr);
            attribute->name = parser_name(p, "a name behind '.'");
            if (!attribute->name)
                return expr;
            expr = attribute;
        } else {
            return expr;
        }
    }
}

static struct dsl_expr *parse_number(struct parser *p)
{
    const struct dsl_token *token = p->now++;
    struct dsl_expr *number = node(p, token->kind == TOKEN_INT ? DSL_INT : DSL_REAL, token->place);
    char plain[128], *end = plain;
    size_t length = 0;
    for (const char *c = token->text; *c && length + 1 < sizeof plain; c++)
        if (*c != '_')
            plain[length++] = *c;
    plain[length] = '\0';
    errno = 0;
    if (number->kind == DSL_INT) {
        bool octal = plain[0] == '0' && plain[1] >= '0' && plain[1] <= '9';
        number->integer = strtoll(plain, &end, plain[0] == '0' && (plain[1] | ' ') == 'x' ? 16 : 10);
        if (octal) /* Python refuses it, C would read another number */
            end = plain;
    } else {
        number->real = strtod(plain, &end);
    }
    bool too_large = errno == ERANGE && (number->kind == DSL_INT || isinf(number->real));
    if (*end || end == plain || too_large)
        dsl_complain(p->messages, token->place, DSL_RULE_number, NULL,
                     too_large ? "'%.60s' is too large" : "'%.60s' is no number", token->text);
    number->digits = token->text;
    return number;
}

/* Texts that follow each other are one. A quote in them needs no backslash. */
static struct dsl_expr *parse_words(struct parser *p)
{
    struct dsl_expr *expr = node(p, DSL_TEXT, p->now->place);
    struct text text = {0};
    text_add(&text, "");
    for (; p->now->kind == TOKEN_TEXT; p->now++)
        for (const char *at = p->now->text; *at; at++) {
            bool quoted = *at == '\\' && (at[1] == '"' || at[1] == '\'');
            at += quoted;
            text_append(&text, at, 1);
            if (*at == '\\' && at[1]) /* what it stands before is no quote, but may be a backslash */
                text_append(&text, ++at, 1);
        }
    expr->name = arena_strndup(p->arena, text.bytes ? text.bytes : "", text.length);
    text_free(&text);
    return expr;
}

/* Gives the comments of an expression's place in a list to the line that it stands on. */
static void leave_comments(struct parser *p, struct dsl_expr *expr)
{
    struct dsl_comments *orphans = &p->orphans;
    for (int i = 0; i < expr->lead.count; i++)
        ARRAY_ADD(p->arena, orphans->items, orphans->count, orphans->capacity, expr->lead.items[i]);
    if (expr->trail)
        ARRAY_ADD(p->arena, orphans->items, orphans->count, orphans->capacity,
                  (struct dsl_comment){expr->trail, false});
    expr->trail = NULL;
    expr->lead.count = 0;
}

void parser_hoist(struct parser *p, struct dsl_expr *expr, bool kept)
{
    for (int i = 0; expr && i < expr->count; i++) {
        struct dsl_expr *item = expr->items[i];
        bool list = expr->kind == DSL_TUPLE || expr->kind == DSL_LIST || expr->kind == DSL_NAMED;
        bool argument = expr->kind == DSL_CALL && (i || (item && item->kind == DSL_CALL));
        if (item && !(kept && (list || argument)))
            leave_comments(p, item);
        parser_hoist(p, item, kept && (list || argument));
    }
}

/* (x), (a, b), (), or [a, b]. */
static struct dsl_expr *parse_brackets(struct parser *p, struct dsl_place place, bool round)
{
    bool comma = false;
    struct dsl_expr *list = node(p, round ? DSL_TUPLE : DSL_LIST, place);
    parse_items(p, list, round ? ")" : "]", parse_item, &comma);
    if (!round || comma || list->count != 1)
        return list;
    struct dsl_expr *inner = list->items[0];
    leave_comments(p, inner); /* brackets that only group are not kept */
    return inner;
}

static struct dsl_expr *parse_primary(struct parser *p)
{
    static const struct {
        const char *word;
        enum dsl_expr_kind kind;
    } constants[] = {{"True", DSL_TRUE}, {"False", DSL_FALSE}, {"None", DSL_NONE}};
    struct dsl_place place = p->now->place;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (parser_accept(p, constants[i].word))
            return node(p, constants[i].kind, place);
    if (parser_accept(p, "lambda"))
        return refuse(p, place, "lambda", "write the expression where it is used");
    static const char *const others[][3] = {
        {"{", "dictionary", "give each value a name of its own"},
        {"~", "'~'", "masks are 'range < bound'; tl.vnot(dst, src) is for buffers, 'not' for truth values"},
        {"@", "'@'", "tl.gemm multiplies matrices"},
        {":=", "':='", "assign on a line of its own"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (parser_is(p, others[i][0]))
            return refuse(p, place, others[i][1], others[i][2]);
    if (p->now->kind == TOKEN_INT || p->now->kind == TOKEN_REAL)
        return parse_number(p);
    if (p->now->kind == TOKEN_TEXT)
        return parse_words(p);
    if (parser_accept(p, "("))
        return parse_brackets(p, place, true);
    if (parser_accept(p, "["))
        return parse_brackets(p, place, false);
    const char *name = parser_name(p, "an expression");
    if (name && p->now->kind == TOKEN_TEXT && p->now->place.column == place.column + place.length)
        return refuse(p, place, "text with a prefix", "write a plain text between quotes");
    struct dsl_expr *expr = node(p, name ? DSL_NAME : DSL_NONE, place);
    expr->name = name;
    return expr;
}

static bool enter(struct parser *p)
{
    if (p->depth < DEPTH_MAX) {
        p->depth++;
        return true;
    }
    if (p->told != p->now->place.line)
        dsl_complain(p->messages, p->now->place, DSL_RULE_depth, "give a part of it a name",
                     "the expression nests more than %d deep", DEPTH_MAX);
    p->told = p->now->place.line;
    while (p->now->kind < TOKEN_LINE)
        p->now++;
    return false;
}

static struct dsl_expr *parse_level(struct parser *p, int level);

/* -x, not x, and x ** y, which binds more tightly than the minus before it. */
static struct dsl_expr *parse_unary(struct parser *p)
{
    struct dsl_place place = p->now->place;
    struct dsl_expr *expr;
    if (!enter(p))
        return node(p, DSL_NONE, place);
    if (parser_accept(p, "-")) {
        expr = operation(p, DSL_NEGATE, place, parse_unary(p), NULL);
    } else if (parser_accept(p, "+")) {
        expr = parse_unary(p);
    } else {
        expr = parse_trailers(p, parse_primary(p));
        place = p->now->place;
        if (parser_accept(p, "**"))
            expr = operation(p, DSL_POWER, place, expr, parse_unary(p));
    }
    p->depth--;
    return expr;
}

/* The binary operator that comes next, of this level; DSL_NO_OPERATOR if there is none. */
static enum dsl_operator next_operator(struct parser *p, int level)
{
    for (enum dsl_operator op = DSL_OR; op < DSL_NO_OPERATOR; op++)
        if (operators[op].level == level && op != DSL_NOT && op != DSL_NEGATE && parser_accept(p, operators[op].text))
            return op == DSL_IS && parser_accept(p, "not") ? DSL_IS_NOT : op;
    return DSL_NO_OPERATOR;
}

enum { LEVEL_NOT = 3, LEVEL_COMPARISON = 4, LEVEL_UNARY = 11 };

static struct dsl_expr *parse_level(struct parser *p, int level)
{
    struct dsl_place place = p->now->place;
    if (level == LEVEL_UNARY)
        return parse_unary(p);
    if (level == LEVEL_NOT && parser_accept(p, "not")) {
        if (!enter(p))
            return node(p, DSL_NONE, place);
        struct dsl_expr *not_it = operation(p, DSL_NOT, place, parse_level(p, level), NULL);
        p->depth--;
        return not_it;
    }
    struct dsl_expr *left = parse_level(p, level + 1), *last = left;
    for (int count = 0;; count++) {
        place = p->now->place;
        if (level == LEVEL_COMPARISON && (parser_is(p, "in") || parser_is(p, "not")))
            return refuse(p, place, "'in' as a question", NULL);
        enum dsl_operator op = next_operator(p, level);
        if (op == DSL_NO_OPERATOR)
            return left;
        if (count == DEPTH_MAX) {
            dsl_complain(p->messages, place, DSL_RULE_depth, "give a part of it a name",
                         "more than %d operators in a row", DEPTH_MAX);
            return left;
        }
        struct dsl_expr *right = parse_level(p, level + 1);
        bool chained = level == LEVEL_COMPARISON && last != left;
        struct dsl_expr *compared = operation(p, op, place, chained ? last : left, right);
        left = chained ? operation(p, DSL_AND, place, left, compared) : compared;
        last = level == LEVEL_COMPARISON ? right : left;
    }
}

struct dsl_expr *parse_choice(struct parser *p)
{
    struct dsl_place place = p->now->place;
    if (!enter(p))
        return node(p, DSL_NONE, place);
    struct dsl_expr *value = parse_level(p, 1);
    place = p->now->place;
    if (parser_accept(p, "if")) {
        struct dsl_expr *choice = node(p, DSL_CHOICE, place);
        add_item(p, choice, value);
        add_item(p, choice, parse_level(p, 1));
        if (!parser_accept(p, "else"))
            parser_expect(p, "'else' and another value");
        else
            add_item(p, choice, parse_choice(p));
        if (choice->count < 3)
            add_item(p, choice, node(p, DSL_NONE, place));
        value = choice;
    }
    p->depth--;
    return value;
}

/* Parts with commas between them, without brackets. */
static struct dsl_expr *parse_parts(struct parser *p, struct dsl_expr *(*parse_part)(struct parser *))
{
    struct dsl_place place = p->now->place;
    struct dsl_expr *first = parse_part(p);
    if (!parser_is(p, ","))
        return first;
    struct dsl_expr *tuple = node(p, DSL_TUPLE, place);
    add_item(p, tuple, first);
    while (parser_accept(p, ",") && p->now->kind != TOKEN_LINE && !parser_is(p, "=") && tuple->count < ITEMS_MAX)
        add_item(p, tuple, parse_part(p));
    return tuple;
}

struct dsl_expr *parse_tuple(struct parser *p)
{
    return parse_parts(p, parse_choice);
}

static struct dsl_expr *parse_target(struct parser *p)
{
    return parse_trailers(p, parse_primary(p));
}

struct dsl_expr *parse_targets(struct parser *p)
{
    return parse_parts(p, parse_target);
}
