/* Normalisations over the last dimensions (level 2: Norm). All modules compute in float32 and yield float32; row sums
 * are kept in double and rounded once, which lies within the error of any float32 summation order. */
#include "task/reference.h"

#include <math.h>
#include <stdlib.h>

#define R(value) reference_round(steps, value)

static double *row_new(int64_t length)
{
    double *row = calloc((size_t)length + 1, sizeof *row);
    if (!row)
        abort();
    return row;
}

static double *read_all(const struct task_tensor *tensor)
{
    double *values = row_new(tensor->elements);
    task_read_double(tensor, 0, (int)tensor->elements, values);
    return values;
}

/* Tensor of an output, NULL if it is not judged. */
static const struct task_tensor *output(const struct reference_call *call, int index)
{
    return call->outputs[index].count ? &call->outputs[index].tensors[0] : NULL;
}

/* y = x / sqrt(mean(x^2) + epsilon) gamma; rstd = 1 / sqrt(...). x, y (rows, length), gamma (length), rstd (rows). */
static void rms_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *gamma = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    int64_t length = gamma->elements, rows = length ? x->elements / length : 0;
    double epsilon = reference_attr(call, 0), *weight = read_all(gamma), *row = row_new(length);
    reference_retype(call, 0, AKGEN_FLOAT);
    for (int64_t r = 0; r < rows; r++) {
        task_read_double(x, r * length, (int)length, row);
        double sum = 0;
        for (int64_t i = 0; i < length; i++)
            sum += R(row[i] * row[i]);
        double rstd = R(1 / R(sqrt(R(R(sum / (double)length) + R(epsilon)))));
        for (int64_t i = 0; i < length; i++)
            row[i] = R(R(row[i] * rstd) * weight[i]);
        task_write_double(output(call, 0), r * length, (int)length, row);
        if (output(call, 1))
            task_write_double(output(call, 1), r, 1, &rstd);
    }
    free(weight);
    free(row);
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

/* x = x1 + x2 (+ bias); y = layer_norm(x, gamma, beta, epsilon). x1, x2, x, y (rows, length); gamma, beta (length);
 * bias (rows, length), (length) or absent; mean, rstd (rows). Outputs in order: y, mean, rstd, x. */
static void add_layer_norm(struct reference_call *call)
{
    const struct task_tensor *x1 = reference_input(call, 0), *x2 = reference_input(call, 1);
    const struct task_tensor *bias = call->instance->inputs[4].count ? reference_input(call, 4) : NULL;
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double *gamma = read_all(reference_input(call, 2)), *beta = read_all(reference_input(call, 3));
    int64_t length = reference_input(call, 2)->elements, rows = length ? x1->elements / length : 0;
    double *row = row_new(length), *other = row_new(length), mean, rstd;
    reference_retype(call, 0, AKGEN_FLOAT);
    reference_retype(call, 3, AKGEN_FLOAT);
    for (int64_t r = 0; r < rows; r++) {
        task_read_double(x1, r * length, (int)length, row);
        task_read_double(x2, r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++)
            row[i] = R(row[i] + other[i]);
        if (bias)
            task_read_double(bias, bias->elements == length ? 0 : r * length, (int)length, other);
        for (int64_t i = 0; bias && i < length; i++)
            row[i] = R(row[i] + other[i]);
        if (output(call, 3))
            task_write_double(output(call, 3), r * length, (int)length, row);
        layer_norm_row(steps, length, row, gamma, beta, reference_attr(call, 0), &mean, &rstd);
        task_write_double(output(call, 0), r * length, (int)length, row);
        if (output(call, 1))
            task_write_double(output(call, 1), r, 1, &mean);
        if (output(call, 2))
            task_write_double(output(call, 2), r, 1, &rstd);
    }
    free(gamma);
    free(beta);
    free(row);
    free(other);
}

/* res_out = layer_norm(x + y, gamma, beta, epsilon). x, y, res_out (rows, length); gamma, beta (length). */
static void pre_layer_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_input(call, 1);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double *gamma = read_all(reference_input(call, 2)), *beta = read_all(reference_input(call, 3));
    int64_t length = reference_input(call, 2)->elements, rows = length ? x->elements / length : 0;
    double *row = row_new(length), *other = row_new(length), mean, rstd;
    for (int64_t r = 0; r < rows; r++) {
        task_read_double(x, r * length, (int)length, row);
        task_read_double(y, r * length, (int)length, other);
        for (int64_t i = 0; i < length; i++)
            row[i] = R(row[i] + other[i]);
        layer_norm_row(steps, length, row, gamma, beta, reference_attr(call, 0), &mean, &rstd);
        task_write_double(output(call, 0), r * length, (int)length, row);
    }
    free(gamma);
    free(beta);
    free(row);
    free(other);
}

const struct task_reference_entry task_references_norm[] = {
    {"rms_norm", rms_norm},
    {"add_layer_norm", add_layer_norm},
    {"pre_layer_norm", pre_layer_norm},
    {NULL, NULL},
};
