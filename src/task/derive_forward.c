/* Derived inputs that a forward pass hands to its gradient: statistics, activations, log-probabilities. Steps round as
 * torch does in the tensors' types. */
#include "task/reference/product.h"
#include "task/reference/reference.h"
#include "task/task_internal.h"

#include <math.h>
#include <stdlib.h>

static const struct task_tensor *input(const struct task_instance *instance, const char *name)
{
    return &instance->inputs[task_input_index(instance->task, name)].tensors[0];
}

/* Statistics of rows. The tensor has one element per row of a sum a scale + b, which is formed in float32. */
static void row_statistics(const struct task_tensor *a, double scale, const struct task_tensor *b, double epsilon,
                           bool rstd, const struct task_tensor *result)
{
    double *row = reference_part(a, 0, a->elements), *other = reference_part(b, 0, b->elements);
    int64_t rows = result->elements, length = rows ? a->elements / rows : 0;
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0, squares = 0, *x = row + r * length;
        for (int64_t i = 0; i < length; i++)
            sum += x[i] = (float)((float)(x[i] * scale) + other[r * length + i]);
        double value = (float)(sum / (double)length);
        for (int64_t i = 0; i < length; i++)
            squares += (x[i] - value) * (x[i] - value);
        if (rstd)
            value = 1 / sqrt(reference_round(AKGEN_FLOAT, reference_round(AKGEN_FLOAT, squares / (double)length) +
                                                              reference_round(AKGEN_FLOAT, epsilon)));
        task_write_double(result, r, 1, &value);
    }
    free(row);
    free(other);
}

/* Of x1 + x2; epsilon 1e-5. */
void task_derive_sum_statistics(struct task_instance *instance)
{
    for (int rstd = 0; rstd < 2; rstd++)
        row_statistics(input(instance, "x1"), 1, input(instance, "x2"), 1e-5, rstd,
                       input(instance, rstd ? "rstd" : "mean"));
}

/* Of alpha x + gx; alpha is attribute 0, epsilon a column. */
void task_derive_deep_statistics(struct task_instance *instance)
{
    const struct reference_call call = {.instance = instance};
    for (int rstd = 0; rstd < 2; rstd++)
        row_statistics(input(instance, "x"), (float)reference_attr(&call, 0), input(instance, "gx"),
                       reference_column(&call, "epsilon"), rstd, input(instance, rstd ? "rstd" : "mean"));
}

/* 1 / sqrt(mean(x^2) + epsilon) in x's own type; epsilon is a column. */
void task_derive_rms_rstd(struct task_instance *instance)
{
    const struct task_tensor *tensor = input(instance, "rstd");
    const struct reference_call call = {.instance = instance};
    const struct task_tensor *x = input(instance, "x");
    double *values = reference_part(x, 0, x->elements), epsilon = reference_column(&call, "epsilon");
    int64_t rows = tensor->elements, length = rows ? x->elements / rows : 0;
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t i = 0; i < length; i++)
            sum += reference_round(x->type, values[r * length + i] * values[r * length + i]);
        double mean = reference_round(x->type, sum / (double)length);
        double rstd = reference_round(x->type, 1 / sqrt(reference_round(x->type, mean + epsilon)));
        task_write_double(tensor, r, 1, &rstd);
    }
    free(values);
}

/* Activations. */
/* gelu(x), the exact form. */
void task_derive_gelu(struct task_instance *instance)
{
    const struct task_tensor *tensor = input(instance, "y");
    double *values = reference_part(input(instance, "x"), 0, input(instance, "x")->elements);
    for (int64_t i = 0; i < tensor->elements; i++)
        values[i] = reference_gelu(values[i], false);
    task_write_double(tensor, 0, (int)tensor->elements, values);
    free(values);
}

/* gelu of the first half of x along attribute `dim`; attribute `approximate` 1: the tanh form. */
void task_derive_half_gelu(struct task_instance *instance)
{
    const struct task_tensor *tensor = input(instance, "gelu");
    const struct reference_call call = {.instance = instance};
    const struct task_tensor *x = input(instance, "x");
    bool tanh_form = reference_attr(&call, 1) == 1;
    int64_t half = reference_half(x, (int)reference_attr(&call, 0));
    double *values = reference_part(x, 0, x->elements);
    for (int64_t i = 0; i < tensor->elements; i++) {
        double y = reference_gelu(values[i / half * 2 * half + i % half], tanh_form);
        task_write_double(tensor, i, 1, &y);
    }
    free(values);
}

/* The generated values are logits: x - log(sum(exp(x))) per row. */
void task_derive_log_softmax(struct task_instance *instance)
{
    const struct task_tensor *tensor = input(instance, "log_prob");
    double *values = reference_part(tensor, 0, tensor->elements);
    int64_t length = tensor->dims[tensor->rank - 1], rows = length ? tensor->elements / length : 0;
    for (int64_t r = 0; r < rows; r++) {
        double *row = values + r * length, largest = row[0], sum = 0;
        for (int64_t i = 1; i < length; i++)
            largest = fmax(largest, row[i]);
        for (int64_t i = 0; i < length; i++)
            sum += exp(row[i] - largest);
        for (int64_t i = 0; i < length; i++)
            row[i] -= largest + log(sum);
    }
    task_write_double(tensor, 0, (int)tensor->elements, values);
    free(values);
}
