/* The operator that a program makes. */
#include "dsl/opdef.h"
#include "op/op.h"

#include <string.h>

/* Whether the host function uses the parameter as a tensor. */
static bool is_tensor(const struct dsl_program *program, const char *name)
{
    return dsl_scope_find(&program->host_names, name)->type == DSL_TYPE_TENSOR;
}

/* What is still to be given to parameters. */
struct taking {
    const struct task *task;
    bool inputs[TASK_MAX_PARAMS], outputs[TASK_MAX_PARAMS], attrs[TASK_MAX_ATTRS];
};

/* The next one that is not taken: of the name, or any (name NULL); TASK_NONE: there is none. */
static int take(bool *taken, int count, const char *name, const char *(*name_of)(const struct task *task, int i),
                const struct task *task)
{
    for (int i = 0; i < count; i++)
        if (!taken[i] && (!name || strcmp(name, name_of(task, i)) == 0)) {
            taken[i] = true;
            return i;
        }
    return TASK_NONE;
}

static const char *input_name(const struct task *task, int i)
{
    return task->inputs[i].name;
}

static const char *output_name(const struct task *task, int i)
{
    return task->outputs[i].name;
}

static const char *attr_name(const struct task *task, int i)
{
    return task->attrs[i].name;
}

/* Outputs that are an input's memory and have its name belong to the input's parameter. */
static bool is_inputs_own(const struct task *task, int output)
{
    int input = task->outputs[output].in_place;
    return input != TASK_NONE && strcmp(task->outputs[output].name, task->inputs[input].name) == 0;
}

static bool take_role(struct taking *taking, const char *name, bool tensor, struct dsl_parameter_role *role)
{
    const struct task *task = taking->task;
    int number = TASK_NONE;
    if (name || tensor)
        number = take(taking->inputs, task->input_count, name, input_name, task);
    if (number != TASK_NONE) {
        *role = (struct dsl_parameter_role){DSL_PARAMETER_INPUT, number};
        return true;
    }
    if (name || tensor)
        number = take(taking->outputs, task->output_count, name, output_name, task);
    if (number != TASK_NONE) {
        *role = (struct dsl_parameter_role){DSL_PARAMETER_OUTPUT, number};
        return true;
    }
    if (name || !tensor)
        number = take(taking->attrs, task->attr_count, name, attr_name, task);
    if (number != TASK_NONE)
        *role = (struct dsl_parameter_role){DSL_PARAMETER_ATTR, number};
    return number != TASK_NONE;
}

static bool find_roles(const struct dsl_program *program, const struct task *task, struct dsl_parameter_role *roles,
                       struct dsl_messages *messages)
{
    const struct dsl_function *host = program->host->function;
    struct taking taking = {.task = task};
    bool named[TASK_MAX_PARAMS + TASK_MAX_ATTRS] = {false};
    for (int i = 0; i < task->output_count; i++)
        taking.outputs[i] = is_inputs_own(task, i);
    for (int by_name = 1; by_name >= 0; by_name--)
        for (int i = 0; i < host->count && i < TASK_MAX_PARAMS + TASK_MAX_ATTRS; i++) {
            const struct dsl_parameter *parameter = &host->parameters[i];
            if (named[i])
                continue;
            bool tensor = is_tensor(program, parameter->name), constant = !by_name && parameter->value && !tensor;
            named[i] = !constant && take_role(&taking, by_name ? parameter->name : NULL, tensor, &roles[i]);
            if (!named[i])
                roles[i] = (struct dsl_parameter_role){DSL_PARAMETER_DEFAULT, 0};
            if (!named[i] && !by_name && !parameter->value) {
                dsl_complain(messages, parameter->place, DSL_RULE_launch, NULL, "%s gives nothing for '%s'", task->name,
                             parameter->name);
                return false;
            }
        }
    return true;
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

bool dsl_opdef_of_task(struct arena *arena, const struct dsl_program *program, const struct task *task,
                       struct dsl_opdef *opdef, struct dsl_messages *messages)
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
    opdef->roles = arena_alloc(arena, (size_t)(program->host->function->count + 1) * sizeof *opdef->roles);
    int column = 0;
    for (int i = 0; i < task->input_count; i++) {
        opdef->inputs[i] = operand_of(&task->inputs[i], false);
        opdef->inputs[i].types = column_of(arena, task, column++);
    }
    for (int i = 0; i < task->output_count; i++) {
        opdef->outputs[i] = operand_of(&task->outputs[i], true);
        opdef->outputs[i].declared = task->outputs[i].in_place == TASK_NONE || task->outputs[i].type_count > 0;
        opdef->outputs[i].types = opdef->outputs[i].declared ? column_of(arena, task, column++)
                                                             : opdef->inputs[task->outputs[i].in_place].types;
    }
    return find_roles(program, task, opdef->roles, messages);
}
