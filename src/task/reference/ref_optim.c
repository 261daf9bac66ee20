/* Optimisers (level 2: Optim): one step, in place. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

enum { STATES = 5 };

/* One element: state[] holds the inputs in the OpDef's order and becomes the outputs; c the numbers of the step. */
typedef void step_op(enum akgen_dtype steps, double *state, const double *c);

/* Runs op over the elements of inputs 0 .. inputs - 1; output k is state[from[k]]. */
static void run_step(struct reference_call *call, step_op *op, enum akgen_dtype type, const int *which, int inputs,
                     const int *from, int outputs, const double *c)
{
    enum akgen_dtype steps = reference_steps(call, type);
    int64_t elements = reference_input(call, 0)->elements;
    double x[STATES][REFERENCE_BLOCK];
    for (int64_t first = 0; first < elements; first += REFERENCE_BLOCK) {
        int n = elements - first < REFERENCE_BLOCK ? (int)(elements - first) : REFERENCE_BLOCK;
        for (int k = 0; k < inputs; k++)
            task_read_double(reference_input(call, which[k]), first, n, x[k]);
        for (int i = 0; i < n; i++) {
            double state[STATES];
            for (int k = 0; k < inputs; k++)
                state[k] = x[k][i];
            op(steps, state, c);
            for (int k = 0; k < inputs; k++)
                x[k][i] = state[k];
        }
        for (int k = 0; k < outputs; k++)
            reference_store(call, k, first, n, x[from[k]]);
    }
}

enum adam { SHRINK, BETA1_REST, BETA2, BETA2_REST, CORRECTION2, STEP_SIZE, EPSILON, AMSGRAD, MAXIMIZE, ADAM_NUMBERS };

/* state: var, m, v, grad, max. Each line is one torch operation, which rounds its result to the tensors' type. */
static void adam_w_op(enum akgen_dtype steps, double *state, const double *c)
{
    double grad = c[MAXIMIZE] ? -state[3] : state[3];
    state[0] = R(state[0] * c[SHRINK]);
    state[1] = R(state[1] + c[BETA1_REST] * (grad - state[1]));
    state[2] = R(state[2] * c[BETA2]);
    state[2] = R(state[2] + c[BETA2_REST] * grad * grad);
    state[4] = c[AMSGRAD] ? fmax(state[2], state[4]) : state[4];
    double corrected = R((c[AMSGRAD] ? state[4] : state[2]) / c[CORRECTION2]);
    state[0] = R(state[0] - c[STEP_SIZE] * state[1] / R(R(sqrt(corrected)) + c[EPSILON]));
}

/* Inputs: var, m, v, grad, step, max_grad_norm. Outputs: var, m, v, max_grad_norm. Attributes: lr, beta1, beta2,
 * weight_decay, eps, amsgrad, maximize. */
static void apply_adam_w_v2(struct reference_call *call)
{
    static const int which[] = {0, 1, 2, 3, 5}, from[] = {0, 1, 2, 4};
    double step = reference_scalar(call, 4) + 1, lr = reference_attr(call, 0);
    double beta1 = reference_attr(call, 1), beta2 = reference_attr(call, 2);
    const double c[ADAM_NUMBERS] = {
        [SHRINK] = 1 - lr * reference_attr(call, 3),
        [BETA1_REST] = 1 - beta1,
        [BETA2] = beta2,
        [BETA2_REST] = 1 - beta2,
        [CORRECTION2] = 1 - pow(beta2, step),
        [STEP_SIZE] = lr / (1 - pow(beta1, step)),
        [EPSILON] = reference_attr(call, 4),
        [AMSGRAD] = reference_flag(call, 5),
        [MAXIMIZE] = reference_flag(call, 6),
    };
    run_step(call, adam_w_op, reference_input(call, 0)->type, which, STATES, from, 4, c);
}

enum ema { LR, DECAY, BETA_M, BETA_V, EPS, WEIGHT, MODE, CORRECTION_M, CORRECTION_V, EMA_NUMBERS };

/* state: grad, var, m, v, s. */
static void ema_adam_op(enum akgen_dtype steps, double *state, const double *c)
{
    double grad = state[0], decayed = R(R(c[WEIGHT]) * state[1]);
    if (c[MODE] == 0)
        grad = R(grad + decayed);
    state[2] = R(R(R(c[BETA_M]) * state[2]) + R(R(1 - c[BETA_M]) * grad));
    state[3] = R(R(R(c[BETA_V]) * state[3]) + R(R(R(1 - c[BETA_V]) * grad) * grad));
    double below = R(R(sqrt(R(state[3] / c[CORRECTION_V]))) + R(c[EPS]));
    double update = R(R(state[2] / c[CORRECTION_M]) / below);
    if (c[MODE] == 1)
        update = R(update + decayed);
    state[1] = R(state[1] - R(R(c[LR]) * update));
    state[4] = R(R(R(c[DECAY]) * state[4]) + R(R(1 - c[DECAY]) * state[1]));
}

/* Inputs: grad, var, m, v, s, step. Outputs: var, m, v, s. Attributes: lr, ema_decay, beta1, beta2, eps, mode,
 * bias_correction, weight_decay. Computed in float32, rounded to the type once. */
static void apply_fused_ema_adam(struct reference_call *call)
{
    static const int which[] = {0, 1, 2, 3, 4}, from[] = {1, 2, 3, 4};
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double step = reference_scalar(call, 5), beta1 = reference_attr(call, 2), beta2 = reference_attr(call, 3);
    bool correct = reference_flag(call, 6);
    const double c[EMA_NUMBERS] = {
        [LR] = reference_attr(call, 0),
        [DECAY] = reference_attr(call, 1),
        [BETA_M] = beta1,
        [BETA_V] = beta2,
        [EPS] = reference_attr(call, 4),
        [WEIGHT] = reference_attr(call, 7),
        [MODE] = reference_attr(call, 5),
        [CORRECTION_M] = correct ? R(1 - R(pow(beta1, step))) : 1,
        [CORRECTION_V] = correct ? R(1 - R(pow(beta2, step))) : 1,
    };
    run_step(call, ema_adam_op, AKGEN_FLOAT, which, STATES, from, 4, c);
}

const struct task_reference_entry task_references_optim[] = {
    REFERENCE(apply_adam_w_v2,
              "var floating (e) 'uniform(0.1, 1)', m =var (e) 'uniform(0.1, 1)', v =var (e) 'uniform(0.1, 1)', grad "
              "=var (e) 'uniform(0.1, 1)', step float32/int64 (1) '3', max_grad_norm =var (e) 'uniform(0.1, 1)' -> var "
              "=var (e), m? =var (e), v? =var (e), max_grad_norm? =var (e); lr float = 0.01, beta1 float = 0.9, beta2 "
              "float = 0.99, weight_decay float = 5e-3, eps float = 1e-6, amsgrad bool = false, maximize bool = false"),
    REFERENCE(apply_fused_ema_adam,
              "grad floating (e), var =grad (e), m =grad (e), v =grad (e) 'abs(randn)', s =grad (e), step int64 (1) in "
              "1.. '10' -> var =grad (e), m? =grad (e), v? =grad (e), s? =grad (e); lr float = 0.001, ema_decay float "
              "= 0.999, beta1 float = 0.9, beta2 float = 0.999, eps float = 1e-8, mode int in 0..1 = 0, "
              "bias_correction bool = true, weight_decay float = 0.1"),
    {NULL, NULL, NULL, NULL},
};
