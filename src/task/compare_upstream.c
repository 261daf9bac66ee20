/* Upstream's judgment: NPUKernelBench's check_precision and its variants, in the tensors' own types (rounding and
 * wrapping as torch does).
 *
 * abs_rel: wrong if abs > abs_limit and rel > rel_limit, or anything is not finite.
 * abs_rel_any: the same without the clause about finite numbers.
 * allclose: torch.allclose(expected, actual): wrong if abs > abs_limit + rel_limit * |actual|; inf equals inf, nan
 * nothing.
 * rel_max1: wrong if abs > rel_limit * max(1, |expected|); nothing is said about nan, as upstream.
 * share: a tensor is wrong if in more than `limit` of its elements abs exceeds the limit, and in more than that share
 * the error relative to the larger of the two values does; nan exceeds nothing. */
#include "task/compare_internal.h"

#include <math.h>

/* share: counts, and names the first element over either limit. */
static void count_shares(struct pair *pair, int64_t index, double expected, double actual, double abs, double rel)
{
    const struct task_check *check = &pair->instance->check;
    bool over_abs = abs > check->abs_limit, over_rel = rel > check->rel_limit;
    pair->over_abs += over_abs;
    pair->over_rel += over_rel;
    pair_note(pair, index, expected, actual, abs, rel, over_abs || over_rel);
}

/* Limits rounded to the type in which differences are taken. */
struct limits {
    enum akgen_dtype type;
    enum expr_rule rule;
    double abs, rel;
};

/* One element's errors, and the value that the error of `allclose` may grow with. */
struct difference {
    double expected, actual, abs, rel;
    bool finite;
};

static inline bool is_wrong(const struct limits *limits, const struct difference *d)
{
    enum akgen_dtype type = limits->type;
    switch (limits->rule) {
    case RULE_REL_MAX1:
        return d->abs > task_round(type, limits->rel * fmax(1, fabs(d->expected)));
    case RULE_ALLCLOSE:
        return d->expected != d->actual &&
               (!d->finite || d->abs > task_round(type, limits->abs + task_round(type, limits->rel * fabs(d->actual))));
    case RULE_ABS_REL:
        return !d->finite || (d->abs > limits->abs && d->rel > limits->rel);
    default:
        return d->abs > limits->abs && d->rel > limits->rel;
    }
}

/* Judges numbers of one type; inlined so that a constant `type` folds away. */
static inline __attribute__((always_inline)) void judge_real_in(enum akgen_dtype type, struct pair *pair, int64_t first,
                                                                int n, const double *expected, const double *actual)
{
    const struct task_check *check = &pair->instance->check;
    const struct limits limits = {type, check->rule, task_round(type, check->abs_limit),
                                  task_round(type, check->rel_limit)};
    double epsilon = task_round(type, 1e-7);
    for (int i = 0; i < n; i++) {
        double e = expected[i], a = actual[i];
        if (e == a && !isinf(e)) /* the common case; differences are 0 */
            continue;
        double abs = task_round(type, fabs(task_round(type, e - a)));
        if (check->rule == RULE_SHARE) {
            count_shares(pair, first + i, e, a, abs, abs / (fmax(fabs(e), fabs(a)) + epsilon));
            continue;
        }
        double rel = task_round(type, abs / task_round(type, fabs(e) + epsilon));
        bool finite = isfinite(e) && isfinite(a) && isfinite(abs) && isfinite(rel);
        pair->result->not_finite += !finite;
        pair_note(pair, first + i, e, a, abs, rel, is_wrong(&limits, &(struct difference){e, a, abs, rel, finite}));
    }
}

static void judge_real(struct pair *pair, int64_t first, int n, const double *expected, const double *actual)
{
    if (pair->type == AKGEN_FLOAT)
        judge_real_in(AKGEN_FLOAT, pair, first, n, expected, actual);
    else
        judge_real_in(pair->type, pair, first, n, expected, actual);
}

/* complex64 against complex64: abs is the modulus of the difference, rel is relative to the expected modulus. All in
 * float32, as torch.abs of complex64 yields. `first` counts numbers; each part of a wrong element counts as wrong. */
