/* The functions of formulas: of elements, and of rows. Sums are formed in double, one after the other. */
#include "task/expr/formula_internal.h"

#include <math.h>
#include <string.h>

/* Of elements. */
#define UNARY(name, formula)                                                                                           \
    static double name(double x)                                                                                       \
    {                                                                                                                  \
        return formula;                                                                                                \
    }
#define BINARY(name, formula)                                                                                          \
    static double name(double a, double b)                                                                             \
    {                                                                                                                  \
        return formula;                                                                                                \
    }
UNARY(rsqrt, 1 / sqrt(x))
UNARY(square, (x * x))
UNARY(reciprocal, 1 / x)
UNARY(sigmoid, 1 / (1 + exp(-x)))
UNARY(sign, isnan(x) ? x : (x > 0) - (x < 0))
UNARY(negative, -x) /* 0 - x would make 0 of -0 */

/* As torch.minimum and torch.maximum: nan wins. */
BINARY(least, isnan(a) || a < b ? a : b)
BINARY(greatest, isnan(a) || a > b ? a : b)
UNARY(relu, greatest(x, 0))
UNARY(silu, x / (1 + exp(-x)))

/* x Phi(x); erfc keeps the digits of the lower tail. */
UNARY(gelu, 0.5 * x * erfc(-x * 0.70710678118654752440))
UNARY(gelu_tanh, 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))

/* log(1 + exp(x)) */
UNARY(softplus, greatest(x, 0) + log1p(exp(-fabs(x))))
UNARY(logsigmoid, -softplus(-x))
UNARY(mish, (x * tanh(softplus(x))))

static double clamp(double x, double low, double high)
{
    return least(greatest(x, low), high);
}

UNARY(hardswish, (x * clamp(x + 3, 0, 6) / 6))
UNARY(hardsigmoid, clamp(x + 3, 0, 6) / 6)
UNARY(relu6, clamp(x, 0, 6))

static double elu(double x, double alpha)
{
    return relu(x) + alpha * expm1(least(x, 0));
}

UNARY(selu, 1.0507009873554804934 * elu(x, 1.6732632423543772848))
UNARY(softsign, x / (1 + fabs(x)))

static double leaky_relu(double x, double slope)
{
    return relu(x) + slope * least(x, 0);
}

BINARY(logaddexp, greatest(a, b) + log1p(exp(-fabs(a - b))))
BINARY(floor_divide, floor(a / b))

/* As Python's: of b's sign. */
BINARY(modulo, a - floor(a / b) * b)
UNARY(not, x == 0)
BINARY(both, a != 0 && b != 0)
BINARY(either, a != 0 || b != 0)

static double choose(double condition, double a, double b)
{
    return condition != 0 ? a : b;
}

#define OPERATOR(name, sign)                                                                                           \
    static double name(double a, double b)                                                                             \
    {                                                                                                                  \
        return a sign b;                                                                                               \
    }
OPERATOR(add, +)
OPERATOR(subtract, -)
OPERATOR(multiply, *)
OPERATOR(divide, /)
OPERATOR(less, <)
OPERATOR(more, >)
OPERATOR(at_most, <=)
OPERATOR(at_least, >=)
OPERATOR(equal, ==)
OPERATOR(differ, !=)

/* Of rows: x (n) -> out (1). */
static void row_sum(const double *x, int64_t n, double *out)
{
    *out = 0;
    for (int64_t i = 0; i < n; i++)
        *out += x[i];
}

static void row_mean(const double *x, int64_t n, double *out)
{
    row_sum(x, n, out);
    *out /= (double)n;
}

/* The mean of (x - mean)^2, as numpy.var. */
static void row_var(const double *x, int64_t n, double *out)
{
    double mean, squares = 0;
    row_mean(x, n, &mean);
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    *out = squares / (double)n;
}

static void row_std(const double *x, int64_t n, double *out)
{
    row_var(x, n, out);
    *out = sqrt(*out);
}

/* The root of the sum of the squares. */
static void row_norm(const double *x, int64_t n, double *out)
{
    *out = 0;
    for (int64_t i = 0; i < n; i++)
        *out += x[i] * x[i];
    *out = sqrt(*out);
}

