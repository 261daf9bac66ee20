/* Tensors made from parameters (level 1: TensorCreation). */
#include "task/reference/reference.h"

#include <math.h>

/* out[i] = start + i * step. The module passes Python numbers, so floating results are float32 and integer ones int64,
 * whatever the type of start. */
static void arange(struct reference_call *call)
{
    bool floating = task_is_float(reference_input(call, 0)->type);
    reference_retype(call, 0, floating ? AKGEN_FLOAT : AKGEN_INT64);
    double start = reference_scalar(call, 0), step = reference_scalar(call, 2);
    const struct task_tensor *out = &call->outputs[0].tensors[0];
    for (int64_t i = 0; i < out->elements; i++) {
        double value = start + (double)i * step;
        task_write_double(out, i, 1, &value);
    }
}

/* y (batch..., rows, columns) = 1 where row equals column, else 0; written over the zeros of the input y. */
static void eye(struct reference_call *call)
{
    const struct task_tensor *y = &call->outputs[0].tensors[0];
    int64_t rows = y->dims[y->rank - 2], columns = y->dims[y->rank - 1];
    double one = 1;
    for (int64_t row = 0; columns && row < y->elements / columns; row++)
        if (row % rows < columns)
            task_write_double(y, row * columns + row % rows, 1, &one);
}

/* y (dims) = value everywhere; value (1). */
static void fill(struct reference_call *call)
{
    const struct task_tensor *y = &call->outputs[0].tensors[0];
    double value = reference_scalar(call, 1), block[REFERENCE_BLOCK];
    for (int i = 0; i < REFERENCE_BLOCK; i++)
        block[i] = value;
    for (int64_t first = 0; first < y->elements; first += REFERENCE_BLOCK) {
        int64_t rest = y->elements - first;
        task_write_double(y, first, rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK, block);
    }
}

const struct task_reference_entry task_references_creation[] = {
    {"arange", arange},
    {"eye", eye},
    {"fill", fill},
    {NULL, NULL},
};
