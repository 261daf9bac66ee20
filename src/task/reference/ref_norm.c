/* Normalisations over the last dimensions (level 2: Norm). All modules compute in float32 and yield float32; row sums
 * are kept in double and rounded once, which lies within the error of any float32 summation order. */
#include "task/reference/reference.h"

#include <inttypes.h>
#include <math.h>

#define R(value) reference_round(steps, value)

/* y = x / sqrt(mean(x^2) + epsilon) gamma; rstd = 1 / sqrt(...). x, y (rows, length), gamma (length), rstd (rows). */
static void rms_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *gamma = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    int64_t length = gamma->elements, rows = length ? x->elements / length : 0;
    double epsilon = reference_attr(call, 0), *weight = reference_read_all(call, gamma),
           *row = reference_numbers(call, length);
    reference_retype(call, 0, AKGEN_FLOAT);
    for (int64_t r = 0; r < rows; r++) {
        task_read_double(x, r * length, (int)length, row);
        double sum = 0;
        for (int64_t i = 0; i < length; i++)
            sum += R(row[i] * row[i]);
        double rstd = R(1 / R(sqrt(R(R(sum / (double)length) + R(epsilon)))));
        for (int64_t i = 0; i < length; i++)
            row[i] = R(R(row[i] * rstd) * weight[i]);
        task_write_double(reference_output(call, 0), r * length, (int)length, row);
        if (reference_output(call, 1))
            task_write_double(reference_output(call, 1), r, 1, &rstd);
    }
}

/* Normalises one row in place: (x - mean) rstd gamma + beta. */
static void layer_norm_row(enum akgen_dtype steps, int64_t length, double *row, const double *gamma, const double *beta,
                           double epsilon, double *mean, double *rstd)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < length; i++)
        sum += row[i];
    *mean = R(sum / (double)length);
    for (int64_t i = 0; i < length; i++)
        squares += (row[i] - *mean) * (row[i] - *mean);
    *rstd = R(1 / sqrt(R(R(squares / (double)length) + R(epsilon))));
    for (int64_t i = 0; i < length; i++)
        row[i] = R(R(R(R(row[i] - *mean) * *rstd) * gamma[i]) + beta[i]);
}

/* layer_norm(inputs 0 + 1 + bias), gamma and beta being inputs 2 and 3, goes to output 0; mean, rstd and the sum go to
 * outputs 1 to 3 if there are `all`. */
static void add_layer_norm_rows(struct reference_call *call, const struct task_tensor *bias, bool all)
{
    const struct task_tensor *x1 = reference_input(call, 0), *x2 = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double *gamma = reference_read_all(call, reference_input(call, 2)),
           *beta = reference_read_all(call, reference_input(call, 3));
    int64_t length = reference_input(call, 2)->elements, rows = length ? x1->elements / length : 0;
    double *row = reference_numbers(call, length), *other = reference_numbers(call, length), mean, rstd;
    for (int64_t r = 0; r < rows; r++) {
        task_read_double(x1, r * length, (int)length, row);
        task_read_double(x2, r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++)
            row[i] = R(row[i] + other[i]);
        if (bias)
            task_read_double(bias, bias->elements == length ? 0 : r * length, (int)length, other);
        for (int64_t i = 0; bias && i < length; i++)
            row[i] = R(row[i] + other[i]);
        if (all)
            reference_store(call, 3, r * length, length, row);
        layer_norm_row(steps, length, row, gamma, beta, reference_attr(call, 0), &mean, &rstd);
        reference_store(call, 0, r * length, length, row);
        if (all) {
            reference_store(call, 1, r, 1, &mean);
            reference_store(call, 2, r, 1, &rstd);
        }
    }
}

/* x = x1 + x2 (+ bias); y = layer_norm(x, gamma, beta, epsilon). x1, x2, x, y (rows, length); gamma, beta (length);
 * bias (rows, length), (length) or absent; mean, rstd (rows). Outputs in order: y, mean, rstd, x; in place they are
 * called x1 and x2. */
static void inplace_add_layer_norm(struct reference_call *call)
{
    add_layer_norm_rows(call, reference_optional(call, 4), true);
}

