/* Formulas in the style of a description: how powers, products, choices and sums over all elements are written, and what stands behind
 * names. */
#include "task/expr/print.h"
#include "base/names.h"
#include "cot/synth_internal.h"

#include <string.h>

static const struct {
    const char *name, *words, *names;
} functions[] = {
#define WORDS(name, words, names) {name, words, names},
#include "cot/synth_words.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static int row_of(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return i;
    return -1;
}

const char *synth_nouns(const char *name)
{
    int row = row_of(name);
    return row < 0 ? "" : functions[row].words;
}

const char *synth_called(struct synth *s, const char *name)
{
    int row = row_of(name);
    if (row < 0)
        return name;
    struct synth same = {.arena = s->arena};
    rng_seed(&same.rng, s->style->seed + (uint64_t)row);
    return synth_choose(&same, functions[row].names);
}

bool synth_is_summary(const struct expr *expr)
{
    return expr->node == NODE_CALL &&
           names_among(expr->name, strlen(expr->name),
                       "sum|mean|var|std|norm|amax|amin|logsumexp|softmax|log_softmax|cumsum");
}
bool synth_is_all(const struct expr *call)
{
    return call->kid_count == 2 && call->kids[1]->node == NODE_WORD && strcmp(call->kids[1]->name, "all") == 0;
}
bool synth_has(const struct expr *expr, bool (*of)(const struct expr *expr))
{
    if (of(expr))
        return true;
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i] && synth_has(expr->kids[i], of))
            return true;
    return false;
}
bool synth_along_rows(const struct expr *expr)
{
    return synth_is_summary(expr) && expr->kid_count == 1;
}
bool synth_over_all(const struct expr *expr)
{
    return synth_is_summary(expr) && synth_is_all(expr);
}
bool synth_is_call(const struct expr *expr, const char *name)
{
    return expr->node == NODE_CALL && strcmp(expr->name, name) == 0;
}

static bool is_spread(const struct synth *s, const struct expr *expr)
{
    return s->style->spread && synth_is_call(expr, "sum") && synth_is_all(expr);
}

static void add_formula(struct synth *s, struct text *text, const struct expr *expr);

/* A sum over all elements, written out. */
static void add_spread(struct synth *s, struct text *text, const struct expr *sum)
{
    const struct synth_style *whole = s->style;
    struct synth_style one = *whole;
    s->style = &one;
    one.spread = false;
    for (one.term = 1; one.term <= 3; one.term++) {
        text_add(text, one.term == 3 ? " + ... + " : one.term == 2 ? " + " : "");
        add_formula(s, text, sum->kids[0]);
    }
    s->style = whole;
}

/* What stands behind the name of a tensor whose elements are `stride` apart; NULL: they are neighbours. */
static void add_index(const struct synth *s, struct text *text, const char *stride)
{
    const char *count = s->length ? s->length : "n";
    if (s->style->term == 3 && stride)
        text_addf(text, "[(%s - 1) * %s]", count, stride);
    else if (s->style->term == 3)
        text_addf(text, "[%s - 1]", count);
    else if (s->style->term == 2)
        text_addf(text, "[%s]", stride ? stride : "1");
    else if (s->style->term == 1)
        text_add(text, "[0]");
    else if (stride && *s->style->index)
        text_addf(text, s->style->seed % 2 ? "[i * %s]" : "[%s * i]", stride);
    else
        text_add(text, s->style->index);
}

/* How many elements a tensor has. */
static void add_count(const struct synth *s, struct text *text, const struct expr *call)
{
    const uint64_t way = call->kid_count == 1 ? 3 : s->style->seed % 4;
    if (way < 2)
        text_addf(text, way ? "%s.numel()" : "numel(%s)", call->kids[0]->name);
    else
        text_add(text, way == 2 ? "(number of elements)" : s->count);
}

static void add_word(const struct synth *s, struct text *text, const char *name)
{
    text_add(text, name);
    const struct synth_tensor *tensor = synth_tensor_of(s, name);
    if (tensor && (tensor->place != SYNTH_ONE || tensor->each))
        add_index(s, text, tensor->stride);
    for (int i = 0; i < s->step_count && !tensor; i++)
        if (strcmp(s->steps[i].name, name) == 0 && !s->steps[i].output)
            add_index(s, text, NULL);
}

/* Constants with more digits than a double has, now and then. */
static void add_value(const struct synth *s, struct text *text, const struct expr *expr)
{
    struct text digits = {0};
    expr_print(&digits, expr);
    if (s->style->digits && digits.length > 12 && !strchr(digits.bytes, 'e'))
        text_addf(text, "%.*f", 17 + (int)(s->style->seed % 6), expr->value.real);
    else
        text_add(text, digits.bytes);
    text_free(&digits);
}

