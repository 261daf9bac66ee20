#include "task/reference/reference.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arguments. */
double reference_scalar(const struct reference_call *call, int index)
{
    double value;
    task_read_double(reference_input(call, index), 0, 1, &value);
    return value;
}

double reference_attr(const struct reference_call *call, int index)
{
    return json_number_value(call->instance->attrs[index]);
}

void reference_copy(const struct task_tensor *from, int64_t from_at, const struct task_tensor *to, int64_t to_at,
                    int64_t elements)
{
    if (from->type == to->type) {
        size_t size = akgen_dtype_size(from->type);
        memcpy((char *)to->values + (size_t)to_at * size, (const char *)from->values + (size_t)from_at * size,
               (size_t)elements * size);
        return;
    }
    int scalars = from->type == AKGEN_COMPLEX64 ? 2 : 1;
    double values[2 * REFERENCE_BLOCK];
    for (int64_t first = 0; first < elements; first += REFERENCE_BLOCK) {
        int n = elements - first < REFERENCE_BLOCK ? (int)(elements - first) : REFERENCE_BLOCK;
        task_read_double(from, (from_at + first) * scalars, n * scalars, values);
        task_write_double(to, (to_at + first) * scalars, n * scalars, values);
    }
}

double reference_column(const struct reference_call *call, const char *column)
{
    int index = task_column_index(call->instance->task, column);
    const struct expr_value *cell = index == TASK_NONE ? NULL : &call->instance->cells[index];
    return cell && expr_is_number(cell) ? expr_number(cell) : 0;
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

const struct task_tensor *reference_output(const struct reference_call *call, int index)
{
    return call->outputs[index].count ? &call->outputs[index].tensors[0] : NULL;
}

void reference_store(const struct reference_call *call, int output, int64_t first, int64_t n, const double *values)
{
    if (call->outputs[output].count)
        task_write_double(&call->outputs[output].tensors[0], first, (int)n, values);
}

double *reference_numbers(int64_t length)
{
    double *numbers = calloc((size_t)length + 1, sizeof *numbers);
    if (!numbers)
        abort();
    return numbers;
}

double *reference_read_all(const struct task_tensor *tensor)
{
    double *values = reference_numbers(tensor->elements);
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
    const struct task_tensor *in[REFERENCE_ARITY], *out = &call->outputs[0].tensors[0];
    for (int i = 0; i < arity; i++)
        in[i] = reference_input(call, i);
    if (task_is_float(in[0]->type))
        reference_map(op, reference_steps(call, in[0]->type), in, arity, c, out);
    else
        reference_map_integer(integer_op, in, arity, c, out);
}
