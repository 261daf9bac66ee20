/* Would a candidate that does no work be right? Outputs that are all zero, all one, or a copy of an input are compared
 * with the golden reference: a task that accepts one of them measures nothing, unless its contract says so
 * (`trivial:`). */
#include "task/task_internal.h"

#include <stdlib.h>
#include <string.h>

/* The input tensor that output tensor `t` would be a copy of: same type and number of elements; NULL if there is
 * none. */
static const struct task_tensor *copied_input(const struct task_instance *instance, const struct task_tensor *output,
                                              int t)
{
    for (int i = 0; i < instance->task->input_count; i++) {
        const struct task_argument *input = &instance->inputs[i];
        if (t < input->count && input->tensors[t].type == output->type &&
            input->tensors[t].elements == output->elements)
            return &input->tensors[t];
    }
    return NULL;
}

/* Fills one output tensor; false if the candidate does not apply. */
static bool fill(const struct task_instance *instance, int candidate, struct task_tensor *output, int t)
{
    enum { CHUNK = 1024 };
    double ones[CHUNK];
    size_t bytes = (size_t)output->elements * akgen_dtype_size(output->type);
    const struct task_tensor *input = candidate == TASK_TRIVIAL_COPY ? copied_input(instance, output, t) : NULL;
    output->values = calloc(bytes ? bytes : 1, 1);
    if (!output->values)
        abort();
    if (candidate == TASK_TRIVIAL_COPY && input)
        memcpy(output->values, input->values, bytes);
    for (int i = 0; i < CHUNK; i++)
        ones[i] = 1;
    for (int64_t at = 0; candidate == TASK_TRIVIAL_ONE && at < task_scalars(output); at += CHUNK) {
        int64_t left = task_scalars(output) - at;
        task_write_double(output, at, (int)(left < CHUNK ? left : CHUNK), ones);
    }
    return candidate != TASK_TRIVIAL_COPY || input;
}

static bool accepted(const struct task_instance *instance, const struct task_argument *expected, int candidate)
{
    const struct task *task = instance->task;
    struct arena arena = {0};
    struct task_argument *actual = arena_alloc(&arena, sizeof *actual * (size_t)(task->output_count + 1));
    bool applies = true;
    for (int i = 0; i < task->output_count; i++) {
        actual[i].count = instance->outputs[i].count;
        actual[i].tensors = arena_alloc(&arena, sizeof *actual[i].tensors * (size_t)(actual[i].count + 1));
        for (int t = 0; t < actual[i].count; t++) {
            actual[i].tensors[t] = instance->outputs[i].tensors[t];
            applies &= fill(instance, candidate, &actual[i].tensors[t], t);
        }
    }
    struct task_mismatch mismatch;
    if (applies)
        task_compare(instance, TASK_STRICT, expected, actual, &mismatch);
    for (int i = 0; i < task->output_count; i++)
        for (int t = 0; t < actual[i].count; t++)
            free(actual[i].tensors[t].values);
    arena_free(&arena);
    return applies && mismatch.ok;
}

/* Tries the candidates that are still alive on one run of a case; a rejected one dies. */
static struct akgen_error *try_case(const struct task *task, const struct task_case *task_case, uint64_t seed,
                                    bool alive[TASK_TRIVIALS])
{
    struct task_instance *instance = NULL;
    struct akgen_error *error = task_instance_make(task, task_case, seed, false, &instance);
    struct task_argument *expected = error ? NULL : task_reference(instance, TASK_STRICT);
    for (int candidate = 0; candidate < TASK_TRIVIALS && !error; candidate++)
        alive[candidate] = alive[candidate] && accepted(instance, expected, candidate);
    task_outputs_free(expected);
    task_instance_free(instance);
    return error;
}

static bool any(const bool alive[TASK_TRIVIALS])
{
    return alive[TASK_TRIVIAL_ZERO] || alive[TASK_TRIVIAL_ONE] || alive[TASK_TRIVIAL_COPY];
}

struct akgen_error *task_check_trivial(const struct task *task)
{
    bool alive[TASK_TRIVIALS] = {true, true, true};
    struct akgen_error *error = NULL;
    for (int i = 0; i < task->case_count && !error && any(alive); i++) {
        error = try_case(task, &task->cases[i], 0, alive);
        if (!error && any(alive))
            error = try_case(task, &task->cases[i], 1 | TASK_OTHER_VALUES, alive);
    }
    for (int candidate = 0; candidate < TASK_TRIVIALS && !error; candidate++) {
        bool known = task->trivial >> candidate & 1;
        if (alive[candidate] && !known)
            error = error_new("the candidate '%s' (see docs/tasks.md, trivial) passes the strict check of every case",
                              task_trivial_names[candidate]);
        else if (known && !alive[candidate])
            error = error_new("task.yaml lists '%s' as trivial, but the strict check rejects it",
                              task_trivial_names[candidate]);
    }
    return error;
}