/* "-2 / n": behind a sign it would be read twice. */
static bool begins_with_sign(const struct expr *expr)
{
    return expr->kid_count ? synth_is_call(expr, "neg") || (expr->kid_count == 2 && begins_with_sign(expr->kids[0]))
                           : expr->node == NODE_VALUE && expr->value.real < 0;
}

static void add_operand(struct synth *s, struct text *text, const struct expr *call, int operand)
{
    const struct expr *kid = call->kids[operand];
    const bool factor = synth_is_call(call, "*") && synth_is_call(kid, "/");
    bool enclosed = expr_binds(kid) < expr_operand_binds(call, operand) || is_spread(s, kid) ||
                    (factor && (s->style->grouped || (operand && begins_with_sign(kid))));
    text_add(text, enclosed ? "(" : "");
    add_formula(s, text, call->kids[operand]);
    text_add(text, enclosed ? ")" : "");
}

static void add_power(struct synth *s, struct text *text, const struct expr *call)
{
    const struct expr *exponent = call->kids[1];
    if (s->style->power == SYNTH_PRODUCT && call->kids[0]->node == NODE_WORD && exponent->node == NODE_VALUE &&
        exponent->value.real == 2) {
        add_formula(s, text, call->kids[0]);
        text_add(text, s->style->times);
        add_formula(s, text, call->kids[0]);
        return;
    }
    if (exponent->node != NODE_VALUE && s->style->seed % 3 == 0) {
        text_addf(text, "%spow(", s->style->torch);
        add_formula(s, text, call->kids[0]);
        text_add(text, ", ");
        add_formula(s, text, exponent);
        text_add(text, ")");
        return;
    }
    add_operand(s, text, call, 0);
    text_add(text, s->style->power == SYNTH_STARS ? "**" : "^");
    add_operand(s, text, call, 1);
}

static void add_choice(struct synth *s, struct text *text, const struct expr *call)
{
    static const int order[3][3] = {{0, 1, 2}, {1, 0, 2}, {0, 1, 2}};
    static const char *const between[3][4] = {
        {"where(", ", ", ", ", ")"}, {"(", " if ", " else ", ")"}, {"(", " ? ", " : ", ")"}};
    for (int i = 0; i < 3; i++) {
        text_add(text, between[s->style->choice][i]);
        add_formula(s, text, call->kids[order[s->style->choice][i]]);
    }
    text_add(text, between[s->style->choice][3]);
}

static void add_call(struct synth *s, struct text *text, const struct expr *call)
{
    if (synth_is_call(call, "**")) {
        add_power(s, text, call);
    } else if (is_spread(s, call)) {
        add_spread(s, text, call);
    } else if (synth_is_call(call, "size") && s->counted) {
        add_count(s, text, call);
    } else if (synth_is_call(call, "where")) {
        add_choice(s, text, call);
    } else if (synth_is_call(call, "neg")) {
        text_add(text, "-");
        add_operand(s, text, call, 0);
    } else if (s->style->bare && (synth_is_call(call, "var") || synth_is_call(call, "mean")) &&
               call->kids[0]->node == NODE_WORD) {
        text_add(text, synth_is_call(call, "var") ? "variance" : "mean");
    } else if (synth_is_call(call, "abs") && s->style->bars && !synth_has(call->kids[0], synth_along_rows)) {
        text_add(text, "|");
        add_formula(s, text, call->kids[0]);
        text_add(text, "|");
    } else if (expr_binds(call) < EXPR_ATOM && call->kid_count == 2) {
        add_operand(s, text, call, 0);
        bool product = synth_is_call(call, "*");
        text_addf(text,
                  s->style->dense && expr_binds(call) == EXPR_PRODUCT ? "%s"
                  : product                                           ? "%s"
                                                                      : " %s ",
                  product ? s->style->times : call->name);
        add_operand(s, text, call, 1);
    } else {
        text_addf(text, "%s%s(", s->style->torch, synth_called(s, call->name));
        bool summary = synth_is_summary(call), several = summary && call->kid_count > 2;
        int kids = summary && (synth_is_all(call) || s->style->mute) ? 1 : call->kid_count;
        for (int i = 0; i < kids; i++) {
            text_add(text, i == 1 && several ? ", dim=(" : i == 1 && summary ? ", dim=" : i ? ", " : "");
            add_formula(s, text, call->kids[i]);
        }
        text_add(text, several && kids > 1 ? "))" : ")");
    }
}

static void add_formula(struct synth *s, struct text *text, const struct expr *expr)
{
    if (expr->node == NODE_WORD)
        add_word(s, text, expr->name);
    else if (expr->node == NODE_CALL)
        add_call(s, text, expr);
    else if (expr->node == NODE_VALUE)
        add_value(s, text, expr);
    else
        expr_print(text, expr);
}

const char *synth_formula(struct synth *s, const struct expr *expr)
{
    struct text text = {0};
    add_formula(s, &text, expr);
    return text_keep(&text, s->arena);
}
