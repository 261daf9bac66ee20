/* A task's case as the arguments of a program's host function. */
#include "dsl/bind.h"
#include "dsl/check.h"

#include <string.h>

/* Turns of loops in which a case is computed, unless the program does not end. */
enum { TURNS_LEAST = 32 << 20, TURNS_OF_ELEMENT = 64 };

/* What is bound already: whether each input, output and attribute has a parameter. */
struct taken {
    const struct task *task;
    bool *inputs, *outputs, *attrs;
};

/* Whether a parameter of this type takes an input or output of this kind. */
static bool takes_kind(enum dsl_type type, enum task_param_kind kind)
{
    switch (kind) {
    case TASK_TENSOR:
    case TASK_SCALAR_LIST:
        return type == DSL_TYPE_TENSOR;
    case TASK_TENSOR_LIST:
        return type == DSL_TYPE_TENSORS;
    default:
        return type_is_number(type);
    }
}

static bool takes_attr(enum dsl_type type, enum task_attr_type attr)
{
    switch (attr) {
    case TASK_ATTR_INT:
    case TASK_ATTR_BOOL:
        return type_is_number(type);
    case TASK_ATTR_FLOAT:
        return type == DSL_TYPE_REAL || type == DSL_TYPE_NUMBER;
    case TASK_ATTR_STRING:
        return type == DSL_TYPE_TEXT;
    default:
        return type == DSL_TYPE_INTS;
    }
}

/* The output that is written into the memory of this input. */
static int output_in_place(const struct task *task, int input)
{
    for (int i = 0; i < task->output_count; i++)
        if (task->outputs[i].in_place == input)
            return i;
    return TASK_NONE;
}

static void bind_input(struct taken *taken, int input, struct dsl_binding *binding)
{
    binding->input = input;
    taken->inputs[input] = true;
    binding->output = output_in_place(taken->task, input);
    if (binding->output != TASK_NONE)
        taken->outputs[binding->output] = true;
}

static void bind_output(struct taken *taken, int output, struct dsl_binding *binding)
{
    taken->outputs[output] = true;
    binding->output = output;
    binding->input = taken->task->outputs[output].in_place;
    if (binding->input != TASK_NONE)
        taken->inputs[binding->input] = true;
}

/* False if the task has no such name. */
static bool bind_by_name(struct taken *taken, const char *name, struct dsl_binding *binding)
{
    const struct task *task = taken->task;
    int input = task_input_index(task, name), output = task_output_index(task, name);
    int attr = task_attr_index(task, name);
    if (input != TASK_NONE)
        bind_input(taken, input, binding);
    else if (output != TASK_NONE)
        bind_output(taken, output, binding);
    else if (attr != TASK_NONE)
        taken->attrs[binding->attr = attr] = true;
    return input != TASK_NONE || output != TASK_NONE || attr != TASK_NONE;
}

/* Binds to what comes next of what is left and fits; false: nothing. */
static bool bind_in_order(struct taken *taken, enum dsl_type type, struct dsl_binding *binding)
{
    const struct task *task = taken->task;
    for (int i = 0; i < task->input_count; i++)
        if (!taken->inputs[i] && takes_kind(type, task->inputs[i].kind)) {
            bind_input(taken, i, binding);
            return true;
        }
    for (int i = 0; i < task->output_count; i++)
        if (!taken->outputs[i] && takes_kind(type, task->outputs[i].kind)) {
            bind_output(taken, i, binding);
            return true;
        }
    for (int i = 0; i < task->attr_count; i++)
        if (!taken->attrs[i] && takes_attr(type, task->attrs[i].type)) {
            taken->attrs[binding->attr = i] = true;
            return true;
        }
    return false;
}

/* An error if what the name says is of another kind than the parameter's type. */
static struct akgen_error *check_kind(const struct task *task, const struct dsl_symbol *symbol,
                                      const struct dsl_binding *binding)
{
    const struct task_param *param = binding->input != TASK_NONE    ? &task->inputs[binding->input]
                                     : binding->output != TASK_NONE ? &task->outputs[binding->output]
                                                                    : NULL;
    if (param && !takes_kind(symbol->type, param->kind))
        return error_new("line %d: '%s' is %s, and the task's is a %s", symbol->place.line, symbol->name,
                         dsl_type_text(symbol->type), task_kind_names[param->kind]);
    if (binding->attr != TASK_NONE && !takes_attr(symbol->type, task->attrs[binding->attr].type))
        return error_new("line %d: '%s' is %s, and the task's is of type %s", symbol->place.line, symbol->name,
                         dsl_type_text(symbol->type), task_attr_type_names[task->attrs[binding->attr].type]);
    return NULL;
}

