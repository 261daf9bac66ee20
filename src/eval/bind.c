/* Binding: how a task's tensors and attributes become the arguments of a candidate's operator.
 *
 * As upstream's call: tensors go to OpDef inputs and outputs by order, attributes by name or, where a candidate named
 * them differently, by order. An answer's wrapper passes attributes by the names of its constructor's arguments, or
 * constants. A task output that has no OpDef output is the memory of the input it names (operators that only write in
 * place declare no output). */
#include "eval/case_internal.h"

#include <string.h>

enum { FORMAT_ND = 2 };

static bool types_fit(const struct op_param *param, int combination, const struct task_argument *argument)
{
    for (int i = 0; i < argument->count; i++)
        if (argument->tensors[i].type != param->types[combination])
            return false;
    return true;
}

/* The rank that a ge::Format is for, 0 if it says nothing about it. */
static int format_rank(int format)
{
    enum { NCHW = 0, NHWC = 1, NDHWC = 27, NCDHW = 30 };
    return format == NCHW || format == NHWC ? 4 : format == NDHWC || format == NCDHW ? 5 : 0;
}

static bool formats_fit(const struct op_param *param, int combination, const struct task_argument *argument)
{
    int rank = format_rank(param->formats[combination]);
    for (int i = 0; i < argument->count && rank; i++)
        if (argument->tensors[i].rank != rank)
            return false;
    return true;
}

static bool combination_fits(const struct op_def *def, const struct task_instance *instance, int combination,
                             bool (*fit)(const struct op_param *, int, const struct task_argument *))
{
    const struct task *task = instance->task;
    bool fits = true;
    for (int i = 0; fits && i < def->input_count && i < task->input_count; i++)
        fits = fit(&def->inputs[i], combination, &instance->inputs[i]);
    for (int i = 0; fits && i < def->output_count && i < task->output_count; i++)
        fits = fit(&def->outputs[i], combination, &instance->outputs[i]);
    return fits;
}

int eval_combination(const struct op_def *def, const struct task_instance *instance)
{
    int first = -1;
    for (int c = 0; c < def->combinations; c++) {
        if (!combination_fits(def, instance, c, types_fit))
            continue;
        if (combination_fits(def, instance, c, formats_fit))
            return c;
        first = first < 0 ? c : first;
    }
    return first;
}

/* A tensor comes in the format of the OpDef where that one names the dimensions of a tensor of its rank, else as ND. */
static void set_format(const struct op_param *param, int combination, struct job_argument *argument)
{
    int format = param->formats[combination];
    for (int i = 0; i < argument->count; i++)
        if (format_rank(format) && argument->tensors[i].shape.rank == format_rank(format))
            argument->tensors[i].shape.format = format;
}

static struct job_argument bind_argument(struct arena *arena, const struct task_argument *argument, bool list)
{
    struct job_argument bound = {.count = argument->count, .list = list, .alias = -1};
    bound.tensors = arena_alloc(arena, sizeof *bound.tensors * (size_t)argument->count);
    for (int i = 0; i < argument->count; i++) {
        const struct task_tensor *tensor = &argument->tensors[i];
        struct op_tensor shape = {
            .type = tensor->type, .format = FORMAT_ND, .rank = tensor->rank, .values = tensor->values};
        memcpy(shape.dims, tensor->dims, sizeof(int64_t) * (size_t)tensor->rank);
        bound.tensors[i].shape = shape;
        bound.tensors[i].bytes = (uint64_t)tensor->elements * akgen_dtype_size(tensor->type);
    }
    return bound;
}

/* NULL, or why the candidate's OpDef cannot be called as the task calls its operator. */
static const char *bind_tensors(struct arena *arena, struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    const struct op_def *def = &bound->candidate->build->def;
    if (def->input_count != task->input_count)
        return arena_printf(arena, "the OpDef declares %d inputs, the task calls it with %d", def->input_count,
                            task->input_count);
    if (def->output_count > task->output_count)
        return arena_printf(arena, "the OpDef declares %d outputs, the task reads %d", def->output_count,
                            task->output_count);
    for (int i = def->output_count; i < task->output_count; i++)
        if (task->outputs[i].in_place == TASK_NONE)
            return arena_printf(arena, "the OpDef declares %d outputs, the task needs '%s' too", def->output_count,
                                task->outputs[i].name);
    bound->inputs = arena_alloc(arena, sizeof *bound->inputs * (size_t)(task->input_count + 1));
    for (int i = 0; i < task->input_count; i++) {
        const struct task_param *param = &task->inputs[i];
        bound->inputs[i] = bind_argument(arena, &bound->instance->inputs[i], param->kind == TASK_TENSOR_LIST);
        bound->inputs[i].name = def->inputs[i].name;
        bound->inputs[i].host_values =
            param->value_depend || param->kind == TASK_SCALAR || param->kind == TASK_SCALAR_LIST;
        if (def->inputs[i].value_depend && !bound->inputs[i].host_values)
            return arena_printf(arena,
                                "the OpDef says ValueDepend for '%s', but the task passes a tensor whose values only "
                                "the device has",
                                def->inputs[i].name);
    }
    bound->outputs = arena_alloc(arena, sizeof *bound->outputs * (size_t)(task->output_count + 1));
    for (int i = 0; i < task->output_count; i++) {
        const struct task_param *param = &task->outputs[i];
        bound->outputs[i] = bind_argument(arena, &bound->instance->outputs[i], param->kind == TASK_TENSOR_LIST);
        bound->outputs[i].name = i < def->output_count ? def->outputs[i].name : param->name;
        bound->outputs[i].shape_depends = i < def->output_count && def->outputs[i].shape_depends;
        if (param->in_place != TASK_NONE) {
            bound->outputs[i].alias = param->in_place;
            bound->inputs[param->in_place].written = true;
        }
        /* What no profile judges the operator may leave alone. */
        bool defined = param->zeroed || !task_output_judged(bound->instance, i, TASK_STRICT);
        for (int t = 0; t < bound->outputs[i].count; t++)
            bound->outputs[i].tensors[t].defined = defined;
    }
    return NULL;
}

