/* The context of a tiling call: the call's tensors and attributes by position, and what the tiling function sets. */
#include "op/op_internal.h"

#include <stdlib.h>
#include <string.h>

static struct akgen_tensor bind_tensor(const struct op_tensor *from, bool values)
{
    struct akgen_tensor tensor = {
        .dtype = (int)from->type, .origin_format = from->format, .storage_format = from->format};
    tensor.shape.storage.rank = (size_t)from->rank;
    memcpy(tensor.shape.storage.dims, from->dims, sizeof from->dims);
    tensor.shape.origin = tensor.shape.storage;
    if (values && from->values) {
        tensor.values = from->values;
        int64_t elements = akgen_shape_elements(&tensor.shape.storage);
        tensor.bytes = elements > 0 ? (size_t)elements * akgen_dtype_size(from->type) : 0;
    }
    return tensor;
}

static size_t present(const struct op_argument *argument)
{
    size_t count = 0;
    for (int i = 0; i < argument->count; i++)
        count += argument->tensors[i].rank >= 0;
    return count;
}

static struct akgen_error *check_argument(const struct op_param *param, const struct op_argument *argument,
                                          const char *side)
{
    size_t count = present(argument);
    for (int i = 0; i < argument->count; i++)
        if (argument->tensors[i].rank > OP_MAX_RANK)
            return error_new("%s '%s' has rank %d, more than %d", side, param->name, argument->tensors[i].rank,
                             OP_MAX_RANK);
    if (param->param_type == OP_REQUIRED && count != 1)
        return error_new("%s '%s' is required: it needs one tensor, the call has %zu", side, param->name, count);
    if (param->param_type == OP_OPTIONAL && count > 1)
        return error_new("%s '%s' is optional: it takes one tensor, the call has %zu", side, param->name, count);
    return NULL;
}

static struct akgen_error *bind_side(struct arena *arena, struct op_bound *bound, const struct op_param *params,
                                     int count, const struct op_argument *arguments, int argument_count,
                                     const char *side, uint64_t value_depend)
{
    if (count != argument_count)
        return error_new("the operator has %d %ss, the call has %d", count, side, argument_count);
    for (int i = 0; i < count; i++) {
        struct akgen_error *error = check_argument(&params[i], &arguments[i], side);
        if (error)
            return error;
        bound->count += present(&arguments[i]);
    }
    bound->parameters = (size_t)count;
    bound->instances = arena_alloc(arena, sizeof *bound->instances * (size_t)(count + 1));
    bound->tensors = arena_alloc(arena, sizeof *bound->tensors * (bound->count + 1));
    size_t next = 0;
    for (int i = 0; i < count; i++) {
        bool values =
            params[i].value_depend || params[i].scalar || params[i].scalar_list || (i < 64 && value_depend >> i & 1);
        bound->instances[i].first = next;
        for (int j = 0; j < arguments[i].count; j++)
            if (arguments[i].tensors[j].rank >= 0)
                bound->tensors[next++] = bind_tensor(&arguments[i].tensors[j], values);
        bound->instances[i].count = next - bound->instances[i].first;
    }
    return NULL;
}

static const struct akgen_vector *store_list(struct arena *arena, const json_t *list, enum op_attr_type type)
{
    size_t count = json_array_size(list);
    struct akgen_vector *vector = arena_alloc(arena, sizeof *vector + count * sizeof(int64_t));
    vector->size = vector->capacity = count;
    void *elements = vector + 1;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (type == OP_ATTR_LIST_INT)
            ((int64_t *)elements)[i] = json_integer_value(item);
        else if (type == OP_ATTR_LIST_FLOAT)
            ((float *)elements)[i] = (float)json_number_value(item);
        else
            ((bool *)elements)[i] = json_is_true(item);
    }
    return vector;
}

static const void *store_attr(struct arena *arena, enum op_attr_type type, const json_t *value)
{
    /* At least 8 zeroed bytes: integer attributes are read through pointers to smaller and larger types. */
    union {
        int64_t integer;
        float real;
        bool boolean;
    } *scalar = arena_alloc(arena, sizeof *scalar);
    switch (type) {
    case OP_ATTR_BOOL:
        scalar->boolean = json_is_true(value);
        return scalar;
    case OP_ATTR_INT:
        scalar->integer = json_integer_value(value);
        return scalar;
    case OP_ATTR_FLOAT:
        scalar->real = (float)json_number_value(value);
        return scalar;
    case OP_ATTR_STRING:
        return arena_strdup(arena, json_is_string(value) ? json_string_value(value) : "");
    case OP_ATTR_LIST_LIST_INT: {
        size_t count = json_array_size(value);
        struct akgen_vector_list *rows = arena_alloc(arena, sizeof *rows + count * sizeof rows->items[0]);
        rows->size = count;
        for (size_t i = 0; i < count; i++)
            rows->items[i] = store_list(arena, json_array_get(value, i), OP_ATTR_LIST_INT);
        return rows;
    }
    default:
        return store_list(arena, value, type);
    }
}

