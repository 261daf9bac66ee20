/* Elementwise arithmetic, comparisons, conditions and vector sums (level 1: Math, Comparison, Condition). */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

/* Comparison: x1, x2, y all (shape); y bool. Module: torch.eq / torch.less. */
REFERENCE_OP(equal_op, x[0] == x[1])
REFERENCE_INTEGER_OP(equal_integer, x[0] == x[1])

REFERENCE_OP(less_op, x[0] < x[1])
REFERENCE_INTEGER_OP(less_integer, x[0] < x[1])

REFERENCE_OP(less_equal_op, x[0] <= x[1])
REFERENCE_INTEGER_OP(less_equal_integer, x[0] <= x[1])
REFERENCE_VARIANT(equal, reference_elementwise, equal_op, equal_integer, 2, NULL)
REFERENCE_VARIANT(less, reference_elementwise, less_op, less_integer, 2, NULL)
REFERENCE_VARIANT(less_equal, reference_elementwise, less_equal_op, less_equal_integer, 2, NULL)

/* Condition. */
/* y = isfinite(x). The module casts y to x's type and so does the binding; 0 and 1 stay themselves, so bool is
 * compared. */
REFERENCE_OP(is_finite_op, isfinite(x[0]) != 0)
REFERENCE_VARIANT(is_finite, reference_elementwise, is_finite_op, NULL, 1, NULL)

/* y = isinf(x); as above. */
REFERENCE_OP(is_inf_op, isinf(x[0]) != 0)
REFERENCE_VARIANT(is_inf, reference_elementwise, is_inf_op, NULL, 1, NULL)

/* found_flag (1) = 1 if any element of the list is inf or nan, else 0. */
static void non_finite_check(struct reference_call *call)
{
    double found = reference_any_not_finite(reference_list(call, 0));
    task_write_double(reference_result(call, 0), 0, 1, &found);
}

/* Math. */
/* z = x + y */
REFERENCE_OP(add_op, R(x[0] + x[1]))
REFERENCE_INTEGER_OP(add_integer, (int64_t)((uint64_t)x[0] + (uint64_t)x[1]))
REFERENCE_VARIANT(add, reference_elementwise, add_op, add_integer, 2, NULL)

/* y = sqrt(x) */
REFERENCE_OP(sqrt_op, R(sqrt(x[0])))
REFERENCE_VARIANT(square_root, reference_elementwise, sqrt_op, NULL, 1, NULL)

/* y = -x */
REFERENCE_OP(neg_op, -x[0])
REFERENCE_INTEGER_OP(neg_integer, (int64_t)(0 - (uint64_t)x[0]))
REFERENCE_VARIANT(neg, reference_elementwise, neg_op, neg_integer, 1, NULL)

/* y = input_data + x1 * x2 * value, from left to right; value (1). The module computes bfloat16 in float32. */
REFERENCE_OP(addcmul_op, R(x[0] + R(R(x[1] * x[2]) * c[0])))
REFERENCE_INTEGER_OP(addcmul_integer,
                     (int64_t)((uint64_t)x[0] + (uint64_t)x[1] * (uint64_t)x[2] * (uint64_t)reference_whole(c[0])))

static void addcmul(struct reference_call *call)
{
    const struct task_tensor *in[] = {reference_input(call, 0), reference_input(call, 1), reference_input(call, 2)};
    double value = reference_scalar(call, 3);
    if (in[0]->type == AKGEN_BF16)
        reference_map(addcmul_op, reference_steps(call, AKGEN_FLOAT), in, 3, &value, reference_result(call, 0));
    else
        reference_elementwise(call, addcmul_op, addcmul_integer, 3, &value);
}

/* y = start + weight (end - start) as torch.lerp computes it: from the nearer end, in float32, rounded once for
 * half. */
static double lerp_op(enum akgen_dtype steps, const double *x, const double *c)
{
    (void)c;
    double difference = R(x[1] - x[0]);
    return x[2] < 0.5 ? R(x[0] + R(x[2] * difference)) : R(x[1] - R(difference * R(1 - x[2])));
}

static void lerp(struct reference_call *call)
{
    const struct task_tensor *in[] = {reference_input(call, 0), reference_input(call, 1), reference_input(call, 2)};
    reference_map(lerp_op, reference_steps(call, AKGEN_FLOAT), in, 3, NULL, reference_result(call, 0));
}

/* y = min(max(x, lowest), highest); both limits (1). nan stays nan; the upper limit wins if the limits cross. */
static double clip_op(enum akgen_dtype steps, const double *x, const double *c)
{
    (void)steps;
    double raised = x[0] < c[0] ? c[0] : x[0];
    return raised > c[1] ? c[1] : raised;
}

