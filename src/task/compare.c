/* Judging outputs. Upstream: NPUKernelBench's check_precision and its variants, in the tensors' own types (rounding and
 * wrapping as torch does). Strict: against float64 with limits relative to the output's scale. docs/tasks.md. */
#include "task/expr/expr.h"
#include "task/task_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };
#define STEEP_MOVE 0x1p-21 /* four units of float32's rounding: what reducing an argument may cost */

/* abs_rel: wrong if abs > abs_limit and rel > rel_limit, or anything is not finite.
 * abs_rel_any: the same without the clause about finite numbers.
 * allclose: torch.allclose(expected, actual): wrong if abs > abs_limit + rel_limit * |actual|; inf equals inf, nan
 * nothing.
 * rel_max1: wrong if abs > rel_limit * max(1, |expected|); nothing is said about nan, as upstream.
 * share: a tensor is wrong if in more than `limit` of its elements abs exceeds the limit, and in more than that share
 * the error relative to the larger of the two values does; nan exceeds nothing. */
struct check {
    bool max1;
    bool share;
    bool allclose;
    bool any; /* infinities and nan are no fault by themselves */
    double abs_limit, rel_limit;
};

/* One pair of tensors under comparison. */
struct pair {
    const struct task_tensor *expected, *actual;
    enum akgen_dtype type;           /* in which differences are taken */
    struct check check;              /* upstream */
    double scale, relative;          /* strict: the limit is relative * (|expected| + scale) */
    const struct task_tensor *moved; /* strict: what the inputs' rounding may make of expected, or NULL */
    bool open_nan;                   /* strict: where nan is expected anything is right */
    int output, tensor;
    const char *name;
    struct task_mismatch *result;
    double sum;                  /* of finite absolute differences */
    uint64_t over_abs, over_rel; /* share: elements over the limit */
};

static void note_difference(struct pair *pair, int64_t index, double expected, double actual, double abs, double rel,
                            bool wrong)
{
    struct task_mismatch *result = pair->result;
    if (isfinite(abs)) {
        pair->sum += abs;
        result->max_abs = abs > result->max_abs ? abs : result->max_abs;
    }
    if (isfinite(rel))
        result->max_rel = rel > result->max_rel ? rel : result->max_rel;
    if (!wrong)
        return;
    if (result->wrong++ == 0) {
        result->ok = false;
        result->output = pair->output;
        result->tensor = pair->tensor;
        result->output_name = pair->name;
        result->index = index;
        result->expected = expected;
        result->actual = actual;
    }
}

/* share: counts, and names the first element over either limit. */
static void count_shares(struct pair *pair, int64_t index, double expected, double actual, double abs, double rel)
{
    bool over_abs = abs > pair->check.abs_limit, over_rel = rel > pair->check.rel_limit;
    pair->over_abs += over_abs;
    pair->over_rel += over_rel;
    note_difference(pair, index, expected, actual, abs, rel, over_abs || over_rel);
}

/* Upstream. */
static double round_in(enum akgen_dtype type, double value)
{
    return type == AKGEN_DOUBLE ? value : (double)task_round(type, (float)value);
}

