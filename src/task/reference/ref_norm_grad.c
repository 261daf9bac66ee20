/* Gradients of normalisations (level 2: Norm). Sums over rows and columns are kept in double and rounded once. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

/* A gradient of a layer norm over rows of `length`: sums over columns grow while the rows pass. */
struct columns {
    int64_t length;
    double *gamma, *dgamma, *dbeta; /* (length) */
};

static struct columns columns_new(const struct reference_call *call, const struct task_tensor *gamma)
{
    return (struct columns){gamma->elements, reference_read_all(call, gamma), reference_numbers(call, gamma->elements),
                            reference_numbers(call, gamma->elements)};
}

static void columns_store(struct reference_call *call, struct columns *columns, int dgamma, int dbeta)
{
    reference_store(call, dgamma, 0, columns->length, columns->dgamma);
    if (dbeta >= 0)
        reference_store(call, dbeta, 0, columns->length, columns->dbeta);
}

/* One row of a layer norm's gradient. dy becomes dx; x holds x - mean. `centred`: the mean's gradient takes the sum of
 * x - mean into account, which is zero but for rounding. */
static void layer_norm_grad_row(enum akgen_dtype steps, struct columns *columns, double *dy, const double *x,
                                double rstd, bool centred)
{
    int64_t length = columns->length;
    double d = (double)length, variance = 0, mean = 0, offset = 0, cube = R(rstd * rstd * rstd);
    for (int64_t i = 0; i < length; i++) {
        double scaled = R(dy[i] * columns->gamma[i]);
        variance += R(R(R(-0.5 * scaled) * x[i]) * cube);
        mean += R(-scaled * rstd);
        offset += x[i];
    }
    variance = R(variance);
    mean = R(mean);
    if (centred)
        mean = R(mean + R(R(variance * R(-2 / d)) * R(offset)));
    for (int64_t i = 0; i < length; i++) {
        columns->dgamma[i] += centred ? R(R(dy[i] * x[i]) * rstd) : R(R(dy[i] * rstd) * x[i]);
        columns->dbeta[i] += dy[i];
        double scaled = R(dy[i] * columns->gamma[i]), slope = R(R(variance * R(2 / d)) * x[i]);
        dy[i] = centred ? R(R(scaled * rstd) + R(slope + R(mean * R(1 / d))))
                        : R(R(R(scaled * rstd) + slope) + R(R(1 / d) * mean));
    }
}

/* Gradient of layer_norm(x1 + x2) with given mean and rstd; dx + dsum if there is a dsum. dy, x1, x2, dsum, dx (rows,
 * length); rstd, mean (rows); gamma, dgamma, dbeta (length). The module yields float32. */
static void add_layer_norm_grad(struct reference_call *call)
{
    const struct task_tensor *in[6], *dsum = reference_optional(call, 6);
    for (int i = 0; i < 6; i++)
        in[i] = reference_input(call, i);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct columns columns = columns_new(call, in[5]);
    int64_t length = columns.length, rows = length ? in[0]->elements / length : 0;
    double *dy = reference_numbers(call, length), *x = reference_numbers(call, length),
           *other = reference_numbers(call, length);
    reference_retype(call, 0, AKGEN_FLOAT);
    for (int64_t r = 0; r < rows; r++) {
        double rstd, mean;
        task_read_double(in[0], r * length, (int)length, dy);
        task_read_double(in[1], r * length, (int)length, x);
        task_read_double(in[2], r * length, (int)length, other);
        task_read_double(in[3], r, 1, &rstd);
        task_read_double(in[4], r, 1, &mean);
        for (int64_t i = 0; i < length; i++)
            x[i] = R(R(x[i] + other[i]) - mean);
        layer_norm_grad_row(steps, &columns, dy, x, rstd, true);
        if (dsum)
            task_read_double(dsum, r * length, (int)length, other);
        for (int64_t i = 0; dsum && i < length; i++)
            dy[i] = R(dy[i] + other[i]);
        reference_store(call, 0, r * length, length, dy);
    }
    columns_store(call, &columns, 1, 2);
}

