/* The functions and operators of task expressions. Per-element functions are counter-based: element i of a stream is a
 * function of (key, i) alone, so blocks can be made in any order. Only + - * / and sqrt are used, which IEEE 754 rounds
 * the same everywhere; no libm call decides a bit of an input. */
#include "task/expr/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Constants. */
static struct akgen_error *need_numbers(const struct expr_scope *scope, const char *what, const struct expr_value *args,
                                        int count)
{
    for (int i = 0; i < count; i++)
        if (!expr_is_number(&args[i]))
            return error_new("%s needs numbers, not %s", what, expr_show(scope->arena, &args[i]));
    return NULL;
}

static bool integers(const struct expr_value *args, int count)
{
    for (int i = 0; i < count; i++)
        if (args[i].kind == EXPR_REAL)
            return false;
    return true;
}

static struct expr_value whole(int64_t integer)
{
    return (struct expr_value){.kind = EXPR_INT, .integer = integer};
}

static struct expr_value real(double value)
{
    return (struct expr_value){.kind = EXPR_REAL, .real = value};
}

static struct expr_value truth(bool value)
{
    return (struct expr_value){.kind = EXPR_BOOL, .integer = value};
}

/* The function of constants called `id`. */
#define CONSTANT(id)                                                                                                   \
    static struct akgen_error *id##_constant(const struct expr_scope *scope UNUSED,                                    \
                                             const struct expr_value *args UNUSED, int count UNUSED,                   \
                                             struct expr_value *result)
#define UNUSED __attribute__((unused))