static void judge_float(struct pair *pair, int64_t first, int n, const double *expected, const double *actual)
{
    enum akgen_dtype type = pair->type;
    double epsilon = round_in(type, 1e-7), abs_limit = round_in(type, pair->check.abs_limit);
    double rel_limit = round_in(type, pair->check.rel_limit);
    for (int i = 0; i < n; i++) {
        double e = expected[i], a = actual[i];
        if (e == a && !isinf(e)) /* the common case; differences are 0 */
            continue;
        double abs = round_in(type, fabs(round_in(type, e - a)));
        double rel = round_in(type, abs / round_in(type, fabs(e) + epsilon));
        bool finite = isfinite(e) && isfinite(a) && isfinite(abs) && isfinite(rel);
        if (pair->check.share) {
            count_shares(pair, first + i, e, a, abs, abs / (fmax(fabs(e), fabs(a)) + epsilon));
            continue;
        }
        bool wrong = pair->check.max1 ? abs > round_in(type, rel_limit * fmax(1, fabs(e)))
                     : pair->check.allclose
                         ? e != a && (!finite || abs > round_in(type, abs_limit + round_in(type, rel_limit * fabs(a))))
                         : (!finite && !pair->check.any) || (abs > abs_limit && rel > rel_limit);
        pair->result->not_finite += !finite;
        note_difference(pair, first + i, e, a, abs, rel, wrong);
    }
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
        bool wrong =
            !finite || (abs > (double)(float)pair->check.abs_limit && rel > (double)(float)pair->check.rel_limit);
        pair->result->not_finite += !finite;
        for (int part = 0; part < 2; part++)
            note_difference(pair, first + i + part, e[part], a[part], abs, rel, wrong);
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

static void judge_integer(struct pair *pair, int64_t first, int n)
{
    int64_t expected[BLOCK], actual[BLOCK];
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
        if (pair->check.share) {
            int64_t size_e = e < 0 ? wrap(type, -e) : e, size_a = a < 0 ? wrap(type, -a) : a;
            float larger = (float)(size_e > size_a ? size_e : size_a);
            count_shares(pair, first + i, (double)e, (double)a, (double)abs, (float)abs / (larger + 1e-7f));
            continue;
        }
        bool wrong = pair->check.max1 ? (double)abs > pair->check.rel_limit * fmax(1, fabs((double)e))
                                      : (float)abs > (float)pair->check.abs_limit && rel > (float)pair->check.rel_limit;
        note_difference(pair, first + i, (double)e, (double)a, (double)abs, rel, wrong);
    }
}

/* torch's type promotion for the pairs that occur: the wider float; float over integer; the wider integer. */
static enum akgen_dtype promote(enum akgen_dtype a, enum akgen_dtype b)
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

static struct check check_of(const struct task_instance *instance, struct arena *arena)
{
    struct check check = {.abs_limit = 1e-3, .rel_limit = 1e-3};
    struct expr_scope scope = {.arena = arena,
                               .columns = instance->task_case->columns,
                               .values = instance->values,
                               .column_count = instance->task_case->column_count};
    struct expr_value value;
    struct akgen_error *error = expr_eval_text(instance->task->check, &scope, &value);
    if (!error && value.kind == EXPR_LIST && value.count >= 2) {
        check.max1 = strcmp(value.items[0].text, "rel_max1") == 0;
        check.any = strcmp(value.items[0].text, "abs_rel_any") == 0;
        check.share = strcmp(value.items[0].text, "share") == 0;
        check.allclose = strcmp(value.items[0].text, "allclose") == 0;
        check.abs_limit = expr_number(&value.items[1]);
        check.rel_limit = expr_number(&value.items[value.count - 1]);
    }
    error_free(error);
    return check;
}

/* Strict. */
/* The limit for an element is relative * (|expected| + scale), scale being the root mean square of the expected tensor,
 * or the size of its terms where they are larger: what is left of them has the error of their rounding.
 * Per type: 8 units of rounding for half (a chain of native half instructions), 4 for bfloat16 (computed in float32,
 * rounded once), 2^-14 for float32 (the vector unit's exp, ln and division are approximations). */
static double relative_limit(enum akgen_dtype type, double depth, bool serial)
{
    double limit = type == AKGEN_FLOAT16  ? 0x1p-8
                   : type == AKGEN_BF16   ? 0x1p-6
                   : type == AKGEN_DOUBLE ? 0x1p-30
                                          : 0x1p-14;
    /* Rounding errors of a sum grow with the root of its length. n terms one after the other: partial sums of k terms,
     * each rounded, leave a deviation of sqrt(n / 6) units beside the sum's own size; 5 of them in 8 sqrt(n) / 4. */
    double growth = sqrt(depth) / (serial ? 4 : 64);
    return growth > 1 ? limit * growth : limit;
}

/* What a type resolves near zero: half is coarse there, its normal numbers end at 2^-14, those of the wider types at
 * 2^-126. */
static double resolution(enum akgen_dtype type)
{
    return type == AKGEN_FLOAT16 ? 0x1p-24 : type == AKGEN_FLOAT || type == AKGEN_BF16 ? 0x1p-126 : 0;
}

/* From here on a magnitude rounds to infinity in the type: halfway between its largest number and the next. */
static double overflow(enum akgen_dtype type)
{
    return type == AKGEN_FLOAT16                            ? 65520
           : type == AKGEN_BF16                             ? 0x1.ffp127
           : type == AKGEN_FLOAT || type == AKGEN_COMPLEX64 ? 0x1.ffffffp127
                                                            : INFINITY;
}

