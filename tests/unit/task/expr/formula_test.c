/* Formulas of one's own tasks: precedence, functions, shapes, rows, slices, steps and their rounding, mistakes. */
#include "task/expr/formula.h"
#include "task/tensor/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NAMES = 11, ROOM = 64 };
static const struct formula_name names[NAMES] = {{"x", NULL},          {"y", NULL},  {"list", "a list"}, {"k", NULL},
                                                 {"mode", "a string"}, {"m", NULL},  {"r", NULL},        {"t", NULL},
                                                 {"h", NULL},          {"bf", NULL}, {"w", NULL}};
static const double X = 3, Y = -0.5;
static const uint16_t ZERO = 0;
/* h, bf and w are one 0 each, of float16, bfloat16 and int16. x and y are one number each, m is (2, 3), r is (3), t is (2, 2, 2), k = 10 and an integer. */
static double M[] = {1, 2, 4, -1, 0.5, 3}, R[] = {10, 20, 30}, T[] = {1, 2, 3, 5, 8, 13, 21, 34};
static const struct task_tensor x_tensor = {AKGEN_DOUBLE, 1, {1}, 1, (void *)&X},
                                y_tensor = {AKGEN_DOUBLE, 1, {1}, 1, (void *)&Y},
                                m_tensor = {AKGEN_DOUBLE, 2, {2, 3}, 6, M}, r_tensor = {AKGEN_DOUBLE, 1, {3}, 3, R},
                                t_tensor = {AKGEN_DOUBLE, 3, {2, 2, 2}, 8, T},
                                h_tensor = {AKGEN_FLOAT16, 1, {1}, 1, (void *)&ZERO},
                                b_tensor = {AKGEN_BF16, 1, {1}, 1, (void *)&ZERO},
                                w_tensor = {AKGEN_INT16, 1, {1}, 1, (void *)&ZERO};
static const struct formula_argument arguments[NAMES] = {
    {&x_tensor, 0, false}, {&y_tensor, 0, false}, {NULL, 0, false},      {NULL, 10, true},
    {NULL, 0, false},      {&m_tensor, 0, false}, {&r_tensor, 0, false}, {&t_tensor, 0, false},
    {&h_tensor, 0, false}, {&b_tensor, 0, false}, {&w_tensor, 0, false}};

static void keep(void *state, int64_t first, int64_t n, const double *values)
{
    memcpy((double *)state + first, values, sizeof *values * (size_t)n);
}

/* Computes a formula for an output of that shape; an error where it does not fit. */
static struct akgen_error *compute(struct arena *arena, const char *text, enum akgen_dtype steps,
                                   const struct task_tensor *output, double *values)
{
    const struct formula *formula;
    struct formula_bound *bound;
    struct akgen_error *error = formula_parse(arena, text, names, NAMES, NULL, "out", 0, &formula);
    if (!error)
        error = formula_bind(arena, formula, arguments, &output, &steps, &bound);
    if (!error)
        error = formula_fits(bound, formula->count - 1, output);
    if (!error)
        formula_compute(bound, formula->count - 1, output, keep, values);
    return error;
}

static double value_in(const char *text, enum akgen_dtype steps)
{
    struct arena arena = {0};
    const struct task_tensor one = {AKGEN_DOUBLE, 1, {1}, 1, NULL};
    double value;
    struct akgen_error *error = compute(&arena, text, steps, &one, &value);
    if (error)
        fail_msg("%s: %s", text, error->message);
    arena_free(&arena);
    return value;
}

static void assert_value(const char *text, double expected)
{
    double value = value_in(text, AKGEN_DOUBLE);
    if (value != expected)
        fail_msg("%s is %.17g, expected %.17g", text, value, expected);
}