/* Integers stay integers (wrapping as two's complement), anything else is computed in double. */
#define ARITHMETIC(id, sign)                                                                                           \
    CONSTANT(id)                                                                                                       \
    {                                                                                                                  \
        struct akgen_error *error = need_numbers(scope, #sign, args, count);                                           \
        if (error)                                                                                                     \
            return error;                                                                                              \
        *result = integers(args, 2) ? whole((int64_t)((uint64_t)args[0].integer sign(uint64_t) args[1].integer))       \
                                    : real(expr_number(&args[0]) sign expr_number(&args[1]));                          \
        return NULL;                                                                                                   \
    }
ARITHMETIC(number_add, +)
ARITHMETIC(subtract, -)
ARITHMETIC(multiply, *)

/* Numbers add, lists join. */
CONSTANT(add)
{
    if (args[0].kind != EXPR_LIST || args[1].kind != EXPR_LIST)
        return number_add_constant(scope, args, count, result);
    int total = args[0].count + args[1].count;
    struct expr_value *items = arena_alloc(scope->arena, sizeof *items * (size_t)(total + 1));
    for (int i = 0; i < total; i++)
        items[i] = i < args[0].count ? args[0].items[i] : args[1].items[i - args[0].count];
    *result = (struct expr_value){.kind = EXPR_LIST, .items = items, .count = total};
    return NULL;
}

CONSTANT(divide)
{
    struct akgen_error *error = need_numbers(scope, "/", args, count);
    *result = error ? truth(false) : real(expr_number(&args[0]) / expr_number(&args[1]));
    return error;
}

/* Floor division and its remainder, of integers. */
static struct akgen_error *floor_divide(const struct expr_scope *scope, const struct expr_value *args,
                                        int64_t *quotient, int64_t *remainder)
{
    if (args[0].kind != EXPR_INT || args[1].kind != EXPR_INT || args[1].integer <= 0)
        return error_new("// and %% need an integer and a positive integer, not %s and %s",
                         expr_show(scope->arena, &args[0]), expr_show(scope->arena, &args[1]));
    *quotient = args[0].integer / args[1].integer;
    *remainder = args[0].integer % args[1].integer;
    if (*remainder < 0) {
        *quotient -= 1;
        *remainder += args[1].integer;
    }
    return NULL;
}

CONSTANT(quotient)
{
    int64_t rest;
    *result = whole(0);
    return floor_divide(scope, args, &result->integer, &rest);
}

CONSTANT(remainder)
{
    int64_t quotient;
    *result = whole(0);
    return floor_divide(scope, args, &quotient, &result->integer);
}

static bool equal(const struct expr_value *a, const struct expr_value *b)
{
    if (expr_is_number(a) && expr_is_number(b))
        return expr_number(a) == expr_number(b);
    if (a->kind != b->kind)
        return false;
    if (a->kind == EXPR_LIST || a->kind == EXPR_RULE) {
        bool same = a->count == b->count && (a->kind == EXPR_LIST || a->integer == b->integer);
        for (int i = 0; same && i < a->count; i++)
            same = equal(&a->items[i], &b->items[i]);
        return same;
    }
    if (a->kind != EXPR_TEXT)
        return true;
    enum akgen_dtype left = akgen_dtype_parse(a->text), right = akgen_dtype_parse(b->text);
    return strcmp(a->text, b->text) == 0 || (left == right && left != AKGEN_DTYPE_NONE); /* float is float32 */
}

/* A constant that cannot fail. */
#define PLAIN(id, value)                                                                                               \
    CONSTANT(id)                                                                                                       \
    {                                                                                                                  \
        *result = value;                                                                                               \
        return NULL;                                                                                                   \
    }
PLAIN(equal, truth(equal(&args[0], &args[1])))
PLAIN(differ, truth(!equal(&args[0], &args[1])))

#define COMPARISON(id, sign)                                                                                           \
    CONSTANT(id)                                                                                                       \
    {                                                                                                                  \
        struct akgen_error *error = need_numbers(scope, #sign, args, count);                                           \
        *result = truth(!error && expr_number(&args[0]) sign expr_number(&args[1]));                                   \
        return error;                                                                                                  \
    }
COMPARISON(less, <)
COMPARISON(at_most, <=)
COMPARISON(more, >)
COMPARISON(at_least, >=)

#define OF_ONE(id, on_integer, on_real)                                                                                \
    CONSTANT(id)                                                                                                       \
    {                                                                                                                  \
        struct akgen_error *error = need_numbers(scope, #id, args, count);                                             \
        int64_t i = args[0].integer;                                                                                   \
        double x = args[0].real;                                                                                       \
        *result = args[0].kind == EXPR_REAL ? on_real : on_integer;                                                    \
        return error;                                                                                                  \
    }
static int64_t to_integer(double x)
{
    return x >= -9.2e18 && x <= 9.2e18 ? (int64_t)x : 0;
}
OF_ONE(negate, whole((int64_t)(0 - (uint64_t)i)), real(-x))
OF_ONE(absolute, whole(i < 0 ? (int64_t)(0 - (uint64_t)i) : i), real(fabs(x)))
OF_ONE(ceil, whole(i), whole(to_integer(ceil(x))))
OF_ONE(floor, whole(i), whole(to_integer(floor(x))))
OF_ONE(int, whole(i), whole(to_integer(x)))
OF_ONE(float, real((double)i), real(x))
OF_ONE(root, real(sqrt((double)i)), real(sqrt(x)))

#define OF_TWO_EXTREME(id, sign)                                                                                       \
    CONSTANT(id)                                                                                                       \
    {                                                                                                                  \
        struct akgen_error *error = need_numbers(scope, #id, args, count);                                             \
        *result = expr_number(&args[0]) sign expr_number(&args[1]) ? args[0] : args[1];                                \
        return error;                                                                                                  \
    }
OF_TWO_EXTREME(min, <)
OF_TWO_EXTREME(max, >)

static struct akgen_error *need_list(const struct expr_scope *scope, const char *what, const struct expr_value *value)
{
    return value->kind == EXPR_LIST ? NULL : error_new("%s needs a list, not %s", what, expr_show(scope->arena, value));
}

CONSTANT(len)
{
    *result = whole(args[0].count);
    return need_list(scope, "len", &args[0]);
}

CONSTANT(product)
{
    *result = whole(1);
    struct akgen_error *error = need_list(scope, "product", &args[0]);
    if (!error)
        error = need_numbers(scope, "product", args[0].items, args[0].count);
    for (int i = 0; !error && i < args[0].count; i++)
        if (__builtin_mul_overflow(result->integer, args[0].items[i].integer, &result->integer))
            error = error_new("product of %s is too large", expr_show(scope->arena, &args[0]));
    return error;
}

/* dot(list, list): the sum of the products of their items. */
CONSTANT(dot)
{
    struct akgen_error *error = NULL;
    *result = whole(0);
    for (int i = 0; !error && i < count; i++) {
        error = need_list(scope, "dot", &args[i]);
        if (!error)
            error = need_numbers(scope, "dot", args[i].items, args[i].count);
    }
    if (!error && args[0].count != args[1].count)
        error = error_new("dot needs lists of the same length, not %d and %d", args[0].count, args[1].count);
    for (int i = 0; !error && i < args[0].count; i++) {
        int64_t product;
        if (__builtin_mul_overflow(args[0].items[i].integer, args[1].items[i].integer, &product) ||
            __builtin_add_overflow(result->integer, product, &result->integer))
            error = error_new("dot of %s is too large", expr_show(scope->arena, &args[0]));
    }
    return error;
}

/* greatest(list): its greatest item. */
CONSTANT(greatest)
{
    struct akgen_error *error = need_list(scope, "greatest", &args[0]);
    if (!error)
        error = need_numbers(scope, "greatest", args[0].items, args[0].count);
    if (error)
        return error;
    if (!args[0].count)
        return error_new("greatest needs a list with items");
    *result = args[0].items[0];
    for (int i = 1; i < args[0].count; i++)
        if (expr_number(&args[0].items[i]) > expr_number(result))
            *result = args[0].items[i];
    return NULL;
}

/* replace(list, index, value): the list with one item exchanged. */
CONSTANT(replace)
{
    struct akgen_error *error = need_list(scope, "replace", &args[0]);
    if (error)
        return error;
    int64_t at = args[1].integer < 0 ? args[1].integer + args[0].count : args[1].integer;
    if (args[1].kind != EXPR_INT || at < 0 || at >= args[0].count)
        return error_new("replace: %s is no index of a list of %d", expr_show(scope->arena, &args[1]), args[0].count);
    struct expr_value *items = arena_copy(scope->arena, args[0].items, sizeof *items * (size_t)args[0].count);
    items[at] = args[2];
    *result = args[0];
    result->items = items;
    return NULL;
}

/* filled(n, value): a list of n times value. */
CONSTANT(filled)
{
    if (args[0].kind != EXPR_INT || args[0].integer < 0 || args[0].integer > 4096)
        return error_new("filled needs a length, not %s", expr_show(scope->arena, &args[0]));
    struct expr_value *items = arena_alloc(scope->arena, sizeof *items * (size_t)(args[0].integer + 1));
    for (int i = 0; i < (int)args[0].integer; i++)
        items[i] = args[1];
    *result = (struct expr_value){.kind = EXPR_LIST, .items = items, .count = (int)args[0].integer};
    return NULL;
}

/* sliced(shape, begin, end, strides, axes): the shape of a slice, as Python slices; ends beyond a size are cut. */
CONSTANT(sliced)
{
    struct akgen_error *error = NULL;
    for (int i = 0; !error && i < count; i++)
        if (!(error = need_list(scope, "sliced", &args[i])))
            error = need_numbers(scope, "sliced", args[i].items, args[i].count);
    if (error)
        return error;
    struct expr_value *items = arena_alloc(scope->arena, sizeof *items * (size_t)(args[0].count + 1));
    memcpy(items, args[0].items, sizeof *items * (size_t)args[0].count);
    for (int i = 0; i < args[4].count; i++) {
        int64_t axis = args[4].items[i].integer;
        if (axis < 0 || axis >= args[0].count || i >= args[1].count || i >= args[2].count || i >= args[3].count ||
            args[3].items[i].integer < 1)
            return error_new("sliced: %s is no slice of %s", expr_show(scope->arena, &args[4]),
                             expr_show(scope->arena, &args[0]));
        int64_t size = items[axis].integer, end = args[2].items[i].integer, step = args[3].items[i].integer;
        int64_t room = (end < size ? end : size) - args[1].items[i].integer;
        items[axis] = whole(room > 0 ? (room + step - 1) / step : 0);
    }
    *result = args[0];
    result->items = items;
    return NULL;
}

static struct akgen_error *need_dtype(const struct expr_scope *scope, const struct expr_value *value,
                                      enum akgen_dtype *type)
{
    *type = value->kind == EXPR_TEXT ? akgen_dtype_parse(value->text) : AKGEN_DTYPE_NONE;
    return *type != AKGEN_DTYPE_NONE ? NULL : error_new("%s is no data type", expr_show(scope->arena, value));
}

CONSTANT(is_float)
{
    enum akgen_dtype type;
    struct akgen_error *error = need_dtype(scope, &args[0], &type);
    *result = truth(type == AKGEN_FLOAT || type == AKGEN_FLOAT16 || type == AKGEN_BF16 || type == AKGEN_DOUBLE);
    return error;
}

/* rounded(x, dtype): the number as a tensor of that type would hold it. */
CONSTANT(rounded)
{
    enum akgen_dtype type;
    struct akgen_error *error = need_dtype(scope, &args[1], &type);
    if (!error)
        error = need_numbers(scope, "rounded", args, 1);
    if (error)
        return error;
    double x = expr_number(&args[0]);
    if (type == AKGEN_FLOAT || type == AKGEN_FLOAT16 || type == AKGEN_BF16) {
        int digits = type == AKGEN_FLOAT ? 24 : type == AKGEN_FLOAT16 ? 11 : 8, exponent;
        double fraction = ldexp(frexp(x, &exponent), digits);
        *result = real(isfinite(x) ? ldexp(nearbyint(fraction), exponent - digits) : x);
    } else {
        *result = type == AKGEN_DOUBLE ? real(x) : whole(to_integer(x));
    }
    return NULL;
}

PLAIN(full, args[0])
PLAIN(zeros, whole(0))
PLAIN(ones, whole(1))

/* abs_rel(a, r), abs_rel_any(a, r), allclose(a, r), rel_max1(r), share(l): rules for `check:`. */
static const char *const rules[] = {
    [RULE_ABS_REL] = "abs_rel",   [RULE_ABS_REL_ANY] = "abs_rel_any",
    [RULE_ALLCLOSE] = "allclose", [RULE_REL_MAX1] = "rel_max1",
    [RULE_SHARE] = "share",
};
enum { RULES = sizeof rules / sizeof *rules };

const char *expr_rule_name(enum expr_rule rule)
{
    return rules[rule];
}

bool expr_function_is_rule(const struct expr_function *function)
{
    for (int i = 0; i < RULES; i++)
        if (strcmp(rules[i], function->name) == 0)
            return true;
    return false;
}

static struct akgen_error *rule_constant(const struct expr_scope *scope, const struct expr_value *args, int count,
                                         enum expr_rule rule, struct expr_value *result)
{
    struct akgen_error *error = need_numbers(scope, "a check", args, count);
    *result = (struct expr_value){.kind = EXPR_RULE, .integer = rule, .count = count};
    result->items = arena_copy(scope->arena, args, sizeof *args * (size_t)count);
    return error;
}

#define RULE(name, number)                                                                                             \
    CONSTANT(name)                                                                                                     \
    {                                                                                                                  \
        return rule_constant(scope, args, count, number, result);                                                      \
    }
RULE(abs_rel, RULE_ABS_REL)
RULE(abs_rel_any, RULE_ABS_REL_ANY)
RULE(allclose, RULE_ALLCLOSE)
RULE(rel_max1, RULE_REL_MAX1)
RULE(share, RULE_SHARE)

/* Per element. */
#define BLOCK(id)                                                                                                      \
    static void id##_block(const struct expr_scope *scope UNUSED, uint64_t key UNUSED,                                 \
                           const double *const *args UNUSED, int count UNUSED, int64_t first UNUSED, int n,            \
                           double *out)
#define PER_ELEMENT(id, formula)                                                                                       \
    BLOCK(id)                                                                                                          \
    {                                                                                                                  \
        for (int i = 0; i < n; i++)                                                                                    \
            out[i] = formula;                                                                                          \
    }
PER_ELEMENT(add, args[0][i] + args[1][i])
PER_ELEMENT(subtract, args[0][i] - args[1][i])
PER_ELEMENT(multiply, args[0][i] * args[1][i])
PER_ELEMENT(divide, args[0][i] / args[1][i])
PER_ELEMENT(negate, -args[0][i])
PER_ELEMENT(absolute, fabs(args[0][i]))
PER_ELEMENT(root, sqrt(args[0][i]))
PER_ELEMENT(min, args[0][i] < args[1][i] ? args[0][i] : args[1][i])
PER_ELEMENT(max, args[0][i] > args[1][i] ? args[0][i] : args[1][i])
PER_ELEMENT(arange, (double)(first + i))
PER_ELEMENT(randbool, (double)(expr_mix(key, (uint64_t)(first + i)) >> 63))

/* Uniform in [0, 1), in steps of 2^-digits of the tensor's type, so that rounding never yields 1 (as torch.rand
 * does). */
static int uniform_digits(enum akgen_dtype type)
{
    switch (type) {
    case AKGEN_FLOAT16:
        return 11;
    case AKGEN_BF16:
        return 8;
    case AKGEN_DOUBLE:
        return 53;
    default:
        return 24;
    }
}

BLOCK(rand)
{
    int digits = uniform_digits(scope->type);
    double step = 1.0 / (double)(1ull << digits);
    for (int i = 0; i < n; i++)
        out[i] = (double)(int64_t)(expr_mix(key, (uint64_t)(first + i)) >> (64 - digits)) * step;
}

BLOCK(uniform)
{
    rand_block(scope, key, args, count, first, n, out);
    for (int i = 0; i < n; i++)
        out[i] = args[0][i] + out[i] * (args[1][i] - args[0][i]);
}

/* How many integers [low, high) has, as far as 64 bits can count; 1 if it is empty. */
static inline uint64_t span_of(double low, double high)
{
    double span = high - low;
    return !(span > 0) ? 1 : span < 0x1p64 ? (uint64_t)span : UINT64_MAX;
}

/* Integers in [low, high): the upper half of a 128-bit product. */
BLOCK(randint)
{
    for (int i = 0; i < n; i++) {
        uint64_t span = span_of(args[0][i], args[1][i]);
        unsigned __int128 product = (unsigned __int128)expr_mix(key, (uint64_t)(first + i)) * span;
        out[i] = args[0][i] + (double)(uint64_t)(product >> 64);
    }
}

/* ln of u in (0, 1]: u = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh((m - 1) / (m + 1)) as a series, error
 * below 2^-40. */
static inline double natural_log(double u)
{
    uint64_t bits, mantissa;
    memcpy(&bits, &u, sizeof bits);
    uint64_t shifted = bits - 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    int64_t exponent = (int64_t)shifted >> 52;
    mantissa = bits - ((uint64_t)exponent << 52);
    double m;
    memcpy(&m, &mantissa, sizeof m);
    double s = (m - 1) / (m + 1), q = s * s;
    double series = 1 + q * (1 / 3.0 + q * (1 / 5.0 + q * (1 / 7.0 + q * (1 / 9.0 + q * (1 / 11.0 + q / 13.0)))));
    return (double)(int)exponent * 0.69314718055994530942 + 2 * s * series;
}

/* Standard normal by Box and Muller (1958): elements 2p and 2p + 1 share the random word p, 40 bits for the radius, 24
 * for the angle. The angle is reduced to [-pi/4, pi/4], where Taylor series hold to 2^-40. */
BLOCK(randn)
{
    double pair[EXPR_BLOCK + 2];
    for (int p = 0; p < (n + 1) / 2; p++) {
        uint64_t word = expr_mix(key, (uint64_t)(first / 2 + p));
        double u = (double)(int64_t)((word >> 24) + 1) * 0x1p-40;
        double turn = (double)(int)(word & 0xffffff) * 0x1p-24;
        double radius = sqrt(-2 * natural_log(u));
        int quarter = (int)(turn * 4 + 0.5);
        double a = (turn - quarter * 0.25) * 6.28318530717958647692, q = a * a;
        double sine = a * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110)))));
        double cosine = 1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90 * (1 - q / 132)))));
        double x = quarter & 1 ? -sine : cosine, y = quarter & 1 ? cosine : sine;
        double sign = quarter & 2 ? -1 : 1;
        pair[2 * p] = radius * x * sign;
        pair[2 * p + 1] = radius * y * sign;
    }
    memcpy(out, pair, sizeof *out * (size_t)n);
    for (int i = 0; count == 2 && i < n; i++)
        out[i] = args[0][i] + out[i] * args[1][i];
}