/* Root mean square of what is finite in the output's type. */
static double scale_of(const struct task_tensor *expected, enum akgen_dtype type)
{
    double sum = 0, values[BLOCK];
    int64_t finite = 0;
    for (int64_t first = 0; first < expected->elements; first += BLOCK) {
        int n = expected->elements - first < BLOCK ? (int)(expected->elements - first) : BLOCK;
        task_read_double(expected, first, n, values);
        for (int i = 0; i < n; i++)
            if (isfinite(values[i]) && fabs(values[i]) < overflow(type)) {
                sum += values[i] * values[i];
                finite++;
            }
    }
    return finite ? sqrt(sum / (double)finite) : 0;
}

static void judge_strict(struct pair *pair, int64_t first, int n, const double *expected, const double *actual)
{
    enum akgen_dtype type = pair->actual->type;
    bool quantized = !task_is_float(type); /* golden is not rounded to an integer: a tie may go either way */
    double slack = quantized ? 0.5 : resolution(type);
    double moved[BLOCK];
    if (pair->moved)
        task_read_double(pair->moved, first, n, moved);
    for (int i = 0; i < n; i++) {
        double e = expected[i], a = actual[i];
        if (e == a || (isnan(e) && (isnan(a) || pair->open_nan)))
            continue;
        double limit = slack + pair->relative * (fabs(e) + pair->scale);
        if (pair->moved && isfinite(e))
            limit += fabs(moved[i] - e);
        if (isinf(a) && e * a > 0 && fabs(e) + limit >= overflow(type)) /* it overflows, or may */
            continue;
        bool finite = isfinite(e) && isfinite(a);
        double abs = fabs(e - a);
        pair->result->not_finite += !finite;
        note_difference(pair, first + i, e, a, abs, abs / fabs(e), !finite || abs > limit);
    }
}

static void judge_exact(struct pair *pair, int64_t first, int n)
{
    int64_t expected[BLOCK], actual[BLOCK];
    task_read_integer(pair->expected, first, n, expected);
    task_read_integer(pair->actual, first, n, actual);
    for (int i = 0; i < n; i++)
        if (expected[i] != actual[i])
            note_difference(pair, first + i, (double)expected[i], (double)actual[i],
                            fabs((double)expected[i] - (double)actual[i]), 0, true);
}

static double depth_of(const struct task_instance *instance, int output, struct arena *arena)
{
    struct expr_scope scope = {.arena = arena,
                               .columns = instance->task_case->columns,
                               .values = instance->values,
                               .column_count = instance->task_case->column_count};
    struct expr_value value;
    struct akgen_error *error = expr_eval_text(instance->task->outputs[output].depth, &scope, &value);
    double depth = !error && expr_is_number(&value) ? expr_number(&value) : 1;
    error_free(error);
    return depth;
}

/* The limit of the output's type; at least 4 units of rounding of the type that what it is `made_of` is stored in. */
static double strict_limit(const struct task_instance *instance, int output, const struct task_argument *actual,
                           enum akgen_dtype type, struct arena *arena)
{
    const struct task_param *param = &instance->task->outputs[output];
    double depth = depth_of(instance, output, arena), limit = relative_limit(type, depth, param->serial);
    const struct task_argument *source =
        param->made_of ? &actual[task_output_index(instance->task, param->made_of)] : NULL;
    enum akgen_dtype stored = source && source->count ? source->tensors[0].type : type;
    return fmax(limit, stored == AKGEN_FLOAT16 ? 0x1p-9 : stored == AKGEN_BF16 ? 0x1p-6 : 0);
}

/* Both. */
/* Where a module's result is real and the operator's complex64, its real parts are compared (AbsMath). */
static void read_actual(const struct pair *pair, int64_t first, int n, double *actual)
{
    if (pair->actual->type != AKGEN_COMPLEX64 || task_scalars(pair->actual) == task_scalars(pair->expected)) {
        task_read_double(pair->actual, first, n, actual);
        return;
    }
    double parts[2 * BLOCK];
    task_read_double(pair->actual, 2 * first, 2 * n, parts);
    for (int i = 0; i < n; i++)
        actual[i] = parts[2 * i];
}

