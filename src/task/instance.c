/* A case in memory: shapes, attributes and limits from expressions, inputs from generators, smaller shapes for
 * giants. */
#include "task/task_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSOR_ALIGN = 64 };

/* Shapes. */
static struct expr_scope scope_of(struct task_instance *instance, uint64_t key)
{
    return (struct expr_scope){.arena = &instance->arena, .cells = instance->cells, .key = key};
}

/* An expression's value; an error names the expression. */
static struct akgen_error *value_of(const struct expr *expr, const struct expr_scope *scope, struct expr_value *value)
{
    struct akgen_error *error = expr_eval(expr, scope, value);
    return error ? error_prefix(error, "in '%.100s'", expr_text(expr)) : NULL;
}

struct akgen_error *task_shape_set(struct arena *arena, const struct expr_value *shape, struct task_tensor *tensor)
{
    if (shape->kind != EXPR_LIST || shape->count > TASK_MAX_RANK)
        return error_new("shape is %s, expected a list of at most %d sizes", expr_show(arena, shape), TASK_MAX_RANK);
    tensor->rank = shape->count;
    tensor->elements = 1;
    for (int i = 0; i < shape->count; i++) {
        const struct expr_value *dim = &shape->items[i];
        if (dim->kind != EXPR_INT || dim->integer < 0 || dim->integer > INT32_MAX)
            return error_new("shape is %s, expected non-negative integers ('//' divides integers)",
                             expr_show(arena, shape));
        tensor->dims[i] = dim->integer;
        if (__builtin_mul_overflow(tensor->elements, dim->integer, &tensor->elements) || tensor->elements > (int64_t)1
                                                                                                                << 40)
            return error_new("shape is %s: too many elements", expr_show(arena, shape));
    }
    return NULL;
}

/* "column 'dtype' is 'float8', expected one of float16, float32". */
static struct akgen_error *dtype_error(struct arena *arena, const struct task_param *param,
                                       const struct expr_value *value)
{
    const char *list = "";
    for (int i = 0; i < param->type_count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen |= param->types[j] == param->types[i];
        if (!seen)
            list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", akgen_dtype_name(param->types[i]));
    }
    const char *text = expr_text(param->dtype);
    const char *what =
        *text == '$' ? arena_printf(arena, "column '%s'", text + 1) : arena_printf(arena, "dtype '%s'", text);
    return error_new("%s is %s, expected one of %s", what, expr_show(arena, value), list);
}

static struct akgen_error *dtype_of(const struct task_param *param, const struct expr_scope *scope,
                                    enum akgen_dtype *type)
{
    struct expr_value value;
    struct akgen_error *error = value_of(param->dtype, scope, &value);
    if (error)
        return error;
    *type = value.kind == EXPR_TEXT ? akgen_dtype_parse(value.text) : AKGEN_DTYPE_NONE;
    bool allowed = *type != AKGEN_DTYPE_NONE && param->type_count == 0;
    for (int i = 0; i < param->type_count; i++)
        allowed |= param->types[i] == *type;
    return allowed ? NULL : dtype_error(scope->arena, param, &value);
}

static struct akgen_error *truth_of(const struct expr *expr, const struct expr_scope *scope, bool *truth)
{
    struct expr_value value;
    struct akgen_error *error = value_of(expr, scope, &value);
    if (!error && !expr_is_number(&value))
        return error_new("'%s' is %s, expected true or false", expr_text(expr), expr_show(scope->arena, &value));
    *truth = !error && expr_number(&value) != 0;
    return error;
}

static struct akgen_error *bind_param(const struct task_param *param, const struct expr_scope *scope,
                                      struct task_argument *argument)
{
    struct akgen_error *error;
    struct expr_value shape;
    enum akgen_dtype type;
    bool present = true;
    if (param->present && (error = truth_of(param->present, scope, &present)))
        return error;
    if (!present)
        return NULL;
    if ((error = dtype_of(param, scope, &type)) || (error = value_of(param->shape, scope, &shape)))
        return error;
    bool list = param->kind == TASK_TENSOR_LIST;
    if (list && (shape.kind != EXPR_LIST || shape.count == 0))
        return error_new("shape is %s, expected a list of shapes", expr_show(scope->arena, &shape));
    argument->count = list ? shape.count : 1;
    argument->tensors = arena_alloc(scope->arena, sizeof *argument->tensors * (size_t)argument->count);
    for (int i = 0; i < argument->count; i++) {
        argument->tensors[i].type = type;
        if ((error = task_shape_set(scope->arena, list ? &shape.items[i] : &shape, &argument->tensors[i])))
            return error;
    }
    return NULL;
}