/* choose(a, b, ...): one of its arguments, the same for the whole tensor. */
BLOCK(choose)
{
    memcpy(out, args[expr_mix(key, 0) % (uint64_t)count], sizeof *out * (size_t)n);
}

/* plant(x, v1, v2, ...): x with each v at one random place; v[k] only if the tensor has more than k elements. A later
 * one may replace an earlier one. */
BLOCK(plant)
{
    memcpy(out, args[0], sizeof *out * (size_t)n);
    for (int k = 1; k < count && scope->elements > k - 1; k++) {
        int64_t at = (int64_t)(expr_mix(key, (uint64_t)k) % (uint64_t)scope->elements) - first;
        if (at >= 0 && at < n)
            out[at] = args[k][0];
    }
}

/* ending(x, v): x, but for the last element, which is v. */
BLOCK(ending)
{
    memcpy(out, args[0], sizeof *out * (size_t)n);
    int64_t last =
        (scope->type == AKGEN_COMPLEX64 ? 2 : 1) * scope->elements - 1 - first; /* of a complex one its second part */
    if (last >= 0 && last < n)
        out[last] = args[1][last];
}

/* rare(p, a, b): element by element a with probability p, else b. */
BLOCK(rare)
{
    for (int i = 0; i < n; i++)
        out[i] = (double)(expr_mix(key, (uint64_t)(first + i)) >> 11) * 0x1p-53 < args[0][i] ? args[1][i] : args[2][i];
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* shuffled: 0, 1, 2, ... in another order. Element i is start + i * step, modulo their number, which no divisor of the step divides. */
BLOCK(shuffled)
{
    uint64_t size = (uint64_t)scope->elements, step = 1 + expr_mix(key, 0) % size, start = expr_mix(key, 1) % size;
    while (common_divisor(step, size) != 1)
        step++;
    for (int i = 0; i < n; i++)
        out[i] = (double)((start + (uint64_t)(first + i) % size * step) % size);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sorted(x): the tensor's elements in ascending order. */
BLOCK(sorted)
{
    memcpy(out, args[0], sizeof *out * (size_t)n);
    qsort(out, (size_t)n, sizeof *out, by_size);
}

/* The table. */
static const struct expr_function functions[] = {
    {"+", 2, 2, add_constant, add_block},
    {"-", 2, 2, subtract_constant, subtract_block},
    {"*", 2, 2, multiply_constant, multiply_block},
    {"/", 2, 2, divide_constant, divide_block},
    {"//", 2, 2, quotient_constant, NULL},
    {"%", 2, 2, remainder_constant, NULL},
    {"==", 2, 2, equal_constant, NULL},
    {"!=", 2, 2, differ_constant, NULL},
    {"<", 2, 2, less_constant, NULL},
    {"<=", 2, 2, at_most_constant, NULL},
    {">", 2, 2, more_constant, NULL},
    {">=", 2, 2, at_least_constant, NULL},
    {"neg", 1, 1, negate_constant, negate_block},
    {"abs", 1, 1, absolute_constant, absolute_block},
    {"sqrt", 1, 1, root_constant, root_block},
    {"min", 2, 2, min_constant, min_block},
    {"max", 2, 2, max_constant, max_block},
    {"ceil", 1, 1, ceil_constant, NULL},
    {"floor", 1, 1, floor_constant, NULL},
    {"int", 1, 1, int_constant, NULL},
    {"float", 1, 1, float_constant, NULL},
    {"len", 1, 1, len_constant, NULL},
    {"product", 1, 1, product_constant, NULL},
    {"dot", 2, 2, dot_constant, NULL},
    {"greatest", 1, 1, greatest_constant, NULL},
    {"replace", 3, 3, replace_constant, NULL},
    {"filled", 2, 2, filled_constant, NULL},
    {"sliced", 5, 5, sliced_constant, NULL},
    {"is_float", 1, 1, is_float_constant, NULL},
    {"rounded", 2, 2, rounded_constant, NULL},
    {"abs_rel", 2, 2, abs_rel_constant, NULL},
    {"abs_rel_any", 2, 2, abs_rel_any_constant, NULL},
    {"allclose", 2, 2, allclose_constant, NULL},
    {"rel_max1", 1, 1, rel_max1_constant, NULL},
    {"share", 1, 1, share_constant, NULL},
    {"full", 1, 1, full_constant, NULL},
    {"zeros", 0, 0, zeros_constant, NULL},
    {"ones", 0, 0, ones_constant, NULL},
    {"arange", 0, 0, NULL, arange_block},
    {"rand", 0, 0, NULL, rand_block},
    {"uniform", 2, 2, NULL, uniform_block},
    {"randn", 0, 2, NULL, randn_block},
    {"randint", 2, 2, NULL, randint_block},
    {"randbool", 0, 0, NULL, randbool_block},
    {"choose", 1, 8, NULL, choose_block},
    {"plant", 2, 8, NULL, plant_block},
    {"ending", 2, 2, NULL, ending_block},
    {"rare", 3, 3, NULL, rare_block},
    {"shuffled", 0, 0, NULL, shuffled_block},
    {"sorted", 1, 1, NULL, sorted_block},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

const struct expr_function *expr_function_at(int index)
{
    return index < FUNCTIONS ? &functions[index] : NULL;
}

const struct expr_function *expr_function_find(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

bool expr_function_whole(const struct expr_function *function)
{
    return function->block == sorted_block;
}
