/* An operator in words. A style is drawn once for a description: how formulas are written in it, how much of them is words, and in which
 * order its steps stand. What it says is what the formulas say, no more and no less. */
#include "task/expr/print.h"
#include "cot/synth_internal.h"

#include <ctype.h>
#include <string.h>

/* How a description is written. */
struct style {
    enum { POWER_HAT, POWER_STARS, POWER_PRODUCT } power;
    enum { CHOICE_CALL, CHOICE_PYTHON, CHOICE_C } choice;
    const char *index; /* behind tensors: "[i]", ""; */
    const char *torch; /* in front of functions: "torch.", "" */
    const char *times;
    bool bars, dense; /* |x|; no blanks around * and / */
    bool bare;        /* "variance" for var(x): there is one x whose mean and variance are meant */
    bool spread;      /* "f(x[0]) + f(x[1]) + ... + f(x[n - 1])" for sums over all */
    int words;        /* percent of expressions that are words */
    uint64_t seed;    /* which of its names a function has in all of the description */
};

static const struct {
    const char *name, *words, *names;
} functions[] = {
#define WORDS(name, words, names) {name, words, names},
#define DEFINITION(name, text)
#include "cot/synth_words.def"
#undef WORDS
#undef DEFINITION
};
static const struct {
    const char *name, *text;
} definitions[] = {
#define WORDS(name, words, names)
#define DEFINITION(name, text) {name, text},
#include "cot/synth_words.def"
#undef WORDS
#undef DEFINITION
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static int function_of(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return i;
    return -1;
}

/* The name in formulas: the same one wherever it stands. */
static const char *called(struct synth *s, const struct style *style, const char *name)
{
    int row = function_of(name);
    if (row < 0)
        return name;
    struct synth same = {.arena = s->arena};
    rng_seed(&same.rng, style->seed + (uint64_t)row);
    return synth_choose(&same, functions[row].names);
}

/* What a call goes over. */
static bool is_summary(const struct expr *expr)
{
    static const char *const names[] = {"sum",  "mean",      "var",     "std",         "norm",  "amax",
                                        "amin", "logsumexp", "softmax", "log_softmax", "cumsum"};
    for (size_t i = 0; expr->node == NODE_CALL && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], expr->name) == 0)
            return true;
    return false;
}
static bool is_all(const struct expr *call)
{
    return call->kid_count == 2 && call->kids[1]->node == NODE_WORD && strcmp(call->kids[1]->name, "all") == 0;
}
static bool has(const struct expr *expr, bool (*of)(const struct expr *expr))
{
    if (of(expr))
        return true;
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i] && has(expr->kids[i], of))
            return true;
    return false;
}
static bool goes_along_rows(const struct expr *expr)
{
    return is_summary(expr) && expr->kid_count == 1;
}
static bool goes_over_all(const struct expr *expr)
{
    return is_summary(expr) && is_all(expr);
}
static bool is_call(const struct expr *expr, const char *name)
{
    return expr->node == NODE_CALL && strcmp(expr->name, name) == 0;
}

static bool is_spread(const struct style *style, const struct expr *expr)
{
    return style->spread && is_call(expr, "sum") && is_all(expr);
}

/* Formulas. */
static void add_formula(struct synth *s, const struct style *style, struct text *text, const struct expr *expr);

/* A sum over all elements, written out. */
static void add_spread(struct synth *s, const struct style *style, struct text *text, const struct expr *sum)
{
    static const char *const indices[] = {"[0]", "[1]", "[n - 1]"};
    struct style one = *style;
    one.spread = false;
    for (int i = 0; i < 3; i++) {
        one.index = indices[i];
        text_add(text, i == 2 ? " + ... + " : i ? " + " : "");
        add_formula(s, &one, text, sum->kids[0]);
    }
}

