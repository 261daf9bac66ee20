#include "task/model/model.h"

#include <string.h>

const char *const task_kind_names[] = {
    [TASK_TENSOR] = "tensor", [TASK_TENSOR_LIST] = "tensor_list",
    [TASK_SCALAR] = "scalar", [TASK_SCALAR_LIST] = "scalar_list",
    [TASK_KINDS] = NULL,
};
const char *const task_attr_type_names[] = {
    [TASK_ATTR_INT] = "int",       [TASK_ATTR_FLOAT] = "float",       [TASK_ATTR_BOOL] = "bool",
    [TASK_ATTR_STRING] = "string", [TASK_ATTR_LIST_INT] = "list_int", [TASK_ATTR_LIST_FLOAT] = "list_float",
    [TASK_ATTR_TYPES] = NULL,
};
const char *const task_eager_kind_names[] = {
    [TASK_EAGER_ELEMENTWISE] = "elementwise",
    [TASK_EAGER_FOREACH] = "foreach",
    [TASK_EAGER_OPTIMIZER] = "optimizer",
    [TASK_EAGER_REDUCTION] = "reduction",
    [TASK_EAGER_SOFTMAX] = "softmax",
    [TASK_EAGER_NORM] = "norm",
    [TASK_EAGER_QUANT] = "quant",
    [TASK_EAGER_SCAN] = "scan",
    [TASK_EAGER_POOLING] = "pooling",
    [TASK_EAGER_SORT] = "sort",
    [TASK_EAGER_GATHER] = "gather",
    [TASK_EAGER_LAYOUT] = "layout",
    [TASK_EAGER_MATMUL] = "matmul",
    [TASK_EAGER_ATTENTION] = "attention",
    [TASK_EAGER_KINDS] = NULL,
};
const char *const task_special_names[] = {"zero", "subnormal", "inf", "nan", NULL}; /* in the order of the bits */
const char *const task_mutation_names[] = {
    [TASK_MUTANT_ZERO] = "zero",   [TASK_MUTANT_ONE] = "one",       [TASK_MUTANT_COPY] = "copy",
    [TASK_MUTANT_NAN] = "nan",     [TASK_MUTANT_ZEROS] = "zeros",   [TASK_MUTANT_ONES] = "ones",
    [TASK_MUTANT_FIRST] = "first", [TASK_MUTANT_GUESS] = "guess",   [TASK_MUTANT_TAIL] = "tail",
    [TASK_MUTANT_ROWS] = "rows",   [TASK_MUTANT_SAMPLE] = "sample", [TASK_MUTANT_CONSTANT] = "constant",
    [TASK_MUTATIONS] = NULL,
};

static int param_index(const struct task_param *params, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return i;
    return TASK_NONE;
}

int task_input_index(const struct task *task, const char *name)
{
    return param_index(task->inputs, task->input_count, name);
}

int task_output_index(const struct task *task, const char *name)
{
    return param_index(task->outputs, task->output_count, name);
}

int task_attr_index(const struct task *task, const char *name)
{
    for (int i = 0; i < task->attr_count; i++)
        if (strcmp(task->attrs[i].name, name) == 0)
            return i;
    return TASK_NONE;
}

int task_column_index(const struct task *task, const char *name)
{
    for (int i = 0; i < task->columns.count; i++)
        if (strcmp(task->columns.names[i], name) == 0)
            return i;
    return TASK_NONE;
}

bool task_output_judged(const struct task_instance *instance, int output, enum task_profile profile)
{
    return instance->judging[output].by[profile];
}
