/* The operator that a program makes. */
#include "dsl/opdef.h"
#include "dsl/bind.h"
#include "dsl/emit.h"
#include "dsl/usage.h"
#include "op/op.h"

#include <string.h>

static struct dsl_parameter_role role_of(const struct dsl_binding *binding)
{
    if (binding->input != TASK_NONE)
        return (struct dsl_parameter_role){DSL_PARAMETER_INPUT, binding->input};
    if (binding->output != TASK_NONE)
        return (struct dsl_parameter_role){DSL_PARAMETER_OUTPUT, binding->output};
    if (binding->attr != TASK_NONE)
        return (struct dsl_parameter_role){DSL_PARAMETER_ATTR, binding->attr};
    return (struct dsl_parameter_role){DSL_PARAMETER_DEFAULT, 0};
}

/* The column of an operand in the task's table of combinations. */
static const enum akgen_dtype *column_of(struct arena *arena, const struct task *task, int column)
{
    enum akgen_dtype *types = arena_alloc(arena, (size_t)(task->combination_count + 1) * sizeof *types);
    for (int c = 0; c < task->combination_count; c++)
        types[c] = task->combinations[c][column];
    return types;
}

static struct dsl_operand operand_of(const struct task_param *param, bool output)
{
    return (struct dsl_operand){.name = param->name,
                                .output = output,
                                .optional = param->optional,
                                .list = param->kind == TASK_TENSOR_LIST,
                                .scalar = param->kind == TASK_SCALAR,
                                .scalar_list = param->kind == TASK_SCALAR_LIST,
                                .in_place = output ? param->in_place : TASK_NONE,
                                .declared = true};
}

/* The name of an input whose shape is written as the output's; NULL: there is none. */
static const char *input_like(const struct task *task, const struct task_param *output)
{
    for (int i = 0; i < task->input_count; i++)
        if (strcmp(expr_text(task->inputs[i].shape), expr_text(output->shape)) == 0 && !task->inputs[i].optional)
            return task->inputs[i].name;
    return NULL;
}

struct akgen_error *dsl_opdef_of_task(struct arena *arena, const struct dsl_program *program, const struct task *task,
                                      struct dsl_opdef *opdef)
{
    *opdef = (struct dsl_opdef){.type = task->op_type,
                                .entry = op_snake_case(arena, task->op_type),
                                .input_count = task->input_count,
                                .output_count = task->output_count,
                                .attrs = task->attrs,
                                .attr_count = task->attr_count,
                                .combinations = task->combination_count};
    opdef->inputs = arena_alloc(arena, (size_t)(task->input_count + 1) * sizeof *opdef->inputs);
    opdef->outputs = arena_alloc(arena, (size_t)(task->output_count + 1) * sizeof *opdef->outputs);
    const int parameters = program->host->function->count;
    opdef->roles = arena_alloc(arena, (size_t)(parameters + 1) * sizeof *opdef->roles);
    struct dsl_binding *bindings;
    struct akgen_error *error = dsl_bind(arena, program, task, &bindings);
    if (error)
        return error;
    for (int i = 0; i < parameters; i++)
        opdef->roles[i] = role_of(&bindings[i]);
    int column = 0;
    for (int i = 0; i < task->input_count; i++) {
        opdef->inputs[i] = operand_of(&task->inputs[i], false);
        opdef->inputs[i].types = column_of(arena, task, column++);
    }
    for (int i = 0; i < task->output_count; i++) {
        opdef->outputs[i] = operand_of(&task->outputs[i], true);
        opdef->outputs[i].like = input_like(task, &task->outputs[i]);
        opdef->outputs[i].declared = task->outputs[i].in_place == TASK_NONE || task->outputs[i].type_count > 0;
        opdef->outputs[i].types = opdef->outputs[i].declared ? column_of(arena, task, column++)
                                                             : opdef->inputs[task->outputs[i].in_place].types;
    }
    return NULL;
}

/* "AddNorm" of add_norm_host. */
static const char *type_of_program(struct arena *arena, const struct dsl_program *program)
{
    const char *name = program->host->function->name, *end = strstr(name, "_host");
    return emit_camel(arena, end && end != name ? arena_strndup(arena, name, (size_t)(end - name)) : name, true);
}

