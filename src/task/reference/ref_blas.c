/* Operators of linear algebra on vectors and matrices (level 1: Math, level 2: Linalg). */
#include "task/reference/reference.h"

#include <math.h>

/* y[i * incy] = x[i * incx] for i < n, complex64; positions beyond the end of either count nothing. */
static void ccopy(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    int64_t n = reference_integer(call, 0), from = reference_integer(call, 1);
    int64_t to = reference_integer(call, 2), room = reference_output_shape(call, 0)->elements;
    for (int64_t i = 0; i < n && i * from < x->elements && i * to < room; i++)
        reference_copy(x, i * from, y, i * to, 1);
}

/* result = matx * maty, elementwise, complex64 (m, n). Each product and each sum rounds. */
static void complex_mat_dot(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_input(call, 1);
    const struct task_tensor *result = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    for (int64_t i = 0; i < x->elements; i++) {
        double a[2], b[2], product[2];
        task_read_double(x, 2 * i, 2, a);
        task_read_double(y, 2 * i, 2, b);
        product[0] = reference_round(steps, reference_round(steps, a[0] * b[0]) - reference_round(steps, a[1] * b[1]));
        product[1] = reference_round(steps, reference_round(steps, a[0] * b[1]) + reference_round(steps, a[1] * b[0]));
        task_write_double(result, 2 * i, 2, product);
    }
}

/* What amax and amin compare: |x|, or |re| + |im|, in float32 in both profiles, since all that is seen is a
 * position. */
static float magnitude(const struct task_tensor *x, int64_t index)
{
    double part[2] = {0, 0};
    if (x->type == AKGEN_COMPLEX64)
        task_read_double(x, 2 * index, 2, part);
    else
        task_read_double(x, index, 1, part);
    return (float)(fabs(part[0]) + fabs(part[1]));
}

/* result (1) = 1 + the place of the first of the largest (smallest) x[i * incx], i < n. `stride`: what a place counts
 * in elements; the complex operators count all elements, the real ones those at i * incx. */
static void extreme(struct reference_call *call, bool largest, bool all)
{
    const struct task_tensor *x = reference_input(call, 0);
    int64_t n = reference_integer(call, 0), step = reference_integer(call, 1), best = 0;
    for (int64_t i = 1; i < n && i * step < x->elements; i++) {
        float a = magnitude(x, i * step), b = magnitude(x, best * step);
        best = largest ? (a > b ? i : best) : (a < b ? i : best);
    }
    int64_t place = (all ? best * step : best) + 1;
    task_write_integer(reference_result(call, 0), 0, 1, &place);
}

REFERENCE_VARIANT(icamax, extreme, true, true)
REFERENCE_VARIANT(icamin, extreme, false, true)
REFERENCE_VARIANT(isamax, extreme, true, false)
REFERENCE_VARIANT(isamin, extreme, false, false)

/* result (1) = sqrt of the sum of x[i * incx]^2 for i < n. Squares, sum and root round. */
static void snrm2(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, x->type);
    int64_t n = reference_integer(call, 0), step = reference_integer(call, 1);
    double sum = 0, value;
    for (int64_t i = 0; i < n && i * step < x->elements; i++) {
        task_read_double(x, i * step, 1, &value);
        sum += reference_round(steps, value * value);
    }
    double root = sqrt(reference_round(steps, sum));
    task_write_double(reference_result(call, 0), 0, 1, &root);
}

/* c (m, n) = a (m, k) b (k, n). Sums in double, rounded once. */
static void matmul(struct reference_call *call)
{
    const struct task_tensor *c = reference_result(call, 0);
    int64_t m = c->dims[0], n = c->dims[1], depth = reference_input(call, 0)->dims[1];
    double *a = reference_read_all(call, reference_input(call, 0)),
           *b = reference_read_all(call, reference_input(call, 1));
    double *row = reference_numbers(call, n);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            row[j] = 0;
        for (int64_t k = 0; k < depth; k++)
            for (int64_t j = 0; j < n; j++)
                row[j] += a[i * depth + k] * b[k * n + j];
        for (int64_t j = 0; j < n; j++)
            task_write_double(c, i * n + j, 1, &row[j]);
    }
}

const struct task_reference_entry task_references_blas[] = {
    REFERENCE(ccopy, "x complex64 (from) -> y complex64 (to); n int in 0.. = 30, incx int in 1.. = 1, incy int in 1.. "
                     "= 1 | trivial copy: the operator copies | size from [30] | size to [30]"),
    REFERENCE(
        complex_mat_dot,
        "matx complex64 (m*n), maty complex64 (m*n) -> result complex64 (m*n); m int in 0.. = 6, n int in 0.. = 5"),
    REFERENCE(icamax, "x complex64 (e) -> result index (1); n int in 0.. = 30, incx int in 1.. = 1"),
    REFERENCE(icamin, "x complex64 (e) -> result index (1); n int in 0.. = 30, incx int in 1.. = 1"),
    REFERENCE(isamax, "x floating (e) -> result index (1); n int in 0.. = 30, incx int in 1.. = 1"),
    REFERENCE(isamin, "x floating (e) -> result index (1); n int in 0.. = 30, incx int in 1.. = 1"),
    REFERENCE(snrm2, "x floating (e) -> result =x (1); n int in 0.. = 30, incx int in 1.. = 1"),
    REFERENCE(matmul, "a floating [m, k], b =a [k, n] -> c =a [m, n]"),
    {NULL, NULL, NULL, NULL},
};