/* How many elements a tensor has. */
static void add_count(const struct synth *s, const struct style *style, struct text *text, const struct expr *call)
{
    const char *name = call->kids[0]->name;
    switch (style->seed % 4) {
    case 0:
        text_addf(text, "numel(%s)", name);
        break;
    case 1:
        text_addf(text, "%s.numel()", name);
        break;
    case 2:
        text_add(text, "(number of elements)");
        break;
    default:
        text_add(text, s->count);
    }
}

static void add_word(const struct synth *s, const struct style *style, struct text *text, const char *name)
{
    text_add(text, name);
    for (int i = 0; i < s->tensor_count; i++)
        if (strcmp(s->tensors[i].name, name) == 0 && s->tensors[i].place != SYNTH_ONE)
            text_add(text, style->index);
    for (int i = 0; i < s->step_count; i++)
        if (strcmp(s->steps[i].name, name) == 0 && !s->steps[i].output)
            text_add(text, style->index);
}

static void add_operand(struct synth *s, const struct style *style, struct text *text, const struct expr *call,
                        int operand)
{
    bool enclosed =
        expr_binds(call->kids[operand]) < expr_operand_binds(call, operand) || is_spread(style, call->kids[operand]);
    text_add(text, enclosed ? "(" : "");
    add_formula(s, style, text, call->kids[operand]);
    text_add(text, enclosed ? ")" : "");
}

static void add_power(struct synth *s, const struct style *style, struct text *text, const struct expr *call)
{
    const struct expr *exponent = call->kids[1];
    if (style->power == POWER_PRODUCT && call->kids[0]->node == NODE_WORD && exponent->node == NODE_VALUE &&
        exponent->value.real == 2) {
        add_formula(s, style, text, call->kids[0]);
        text_add(text, style->times);
        add_formula(s, style, text, call->kids[0]);
        return;
    }
    if (exponent->node != NODE_VALUE && style->seed % 3 == 0) {
        text_addf(text, "%spow(", style->torch);
        add_formula(s, style, text, call->kids[0]);
        text_add(text, ", ");
        add_formula(s, style, text, exponent);
        text_add(text, ")");
        return;
    }
    add_operand(s, style, text, call, 0);
    text_add(text, style->power == POWER_STARS ? "**" : "^");
    add_operand(s, style, text, call, 1);
}

static void add_choice(struct synth *s, const struct style *style, struct text *text, const struct expr *call)
{
    static const int order[3][3] = {{0, 1, 2}, {1, 0, 2}, {0, 1, 2}};
    static const char *const between[3][4] = {
        {"where(", ", ", ", ", ")"}, {"(", " if ", " else ", ")"}, {"(", " ? ", " : ", ")"}};
    for (int i = 0; i < 3; i++) {
        text_add(text, between[style->choice][i]);
        add_formula(s, style, text, call->kids[order[style->choice][i]]);
    }
    text_add(text, between[style->choice][3]);
}

static void add_call(struct synth *s, const struct style *style, struct text *text, const struct expr *call)
{
    if (is_call(call, "**")) {
        add_power(s, style, text, call);
    } else if (is_spread(style, call)) {
        add_spread(s, style, text, call);
    } else if (is_call(call, "size") && s->counted && is_all(call)) {
        add_count(s, style, text, call);
    } else if (is_call(call, "where")) {
        add_choice(s, style, text, call);
    } else if (is_call(call, "neg")) {
        text_add(text, "-");
        add_operand(s, style, text, call, 0);
    } else if (style->bare && (is_call(call, "var") || is_call(call, "mean")) && call->kids[0]->node == NODE_WORD) {
        text_add(text, is_call(call, "var") ? "variance" : "mean");
    } else if (is_call(call, "abs") && style->bars && !has(call->kids[0], goes_along_rows)) {
        text_add(text, "|");
        add_formula(s, style, text, call->kids[0]);
        text_add(text, "|");
    } else if (expr_binds(call) < EXPR_ATOM && call->kid_count == 2) {
        add_operand(s, style, text, call, 0);
        bool product = is_call(call, "*");
        text_addf(text,
                  style->dense && expr_binds(call) == EXPR_PRODUCT ? "%s"
                  : product                                        ? "%s"
                                                                   : " %s ",
                  product ? style->times : call->name);
        add_operand(s, style, text, call, 1);
    } else {
        text_addf(text, "%s%s(", style->torch, called(s, style, call->name));
        int kids = is_summary(call) && is_all(call) ? 1 : call->kid_count;
        for (int i = 0; i < kids; i++) {
            text_add(text, i ? is_summary(call) ? ", dim=" : ", " : "");
            add_formula(s, style, text, call->kids[i]);
        }
        text_add(text, ")");
    }
}