/* The module yields float32. */
static void add_layer_norm(struct reference_call *call)
{
    reference_retype(call, 0, AKGEN_FLOAT);
    reference_retype(call, 3, AKGEN_FLOAT);
    inplace_add_layer_norm(call);
}

/* x = x1 + x2; rstd = 1 / sqrt(mean(x^2) + epsilon); y = x rstd gamma. x1, x2, x, y (rows, length); gamma (length);
 * rstd (rows). `y_again`: another output that holds y, or that of y itself. */
static void add_rms_norm_rows(struct reference_call *call, enum akgen_dtype module_type, int y_again, int rstd_output,
                              int x_output)
{
    const struct task_tensor *x1 = reference_input(call, 0), *x2 = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, module_type);
    double *gamma = reference_read_all(call, reference_input(call, 2)), epsilon = reference_attr(call, 0);
    int64_t length = reference_input(call, 2)->elements, rows = length ? x1->elements / length : 0;
    double *row = reference_numbers(call, length), *other = reference_numbers(call, length);
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        task_read_double(x1, r * length, (int)length, row);
        task_read_double(x2, r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++) {
            row[i] = R(row[i] + other[i]);
            sum += R(row[i] * row[i]);
        }
        reference_store(call, x_output, r * length, length, row);
        double rstd = R(1 / sqrt(R(R(sum / (double)length) + R(epsilon))));
        for (int64_t i = 0; i < length; i++)
            row[i] = R(R(row[i] * rstd) * gamma[i]);
        reference_store(call, 0, r * length, length, row);
        reference_store(call, y_again, r * length, length, row);
        reference_store(call, rstd_output, r, 1, &rstd);
    }
}

/* The module computes in the type of x1, rstd included. Outputs: y, rstd, x. */
static void add_rms_norm(struct reference_call *call)
{
    enum akgen_dtype type = reference_input(call, 0)->type;
    reference_retype(call, 1, type);
    add_rms_norm_rows(call, type, 0, 1, 2);
}

/* In float32, y1 and y2 both. Outputs: y1, y2, rstd, x. */
static void add_rms_norm_cast(struct reference_call *call)
{
    reference_retype(call, 1, AKGEN_FLOAT);
    reference_retype(call, 3, AKGEN_FLOAT);
    add_rms_norm_rows(call, AKGEN_FLOAT, 1, 2, 3);
}

/* In float32, rounded once. Outputs: x1 (y), rstd, x2 (the sum). */
REFERENCE_VARIANT(inplace_add_rms_norm, add_rms_norm_rows, AKGEN_FLOAT, 0, 1, 2)

/* x = x1 + x2; y1 = int8(x / sqrt(mean(x^2) + epsilon) gamma / scales1 + zero_points1). x1, x2, x, y1 (rows, length);
 * gamma, scales1, zero_points1 (length). Outputs: y1, y2 (not made, as there is no scales2), x. The module multiplies
 * by the reciprocal of the scale. */
static void add_rms_norm_quant(struct reference_call *call)
{
    const struct task_tensor *x1 = reference_input(call, 0), *x2 = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double *gamma = reference_read_all(call, reference_input(call, 2)),
           *scale = reference_read_all(call, reference_input(call, 3));
    double *zero = reference_read_all(call, reference_input(call, 5)), epsilon = reference_attr(call, 1);
    int64_t length = reference_input(call, 2)->elements, rows = length ? x1->elements / length : 0;
    double *row = reference_numbers(call, length), *other = reference_numbers(call, length);
    reference_quantized(call, 0);
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        task_read_double(x1, r * length, (int)length, row);
        task_read_double(x2, r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++) {
            row[i] = R(row[i] + other[i]);
            sum += R(row[i] * row[i]);
        }
        reference_store(call, 2, r * length, length, row);
        double rms = R(sqrt(R(R(sum / (double)length) + R(epsilon))));
        for (int64_t i = 0; i < length; i++) {
            double y = R(R(row[i] / rms) * gamma[i]);
            row[i] = reference_int8(call, R(R(y * R(1 / scale[i])) + zero[i]));
        }
        reference_store(call, 0, r * length, length, row);
    }
}

