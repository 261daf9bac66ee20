/* Operators that move slices and rows of tensors (level 1: Index, level 2: TensorMove). */
#include "task/reference/reference.h"

static int64_t whole(const struct task_tensor *tensor, int64_t index)
{
    int64_t value;
    task_read_integer(tensor, index, 1, &value);
    return value;
}

static int64_t sizes_between(const struct task_tensor *tensor, int from, int to)
{
    int64_t product = 1;
    for (int d = from; d < to; d++)
        product *= tensor->dims[d];
    return product;
}

/* y (.., indices, ..) = x (.., n, ..) at indices[i] along dimension axis. */
static void gather(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *indices = reference_input(call, 1);
    const struct task_tensor *y = &call->outputs[0].tensors[0];
    int axis = (int)whole(reference_input(call, 2), 0);
    axis += axis < 0 ? x->rank : 0;
    int64_t outer = sizes_between(x, 0, axis), inner = sizes_between(x, axis + 1, x->rank), n = x->dims[axis];
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < indices->elements; i++)
            reference_copy(x, (o * n + whole(indices, i)) * inner, y, (o * indices->elements + i) * inner, inner);
}

/* var[i] (.., n, ..) takes elements 0 .. length - 1 of updates[i] (.., l, ..) from start on, along dimension axis;
 * (start, length) = indice[i]. Tensors whose mask is 0 stay. */
static void scatter_list(struct reference_call *call)
{
    const struct task_argument *var = &call->instance->inputs[0], *mask = &call->instance->inputs[3];
    const struct task_tensor *indice = reference_input(call, 1), *updates = reference_input(call, 2);
    for (int i = 0; i < var->count; i++) {
        const struct task_tensor *from = &var->tensors[i], *to = &call->outputs[0].tensors[i];
        reference_copy(from, 0, to, 0, from->elements);
        if (mask->count && !whole(&mask->tensors[0], i))
            continue;
        int axis = (int)reference_attr(call, 1);
        axis += axis < 0 ? from->rank : 0;
        int64_t outer = sizes_between(from, 0, axis), inner = sizes_between(from, axis + 1, from->rank);
        int64_t n = from->dims[axis], l = updates->dims[axis + 1], start = whole(indice, 2 * i);
        int64_t length = whole(indice, 2 * i + 1);
        for (int64_t o = 0; o < outer; o++)
            reference_copy(updates, ((i * outer + o) * l) * inner, to, (o * n + start) * inner, length * inner);
    }
}

/* new_indices[u] = indices[e], new_values[u] += values[e] with u = unique_indices[e], in the order of e. Sums of half
 * round after each step. */
static void coalesce_sparse(struct reference_call *call)
{
    const struct task_tensor *unique = reference_input(call, 1), *indices = reference_input(call, 2);
    const struct task_tensor *values = reference_input(call, 3), *sums = &call->outputs[1].tensors[0];
    enum akgen_dtype steps = reference_steps(call, values->type);
    int64_t entries = values->dims[0], size = values->elements / entries, columns = indices->dims[1];
    for (int64_t e = 0; e < entries; e++) {
        int64_t u = whole(unique, e);
        reference_copy(indices, e * columns, &call->outputs[0].tensors[0], u * columns, columns);
        for (int64_t i = 0; i < size; i++) {
            double old, more;
            task_read_double(sums, u * size + i, 1, &old);
            task_read_double(values, e * size + i, 1, &more);
            double sum = task_is_float(values->type) ? reference_round(steps, old + more) : old + more;
            task_write_double(sums, u * size + i, 1, &sum);
        }
    }
}

/* y (rows, ..): row i of feeds, times[i] times; zeros behind. */
static void feeds_repeat(struct reference_call *call)
{
    const struct task_tensor *feeds = reference_input(call, 0), *times = reference_input(call, 1);
    const struct task_tensor *y = &call->outputs[0].tensors[0];
    int64_t size = sizes_between(feeds, 1, feeds->rank), row = 0;
    for (int64_t i = 0; i < feeds->dims[0]; i++)
        for (int64_t copy = whole(times, i); copy > 0 && row < y->dims[0]; copy--, row++)
            reference_copy(feeds, i * size, y, row * size, size);
}

/* The first lengths[b] elements along seq_dim in reverse, for each b of batch_dim; the others stay. */
static void reverse_sequence(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *lengths = reference_input(call, 1);
    const struct task_tensor *y = &call->outputs[0].tensors[0];
    int seq = (int)reference_attr(call, 0), batch = (int)reference_attr(call, 1);
    int last = seq > batch ? seq : batch;
    int64_t runs = sizes_between(x, 0, last + 1), inner = sizes_between(x, last + 1, x->rank);
    int64_t seq_stride = sizes_between(x, seq + 1, last + 1), batch_stride = sizes_between(x, batch + 1, last + 1);
    for (int64_t run = 0; run < runs; run++) {
        int64_t s = run / seq_stride % x->dims[seq], length = whole(lengths, run / batch_stride % x->dims[batch]);
        int64_t from = s < length ? run + (length - 1 - 2 * s) * seq_stride : run;
        reference_copy(x, from * inner, y, run * inner, inner);
    }
}

/* var[begin : end : stride, ..] = value; what the axes do not name is whole, without axes the first ones are meant. */
static void strided_slice_assign(struct reference_call *call)
{
    const struct task_tensor *var = reference_input(call, 0), *value = reference_input(call, 1);
    const struct task_tensor *begin = reference_input(call, 2), *strides = reference_input(call, 4);
    const struct task_argument *axes = &call->instance->inputs[5];
    const struct task_tensor *y = &call->outputs[0].tensors[0];
    int64_t start[TASK_MAX_RANK] = {0}, step[TASK_MAX_RANK];
    for (int d = 0; d < TASK_MAX_RANK; d++)
        step[d] = 1;
    for (int i = 0; i < begin->elements; i++) {
        int64_t axis = axes->count ? whole(&axes->tensors[0], i) : i;
        start[axis] = whole(begin, i);
        step[axis] = whole(strides, i);
    }
    reference_copy(var, 0, y, 0, var->elements);
    for (int64_t i = 0; i < value->elements; i++) {
        int64_t rest = i, to = 0, stride = 1;
        for (int d = var->rank - 1; d >= 0; d--) {
            to += (start[d] + rest % value->dims[d] * step[d]) * stride;
            rest /= value->dims[d];
            stride *= var->dims[d];
        }
        reference_copy(value, i, y, to, 1);
    }
}

const struct task_reference_entry task_references_move[] = {
    {"gather", gather},
    {"scatter_list", scatter_list},
    {"coalesce_sparse", coalesce_sparse},
    {"feeds_repeat", feeds_repeat},
    {"reverse_sequence", reverse_sequence},
    {"strided_slice_assign", strided_slice_assign},
    {NULL, NULL},
};
