/* Losses and their gradients (level 2: Loss). Computed in float32 and rounded to the input's type once. */
#include "task/reference/reference.h"

#include <math.h>
#include <string.h>

#define R(value) reference_round(steps, value)

/* y = (predict - label) 2 dout; reduction "mean": divided by the number of elements. */
REFERENCE_OP(mse_loss_grad_op, R(R(R(x[0] - x[1]) * c[0]) * x[2]))

static void mse_loss_grad(struct reference_call *call)
{
    const struct task_tensor *in[] = {reference_input(call, 0), reference_input(call, 1), reference_input(call, 2)};
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    bool mean = strcmp(reference_text(call, 0), "mean") == 0;
    double factor = mean ? R(2 / (double)in[0]->elements) : 2;
    reference_map(mse_loss_grad_op, steps, in, 3, &factor, reference_result(call, 0));
}

/* Cross entropy. */
enum reduction { MEAN, SUM, NONE };

/* What both directions share: a weight per class, the target of each row and whether it counts. */
struct classes {
    int64_t rows, count;
    int64_t *target;       /* (rows) */
    double *weight, *mask; /* (count), (rows) */
    enum reduction reduction;
    double smoothing, weights; /* weights: sum over the rows of their target's weight */
};

static struct classes classes_new(struct reference_call *call, enum akgen_dtype steps, int logits, int target,
                                  int weight)
{
    const struct task_tensor *x = reference_input(call, logits);
    const char *reduction = reference_text(call, 0);
    int64_t ignored = reference_integer(call, 1);
    struct classes c = {.rows = x->dims[0], .count = x->dims[1], .smoothing = reference_attr(call, 2)};
    c.reduction = strcmp(reduction, "mean") == 0 ? MEAN : strcmp(reduction, "sum") == 0 ? SUM : NONE;
    c.target = arena_alloc(call->scratch, ((size_t)c.rows + 1) * sizeof *c.target);
    task_read_integer(reference_input(call, target), 0, (int)c.rows, c.target);
    c.weight = reference_numbers(call, c.count);
    if (reference_optional(call, weight))
        task_read_double(reference_optional(call, weight), 0, (int)c.count, c.weight);
    else
        for (int64_t i = 0; i < c.count; i++)
            c.weight[i] = 1;
    c.mask = reference_numbers(call, c.rows);
    for (int64_t r = 0; r < c.rows; r++) {
        c.mask[r] = ignored < 0 || c.target[r] != ignored;
        c.weights += c.weight[c.target[r]] * c.mask[r];
    }
    c.weights = R(c.weights);
    return c;
}

/* log_prob = log_softmax(input) per row; the loss of a row is -log_prob[target] weight[target], with label smoothing s
 * (1 - s) of that plus s / count of -sum(log_prob weight); ignored rows have none. "mean" divides by the sum of the
 * targets' weights. Outputs: loss, log_prob, zloss, lse. */
static void cross_entropy_loss(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct classes c = classes_new(call, steps, 0, 1, 2);
    double *row = reference_numbers(call, c.count), *losses = reference_numbers(call, c.rows), loss = 0, smooth = 0,
           squares = 0;
    double share = R(1 - c.smoothing), smoothing = R(c.smoothing), all = R(c.weights + 1e-12);
    for (int64_t r = 0; r < c.rows; r++) {
        double largest = -INFINITY, sum = 0, spread = 0;
        task_read_double(x, r * c.count, (int)c.count, row);
        for (int64_t i = 0; i < c.count; i++)
            largest = fmax(largest, row[i]);
        for (int64_t i = 0; i < c.count; i++)
            sum += R(exp(R(row[i] - largest)));
        double lse = R(largest + R(log(R(sum))));
        for (int64_t i = 0; i < c.count; i++) {
            row[i] = R(row[i] - lse);
            spread += R(row[i] * c.weight[i]);
        }
        double own = R(-row[c.target[r]] * c.weight[c.target[r]]) * c.mask[r];
        spread = R(-spread) * c.mask[r];
        losses[r] = R(R(share * own) + R(R(spread * smoothing) / (double)c.count));
        loss += own;
        smooth += spread;
        squares += R(lse * lse);
        reference_store(call, 1, r * c.count, c.count, row);
        reference_store(call, 3, r, 1, &lse);
    }
    if (c.reduction == NONE) {
        reference_store(call, 0, 0, c.rows, losses);
    } else {
        bool mean = c.reduction == MEAN;
        loss = mean ? R(R(loss) / all) : R(loss);
        smooth = R(R((mean ? R(R(smooth) / all) : R(smooth)) * smoothing) / (double)c.count);
        loss = R(R(share * loss) + smooth);
        reference_store(call, 0, 0, 1, &loss);
    }
    double zloss = R(R(reference_attr(call, 3)) * R(squares / (double)c.rows));
    reference_store(call, 2, 0, 1, &zloss);
}