static struct akgen_error *bind_attrs(struct akgen_tiling_context *context, const struct op_def *def,
                                      const struct op_call *call)
{
    if (call->attr_count != def->attr_count)
        return error_new("the operator has %d attributes, the call has %d", def->attr_count, call->attr_count);
    context->attrs.count = (size_t)def->attr_count;
    context->attrs.values = arena_alloc(&context->arena, sizeof(void *) * (size_t)(def->attr_count + 1));
    for (int i = 0; i < def->attr_count; i++) {
        const struct op_attr *attr = &def->attrs[i];
        const json_t *value = call->attrs[i].value;
        if (!value || json_is_null(value))
            value = attr->value;
        if ((!value || json_is_null(value)) && attr->required)
            return error_new("attribute '%s' is required and the call gives no value", attr->name);
        const char *mismatch = op_attr_mismatch(attr->type, value);
        if (mismatch)
            return error_new("attribute '%s' %s", attr->name, mismatch);
        context->attrs.values[i] = store_attr(&context->arena, attr->type, value);
    }
    return NULL;
}

struct akgen_error *op_context_bind(struct akgen_tiling_context *context, const struct op_def *def,
                                    const struct op_call *call)
{
    struct op_registration *registered = op_registry_find(NULL, def->type);
    struct akgen_error *error =
        bind_side(&context->arena, &context->inputs, def->inputs, def->input_count, call->inputs, call->input_count,
                  "input", registered ? registered->value_depend : 0);
    if (!error)
        error = bind_side(&context->arena, &context->outputs, def->outputs, def->output_count, call->outputs,
                          call->output_count, "output", 0);
    return error ? error : bind_attrs(context, def, call);
}

/* What the headers ask. */

static const struct akgen_tensor *by_position(const struct op_bound *bound, size_t index)
{
    return index < bound->count ? &bound->tensors[index] : NULL;
}

static const struct akgen_tensor *by_parameter(const struct op_bound *bound, size_t ir, size_t index)
{
    if (ir >= bound->parameters || index >= bound->instances[ir].count)
        return NULL;
    return &bound->tensors[bound->instances[ir].first + index];
}

const struct akgen_tensor *akgen_context_input(const struct akgen_tiling_context *context, size_t index)
{
    return by_position(&context->inputs, index);
}

const struct akgen_tensor *akgen_context_output(const struct akgen_tiling_context *context, size_t index)
{
    return by_position(&context->outputs, index);
}

const struct akgen_tensor *akgen_context_ir_input(const struct akgen_tiling_context *context, size_t ir, size_t index)
{
    return by_parameter(&context->inputs, ir, index);
}

const struct akgen_tensor *akgen_context_ir_output(const struct akgen_tiling_context *context, size_t ir, size_t index)
{
    return by_parameter(&context->outputs, ir, index);
}

size_t akgen_context_input_count(const struct akgen_tiling_context *context)
{
    return context->inputs.count;
}

size_t akgen_context_output_count(const struct akgen_tiling_context *context)
{
    return context->outputs.count;
}

const struct akgen_instance *akgen_context_input_instance(const struct akgen_tiling_context *context, size_t ir)
{
    return ir < context->inputs.parameters ? &context->inputs.instances[ir] : NULL;
}

const struct akgen_instance *akgen_context_output_instance(const struct akgen_tiling_context *context, size_t ir)
{
    return ir < context->outputs.parameters ? &context->outputs.instances[ir] : NULL;
}

size_t akgen_context_ir_input_count(const struct akgen_tiling_context *context)
{
    return context->inputs.parameters;
}

size_t akgen_context_ir_output_count(const struct akgen_tiling_context *context)
{
    return context->outputs.parameters;
}

const struct akgen_attrs *akgen_context_attrs(const struct akgen_tiling_context *context)
{
    return &context->attrs;
}

const void *akgen_attrs_get(const struct akgen_attrs *attrs, size_t index)
{
    return index < attrs->count ? attrs->values[index] : NULL;
}

size_t akgen_attrs_count(const struct akgen_attrs *attrs)
{
    return attrs->count;
}

const char *akgen_context_node_type(const struct akgen_tiling_context *context)
{
    return context->type;
}

const char *akgen_context_node_name(const struct akgen_tiling_context *context)
{
    return context->type;
}

int32_t akgen_context_deterministic(const struct akgen_tiling_context *context)
{
    return context->deterministic;
}

const void *akgen_context_compile_info(const struct akgen_tiling_context *context)
{
    return context->compile_info;
}

struct akgen_platform *akgen_context_platform(const struct akgen_tiling_context *context)
{
    return (struct akgen_platform *)context->soc;
}

struct akgen_raw_tiling *akgen_context_raw_tiling(struct akgen_tiling_context *context)
{
    return &context->raw;
}

size_t *akgen_context_workspaces(struct akgen_tiling_context *context, size_t count)
{
    if (count > OP_MAX_WORKSPACES)
        return NULL;
    context->workspace_count = count;
    return context->workspaces;
}

size_t akgen_context_workspace_count(const struct akgen_tiling_context *context)
{
    return context->workspace_count;
}

void akgen_context_set(struct akgen_tiling_context *context, enum akgen_context_number which, uint64_t value)
{
    context->numbers[which] = value;
    if (which == AKGEN_BLOCK_DIM)
        context->block_dim_set = true;
}

uint64_t akgen_context_get(const struct akgen_tiling_context *context, enum akgen_context_number which)
{
    return context->numbers[which];
}

void *akgen_parse_compile_info(struct akgen_parse_context *context)
{
    return context->compile_info;
}

const char *akgen_parse_compile_json(struct akgen_parse_context *context)
{
    (void)context;
    return "{}";
}

struct akgen_platform *akgen_parse_platform(struct akgen_parse_context *context)
{
    return (struct akgen_platform *)context->soc;
}

const char *akgen_parse_node_type(struct akgen_parse_context *context)
{
    return context->type;
}