static void add_formula(struct synth *s, const struct style *style, struct text *text, const struct expr *expr)
{
    if (expr->node == NODE_WORD)
        add_word(s, style, text, expr->name);
    else if (expr->node == NODE_CALL)
        add_call(s, style, text, expr);
    else
        expr_print(text, expr);
}

static const char *formula(struct synth *s, const struct style *style, const struct expr *expr)
{
    struct text text = {0};
    add_formula(s, style, &text, expr);
    const char *kept = arena_strdup(s->arena, text.bytes);
    text_free(&text);
    return kept;
}

/* Words. */
static const char *words(struct synth *s, const struct style *style, const struct expr *expr, int depth);

static const char *over(struct synth *s, const struct expr *call)
{
    if (s->along && call->kid_count == 2)
        return arena_printf(s->arena, "%s`%s`", synth_choose(s, " over dimension | along | along dimension "),
                            s->along);
    if (is_all(call))
        return synth_choose(s, " over all elements| over the whole tensor| over all elements");
    if (call->kid_count == 2)
        return arena_printf(s->arena, "%s%d", synth_choose(s, " over dimension | along dimension | along axis "),
                            (int)call->kids[1]->value.real);
    return synth_choose(s, "|| over the last dimension| over the row| of each row| along the last axis");
}

static const char *sum_in_words(struct synth *s, const struct style *style, const struct expr *call, int depth)
{
    int row = function_of(call->name);
    const char *noun = synth_choose(s, functions[row].words), *range = over(s, call),
               *of = words(s, style, call->kids[0], depth - 1);
    return synth_chance(s, 50) && *range ? arena_printf(s->arena, "the %s%s of %s", noun, range, of)
                                         : arena_printf(s->arena, "the %s of %s%s", noun, of, range);
}

static const char *pair_in_words(struct synth *s, const struct style *style, const struct expr *call, int depth)
{
    static const struct {
        const char *name, *between, *noun;
    } pairs[] = {{"+", " plus ", "sum"},           {"-", " minus ", "difference"},
                 {"*", " times ", "product"},      {"/", " divided by ", "quotient"},
                 {"min", NULL, "smaller"},         {"max", NULL, "larger"},
                 {"**", " to the power of ", NULL}};
    const char *a = is_call(call, "**") ? arena_printf(s->arena, "`%s`", formula(s, style, call->kids[0]))
                                        : words(s, style, call->kids[0], depth - 1),
               *b = words(s, style, call->kids[1], depth - 1);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (is_call(call, pairs[i].name))
            return pairs[i].between && (!pairs[i].noun || synth_chance(s, 60))
                       ? arena_printf(s->arena, "%s%s%s", a, pairs[i].between, b)
                       : arena_printf(s->arena, "the %s of %s and %s", pairs[i].noun, a, b);
    return NULL;
}

static const char *words(struct synth *s, const struct style *style, const struct expr *expr, int depth)
{
    const char *said = NULL;
    if (depth > 0 && expr->node == NODE_CALL && synth_chance(s, depth > 2 ? 100 : 60)) {
        int row = function_of(expr->name);
        if (is_summary(expr))
            said = sum_in_words(s, style, expr, depth);
        else if ((is_call(expr, "log2") || is_call(expr, "log10")) && synth_chance(s, 40))
            said = arena_printf(s->arena, "the logarithm of %s to %s %s", words(s, style, expr->kids[0], depth - 1),
                                synth_choose(s, "base|base|the base"), expr->name + strlen("log"));
        else if (row >= 0 && *functions[row].words && expr->kid_count == 1)
            said = arena_printf(s->arena, "the %s of %s", synth_choose(s, functions[row].words),
                                words(s, style, expr->kids[0], depth - 1));
        else if (is_call(expr, "**") && expr->kids[1]->node == NODE_VALUE && expr->kids[1]->value.real == 2)
            said = arena_printf(s->arena, "the square of %s", words(s, style, expr->kids[0], depth - 1));
        else if (expr->kid_count == 2)
            said = pair_in_words(s, style, expr, depth);
    }
    return said ? said : arena_printf(s->arena, "`%s`", formula(s, style, expr));
}

