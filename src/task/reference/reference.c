#include "task/reference/reference.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arguments. What a reference asks for is what its signature has. */
static const struct reference_signature *signature_of(const struct reference_call *call)
{
    return call->instance->task->signature;
}

const struct task_tensor *reference_input(const struct reference_call *call, int index)
{
    const struct signature_param *param = &signature_of(call)->inputs[index];
    assert(index < signature_of(call)->input_count && !param->optional && !param->list);
    return &call->instance->inputs[index].tensors[0];
}

const struct task_tensor *reference_optional(const struct reference_call *call, int index)
{
    const struct signature_param *param = &signature_of(call)->inputs[index];
    assert(index < signature_of(call)->input_count && param->optional && !param->list);
    bool there = index < call->instance->task->input_count && call->instance->inputs[index].count;
    return there ? &call->instance->inputs[index].tensors[0] : NULL;
}

const struct task_argument *reference_list(const struct reference_call *call, int index)
{
    const struct signature_param *param = &signature_of(call)->inputs[index];
    assert(index < signature_of(call)->input_count && !param->optional && param->list);
    return &call->instance->inputs[index];
}

double *reference_read_optional(const struct reference_call *call, int index)
{
    const struct task_tensor *tensor = reference_optional(call, index);
    return tensor ? reference_read_all(call, tensor) : NULL;
}

double reference_scalar(const struct reference_call *call, int index)
{
    double value;
    task_read_double(reference_input(call, index), 0, 1, &value);
    return value;
}

/* NULL: an optional one that the task lacks. */
static const json_t *attr_of(const struct reference_call *call, int index, enum task_attr_type type)
{
    const struct signature_attr *attr = &signature_of(call)->attrs[index];
    bool there = index < call->instance->task->attr_count;
    assert(index < signature_of(call)->attr_count && attr->type == type && (there || attr->optional));
    return there ? call->instance->attrs[index] : NULL;
}

double reference_attr(const struct reference_call *call, int index)
{
    const struct signature_attr *attr = &signature_of(call)->attrs[index];
    const json_t *value = attr_of(call, index, attr->type == TASK_ATTR_INT ? TASK_ATTR_INT : TASK_ATTR_FLOAT);
    return value ? json_number_value(value) : strtod(attr->value, NULL);
}

int64_t reference_integer(const struct reference_call *call, int index)
{
    const int64_t most = INT64_C(1) << 40;
    const json_t *value = attr_of(call, index, TASK_ATTR_INT);
    int64_t integer = value ? json_integer_value(value) : strtoll(signature_of(call)->attrs[index].value, NULL, 10);
    return integer > most ? most : integer < -most ? -most : integer;
}

bool reference_flag(const struct reference_call *call, int index)
{
    return json_is_true(attr_of(call, index, TASK_ATTR_BOOL));
}

const char *reference_text(const struct reference_call *call, int index)
{
    return json_string_value(attr_of(call, index, TASK_ATTR_STRING));
}

int64_t reference_item_count(const struct reference_call *call, int index)
{
    return (int64_t)json_array_size(attr_of(call, index, TASK_ATTR_LIST_INT));
}

int64_t reference_item(const struct reference_call *call, int index, int64_t item)
{
    return json_integer_value(json_array_get(attr_of(call, index, TASK_ATTR_LIST_INT), (size_t)item));
}

void reference_copy(const struct task_tensor *from, int64_t from_at, const struct task_tensor *to, int64_t to_at,
                    int64_t elements)
{
    int scalars = from->type == AKGEN_COMPLEX64 ? 2 : 1;
    assert(from_at >= 0 && to_at >= 0 && elements >= 0 && (from_at + elements) * scalars <= task_scalars(from) &&
           (to_at + elements) * scalars <= task_scalars(to));
    if (from->type == to->type) {
        size_t size = akgen_dtype_size(from->type);
        memcpy((char *)to->values + (size_t)to_at * size, (const char *)from->values + (size_t)from_at * size,
               (size_t)elements * size);
        return;
    }
    double values[2 * REFERENCE_BLOCK];
    for (int64_t first = 0; first < elements; first += REFERENCE_BLOCK) {
        int n = elements - first < REFERENCE_BLOCK ? (int)(elements - first) : REFERENCE_BLOCK;
        task_read_double(from, (from_at + first) * scalars, n * scalars, values);
        task_write_double(to, (to_at + first) * scalars, n * scalars, values);
    }
}

double reference_column(const struct reference_call *call, const char *column)
{
    return expr_number(&call->instance->cells[task_column_index(call->instance->task, column)]);
}

bool reference_any_not_finite(const struct task_argument *list)
{
    bool found = false;
    double x[REFERENCE_BLOCK];
    for (int t = 0; t < list->count; t++)
        for (int64_t first = 0; first < list->tensors[t].elements; first += REFERENCE_BLOCK) {
            int64_t rest = list->tensors[t].elements - first;
            int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
            task_read_double(&list->tensors[t], first, n, x);
            for (int i = 0; i < n; i++)
                found |= !isfinite(x[i]);
        }
    return found;
}

