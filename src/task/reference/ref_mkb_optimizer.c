/* MultiKernelBench's optimizers: one step, of which the modules return the new parameters only. All tensors are
 * float32; Python numbers take the tensor's type in each torch call. Attributes are the constructor's values in
 * order. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

/* x: param, grad, accum; c: lr, eps */
static double adagrad_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double accum = R(x[2] + R(x[1] * x[1]));
    return R(x[0] - R(R(R(c[0]) * x[1]) / R(R(sqrt(accum)) + R(c[1]))));
}

/* x: param, grad, m, v; c: beta1, beta2, lr, eps, step */
static double adam_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double m = R(R(R(c[0]) * x[2]) + R(R(1 - c[0]) * x[1]));
    double v = R(R(R(c[1]) * x[3]) + R(R(1 - c[1]) * R(x[1] * x[1])));
    m = R(m / R(1 - pow(c[0], c[4])));
    v = R(v / R(1 - pow(c[1], c[4])));
    return R(x[0] - R(R(R(c[2]) * m) / R(R(sqrt(v)) + R(c[3]))));
}

/* x: param, grad, v; c: lr, alpha, eps */
static double rmsprop_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double v = R(R(R(c[1]) * x[2]) + R(R(1 - c[1]) * R(x[1] * x[1])));
    return R(x[0] - R(R(R(c[0]) * x[1]) / R(R(sqrt(v)) + R(c[2]))));
}

/* x: param, grad, velocity; c: momentum, lr */
static double sgd_op(enum akgen_dtype steps, const double *x, const double *c)
{
    double velocity = R(R(R(c[0]) * x[2]) + x[1]);
    return R(x[0] - R(R(c[1]) * velocity));
}

enum { MOST_ATTRS = 5 };

static void elementwise(struct reference_call *call, reference_op *op, int inputs, int attrs)
{
    double c[MOST_ATTRS];
    for (int i = 0; i < attrs; i++)
        c[i] = reference_attr(call, i);
    reference_elementwise(call, op, NULL, inputs, c);
}

REFERENCE_VARIANT(adagrad, elementwise, adagrad_op, 3, 2)
REFERENCE_VARIANT(adam, elementwise, adam_op, 4, 5)
REFERENCE_VARIANT(rmsprop, elementwise, rmsprop_op, 3, 3)
REFERENCE_VARIANT(sgd, elementwise, sgd_op, 3, 2)

/* r = m / (sqrt(v) + eps); x: param, m, v; c: eps, then lr and lr times the trust ratio */
REFERENCE_OP(lamb_ratio, R(x[1] / R(R(sqrt(x[2])) + R(c[0]))))
REFERENCE_OP(lamb_op, R(x[0] - R(c[1] * lamb_ratio(steps, x, c))))

/* param - lr |param| / (|r| + eps) r, norms over the whole tensors. */
static void lamb(struct reference_call *call)
{
    const struct task_tensor *const in[] = {reference_input(call, 0), reference_input(call, 1),
                                            reference_input(call, 2)};
    enum akgen_dtype steps = reference_steps(call, in[0]->type);
    double lr = reference_attr(call, 0), c[2] = {reference_attr(call, 1)}, params = 0, ratios = 0;
    for (int64_t first = 0; first < in[0]->elements; first += REFERENCE_BLOCK) {
        double x[3][REFERENCE_BLOCK];
        int64_t rest = in[0]->elements - first;
        int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
        for (int k = 0; k < 3; k++)
            task_read_double(in[k], first, n, x[k]);
        for (int i = 0; i < n; i++) {
            double r = lamb_ratio(steps, (double[]){x[0][i], x[1][i], x[2][i]}, c);
            params += x[0][i] * x[0][i];
            ratios += r * r;
        }
    }
    double trust = R(R(sqrt(params)) / R(R(sqrt(ratios)) + R(c[0])));
    c[1] = R(R(lr) * trust);
    reference_elementwise(call, lamb_op, NULL, 3, c);
}

const struct task_reference_entry task_references_mkb_optimizer[] = {
    REFERENCE_CALLED("mkb_adagrad", adagrad,
                     "param float32 (e), grad =param (e), accum =param (e) 'abs(randn)' -> new_param =param (e); lr "
                     "float = 1e-2, eps float = 1e-10"),
    REFERENCE_CALLED(
        "mkb_adam", adam,
        "param float32 (e), grad =param (e), m =param (e), v =param (e) 'abs(randn)' -> new_param =param (e); beta1 "
        "float = 0.9, beta2 float = 0.999, lr float = 1e-3, eps float = 1e-8, step int in 1.. = 10"),
    REFERENCE_CALLED("mkb_lamb", lamb,
                     "param float32 (e), m =param (e), v =param (e) 'abs(randn) + 0.01' -> new_param =param (e); lr "
                     "float = 1e-3, eps float = 1e-6"),
    REFERENCE_CALLED("mkb_rmsprop", rmsprop,
                     "param float32 (e), grad =param (e), v =param (e) 'abs(randn)' -> new_param =param (e); lr float "
                     "= 1e-3, alpha float = 0.99, eps float = 1e-8"),
    REFERENCE_CALLED("mkb_sgd", sgd,
                     "param float32 (e), grad =param (e), velocity =param (e) -> new_param =param (e); momentum float "
                     "= 0.9, lr float = 1e-2"),
    {NULL, NULL, NULL, NULL},
};
