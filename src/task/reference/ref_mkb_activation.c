/* MultiKernelBench's activations and its matrix times a number. All tensors are float32. One torch call is computed in
 * double and rounded once; a formula of several calls is rounded after each. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)
/* An elementwise reference of input 0; `c` holds attribute 0 if `attrs` is 1. */
#define ELEMENTWISE(id, attrs, formula)                                                                                \
    static double id##_op(enum akgen_dtype steps, const double *element, const double *c)                              \
    {                                                                                                                  \
        double x = element[0];                                                                                         \
        (void)c;                                                                                                       \
        return R(formula);                                                                                             \
    }                                                                                                                  \
    static void id(struct reference_call *call)                                                                        \
    {                                                                                                                  \
        double c = (attrs) ? reference_attr(call, 0) : 0;                                                              \
        reference_elementwise(call, id##_op, NULL, 1, &c);                                                             \
    }

/* What torch takes for the constants of selu. */
static const double SELU_ALPHA = 1.6732632423543772848170429916717, SELU_SCALE = 1.0507009873554804934193349852946;
static const double SOFTPLUS_THRESHOLD = 20; /* beyond it softplus(x) is x */

ELEMENTWISE(elu, 1, x > 0 ? x : c[0] * expm1(x))
ELEMENTWISE(gelu, 0, 0.5 * x * erfc(-x * M_SQRT1_2))
ELEMENTWISE(hardsigmoid, 0, x < -3 ? 0 : x > 3 ? 1 : (x + 3) / 6)
ELEMENTWISE(hardtanh, 0, x < -1 ? -1 : x > 1 ? 1 : x)
ELEMENTWISE(leaky_relu, 1, x > 0 ? x : x * R(c[0]))
ELEMENTWISE(relu, 0, x < 0 ? 0 : x)
ELEMENTWISE(selu, 0, SELU_SCALE *(x > 0 ? x : SELU_ALPHA * expm1(x)))
ELEMENTWISE(sigmoid, 0, 1 / (1 + exp(-x)))
ELEMENTWISE(softplus, 0, x > SOFTPLUS_THRESHOLD ? x : log1p(exp(x)))
ELEMENTWISE(softsign, 0, x / R(1 + fabs(x)))
ELEMENTWISE(swish, 0, x *R(1 / (1 + exp(-x))))
ELEMENTWISE(tanh_of, 0, tanh(x))
ELEMENTWISE(scaled, 1, x *R(c[0]))

/* y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); torch takes the numbers in float32. */
static double new_gelu_op(enum akgen_dtype steps, const double *x, const double *c)
{
    (void)c;
    double cubic = R(R(0.044715) * R(x[0] * x[0] * x[0]));
    double bent = R(tanh(R(R(sqrt(2 / M_PI)) * R(x[0] + cubic))));
    return R(R(0.5 * x[0]) * R(1 + bent));
}

REFERENCE_VARIANT(new_gelu, reference_elementwise, new_gelu_op, NULL, 1, NULL)

const struct task_reference_entry task_references_mkb_activation[] = {
    REFERENCE_CALLED("mkb_elu", elu, "x float32 (e) -> y =x (e); alpha float = 1.0"),
    REFERENCE_CALLED("mkb_gelu", gelu, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_hardsigmoid", hardsigmoid, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_hardtanh", hardtanh, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_leaky_relu", leaky_relu, "x float32 (e) -> y =x (e); negative_slope float = 0.01"),
    REFERENCE_CALLED("mkb_relu", relu, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_selu", selu, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_sigmoid", sigmoid, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_softplus", softplus, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_softsign", softsign, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_swish", swish, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_tanh", tanh_of, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_scaled", scaled, "A float32 (e) -> C =A (e); s float = 3.14"),
    REFERENCE_CALLED("mkb_new_gelu", new_gelu, "x float32 (e) -> y =x (e)"),
    {NULL, NULL, NULL, NULL},
};