double reference_int8(const struct reference_call *call, double value)
{
    return fmax(-128, fmin(127, call->profile == TASK_STRICT ? value : rint(value)));
}

struct task_tensor *reference_result(const struct reference_call *call, int index)
{
    const struct signature_param *param = &signature_of(call)->outputs[index];
    assert(index < signature_of(call)->output_count && !param->optional && !param->unmade && !param->list);
    return &call->outputs[index].tensors[0];
}

const struct task_argument *reference_results(const struct reference_call *call, int index)
{
    const struct signature_param *param = &signature_of(call)->outputs[index];
    assert(index < signature_of(call)->output_count && !param->optional && !param->unmade && param->list);
    return &call->outputs[index];
}

const struct task_tensor *reference_output(const struct reference_call *call, int index)
{
    assert(!signature_of(call) || index < signature_of(call)->output_count);
    bool there = index < call->instance->task->output_count && call->outputs[index].count;
    return there ? &call->outputs[index].tensors[0] : NULL;
}

const struct task_tensor *reference_output_shape(const struct reference_call *call, int index)
{
    assert(index < signature_of(call)->output_count && !signature_of(call)->outputs[index].optional);
    return &call->instance->outputs[index].tensors[0];
}

void reference_store(const struct reference_call *call, int output, int64_t first, int64_t n, const double *values)
{
    const struct task_tensor *tensor = reference_output(call, output);
    if (tensor)
        task_write_double(tensor, first, (int)n, values);
}

double *reference_numbers(const struct reference_call *call, int64_t length)
{
    return arena_alloc(call->scratch, ((size_t)length + 1) * sizeof(double));
}

double *reference_read_all(const struct reference_call *call, const struct task_tensor *tensor)
{
    double *values = reference_numbers(call, tensor->elements);
    task_read_double(tensor, 0, (int)tensor->elements, values);
    return values;
}

double reference_gelu(double x, bool tanh_form)
{
    if (tanh_form)
        return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    return 0.5 * x * erfc(-x * 0.70710678118654752440);
}

int64_t reference_half(const struct task_tensor *x, int dim)
{
    dim += dim < 0 ? x->rank : 0;
    int64_t half = x->dims[dim] / 2;
    for (int i = dim + 1; i < x->rank; i++)
        half *= x->dims[i];
    return half;
}

/* Maps. */
static int block_at(const struct task_tensor *out, int64_t first)
{
    int64_t rest = task_scalars(out) - first;
    return rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
}

void reference_map(reference_op *op, enum akgen_dtype steps, const struct task_tensor *const *in, int arity,
                   const double *c, const struct task_tensor *out)
{
    double x[REFERENCE_ARITY][REFERENCE_BLOCK], y[REFERENCE_BLOCK];
    for (int64_t first = 0; first < task_scalars(out); first += REFERENCE_BLOCK) {
        int n = block_at(out, first);
        for (int a = 0; a < arity; a++)
            task_read_double(in[a], first, n, x[a]);
        for (int i = 0; i < n; i++) {
            double element[REFERENCE_ARITY];
            for (int a = 0; a < arity; a++)
                element[a] = x[a][i];
            y[i] = op(steps, element, c);
        }
        task_write_double(out, first, n, y);
    }
}

void reference_map_integer(reference_integer_op *op, const struct task_tensor *const *in, int arity, const double *c,
                           const struct task_tensor *out)
{
    int64_t x[REFERENCE_ARITY][REFERENCE_BLOCK], y[REFERENCE_BLOCK];
    for (int64_t first = 0; first < task_scalars(out); first += REFERENCE_BLOCK) {
        int n = block_at(out, first);
        for (int a = 0; a < arity; a++)
            task_read_integer(in[a], first, n, x[a]);
        for (int i = 0; i < n; i++) {
            int64_t element[REFERENCE_ARITY];
            for (int a = 0; a < arity; a++)
                element[a] = x[a][i];
            y[i] = op(element, c);
        }
        task_write_integer(out, first, n, y);
    }
}

void reference_elementwise(struct reference_call *call, reference_op *op, reference_integer_op *integer_op, int arity,
                           const double *c)
{
    assert(arity >= 1 && arity <= REFERENCE_ARITY);
    const struct task_tensor *in[REFERENCE_ARITY], *out = reference_result(call, 0);
    for (int i = 0; i < arity; i++)
        in[i] = reference_input(call, i);
    if (task_is_float(in[0]->type))
        reference_map(op, reference_steps(call, in[0]->type), in, arity, c, out);
    else
        reference_map_integer(integer_op, in, arity, c, out);
}
