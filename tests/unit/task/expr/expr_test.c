/* Expressions: values, errors with their place, distributions of the generators, and arbitrary text. */
#include "task/expr/expr.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 4 };
static const struct expr_columns columns = {(const char *const[]){"shape", "dtype", "dim", "value"}, COLUMNS};
static const char *const texts[COLUMNS] = {"[48, 128, 7]", "float", "-1", "None"};

static struct expr_scope scope_new(struct arena *arena)
{
    struct expr_value *cells = arena_alloc(arena, sizeof *cells * COLUMNS);
    for (int i = 0; i < COLUMNS; i++)
        cells[i] = expr_cell(arena, texts[i]);
    return (struct expr_scope){.arena = arena, .cells = cells, .key = 42};
}

/* "text" -> what it shows as, or its error. */
static const char *result_of(struct arena *arena, const char *text)
{
    struct expr_scope scope = scope_new(arena);
    const struct expr *expr;
    struct expr_value value;
    struct akgen_error *error = expr_parse(arena, text, &columns, &expr);
    if (!error)
        error = expr_eval(expr, &scope, &value);
    if (!error)
        return expr_show(arena, &value);
    const char *message = arena_strdup(arena, error->message);
    error_free(error);
    return message;
}

static void values_come_out(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"-2 * -3", "6"},
        {"7 // 2", "3"},
        {"-7 // 2", "-4"},
        {"-7 % 4", "1"},
        {"1 / 4", "0.25"},
        {"1e-5 < 2", "true"},
        {"$shape[-1]", "7"},
        {"$shape[:-1] + [1]", "[48, 128, 1]"},
        {"$shape[1:]", "[128, 7]"},
        {"replace($shape, $dim, $shape[$dim] - 1)", "[48, 128, 6]"},
        {"product($shape)", "43008"},
        {"[len($shape), [2]]", "[3, [2]]"},
        {"$dtype == float32 ? bfloat16 : float16", "'bfloat16'"},
        {"is_float($dtype) ? 1 : 2", "1"},
        {"$value == None", "true"},
        {"$value != None ? 1 : $dim == 0 ? 2 : 3", "3"},
        {"ceil((9.0 - 2.0) / 0.5)", "14"},
        {"rounded(1.2, float16)", "1.2001953125"},
        {"rounded(-70.8, bfloat16)", "-71"},
        {"min(3, 2) + max(3, 2)", "5"},
        {"filled(2, 5)", "[5, 5]"},
        {"dot([2, 3], [4, 5])", "23"},
        {"greatest([2, 7, 3])", "7"},
        {"abs_rel_any(1e-2, 0.5)", "abs_rel_any(0.01, 0.5)"},
        {"sliced([10, 7, 4], [2, 0], [9, 99], [3, 2], [0, 1])", "[3, 4, 4]"},
        {"abs_rel(1e-2, 0.5)", "abs_rel(0.01, 0.5)"},
        {"share(1e-2)", "share(0.01)"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(result_of(&arena, cases[i][0]), cases[i][1]);
    arena_free(&arena);
}

static void errors_say_what_and_where(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"1 +", "column 4: expected a value, found the end"},
        {"[1, 2", "expected ',' or ']'"},
        {"nosuch(3)", "column 1: there is no function 'nosuch'"},
        {"$missing", "no column 'missing'"},
        {"$shape[3]", "index 3 is outside of a list of 3"},
        {"sliced([4], [0], [4], [0], [0])", "[0] is no slice of [4]"},
        {"$shape * 2", "* needs numbers, not [48, 128, 7]"},
        {"uniform(1)", "uniform takes 2 arguments, not 1"},
        {"1 2", "column 3: expected an operator or the end"},
        {"1 + unifrom(0, 1)",
         "column 5: there is no function 'unifrom' (docs/tasks.md lists them); did you mean uniform?"},
        {"2**3", "column 2: '**' is for formulas alone"},
        {"1 < 2 < 3", "column 7: expected one comparison, the other in parentheses"},
        {"1 // 0", "a positive integer"},
        {"dot([2, 3], [4])", "dot needs lists of the same length, not 2 and 1"},
        {"greatest([])", "greatest needs a list with items"},
        {"randn ? 1 : 2", "must be true or false for the whole case"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strstr(result_of(&arena, cases[i][0]), cases[i][1]))
            fail_msg("'%s' gave: %s", cases[i][0], result_of(&arena, cases[i][0]));
    arena_free(&arena);
}