static void row_max(const double *x, int64_t n, double *out)
{
    *out = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        *out = greatest(x[i], *out);
}

static void row_min(const double *x, int64_t n, double *out)
{
    *out = INFINITY;
    for (int64_t i = 0; i < n; i++)
        *out = least(x[i], *out);
}

/* max + log(sum(exp(x - max))) */
static void row_logsumexp(const double *x, int64_t n, double *out)
{
    double sum = 0, max;
    row_max(x, n, &max);
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    *out = max + log(sum);
}

/* Of rows: x (n) -> out (n). */
static void row_softmax(const double *x, int64_t n, double *out)
{
    double sum = 0, max;
    row_max(x, n, &max);
    for (int64_t i = 0; i < n; i++)
        sum += out[i] = exp(x[i] - max);
    for (int64_t i = 0; i < n; i++)
        out[i] /= sum;
}

static void row_log_softmax(const double *x, int64_t n, double *out)
{
    double sum = 0, max;
    row_max(x, n, &max);
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] - max - log(sum);
}

static void row_cumsum(const double *x, int64_t n, double *out)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        out[i] = sum += x[i];
}

/* The table. */
#define OF_UNARY(function)                                                                                             \
    FORMULA_UNARY,                                                                                                     \
    {                                                                                                                  \
        .unary = (function)                                                                                            \
    }
#define OF_BINARY(function)                                                                                            \
    FORMULA_BINARY,                                                                                                    \
    {                                                                                                                  \
        .binary = (function)                                                                                           \
    }
#define OF_TERNARY(function)                                                                                           \
    FORMULA_TERNARY,                                                                                                   \
    {                                                                                                                  \
        .ternary = (function)                                                                                          \
    }
#define OF_TYPED(function)                                                                                             \
    FORMULA_TYPED,                                                                                                     \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
#define OF_JOIN(function)                                                                                              \
    FORMULA_JOIN,                                                                                                      \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
#define OF_SUMMARY(function)                                                                                           \
    FORMULA_SUMMARY,                                                                                                   \
    {                                                                                                                  \
        .row = (function)                                                                                              \
    }
#define OF_ROW(function)                                                                                               \
    FORMULA_ROW,                                                                                                       \
    {                                                                                                                  \
        .row = (function)                                                                                              \
    }
#define OF_SIZE(function)                                                                                              \
    FORMULA_SIZE,                                                                                                      \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
#define OF_PLACE(function)                                                                                             \
    FORMULA_PLACE,                                                                                                     \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
#define FUNCTION(name, arguments, what, compute) {name, arguments, OF_##what(compute)},
#define ALIAS(word, name)
static const struct formula_function functions[] = {
#include "task/expr/formula_functions.def"
};
#undef FUNCTION
#undef ALIAS
#define FUNCTION(name, arguments, what, compute)
#define ALIAS(word, name) {word, name},
static const struct {
    const char *word, *name;
} aliases[] = {
#include "task/expr/formula_functions.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

bool formula_is_sign(const struct formula_function *function)
{
    return !expr_is_word(function->name) || strcmp(function->name, "neg") == 0;
}

bool formula_chooses(const struct formula_function *function)
{
    return function->kind == FORMULA_BINARY && (function->binary == least || function->binary == greatest);
}

const char *formula_functions(struct arena *arena)
{
    const char *names = "";
    for (int i = 0; i < FUNCTIONS; i++)
        if (!formula_is_sign(&functions[i]))
            names = arena_printf(arena, "%s%s%s", names, i ? " " : "", functions[i].name);
    return names;
}

const char *const *formula_function_names(struct arena *arena)
{
    const char **names = arena_alloc(arena, sizeof *names * (FUNCTIONS + 1));
    for (int i = 0; i < FUNCTIONS; i++)
        names[i] = functions[i].name;
    return names;
}

int formula_function_find(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].word, name) == 0)
            name = aliases[i].name;
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return i;
    return -1;
}

const struct formula_function *formula_function_of(const struct expr *call)
{
    return &functions[call->index];
}