static struct akgen_error *bind_params(const struct task_param *params, int count, const struct expr_scope *scope,
                                       struct task_argument **arguments)
{
    *arguments = arena_alloc(scope->arena, sizeof **arguments * (size_t)(count + 1));
    for (int i = 0; i < count; i++) {
        struct akgen_error *error = bind_param(&params[i], scope, &(*arguments)[i]);
        if (error)
            return error_prefix(error, "'%s'", params[i].name);
    }
    return NULL;
}

static uint64_t elements_of(const struct task_argument *arguments, int count)
{
    uint64_t elements = 0;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < arguments[i].count; t++)
            elements += (uint64_t)arguments[i].tensors[t].elements;
    return elements;
}

static struct akgen_error *bind_shapes(struct task_instance *instance, uint64_t *elements)
{
    const struct task *task = instance->task;
    struct expr_scope scope = scope_of(instance, 0);
    struct akgen_error *error = bind_params(task->inputs, task->input_count, &scope, &instance->inputs);
    if (!error)
        error = bind_params(task->outputs, task->output_count, &scope, &instance->outputs);
    if (!error)
        *elements =
            elements_of(instance->inputs, task->input_count) + elements_of(instance->outputs, task->output_count);
    return error ? error_prefix(error, "cases.csv:%d", instance->task_case->line) : NULL;
}

/* Attributes. */
static json_t *list_json(const struct expr_value *value, bool integer)
{
    json_t *list = json_array();
    for (int i = 0; i < value->count; i++) {
        const struct expr_value *item = &value->items[i];
        json_array_append_new(list,
                              integer ? json_integer((json_int_t)expr_number(item)) : json_real(expr_number(item)));
    }
    return list;
}

/* NULL: the value is none of that type. */
static json_t *attr_json(enum task_attr_type type, const struct expr_value *value)
{
    bool number = expr_is_number(value);
    switch (type) {
    case TASK_ATTR_INT:
        return number ? json_integer(value->kind == EXPR_REAL ? (json_int_t)value->real : value->integer) : NULL;
    case TASK_ATTR_FLOAT:
        return number ? json_real(expr_number(value)) : NULL;
    case TASK_ATTR_BOOL:
        return number ? json_boolean(expr_number(value) != 0) : NULL;
    case TASK_ATTR_STRING:
        return value->kind == EXPR_TEXT ? json_string(value->text) : NULL;
    default:
        break;
    }
    for (int i = 0; value->kind == EXPR_LIST && i < value->count; i++)
        if (!expr_is_number(&value->items[i]))
            return NULL;
    return value->kind == EXPR_LIST ? list_json(value, type == TASK_ATTR_LIST_INT) : NULL;
}

/* Hidden cases of other sizes have the `strict` values: they are for candidates with a host part, which reads attributes. */
static struct akgen_error *make_attrs(struct task_instance *instance, uint64_t seed)
{
    enum task_variant variant = instance->task_case->variant;
    bool other = variant == TASK_PRIME_SIZES || variant == TASK_TAIL_SIZES;
    const struct task *task = instance->task;
    instance->attrs = arena_alloc(&instance->arena, sizeof(json_t *) * (size_t)(task->attr_count + 1));
    for (int i = 0; i < task->attr_count; i++) {
        const struct task_attr *attr = &task->attrs[i];
        struct expr_scope scope = scope_of(instance, expr_mix(seed, 0x10000u + (uint64_t)i));
        struct expr_value value;
        struct akgen_error *error = value_of(other && attr->strict ? attr->strict : attr->value, &scope, &value);
        if (!error && !(instance->attrs[i] = attr_json(attr->type, &value)))
            error = error_new("the value is %s, expected %s", expr_show(&instance->arena, &value),
                              task_attr_type_names[attr->type]);
        if (error)
            return error_prefix(error, "cases.csv:%d: attribute '%s'", instance->task_case->line, attr->name);
    }
    return NULL;
}

