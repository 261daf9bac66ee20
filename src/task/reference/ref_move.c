/* Operators that move slices and rows of tensors (level 1: Index, level 2: TensorMove). */
#include "task/reference/reference.h"

#include <inttypes.h>

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
    const struct task_tensor *y = reference_result(call, 0);
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
    const struct task_argument *var = reference_list(call, 0);
    const struct task_tensor *indice = reference_input(call, 1), *updates = reference_input(call, 2);
    const struct task_tensor *mask = reference_optional(call, 3);
    for (int i = 0; i < var->count; i++) {
        const struct task_tensor *from = &var->tensors[i], *to = &reference_results(call, 0)->tensors[i];
        reference_copy(from, 0, to, 0, from->elements);
        if (mask && !whole(mask, i))
            continue;
        int axis = (int)reference_integer(call, 1);
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
    const struct task_tensor *values = reference_input(call, 3), *sums = reference_result(call, 1);
    enum akgen_dtype steps = reference_steps(call, values->type);
    int64_t entries = values->dims[0], size = values->elements / entries, columns = indices->dims[1];
    for (int64_t e = 0; e < entries; e++) {
        int64_t u = whole(unique, e);
        reference_copy(indices, e * columns, reference_result(call, 0), u * columns, columns);
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
    const struct task_tensor *y = reference_result(call, 0);
    int64_t size = sizes_between(feeds, 1, feeds->rank), row = 0;
    for (int64_t i = 0; i < feeds->dims[0]; i++)
        for (int64_t copy = whole(times, i); copy > 0 && row < y->dims[0]; copy--, row++)
            reference_copy(feeds, i * size, y, row * size, size);
}

/* The first lengths[b] elements along seq_dim in reverse, for each b of batch_dim; the others stay. */
static void reverse_sequence(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *lengths = reference_input(call, 1);
    const struct task_tensor *y = reference_result(call, 0);
    int seq = (int)reference_integer(call, 0), batch = (int)reference_integer(call, 1);
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
    const struct task_tensor *axes = reference_optional(call, 5);
    const struct task_tensor *y = reference_result(call, 0);
    int64_t start[TASK_MAX_RANK] = {0}, step[TASK_MAX_RANK];
    for (int d = 0; d < TASK_MAX_RANK; d++)
        step[d] = 1;
    for (int i = 0; i < begin->elements; i++) {
        int64_t axis = axes ? whole(axes, i) : i;
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

/* What the values of inputs must be. */
static struct akgen_error *gather_fits(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *indices = reference_input(call, 1);
    const struct task_tensor *axis_input = reference_input(call, 2), *y = reference_output_shape(call, 0);
    if (!axis_input->values)
        return NULL;
    int64_t axis = whole(axis_input, 0), given = axis;
    axis += axis < 0 ? x->rank : 0;
    if (axis < 0 || axis >= x->rank)
        return error_new("axis is %" PRId64 ", x has %d dimensions", given, x->rank);
    int64_t wanted = sizes_between(x, 0, (int)axis) * indices->elements * sizes_between(x, (int)axis + 1, x->rank);
    if (y->elements != wanted)
        return error_new("the output has %" PRId64 " elements, %" PRId64 " are gathered", y->elements, wanted);
    for (int64_t i = 0; i < indices->elements; i++)
        if (whole(indices, i) < 0 || whole(indices, i) >= x->dims[axis])
            return error_new("indices holds %" PRId64 ", dimension %" PRId64 " of x has %" PRId64 " elements",
                             whole(indices, i), axis, x->dims[axis]);
    return NULL;
}

static struct akgen_error *scatter_list_fits(const struct reference_call *call)
{
    const struct task_argument *var = reference_list(call, 0);
    const struct task_tensor *indice = reference_input(call, 1), *updates = reference_input(call, 2);
    for (int i = 0; indice->values && i < var->count; i++) {
        const struct task_tensor *tensor = &var->tensors[i];
        int axis = (int)reference_integer(call, 1) + tensor->rank;
        int64_t start = whole(indice, 2 * i), length = whole(indice, 2 * i + 1);
        if (start < 0 || length < 0 || length > updates->dims[axis + 1] || start > tensor->dims[axis] - length)
            return error_new("indice says %" PRId64 " elements from %" PRId64 " on for tensor %d: it has %" PRId64
                             ", updates has %" PRId64,
                             length, start, i, tensor->dims[axis], updates->dims[axis + 1]);
    }
    return NULL;
}

static struct akgen_error *reverse_sequence_fits(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *lengths = reference_input(call, 1);
    double seq = reference_attr(call, 0), batch = reference_attr(call, 1);
    if (seq >= x->rank || batch >= x->rank || seq == batch)
        return error_new("seq_dim is %g and batch_dim %g: x has %d dimensions, of which they must be two", seq, batch,
                         x->rank);
    if (lengths->elements != x->dims[(int)batch])
        return error_new("seq_lengths has %" PRId64 " elements, dimension batch_dim has %" PRId64, lengths->elements,
                         x->dims[(int)batch]);
    for (int64_t i = 0; lengths->values && i < lengths->elements; i++)
        if (whole(lengths, i) > x->dims[(int)seq])
            return error_new("seq_lengths holds %" PRId64 ", dimension seq_dim has %" PRId64, whole(lengths, i),
                             x->dims[(int)seq]);
    return NULL;
}

/* Each axis once, and the last element that is assigned within var. */
static struct akgen_error *slices_fit(const struct task_tensor *var, const struct task_tensor *value,
                                      const struct task_tensor *begin, const struct task_tensor *strides,
                                      const struct task_tensor *axes)
{
    int64_t start[TASK_MAX_RANK] = {0}, step[TASK_MAX_RANK] = {0};
    for (int i = 0; i < begin->elements; i++) {
        int64_t axis = axes ? whole(axes, i) : i;
        if (axis < 0 || axis >= var->rank || step[axis])
            return error_new("axis %" PRId64 " of the slice is none of the %d of var, or comes twice", axis, var->rank);
        start[axis] = whole(begin, i);
        step[axis] = whole(strides, i);
    }
    for (int d = 0; d < var->rank; d++) {
        int64_t end, stride = step[d] ? step[d] : 1;
        bool beyond = __builtin_mul_overflow(value->dims[d] - 1, stride, &end) ||
                      __builtin_add_overflow(end, start[d], &end) || end >= var->dims[d];
        if (value->dims[d] && beyond)
            return error_new("dimension %d: %" PRId64 " elements from %" PRId64 " on in steps of %" PRId64
                             " do not fit in %" PRId64,
                             d, value->dims[d], start[d], stride, var->dims[d]);
    }
    return NULL;
}

static struct akgen_error *strided_slice_assign_fits(const struct reference_call *call)
{
    const struct task_tensor *var = reference_input(call, 0), *value = reference_input(call, 1);
    const struct task_tensor *begin = reference_input(call, 2);
    if (value->rank != var->rank)
        return error_new("input_value has %d dimensions, var has %d", value->rank, var->rank);
    return begin->values ? slices_fit(var, value, begin, reference_input(call, 4), reference_optional(call, 5)) : NULL;
}

const struct task_reference_entry task_references_move[] = {
    REFERENCE(gather,
              "x any [*shape], indices index (count) 'randint(0, $shape[1])', axis index (1) '1' -> y =x [*into]; "
              "batchDims int in 0..0 = 0, negativeIndexSupport bool of false = false | size shape [4, 6, 5] | size "
              "count [7] | size into [4, 7, 5]",
              .fits = gather_fits),
    REFERENCE(
        scatter_list,
        "var list number [*a:axis, @n, *b], indice index [#var, 2] 'randint(0, 1000)', updates =var [#var, *a, l, *b], "
        "mask? uint8 (#var) 'ones' -> var list =var [*a, @n, *b]; reduce string of update = update, axis int in ..-1 = "
        "-2 | derive ranges_of_updates | size var_shapes [[4, 7, 5], [4, 6, 5]] | size a [4] | size b [5] | size l 3",
        .fits = scatter_list_fits),
    REFERENCE(coalesce_sparse, "unique_len index (u), unique_indices index (entries) in 0..u-1 'min(arange, $u - 1)', "
                               "indices =unique_indices [entries, columns], values floating/int32 [entries, *row] -> "
                               "new_indices =unique_indices [u, columns], new_values =values [u, *row]"),
    REFERENCE(feeds_repeat, "feeds floating [b, *row], feeds_repeat_times index (b) in 0.. 'randint(0, 4)' -> y =feeds "
                            "[output_feeds_size, *row]; output_feeds_size int in 0.. = 12"),
    REFERENCE(reverse_sequence,
              "x any [*shape], seq_lengths index (batch) in 0.. 'randint(1, $shape[$seq_dim] + 1)' -> y =x [*shape]; "
              "seq_dim int in 0.. = 1, batch_dim int in 0.. = 0 | size shape [4, 6, 5] | size batch [4]",
              .fits = reverse_sequence_fits),
    REFERENCE(strided_slice_assign,
              "var floating/int8/int32/int64/float64 [*shape], input_value =var [*part], begin index (k) in 0.. '[1, "
              "0]', end index (k) '[7, 5]', strides index (k) in 1.. '[2, 1]', axes? index (k) '[0, 1]' -> var =var "
              "[*shape] | size shape [7, 5] | size part [3, 5] | size k [2]",
              .fits = strided_slice_assign_fits),
    {NULL, NULL, NULL, NULL},
};
