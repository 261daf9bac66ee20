/* What task.yaml says against a signature: how many inputs, outputs and attributes there are, which of them are lists,
 * and their types. */
#include "task/reference/signature.h"

#include <string.h>

/* "x, gamma, beta?" */
static const char *names_of(struct arena *arena, const struct signature_param *params, int count)
{
    const char *text = "";
    for (int i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s%s", text, i ? ", " : "", params[i].name, params[i].optional ? "?" : "");
    return text;
}

static const char *attr_names_of(struct arena *arena, const struct reference_signature *signature)
{
    const char *text = signature->attr_count ? "" : "none";
    for (int i = 0; i < signature->attr_count; i++)
        text = arena_printf(arena, "%s%s%s%s", text, i ? ", " : "", signature->attrs[i].name,
                            signature->attrs[i].optional ? "?" : "");
    return text;
}

/* Names are free, but one that the signature has must stand at its place. */
static struct akgen_error *check_order(const struct reference_signature *signature, const char *what, int place,
                                       const char *name, int declared, const char *all)
{
    if (declared == TASK_NONE || declared == place)
        return NULL;
    return error_new("%s '%s' is number %d, the reference %s takes it as number %d: %s", what, name, place + 1,
                     signature->reference, declared + 1, all);
}

static int called(const struct signature_param *params, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return i;
    return TASK_NONE;
}

static struct akgen_error *check_param(struct arena *arena, const struct reference_signature *signature,
                                       const struct signature_param *param, const struct task_param *given,
                                       const char **key)
{
    *key = "kind";
    if ((given->kind == TASK_TENSOR_LIST) != param->list)
        return error_new("'%s' is a %s, the reference %s takes %s: %s", given->name, task_kind_names[given->kind],
                         signature->reference, param->list ? "a tensor_list" : "no list", param->text);
    *key = "types";
    uint64_t types = signature_type_set(signature, param);
    for (int i = 0; i < given->type_count; i++)
        if (!(types >> given->types[i] & 1))
            return error_new("'%s' may be %s, the reference %s takes %s: %s", given->name,
                             akgen_dtype_name(given->types[i]), signature->reference, signature_types(arena, types),
                             param->text);
    return NULL;
}

static struct akgen_error *check_params(struct arena *arena, const struct reference_signature *signature, bool inputs,
                                        const struct task *task, struct signature_place *place)
{
    const struct signature_param *params = inputs ? signature->inputs : signature->outputs;
    const struct task_param *given = inputs ? task->inputs : task->outputs;
    int count = inputs ? signature->input_count : signature->output_count;
    int given_count = inputs ? task->input_count : task->output_count;
    const char *what = inputs ? "input" : "output", *all = names_of(arena, params, count);
    struct akgen_error *error = NULL;
    for (int i = 0; i < given_count && !error; i++) {
        *place = (struct signature_place){inputs ? SIGNATURE_INPUT : SIGNATURE_OUTPUT, i, NULL};
        if (i >= count)
            return error_new("%s '%s' is one too many, the reference %s takes %s", what, given[i].name,
                             signature->reference, all);
        error = check_order(signature, what, i, given[i].name, called(params, count, given[i].name), all);
        if (!error)
            error = check_param(arena, signature, &params[i], &given[i], &place->key);
    }
    for (int i = given_count; i < count && !error; i++)
        if (!params[i].optional) {
            *place = (struct signature_place){inputs ? SIGNATURE_INPUT : SIGNATURE_OUTPUT, TASK_NONE, NULL};
            error = error_new("there is no %s number %d, the reference %s takes %s: %s", what, i + 1,
                              signature->reference, all, params[i].text);
        }
    return error;
}

static struct akgen_error *check_attrs(struct arena *arena, const struct reference_signature *signature,
                                       const struct task *task, struct signature_place *place)
{
    const char *all = attr_names_of(arena, signature);
    for (int i = 0; i < task->attr_count; i++) {
        const struct task_attr *given = &task->attrs[i];
        const struct signature_attr *attr = &signature->attrs[i];
        *place = (struct signature_place){SIGNATURE_ATTR, i, NULL};
        if (i >= signature->attr_count)
            return error_new("attribute '%s' is one too many, the reference %s takes %s", given->name,
                             signature->reference, all);
        struct akgen_error *error =
            check_order(signature, "attribute", i, given->name, signature_attr(signature, given->name), all);
        if (error)
            return error;
        place->key = "type";
        if (given->type != attr->type && !(given->type == TASK_ATTR_INT && attr->type == TASK_ATTR_FLOAT))
            return error_new("attribute '%s' is of type %s, the reference %s takes %s", given->name,
                             task_attr_type_names[given->type], signature->reference, attr->text);
    }
    for (int i = task->attr_count; i < signature->attr_count; i++)
        if (!signature->attrs[i].optional) {
            *place = (struct signature_place){SIGNATURE_ATTR, TASK_NONE, NULL};
            return error_new("there is no attribute number %d, the reference %s takes %s: %s", i + 1,
                             signature->reference, all, signature->attrs[i].text);
        }
    return NULL;
}

struct akgen_error *signature_check_task(struct arena *arena, const struct reference_signature *signature,
                                         const struct task *task, struct signature_place *place)
{
    struct akgen_error *error = check_params(arena, signature, true, task, place);
    if (!error)
        error = check_params(arena, signature, false, task, place);
    if (!error)
        error = check_attrs(arena, signature, task, place);
    if (error || !signature->column || task_column_index(task, signature->column) != TASK_NONE)
        return error;
    *place = (struct signature_place){SIGNATURE_COLUMN, TASK_NONE, NULL};
    return error_new("cases.csv has no column '%s', which the reference %s reads", signature->column,
                     signature->reference);
}