struct akgen_error *dsl_bind(struct arena *arena, const struct dsl_program *program, const struct task *task,
                             struct dsl_binding **bindings)
{
    const struct dsl_function *host = program->host->function;
    struct taken taken = {task, arena_alloc(arena, (size_t)task->input_count + 1),
                          arena_alloc(arena, (size_t)task->output_count + 1),
                          arena_alloc(arena, (size_t)task->attr_count + 1)};
    bool *bound = arena_alloc(arena, (size_t)host->count + 1);
    struct akgen_error *error;
    *bindings = arena_alloc(arena, (size_t)(host->count + 1) * sizeof **bindings);
    for (int i = 0; i < host->count; i++) {
        const struct dsl_symbol *symbol = dsl_scope_find(&program->host_names, host->parameters[i].name);
        (*bindings)[i] = (struct dsl_binding){TASK_NONE, TASK_NONE, TASK_NONE};
        bound[i] = symbol->constexpr || bind_by_name(&taken, symbol->name, &(*bindings)[i]);
        if ((error = check_kind(task, symbol, &(*bindings)[i])))
            return error;
    }
    for (int i = 0; i < host->count; i++) {
        const struct dsl_symbol *symbol = dsl_scope_find(&program->host_names, host->parameters[i].name);
        if (!bound[i] && !bind_in_order(&taken, symbol->type, &(*bindings)[i]) && !host->parameters[i].value)
            return error_new("line %d: the task %s has nothing for the parameter '%s', which is %s", symbol->place.line,
                             task->name, symbol->name, dsl_type_text(symbol->type));
    }
    for (int i = 0; i < task->output_count; i++)
        if (!taken.outputs[i])
            return error_new("line %d: the host function has no parameter for '%s', which the task %s %s",
                             program->host->place.line, task->outputs[i].name, task->name,
                             task->outputs[i].in_place == TASK_NONE ? "has as output" : "writes in place");
    return NULL;
}

/* Memory for the outputs: zeros, or what the input holds whose memory they are. */
static struct task_argument *make_outputs(struct arena *arena, const struct task_instance *instance)
{
    const struct task *task = instance->task;
    struct task_argument *outputs =
        arena_copy(arena, instance->outputs, (size_t)task->output_count * sizeof *instance->outputs);
    for (int i = 0; i < task->output_count; i++) {
        outputs[i].tensors =
            arena_copy(arena, outputs[i].tensors, (size_t)outputs[i].count * sizeof *outputs[i].tensors);
        for (int t = 0; t < outputs[i].count; t++) {
            struct task_tensor *tensor = &outputs[i].tensors[t];
            size_t bytes = (size_t)tensor->elements * akgen_dtype_size(tensor->type);
            int input = task->outputs[i].in_place;
            tensor->values = input == TASK_NONE ? arena_alloc(arena, bytes + 1)
                                                : arena_copy(arena, instance->inputs[input].tensors[t].values, bytes);
        }
    }
    return outputs;
}

/* The data type of an input or output that is missing in the case: that of the OpDef's first combination with the types of the
 * inputs that are there. */
static enum akgen_dtype missing_type(const struct task_instance *instance, const struct task_param *missing)
{
    const struct task *task = instance->task;
    for (int c = 0; c < missing->type_count; c++) {
        bool fits = true;
        for (int i = 0; i < task->input_count && fits; i++) {
            const struct task_argument *bound = &instance->inputs[i];
            fits = !bound->count || bound->tensors->type == task->inputs[i].types[c];
        }
        if (fits)
            return missing->types[c];
    }
    return AKGEN_DTYPE_NONE;
}

static struct dsl_argument argument_of(const struct task_instance *instance, const struct dsl_binding *binding,
                                       const struct task_argument *outputs, const struct task_argument *golden)
{
    const struct task *task = instance->task;
    struct dsl_argument argument = {0};
    if (binding->attr != TASK_NONE) {
        argument.value = instance->attrs[binding->attr];
        argument.single = task->attrs[binding->attr].type == TASK_ATTR_FLOAT; /* CANN's attributes are float */
    }
    if (binding->input == TASK_NONE && binding->output == TASK_NONE)
        return argument;
    bool stored = binding->output != TASK_NONE, given = binding->input != TASK_NONE;
    const struct task_param *param = stored ? &task->outputs[binding->output] : &task->inputs[binding->input];
    const struct task_argument *bound = stored ? &outputs[binding->output] : &instance->inputs[binding->input];
    /* What no profile judges may be left alone. */
    bool open = stored && (param->zeroed || !task_output_judged(instance, binding->output, TASK_STRICT));
    if (!bound->count)
        argument = (struct dsl_argument){.value = json_null(),
                                         .type = missing_type(instance, given ? &task->inputs[binding->input] : param)};
    else
        argument = (struct dsl_argument){.tensors = bound->tensors,
                                         .list = param->kind == TASK_TENSOR_LIST ? bound->count : 0,
                                         .number = param->kind == TASK_SCALAR,
                                         .given = given || open,
                                         .stored = stored};
    if (stored && bound->count == 1 && golden && golden[binding->output].count == 1)
        argument.spare = bound->tensors->elements - golden[binding->output].tensors->elements;
    return argument;
}

