/* The strict judgment: against float64, with limits relative to the output's scale. */
#include "task/compare_internal.h"

#include <math.h>
#include <string.h>

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
     * each rounded, leave a deviation of sqrt(n / 6) units beside the sum's own size; 5 of them in 8 sqrt(n) / 4. Lanes in a tree
     * add up n / 64 or fewer of them one after the other. float32 has 1024 units within its limit, not 8: sums of fewer than 2^24 terms
     * stay within it. A sum of half numbers in half ends at 2^16 terms, of which each is half a unit of the sum: a longer one is added up in
     * float32. */
    bool wide = type == AKGEN_FLOAT || type == AKGEN_DOUBLE;
    double lanes = serial ? 4 : 64, growth = sqrt(wide ? depth : fmin(depth, 0x1p16)) / (wide ? lanes * 64 : lanes);
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
    double sum = 0, values[COMPARE_BLOCK];
    int64_t finite = 0;
    for (int64_t first = 0; first < expected->elements; first += COMPARE_BLOCK) {
        int n = expected->elements - first < COMPARE_BLOCK ? (int)(expected->elements - first) : COMPARE_BLOCK;
        task_read_double(expected, first, n, values);
        for (int i = 0; i < n; i++)
            if (isfinite(values[i]) && fabs(values[i]) < overflow(type)) {
                sum += values[i] * values[i];
                finite++;
            }
    }
    return finite ? sqrt(sum / (double)finite) : 0;
}

void strict_set_limit(struct pair *pair, double terms, const struct task_tensor *made_of)
{
    const struct task_param *param = &pair->instance->task->outputs[pair->output];
    enum akgen_dtype type = pair->actual->type, stored = made_of ? made_of->type : type;
    double limit = relative_limit(type, pair->instance->judging[pair->output].depth, param->serial);
    /* At least 4 units of rounding of what the source is stored in. */
    pair->relative = fmax(limit, stored == AKGEN_FLOAT16 ? 0x1p-9 : stored == AKGEN_BF16 ? 0x1p-6 : 0);
    pair->scale = fmax(scale_of(pair->expected, type), terms);
}

void strict_judge_numbers(struct pair *pair, int64_t first, int n, const double *expected, const double *actual)
{
    enum akgen_dtype type = pair->actual->type;
    bool quantized = !task_is_float(type); /* golden is not rounded to an integer: a tie may go either way */
    double slack = quantized ? 0.5 : resolution(type);
    /* No input is nan: the operation has no value there (inf - inf, 0 * inf), and none is asked for. */
    bool open_nan = pair->instance->task_case->variant == TASK_LIMIT_VALUES;
    double moved[TASK_MOVED][COMPARE_BLOCK];
    for (int m = 0; m < TASK_MOVED; m++)
        if (pair->moved[m])
            task_read_double(pair->moved[m], first, n, moved[m]);
    for (int i = 0; i < n; i++) {
        double e = expected[i], a = actual[i];
        if (e == a || (isnan(e) && (isnan(a) || open_nan)))
            continue;
        double limit = slack + pair->relative * (fabs(e) + pair->scale);
        double away = 0;
        for (int m = 0; m < TASK_MOVED && isfinite(e); m++)
            away = pair->moved[m] ? fmax(away, fabs(moved[m][i] - e)) : away;
        limit += away;
        if (isinf(a) && e * a > 0 && fabs(e) + limit >= overflow(type)) /* it overflows, or may */
            continue;
        bool finite = isfinite(e) && isfinite(a);
        double abs = fabs(e - a);
        pair->result->not_finite += !finite;
        pair_note(pair, first + i, e, a, abs, abs / fabs(e), !finite || abs > limit);
    }
}

void strict_judge_integers(struct pair *pair, int64_t first, int n)
{
    int64_t expected[COMPARE_BLOCK], actual[COMPARE_BLOCK], least[COMPARE_BLOCK], most[COMPARE_BLOCK];
    int64_t moved[COMPARE_BLOCK];
    task_read_integer(pair->expected, first, n, expected);
    task_read_integer(pair->actual, first, n, actual);
    memcpy(least, expected, sizeof *least * (size_t)n);
    memcpy(most, expected, sizeof *most * (size_t)n);
    for (int m = 0; m < TASK_MOVED; m++) {
        if (!pair->moved[m])
            continue;
        task_read_integer(pair->moved[m], first, n, moved);
        for (int i = 0; i < n; i++) {
            least[i] = moved[i] < least[i] ? moved[i] : least[i];
            most[i] = moved[i] > most[i] ? moved[i] : most[i];
        }
    }
    for (int i = 0; i < n; i++)
        if (actual[i] < least[i] || actual[i] > most[i])
            pair_note(pair, first + i, (double)expected[i], (double)actual[i],
                      fabs((double)expected[i] - (double)actual[i]), 0, true);
}

struct task_strict_limit task_strict_limit(const struct task_instance *instance, const struct task_argument *golden,
                                           int output, int tensor)
{
    const struct task_param *param = &instance->task->outputs[output];
    struct pair pair = {.instance = instance,
                        .expected = &golden[output].tensors[tensor],
                        .actual = &instance->outputs[output].tensors[tensor],
                        .output = output,
                        .tensor = tensor};
    enum akgen_dtype type = pair.actual->type;
    if (!task_is_float(pair.expected->type))
        return (struct task_strict_limit){.overflow = INFINITY};
    const struct task_argument *source = param->made_of == TASK_NONE ? NULL : &instance->outputs[param->made_of];
    strict_set_limit(&pair, golden[output].terms, source && source->count ? source->tensors : NULL);
    return (struct task_strict_limit){.slack = task_is_float(type) ? resolution(type) : 0.5,
                                      .relative = pair.relative,
                                      .scale = pair.scale,
                                      .overflow = overflow(type),
                                      .open_nan = instance->task_case->variant == TASK_LIMIT_VALUES};
}
