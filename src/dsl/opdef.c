/* The operator that a program makes. */
#include "dsl/opdef.h"
#include "dsl/bind.h"
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