/* How outputs are judged. */
static struct akgen_error *judge_output(const struct task_param *output, const struct expr_scope *scope,
                                        struct task_judging *judging)
{
    struct expr_value value;
    struct akgen_error *error = NULL;
    *judging = (struct task_judging){.by = {true, true}, .depth = 1};
    if (output->compared) {
        if ((error = value_of(output->compared, scope, &value)))
            return error;
        bool strict = value.kind == EXPR_TEXT && strcmp(value.text, "strict") == 0;
        if (!strict && !expr_is_number(&value))
            return error_new("compared is %s, expected true, false or strict", expr_show(scope->arena, &value));
        judging->by[TASK_UPSTREAM] = !strict && expr_number(&value) != 0;
        judging->by[TASK_STRICT] = strict || expr_number(&value) != 0;
    }
    if (output->depth) {
        if ((error = value_of(output->depth, scope, &value)))
            return error;
        if (!expr_is_number(&value) || !(expr_number(&value) >= 0))
            return error_new("depth is %s, expected a number of values", expr_show(scope->arena, &value));
        judging->depth = expr_number(&value);
    }
    return NULL;
}

struct akgen_error *task_check_make(const struct expr *check, const struct expr_scope *scope, struct task_check *result)
{
    struct expr_value value;
    *result = TASK_DEFAULT_CHECK;
    struct akgen_error *error = check ? value_of(check, scope, &value) : NULL;
    if (error || !check || value.kind != EXPR_RULE) /* the word `default` */
        return error;
    *result = (struct task_check){
        .rule = (enum expr_rule)value.integer,
        .abs_limit = expr_number(&value.items[0]),
        .rel_limit = expr_number(&value.items[value.count - 1]),
    };
    return NULL;
}

static struct akgen_error *make_judging(struct task_instance *instance)
{
    const struct task *task = instance->task;
    const struct expr_scope scope = scope_of(instance, 0);
    struct akgen_error *error = task_check_make(task->check, &scope, &instance->check);
    if (error)
        return error_prefix(error, "cases.csv:%d: check", instance->task_case->line);
    instance->judging = arena_alloc(&instance->arena, sizeof *instance->judging * (size_t)(task->output_count + 1));
    for (int i = 0; i < task->output_count; i++)
        if ((error = judge_output(&task->outputs[i], &scope, &instance->judging[i])))
            return error_prefix(error, "cases.csv:%d: '%s'", instance->task_case->line, task->outputs[i].name);
    return NULL;
}

/* Inputs. */
static size_t tensor_bytes(const struct task_tensor *tensor)
{
    size_t bytes = (size_t)tensor->elements * akgen_dtype_size(tensor->type);
    return (bytes + TENSOR_ALIGN) / TENSOR_ALIGN * TENSOR_ALIGN;
}

static struct akgen_error *fill(const struct expr *generate, struct expr_scope *scope, struct task_tensor *tensor)
{
    const struct expr *bound;
    struct akgen_error *error = task_generator_bind(generate, scope, tensor, &bound);
    if (!error)
        task_generate(bound, scope, tensor);
    return error;
}

static struct akgen_error *make_inputs(struct task_instance *instance, uint64_t seed, bool other)
{
    const struct task *task = instance->task;
    enum task_variant variant = instance->task_case->variant;
    size_t bytes = TENSOR_ALIGN;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < instance->inputs[i].count; t++)
            bytes += tensor_bytes(&instance->inputs[i].tensors[t]);
    instance->memory = aligned_alloc(TENSOR_ALIGN, bytes);
    if (!instance->memory)
        return error_new("no memory for %zu bytes of inputs", bytes);
    char *at = instance->memory;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < instance->inputs[i].count; t++) {
            struct task_tensor *tensor = &instance->inputs[i].tensors[t];
            struct expr_scope scope = scope_of(instance, expr_mix(expr_mix(seed, (uint64_t)i), (uint64_t)t));
            const struct task_param *param = &task->inputs[i];
            tensor->values = at;
            at += tensor_bytes(tensor);
            struct akgen_error *error = fill(other && param->strict ? param->strict : param->generate, &scope, tensor);
            if (error)
                return error_prefix(error, "cases.csv:%d: '%s'", instance->task_case->line, task->inputs[i].name);
            if (task_special_any(param, variant))
                task_special_plant(param, variant, scope.key, tensor);
        }
    return NULL;
}

/* Would the generators of a case yield numbers? */
static struct akgen_error *try_generators(struct task_instance *instance)
{
    const struct task *task = instance->task;
    const struct expr *bound;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < instance->inputs[i].count; t++) {
            const struct task_param *param = &task->inputs[i];
            const struct task_tensor *tensor = &instance->inputs[i].tensors[t];
            struct expr_scope scope = scope_of(instance, 0);
            struct akgen_error *error = task_generator_bind(param->generate, &scope, tensor, &bound);
            if (!error && param->strict)
                error = task_generator_bind(param->strict, &scope, tensor, &bound);
            if (error)
                return error_prefix(error, "cases.csv:%d: '%s'", instance->task_case->line, param->name);
        }
    return NULL;
}