/* res_out = layer_norm(x + y, gamma, beta, epsilon). x, y, res_out (rows, length); gamma, beta (length). */
REFERENCE_VARIANT(pre_layer_norm, add_layer_norm_rows, NULL, false)

/* Mean and 1 / sqrt(variance + epsilon) of n numbers, each step rounded. */
static void moments(enum akgen_dtype steps, int64_t n, const double *x, double epsilon, double *mean, double *variance,
                    double *rstd)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    *mean = R(sum / (double)n);
    for (int64_t i = 0; i < n; i++) {
        double difference = R(x[i] - *mean);
        squares += R(difference * difference);
    }
    *variance = R(squares / (double)n);
    *rstd = R(1 / sqrt(R(*variance + R(epsilon))));
}

/* y = layer_norm(alpha x + gx): gamma (x_add - mean) rstd + beta. Outputs: mean, rstd, y; the module rounds all three
 * to the type of x. x, gx, y (rows, length); beta, gamma (length). */
static void deep_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *gx = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double *beta = reference_read_all(call, reference_input(call, 2)),
           *gamma = reference_read_all(call, reference_input(call, 3));
    double alpha = R(reference_attr(call, 0)), epsilon = reference_attr(call, 1), mean, variance, rstd;
    int64_t length = reference_input(call, 3)->elements, rows = length ? x->elements / length : 0;
    double *row = reference_numbers(call, length), *other = reference_numbers(call, length);
    reference_retype(call, 0, x->type);
    reference_retype(call, 1, x->type);
    for (int64_t r = 0; r < rows; r++) {
        task_read_double(x, r * length, (int)length, row);
        task_read_double(gx, r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++)
            row[i] = R(R(row[i] * alpha) + other[i]);
        moments(steps, length, row, epsilon, &mean, &variance, &rstd);
        for (int64_t i = 0; i < length; i++)
            row[i] = R(R(R(gamma[i] * R(row[i] - mean)) * rstd) + beta[i]);
        reference_store(call, 0, r, 1, &mean);
        reference_store(call, 1, r, 1, &rstd);
        reference_store(call, 2, r * length, length, row);
    }
}

/* y = (x - mean) rstd gamma + beta over the last dimensions, whose sizes input 1 holds; gamma and beta may be absent.
 * Outputs: y, mean, rstd; the module rounds all three to the type of x. */
static void layer_norm_v4(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *shape = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double *gamma = reference_read_optional(call, 2);
    double *beta = reference_read_optional(call, 3);
    double mean, variance, rstd;
    int64_t length = 1;
    for (int i = 0; i < shape->elements; i++)
        length *= x->dims[x->rank - 1 - i];
    double *row = reference_numbers(call, length);
    reference_retype(call, 1, x->type);
    reference_retype(call, 2, x->type);
    for (int64_t r = 0; length && r < x->elements / length; r++) {
        task_read_double(x, r * length, (int)length, row);
        moments(steps, length, row, reference_attr(call, 0), &mean, &variance, &rstd);
        for (int64_t i = 0; i < length; i++) {
            row[i] = R(R(row[i] - mean) * rstd);
            row[i] = gamma ? R(row[i] * gamma[i]) : row[i];
            row[i] = beta ? R(row[i] + beta[i]) : row[i];
        }
        reference_store(call, 0, r * length, length, row);
        reference_store(call, 1, r, 1, &mean);
        reference_store(call, 2, r, 1, &rstd);
    }
}

/* (1 - momentum) running + momentum batch */
static void update_running(struct reference_call *call, int input, int output, int64_t channel, bool training,
                           double batch)
{
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double momentum = reference_attr(call, 1), running;
    task_read_double(reference_input(call, input), channel, 1, &running);
    if (training)
        running = R(R(R(1 - momentum) * running) + R(R(momentum) * batch));
    reference_store(call, output, channel, 1, &running);
}

