/* Judging outputs: which tensors are compared with which, by which rule, and what is said about them. The two ways of
 * judging are compare_upstream.c and compare_strict.c. docs/tasks.md, Judging. */
#include "task/compare_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEEP_MOVE 0x1p-21 /* four units of float32's rounding: what reducing an argument may cost */
#define JUMP_LEAN  0x1p-18 /* what several steps in float32 may cost, in proportion to what is rounded or compared */

void pair_note(struct pair *pair, int64_t index, double expected, double actual, double abs, double rel, bool wrong)
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
    pattern_note(&pair->pattern, pair->expected, index, expected, actual);
    const bool first = result->wrong++ == 0;
    if (!first && (result->output != pair->output || result->tensor != pair->tensor))
        return;
    const double ulps = task_ulps(pair->actual->type, actual, expected);
    if (first) {
        result->ok = false;
        result->output = pair->output;
        result->tensor = pair->tensor;
        result->output_name = pair->instance->task->outputs[pair->output].name;
        result->index = index;
        result->expected = expected;
        result->actual = actual;
        result->type = pair->actual->type;
        result->ulps = ulps;
    }
    if (first || ulps > result->worst.ulps) {
        result->worst.index = index;
        result->worst.expected = expected;
        result->worst.actual = actual;
        result->worst.ulps = ulps;
    }
}

/* Where a module's result is real and the operator's complex64, its real parts are compared (AbsMath). */
static void read_actual(const struct pair *pair, int64_t first, int n, double *actual)
{
    if (pair->actual->type != AKGEN_COMPLEX64 || task_scalars(pair->actual) == task_scalars(pair->expected)) {
        task_read_double(pair->actual, first, n, actual);
        return;
    }
    double parts[2 * COMPARE_BLOCK];
    task_read_double(pair->actual, 2 * first, 2 * n, parts);
    for (int i = 0; i < n; i++)
        actual[i] = parts[2 * i];
}

/* All elements of a pair, block by block. */
static void judge_elements(struct pair *pair, enum task_profile profile)
{
    bool floating = task_is_float(pair->expected->type) || task_is_float(pair->actual->type);
    bool strict = profile == TASK_STRICT;
    int64_t scalars = task_scalars(pair->expected);
    double expected[COMPARE_BLOCK], actual[COMPARE_BLOCK];
    for (int64_t first = 0; first < scalars; first += COMPARE_BLOCK) {
        int n = scalars - first < COMPARE_BLOCK ? (int)(scalars - first) : COMPARE_BLOCK;
        if (!floating) {
            (strict ? strict_judge_integers : upstream_judge_integers)(pair, first, n);
            continue;
        }
        task_read_double(pair->expected, first, n, expected);
        read_actual(pair, first, n, actual);
        (strict ? strict_judge_numbers : upstream_judge_numbers)(pair, first, n, expected, actual);
    }
    pair->result->elements += (uint64_t)scalars;
}

/* Positions are right if they point to what the expected ones point to. The values are the caller's to free. */
static struct task_tensor forgiven_positions(const struct pair *pair)
{
    const struct task_instance *instance = pair->instance;
    const struct task_param *output = &instance->task->outputs[pair->output];
    int dim = (int)json_integer_value(instance->attrs[output->along]);
    return task_forgive_ties(&instance->inputs[output->points_into].tensors[0], dim, pair->expected, pair->actual);
}

static void judge_pair(struct pair *pair, enum task_profile profile)
{
    const struct task_tensor *given = pair->actual;
    struct task_tensor forgiven = {0};
    struct task_mismatch before = *pair->result;
    if (pair->instance->task->outputs[pair->output].points_into != TASK_NONE) {
        forgiven = forgiven_positions(pair);
        pair->actual = &forgiven;
    }
    judge_elements(pair, profile);
    if (profile == TASK_UPSTREAM)
        upstream_finish(pair, &before);
    pair->actual = given;
    free(forgiven.values);
}

void task_strict_moved(const struct task_instance *instance, struct task_argument *moved[TASK_MOVED])
{
    bool steep = false, leans = task_formulas_jump(instance);
    for (int i = 0; i < instance->task->output_count; i++)
        steep |= instance->task->outputs[i].steep;
    moved[0] = steep ? task_reference_moved(instance, STEEP_MOVE, NULL, NULL) : NULL;
    moved[1] = leans ? task_reference_leaning(instance, -JUMP_LEAN) : NULL;
    moved[2] = leans ? task_reference_leaning(instance, JUMP_LEAN) : NULL;
    moved[3] = task_reference_rounded(instance);
}

static void explain(const struct task_instance *instance, struct task_mismatch *result)
{
    if (result->ok)
        return;
    bool list = instance->task->outputs[result->output].kind == TASK_TENSOR_LIST;
    char place[64] = "";
    if (list)
        snprintf(place, sizeof place, " of tensor %d", result->tensor);
    distance_tell(result);
    snprintf(result->reason, sizeof result->reason,
             "%s: element %" PRId64 "%s is %.9g, expected %.9g %s; %" PRIu64 " of %" PRIu64 " elements are wrong",
             result->output_name, result->index, place, result->actual, result->expected, result->distance,
             result->wrong, result->elements);
}

void task_compare(const struct task_instance *instance, enum task_profile profile, const struct task_argument *expected,
                  const struct task_argument *actual, struct task_mismatch *result)
{
    struct task_argument *moved[TASK_MOVED] = {0};
    double sum = 0;
    if (profile == TASK_STRICT)
        task_strict_moved(instance, moved);
    *result = (struct task_mismatch){.ok = true};
    for (int i = 0; i < instance->task->output_count; i++)
        for (int t = 0; t < expected[i].count; t++) {
            const struct task_param *output = &instance->task->outputs[i];
            const struct task_argument *source = output->made_of == TASK_NONE ? NULL : &actual[output->made_of];
            struct pair pair = {.instance = instance,
                                .expected = &expected[i].tensors[t],
                                .actual = &actual[i].tensors[t],
                                .output = i,
                                .tensor = t,
                                .result = result};
            for (int m = 0; m < TASK_MOVED; m++)
                if (moved[m] && (m > 0 || output->steep))
                    pair.moved[m] = &moved[m][i].tensors[t];
            pair.type = upstream_promote(pair.expected->type, pair.actual->type);
            if (profile == TASK_STRICT && task_is_float(pair.expected->type))
                strict_set_limit(&pair, expected[i].terms, source && source->count ? source->tensors : NULL);
            bool first = result->ok;
            judge_pair(&pair, profile);
            if (first && !result->ok)
                pattern_tell(&pair.pattern, pair.expected, result->where, sizeof result->where);
            sum += pair.sum;
        }
    result->mean_abs = result->elements ? sum / (double)result->elements : 0;
    explain(instance, result);
    for (int m = 0; m < TASK_MOVED; m++)
        task_outputs_free(moved[m]);
}