/* Makes a giant case smaller: as task.yaml says first, then by halves. */
static struct akgen_error *reduce(struct task_instance *instance, uint64_t *elements)
{
    struct task_case smaller = *instance->task_case;
    struct akgen_error *error = task_case_smaller(&instance->arena, instance->task, &smaller);
    if (error)
        return error;
    instance->cells = smaller.cells;
    instance->reduced = instance->task->smaller.count > 0;
    error = bind_shapes(instance, elements);
    while (!error && *elements > TASK_GIANT && task_cells_shrink(&instance->arena, instance->task, &instance->cells)) {
        instance->reduced = true;
        error = bind_shapes(instance, elements);
    }
    return error;
}

/* What the reference, and what makes inputs for it, cannot cope with is an error about the case. */
static struct akgen_error *check_reference(const struct task_instance *instance)
{
    struct akgen_error *error = task_reference_fits(instance);
    if (!error)
        error = task_derivation_fits(instance);
    return error ? error_prefix(error, "cases.csv:%d", instance->task_case->line) : NULL;
}

/* The whole. */
static struct task_instance *instance_new(const struct task *task, const struct task_case *task_case)
{
    struct task_instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        abort();
    instance->task = task;
    instance->task_case = task_case;
    instance->cells = task_case->cells;
    return instance;
}

static struct akgen_error *instance_make(const struct task *task, const struct task_case *task_case, uint64_t seed,
                                         bool full, bool inputs, struct task_instance **result)
{
    struct task_instance *instance = instance_new(task, task_case);
    uint64_t elements, stream = expr_mix(seed & ~TASK_OTHER_VALUES, (uint64_t)task_case->id);
    struct akgen_error *error = bind_shapes(instance, &elements);
    if (!error && !full && elements > TASK_GIANT)
        error = reduce(instance, &elements);
    if (!error)
        error = make_attrs(instance, stream);
    if (!error)
        error = make_judging(instance);
    if (!error)
        error = check_reference(instance);
    if (!error && inputs)
        error = make_inputs(instance, stream, task_case->variant != TASK_SHOWN || seed & TASK_OTHER_VALUES);
    if (!error && inputs && task->derive)
        task->derive(instance);
    if (!error && inputs)
        error = check_reference(instance);
    if (error)
        task_instance_free(instance);
    *result = error ? NULL : instance;
    return error;
}

struct akgen_error *task_instance_make(const struct task *task, const struct task_case *task_case, uint64_t seed,
                                       bool full, struct task_instance **instance)
{
    return instance_make(task, task_case, seed, full, true, instance);
}

struct akgen_error *task_instance_shapes(const struct task *task, const struct task_case *task_case,
                                         struct task_instance **instance)
{
    return instance_make(task, task_case, 0, true, false, instance);
}

struct akgen_error *task_instance_smaller(const struct task *task, const struct task_case *task_case,
                                          struct task_instance **instance)
{
    return instance_make(task, task_case, 0, false, false, instance);
}

void task_instance_free(struct task_instance *instance)
{
    if (!instance)
        return;
    for (int i = 0; instance->attrs && i < instance->task->attr_count; i++)
        json_decref(instance->attrs[i]);
    arena_free(&instance->arena);
    free(instance->memory);
    free(instance);
}

/* Has every kernel of the baseline a size? */
static struct akgen_error *try_eager(struct task_instance *instance)
{
    struct task_eager_traffic *traffic;
    struct akgen_error *error = task_eager_of_case(&instance->arena, instance, &traffic);
    return error ? error_prefix(error, "cases.csv:%d", instance->task_case->line) : NULL;
}

struct akgen_error *task_case_measure(const struct task *task, struct task_case *task_case)
{
    struct task_instance *instance = instance_new(task, task_case);
    struct akgen_error *error = bind_shapes(instance, &task_case->elements);
    if (!error)
        error = make_attrs(instance, 0);
    if (!error)
        error = make_judging(instance);
    if (!error)
        error = check_reference(instance);
    if (!error)
        error = try_generators(instance);
    if (!error)
        error = try_eager(instance);
    task_instance_free(instance);
    return error;
}