/* What a function of one argument is by definition, of `argument`; NULL: nothing to be said. */
static const char *definition(struct synth *s, const struct expr *call, const char *argument)
{
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        if (is_call(call, definitions[i].name) && call->kid_count == 1)
            return arena_printf(s->arena, definitions[i].text, argument);
    return NULL;
}

/* Some functions of an expression, written out once more as documentation does, each in a sentence. */
static void define_functions(struct synth *s, const struct style *style, struct text *text, const struct expr *expr)
{
    const char *letter = synth_choose(s, "v|x|t|u"), *said = definition(s, expr, letter);
    if (said && synth_chance(s, 35))
        text_addf(text, synth_chance(s, 50) ? " `%s(%s)` is `%s`." : " Here `%s(%s) = %s`.",
                  called(s, style, expr->name), letter, said);
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i])
            define_functions(s, style, text, expr->kids[i]);
}

/* "`y = cosh(x) = (exp(x) + exp(-x)) / 2`"; NULL: the step is no such function. */
static const char *defined_statement(struct synth *s, const struct style *style, const char *name,
                                     const struct expr *tree)
{
    const struct expr *kid = tree->kid_count == 1 ? tree->kids[0] : NULL;
    const char *said = kid && kid->node == NODE_WORD ? definition(s, tree, formula(s, style, kid)) : NULL;
    if (!said)
        return NULL;
    const char *call = formula(s, style, tree), *in_words = functions[function_of(tree->name)].words;
    switch (synth_pick(s, 4)) {
    case 0:
        return arena_printf(s->arena, "`%s = %s = %s`", name, call, said);
    case 1:
        return arena_printf(s->arena, "`%s = %s`: `%s`", name, call, said);
    case 2:
        return arena_printf(s->arena, "`%s = %s`, the %s", name, call, synth_choose(s, in_words));
    default:
        return arena_printf(s->arena, "`%s` is the %s of `%s`, that is `%s`", name, synth_choose(s, in_words),
                            kid->name, said);
    }
}

/* "`y = a` where `c`, else `b`". */
static const char *choice_statement(struct synth *s, const struct style *style, const char *name,
                                    const struct expr *call)
{
    const char *a = formula(s, style, call->kids[1]), *b = formula(s, style, call->kids[2]),
               *c = formula(s, style, call->kids[0]);
    const struct expr *other = call->kids[2];
    if (is_call(other, "where") && synth_chance(s, 75))
        return arena_printf(s->arena,
                            synth_choose(s, "`%s` is `%s` where `%s`, `%s` where `%s` and `%s` elsewhere|"
                                            "`%s = %s` where `%s`, `%s` where `%s`, else `%s`|"
                                            "`%s` is %s if `%s`, %s if `%s`, otherwise %s"),
                            name, a, c, formula(s, style, other->kids[1]), formula(s, style, other->kids[0]),
                            formula(s, style, other->kids[2]));
    if (call->kids[0]->node == NODE_WORD && synth_chance(s, 60)) /* a mask */
        c = arena_printf(s->arena, "%s%s", c, synth_choose(s, " is true| == true| == 1| != 0"));
    switch (synth_pick(s, 4)) {
    case 0:
        return arena_printf(s->arena, "`%s = %s` where `%s`, else `%s`", name, a, c, b);
    case 1:
        return arena_printf(s->arena, "`%s` is `%s` where `%s`, else `%s`", name, a, c, b);
    case 2:
        return arena_printf(s->arena, "`%s` is `%s` where `%s`, `%s` elsewhere", name, a, c, b);
    default:
        return arena_printf(s->arena, "where `%s`, `%s = %s`, otherwise `%s = %s`", c, name, a, name, b);
    }
}