static int64_t clip_integer(const int64_t *x, const double *c)
{
    int64_t raised = x[0] < reference_whole(c[0]) ? reference_whole(c[0]) : x[0];
    return raised > reference_whole(c[1]) ? reference_whole(c[1]) : raised;
}

static void clip_by_value(struct reference_call *call)
{
    double limits[] = {reference_scalar(call, 1), reference_scalar(call, 2)};
    reference_elementwise(call, clip_op, clip_integer, 1, limits);
}

/* y = x * value. The module multiplies by a float64 tensor of one dimension, so its result is float64 whatever x is;
 * complex64 is held as pairs of float32 here (the module has complex128; the published cases multiply it by 1). The
 * operator itself receives value as float32, which golden uses; integers are cut off towards zero. */
REFERENCE_OP(muls_op, R(x[0] * c[0]))

static void muls(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    /* The module has the column's number with all its digits; other values are as the input holds them. */
    double value = reference_scalar(call, 1), column = reference_column(call, "value");
    if (call->profile == TASK_UPSTREAM && (float)column == (float)value)
        value = column;
    if (x->type != AKGEN_COMPLEX64)
        reference_retype(call, 0, AKGEN_DOUBLE);
    reference_map(muls_op, AKGEN_DOUBLE, &x, 1, &value, reference_result(call, 0));
}

/* result (1) = sum of |x[i * incx]| for i < n. x (elements); positions beyond its end count nothing. */
static void sasum(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    int64_t n = reference_integer(call, 0), step = reference_integer(call, 1);
    double sum = 0, value;
    for (int64_t i = 0; i < n && i * step < x->elements; i++) {
        task_read_double(x, i * step, 1, &value);
        sum += fabs(value);
    }
    task_write_double(reference_result(call, 0), 0, 1, &sum);
}

/* x (elements) = x * alpha over the whole tensor; the module ignores n and incx, which the published cases set to all
 * elements. Golden: elements i * incx for i < n, as BLAS defines it. */
static void sscal(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    int64_t n = reference_integer(call, 1), step = reference_integer(call, 2);
    double alpha = (double)(float)reference_attr(call, 0);
    for (int64_t i = 0; i < x->elements; i++) {
        double value;
        task_read_double(x, i, 1, &value);
        if (call->profile == TASK_UPSTREAM || (i % step == 0 && i / step < n))
            value *= alpha;
        task_write_double(reference_result(call, 0), i, 1, &value);
    }
}

const struct task_reference_entry task_references_math[] = {
    REFERENCE(equal, "x1 number (e) 'randint(-2, 3)', x2 =x1 (e) 'randint(-2, 3)' -> y bool (e)"),
    REFERENCE(less, "x1 number (e) 'randint(-2, 3)', x2 =x1 (e) 'randint(-2, 3)' -> y bool (e)"),
    REFERENCE(less_equal, "x1 number (e) 'randint(-2, 3)', x2 =x1 (e) 'randint(-2, 3)' -> y bool (e)"),
    REFERENCE(is_inf, "x floating (e) 'plant(randn, inf, -inf, nan)' -> y bool (e)"),
    REFERENCE(is_finite, "x floating (e) 'plant(randn, inf, -inf, nan)' -> y bool (e)"),
    REFERENCE(
        non_finite_check,
        "tensor_list list floating (@e) '$case_id % 2 == 0 ? plant(randn, inf) : randn' -> found_flag float32 (1)"),
    REFERENCE(add, "x number (e), y =x (e) -> z =x (e)"),
    REFERENCE_CALLED("sqrt", square_root, "x floating (e) 'abs(randn) + 0.01' -> y =x (e)"),
    REFERENCE(neg, "x number (e) -> y =x (e)"),
    REFERENCE(addcmul, "input_data number (e), x1 =input_data (e), x2 =input_data (e), value =input_data (1) '2' -> y "
                       "=input_data (e)"),
    REFERENCE(lerp, "start floating (e), end =start (e), weight =start (e) 'rand' -> y =start (e)"),
    REFERENCE(clip_by_value, "x number (e), clip_value_min =x (1) '1', clip_value_max =x (1) '3' -> y =x (e)"),
    REFERENCE(muls, "x floating/integer/complex64 (e), value float32 (1) '$value' -> y =x (e) | column value"),
    REFERENCE(sasum, "x floating (e) -> result =x (1); n int in 0.. = 30, incx int in 1.. = 1"),
    REFERENCE(sscal, "x float32 (e) -> x =x (e); alpha float = 2.0, n int in 0.. = 1000, incx int in 1.. = 1"),
    {NULL, NULL, NULL, NULL},
};