static enum task_attr_type attr_type_of(enum dsl_type type)
{
    return type == DSL_TYPE_BOOL   ? TASK_ATTR_BOOL
           : type == DSL_TYPE_TEXT ? TASK_ATTR_STRING
           : type == DSL_TYPE_INTS ? TASK_ATTR_LIST_INT
           : type == DSL_TYPE_INT  ? TASK_ATTR_INT
                                   : TASK_ATTR_FLOAT;
}

static void add_operand(struct arena *arena, struct dsl_operand *operands, int *count, const char *name, bool output,
                        const struct dsl_usage *usage)
{
    enum akgen_dtype *type = arena_alloc(arena, sizeof *type);
    *type = usage->dtype == AKGEN_DTYPE_NONE ? AKGEN_FLOAT : usage->dtype;
    operands[(*count)++] = (struct dsl_operand){.name = name,
                                                .output = output,
                                                .optional = usage->missing,
                                                .list = usage->type == DSL_TYPE_TENSORS,
                                                .types = type,
                                                .in_place = TASK_NONE,
                                                .declared = true};
}

struct akgen_error *dsl_opdef_of_program(struct arena *arena, const struct dsl_program *program,
                                         struct dsl_opdef *opdef)
{
    const struct dsl_function *host = program->host->function;
    const struct dsl_usage *usages = dsl_usage_of(arena, program);
    const size_t room = (size_t)host->count + 1;
    struct task_attr *attrs = arena_alloc(arena, room * sizeof *attrs);
    *opdef = (struct dsl_opdef){.type = type_of_program(arena, program), .attrs = attrs, .combinations = 1};
    opdef->entry = op_snake_case(arena, opdef->type);
    opdef->inputs = arena_alloc(arena, room * sizeof *opdef->inputs);
    opdef->outputs = arena_alloc(arena, room * sizeof *opdef->outputs);
    opdef->roles = arena_alloc(arena, room * sizeof *opdef->roles);
    for (int i = 0; i < host->count; i++) {
        const struct dsl_usage *usage = &usages[i];
        const char *name = host->parameters[i].name;
        struct dsl_parameter_role *role = &opdef->roles[i];
        if (usage->type == DSL_TYPE_TENSORS)
            return error_new("which of the list '%s' is stored, only a task says: --task", name);
        if (usage->type == DSL_TYPE_TENSOR && usage->stored && !usage->loaded) {
            *role = (struct dsl_parameter_role){DSL_PARAMETER_OUTPUT, opdef->output_count};
            add_operand(arena, opdef->outputs, &opdef->output_count, name, true, usage);
        } else if (usage->type == DSL_TYPE_TENSOR) {
            *role = (struct dsl_parameter_role){DSL_PARAMETER_INPUT, opdef->input_count};
            add_operand(arena, opdef->inputs, &opdef->input_count, name, false, usage);
        } else if (host->parameters[i].value) {
            *role = (struct dsl_parameter_role){DSL_PARAMETER_DEFAULT, 0};
        } else {
            *role = (struct dsl_parameter_role){DSL_PARAMETER_ATTR, opdef->attr_count};
            attrs[opdef->attr_count++] = (struct task_attr){.name = name, .type = attr_type_of(usage->type)};
        }
    }
    for (int i = 0; i < host->count; i++) {
        if (usages[i].type != DSL_TYPE_TENSOR || !usages[i].stored || !usages[i].loaded)
            continue;
        add_operand(arena, opdef->outputs, &opdef->output_count, host->parameters[i].name, true, &usages[i]);
        opdef->outputs[opdef->output_count - 1].in_place = opdef->roles[i].number;
        opdef->outputs[opdef->output_count - 1].declared = false;
    }
    return opdef->output_count ? NULL : error_new("the kernel stores into none of the host function's tensors");
}

bool dsl_types_are_written(const struct dsl_program *program)
{
    struct arena arena = {0};
    const struct dsl_usage *usages = dsl_usage_of(&arena, program);
    bool all = true;
    for (int i = 0; i < program->host->function->count; i++)
        all &= usages[i].type != DSL_TYPE_TENSOR || usages[i].dtype != AKGEN_DTYPE_NONE;
    arena_free(&arena);
    return all;
}