/* Gradient of layer_norm(alpha x + gx) with given mean and rstd: dgx, and dx = alpha dgx. Inputs: dy, x, gx (rows,
 * length), gamma (length), mean, rstd (rows). Outputs: dx, dgx (rows, length), dbeta, dgamma (length). */
static void deep_norm_grad(struct reference_call *call)
{
    const struct task_tensor *in[6];
    for (int i = 0; i < 6; i++)
        in[i] = reference_input(call, i);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    struct columns columns = columns_new(call, in[3]);
    int64_t length = columns.length, rows = length ? in[0]->elements / length : 0;
    double *dy = reference_numbers(call, length), *x = reference_numbers(call, length),
           *other = reference_numbers(call, length);
    double alpha = R(reference_attr(call, 0));
    for (int64_t r = 0; r < rows; r++) {
        double rstd, mean;
        task_read_double(in[0], r * length, (int)length, dy);
        task_read_double(in[1], r * length, (int)length, x);
        task_read_double(in[2], r * length, (int)length, other);
        task_read_double(in[4], r, 1, &mean);
        task_read_double(in[5], r, 1, &rstd);
        for (int64_t i = 0; i < length; i++)
            x[i] = R(R(R(alpha * x[i]) + other[i]) - mean);
        layer_norm_grad_row(steps, &columns, dy, x, rstd, false);
        reference_store(call, 1, r * length, length, dy);
        for (int64_t i = 0; i < length; i++)
            dy[i] = R(alpha * dy[i]);
        reference_store(call, 0, r * length, length, dy);
    }
    columns_store(call, &columns, 3, 2);
}

/* dx = dy gamma rstd - sum(dy gamma x rstd^3) x / length, dgamma = sum over rows of dy x rstd. dy, x, dx (rows,
 * length), rstd (rows), gamma, dgamma (length). dy x is formed in their type; all else in float32, which the module
 * yields. */
static void rms_norm_grad(struct reference_call *call)
{
    const struct task_tensor *dy = reference_input(call, 0), *x = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT), product = reference_steps(call, x->type);
    struct columns columns = columns_new(call, reference_input(call, 3));
    int64_t length = columns.length, rows = length ? x->elements / length : 0;
    double *d = reference_numbers(call, length), *v = reference_numbers(call, length);
    reference_retype(call, 0, AKGEN_FLOAT);
    for (int64_t r = 0; r < rows; r++) {
        double rstd, sum = 0;
        task_read_double(dy, r * length, (int)length, d);
        task_read_double(x, r * length, (int)length, v);
        task_read_double(reference_input(call, 2), r, 1, &rstd);
        double cube = R(rstd * rstd * rstd);
        for (int64_t i = 0; i < length; i++) {
            columns.dgamma[i] += R(reference_round(product, d[i] * v[i]) * rstd);
            d[i] = R(d[i] * columns.gamma[i]);
            sum += R(R(d[i] * v[i]) * cube);
        }
        for (int64_t i = 0; i < length; i++)
            d[i] = R(R(d[i] * rstd) - R(R(R(sum) * v[i]) / (double)length));
        reference_store(call, 0, r * length, length, d);
    }
    columns_store(call, &columns, 1, -1);
}

/* The derivative of g sigmoid(scale g) at g = normal gamma + beta, in the module's steps. */
static double swish_slope(enum akgen_dtype steps, double g, double scale)
{
    double below = R(R(exp(R(g * -scale))) + 1);
    return R(R(R(g - R(g / below)) + 1) / below);
}

/* One group of group_norm_swish's gradient: `channels` channels of `rest` elements; x becomes dx, dy is overwritten.
 * gamma, beta, dgamma, dbeta start at the group's first channel. */
