/* What the keys of task.yaml must be together. */
#include "task/description.h"
#include "task/reference/signature.h"

#include <stdio.h>
#include <string.h>

/* The line of a key of a mapping; of the mapping, if it lacks the key. */
static int line_of(const struct yaml_node *map, const char *key)
{
    const struct yaml_pair *pair = yaml_find(map, key);
    return pair ? pair->line : map->line;
}

/* The mapping of parameter `index`: inputs, then outputs. */
static const struct yaml_node *param_node(const struct yaml_node *root, const struct task *task, int index)
{
    bool input = index < task->input_count;
    const struct yaml_node *list = yaml_find(root, input ? "inputs" : "outputs")->value;
    return list->items[input ? index : index - task->input_count];
}

/* A task in a folder <suite>/level<N>/<category>/<op> is found by these names: the file must say the same ones. Any
 * other folder may be called as it likes. */
static struct akgen_error *check_place(struct arena *arena, const struct yaml_node *root, const struct task *task)
{
    static const char *const keys[] = {"op", "category", "level", "suite"}; /* from the end of the path */
    enum { PARTS = sizeof keys / sizeof *keys, LEVEL = 2 };
    const char *parts[PARTS] = {0}, *end = task->dir + strlen(task->dir);
    const char *const said[PARTS] = {task->op, task->category, arena_printf(arena, "level%d", task->level),
                                     task->suite};
    int level, length = 0;
    for (int i = 0; i < PARTS && end > task->dir; i++) {
        const char *start = end;
        while (start > task->dir && start[-1] != '/')
            start--;
        parts[i] = arena_strndup(arena, start, (size_t)(end - start));
        end = start > task->dir ? start - 1 : start;
    }
    if (!parts[PARTS - 1] || sscanf(parts[LEVEL], "level%d%n", &level, &length) != 1 || parts[LEVEL][length])
        return NULL;
    for (int i = 0; i < PARTS; i++)
        if (strcmp(parts[i], said[i]) != 0)
            return error_new("task.yaml:%d: %s is '%s', but the folder says '%s'", line_of(root, keys[i]), keys[i],
                             said[i], parts[i]);
    return NULL;
}

static struct akgen_error *add_types(struct arena *arena, const struct yaml_node *node, const struct task_param *param,
                                     struct task *task)
{
    if (!task->combination_count) {
        task->combination_count = param->type_count;
        task->combinations = arena_alloc(arena, sizeof *task->combinations * (size_t)param->type_count);
    }
    if (param->type_count != task->combination_count)
        return error_new("task.yaml:%d: '%s' has %d types, the first input has %d: the lists are parallel",
                         line_of(node, "types"), param->name, param->type_count, task->combination_count);
    if (task->combination_width == TASK_MAX_PARAMS)
        return error_new("task.yaml:%d: more than %d inputs and outputs", node->line, TASK_MAX_PARAMS);
    for (int row = 0; row < param->type_count; row++)
        task->combinations[row][task->combination_width] = param->types[row];
    task->combination_width++;
    return NULL;
}

/* `types` of all parameters are parallel lists, as in an OpDef: row i of each makes combination i. */
static struct akgen_error *add_combinations(struct arena *arena, const struct yaml_node *root, struct task *task)
{
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        bool input = i < task->input_count;
        const struct task_param *param = input ? &task->inputs[i] : &task->outputs[i - task->input_count];
        const struct yaml_node *node = param_node(root, task, i);
        if (!param->type_count && (input || param->in_place == TASK_NONE))
            return error_new("task.yaml:%d: '%s' lacks 'types'", node->line, param->name);
        struct akgen_error *error = param->type_count ? add_types(arena, node, param, task) : NULL;
        if (error)
            return error;
    }
    return NULL;
}

/* With the reference `formula` every output has a formula, with another none has one. */
static struct akgen_error *check_formulas(const struct yaml_node *root, const struct task *task)
{
    const char *reference = yaml_find(root, "reference")->value->text;
    bool wanted = strcmp(reference, "formula") == 0;
    for (int i = 0; i < task->output_count; i++) {
        const struct task_param *output = &task->outputs[i];
        int line = line_of(param_node(root, task, task->input_count + i), "formula");
        if (wanted && (!output->formula || output->kind != TASK_TENSOR))
            return error_new("task.yaml:%d: reference is formula: output '%s' must be a tensor with a 'formula'", line,
                             output->name);
        if (!wanted && output->formula)
            return error_new("task.yaml:%d: '%s' has a formula, but the reference is %s, expected formula", line,
                             output->name, reference);
    }
    return NULL;
}

/* The line of what does not fit a reference's signature. */
static int line_of_place(const struct yaml_node *root, const struct signature_place *place)
{
    static const char *const lists[] = {
        [SIGNATURE_INPUT] = "inputs",
        [SIGNATURE_OUTPUT] = "outputs",
        [SIGNATURE_ATTR] = "attrs",
        [SIGNATURE_COLUMN] = "reference",
    };
    const struct yaml_pair *list = yaml_find(root, lists[place->part]);
    if (!list || place->index == TASK_NONE)
        return line_of(root, list ? lists[place->part] : "reference");
    const struct yaml_node *item = list->value->items[place->index];
    return place->key ? line_of(item, place->key) : item->line;
}

/* Inputs, outputs and attributes are those that the reference needs. */
static struct akgen_error *check_signature(struct arena *arena, const struct yaml_node *root, struct task *task)
{
    struct signature_place place;
    struct akgen_error *error = NULL;
    task->signature = task_reference_signature(arena, task->reference);
    if (task->signature)
        error = signature_check_task(arena, task->signature, task, &place);
    return error ? error_prefix(error, "task.yaml:%d", line_of_place(root, &place)) : NULL;
}

/* A derivation belongs to a reference, whose inputs it takes by their names. */
static struct akgen_error *check_derive(const struct yaml_node *root, const struct task *task)
{
    const struct yaml_pair *derive = yaml_find(root, "derive");
    struct akgen_error *error = derive ? task_derivation_check(derive->value->text, task) : NULL;
    return error ? error_prefix(error, "task.yaml:%d: derive", derive->line) : NULL;
}

struct akgen_error *task_description_check(struct arena *arena, const struct yaml_node *root, struct task *task)
{
    task->name = arena_printf(arena, "level%d/%s/%s", task->level, task->category, task->op);
    task->op_type = task->op_type ? task->op_type : task->op;
    struct akgen_error *error = check_place(arena, root, task);
    if (!error)
        error = check_formulas(root, task);
    if (!error)
        error = check_signature(arena, root, task);
    if (!error)
        error = check_derive(root, task);
    return error ? error : add_combinations(arena, root, task);
}
