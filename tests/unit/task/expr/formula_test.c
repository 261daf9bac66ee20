/* Formulas of one's own tasks: precedence, functions, rounding of steps, mistakes. */
#include "task/expr/formula.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NAMES = 5 };
static const struct formula_name names[NAMES] = {
    {"x", NULL}, {"y", NULL}, {"list", "a list"}, {"k", NULL}, {"mode", "a string"}};
static const double X = 3, Y = -0.5, K = 10;

static double value_in(const char *text, enum akgen_dtype steps)
{
    struct arena arena = {0};
    const struct formula *formula;
    struct akgen_error *error = formula_parse(&arena, text, names, NAMES, &formula);
    if (error)
        fail_msg("%s: %s", text, error->message);
    const double *const values[NAMES] = {&X, &Y, NULL, &K, NULL};
    double value;
    formula_block(formula, steps, values, 1, &value);
    arena_free(&arena);
    return value;
}

static void assert_value(const char *text, double expected)
{
    double value = value_in(text, AKGEN_DOUBLE);
    if (value != expected)
        fail_msg("%s is %.17g, expected %.17g", text, value, expected);
}

static void assert_mistake(const char *text, const char *part)
{
    struct arena arena = {0};
    const struct formula *formula;
    struct akgen_error *error = formula_parse(&arena, text, names, NAMES, &formula);
    assert_non_null(error);
    if (!strstr(error->message, part))
        fail_msg("%s: '%s' lacks '%s'", text, error->message, part);
    error_free(error);
    arena_free(&arena);
}

static void arithmetic(void **state)
{
    (void)state;
    assert_value("x + y*k", 3 - 0.5 * 10);
    assert_value("(x + y)*k", 25);
    assert_value("x - 1 - 1", 1);
    assert_value("x/2/2", 0.75);
    assert_value("-x**2", -9);
    assert_value("2**-1", 0.5);
    assert_true(signbit(value_in("-(x - x)", AKGEN_DOUBLE)));
    assert_value("1/-(x - x)", -INFINITY);
    assert_value("2**3**2", 512);
    assert_value("x > 2 ? 1 : y > 2 ? 2 : 3", 1);
    assert_value("x <= 2 ? 1 : y != 2 ? 2 : 3", 2);
    assert_value("1.5e1", 15);
}

static void functions(void **state)
{
    (void)state;
    assert_value("max(x, y) - min(x, y)", 3.5);
    assert_value("sigmoid(0*x) + sign(y) + abs(y)", 0);
    assert_value("sqrt(x*x + 16)", 5);
    assert_value("round(2.5) + floor(y) + ceil(y) + trunc(2.9)", 2 - 1 - 0 + 2);
    assert_true(isnan(value_in("max(x, sqrt(y))", AKGEN_DOUBLE))); /* as torch.maximum */
}

/* Elements are independent of each other: the branch that one takes is not another's. */
static void blocks_are_elementwise(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct formula *formula;
    const double x[] = {-2, 0, 3}, y[] = {10, 20, 30}, *const values[NAMES] = {x, y, NULL, NULL, NULL};
    double out[3];
    assert_null(formula_parse(&arena, "x > 0 ? y : x < 0 ? x*y : inf", names, NAMES, &formula));
    assert_true(formula_uses(formula, 0) && formula_uses(formula, 1) && !formula_uses(formula, 3));
    formula_block(formula, AKGEN_DOUBLE, values, 3, out);
    assert_true(out[0] == -20 && isinf(out[1]) && out[2] == 30);
    arena_free(&arena);
}

/* 1 + 2^-11 is no half number: every step rounds it away. */
static void steps_are_rounded(void **state)
{
    (void)state;
    assert_float_equal(value_in("(x - 2 + 2**-11 - 1)*2048", AKGEN_DOUBLE), 1, 0);
    assert_float_equal(value_in("(x - 2 + 2**-11 - 1)*2048", AKGEN_FLOAT16), 0, 0);
}

static void mistakes(void **state)
{
    (void)state;
    assert_mistake("", "in '', column 1: expected a value, found the end");
    assert_mistake("x +", "column 4: expected a value");
    assert_mistake("x y", "column 3: expected an operator or the end");
    assert_mistake("1 + max(x)", "column 5: max takes 2 arguments, not 1");
    assert_mistake("1 + gelu(x)", "column 5: there is no function 'gelu'; there are abs sqrt exp");
    assert_mistake("x // 2", "column 3: a formula has no '//'");
    assert_mistake("[x]", "column 1: a formula has no lists");
    assert_mistake("x + $k", "column 5: a formula has no columns; make 'k' an attribute");
    assert_mistake("x == 'a'", "column 6: a formula has no text");
    assert_mistake("0 < x < 1", "column 7: expected one comparison");
    assert_mistake("x ? 1", "':'");
    assert_mistake("z", "column 1: 'z' is no input or attribute; there are x, y, list, k, mode");
    assert_mistake("list", "a list");
    assert_mistake("mode", "a string");
    char deep[400];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_mistake(deep, "nested");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic),        cmocka_unit_test(functions),
        cmocka_unit_test(steps_are_rounded), cmocka_unit_test(blocks_are_elementwise),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
