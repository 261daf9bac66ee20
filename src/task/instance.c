/* A case in memory: shapes and attributes from expressions, inputs from generators, smaller shapes for giants. */
#include "task/expr/expr.h"
#include "task/expr/expr_internal.h"
#include "task/task_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSOR_ALIGN = 64 };

/* Shapes. */
static struct expr_scope scope_of(struct task_instance *instance, uint64_t key)
{
    const struct task_case *row = instance->task_case;
    return (struct expr_scope){.arena = &instance->arena,
                               .columns = row->columns,
                               .values = instance->values,
                               .column_count = row->column_count,
                               .key = key};
}

static struct akgen_error *set_shape(struct arena *arena, const struct expr_value *shape, struct task_tensor *tensor)
{
    if (shape->kind != EXPR_LIST || shape->count > TASK_MAX_RANK)
        return error_new("shape is %s, expected a list of at most %d sizes", expr_show(arena, shape), TASK_MAX_RANK);
    tensor->rank = shape->count;
    tensor->elements = 1;
    for (int i = 0; i < shape->count; i++) {
        const struct expr_value *dim = &shape->items[i];
        if (dim->kind != EXPR_INT || dim->integer < 0 || dim->integer > INT32_MAX)
            return error_new("shape is %s, expected non-negative integers", expr_show(arena, shape));
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
    const char *what = param->dtype[0] == '$' ? arena_printf(arena, "column '%s'", param->dtype + 1)
                                              : arena_printf(arena, "dtype '%s'", param->dtype);
    return error_new("%s is %s, expected one of %s", what, expr_show(arena, value), list);
}

static struct akgen_error *dtype_of(const struct task_param *param, const struct expr_scope *scope,
                                    enum akgen_dtype *type)
{
    struct expr_value value;
    struct akgen_error *error = expr_eval_text(param->dtype, scope, &value);
    if (error)
        return error;
    *type = value.kind == EXPR_TEXT ? akgen_dtype_parse(value.text) : AKGEN_DTYPE_NONE;
    bool allowed = *type != AKGEN_DTYPE_NONE && param->type_count == 0;
    for (int i = 0; i < param->type_count; i++)
        allowed |= param->types[i] == *type;
    return allowed ? NULL : dtype_error(scope->arena, param, &value);
}

static struct akgen_error *truth_of(const char *text, const struct expr_scope *scope, bool *truth)
{
    struct expr_value value;
    struct akgen_error *error = expr_eval_text(text, scope, &value);
    if (!error && !expr_is_number(&value))
        return error_new("'%s' is %s, expected true or false", text, expr_show(scope->arena, &value));
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
    if (*param->present && (error = truth_of(param->present, scope, &present)))
        return error;
    if (!present)
        return NULL;
    if ((error = dtype_of(param, scope, &type)) || (error = expr_eval_text(param->shape, scope, &shape)))
        return error;
    bool list = param->kind == TASK_TENSOR_LIST;
    if (list && (shape.kind != EXPR_LIST || shape.count == 0))
        return error_new("shape is %s, expected a list of shapes", expr_show(scope->arena, &shape));
    argument->count = list ? shape.count : 1;
    argument->tensors = arena_alloc(scope->arena, sizeof *argument->tensors * (size_t)argument->count);
    for (int i = 0; i < argument->count; i++) {
        argument->tensors[i].type = type;
        if ((error = set_shape(scope->arena, list ? &shape.items[i] : &shape, &argument->tensors[i])))
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

/* Giants. */
static int64_t product_of(const struct expr_value *shape)
{
    int64_t product = shape->count ? 1 : 0;
    for (int i = 0; i < shape->count; i++) {
        const struct expr_value *dim = &shape->items[i];
        if (dim->kind != EXPR_INT || dim->integer < 1 || __builtin_mul_overflow(product, dim->integer, &product))
            return 0;
    }
    return product;
}

/* About half of a size: even sizes stay even (an operator may split them), the remainder modulo 64 of the only or last
 * dimension stays (tails). 0: cannot shrink. */
static int64_t halved(int64_t size, bool last)
{
    int64_t half = last && size >= 256 ? size / 2 / 64 * 64 + size % 64 : (size + 1) / 2;
    half += size % 2 == 0 && half % 2;
    return half < size && size > 2 ? half : 0;
}

/* Halves the outermost dimension of one shape that can shrink; rank, dtype and last dimension stay where possible. */
static bool shrink_shape(struct arena *arena, struct expr_value *shape)
{
    for (int i = 0; i < shape->count; i++) {
        int64_t half = halved(shape->items[i].integer, i == shape->count - 1);
        if (!half)
            continue;
        struct expr_value *items = arena_alloc(arena, sizeof *items * (size_t)shape->count);
        memcpy(items, shape->items, sizeof *items * (size_t)shape->count);
        items[i].integer = half;
        shape->items = items;
        return true;
    }
    return false;
}

static int64_t largest_shape(const struct expr_value *cell)
{
    int64_t largest = cell->kind == EXPR_LIST ? product_of(cell) : 0;
    for (int i = 0; cell->kind == EXPR_LIST && i < cell->count; i++) {
        int64_t inner = cell->items[i].kind == EXPR_LIST ? product_of(&cell->items[i]) : 0;
        largest = inner > largest ? inner : largest;
    }
    return largest;
}

/* Shrinks every shape of this size in a cell: a list of sizes or a list of shapes. */
static bool shrink_cell(struct arena *arena, struct expr_value *cell, int64_t size)
{
    if (cell->kind != EXPR_LIST)
        return false;
    if (product_of(cell) == size)
        return shrink_shape(arena, cell);
    bool shrunk = false;
    struct expr_value *items = arena_alloc(arena, sizeof *items * (size_t)(cell->count + 1));
    for (int i = 0; i < cell->count; i++) {
        items[i] = cell->items[i];
        if (items[i].kind == EXPR_LIST && product_of(&items[i]) == size)
            shrunk |= shrink_shape(arena, &items[i]);
    }
    cell->items = items;
    return shrunk;
}

/* Does the shape of a tensor mention this column? */
static bool is_size(const struct task *task, const char *column)
{
    size_t length = strlen(column);
    for (int i = 0; i < task->input_count + task->output_count; i++) {
        const char *at = i < task->input_count ? task->inputs[i].shape : task->outputs[i - task->input_count].shape;
        for (at = strchr(at, '$'); at; at = strchr(at + 1, '$'))
            if (strncmp(at + 1, column, length) == 0 && at[length + 1] != '_' &&
                !isalnum((unsigned char)at[length + 1]))
                return true;
    }
    return false;
}

/* The same for sizes that stand in columns of their own (m, k, n): halves the largest, wherever it occurs. */
static bool shrink_sizes(struct task_instance *instance)
{
    const struct task_case *row = instance->task_case;
    int64_t *sizes = arena_alloc(&instance->arena, sizeof *sizes * (size_t)(row->column_count + 1)), largest = 0;
    for (int i = 0; i < row->column_count; i++) {
        struct expr_value cell = expr_cell(&instance->arena, instance->values[i]);
        sizes[i] = cell.kind == EXPR_INT && is_size(instance->task, row->columns[i]) ? cell.integer : 0;
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    int64_t half = halved(largest, true);
    for (int i = 0; half && i < row->column_count; i++)
        if (sizes[i] == largest)
            instance->values[i] = arena_printf(&instance->arena, "%" PRId64, half);
    return half > 0;
}

/* One step towards a smaller case: the largest shapes among the csv cells, all alike, so that columns that repeat a
 * shape stay in step. */
static bool shrink_step(struct task_instance *instance)
{
    const struct task_case *row = instance->task_case;
    int64_t largest = 0;
    bool shrunk = false;
    for (int i = 0; i < row->column_count; i++) {
        struct expr_value cell = expr_cell(&instance->arena, instance->values[i]);
        int64_t size = largest_shape(&cell);
        largest = size > largest ? size : largest;
    }
    for (int i = 0; i < row->column_count && largest > 1; i++) {
        struct expr_value cell = expr_cell(&instance->arena, instance->values[i]);
        if (shrink_cell(&instance->arena, &cell, largest)) {
            instance->values[i] = expr_show(&instance->arena, &cell);
            shrunk = true;
        }
    }
    return shrunk || shrink_sizes(instance);
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

static json_t *attr_json(const char *type, const struct expr_value *value)
{
    bool number = expr_is_number(value);
    if (strcmp(type, "int") == 0)
        return number ? json_integer(value->kind == EXPR_REAL ? (json_int_t)value->real : value->integer) : NULL;
    if (strcmp(type, "float") == 0)
        return number ? json_real(expr_number(value)) : NULL;
    if (strcmp(type, "bool") == 0)
        return number ? json_boolean(expr_number(value) != 0) : NULL;
    if (strcmp(type, "string") == 0)
        return value->kind == EXPR_TEXT ? json_string(value->text) : NULL;
    if (value->kind != EXPR_LIST)
        return NULL;
    for (int i = 0; i < value->count; i++)
        if (!expr_is_number(&value->items[i]))
            return NULL;
    return list_json(value, strcmp(type, "list_int") == 0);
}

static struct akgen_error *make_attrs(struct task_instance *instance, uint64_t seed)
{
    const struct task *task = instance->task;
    instance->attrs = arena_alloc(&instance->arena, sizeof(json_t *) * (size_t)(task->attr_count + 1));
    for (int i = 0; i < task->attr_count; i++) {
        const struct task_attr *attr = &task->attrs[i];
        struct expr_scope scope = scope_of(instance, expr_mix(seed, 0x10000u + (uint64_t)i));
        struct expr_value value;
        struct akgen_error *error = expr_eval_text(attr->value, &scope, &value);
        if (!error && !(instance->attrs[i] = attr_json(attr->type, &value)))
            error = error_new("the value is %s, expected %s", expr_show(&instance->arena, &value), attr->type);
        if (error)
            return error_prefix(error, "cases.csv:%d: attribute '%s'", instance->task_case->line, attr->name);
    }
    return NULL;
}

/* Inputs. */
static struct akgen_error *fill(const char *generate, struct expr_scope *scope, struct task_tensor *tensor)
{
    struct expr *expr, *bound;
    scope->type = tensor->type;
    scope->elements = tensor->elements;
    struct akgen_error *error = expr_parse(scope->arena, generate, &expr);
    if (!error)
        error = expr_bind(expr, scope, &bound);
    if (error)
        return error_prefix(error, "generate '%s'", generate);
    const struct expr_value *constant = expr_constant(bound);
    bool list = constant && constant->kind == EXPR_LIST;
    if (list && constant->count != tensor->elements)
        return error_new("generate '%s' has %d values for %" PRId64 " elements", generate, constant->count,
                         tensor->elements);
    for (int i = 0; list && i < constant->count; i++)
        if (!expr_is_number(&constant->items[i]))
            return error_new("generate '%s' holds %s, expected numbers", generate,
                             expr_show(scope->arena, &constant->items[i]));
    if (constant && !list && !expr_is_number(constant))
        return error_new("generate '%s' is %s, expected numbers", generate, expr_show(scope->arena, constant));
    double wide[EXPR_BLOCK];
    float narrow[EXPR_BLOCK];
    for (int64_t first = 0; first < task_scalars(tensor); first += EXPR_BLOCK) {
        int n = task_scalars(tensor) - first < EXPR_BLOCK ? (int)(task_scalars(tensor) - first) : EXPR_BLOCK;
        expr_block(bound, scope, first, n, wide);
        if (!task_is_float(tensor->type) || tensor->type == AKGEN_DOUBLE) {
            task_write_double(tensor, first, n, wide);
            continue;
        }
        for (int i = 0; i < n; i++)
            narrow[i] = (float)wide[i];
        task_write_float(tensor, first, n, narrow);
    }
    return NULL;
}

static size_t tensor_bytes(const struct task_tensor *tensor)
{
    size_t bytes = (size_t)tensor->elements * akgen_dtype_size(tensor->type);
    return (bytes + TENSOR_ALIGN) / TENSOR_ALIGN * TENSOR_ALIGN;
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
            if (!error && task_special_any(param, variant))
                task_special_plant(param, variant, scope.key, tensor);
            if (error)
                return error_prefix(error, "cases.csv:%d: '%s'", instance->task_case->line, task->inputs[i].name);
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
    memcpy(instance->values, smaller.values, sizeof *instance->values * (size_t)smaller.column_count);
    instance->reduced = *instance->task->smaller;
    error = bind_shapes(instance, elements);
    while (!error && *elements > TASK_GIANT && shrink_step(instance)) {
        instance->reduced = true;
        error = bind_shapes(instance, elements);
    }
    return error;
}

/* The whole. */
static struct task_instance *instance_new(const struct task *task, const struct task_case *task_case)
{
    struct task_instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        abort();
    instance->task = task;
    instance->task_case = task_case;
    instance->values = arena_alloc(&instance->arena, sizeof(char *) * (size_t)(task_case->column_count + 1));
    memcpy(instance->values, task_case->values, sizeof(char *) * (size_t)task_case->column_count);
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
    if (!error && inputs)
        error = make_inputs(instance, stream, task_case->variant != TASK_SHOWN || seed & TASK_OTHER_VALUES);
    if (!error && inputs)
        task_derive(instance);
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

struct akgen_error *task_case_measure(const struct task *task, struct task_case *task_case)
{
    struct task_instance *instance = instance_new(task, task_case);
    struct akgen_error *error = bind_shapes(instance, &task_case->elements);
    if (!error)
        error = make_attrs(instance, 0);
    task_instance_free(instance);
    return error;
}

bool task_output_judged(const struct task_instance *instance, int output, enum task_profile profile)
{
    struct arena arena = {0};
    struct expr_scope scope = {.arena = &arena,
                               .columns = instance->task_case->columns,
                               .values = instance->values,
                               .column_count = instance->task_case->column_count};
    struct expr_value value;
    struct akgen_error *error = expr_eval_text(instance->task->outputs[output].compared, &scope, &value);
    bool judged = error || (expr_is_number(&value) ? expr_number(&value) != 0
                                                   : value.kind == EXPR_TEXT && profile == TASK_STRICT);
    error_free(error);
    arena_free(&arena);
    return judged;
}