/* A formula's elements, for an output of shape (rows, cols). */
static void assert_elements(const char *text, int64_t rows, int64_t cols, const double *expected)
{
    struct arena arena = {0};
    const struct task_tensor output = {AKGEN_DOUBLE, 2, {rows, cols}, rows * cols, NULL};
    double values[ROOM];
    struct akgen_error *error = compute(&arena, text, AKGEN_DOUBLE, &output, values);
    if (error)
        fail_msg("%s: %s", text, error->message);
    for (int64_t i = 0; i < rows * cols; i++)
        if (values[i] != expected[i] && !(fabs(values[i] - expected[i]) <= 1e-15 * fabs(expected[i])))
            fail_msg("%s: element %d is %.17g, expected %.17g", text, (int)i, values[i], expected[i]);
    arena_free(&arena);
}

static void assert_mistake(const char *text, const char *part)
{
    struct arena arena = {0};
    const struct task_tensor output = {AKGEN_DOUBLE, 2, {2, 3}, 6, NULL};
    double values[ROOM];
    struct akgen_error *error = compute(&arena, text, AKGEN_DOUBLE, &output, values);
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

/* What others call them, and how they write axes. */
static void words_of_others(void **state)
{
    (void)state;
    assert_value("pow(x, 2) + x^2 - maximum(x, y) + minimum(x, y) + clip(x, 0, 1)", 9 + 9 - 3 - 0.5 + 1);
    assert_value("x // 2 + -x // 2 + x % 2 + -x % 2 + (x + 4) // 2 % 2", 1 - 2 + 1 + 1 + 1);
    assert_value("x > 2 and y > 0 ? 1 : x > 2 && not y > 0 || false ? 2 : 3", 2);
    assert_value("(x > 2) & ~(y > 0) | (y > 0)", 1);
    assert_value("!(x > 2) + ~(y > 0) + (not y > 0) + !x", 2);
    assert_true(fabs(value_in("log10(1000) + exp2(3) + log2(8) - 14 + pi - 3.14159265358979", AKGEN_DOUBLE)) < 1e-14);
    assert_value("hardswish(x) + hardsigmoid(-x) + relu6(3*x) + softsign(y) + leaky_relu(y, 0.5)",
                 9.0 - 1 / 3.0 - 0.25);
    assert_true(fabs(value_in("mish(x) - x*tanh(softplus(x)) + elu(y, 2) - 2*expm1(y)", AKGEN_DOUBLE)) < 1e-15);
    assert_true(fabs(value_in("selu(y) / elu(y, 1) - 1.0507009873554805 * 1.6732632423543772", AKGEN_DOUBLE)) < 1e-14);
    assert_true(fabs(value_in("logsigmoid(x) - log(sigmoid(x)) + logaddexp(x, y) - log(exp(x) + exp(y))",
                              AKGEN_DOUBLE)) < 1e-15);
    assert_true(fabs(value_in("gelu_tanh(x) - gelu(x)", AKGEN_DOUBLE)) < 1e-3);
    assert_elements("sum(m, dim=0)", 1, 3, (const double[]){0, 2.5, 7});
    assert_elements("m + sum(t, axis=(0, 2), keepdims=True)[0] * 0", 2, 3, (const double[]){1, 2, 4, -1, 0.5, 3});
    assert_value("mean(m, dim=[0, 1], keepdim=True) * 6", 9.5);
    assert_elements("std(m) - sqrt(var(m)) + norm(m) - sqrt(sum(m*m))", 2, 1, (const double[]){0, 0});
    assert_elements("n = 2 * 3 // 2 - 1; m[:n]", 2, 2, (const double[]){1, 2, -1, 0.5});
}

/* What is rounded or compared may be a little more or less if it is computed: then the other side of a jump is right, too. */
static void jumps_lean(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool jumps;
        double up, down; /* of element 1, which is 2 */
    } rows[] = {{"round(m / 4)", true, 1, 0},
                {"floor(m / 2) + m * 0", true, 1, 0},
                {"round(m)", false, 2, 2},
                {"m == amax(m) - 2", true, 0, 0},
                {"m > r / 10", true, 1, 0},
                {"m > r", false, 0, 0},
                {"sign(m*3 - r*0.3)", true, 1, -1},
                {"m % 2.0 > 5", true, 0, 0},
                {"type_as(m / 2 * (1 + 2**-11), h)", true, 1 + 0x1p-10, 1},
                {"type_as(m, x) + type_as(m, h)", false, 4, 4},
                {"m * (index(m) == index(m, 0) + 1)", false, 2, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        const struct formula *formula;
        struct formula_bound *bound;
        const struct task_tensor output = {AKGEN_DOUBLE, 2, {2, 3}, 6, NULL};
        double values[6];
        for (int up = 0; up < 2; up++) {
            assert_null(formula_parse(&arena, rows[i].text, names, NAMES, NULL, "out", 0, &formula));
            assert_null(formula_bind(&arena, formula, arguments, (const struct task_tensor *[]){&output},
                                     &(enum akgen_dtype){AKGEN_DOUBLE}, &bound));
            assert_int_equal(formula_jumps(bound), rows[i].jumps);
            formula_lean(bound, up ? 0x1p-18 : -0x1p-18);
            formula_compute(bound, 0, &output, keep, values);
            if (values[1] != (up ? rows[i].up : rows[i].down))
                print_error("%s leans to %g\n", rows[i].text, values[1]);
            assert_true(values[1] == (up ? rows[i].up : rows[i].down));
        }
        arena_free(&arena);
    }
}

/* Elements are independent of each other: the branch that one takes is not another's. */
static void elements(void **state)
{
    (void)state;
    assert_elements("m > 1 ? r : m < 0 ? m*r : inf", 2, 3, (const double[]){INFINITY, 20, 30, -10, INFINITY, 30});
    assert_elements("where(m > 1, r, clamp(m, 0, k))", 2, 3, (const double[]){1, 20, 30, 0, 0.5, 30});
    assert_value("relu(y) + square(y) + relu(x)", 3.25);
    assert_true(fabs(value_in("silu(x) - x*sigmoid(x)", AKGEN_DOUBLE)) < 1e-15);
    assert_value("softplus(x - 1003) + softplus(x + 997) + rsqrt(k + 6) + reciprocal(y)", 1000 + 0.25 - 2);
    assert_true(fabs(value_in("gelu(x) - x*0.5*(1 + erf(x/sqrt(2)))", AKGEN_DOUBLE)) < 1e-15);
}

static void broadcasts(void **state)
{
    (void)state;
    assert_elements("m + r", 2, 3, (const double[]){11, 22, 34, 9, 20.5, 33});
    assert_elements("m - m[1]", 2, 3, (const double[]){-1, 0, 2, -1.5, 0, 2.5});
    assert_elements("r", 2, 3, (const double[]){10, 20, 30, 10, 20, 30});
    assert_elements("x + y", 2, 3, (const double[]){2.5, 2.5, 2.5, 2.5, 2.5, 2.5});
}

static void rows(void **state)
{
    (void)state;
    assert_elements("sum(m)", 2, 1, (const double[]){7, 2.5});
    assert_elements("mean(m, -1)", 1, 2, (const double[]){7.0 / 3, 2.5 / 3}); /* sizes of 1 may be elsewhere */
    assert_elements("max(m) - min(m) + amax(m) - amin(m)", 2, 1, (const double[]){6, 8});
    assert_elements("m / sum(m)", 2, 3, (const double[]){1 / 7.0, 2 / 7.0, 4 / 7.0, -0.4, 0.2, 1.2});
    assert_elements("var(m)", 2, 1, (const double[]){14.0 / 9, 2.7222222222222223});
    assert_elements("cumsum(m)", 2, 3, (const double[]){1, 3, 7, -1, -0.5, 2.5});
    double e = exp(1), sum = 1 / e + exp(0.5) + exp(3);
    assert_elements("softmax(m)[0:2]", 2, 2,
                    (const double[]){exp(-3) / (exp(-3) + exp(-2) + 1), exp(-2) / (exp(-3) + exp(-2) + 1),
                                     exp(-4) / (exp(-4) + exp(-2.5) + 1), exp(-2.5) / (exp(-4) + exp(-2.5) + 1)});
    assert_elements("logsumexp(m[0:])[0] - 3", 2, 1, (const double[]){log(exp(-2) + exp(-1) + e), log(sum) - 3});
    assert_elements("log_softmax(m) - m + logsumexp(m) + 1", 2, 3, (const double[]){1, 1, 1, 1, 1, 1});
    assert_value("sum(m, all)", 9.5);
    assert_value("mean((m - mean(m, all))**2, all) - var(m, all)", 0);
    assert_value("max(m, all) * size(m) + size(m, all)", 18);
    assert_elements("m * amax(r, all)", 2, 3, (const double[]){30, 60, 120, -30, 15, 90});
}

/* Axes are counted from the front, or from the end; those that a sum goes along stay, with a size of 1. */
static void axes(void **state)
{
    (void)state;
    assert_elements("sum(m, 0)", 1, 3, (const double[]){0, 2.5, 7});
    assert_elements("m - sum(m, -2)", 2, 3, (const double[]){1, -0.5, -3, -1, -2, -4});
    assert_elements("cumsum(m, 0)", 2, 3, (const double[]){1, 2, 4, 0, 2.5, 7});
    assert_elements("cumsum(t, 1)[1]", 2, 2, (const double[]){2, 7, 13, 47});
    assert_elements("sum(t, 0, 2)", 1, 2, (const double[]){24, 63});
    assert_elements("mean(t, -1, 1)", 2, 1, (const double[]){11 / 4.0, 76 / 4.0});
    assert_elements("(amax(t, 0) - amin(t, 1))[0]", 2, 2, (const double[]){7, 20, 0, 13});
    assert_elements("softmax(m, 0) * (1 + exp(m - m))", 2, 3,
                    (const double[]){2 / (1 + exp(-2)), 2 / (1 + exp(-1.5)), 2 / (1 + exp(-1)), 2 / (1 + exp(2)),
                                     2 / (1 + exp(1.5)), 2 / (1 + exp(1))});
    assert_elements("var(m, 0) + sum(sum(m, 1), 0)", 1, 3, (const double[]){10.5, 0.5625 + 9.5, 0.25 + 9.5});
    assert_elements("sum(m + t[0:1], 0, 1, 2)", 1, 1, (const double[]){2 * 9.5 + 3 * (1 + 3 + 8 + 21)});
    assert_value("sum(m, 0, 1) - sum(m, all) + size(m, 0) * size(t, 0, -1) + size(m, 1)", 2 * 4 + 3);
    assert_mistake("sum(m, 2)", "column 8: the shape [2, 3] has no axis 2");
    assert_mistake("softmax(r, -2)", "the shape [3] has no axis -2");
    assert_mistake("m * sum(k, 0)", "the shape [] has no axis 0");
    assert_mistake("sum(m, 0, 0)", "column 11: axis 0 is given twice");
    assert_mistake("sum(m, 1, -1)", "axis -1 of the shape [2, 3] is given twice");
    assert_mistake("softmax(m, 0, 1)", "column 15: softmax goes along one axis");
    assert_mistake("softmax(m, all)", "column 12: softmax goes along axes, which are whole numbers");
    assert_mistake("sum(m, 0.5)", "column 8: sum goes along axes, which are whole numbers, or over 'all'");
    assert_mistake("sum(m, k)", "column 8: sum goes along axes");
    assert_mistake("sum(m, 0, all)", "column 11: sum goes along axes");
    assert_mistake("amax(m[1:1], 1, 0)", "amax has no value of no elements: the shape is [2, 0]");
}

static void slices(void **state)
{
    (void)state;
    assert_elements("m[1:]", 2, 2, (const double[]){2, 4, 0.5, 3});
    assert_elements("m[:-1] * m[1:]", 2, 2, (const double[]){2, 8, -0.5, 1.5});
    assert_elements("m[-1]", 2, 1, (const double[]){4, 3});
    assert_elements("r[k - 9 : (size(r) + 1) // 2 * 2 - 1]", 1, 2, (const double[]){20, 30});
    assert_mistake("m[1:4]", "column 2: [1:4] is no part of rows of 3 elements");
    assert_mistake("m[2:1]", "[2:1] is no part of rows of 3 elements");
    assert_mistake("m[3]", "[3:4] is no part");
    assert_mistake("m[:x]", "column 4: a bound is a whole number");
    assert_mistake("m[:1.5]", "column 4: a bound is made of whole numbers, attributes and size(x)");
    assert_mistake("m[:size(m)/2]", "column 11: 3 / 2 is no whole number");
    assert_mistake("m[:1//(k - 10)]", "1 // 0 is no whole number");
    assert_mistake("m[:99999999999999999999]", "column 4: a bound is"); /* no int64 holds these */
    assert_mistake("m[4503599627370496 * 2048 - 1 + 0 * size(m)]", "the bound exceeds 64 bits");
    assert_mistake("m[4503599627370496 * 2047]", "is no part of rows of 3 elements");
    assert_mistake("m[(-4503599627370496 * 2048) // -1]", "a bound is too large");
    assert_mistake("k[0]", "column 2: a number has no parts");
}

static void steps_have_names(void **state)
{
    (void)state;
    assert_value("s = x + y; s * s", 6.25);
    assert_elements("centred = m - mean(m); centred / sqrt(mean(centred * centred)) * 0 + r", 2, 3,
                    (const double[]){10, 20, 30, 10, 20, 30});
    char text[2000] = "s0 = x;"; /* each step twice the one before: computed once each, not 2^50 times */
    for (int i = 1; i <= 50; i++)
        sprintf(text + strlen(text), "s%d = s%d + s%d;", i, i - 1, i - 1);
    assert_value(strcat(text, "s50"), 3 * 0x1p50);
    assert_mistake("x = y; x", "column 1: 'x' has a meaning already, a step needs a name of its own");
    assert_mistake("a = x; a = y; a", "column 8: 'a' has a meaning already");
    assert_mistake("a = x", "expected an operator or ';'");
    assert_mistake("a = b; b", "column 5: 'b' is no input, attribute or step before; there are x, y");
}

/* A later output knows the steps of an earlier one, and its name. */
static void outputs_share_steps(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct formula *first, *second;
    struct formula_bound *bound;
    const enum akgen_dtype steps[] = {AKGEN_DOUBLE, AKGEN_FLOAT16};
    const struct task_tensor output = {AKGEN_DOUBLE, 2, {2, 3}, 6, NULL};
    double values[6];
    assert_null(formula_parse(&arena, "d = m - 1; d * d", names, NAMES, NULL, "p", 0, &first));
    assert_null(formula_parse(&arena, "p + d * k", names, NAMES, first, "q", 1, &second));
    assert_true(formula_uses(first, 5) && !formula_uses(first, 3) && formula_uses(second, 3));
    assert_int_equal(second->count, 3);
    assert_null(
        formula_bind(&arena, second, arguments, (const struct task_tensor *[]){&output, &output}, steps, &bound));
    formula_compute(bound, 2, &output, keep, values);
    assert_float_equal(values[2], 9 + 30, 0);
    formula_compute(bound, 1, &output, keep, values);
    assert_float_equal(values[3], 4, 0);
    arena_free(&arena);
}

static void shapes_must_go_together(void **state)
{
    (void)state;
    assert_mistake("m + m[1:]", "column 3: shapes [2, 3] and [2, 2] do not go together");
    assert_mistake("m[1:]", "the value has the shape [2, 2], the output [2, 3]");
    assert_mistake("amax(m[1:1])", "column 1: amax has no value of no elements: the shape is [2, 0]");
}

/* 1 + 2^-11 is no half number: every step rounds it away. */
static void steps_are_rounded(void **state)
{
    (void)state;
    assert_float_equal(value_in("(x - 2 + 2**-11 - 1)*2048", AKGEN_DOUBLE), 1, 0);
    assert_float_equal(value_in("(x - 2 + 2**-11 - 1)*2048", AKGEN_FLOAT16), 0, 0);
}

/* Of 1 / 3 float16 keeps 11 bits, bfloat16 8; half-way the even one is taken. */
static void values_take_types(void **state)
{
    (void)state;
    assert_value("type_as(1 / x, h)", 1365. / 4096);
    assert_value("type_as(1 / x, bf)", 171. / 512);
    assert_value("type_as(1 / x, x)", 1. / 3);
    assert_value("type_as(1 + 2**-11, h) - 1", 0);
    assert_value("type_as(1 + 3 * 2**-11, h) - 1", 0x1p-9);
    assert_value("type_as(k * 1e4, h)", INFINITY);
    assert_value("type_as(k / 4, w) + type_as(-7 / 4, w) + type_as(k**9, w)", 2 - 1 + 32767);
    assert_elements("m.type_as(w) * 2 + type_as(r / 30, h) * 0", 2, 3, (const double[]){2, 4, 8, -2, 0, 6});
    assert_elements("type_as(sum(m), h)", 2, 1, (const double[]){7, 2.5});
    assert_mistake("type_as(m, k)", "column 12: 'k' is an attribute, which has no data type to round to");
    assert_mistake("type_as(m, m + 1)", "type_as rounds to the data type of an input, which is named here");
    assert_mistake("s = m; type_as(m, s)", "column 19: type_as rounds to the data type of an input");
    assert_mistake("type_as(m, 2)", "column 12: type_as rounds to the data type of an input");
    assert_mistake("type_as(m)", "type_as takes 2 arguments, not 1");
    assert_mistake("type_as(m, h, 0)", "type_as takes 2 arguments, not 3");
    assert_mistake("type_as(m, list)", "a list");
}

/* Where an element stands along an axis, which is all that the operand is taken for. */
static void positions(void **state)
{
    (void)state;
    assert_elements("index(m) + 0 * m", 2, 3, (const double[]){0, 1, 2, 0, 1, 2});
    assert_elements("index(m, -1) + 10 * index(m, -2)", 2, 3, (const double[]){0, 1, 2, 10, 11, 12});
    assert_elements("index(m, 0) - index(m, 1)", 2, 3, (const double[]){0, -1, -2, 1, 0, -1});
    assert_elements("index(m, -2)", 2, 1, (const double[]){0, 1});
    assert_elements("where(index(m, -1) <= index(m, -2), m, 0)", 2, 3, (const double[]){1, 0, 0, -1, 0.5, 0});
    assert_elements("sum(index(t, 0) * 4 + index(t, 1) * 2 + index(t, 2) - cumsum(t * 0 + 1) + 1, 0)[0] + r * 0", 2, 3,
                    (const double[]){4, 4, 4, 8, 8, 8});
    assert_elements("index(m[1:]) + 0 * m[1:]", 2, 2, (const double[]){0, 1, 0, 1});
    assert_elements("index(mean(m)) + m", 2, 3, M);
    assert_elements("index(m + r, -2) * k + index(m)[1:2]", 2, 1, (const double[]){1, 11});
    assert_value("index(k)", 0);
    /* Of the output itself, which is called so. */
    assert_elements("index(out) + 10 * index(out, 0)", 2, 3, (const double[]){0, 1, 2, 10, 11, 12});
    assert_elements("i = index(out, -2); r * i + m", 2, 3, (const double[]){1, 2, 4, 9, 20.5, 33});
    assert_mistake("index(out, 2)", "column 12: the shape [2, 3] has no axis 2");
    assert_mistake("index(out + 1)", "'out' is no input, attribute or step before");
    assert_mistake("out + index(out)", "column 1: 'out' is no input, attribute or step before");
    assert_mistake("sum(out)", "'out' is no input, attribute or step before");
    assert_mistake("index(m, 2)", "column 10: the shape [2, 3] has no axis 2");
    assert_mistake("index(m, all)", "column 10: index goes along axes, which are whole numbers");
    assert_mistake("index(m, 0, 1)", "column 13: index goes along one axis");
    assert_mistake("index(m, k)", "index goes along axes");
    assert_mistake("index()", "index takes 1 argument, not 0");
    assert_mistake("index(k, 0)", "the shape [] has no axis 0");
    assert_mistake("arange(3)",
                   "there is no function 'arange'; write index(x, axis), or index(y, axis) of the output y");
}

/* Two rows one behind the other. */
static void joins(void **state)
{
    (void)state;
    assert_elements("concat(m[1:], m[:1])", 2, 3, (const double[]){2, 4, 1, 0.5, 3, -1});
    assert_elements("concat(m[0], r[:2])", 2, 3, (const double[]){1, 10, 20, -1, 10, 20});
    assert_elements("cat(concat(m[2], m[1]), sum(m)) * 2 + index(m)", 2, 3, (const double[]){8, 5, 16, 6, 2, 7});
    assert_elements("sum(concat(m, m))[0] + 0 * m", 2, 3, (const double[]){14, 14, 14, 5, 5, 5});
    assert_mistake("concat(m, k)", "column 11: a number has no rows to put together");
    assert_mistake("concat(m, m)", "the value has the shape [2, 6], the output [2, 3]");
    assert_mistake("concat(m)", "concat takes 2 arguments, not 1");
}

static void mistakes(void **state)
{
    (void)state;
    assert_mistake("", "in '', column 1: expected a value, found the end");
    assert_mistake("x +", "column 4: expected a value");
    assert_mistake("x y", "column 3: expected an operator or the end");
    assert_mistake("1 + max(x, y, k)", "column 5: max takes 2 arguments, not 3");
    assert_mistake("1 + sum()", "column 5: sum takes 1 argument, not 0");
    assert_mistake("1 + gelus(x)",
                   "column 5: there is no function 'gelus'; did you mean gelu, relu, relu6?; there are abs sqrt");
    assert_mistake("prod(r)", "there is no function 'prod'; write exp(sum(log(x))) where x is positive");
    assert_mistake("argmax(x)", "there is no function 'argmax'; write a program in AscendDSL with tl.row_argmax");
    assert_mistake("gelu(x @ y)", "column 8: '@' is not supported: a formula has no matrix products");
    assert_mistake("x.T * y", "column 2: '.T' is not supported: a formula does not transpose");
    assert_mistake("max(t, 0)", "amax(x, 0) and amin(x, 0) go along an axis, max and min take two values");
    assert_mistake("sum(m, keepdim=False)", "expected True: axes stay");
    assert_mistake("[x]", "column 1: a formula has no lists");
    assert_mistake("x + $k", "column 5: a formula has no columns; make 'k' an attribute");
    assert_mistake("x == 'a'", "column 6: a formula has no text");
    assert_mistake("0 < x < 1", "column 7: expected one comparison");
    assert_mistake("x ? 1", "':'");
    assert_mistake("z", "column 1: 'z' is no input, attribute or step before; there are x, y, list, k, mode");
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
        cmocka_unit_test(values_take_types),
        cmocka_unit_test(positions),
        cmocka_unit_test(joins),
        cmocka_unit_test(words_of_others),
        cmocka_unit_test(jumps_lean),
        cmocka_unit_test(elements),
        cmocka_unit_test(broadcasts),
        cmocka_unit_test(rows),
        cmocka_unit_test(axes),
        cmocka_unit_test(slices),
        cmocka_unit_test(steps_have_names),
        cmocka_unit_test(outputs_share_steps),
        cmocka_unit_test(shapes_must_go_together),
        cmocka_unit_test(steps_are_rounded),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