static const char *truth_statement(struct synth *s, const struct style *style, const char *name,
                                   const struct expr *tree)
{
    const char *condition = formula(s, style, tree);
    if (is_call(tree, "==") && synth_chance(s, 40)) {
        bool finite = is_call(tree->kids[0], "-");
        bool infinite = tree->kids[1]->node == NODE_WORD && strcmp(tree->kids[1]->name, "inf") == 0;
        const char *a = formula(s, style, finite || infinite ? tree->kids[0]->kids[0] : tree->kids[0]);
        if (finite || infinite)
            return arena_printf(s->arena, "`%s` is true where `%s` is %s, else false", name, a,
                                finite ? "finite" : "infinite");
        return arena_printf(s->arena, "`%s` is true where `%s` equals `%s`, else false", name, a,
                            formula(s, style, tree->kids[1]));
    }
    switch (synth_pick(s, 4)) {
    case 0:
        return arena_printf(s->arena, "`%s` is true (one byte, 1) where `%s`, else false (0)", name, condition);
    case 1:
        return arena_printf(s->arena, "`%s` says where `%s`", name, condition);
    case 2:
        return arena_printf(s->arena, "`%s = %s`", name, condition);
    default:
        return arena_printf(s->arena, "`%s` is true where `%s`, false elsewhere", name, condition);
    }
}

static bool is_truth(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->tensor_count; i++)
        if (strcmp(s->tensors[i].name, name) == 0)
            return s->tensors[i].type && strcmp(s->tensors[i].type, "bool") == 0;
    return false;
}

static bool is_in_place(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->tensor_count; i++)
        if (s->tensors[i].in_place && strcmp(s->tensors[i].name, name) == 0)
            return true;
    return false;
}

/* "`x *= a`". */
static const char *changed_statement(struct synth *s, const struct style *style, const char *name,
                                     const struct synth_step *step)
{
    const struct expr *tree = step->tree;
    bool changed = tree->node == NODE_CALL && tree->kid_count == 2 && strchr("+-*/", *tree->name) && !tree->name[1] &&
                   tree->kids[0]->node == NODE_WORD && strcmp(tree->kids[0]->name, step->name) == 0;
    return changed ? arena_printf(s->arena, "`%s %s= %s`", name, tree->name, formula(s, style, tree->kids[1])) : NULL;
}

/* What a step computes; `alone`: it is all, so that its name need not be said. */
static const char *statement(struct synth *s, const struct style *style, const struct synth_step *step, bool alone)
{
    const char *name = arena_printf(s->arena, "%s%s", step->name, style->index);
    if (step->told)
        return step->told;
    if (is_truth(s, step->name))
        return truth_statement(s, style, name, step->tree);
    const char *changed = is_in_place(s, step->name) ? changed_statement(s, style, name, step) : NULL;
    if (changed && synth_chance(s, 60))
        return changed;
    if (is_in_place(s, step->name) && synth_chance(s, 55))
        return arena_printf(s->arena, "`%s` becomes `%s`", name, formula(s, style, step->tree));
    if (style->bare && is_call(step->tree, "mean") && step->tree->kids[0]->node == NODE_WORD)
        return arena_printf(s->arena, strncmp(step->name, "mean", 4) == 0 ? "`%s`" : "`%s` is the mean", name);
    if (step->tree->node == NODE_WORD && synth_chance(s, 70))
        return arena_printf(s->arena, synth_chance(s, 50) ? "`%s` is `%s` in another type" : "`%s` is `%s` once more",
                            name, step->tree->name);
    if (is_call(step->tree, "where") && synth_chance(s, 80))
        return choice_statement(s, style, name, step->tree);
    const char *defined = synth_chance(s, 40) ? defined_statement(s, style, name, step->tree) : NULL;
    if (defined)
        return defined;
    bool all = has(step->tree, goes_over_all);
    if (all && style->spread)
        return arena_printf(s->arena, "`%s = %s`", name, formula(s, style, step->tree));
    if (!all && !synth_chance(s, style->words))
        return arena_printf(s->arena, "`%s = %s`", name, formula(s, style, step->tree));
    const char *said = words(s, style, step->tree, all && !is_summary(step->tree) ? 0 : 1 + synth_pick(s, 3));
    if (all && !is_summary(step->tree))
        return arena_printf(s->arena, "`%s = %s`, %s", name, formula(s, style, step->tree),
                            synth_choose(s, "over all elements|over the whole tensor|summed up over the whole tensor"));
    if (alone && synth_chance(s, 50))
        return said;
    return arena_printf(s->arena, synth_chance(s, 75) ? "`%s` is %s" : "`%s` = %s", name, said);
}

