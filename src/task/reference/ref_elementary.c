/* Elementary functions of one element, casts and signs (level 1: Math). torch computes half and bfloat16 in float32 and
 * rounds once at the end; so does the map, because its output has the narrow type. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

/* y = op(x), in float32 for every floating type. */
static void in_float(struct reference_call *call, reference_op *op)
{
    const struct task_tensor *x = reference_input(call, 0);
    reference_map(op, reference_steps(call, AKGEN_FLOAT), &x, 1, NULL, reference_result(call, 0));
}

#define UNARY(name, formula)                                                                                           \
    static double name##_op(enum akgen_dtype steps, const double *x, const double *c)                                  \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        return formula;                                                                                                \
    }                                                                                                                  \
    static void name##_of(struct reference_call *call)                                                                 \
    {                                                                                                                  \
        in_float(call, name##_op);                                                                                     \
    }
UNARY(cos, R(cos(x[0])))
UNARY(sin, R(sin(x[0])))
UNARY(tanh, R(tanh(x[0])))
UNARY(rsqrt, R(1 / R(sqrt(x[0]))))

/* y = |x|. complex64: the module yields the modulus as float32; golden is the operator's y, modulus and 0. */
REFERENCE_OP(abs_op, fabs(x[0]))
REFERENCE_INTEGER_OP(abs_integer, x[0] < 0 ? (int64_t)(0 - (uint64_t)x[0]) : x[0])

static void complex_abs(struct reference_call *call, const struct task_tensor *x)
{
    reference_retype(call, 0, AKGEN_FLOAT);
    const struct task_tensor *y = reference_result(call, 0);
    int stride = call->profile == TASK_STRICT ? 2 : 1;
    for (int64_t i = 0; i < x->elements; i++) {
        double part[2];
        task_read_double(x, 2 * i, 2, part);
        double modulus = hypot(part[0], part[1]);
        task_write_double(y, stride * i, 1, &modulus);
    }
}

static void absolute(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    if (x->type == AKGEN_COMPLEX64)
        complex_abs(call, x);
    else
        reference_elementwise(call, abs_op, abs_integer, 1, NULL);
}

/* y = input_data + x1 / x2 * value, from left to right; value (1). The module computes bfloat16 in float32. */
REFERENCE_OP(addcdiv_op, R(x[0] + R(R(x[1] / x[2]) * c[0])))

static void addcdiv(struct reference_call *call)
{
    const struct task_tensor *in[] = {reference_input(call, 0), reference_input(call, 1), reference_input(call, 2)};
    double value = reference_scalar(call, 3);
    enum akgen_dtype module_type = in[0]->type == AKGEN_BF16 ? AKGEN_FLOAT : in[0]->type;
    reference_map(addcdiv_op, reference_steps(call, module_type), in, 3, &value, reference_result(call, 0));
}

/* y = x in another type: fractions are cut off, integers wrap, to bool is != 0. */
REFERENCE_OP(same_op, x[0])
REFERENCE_INTEGER_OP(same_integer, x[0])

static void cast(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    if (task_is_float(x->type) || task_is_float(y->type))
        reference_map(same_op, AKGEN_DOUBLE, &x, 1, NULL, y);
    else
        reference_map_integer(same_integer, &x, 1, NULL, y);
}

/* y = x with the second half of the last dimension negated; with an odd size that half is the larger one. */
static void strideslice_neg_concat(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    int64_t width = x->dims[x->rank - 1];
    double values[REFERENCE_BLOCK];
    for (int64_t first = 0; first < x->elements; first += REFERENCE_BLOCK) {
        int n = x->elements - first < REFERENCE_BLOCK ? (int)(x->elements - first) : REFERENCE_BLOCK;
        task_read_double(x, first, n, values);
        for (int i = 0; i < n; i++)
            values[i] = (first + i) % width < width / 2 ? values[i] : -values[i];
        task_write_double(y, first, n, values);
    }
}

/* The dilogarithm. */
enum { BERNOULLI_TERMS = 9 };

/* Li2(1 - x) for x in [1/2, 3/2] by the series in u = -ln x whose coefficients are Bernoulli numbers (DLMF 25.12.(8)
 * and 24.2.1): u - u^2 / 4 + sum of B_2k u^(2k+1) / (2k+1)!. The last term is below 2^-60 there. */
static double dilogarithm_near_1(double x)
{
    static const double bernoulli[BERNOULLI_TERMS] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,    5.0 / 66,
                                                      -691 / 2730.0, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798};
    double u = -log(x), sum = u - u * u / 4, power = u;
    for (int k = 1; k <= BERNOULLI_TERMS; k++) {
        power *= u * u / (2 * k) / (2 * k + 1);
        sum += bernoulli[k - 1] * power;
    }
    return sum;
}

/* Li2(1 - x): Euler's reflection below 1/2, Landen's inversion above 3/2 (DLMF 25.12.4 to 25.12.6). */
static double spence_of(double x)
{
    const double pi_squared_sixth = 1.64493406684822643647;
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0)
        return pi_squared_sixth;
    if (isinf(x))
        return -INFINITY;
    if (x > 1.5) {
        double logarithm = log(x);
        return -logarithm * logarithm / 2 - spence_of(1 / x);
    }
    if (x < 0.5)
        return pi_squared_sixth - log(x) * log1p(-x) - dilogarithm_near_1(1 - x);
    return dilogarithm_near_1(x);
}

/* SciPy computes float16 in float32, both in double inside, and returns float32. */
REFERENCE_OP(spence_op, R(spence_of(x[0])))

static void spence(struct reference_call *call)
{
    reference_retype(call, 0, AKGEN_FLOAT);
    in_float(call, spence_op);
}

const struct task_reference_entry task_references_elementary[] = {
    REFERENCE_CALLED("abs", absolute, "x floating/integer/complex64 (e) -> y =x (e)"),
    REFERENCE_CALLED("cos", cos_of, "x floating (e) -> y =x (e)"),
    REFERENCE_CALLED("sin", sin_of, "x floating (e) -> y =x (e)"),
    REFERENCE_CALLED("tanh", tanh_of, "x floating (e) -> y =x (e)"),
    REFERENCE_CALLED("rsqrt", rsqrt_of, "x floating (e) 'rand*1000 + 1' -> y =x (e)"),
    REFERENCE(addcdiv, "input_data floating (e), x1 =input_data (e), x2 =input_data (e) 'rand*5 + 0.1', value "
                       "=input_data (1) '0.5' -> y =input_data (e)"),
    REFERENCE(cast, "x number/bool (e) 'randint(0, 100)' -> y number/bool (e); dst_type int = 0"),
    REFERENCE(spence, "x floating (e) 'rand*10' -> y =x (e)"),
    REFERENCE(strideslice_neg_concat, "input floating [*rows, width] -> output =input [*rows, width]"),
    {NULL, NULL, NULL, NULL},
};
