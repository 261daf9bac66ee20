/* Reading and writing tensors of any element type as float, double or int64. */
#include "task/tensor/tensor.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* X(dtype, C type, how to widen x, how to narrow v) for each type that is held as a number. */
#define NUMBER_TYPES(X)                                                                                                \
    X(AKGEN_INT8, int8_t)                                                                                              \
    X(AKGEN_INT16, int16_t)                                                                                            \
    X(AKGEN_INT32, int32_t)                                                                                            \
    X(AKGEN_INT64, int64_t)                                                                                            \
    X(AKGEN_UINT8, uint8_t)                                                                                            \
    X(AKGEN_UINT16, uint16_t)                                                                                          \
    X(AKGEN_UINT32, uint32_t)                                                                                          \
    X(AKGEN_UINT64, uint64_t)                                                                                          \
    X(AKGEN_BOOL, uint8_t)

/* A reference that reads or writes beside a tensor is a mistake of ours, which no result may hide. */
static void check_bounds(const struct task_tensor *tensor, int64_t first, int n)
{
    assert(n == 0 || (first >= 0 && n > 0 && first + n <= task_scalars(tensor)));
}

static int64_t integer_of(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : 0;
}

#define READ(type, c_type, to)                                                                                         \
    case type:                                                                                                         \
        for (int i = 0; i < n; i++)                                                                                    \
            out[i] = (to)((const c_type *)tensor->values)[first + i];                                                  \
        return;
#define READER(name, to)                                                                                               \
    void name(const struct task_tensor *tensor, int64_t first, int n, to *out)                                         \
    {                                                                                                                  \
        const uint16_t *bits = tensor->values;                                                                         \
        check_bounds(tensor, first, n);                                                                                \
        switch (tensor->type) {                                                                                        \
            NUMBER_TYPES(READ_##to)                                                                                    \
            READ(AKGEN_FLOAT, float, to)                                                                               \
            READ(AKGEN_COMPLEX64, float, to)                                                                           \
            READ(AKGEN_DOUBLE, double, to)                                                                             \
            READ(AKGEN_FLOAT16, half_t, to)                                                                            \
        case AKGEN_BF16:                                                                                               \
            for (int i = 0; i < n; i++)                                                                                \
                out[i] = (to)bf16_to_float(bits[first + i]);                                                           \
            return;                                                                                                    \
        default:                                                                                                       \
            memset(out, 0, sizeof *out *(size_t)n);                                                                    \
        }                                                                                                              \
    }
#define READ_float(type, c_type)  READ(type, c_type, float)
#define READ_double(type, c_type) READ(type, c_type, double)
READER(task_read_float, float)
READER(task_read_double, double)

#define READ_int64_t(type, c_type) READ(type, c_type, int64_t)
void task_read_integer(const struct task_tensor *tensor, int64_t first, int n, int64_t *out)
{
    check_bounds(tensor, first, n);
    switch (tensor->type) {
        NUMBER_TYPES(READ_int64_t)
    default:
        for (int i = 0; i < n; i++) {
            double value;
            task_read_double(tensor, first + i, 1, &value);
            out[i] = integer_of(value);
        }
    }
}

#define WRITE(type, c_type, convert)                                                                                   \
    case type:                                                                                                         \
        for (int i = 0; i < n; i++)                                                                                    \
            ((c_type *)tensor->values)[first + i] = (c_type)convert(in[i]);                                            \
        return;
#define SAME(x)          (x)
#define BYTE_OF_TRUTH(x) ((x) != 0)
#define WRITER(name, from, half_from, bf16_from, WRITE_INTEGER)                                                        \
    void name(const struct task_tensor *tensor, int64_t first, int n, const from *in)                                  \
    {                                                                                                                  \
        check_bounds(tensor, first, n);                                                                                \
        switch (tensor->type) {                                                                                        \
            WRITE_INTEGER(AKGEN_INT8, int8_t)                                                                          \
            WRITE_INTEGER(AKGEN_INT16, int16_t)                                                                        \
            WRITE_INTEGER(AKGEN_INT32, int32_t)                                                                        \
            WRITE_INTEGER(AKGEN_INT64, int64_t)                                                                        \
            WRITE_INTEGER(AKGEN_UINT8, uint8_t)                                                                        \
            WRITE_INTEGER(AKGEN_UINT16, uint16_t)                                                                      \
            WRITE_INTEGER(AKGEN_UINT32, uint32_t)                                                                      \
            WRITE_INTEGER(AKGEN_UINT64, uint64_t)                                                                      \
            WRITE(AKGEN_BOOL, uint8_t, BYTE_OF_TRUTH)                                                                  \
            WRITE(AKGEN_FLOAT, float, SAME)                                                                            \
            WRITE(AKGEN_COMPLEX64, float, SAME)                                                                        \
            WRITE(AKGEN_DOUBLE, double, SAME)                                                                          \
            WRITE(AKGEN_FLOAT16, half_t, half_from)                                                                    \
            WRITE(AKGEN_BF16, uint16_t, bf16_from)                                                                     \
        default:                                                                                                       \
            return;                                                                                                    \
        }                                                                                                              \
    }
#define WRITE_TRUNCATED(type, c_type) WRITE(type, c_type, integer_of)
#define WRITE_WRAPPED(type, c_type)   WRITE(type, c_type, SAME)
WRITER(task_write_float, float, SAME, bf16_from_float, WRITE_TRUNCATED)
WRITER(task_write_double, double, float_round_odd, bf16_from_double, WRITE_TRUNCATED)
WRITER(task_write_integer, int64_t, SAME, bf16_from_double, WRITE_WRAPPED)

/* Counts the numbers of the type from zero to this one, whatever its sign; false if it is not finite there. Numbers of one sign
 * have rising bits. */
static bool tensor_rank(enum akgen_dtype type, double value, uint64_t *rank)
{
    half_t half;
    uint16_t bits;
    float single;
    switch (type) {
    case AKGEN_FLOAT16:
        half = (half_t)float_round_odd(value);
        memcpy(&bits, &half, sizeof bits);
        *rank = bits & 0x7fff;
        return *rank < 0x7c00;
    case AKGEN_BF16:
        *rank = bf16_from_double(value) & 0x7fff;
        return *rank < 0x7f80;
    case AKGEN_FLOAT:
        single = (float)value;
        *rank = 0;
        memcpy(rank, &single, sizeof single);
        *rank &= 0x7fffffff;
        return *rank < 0x7f800000;
    default:
        memcpy(rank, &value, sizeof *rank);
        *rank &= UINT64_MAX >> 1;
        return *rank < 0x7ff0000000000000;
    }
}

double task_ulps(enum akgen_dtype type, double a, double b)
{
    uint64_t of_a, of_b;
    if (!task_is_float(type))
        return isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
    if (type == AKGEN_COMPLEX64)
        type = AKGEN_FLOAT;
    if (!tensor_rank(type, a, &of_a) || !tensor_rank(type, b, &of_b))
        return INFINITY;
    if (signbit(a) != signbit(b))
        return (double)(of_a + of_b);
    return (double)(of_a > of_b ? of_a - of_b : of_b - of_a);
}
