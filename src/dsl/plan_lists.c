/* Lists of tensors: their plan is that of one tensor, in a task that stands in for theirs. */
#include "dsl/plan.h"

#include <string.h>

static bool is_list(const struct task_param *param)
{
    return param->kind == TASK_TENSOR_LIST;
}

bool plan_has_lists(const struct task *task)
{
    for (int i = 0; i < task->output_count; i++)
        if (is_list(&task->outputs[i]))
            return true;
    return false;
}

/* What lists are as long as: in some case there are several members, and in all cases the tensor has a number for each. */
static struct akgen_error *find_members(const struct task *task, int list, bool *members)
{
    bool several = false;
    for (int i = 0; i < task->input_count; i++)
        members[i] = task->inputs[i].kind == TASK_TENSOR || task->inputs[i].kind == TASK_SCALAR_LIST;
    for (int c = 0; c < task->case_count; c++) {
        struct task_instance *instance;
        struct akgen_error *error = task_instance_shapes(task, &task->cases[c], &instance);
        if (error)
            return error;
        int length = instance->outputs[list].count;
        several |= length > 1;
        for (int i = 0; i < task->input_count; i++)
            members[i] &= instance->inputs[i].count == 1 && instance->inputs[i].tensors[0].elements == length;
        task_instance_free(instance);
    }
    for (int i = 0; i < task->input_count; i++)
        members[i] &= several;
    return NULL;
}

static void add_param(struct text *yaml, const struct task_param *param, bool list, bool output)
{
    text_addf(yaml, "  - name: %s\n", param->name);
    if (param->kind == TASK_SCALAR)
        text_add(yaml, "    kind: scalar\n");
    text_addf(yaml, "    shape: \"%s\"\n", list ? "$shape" : "[1]");
    text_addf(yaml, "    dtype: \"%s\"\n    types: [", akgen_dtype_name(param->types[0]));
    for (int i = 0; i < param->type_count; i++)
        text_addf(yaml, "%s%s", i ? ", " : "", akgen_dtype_name(param->types[0]));
    text_add(yaml, "]\n");
    if (!output)
        text_add(yaml, "    generate: ones\n");
    else
        text_addf(yaml, "    formula: \"%s\"\n", param->formula->text);
}

static struct akgen_error *add_attrs(struct text *yaml, const struct task *task)
{
    for (int i = 0; i < task->attr_count; i++) {
        const struct task_attr *attr = &task->attrs[i];
        const char *value = attr->type == TASK_ATTR_FLOAT  ? "1.5"
                            : attr->type == TASK_ATTR_INT  ? "1"
                            : attr->type == TASK_ATTR_BOOL ? "true"
                                                           : NULL;
        if (!value)
            return error_new("%s: attribute '%s' is no number, which lists have no plan for", task->name, attr->name);
        text_addf(yaml, "%s  - name: %s\n    type: %s\n    value: \"%s\"\n", i ? "" : "attrs:\n", attr->name,
                  task_attr_type_names[attr->type], value);
    }
    return NULL;
}

struct akgen_error *plan_shadow(struct arena *arena, const struct task *task, struct task *shadow,
                                struct plan_lists *lists)
{
    int list = 0;
    *lists = (struct plan_lists){0};
    for (int i = 0; i < task->input_count; i++)
        lists->inputs[i] = is_list(&task->inputs[i]);
    for (int i = task->output_count - 1; i >= 0; i--) {
        if (!is_list(&task->outputs[i]))
            return error_new("%s: output '%s' is no list beside others that are", task->name, task->outputs[i].name);
        lists->outputs[i] = true;
        list = i;
    }
    struct akgen_error *error = find_members(task, list, lists->members);
    if (error)
        return error;
    for (int i = task->input_count - 1; i >= 0; i--)
        if (lists->inputs[i])
            lists->longest = task->inputs[i].name;
    if (!lists->longest)
        return error_new("%s: no input is a list, so that nothing says how long '%s' is", task->name,
                         task->outputs[list].name);
    struct text yaml = {0};
    text_addf(&yaml, "suite: %s\nlevel: 1\ncategory: Math\nop: %s\nreference: formula\nvary: sizes\ninputs:\n",
              task->suite, task->op);
    for (int i = 0; i < task->input_count; i++)
        add_param(&yaml, &task->inputs[i], lists->inputs[i], false);
    text_add(&yaml, "outputs:\n");
    for (int i = 0; i < task->output_count; i++)
        add_param(&yaml, &task->outputs[i], true, true);
    error = add_attrs(&yaml, task);
    if (!error)
        error = task_of_texts(arena, task->name, yaml.bytes, "case_id;shape\n0;[48, 1024]\n1;[7, 33]\n", shadow);
    text_free(&yaml);
    if (!error)
        for (int i = 0; i < task->input_count; i++) /* the types that are loaded are the task's own */
            shadow->inputs[i].types = task->inputs[i].types;
    return error;
}