enum { COUNT = 1 << 20 };

static void make(struct arena *arena, const char *text, enum akgen_dtype type, double *out)
{
    const struct expr *expr, *bound;
    struct expr_scope scope = scope_new(arena);
    scope.type = type;
    scope.elements = COUNT;
    assert_null(expr_parse(arena, text, &columns, &expr));
    assert_null(expr_bind(expr, &scope, &bound));
    for (int64_t first = 0; first < COUNT; first += EXPR_BLOCK)
        expr_block(bound, &scope, first, EXPR_BLOCK, out + first);
}

static void moments(const double *x, double *mean, double *variance, double *fourth)
{
    *mean = *variance = *fourth = 0;
    for (int i = 0; i < COUNT; i++)
        *mean += x[i] / COUNT;
    for (int i = 0; i < COUNT; i++) {
        double d = (x[i] - *mean) * (x[i] - *mean);
        *variance += d / COUNT;
        *fourth += d * d / COUNT;
    }
}

/* Moments of a million draws; limits are five standard errors of each estimate. */
static void distributions_are_right(void **state)
{
    (void)state;
    static double x[COUNT];
    double mean, variance, fourth;
    struct arena arena = {0};
    make(&arena, "randn", AKGEN_FLOAT, x);
    moments(x, &mean, &variance, &fourth);
    assert_true(fabs(mean) < 0.005 && fabs(variance - 1) < 0.007 && fabs(fourth - 3) < 0.05);
    double neighbours = 0;
    for (int i = 0; i + 1 < COUNT; i++)
        neighbours += x[i] * x[i + 1] / COUNT;
    assert_true(fabs(neighbours) < 0.005);
    make(&arena, "rand*5 - 2.5", AKGEN_FLOAT, x);
    moments(x, &mean, &variance, &fourth);
    assert_true(fabs(mean) < 0.008 && fabs(variance - 25 / 12.0) < 0.01);
    make(&arena, "randint(-4, 8e88)", AKGEN_FLOAT, x); /* more integers than 64 bits count */
    for (int i = 0; i < COUNT; i++)
        assert_true(x[i] >= -4 && x[i] <= 0x1p64);
    make(&arena, "randint(-3, 4)", AKGEN_INT32, x);
    int seen[7] = {0};
    for (int i = 0; i < COUNT; i++) {
        assert_true(x[i] >= -3 && x[i] <= 3 && x[i] == floor(x[i]));
        seen[(int)x[i] + 3]++;
    }
    for (int i = 0; i < 7; i++)
        assert_true(abs(seen[i] - COUNT / 7) < 1800);
    arena_free(&arena);
}

/* rand never reaches 1 in the tensor's own type; planted values are there; blocks do not depend on their order. */
static void elements_are_what_they_should(void **state)
{
    (void)state;
    static double x[COUNT];
    struct arena arena = {0};
    make(&arena, "rand", AKGEN_BF16, x);
    double largest = 0;
    for (int i = 0; i < COUNT; i++)
        largest = x[i] > largest ? x[i] : largest;
    assert_true(largest == 1 - 0x1p-8);
    make(&arena, "plant(rand, inf, -inf, nan)", AKGEN_FLOAT, x);
    int inf = 0, nan = 0;
    for (int i = 0; i < COUNT; i++) {
        inf += isinf(x[i]) != 0;
        nan += isnan(x[i]) != 0;
    }
    assert_int_equal(inf, 2);
    assert_int_equal(nan, 1);
    const struct expr *expr, *bound;
    struct expr_scope scope = scope_new(&arena);
    double block[EXPR_BLOCK];
    make(&arena, "abs(randn*10 + 0.01)", AKGEN_FLOAT, x);
    assert_null(expr_parse(&arena, "abs(randn*10 + 0.01)", &columns, &expr));
    assert_null(expr_bind(expr, &scope, &bound));
    expr_block(bound, &scope, 7 * EXPR_BLOCK, 100, block);
    assert_memory_equal(block, x + 7 * EXPR_BLOCK, 100 * sizeof *block);
    arena_free(&arena);
}

