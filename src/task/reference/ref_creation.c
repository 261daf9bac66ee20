/* Tensors made from parameters (level 1: TensorCreation). */
#include "task/reference/reference.h"

#include <inttypes.h>
#include <math.h>

/* out[i] = start + i * step. The module passes Python numbers, so floating results are float32 and integer ones int64,
 * whatever the type of start. */
static void arange(struct reference_call *call)
{
    bool floating = task_is_float(reference_input(call, 0)->type);
    reference_retype(call, 0, floating ? AKGEN_FLOAT : AKGEN_INT64);
    double start = reference_scalar(call, 0), step = reference_scalar(call, 2);
    const struct task_tensor *out = reference_result(call, 0);
    for (int64_t i = 0; i < out->elements; i++) {
        double value = start + (double)i * step;
        task_write_double(out, i, 1, &value);
    }
}

/* y (batch..., rows, columns) = 1 where row equals column, else 0; written over the zeros of the input y. */
static void eye(struct reference_call *call)
{
    const struct task_tensor *y = reference_result(call, 0);
    int64_t rows = y->dims[y->rank - 2], columns = y->dims[y->rank - 1];
    double one = 1;
    for (int64_t row = 0; columns && row < y->elements / columns; row++)
        if (row % rows < columns)
            task_write_double(y, row * columns + row % rows, 1, &one);
}

/* y (dims) = value everywhere; value (1). */
static void fill(struct reference_call *call)
{
    const struct task_tensor *y = reference_result(call, 0);
    double value = reference_scalar(call, 1), block[REFERENCE_BLOCK];
    for (int i = 0; i < REFERENCE_BLOCK; i++)
        block[i] = value;
    for (int64_t first = 0; first < y->elements; first += REFERENCE_BLOCK) {
        int64_t rest = y->elements - first;
        task_write_double(y, first, rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK, block);
    }
}

/* What lies between start and end, in steps. */
static struct akgen_error *arange_fits(const struct reference_call *call)
{
    const struct task_tensor *out = reference_output_shape(call, 0);
    if (!reference_input(call, 0)->values)
        return NULL;
    double start = reference_scalar(call, 0), end = reference_scalar(call, 1), step = reference_scalar(call, 2);
    double count = step == 0 ? NAN : fmax(0, ceil((end - start) / step));
    return count == (double)out->elements
               ? NULL
               : error_new("from %g to %g in steps of %g there are %g numbers, the output has %" PRId64, start, end,
                           step, count, out->elements);
}

static struct akgen_error *eye_fits(const struct reference_call *call)
{
    const struct task_tensor *y = reference_output_shape(call, 0);
    int64_t rows = y->dims[y->rank - 2], columns = y->dims[y->rank - 1];
    double wanted = reference_attr(call, 1);
    return wanted == (double)columns || (wanted == 0 && columns == rows)
               ? NULL
               : error_new("the output has %" PRId64 " columns, num_columns says %g%s", columns, wanted,
                           wanted == 0 ? ": as many as rows" : "");
}

/* dims is the shape of y. */
static struct akgen_error *fill_fits(const struct reference_call *call)
{
    const struct task_tensor *dims = reference_input(call, 0), *y = reference_output_shape(call, 0);
    int64_t size;
    if (dims->elements != y->rank)
        return error_new("dims has %" PRId64 " sizes, the output has %d dimensions", dims->elements, y->rank);
    for (int d = 0; dims->values && d < y->rank; d++) {
        task_read_integer(dims, d, 1, &size);
        if (size != y->dims[d])
            return error_new("dims holds %" PRId64 " for dimension %d, the output has %" PRId64, size, d, y->dims[d]);
    }
    return NULL;
}

const struct task_reference_entry task_references_creation[] = {
    REFERENCE(arange,
              "start floating/integer (1) '1', end =start (1) '1 + $count', step =start (1) '1' -> out =start [count]",
              .fits = arange_fits),
    REFERENCE(eye,
              "y number [*batch_shape, num_rows, num_columns] or [*batch_shape, num_rows, num_rows] 'zeros' -> y =y "
              "[*batch_shape, num_rows, num_columns] or [*batch_shape, num_rows, num_rows]; num_rows int in 1.. = 6, "
              "num_columns int in 0.. = 4, batch_shape list_int = [2], dtype int = 0",
              .fits = eye_fits),
    REFERENCE(fill,
              "dims index (rank) '$shape', value number/bool (1) '3' -> y =value [*shape] | size rank [2] | size shape "
              "[4, 5]",
              .fits = fill_fits),
    {NULL, NULL, NULL, NULL},
};
