/* The functions of formulas: of elements, and of rows. Sums are formed in double, one after the other. */
#include "task/expr/formula_internal.h"

#include <math.h>
#include <string.h>

/* Of elements. */
static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double square(double x)
{
    return x * x;
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double sign(double x)
{
    return isnan(x) ? x : (x > 0) - (x < 0);
}

static double negative(double x)
{
    return -x; /* 0 - x would make 0 of -0 */
}

/* As torch.minimum and torch.maximum: nan wins. */
static double least(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}

static double greatest(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double relu(double x)
{
    return greatest(x, 0);
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

/* x Phi(x); erfc keeps the digits of the lower tail. */
static double gelu(double x)
{
    return 0.5 * x * erfc(-x * 0.70710678118654752440);
}

/* log(1 + exp(x)) */
static double softplus(double x)
{
    return greatest(x, 0) + log1p(exp(-fabs(x)));
}

static double clamp(double x, double low, double high)
{
    return least(greatest(x, low), high);
}

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
#define FUNCTION(name, arguments, what, compute) {name, arguments, OF_##what(compute)},
static const struct formula_function functions[] = {
#include "task/expr/formula_functions.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

bool formula_is_sign(const struct formula_function *function)
{
    return !expr_is_word(function->name) || strcmp(function->name, "neg") == 0;
}

const char *formula_functions(struct arena *arena)
{
    const char *names = "";
    for (int i = 0; i < FUNCTIONS; i++)
        if (!formula_is_sign(&functions[i]))
            names = arena_printf(arena, "%s%s%s", names, i ? " " : "", functions[i].name);
    return names;
}

int formula_function_find(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return i;
    return -1;
}

const struct formula_function *formula_function_of(const struct expr *call)
{
    return &functions[call->index];
}