/* The two halves of a row: what two steps say. */
static const char *halves_statement(struct synth *s)
{
    const char *x = s->steps[0].tree->kids[0]->name, *a = s->steps[0].name, *b = s->steps[1].name;
    switch (synth_pick(s, 5)) {
    case 0:
        return arena_printf(s->arena, "`%s` is cut into two halves `%s` and `%s` along the last dimension", x, a, b);
    case 1:
        return arena_printf(s->arena, "`%s`, `%s` are the first and the second half of each row of `%s`", a, b, x);
    case 2:
        return arena_printf(s->arena, "`%s, %s = %s.chunk(2, -1)`", a, b, x);
    case 3:
        return arena_printf(
            s->arena, "the last dimension of `%s` is split in the middle: `%s` is what comes first, `%s` what is left",
            x, a, b);
    default:
        return arena_printf(
            s->arena, "with the halves `%s = %s[.., :n]` and `%s = %s[.., n:]` of rows of `2 n` elements", a, x, b, x);
    }
}

static const char *capital(struct synth *s, const char *text)
{
    char *kept = arena_strdup(s->arena, text);
    if (strncmp(kept, "σ", strlen("σ")) != 0)
        *kept = (char)toupper((unsigned char)*kept);
    return kept;
}

static const char *scope(struct synth *s)
{
    bool rows = false, all = false, axis = false;
    for (int i = 0; i < s->step_count; i++) {
        rows |= has(s->steps[i].tree, goes_along_rows);
        all |= has(s->steps[i].tree, goes_over_all);
        axis |= !rows && !all && has(s->steps[i].tree, is_summary);
    }
    if (s->steps[0].told)
        return "";
    if (rows)
        return synth_choose(s,
                            "over the last dimension|over the last dimension|per row|along the last axis|for each row");
    return all || axis ? "" : synth_choose(s, "elementwise|elementwise|element by element||");
}

/* Statements of steps, in an order that they may be told in. */
static int statements(struct synth *s, const struct style *style, const char **said)
{
    int count = 0, first = 0;
    if (strcmp(s->family, "gate") == 0) {
        said[count++] = halves_statement(s);
        first = 2;
    }
    for (int i = first; i < s->step_count; i++)
        said[count++] = statement(s, style, &s->steps[i], s->step_count == 1);
    return count;
}

static void add_list(struct text *text, const char **said, int count, const char *last)
{
    for (int i = 0; i < count; i++)
        text_addf(text, "%s%s", !i ? "" : i == count - 1 ? last : ", ", said[i]);
}

