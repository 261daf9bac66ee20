/* MultiKernelBench's losses: one number per call, in float32. Rows (N, C); sums in double, rounded once. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

enum { OPERANDS = 3 };

/* The loss of one row: x[k] is row r of input k, `length` elements. */
typedef double row_function(enum akgen_dtype steps, int64_t length, double *const *x, double c);

/* output = R(sum over rows of function(row) / divisor); `arity` inputs are (rows, length). */
static void over_rows(struct reference_call *call, row_function *function, int arity, double c, double divisor)
{
    const struct task_tensor *first = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, first->type);
    int64_t rows = first->dims[0], length = rows ? first->elements / rows : 0;
    double *x[OPERANDS] = {0}, sum = 0;
    for (int k = 0; k < arity; k++)
        x[k] = reference_numbers(call, length);
    for (int64_t r = 0; r < rows; r++) {
        for (int k = 0; k < arity; k++) {
            int64_t own = reference_input(call, k)->elements / rows; /* targets may hold one element per row */
            task_read_double(reference_input(call, k), r * own, (int)own, x[k]);
        }
        sum += function(steps, length, x, c);
    }
    sum = R(R(sum) / divisor);
    task_write_double(reference_result(call, 0), 0, 1, &sum);
}

static double elements(const struct reference_call *call)
{
    return (double)reference_input(call, 0)->elements;
}

static double rows_of(const struct reference_call *call)
{
    return (double)reference_input(call, 0)->dims[0];
}

/* sums over a row: of the formula for p = x[0][i], t = x[1][i] */
#define ROW_SUM(id, formula)                                                                                           \
    static double id##_row(enum akgen_dtype steps, int64_t length, double *const *x, double c)                         \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        (void)c;                                                                                                       \
        for (int64_t i = 0; i < length; i++) {                                                                         \
            double p = x[0][i], t = x[1][i];                                                                           \
            sum += formula;                                                                                            \
        }                                                                                                              \
        return sum;                                                                                                    \
    }
#define SQUARE(value) ((value) * (value))

static double smooth_l1(enum akgen_dtype steps, double difference)
{
    double size = fabs(R(difference));
    return size < 1 ? R(R(0.5 * size) * size) : R(size - 0.5);
}

ROW_SUM(mse, R(SQUARE(R(p - t))))
ROW_SUM(huber, smooth_l1(steps, p - t))
ROW_SUM(hinge, fmax(R(1 - R(p * t)), 0))
ROW_SUM(kl_div, t > 0 ? R(t * R(R(log(t)) - R(log(p)))) : 0) /* 0 log 0 is 0 */

REFERENCE_VARIANT(mse, over_rows, mse_row, 2, 0, elements(call))
REFERENCE_VARIANT(huber, over_rows, huber_row, 2, 0, elements(call))
REFERENCE_VARIANT(hinge, over_rows, hinge_row, 2, 0, elements(call))
REFERENCE_VARIANT(kl_div, over_rows, kl_div_row, 2, 0, rows_of(call))

/* 1 - p t / (max(|p|, eps) max(|t|, eps)) */
static double cosine_row(enum akgen_dtype steps, int64_t length, double *const *x, double epsilon)
{
    double dot = 0, p = 0, t = 0;
    for (int64_t i = 0; i < length; i++) {
        dot += x[0][i] * x[1][i];
        p += SQUARE(x[0][i]);
        t += SQUARE(x[1][i]);
    }
    return R(1 - R(R(dot) / R(fmax(sqrt(p), epsilon) * fmax(sqrt(t), epsilon))));
}

REFERENCE_VARIANT(cosine_similarity, over_rows, cosine_row, 2, 1e-8, rows_of(call))

/* -log_softmax(p)[target] */
static double cross_entropy_row(enum akgen_dtype steps, int64_t length, double *const *x, double c)
{
    double most = x[0][0], sum = 0;
    (void)c;
    for (int64_t i = 1; i < length; i++)
        most = fmax(most, x[0][i]);
    for (int64_t i = 0; i < length; i++)
        sum += exp(x[0][i] - most);
    return -R(R(x[0][(int64_t)x[1][0]] - most) - R(log(sum)));
}

REFERENCE_VARIANT(cross_entropy, over_rows, cross_entropy_row, 2, 0, rows_of(call))

static double distance(enum akgen_dtype steps, int64_t length, const double *u, const double *v)
{
    static const double EPSILON = 1e-6; /* of torch's pairwise_distance */
    double sum = 0;
    for (int64_t i = 0; i < length; i++)
        sum += SQUARE(R(R(u[i] - v[i]) + EPSILON));
    return R(sqrt(sum));
}

/* max(0, margin + |a - p| - |a - n|) */
static double triplet_row(enum akgen_dtype steps, int64_t length, double *const *x, double margin)
{
    return fmax(R(R(margin + distance(steps, length, x[0], x[1])) - distance(steps, length, x[0], x[2])), 0);
}

static void triplet_margin(struct reference_call *call)
{
    const struct task_tensor *anchor = reference_input(call, 0);
    over_rows(call, triplet_row, 3, reference_attr(call, 0), rows_of(call));
    /* two distances of about this size cancel in each row */
    double sum = 0;
    for (int64_t i = 0; i < anchor->elements; i += REFERENCE_BLOCK) {
        double u[REFERENCE_BLOCK], v[REFERENCE_BLOCK];
        int n = anchor->elements - i < REFERENCE_BLOCK ? (int)(anchor->elements - i) : REFERENCE_BLOCK;
        task_read_double(anchor, i, n, u);
        task_read_double(reference_input(call, 1), i, n, v);
        for (int k = 0; k < n; k++)
            sum += SQUARE(u[k] - v[k]);
    }
    call->outputs[0].terms = sqrt(sum / rows_of(call));
}

const struct task_reference_entry task_references_mkb_loss[] = {
    REFERENCE_CALLED("mkb_mse_loss", mse,
                     "predictions float32 [n, *c], targets =predictions [n, *c] -> loss =predictions (1)"),
    REFERENCE_CALLED("mkb_huber_loss", huber,
                     "predictions float32 [n, *c], targets =predictions [n, *c] -> loss =predictions (1)"),
    REFERENCE_CALLED(
        "mkb_hinge_loss", hinge,
        "predictions float32 [n, *c], targets =predictions [n, *c] 'randint(0, 2)*2 - 1' -> loss =predictions (1)"),
    REFERENCE_CALLED("mkb_kl_div_loss", kl_div,
                     "predictions float32 [n, *c] 'uniform(0.1, 1)', targets =predictions [n, *c] 'uniform(0.1, 1)' -> "
                     "loss =predictions (1)"),
    REFERENCE_CALLED("mkb_cosine_similarity_loss", cosine_similarity,
                     "predictions float32 [n, *c], targets =predictions [n, *c] -> loss =predictions (1)"),
    REFERENCE_CALLED("mkb_cross_entropy_loss", cross_entropy,
                     "predictions float32 [n, classes], targets index (n) in 0..classes-1 'randint(0, $classes)' -> "
                     "loss =predictions (1)"),
    REFERENCE_CALLED("mkb_triplet_margin_loss", triplet_margin,
                     "anchor float32 [n, *c], positive =anchor [n, *c], negative =anchor [n, *c] -> loss =anchor (1); "
                     "margin float = 1.0"),
    {NULL, NULL, NULL, NULL},
};