static void judge_tensor(struct pair *pair, enum task_profile profile)
{
    bool floating = task_is_float(pair->expected->type) || task_is_float(pair->actual->type);
    int64_t scalars = task_scalars(pair->expected);
    double expected[BLOCK], actual[BLOCK];
    for (int64_t first = 0; first < scalars; first += BLOCK) {
        int n = scalars - first < BLOCK ? (int)(scalars - first) : BLOCK;
        if (!floating) {
            if (profile == TASK_STRICT)
                judge_exact(pair, first, n);
            else
                judge_integer(pair, first, n);
            continue;
        }
        task_read_double(pair->expected, first, n, expected);
        read_actual(pair, first, n, actual);
        if (profile == TASK_STRICT)
            judge_strict(pair, first, n, expected, actual);
        else if (pair->type == AKGEN_COMPLEX64 && !pair->check.max1)
            judge_complex(pair, first, n, expected, actual);
        else
            judge_float(pair, first, n, expected, actual);
    }
    pair->result->elements += (uint64_t)scalars;
}

static void explain(const struct task_instance *instance, struct task_mismatch *result)
{
    if (result->ok)
        return;
    bool list = instance->task->outputs[result->output].kind == TASK_TENSOR_LIST;
    char place[64] = "";
    if (list)
        snprintf(place, sizeof place, " of tensor %d", result->tensor);
    snprintf(result->reason, sizeof result->reason,
             "%s: element %" PRId64 "%s is %.9g, expected %.9g; %" PRIu64 " of %" PRIu64 " elements are wrong",
             result->output_name, result->index, place, result->actual, result->expected, result->wrong,
             result->elements);
}

/* Few enough elements are over the limits: no mismatch after all. */
static void forgive(struct task_mismatch *result, const struct task_mismatch *before)
{
    result->wrong = before->wrong;
    result->ok = before->ok;
}

void task_compare(const struct task_instance *instance, enum task_profile profile, const struct task_argument *expected,
                  const struct task_argument *actual, struct task_mismatch *result)
{
    struct arena arena = {0};
    struct check check = check_of(instance, &arena);
    struct task_argument *moved = NULL;
    double sum = 0;
    *result = (struct task_mismatch){.ok = true};
    for (int i = 0; profile == TASK_STRICT && !moved && i < instance->task->output_count; i++)
        if (instance->task->outputs[i].steep)
            moved = task_reference_moved(instance, STEEP_MOVE, NULL, NULL);
    for (int i = 0; i < instance->task->output_count; i++)
        for (int t = 0; t < expected[i].count; t++) {
            struct pair pair = {.expected = &expected[i].tensors[t],
                                .actual = &actual[i].tensors[t],
                                .check = check,
                                .output = i,
                                .tensor = t,
                                .name = instance->task->outputs[i].name,
                                .result = result};
            pair.type = promote(pair.expected->type, pair.actual->type);
            pair.moved = moved && instance->task->outputs[i].steep ? &moved[i].tensors[t] : NULL;
            /* No input is nan: the operation has no value there (inf - inf, 0 * inf), and none is asked for. */
            pair.open_nan = instance->task_case->variant == TASK_LIMIT_VALUES;
            if (profile == TASK_STRICT && task_is_float(pair.expected->type)) {
                pair.scale = fmax(scale_of(pair.expected, pair.actual->type), expected[i].terms);
                pair.relative = strict_limit(instance, i, actual, pair.actual->type, &arena);
            }
            const char *target = instance->task->outputs[i].points_into;
            struct task_tensor forgiven = {0};
            if (target) {
                const struct task_argument *x = &instance->inputs[task_input_index(instance->task, target)];
                int dim = (int)json_integer_value(instance->attrs[task_attr_index(instance->task, "dim")]);
                forgiven = task_forgive_ties(&x->tensors[0], dim, pair.expected, pair.actual);
                pair.actual = &forgiven;
            }
            struct task_mismatch before = *result;
            judge_tensor(&pair, profile);
            free(forgiven.values);
            sum += pair.sum;
            double allowed = check.rel_limit * (double)pair.expected->elements;
            if (profile == TASK_UPSTREAM && check.share &&
                ((double)pair.over_abs <= allowed || (double)pair.over_rel <= allowed))
                forgive(result, &before);
        }
    result->mean_abs = result->elements ? sum / (double)result->elements : 0;
    explain(instance, result);
    task_outputs_free(moved);
    arena_free(&arena);
}