/* One block at most is sorted. */
static void sorted_is_in_order(void **state)
{
    (void)state;
    enum { ENDS = 64, MOST = 50 };
    struct arena arena = {0};
    const struct expr *expr, *bound;
    struct expr_scope scope = scope_new(&arena);
    double ends[ENDS], sum = 0;
    scope.elements = ENDS;
    assert_null(expr_parse(&arena, "sorted(max(randint(0, 51), (arange - 62) * 50))", &columns, &expr));
    assert_null(expr_bind(expr, &scope, &bound));
    expr_block(bound, &scope, 0, ENDS, ends);
    for (int i = 0; i < ENDS; i++) {
        assert_true(ends[i] >= 0 && ends[i] <= MOST && (i == 0 || ends[i - 1] <= ends[i]));
        sum += ends[i];
    }
    assert_true(ends[ENDS - 1] == MOST && fabs(sum / ENDS - MOST / 2.0) < 10);
    scope.elements = EXPR_BLOCK + 1;
    struct akgen_error *error = expr_bind(expr, &scope, &bound);
    assert_string_equal(error->message, "sorted takes at most 512 elements");
    error_free(error);
    arena_free(&arena);
}

/* The first normals of stream 42, so that another machine or compiler that differs is noticed. */
static void normals_are_the_same_everywhere(void **state)
{
    (void)state;
    static double x[COUNT];
    struct arena arena = {0};
    make(&arena, "randn", AKGEN_FLOAT, x);
    uint64_t hash = 1469598103934665603u; /* FNV-1a over the bytes of the first 4096 */
    for (size_t i = 0; i < 4096 * sizeof *x; i++)
        hash = (hash ^ ((unsigned char *)x)[i]) * 1099511628211u;
    assert_int_equal(hash, 0x44c3de2849102514u);
    arena_free(&arena);
}

static bool is_text(const struct expr_value *value)
{
    return value && value->kind == EXPR_TEXT;
}

static bool is_rule(const struct expr_value *value)
{
    return value && value->kind == EXPR_RULE;
}

/* What an expression may come out as, before any case is known; and which columns it depends on. */
static void branches_are_known(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct expr *expr;
    assert_null(
        expr_parse(&arena, "$dim == 0 ? abs_rel(1, 2) : len($shape) == 3 ? share(1) : allclse", &columns, &expr));
    assert_false(expr_branches_fit(expr, is_rule)); /* the last branch is a word */
    assert_true(expr_mentions(expr, 0) && expr_mentions(expr, 2));
    assert_false(expr_mentions(expr, 1));
    assert_null(expr_parse(&arena, "$dim == 0 ? abs_rel(1, 2) : share(1)", &columns, &expr));
    assert_true(expr_branches_fit(expr, is_rule));
    assert_null(expr_parse(&arena, "$dtype", &columns, &expr));
    assert_false(expr_branches_fit(expr, is_text)); /* the case says what it is */
    arena_free(&arena);
}

/* A tree that would need too much stack is refused, however it came to be so high. */
static void high_trees_are_refused(void **state)
{
    (void)state;
    static char text[8192];
    struct arena arena = {0};
    strcpy(text, "rand");
    while (strlen(text) < sizeof text - 16)
        strcat(text, " + rand");
    assert_non_null(strstr(result_of(&arena, text), "expected fewer nested parts"));
    memset(text, '(', 400);
    text[400] = 0;
    assert_non_null(strstr(result_of(&arena, text), "column 65: expected fewer nested parts"));
    arena_free(&arena);
}

/* Random text from the language's own alphabet must be parsed or refused, nothing else. */
static void any_text_is_survived(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "$shape", "$",  "[",     "]",     "(",       ")",    ",",       ":", "?",
        "-",      "+",  "*",     "//",    "%",       "/",    "1",       "0", "99999999999999999999",
        "1e400",  ".5", "randn", "plant", "replace", "len",  "float16", "'", "\"",
        " ",      "==", "<",     "None",  "filled",  "\x80", "int"};
    struct rng rng;
    rng_seed(&rng, 5);
    for (int i = 0; i < 20000; i++) {
        struct arena arena = {0};
        char text[256] = "";
        for (int j = (int)rng_integer(&rng, 0, 14); j >= 0; j--)
            strcat(text, pieces[rng_integer(&rng, 0, sizeof pieces / sizeof *pieces)]);
        assert_non_null(result_of(&arena, text));
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_out),         cmocka_unit_test(errors_say_what_and_where),
        cmocka_unit_test(distributions_are_right), cmocka_unit_test(elements_are_what_they_should),
        cmocka_unit_test(sorted_is_in_order),      cmocka_unit_test(normals_are_the_same_everywhere),
        cmocka_unit_test(branches_are_known),      cmocka_unit_test(high_trees_are_refused),
        cmocka_unit_test(any_text_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