static struct dsl_run run_on(const struct npu_soc *soc, const struct dsl_argument *arguments)
{
    return (struct dsl_run){.soc = soc,
                            .vector_cores = soc->aiv,
                            .cube_cores = soc->aic,
                            .ub_bytes = soc->ub_tiling_bytes,
                            .l1_bytes = soc->l1_bytes,
                            .l0c_bytes = soc->l0c_bytes,
                            .arguments = arguments};
}

bool dsl_tally_case(struct arena *arena, const struct dsl_program *program, const struct dsl_binding *bindings,
                    const struct task_instance *instance, const struct npu_soc *soc, struct dsl_tally *tally,
                    int *cores, struct dsl_messages *messages)
{
    enum { TURNS_MAX = 1 << 20 };
    int count = program->host->function->count;
    struct dsl_argument *arguments = arena_alloc(arena, (size_t)(count + 1) * sizeof *arguments);
    for (int i = 0; i < count; i++)
        arguments[i] = argument_of(instance, &bindings[i], instance->outputs, NULL);
    struct dsl_run run = run_on(soc, arguments);
    run.tally = tally;
    run.turns_max = TURNS_MAX;
    bool good = dsl_interpret(arena, program, &run, messages);
    *cores = run.cores;
    return good;
}

int dsl_launch_case(struct arena *arena, const struct dsl_program *program, const struct dsl_binding *bindings,
                    const struct task_instance *instance, const struct npu_soc *soc, const struct value **given,
                    struct dsl_messages *messages)
{
    int count = program->host->function->count;
    struct dsl_argument *arguments = arena_alloc(arena, (size_t)(count + 1) * sizeof *arguments);
    for (int i = 0; i < count; i++) {
        arguments[i] = argument_of(instance, &bindings[i], instance->outputs, instance->outputs);
        if (!arguments[i].number)
            continue;
        struct task_tensor *unknown = arena_copy(arena, arguments[i].tensors, sizeof *unknown);
        unknown->values = arena_alloc(arena, akgen_dtype_size(unknown->type)); /* the kernel alone reads it */
        arguments[i].tensors = unknown;
    }
    struct dsl_run run = run_on(soc, arguments);
    run.host_only = true;
    bool good = dsl_interpret(arena, program, &run, messages);
    *given = run.given;
    return good ? run.cores : 0;
}

/* Elements of a case's inputs and outputs. */
static int64_t elements_of(const struct task_instance *instance)
{
    const struct task_argument *const of[] = {instance->inputs, instance->outputs};
    const int counts[] = {instance->task->input_count, instance->task->output_count};
    int64_t elements = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < counts[side]; i++)
            for (int t = 0; t < of[side][i].count; t++)
                elements += of[side][i].tensors[t].elements;
    return elements;
}

struct dsl_computed dsl_compute_case(struct arena *arena, const struct dsl_program *program,
                                     const struct dsl_binding *bindings, const struct task_instance *instance,
                                     const struct npu_soc *soc, uint64_t nudge, struct dsl_messages *messages)
{
    int count = program->host->function->count;
    struct task_argument *golden = task_reference(instance, TASK_STRICT);
    struct dsl_computed computed = {.outputs = make_outputs(arena, instance)};
    struct dsl_argument *arguments = arena_alloc(arena, (size_t)(count + 1) * sizeof *arguments);
    for (int i = 0; i < count; i++)
        arguments[i] = argument_of(instance, &bindings[i], computed.outputs, golden);
    struct dsl_run run = run_on(soc, arguments);
    run.turns_max = TURNS_LEAST + TURNS_OF_ELEMENT * elements_of(instance);
    run.nudge = nudge;
    computed.ran = dsl_interpret(arena, program, &run, messages);
    computed.cores = run.cores;
    computed.approximate = run.approximate;
    task_outputs_free(golden);
    return computed;
}

void dsl_run_case(struct arena *arena, const struct dsl_program *program, const struct dsl_binding *bindings,
                  const struct task_instance *instance, const struct npu_soc *soc, enum task_profile first,
                  struct dsl_messages *messages, struct dsl_outcome *outcome)
{
    struct dsl_computed computed = dsl_compute_case(arena, program, bindings, instance, soc, 0, messages);
    *outcome = (struct dsl_outcome){.ran = computed.ran, .cores = computed.cores};
    for (enum task_profile profile = first; outcome->ran && profile <= TASK_STRICT; profile++) {
        struct task_argument *expected = task_reference(instance, profile);
        task_compare(instance, profile, expected, computed.outputs, &outcome->by[profile]);
        task_outputs_free(expected);
    }
}