static void add_statements(struct synth *s, struct text *text, const char **said, int count)
{
    const char *where = scope(s);
    int layout = synth_pick(s, 10);
    if (layout < 4) { /* "Over the last dimension: a, b." */
        if (*where && synth_chance(s, 60)) {
            text_addf(text, "%s%s", capital(s, where), synth_choose(s, ": | "));
            add_list(text, said, count, synth_choose(s, ", | and |, and "));
            text_add(text, ".");
        } else {
            const char *first = said[0];
            said[0] = capital(s, first);
            add_list(text, said, count, synth_choose(s, ", | and |, then "));
            text_addf(text, "%s%s.", *where ? ", " : "", where);
        }
    } else if (layout < 6) { /* sentences */
        for (int i = 0; i < count; i++)
            text_addf(text, "%s%s%s%s%s.", i ? " " : "", i && i == count - 1 && synth_chance(s, 30) ? "Then " : "",
                      capital(s, said[i]), !i && *where ? ", " : "", !i ? where : "");
    } else if (layout < 8 && count > 1) { /* the result first, what it is made of behind it */
        const char *last = said[count - 1];
        text_addf(text, "%s%s%s, %s ", capital(s, last), *where ? ", " : "", where, synth_choose(s, "with|where|with"));
        add_list(text, said, count - 1, synth_choose(s, " and |, "));
        text_add(text, ".");
    } else if (count > 1) {
        text_addf(text, "%s%s\n", *where ? capital(s, where) : synth_choose(s, "Steps|What is computed|In this order"),
                  ":");
        for (int i = 0; i < count; i++)
            text_addf(text, "\n- %s", said[i]);
    } else {
        text_addf(text, "%s%s%s.", capital(s, said[0]), *where ? ", " : "", where);
    }
}

/* What else a description tells. */
static void add_notes(struct synth *s, struct text *text)
{
    for (int i = 0; i < s->tensor_count; i++) {
        const struct synth_tensor *tensor = &s->tensors[i];
        if (tensor->place == SYNTH_ROW && synth_chance(s, 60))
            text_addf(text, " `%s` has one element per row.", tensor->name);
        if (tensor->place == SYNTH_COLUMN && synth_chance(s, 50))
            text_addf(text, " `%s` has one element per %s.", tensor->name, synth_choose(s, "column|column|channel"));
        if (tensor->place == SYNTH_ONE && !tensor->output && synth_chance(s, 60))
            text_addf(text, " `%s` is a tensor of one element in global memory.", tensor->name);
        if (tensor->place == SYNTH_ONE && tensor->output && synth_chance(s, 40))
            text_add(text, " The result is a tensor of one element.");
        if (tensor->place == SYNTH_AXIS && synth_chance(s, 40))
            text_addf(text, " Dimension %d %s.", s->axis, synth_choose(s, "stays with size 1|is reduced"));
    }
    if (s->counted && !synth_chance(s, 25))
        text_addf(text, synth_choose(s, " `%s` has `%s` elements.| The number of elements of `%s` is `%s`."),
                  s->counted, s->count);
    if (s->absent)
        text_addf(text,
                  synth_choose(s, " `%s` may be absent.| `%s`, if it is there, is added.| Without `%s` nothing is "
                                  "added.| `%s` is absent."),
                  s->absent);
    bool in_place = false;
    for (int i = 0; i < s->tensor_count; i++)
        in_place |= s->tensors[i].in_place;
    if (in_place && synth_chance(s, 35))
        text_add(text, synth_choose(s, " The operator works in place.| The output has the memory of the input of that "
                                       "name.| Outputs have the memory of the inputs of the same names."));
    if (s->rounds)
        text_add(text, synth_rounds_in_words(s));
    else if (synth_chance(s, 15))
        text_add(text, synth_choose(s, " All tensors have the same shape and data type.| Computed in float32 and "
                                       "rounded once.| The expected values come from a computation in float32."));
    if (strstr(s->family, "norm") && synth_chance(s, 25))
        text_add(text, synth_choose(s, " The variance divides by the count.| Variance over the number of elements."));
}

static void add_rules(struct synth *s, struct text *text)
{
    if (s->along)
        text_addf(text, "\n\nRules:\n\n- `%s` is %d%s", s->along, s->axis,
                  synth_chance(s, 50) ? "."
                  : s->axis           ? ": `x` is (B, D1, D2), the result (B, D2)."
                                      : ": `x` is (B, D1, D2), the result (D1, D2).");
    if (s->along || synth_chance(s, 75))
        return;
    text_add(text, "\n\nRules:\n\n- ");
    text_add(text, synth_choose(s, "Any shape may come.|nan in an input gives nan.|Sums need float32: a float16 sum "
                                   "overflows or stalls.|Rows are independent of each other.|A division by zero gives "
                                   "an infinity.|Tensors may be empty in no dimension."));
}

