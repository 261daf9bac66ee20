/* Translation validation: what the interpreter computes, and whether a machine computed the same. */
#include "dsl/verify.h"

#include <math.h>
#include <string.h>

struct dsl_expected dsl_expect(struct arena *arena, const struct dsl_program *program,
                               const struct dsl_binding *bindings, const struct task_instance *instance,
                               const struct npu_soc *soc, int nudges, struct dsl_messages *messages)
{
    struct dsl_computed plain = dsl_compute_case(arena, program, bindings, instance, soc, 0, messages);
    struct dsl_expected expected = {.ran = plain.ran, .approximate = plain.approximate, .outputs = plain.outputs};
    for (int i = 0; expected.ran && expected.approximate && i < nudges; i++) {
        uint64_t seed = (uint64_t)(i + 1) << 48; /* the numbers behind it are for the values */
        struct dsl_computed moved = dsl_compute_case(arena, program, bindings, instance, soc, seed, messages);
        expected.ran = moved.ran;
        expected.nudged[expected.nudges++] = moved.outputs;
    }
    return expected;
}

/* How far roundings alone put a number of this type: two units of float32 (of the last operation, and of what it was given),
 * one of a narrower type that such a number is rounded to. */
static double unit_of(enum akgen_dtype type, double value)
{
    double size = fabs(value);
    switch (type) {
    case AKGEN_FLOAT16:
        return size * 0x1p-10 + 0x1p-24;
    case AKGEN_BF16:
        return size * 0x1p-7 + 0x1p-133;
    default:
        return size * 0x1p-22 + 0x1p-148;
    }
}

/* A tensor as the machine left it and as the interpreter computes it. */
struct comparison {
    const struct task_tensor *actual, *expected;
    const struct task_tensor *nudged[DSL_NUDGES_MOST];
    int nudges;
    bool approximate;
};

/* How far off element number `at`, in scalars, may be. */
static double allowed_at(const struct comparison *tensors, int64_t at, double expected)
{
    bool real = task_is_float(tensors->expected->type);
    double most = 0;
    for (int i = 0; i < tensors->nudges; i++) {
        double moved;
        int64_t integer = 0;
        if (real)
            task_read_double(tensors->nudged[i], at, 1, &moved);
        else
            task_read_integer(tensors->nudged[i], at, 1, &integer);
        double distance = fabs((real ? moved : (double)integer) - expected);
        bool same = real && (moved == expected || (isnan(moved) && isnan(expected)));
        if (!same && !(distance <= most))
            most = isnan(distance) ? INFINITY : distance;
    }
    if (isinf(most)) /* a move makes it infinite, or a number: it may be any */
        return most;
    return DSL_REACH * most + (tensors->approximate && real ? unit_of(tensors->expected->type, expected) : 0);
}

/* Whether element `at` is as it should be; the numbers go to the difference. */
static bool agrees(const struct comparison *tensors, int64_t at, struct dsl_difference *difference)
{
    if (task_is_float(tensors->expected->type)) {
        double a, b;
        task_read_double(tensors->actual, at, 1, &a);
        task_read_double(tensors->expected, at, 1, &b);
        if (a == b || (isnan(a) && isnan(b)))
            return true;
        *difference = (struct dsl_difference){.actual = a, .expected = b, .allowed = allowed_at(tensors, at, b)};
        return fabs(a - b) <= difference->allowed || isinf(difference->allowed);
    }
    int64_t a, b;
    task_read_integer(tensors->actual, at, 1, &a);
    task_read_integer(tensors->expected, at, 1, &b);
    if (a == b)
        return true;
    *difference = (struct dsl_difference){
        .actual = (double)a, .expected = (double)b, .allowed = allowed_at(tensors, at, (double)b)};
    return difference->allowed > 0 && fabs((double)a - (double)b) <= difference->allowed;
}

struct dsl_difference dsl_compare(const struct task_instance *instance, const struct dsl_expected *expected,
                                  const struct task_argument *lengths, const struct task_argument *actual)
{
    struct dsl_difference first = {0}, found;
    const struct task *task = instance->task;
    for (int o = 0; o < task->output_count; o++)
        for (int t = 0; t < actual[o].count && task_output_judged(instance, o, TASK_STRICT); t++) {
            struct comparison tensors = {.actual = &actual[o].tensors[t],
                                         .expected = &expected->outputs[o].tensors[t],
                                         .nudges = expected->nudges,
                                         .approximate = expected->approximate};
            for (int i = 0; i < tensors.nudges; i++)
                tensors.nudged[i] = &expected->nudged[i][o].tensors[t];
            int64_t scalars = task_scalars(tensors.expected);
            if (lengths && t < lengths[o].count && task_scalars(&lengths[o].tensors[t]) < scalars &&
                tensors.expected->rank == 1)
                scalars = task_scalars(&lengths[o].tensors[t]);
            for (int64_t at = 0; at < scalars; at++) {
                if (agrees(&tensors, at, &found))
                    continue;
                uint64_t before = first.elements;
                if (!before) {
                    first = found;
                    first.output = o;
                    first.tensor = t;
                    first.index = at;
                }
                first.elements = before + 1;
            }
        }
    return first;
}
