/* Formulas of one's own tasks: precedence, functions, rounding of steps, mistakes. */
#include "task/expr/formula.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct task_param inputs[] = {{.name = "x"}, {.name = "y"}, {.name = "list", .kind = TASK_TENSOR_LIST}};
static struct task_attr attrs[] = {{"k", "float", "1"}, {"mode", "string", "a"}};
static const struct task task = {.inputs = inputs, .input_count = 3, .attrs = attrs, .attr_count = 2};
static const double X = 3, Y = -0.5, K = 10;

static double value_in(const char *text, enum akgen_dtype steps)
{
    struct arena arena = {0};
    struct formula *formula;
    struct akgen_error *error = formula_parse(&arena, text, &task, &formula);
    if (error)
        fail_msg("%s: %s", text, error->message);
    const double in[] = {X, Y, 0}, attr[] = {K, 0};
    double value = formula_value(formula, steps, in, attr);
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
    struct formula *formula;
    struct akgen_error *error = formula_parse(&arena, text, &task, &formula);
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
    assert_mistake("", "expected a number");
    assert_mistake("x +", "expected a number");
    assert_mistake("x y", "expected the end or an operator");
    assert_mistake("max(x)", "','");
    assert_mistake("x ? 1", "':'");
    assert_mistake("z", "'z' is no input or attribute; there are x, y, list, k, mode");
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
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(functions),
        cmocka_unit_test(steps_are_rounded),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
