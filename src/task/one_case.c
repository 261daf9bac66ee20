/* A task of one case: what need not be right in any other one may be made for it alone. */
#include "task/task_internal.h"

#include <string.h>

static bool has_type(const struct task_argument *argument, enum akgen_dtype type)
{
    return !argument->count || argument->tensors[0].type == type;
}

/* The combination of data types that the case has; -1: the OpDef offers none such. */
static int combination_of(const struct task *task, const struct task_instance *instance)
{
    for (int row = 0; row < task->combination_count; row++) {
        bool same = true;
        for (int i = 0; i < task->input_count && same; i++)
            same = has_type(&instance->inputs[i], task->inputs[i].types[row]);
        for (int i = 0; i < task->output_count && same; i++)
            same = task->outputs[i].type_count <= row || has_type(&instance->outputs[i], task->outputs[i].types[row]);
        if (same)
            return row;
    }
    return -1;
}

static struct task_param *params_of(struct arena *arena, const struct task_param *params, int count, int row)
{
    struct task_param *kept = arena_copy(arena, params, sizeof *params * (size_t)count);
    for (int i = 0; i < count; i++)
        if (row >= 0 && row < kept[i].type_count) {
            kept[i].types += row;
            kept[i].type_count = 1;
        }
    return kept;
}

struct akgen_error *task_of_case(struct arena *arena, const struct task *task, int id, struct task *copy)
{
    struct task_case *task_case = NULL;
    struct task_instance *instance;
    *copy = *task;
    for (int i = 0; i < task->case_count && !task_case; i++)
        if (task->cases[i].id == id)
            task_case = &task->cases[i];
    if (!task_case)
        return error_new("%s: no case %d", task->name, id);
    struct akgen_error *error = task_instance_shapes(task, task_case, &instance);
    if (error)
        return error;
    int row = combination_of(task, instance);
    copy->cases = task_case;
    copy->case_count = 1;
    copy->inputs = params_of(arena, task->inputs, task->input_count, row);
    for (int i = 0; i < task->input_count; i++)
        copy->inputs[i].optional &= !instance->inputs[i].count;
    task_instance_free(instance);
    if (row < 0)
        return NULL;
    copy->outputs = params_of(arena, task->outputs, task->output_count, row);
    copy->combinations = task->combinations + row;
    copy->combination_count = 1;
    return NULL;
}
