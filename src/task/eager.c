/* The eager baseline of a task: what each kernel that PyTorch on the NPU would launch reads, writes and multiplies in a
 * case. What that takes is src/eval/baseline.c's. */
#include "task/task_internal.h"

#include <string.h>

/* Parsing. */
static bool fits_dtype(const struct expr_value *value)
{
    return !value || (value->kind == EXPR_TEXT && akgen_dtype_parse(value->text) != AKGEN_DTYPE_NONE);
}

static bool fits_shape(const struct expr_value *value)
{
    return !value || value->kind == EXPR_LIST;
}

/* The names of inputs and outputs, up to a NULL. */
static const char *names_of(struct arena *arena, const struct task *task)
{
    const char *names = "";
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        const struct task_param *param =
            i < task->input_count ? &task->inputs[i] : &task->outputs[i - task->input_count];
        names = arena_printf(arena, "%s%s%s", names, i ? ", " : "", param->name);
    }
    return names;
}

struct akgen_error *task_eager_tensor_parse(struct arena *arena, const char *text, const struct task *task,
                                            struct task_eager_tensor *tensor)
{
    *tensor = (struct task_eager_tensor){.input = task_input_index(task, text), .output = TASK_NONE};
    if (tensor->input == TASK_NONE)
        tensor->output = task_output_index(task, text);
    if (tensor->input != TASK_NONE || tensor->output != TASK_NONE)
        return NULL;
    size_t length = strcspn(text, " ");
    if (!text[length])
        return error_new("'%s' is no input or output, expected %s, or a type and a shape as in 'float32 [4, 3]'", text,
                         names_of(arena, task));
    const char *dtype = arena_strndup(arena, text, length), *shape = text + length + 1;
    struct akgen_error *error = expr_parse(arena, dtype, &task->columns, &tensor->dtype);
    if (!error)
        error = expr_parse(arena, shape, &task->columns, &tensor->shape);
    if (!error && !expr_branches_fit(tensor->dtype, fits_dtype))
        error = error_new("in '%s', '%s' is no data type, expected float32, float16 or the like, or a column as in "
                          "'$dtype $shape'",
                          text, dtype);
    if (!error && !expr_branches_fit(tensor->shape, fits_shape))
        error = error_new("in '%s', '%s' is no shape, expected a list of sizes", text, shape);
    return error;
}

/* Sizes in a case. */
/* Adds the bytes of a tensor, or of all in a list; an optional one that is absent has none. `type`: of the first. */
static struct akgen_error *add_bytes(const struct expr_scope *scope, const struct task_instance *instance,
                                     const struct task_eager_tensor *tensor, double *bytes, enum akgen_dtype *type)
{
    struct task_tensor own = {0};
    struct task_argument argument = {.tensors = &own, .count = 1};
    struct expr_value value;
    if (tensor->input != TASK_NONE)
        argument = instance->inputs[tensor->input];
    else if (tensor->output != TASK_NONE)
        argument = instance->outputs[tensor->output];
    else {
        struct akgen_error *error = expr_eval(tensor->dtype, scope, &value);
        own.type = !error && value.kind == EXPR_TEXT ? akgen_dtype_parse(value.text) : AKGEN_DTYPE_NONE;
        if (!error && own.type == AKGEN_DTYPE_NONE)
            error = error_new("'%s' is %s, expected a data type", expr_text(tensor->dtype),
                              expr_show(scope->arena, &value));
        if (!error)
            error = expr_eval(tensor->shape, scope, &value);
        if (!error)
            error = task_shape_set(scope->arena, &value, &own);
        if (error)
            return error_prefix(error, "in '%s %s'", expr_text(tensor->dtype), expr_text(tensor->shape));
    }
    for (int i = 0; i < argument.count; i++) {
        *bytes += (double)argument.tensors[i].elements * (double)akgen_dtype_size(argument.tensors[i].type);
        if (*type == AKGEN_DTYPE_NONE)
            *type = argument.tensors[i].type;
    }
    return NULL;
}

/* Entry i of a size: the number itself, or that of a list. */
static double entry(const struct expr_value *value, int i)
{
    return expr_number(value->kind == EXPR_LIST ? &value->items[i] : value);
}

/* One of m, k, n and batch. `count`: how many numbers the lists so far have, 0: no list yet. */
static struct akgen_error *size_of(const struct expr_scope *scope, const char *name, const struct expr *expr,
                                   struct expr_value *value, int *count)
{
    struct akgen_error *error = expr_eval(expr, scope, value);
    bool list = !error && value->kind == EXPR_LIST, numbers = !error && (list || expr_is_number(value));
    for (int i = 0; list && numbers && i < value->count; i++)
        numbers = expr_is_number(&value->items[i]);
    if (!error && !numbers)
        error = error_new("the value is %s, expected a number or a list of numbers", expr_show(scope->arena, value));
    if (!error && list && *count && *count != value->count)
        error = error_new("the list has %d numbers, another one has %d", value->count, *count);
    if (!error && list)
        *count = value->count;
    return error ? error_prefix(error, "%s, in '%s'", name, expr_text(expr)) : NULL;
}

static struct akgen_error *flops_of(const struct expr_scope *scope, const struct task_eager *kernel, double *flops)
{
    static const struct expr_value one = {.kind = EXPR_INT, .integer = 1};
    struct expr_value m, k, n, batch = one;
    int count = 0; /* no list yet */
    if (!kernel->m)
        return NULL;
    struct akgen_error *error = size_of(scope, "m", kernel->m, &m, &count);
    if (!error)
        error = size_of(scope, "k", kernel->k, &k, &count);
    if (!error)
        error = size_of(scope, "n", kernel->n, &n, &count);
    if (!error && kernel->batch)
        error = size_of(scope, "batch", kernel->batch, &batch, &count);
    for (int i = 0; !error && (i == 0 || i < count); i++)
        *flops += 2 * entry(&batch, i) * entry(&m, i) * entry(&k, i) * entry(&n, i);
    return error;
}

static struct akgen_error *measure(const struct expr_scope *scope, const struct task_instance *instance,
                                   const struct task_eager *kernel, struct task_eager_traffic *traffic)
{
    struct akgen_error *error = NULL;
    *traffic = (struct task_eager_traffic){.type = AKGEN_DTYPE_NONE};
    for (int i = 0; i < kernel->read_count && !error; i++)
        error = add_bytes(scope, instance, &kernel->reads[i], &traffic->read, &traffic->type);
    for (int i = 0; i < kernel->write_count && !error; i++)
        error = add_bytes(scope, instance, &kernel->writes[i], &traffic->written, &traffic->type);
    return error ? error : flops_of(scope, kernel, &traffic->flops);
}

struct akgen_error *task_eager_of_case(struct arena *arena, const struct task_instance *instance,
                                       struct task_eager_traffic **traffic)
{
    const struct task *task = instance->task;
    struct expr_scope scope = {.arena = arena, .cells = instance->cells};
    *traffic = arena_alloc(arena, sizeof **traffic * (size_t)(task->eager_count + 1));
    for (int i = 0; i < task->eager_count; i++) {
        struct akgen_error *error = measure(&scope, instance, &task->eager[i], &(*traffic)[i]);
        if (error)
            return error_prefix(error, "eager kernel number %d, %s", i + 1, task->eager[i].kernel);
    }
    return NULL;
}
