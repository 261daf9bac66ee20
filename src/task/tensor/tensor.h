/* Tensors in memory: shape, element type, values, and how numbers are read from them and stored into them. The lowest
 * floor of src/task. */
#ifndef TASK_TENSOR_TENSOR_H
#define TASK_TENSOR_TENSOR_H

#include "abi/dtype.h"
#include "base/half.h"

#include <stdbool.h>
#include <stdint.h>

enum { TASK_MAX_RANK = 8 };
struct task_tensor {
    enum akgen_dtype type;
    int rank;
    int64_t dims[TASK_MAX_RANK];
    int64_t elements;
    void *values; /* elements * size bytes; NULL for outputs before a run */
};

/* Elements first .. first + n - 1 of a tensor, widened. complex64 counts as two float32 per element: `first` and `n`
 * are in floats then. */
void task_read_double(const struct task_tensor *tensor, int64_t first, int n, double *out);
void task_read_float(const struct task_tensor *tensor, int64_t first, int n, float *out);
void task_read_integer(const struct task_tensor *tensor, int64_t first, int n, int64_t *out);
/* Stores with one rounding to nearest even from float or double; integers truncate towards zero and wrap. */
void task_write_float(const struct task_tensor *tensor, int64_t first, int n, const float *in);
void task_write_double(const struct task_tensor *tensor, int64_t first, int n, const double *in);
void task_write_integer(const struct task_tensor *tensor, int64_t first, int n, const int64_t *in);

static inline bool task_is_float(enum akgen_dtype type)
{
    return type == AKGEN_FLOAT || type == AKGEN_FLOAT16 || type == AKGEN_BF16 || type == AKGEN_DOUBLE ||
           type == AKGEN_COMPLEX64;
}
/* Returns how far apart two numbers are in units in the last place of the type (complex64: of its parts), each rounded to it first: how many of its
 * numbers one counts on from one to the other, 0 and -0 being the same. Of integers and bool the difference. INFINITY if one is not finite
 * in the type. */
double task_ulps(enum akgen_dtype type, double a, double b);
/* Scalars in memory: elements, or twice that for complex64. */
static inline int64_t task_scalars(const struct task_tensor *tensor)
{
    return tensor->type == AKGEN_COMPLEX64 ? 2 * tensor->elements : tensor->elements;
}
/* Rounds to the nearest value of a floating type; other types pass through. */
static inline double task_round(enum akgen_dtype type, double value)
{
    if (type == AKGEN_DOUBLE)
        return value;
    if (type == AKGEN_FLOAT16)
        return (double)(half_t)(float)value;
    if (type == AKGEN_BF16)
        return (double)bf16_to_float(bf16_from_float((float)value));
    return (double)(float)value;
}

#endif