static void judge_complex(struct pair *pair, int64_t first, int n, const double *expected, const double *actual)
{
    for (int i = 0; i + 1 < n; i += 2) {
        const double *e = expected + i, *a = actual + i;
        if (e[0] == a[0] && e[1] == a[1] && isfinite(e[0]) && isfinite(e[1]))
            continue;
        double abs = (double)(float)hypot((double)(float)(e[0] - a[0]), (double)(float)(e[1] - a[1]));
        double rel = (double)(float)(abs / (double)(float)((double)(float)hypot(e[0], e[1]) + 1e-7));
        bool finite = isfinite(abs) && isfinite(rel);
        bool wrong = !finite || (abs > (double)(float)pair->instance->check.abs_limit &&
                                 rel > (double)(float)pair->instance->check.rel_limit);
        pair->result->not_finite += !finite;
        for (int part = 0; part < 2; part++)
            pair_note(pair, first + i + part, e[part], a[part], abs, rel, wrong);
    }
}

/* The value of an integer expression in a tensor's type. */
static int64_t wrap(enum akgen_dtype type, int64_t value)
{
    switch (type) {
    case AKGEN_INT8:
        return (int8_t)value;
    case AKGEN_UINT8:
        return (uint8_t)value;
    case AKGEN_INT16:
        return (int16_t)value;
    case AKGEN_INT64:
    case AKGEN_UINT64:
        return value;
    default:
        return (int32_t)value; /* bool became int */
    }
}

void upstream_judge_integers(struct pair *pair, int64_t first, int n)
{
    const struct task_check *check = &pair->instance->check;
    int64_t expected[COMPARE_BLOCK], actual[COMPARE_BLOCK];
    enum akgen_dtype type = pair->type;
    task_read_integer(pair->expected, first, n, expected);
    task_read_integer(pair->actual, first, n, actual);
    for (int i = 0; i < n; i++) {
        int64_t e = expected[i], a = actual[i];
        if (pair->actual->type == AKGEN_BOOL)
            a = a != 0;
        if (e == a)
            continue;
        int64_t difference = wrap(type, (int64_t)((uint64_t)e - (uint64_t)a));
        int64_t abs = difference < 0 ? wrap(type, (int64_t)(0 - (uint64_t)difference)) : difference;
        float rel = (float)abs / ((float)(e < 0 ? -(uint64_t)e : (uint64_t)e) + 1e-7f);
        if (check->rule == RULE_SHARE) {
            int64_t size_e = e < 0 ? wrap(type, -e) : e, size_a = a < 0 ? wrap(type, -a) : a;
            float larger = (float)(size_e > size_a ? size_e : size_a);
            count_shares(pair, first + i, (double)e, (double)a, (double)abs, (float)abs / (larger + 1e-7f));
            continue;
        }
        bool wrong = check->rule == RULE_REL_MAX1
                         ? (double)abs > check->rel_limit * fmax(1, fabs((double)e))
                         : (float)abs > (float)check->abs_limit && rel > (float)check->rel_limit;
        pair_note(pair, first + i, (double)e, (double)a, (double)abs, rel, wrong);
    }
}

enum akgen_dtype upstream_promote(enum akgen_dtype a, enum akgen_dtype b)
{
    if (a == b)
        return a == AKGEN_BOOL ? AKGEN_INT32 : a;
    if (a == AKGEN_DOUBLE || b == AKGEN_DOUBLE)
        return AKGEN_DOUBLE;
    if (task_is_float(a) && task_is_float(b))
        return AKGEN_FLOAT;
    if (task_is_float(a) || task_is_float(b))
        return task_is_float(a) ? a : b;
    return akgen_dtype_size(a) >= akgen_dtype_size(b) ? a : b;
}

void upstream_judge_numbers(struct pair *pair, int64_t first, int n, const double *expected, const double *actual)
{
    if (pair->type == AKGEN_COMPLEX64 && pair->instance->check.rule != RULE_REL_MAX1)
        judge_complex(pair, first, n, expected, actual);
    else
        judge_real(pair, first, n, expected, actual);
}

void upstream_finish(struct pair *pair, const struct task_mismatch *before)
{
    double allowed = pair->instance->check.rel_limit * (double)pair->expected->elements;
    if (pair->instance->check.rule != RULE_SHARE ||
        ((double)pair->over_abs > allowed && (double)pair->over_rel > allowed))
        return;
    pair->result->wrong = before->wrong; /* few enough elements are over the limits: no mismatch after all */
    pair->result->ok = before->ok;
}