static void group_grad(enum akgen_dtype steps, int64_t channels, int64_t rest, double *x, double *dy, double mean,
                       double rstd, double scale, const double *gamma, const double *beta, double *dgamma,
                       double *dbeta)
{
    double c1 = 0, c2 = 0, size = (double)(channels * rest);
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0, product = 0;
        for (int64_t i = c * rest; i < (c + 1) * rest; i++) {
            x[i] = R(R(x[i] - mean) * rstd);
            dy[i] = R(swish_slope(steps, R(R(x[i] * gamma[c]) + beta[c]), scale) * dy[i]);
            sum += dy[i];
            product += R(dy[i] * x[i]);
        }
        dbeta[c] = R(dbeta[c] + R(sum));
        dgamma[c] = R(dgamma[c] + R(product));
        c1 += R(R(sum) * gamma[c]);
        c2 += R(R(product) * gamma[c]);
    }
    c1 = R(R(c1) / size);
    c2 = R(R(c2) / size);
    for (int64_t i = 0; i < channels * rest; i++)
        x[i] = R(rstd * R(R(R(dy[i] * gamma[i / rest]) - R(x[i] * c2)) - c1));
}

/* Inputs: dy (batch, channels, rest), mean, rstd (batch, groups), x, gamma, beta (channels). Outputs: dx, dgamma,
 * dbeta. Computed in float32. */
static void group_norm_swish_grad(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 3);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    int64_t groups = reference_integer(call, 0), channels = x->dims[1], spans = x->dims[0] * groups;
    int64_t span = spans ? x->elements / spans : 0, own = channels / groups, rest = span / own;
    struct columns columns = columns_new(call, reference_input(call, 4));
    double *beta = reference_read_all(call, reference_input(call, 5));
    double *values = reference_numbers(call, span), *dy = reference_numbers(call, span),
           scale = R(reference_attr(call, 2));
    for (int64_t s = 0; s < spans; s++) {
        double mean, rstd;
        int64_t first = s % groups * own;
        task_read_double(reference_input(call, 0), s * span, (int)span, dy);
        task_read_double(x, s * span, (int)span, values);
        task_read_double(reference_input(call, 1), s, 1, &mean);
        task_read_double(reference_input(call, 2), s, 1, &rstd);
        group_grad(steps, own, rest, values, dy, mean, rstd, scale, columns.gamma + first, beta + first,
                   columns.dgamma + first, columns.dbeta + first);
        reference_store(call, 0, s * span, span, values);
    }
    columns_store(call, &columns, 1, 2);
}

const struct task_reference_entry task_references_norm_grad[] = {
    REFERENCE(add_layer_norm_grad, "dy floating [*rows, *n], x1 =dy [*rows, *n], x2 =dy [*rows, *n], rstd float32 "
                                   "(*rows) 'rand + 0.1', mean float32 (*rows), gamma floating [*n], dsum? =dy [*rows, "
                                   "*n] -> dx =dy [*rows, *n], dgamma? float32 [*n], dbeta? float32 [*n]"),
    REFERENCE(deep_norm_grad, "dy floating [*rows, *n], x =dy [*rows, *n], gx =dy [*rows, *n], gamma floating [*n], "
                              "mean float32 (*rows), rstd float32 (*rows) 'rand + 0.1' -> dx =dy [*rows, *n], dgx? =dy "
                              "[*rows, *n], dbeta? float32 [*n], dgamma? float32 [*n]; alpha float = 0.3"),
    REFERENCE(rms_norm_grad, "dy floating [*rows, *n], x =dy [*rows, *n], rstd float32 (*rows) 'rand + 0.1', gamma "
                             "floating [*n] -> dx =dy [*rows, *n], dgamma? float32 [*n]"),
    REFERENCE(
        group_norm_swish_grad,
        "dy floating [batch, num_groups*own, *plane], mean floating (batch*num_groups), rstd floating "
        "(batch*num_groups) 'rand + 0.1', x =dy [batch, num_groups*own, *plane], gamma floating [num_groups*own], beta "
        "floating [num_groups*own] -> dx =dy [batch, num_groups*own, *plane], dgamma? floating [num_groups*own], "
        "dbeta? floating [num_groups*own]; num_groups int in 1.. = 4, data_format string of NCHW = NCHW, swish_scale "
        "float = 1.0, dgamma_is_require bool = true, dbeta_is_require bool = true"),
    {NULL, NULL, NULL, NULL},
};