/* All means and variances are of one name. */
static const char *row_quantity(const struct expr *expr, const char *name, bool *one)
{
    if (is_summary(expr) && expr->kid_count == 1) {
        bool fits = expr->kids[0]->node == NODE_WORD && (is_call(expr, "mean") || is_call(expr, "var"));
        *one &= fits && (!name || strcmp(name, expr->kids[0]->name) == 0);
        name = fits ? expr->kids[0]->name : name;
    }
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i])
            name = row_quantity(expr->kids[i], name, one);
    return name;
}
static bool one_row_quantity(const struct synth *s)
{
    bool one = strcmp(s->family, "norm") == 0;
    const char *name = NULL;
    for (int i = 0; i < s->step_count; i++)
        name = row_quantity(s->steps[i].tree, name, &one);
    return one && name;
}

static bool is_name(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->name_count; i++)
        if (strcmp(s->names[i], name) == 0)
            return true;
    return false;
}

const char *synth_describe(struct synth *s)
{
    const char *said[SYNTH_STEPS] = {0};
    struct style style = {.power = synth_chance(s, 60)   ? POWER_HAT
                                   : synth_chance(s, 60) ? POWER_STARS
                                                         : POWER_PRODUCT,
                          .choice = synth_pick(s, 3),
                          .index = "",
                          .torch = synth_chance(s, 6) ? "torch." : "",
                          .times = " * ",
                          .bars = synth_chance(s, 60),
                          .dense = synth_chance(s, 12),
                          .words = synth_chance(s, 55) ? 10 : 75,
                          .seed = rng_next(&s->rng)};
    bool rows = false;
    for (int i = 0; i < s->step_count; i++)
        rows |= has(s->steps[i].tree, is_summary);
    if (!rows && strcmp(s->family, "gate") != 0 && synth_chance(s, 12))
        style.index = synth_choose(s, "[i]|[i]|[.., i]|[i, j]");
    style.bare = one_row_quantity(s) && synth_chance(s, 55);
    style.spread = !*style.index && !s->lists && !is_name(s, "n") && synth_chance(s, 35);
    if (s->lists) {
        style.index = "[t]";
        style.bare = false;
    }
    if (style.dense)
        style.times = synth_choose(s, "*|*|·");
    struct text text = {0};
    if (synth_chance(s, 10))
        text_add(&text, synth_choose(s, "A fused operator. |Part of a transformer's block. |The gradient of an "
                                        "activation. |A step of training. |What a recommendation model needs. "));
    add_statements(s, &text, said, statements(s, &style, said));
    if (style.bare)
        text_add(&text,
                 synth_choose(s, " Mean and variance are those of each row; the variance divides by the count.| "
                                 "Variance over the number of elements.| Mean and variance over the last dimension.|"));
    if (s->lists && !synth_chance(s, 15))
        text_add(&text, synth_choose(
                            s, " For every tensor `t` of the lists.| This holds for each tensor `t` of the lists.| The "
                               "lists have the same length; tensor `t` of one goes with tensor `t` of the others."));
    if (synth_chance(s, 30))
        for (int i = 0; i < s->step_count; i++)
            define_functions(s, &style, &text, s->steps[i].tree);
    add_notes(s, &text);
    if (s->unused)
        text_addf(&text,
                  synth_choose(s,
                               " `%s` changes nothing of the result.| `%s` is 1.| `%s` is there for other chips and is "
                               "not looked at.| Only the default of `%s` is asked for.|"),
                  s->unused);
    add_rules(s, &text);
    const char *description = arena_strdup(s->arena, text.bytes);
    text_free(&text);
    return description;
}