/* The task's attribute of that name, or -1. */
static int find_attr(const struct task *task, const char *name)
{
    for (int t = 0; t < task->attr_count && name; t++)
        if (strcmp(task->attrs[t].name, name) == 0)
            return t;
    return -1;
}

/* What the operator finds of a value that the wrapper passes. */
static void receive(struct bound_case *bound, const struct op_wrapper_value *passed, struct op_attr *attr)
{
    if (!passed->note || !attr->value)
        return;
    json_t *value = op_wrapper_received(passed->passing, attr->value);
    if (!bound->passing && !json_equal(value, attr->value))
        bound->passing = passed->note;
    bound->received = bound->received ? bound->received : json_array();
    json_array_append_new(bound->received, value);
    attr->value = value;
}

static const char *bind_attrs(struct arena *arena, struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    const struct op_def *def = &bound->candidate->build->def;
    bound->attrs = arena_copy(arena, def->attrs, sizeof *def->attrs * (size_t)def->attr_count);
    for (int i = 0; i < def->attr_count; i++) {
        const struct op_wrapper *wrapper = bound->candidate->wrapper;
        int from = wrapper ? find_attr(task, wrapper->attrs[i].name) : -1;
        if (from < 0 && wrapper && wrapper->attrs[i].value) {
            bound->attrs[i].value = wrapper->attrs[i].value;
            receive(bound, &wrapper->attrs[i], &bound->attrs[i]);
            continue;
        }
        if (from < 0)
            from = find_attr(task, def->attrs[i].name);
        if (from < 0 && def->attr_count == task->attr_count)
            from = i;
        if (from >= 0)
            bound->attrs[i].value = bound->instance->attrs[from];
        else if (def->attrs[i].required)
            return arena_printf(arena, "the OpDef requires attribute '%s', which the task does not pass",
                                def->attrs[i].name);
        if (wrapper)
            receive(bound, &wrapper->attrs[i], &bound->attrs[i]);
    }
    return NULL;
}

const char *bind_case(struct arena *arena, struct bound_case *bound)
{
    const char *why = bind_tensors(arena, bound);
    if (!why)
        why = bind_attrs(arena, bound);
    if (why)
        return why;
    bound->combination = eval_combination(&bound->candidate->build->def, bound->instance);
    if (bound->combination < 0)
        return arena_printf(arena, "no data type combination of the OpDef fits this case (%s)",
                            eval_case_dtype(bound->instance));
    const struct op_def *def = &bound->candidate->build->def;
    for (int i = 0; i < def->input_count; i++)
        set_format(&def->inputs[i], bound->combination, &bound->inputs[i]);
    for (int i = 0; i < def->output_count; i++)
        set_format(&def->outputs[i], bound->combination, &bound->outputs[i]);
    return NULL;
}

uint64_t bind_fills(struct bound_case *bound)
{
    const struct op_def *def = &bound->candidate->build->def;
    uint64_t bytes = 0;
    for (int i = 0; i < def->output_count; i++) {
        struct job_argument *output = &bound->outputs[i];
        output->fill = def->outputs[i].fills ? &def->outputs[i].fills[bound->combination] : NULL;
        for (int t = 0; t < output->count && output->fill; t++) {
            output->tensors[t].defined = true;
            bytes += output->tensors[t].bytes;
        }
    }
    return bytes;
}

const char *eval_bind(struct arena *arena, const struct verdict *verdict, const struct task_instance *instance,
                      struct eval_call *call)
{
    const struct eval_candidate candidate = {.task = instance->task,
                                             .options = verdict->options,
                                             .build = &verdict->build,
                                             .wrapper = verdict->candidate.response ? &verdict->wrapper : NULL};
    struct bound_case bound = {.candidate = &candidate, .instance = instance};
    const char *why = bind_case(arena, &bound);
    *call = (struct eval_call){bound.inputs, bound.outputs, bound.attrs};
    if (!why && bound.passing)
        why = bound.passing;
    json_decref(bound.received);
    return why;
}