/* g = grad_loss (1 - s) weight[target], divided by the sum of the targets' weights for "mean", 0 for ignored rows;
 * x_grad = exp(log_prob) g, less g at the target, plus grad_loss s / count with label smoothing s. */
static void cross_entropy_loss_grad(struct reference_call *call)
{
    const struct task_tensor *log_prob = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct classes c = classes_new(call, steps, 1, 2, 3);
    double *row = reference_numbers(call, c.count), all = R(c.weights + 1e-12);
    for (int64_t r = 0; r < c.rows; r++) {
        double grad;
        task_read_double(reference_input(call, 0), c.reduction == NONE ? r : 0, 1, &grad);
        double loss = R(grad * R(1 - c.smoothing)), smooth = R(R(grad * R(c.smoothing)) / (double)c.count);
        loss = c.reduction == MEAN ? R(loss / all) : loss;
        smooth = c.reduction == MEAN ? R(smooth / all) : smooth;
        double own = R(R(loss * c.mask[r]) * c.weight[c.target[r]]);
        task_read_double(log_prob, r * c.count, (int)c.count, row);
        for (int64_t i = 0; i < c.count; i++) {
            row[i] = R(R(R(exp(row[i])) * own) - (i == c.target[r] ? own : 0));
            row[i] = c.smoothing > 0 ? R(row[i] + smooth * c.mask[r]) : row[i];
        }
        reference_store(call, 0, r * c.count, c.count, row);
    }
}

const struct task_reference_entry task_references_loss[] = {
    REFERENCE(mse_loss_grad, "predict floating (e), label =predict (e), dout =predict (e) -> y =predict (e); reduction "
                             "string of mean/sum/none = mean"),
    REFERENCE(
        cross_entropy_loss,
        "input floating [n, classes], target index (n) in 0..classes-1 'randint(0, $classes)', weight? float32 "
        "(classes) 'rand + 0.1' -> loss =input (n) if reduction=none else (1), log_prob? =input [n, classes], zloss? "
        "=input (1), lse_for_zloss? =input (n); reduction string of mean/sum/none = mean, ignore_index int = -100, "
        "label_smoothing float = 0.1, lse_square_scale_for_zloss float = 0.5, return_zloss bool = true"),
    REFERENCE(cross_entropy_loss_grad,
              "grad_loss floating (n) if reduction=none else (1), log_prob =grad_loss [n, classes] '-rand - 0.1', "
              "target index (n) in 0..classes-1 'randint(0, $classes)', weight? float32 (classes) 'rand + 0.1', "
              "grad_zloss? =grad_loss (1), lse_for_zloss? =grad_loss (n) -> x_grad =grad_loss [n, classes]; reduction "
              "string of mean/sum/none = mean, ignore_index int = -100, label_smoothing float = 0.1, "
              "lse_square_scale_for_zloss float = 0.0"),
    {NULL, NULL, NULL, NULL},
};
