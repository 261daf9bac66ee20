/* The grammar of formulas: formulas of all kinds are texts of it, and what it yields parses. */
#include "task/expr/formula.h"

#include "lm/recogniser.h"
#include "unit/lm/derive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct arena arena;
static struct lm_grammar *grammar;

static int set_up(void **state)
{
    (void)state;
    const char *text = formula_grammar(&arena);
    struct akgen_error *error = lm_grammar_parse("formula", text, strlen(text), &grammar);
    if (error)
        print_message("%s\n", error->message);
    error_free(error);
    return error ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    lm_grammar_free(grammar);
    arena_free(&arena);
    return 0;
}

/* Bytes of the text that some text of the grammar begins with; all and one more if it is one. */
static size_t accepted(struct lm_recogniser *recogniser, const char *text)
{
    uint32_t at = lm_recogniser_begin(recogniser);
    size_t i = 0;
    for (; text[i]; i++)
        if ((at = lm_recogniser_step(recogniser, at, (uint8_t)text[i])) == LM_DEAD)
            return i;
    return i + lm_recogniser_may_end(recogniser, at);
}

static void accepts_formulas(void **state)
{
    static const char *const texts[] = {
        "x",
        "x + y*k",
        "-x**2 + 0.5 * y - 1e-3",
        "x > 0 ? y : y <= k ? 1 : x",
        "x if x > 0 else y if y <= k else 1",
        "x < 0 ? k * (exp(x) - 1) : x",
        "0.5 * x * (1 + erf(x / sqrt(2)))",
        "0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))",
        "d = x - mean(x); d * rsqrt(var(x) + 1e-5) * gamma + beta",
        "concat(x[:2] * y, -x[2:])",
        "where(index(x, -1) < index(x, -2) + k, x, 0)",
        "y + type_as(type_as(x / k, y) * 2, y)",
        "centred = m - mean(m); centred / sqrt(mean(centred * centred)) * 0 + r",
        "silu(x[:size(x) // 2]) * x[size(x) // 2:]",
        "r[k - 9 : (size(r) + 1) // 2 * 2 - 1]",
        "x[1:-1] + x[2]",
        "softmax(x, 0) * mean(x, 1) - cumsum(y, -1) / size(x, 0)",
        "sum(x, dim=0) + sum(t, 0, 2) + sum(m, all) + sum(m, -2, -1)",
        "x > 2 and y > 0 ? 1 : x > 2 && not y > 0 || false ? 2 : 3",
        "(x > 2) & ~(y > 0) | (y > 0)",
        "mish(x) - x*tanh(softplus(x)) + elu(y, 2) - 2*expm1(y)",
        "max(m, all) * size(m) + size(m, all) - max(m) + max(x, y)",
        "where(m > 1, r, clamp(m, 0, k)) + pow(x, 2) + clip(x, 0, 1) + .5",
        "a = x * sigmoid(1.702 * x); b = a[: size(a) // 2]; b == 0 ? inf : b / amax(abs(b), all)",
    };
    static const char *const others[] = {
        "",         "x +",       "x y",          "x = 1", "foo(x)", "exp(x, y)",     "if",
        "None + 1", "x < y < z", "sum(x, 0, 0)", "x;",    "1.5.2",  "((((((x))))))", "and(x, y)",
        "'a'",      "[x]",       "$x",           "x\n"};
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (accepted(recogniser, texts[i]) != strlen(texts[i]) + 1)
            fail_msg("'%s' ends at byte %zu", texts[i], accepted(recogniser, texts[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (accepted(recogniser, others[i]) == strlen(others[i]) + 1)
            fail_msg("'%s' is accepted", others[i]);
    lm_recogniser_free(recogniser);
}

/* The text with each step's name replaced by one of its own; the names in it that are no functions go to `names`. */
static const char *with_names(const char *text, struct formula_name *names, int *count)
{
    struct text renamed = {0};
    int step = 0;
    *count = 0;
    for (const char *at = text; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_' && at[-1] != '.');
        if (!length || !begins || isdigit((unsigned char)*at)) {
            text_append(&renamed, at, length ? length : 1);
            at += length ? length : 1;
            continue;
        }
        const char *word = arena_strndup(&arena, at, length);
        at += length;
        bool sign = *at == ' ' ? at[1] == '=' && at[2] != '=' : *at == '=' && at[1] != '=';
        const char *before = at - length;
        while (before > text && before[-1] == ' ')
            before--;
        if (sign && (before == text || before[-1] == ';')) {
            text_addf(&renamed, "step__%d", step++);
            continue;
        }
        text_add(&renamed, word);
        bool known = false;
        for (int i = 0; i < *count; i++)
            known |= strcmp(names[i].name, word) == 0;
        if (!known && *at != '(' && *count < FORMULA_MAX_NAMES)
            names[(*count)++].name = word;
    }
    const char *result = arena_strdup(&arena, renamed.bytes);
    text_free(&renamed);
    return result;
}

static void yields_formulas(void **state)
{
    enum { WALKS = 4000 };
    struct deriver deriver;
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    int parsed = 0, steps = 0;
    size_t longest = 0;
    (void)state;
    derive_begin(&deriver, grammar, 15);
    for (int i = 0; i < WALKS; i++) {
        struct formula_name names[FORMULA_MAX_NAMES] = {{0}};
        const struct formula *formula;
        int count;
        const char *text = derive(&deriver, (size_t)rng_integer(&deriver.rng, 0, 300));
        if (accepted(recogniser, text) != strlen(text) + 1)
            fail_msg("'%s' was made, and is read up to byte %zu", text, accepted(recogniser, text));
        const char *renamed = with_names(text, names, &count);
        if (count == FORMULA_MAX_NAMES) /* as many as a formula may name, and perhaps more */
            continue;
        struct akgen_error *error = formula_parse(&arena, renamed, names, count, NULL, "out", 0, &formula);
        if (error)
            fail_msg("walk %d: '%s' is no formula: %s", i, renamed, error->message);
        parsed++;
        steps += formula->count;
        longest = strlen(text) > longest ? strlen(text) : longest;
    }
    print_message("%d formulas of up to %zu bytes, %d steps\n", parsed, longest, steps);
    assert_true(parsed > WALKS * 3 / 4 && steps > WALKS && longest > 300);
    derive_end(&deriver);
    lm_recogniser_free(recogniser);
}

/* As deep, and as many in a row, as the grammar has. */
static void yields_no_formula_that_is_too_deep(void **state)
{
    static const int operators[] = {20, 8, 6, 6, 6, 6}; /* of each level (src/task/expr/grammar.c) */
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    const struct formula_name x = {"x", NULL};
    const struct formula *formula;
    struct text text = {0};
    (void)state;
    text_add(&text, "-x**-x");
    for (int d = 5; d >= 0;
         d--) { /* from the innermost level outwards: all that makes the tree higher goes around it */
        struct text outer = {0};
        text_addf(&outer, d == 5 ? "%s" : "-x**-exp(%s)[0]", text.bytes);
        for (int i = 0; i < operators[d]; i++)
            text_add(&outer, "-x");
        text_free(&text);
        text_addf(&text, "x if x else x if not %s<x and x and x else x", outer.bytes);
        text_free(&outer);
    }
    assert_int_equal(accepted(recogniser, text.bytes), text.length + 1);
    struct akgen_error *error = formula_parse(&arena, text.bytes, &x, 1, NULL, "out", 0, &formula);
    if (error)
        fail_msg("%s", error->message);
    text_free(&text);
    lm_recogniser_free(recogniser);
}

/* Answers of statements, on one line or several. */
static void has_statements(void **state)
{
    const char *text = formula_statements_grammar(&arena);
    struct lm_grammar *statements;
    (void)state;
    assert_null(lm_grammar_parse("graph", text, strlen(text), &statements));
    struct lm_recogniser *recogniser = lm_recogniser_new(statements);
    static const char *const yes[] = {"y = x + 1", "d = x - mean(x); y = d * scale", "d = x; d = d * 2;y=d\n",
                                      "a = 1\nb = a\n"},
                             *const no[] = {"x + 1", "y = x;", "y == x", "y = x + ", "y = foo(x)", ""};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_int_equal(accepted(recogniser, yes[i]), strlen(yes[i]) + 1);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_int_not_equal(accepted(recogniser, no[i]), strlen(no[i]) + 1);
    lm_recogniser_free(recogniser);
    lm_grammar_free(statements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_formulas),
        cmocka_unit_test(yields_formulas),
        cmocka_unit_test(has_statements),
        cmocka_unit_test(yields_no_formula_that_is_too_deep),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
