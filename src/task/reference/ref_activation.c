/* Activations and losses (level 2: Activation, Loss, Reduce). */
#include "task/reference/reference.h"

#include <math.h>
#include <string.h>

#define R(value) reference_round(steps, value)
#define F(value) reference_factor(steps, value)

/* y = x exp(0.851 (x - |x|)) / (1 + exp(-1.702 |x|)). */
static double fast_gelu_op(enum akgen_dtype steps, const double *x, const double *c)
{
    (void)c;
    double magnitude = fabs(x[0]);
    double below = R(R(exp(R(magnitude * F(-1.702)))) + 1);
    double above = R(x[0] * R(exp(R(R(x[0] - magnitude) * F(0.851)))));
    return R(above / below);
}

REFERENCE_VARIANT(fast_gelu, reference_elementwise, fast_gelu_op, NULL, 1, NULL)

/* y = x sigmoid(scale x) */
REFERENCE_OP(swish_op, R(x[0] * R(1 / (1 + exp(-R(x[0] * F(c[0])))))))

static void swish(struct reference_call *call)
{
    double scale = reference_attr(call, 0);
    reference_elementwise(call, swish_op, NULL, 1, &scale);
}

/* a, b = halves of x along dim; y = silu(a) b. x (outer, 2 half, inner), y (outer, half, inner). */
static void swi_glu(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, x->type);
    int64_t half = reference_half(x, (int)reference_integer(call, 0));
    for (int64_t outer = 0; half && outer < y->elements / half; outer++)
        for (int64_t first = 0; first < half; first += REFERENCE_BLOCK) {
            int n = half - first < REFERENCE_BLOCK ? (int)(half - first) : REFERENCE_BLOCK;
            double a[REFERENCE_BLOCK], b[REFERENCE_BLOCK];
            task_read_double(x, outer * 2 * half + first, n, a);
            task_read_double(x, outer * 2 * half + half + first, n, b);
            for (int i = 0; i < n; i++)
                a[i] = R(R(a[i] / (1 + exp(-a[i]))) * b[i]);
            task_write_double(y, outer * half + first, n, a);
        }
}

/* y = (predict - label)^2, its mean, or its sum. The sum of a whole tensor is kept in double and rounded to the type,
 * the mean divides that rounded sum, as torch does on a CPU. */
static double square_op(enum akgen_dtype steps, const double *x, const double *c)
{
    (void)c;
    double difference = R(x[0] - x[1]);
    return R(difference * difference);
}

static void mse_loss(struct reference_call *call)
{
    const struct task_tensor *in[] = {reference_input(call, 0), reference_input(call, 1)};
    const char *reduction = reference_text(call, 0);
    enum akgen_dtype steps = reference_steps(call, in[0]->type);
    if (strcmp(reduction, "none") == 0) {
        reference_map(square_op, steps, in, 2, NULL, reference_result(call, 0));
        return;
    }
    double sum = 0;
    for (int64_t first = 0; first < in[0]->elements; first += REFERENCE_BLOCK) {
        int64_t rest = in[0]->elements - first;
        int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
        double a[REFERENCE_BLOCK], b[REFERENCE_BLOCK];
        task_read_double(in[0], first, n, a);
        task_read_double(in[1], first, n, b);
        for (int i = 0; i < n; i++)
            sum += square_op(steps, (double[]){a[i], b[i]}, NULL);
    }
    double y = R(sum);
    if (strcmp(reduction, "mean") == 0)
        y = R(y / (double)in[0]->elements);
    task_write_double(reference_result(call, 0), 0, 1, &y);
}

/* outputs = mulscalar2 / (1 + exp(-input mulscalar1)) + addscalar3; the scalars (1). The division is a reciprocal. With
 * addscalar3 near -mulscalar2 / 2 the terms cancel in every element whose input is near 0. */
static double mul_sigmoid_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double sigmoid = R(1 / R(1 + R(exp(-R(x[0] * c[0])))));
    return R(R(sigmoid * c[1]) + c[2]);
}

static void mul_sigmoid_mul_add(struct reference_call *call)
{
    double scalars[] = {reference_scalar(call, 1), reference_scalar(call, 2), reference_scalar(call, 3)};
    reference_elementwise(call, mul_sigmoid_op, NULL, 1, scalars);
    call->outputs[0].terms = fabs(scalars[2]);
}

const struct task_reference_entry task_references_activation[] = {
    REFERENCE(fast_gelu, "x floating (e) -> y =x (e)"),
    REFERENCE(swish, "x floating (e) -> y =x (e); scale float = 1.5"),
    REFERENCE(swi_glu, "x floating [*a:dim, 2*half, *b] -> y =x [*a, half, *b]; dim int = 1"),
    REFERENCE(mse_loss, "predict floating (e), label =predict (e) -> y =predict (e) if reduction=none else (1); "
                        "reduction string of none/mean/sum = mean"),
    REFERENCE(mul_sigmoid_mul_add, "input floating (e), mulscalar1 =input (1), mulscalar2 =input (1), addscalar3 "
                                   "=input (1) -> outputs =input (e)"),
    {NULL, NULL, NULL, NULL},
};