/* y = (x - mean) rstd weight + bias per channel, with mean and (biased) variance of the batch, training or not. x, y
 * (batch, channels, rest); the others (channels). The module computes in the type of x, and in float32 from the weight
 * on if that is float32. Outputs: y, running_mean, running_var, save_mean, save_rstd. */
static void batch_norm_v3(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *weight = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, x->type), affine = reference_steps(call, weight->type);
    double *w = reference_read_all(call, weight), *b = reference_read_all(call, reference_input(call, 2));
    int64_t channels = x->dims[1], batch = x->dims[0], rest = batch * channels ? x->elements / batch / channels : 0;
    double *values = reference_numbers(call, batch * rest), mean, variance, rstd;
    bool training = reference_flag(call, 2);
    reference_retype(call, 0, weight->type);
    reference_retype(call, 3, x->type);
    reference_retype(call, 4, x->type);
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t n = 0; n < batch; n++)
            task_read_double(x, (n * channels + c) * rest, (int)rest, values + n * rest);
        moments(steps, batch * rest, values, reference_attr(call, 0), &mean, &variance, &rstd);
        for (int64_t i = 0; i < batch * rest; i++) {
            double normal = R(R(values[i] - mean) * rstd);
            values[i] = reference_round(affine, reference_round(affine, normal * w[c]) + b[c]);
        }
        for (int64_t n = 0; n < batch; n++)
            reference_store(call, 0, (n * channels + c) * rest, rest, values + n * rest);
        update_running(call, 3, 1, c, training, mean);
        update_running(call, 4, 2, c, training, variance);
        reference_store(call, 3, c, 1, &mean);
        reference_store(call, 4, c, 1, &rstd);
    }
}

/* g = group_norm(x) gamma + beta; y = g sigmoid(swish_scale g), or g. x, y (batch, channels, rest); gamma, beta
 * (channels); mean, rstd (batch, groups): a group is channels / groups neighbours. Computed in float32. */
static void group_norm_swish(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    int64_t groups = reference_integer(call, 0), channels = x->dims[1], spans = x->dims[0] * groups;
    int64_t span = spans ? x->elements / spans : 0, rest = span / (channels / groups);
    double *gamma = reference_read_all(call, reference_input(call, 1)),
           *beta = reference_read_all(call, reference_input(call, 2));
    double *values = reference_numbers(call, span), mean, variance, rstd, scale = R(reference_attr(call, 4));
    bool swish = reference_flag(call, 3);
    for (int64_t s = 0; s < spans; s++) {
        task_read_double(x, s * span, (int)span, values);
        moments(steps, span, values, reference_attr(call, 2), &mean, &variance, &rstd);
        for (int64_t i = 0; i < span; i++) {
            int64_t channel = s % groups * (channels / groups) + i / rest;
            double g = R(R(R(R(values[i] - mean) * rstd) * gamma[channel]) + beta[channel]);
            values[i] = swish ? R(g * R(1 / (1 + exp(-R(scale * g))))) : g;
        }
        reference_store(call, 0, s * span, span, values);
        reference_store(call, 1, s, 1, &mean);
        reference_store(call, 2, s, 1, &rstd);
    }
}

/* Input 1 holds the last sizes of x. */
static struct akgen_error *layer_norm_v4_fits(const struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *shape = reference_input(call, 1);
    int64_t size;
    for (int i = 0; shape->values && i < shape->elements; i++) {
        int d = x->rank - (int)shape->elements + i;
        task_read_integer(shape, i, 1, &size);
        if (size != x->dims[d])
            return error_new("normalized_shape holds %" PRId64 " for dimension %d of x, which has %" PRId64, size, d,
                             x->dims[d]);
    }
    return NULL;
}

const struct task_reference_entry task_references_norm[] = {
    REFERENCE(
        rms_norm,
        "x floating [*rows, *n], gamma floating [*n] -> y =x [*rows, *n], rstd? float32 (*rows); epsilon float = 1e-6"),
    REFERENCE(add_layer_norm,
              "x1 floating [*rows, *n], x2 =x1 [*rows, *n], gamma floating [*n], beta floating [*n], bias? floating "
              "[*rows, *n] or [*n] -> y =x1 [*rows, *n], mean? float32 (*rows), rstd? float32 (*rows), x? =x1 [*rows, "
              "*n]; epsilon float = 1e-5, additional_output bool = true"),
    REFERENCE(inplace_add_layer_norm,
              "x1 floating [*rows, *n], x2 =x1 [*rows, *n], gamma floating [*n], beta floating [*n], bias? floating "
              "[*rows, *n] or [*n] -> x1 =x1 [*rows, *n], mean? float32 (*rows), rstd? float32 (*rows), x2? =x1 "
              "[*rows, *n]; epsilon float = 1e-5, additional_output bool = true"),
    REFERENCE(pre_layer_norm, "x floating [*rows, *n], y =x [*rows, *n], gamma floating [*n], beta floating [*n] -> "
                              "res_out =x [*rows, *n]; epsilon float = 1e-6"),
    REFERENCE(add_rms_norm, "x1 floating [*rows, *n], x2 =x1 [*rows, *n], gamma floating [*n] -> y =x1 [*rows, *n], "
                            "rstd? float32 (*rows), x? =x1 [*rows, *n]; epsilon float = 1e-6"),
    REFERENCE(add_rms_norm_cast,
              "x1 floating [*rows, *n], x2 =x1 [*rows, *n], gamma floating [*n] -> y1 float32 [*rows, *n], y2? =x1 "
              "[*rows, *n], rstd? float32 (*rows), x? =x1 [*rows, *n]; epsilon float = 1e-6"),
    REFERENCE(inplace_add_rms_norm, "x1 floating [*rows, *n], x2 =x1 [*rows, *n], gamma floating [*n] -> x1 =x1 "
                                    "[*rows, *n], rstd? float32 (*rows), x2? =x1 [*rows, *n]; epsilon float = 1e-6"),
    REFERENCE(add_rms_norm_quant,
              "x1 floating [*rows, *n], x2 =x1 [*rows, *n], gamma floating [*n], scales1 float32/bfloat16 [*n] 'rand + "
              "0.1', scales2? float32/bfloat16 [*n] 'rand + 0.1', zero_points1 int32/bfloat16 [*n], zero_points2? "
              "int32/bfloat16 [*n] -> y1 int8 [*rows, *n], y2! int8 [*rows, *n], x? =x1 [*rows, *n]; axis int in "
              "-1..-1 = -1, epsilon float = 1e-6, div_mode bool = true"),
    REFERENCE(deep_norm,
              "x floating [*rows, *n], gx =x [*rows, *n], beta floating [*n], gamma floating [*n] -> mean? float32 "
              "(*rows), rstd? float32 (*rows), y =x [*rows, *n]; alpha float = 0.3, epsilon float = 1e-6"),
    REFERENCE(layer_norm_v4,
              "x floating [*rows, *n:depth], normalized_shape index (depth) '$n', gamma? floating [*n], beta? floating "
              "[*n] -> y =x [*rows, *n], mean? float32 (*rows), rstd? float32 (*rows); epsilon float = 1e-5 | size n "
              "[6] | size depth [1]",
              .fits = layer_norm_v4_fits),
    REFERENCE(batch_norm_v3, "x floating [batch, c, *plane], weight floating [c], bias =weight [c], running_mean "
                             "float32 [c], running_var float32 [c] 'rand + 1e-3' -> y =x [batch, c, *plane], "
                             "running_mean? float32 [c], running_var? float32 [c], save_mean? float32 [c], save_rstd? "
                             "float32 [c]; epsilon float = 1e-5, momentum float = 0.1, is_training bool = true"),
    REFERENCE(group_norm_swish,
              "x floating [batch, num_groups*own, *plane], gamma floating [num_groups*own], beta floating "
              "[num_groups*own] -> y =x [batch, num_groups*own, *plane], mean? floating (batch*num_groups), rstd? "
              "floating (batch*num_groups); num_groups int in 1.. = 4, data_format string of NCHW = NCHW, eps float = "
              "1e-5, activate_swish bool = true, swish_scale float = 1.0"),
    {NULL, NULL, NULL, NULL},
};
