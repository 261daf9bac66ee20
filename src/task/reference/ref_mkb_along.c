/* MultiKernelBench's operators along dimension 1 of a tensor (outer, length, inner): softmax, reductions, running sums
 * and products. All tensors are float32; sums, products and running values are kept in double, as torch does for
 * running ones on a CPU, and rounded where they are stored. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

/* One line of length elements, in and out; the result may be shorter or longer: out_length. */
typedef void line_function(enum akgen_dtype steps, int64_t length, const double *in, int64_t out_length, double *out);

/* Writes function(line) for every line along dimension 1. x (outer, length, inner), y (outer or less, out_length,
 * inner). With `mask`, a tensor like x of ones and zeros, lines are multiplied by it first. One outer index is held in
 * memory at a time. */
static void along(struct reference_call *call, line_function *function, const struct task_tensor *mask)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, x->type);
    int64_t length = x->dims[1], outer = x->dims[0], inner = outer ? x->elements / outer / length : 0;
    int64_t out_outer = y->dims[0], out_length = out_outer && inner ? y->elements / out_outer / inner : 0;
    double *in = reference_numbers(call, length * inner), *weight = reference_numbers(call, length * inner),
           *out = reference_numbers(call, out_length * inner);
    double *line = reference_numbers(call, length), *result = reference_numbers(call, out_length);
    for (int64_t o = 0; o < out_outer && o < outer; o++) {
        task_read_double(x, o * length * inner, (int)(length * inner), in);
        if (mask)
            task_read_double(mask, o * length * inner, (int)(length * inner), weight);
        for (int64_t i = 0; mask && i < length * inner; i++)
            in[i] *= weight[i];
        for (int64_t i = 0; i < inner; i++) {
            for (int64_t l = 0; l < length; l++)
                line[l] = in[l * inner + i];
            function(steps, length, line, out_length, result);
            for (int64_t l = 0; l < out_length; l++)
                out[l * inner + i] = result[l];
        }
        task_write_double(y, o * out_length * inner, (int)(out_length * inner), out);
    }
}

#define LINE(id)                                                                                                       \
    static void id##_line(enum akgen_dtype steps, int64_t length, const double *in, int64_t out_length, double *out);  \
    static void id(struct reference_call *call)                                                                        \
    {                                                                                                                  \
        along(call, id##_line, NULL);                                                                                  \
    }                                                                                                                  \
    static void id##_line(enum akgen_dtype steps, int64_t length, const double *in, int64_t out_length, double *out)
#define UNUSED() ((void)steps, (void)out_length)

static double greatest(int64_t length, const double *in)
{
    double most = in[0];
    for (int64_t l = 1; l < length; l++)
        most = in[l] > most ? in[l] : most;
    return most;
}

LINE(softmax)
{
    UNUSED();
    double most = greatest(length, in), sum = 0;
    for (int64_t l = 0; l < length; l++)
        sum += out[l] = R(exp(R(in[l] - most)));
    for (int64_t l = 0; l < length; l++)
        out[l] = R(out[l] / R(sum));
}

LINE(log_softmax)
{
    UNUSED();
    double most = greatest(length, in), sum = 0;
    for (int64_t l = 0; l < length; l++)
        sum += exp(in[l] - most);
    for (int64_t l = 0; l < length; l++)
        out[l] = R(R(in[l] - most) - R(log(sum)));
}

LINE(max)
{
    UNUSED();
    out[0] = greatest(length, in);
}

LINE(min)
{
    UNUSED();
    out[0] = in[0];
    for (int64_t l = 1; l < length; l++)
        out[0] = in[l] < out[0] ? in[l] : out[0];
}

LINE(sum)
{
    UNUSED();
    out[0] = 0;
    for (int64_t l = 0; l < length; l++)
        out[0] += in[l];
}

LINE(mean)
{
    UNUSED();
    out[0] = 0;
    for (int64_t l = 0; l < length; l++)
        out[0] += in[l];
    out[0] = R(out[0]) / (double)length;
}

LINE(product)
{
    UNUSED();
    out[0] = 1;
    for (int64_t l = 0; l < length; l++)
        out[0] *= in[l];
}

LINE(cumsum)
{
    UNUSED();
    double sum = 0;
    for (int64_t l = 0; l < length; l++)
        out[l] = sum += in[l];
}

REFERENCE_VARIANT(masked_cumsum, along, cumsum_line, reference_input(call, 1))

/* As published: a zero in front, length + 1 results, and (in `along`: the output has one row less) no last row. */
LINE(cumsum_exclusive)
{
    UNUSED();
    double sum = 0;
    out[0] = 0;
    for (int64_t l = 0; l < length; l++)
        out[l + 1] = sum += in[l];
}

LINE(cumsum_reverse)
{
    UNUSED();
    double sum = 0;
    for (int64_t l = length; l-- > 0;)
        out[l] = sum += in[l];
}

LINE(cumprod)
{
    UNUSED();
    double product = 1;
    for (int64_t l = 0; l < length; l++)
        out[l] = product *= in[l];
}

/* y = x / sum |x|, and y = x / sqrt(sum x^2) */
LINE(l1_norm)
{
    UNUSED();
    double sum = 0;
    for (int64_t l = 0; l < length; l++)
        sum += fabs(in[l]);
    for (int64_t l = 0; l < length; l++)
        out[l] = R(in[l] / R(sum));
}

LINE(l2_norm)
{
    UNUSED();
    double sum = 0;
    for (int64_t l = 0; l < length; l++)
        sum += in[l] * in[l];
    for (int64_t l = 0; l < length; l++)
        out[l] = R(in[l] / R(sqrt(sum)));
}

const struct task_reference_entry task_references_mkb_along[] = {
    REFERENCE_CALLED("mkb_softmax", softmax, "x float32 [o, n, *i] -> y =x [o, n, *i]"),
    REFERENCE_CALLED("mkb_log_softmax", log_softmax, "x float32 [o, n, *i] -> y =x [o, n, *i]"),
    REFERENCE_CALLED("mkb_max", max, "x float32 [o, n, *i] -> y =x [o, *i] or [o, 1, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_min", min, "x float32 [o, n, *i] -> y =x [o, *i] or [o, 1, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_sum", sum, "x float32 [o, n, *i] -> y =x [o, *i] or [o, 1, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_mean", mean, "x float32 [o, n, *i] -> y =x [o, *i] or [o, 1, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_product", product, "x float32 [o, n, *i] -> y =x [o, *i] or [o, 1, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_cumsum", cumsum, "x float32 [o, n, *i] -> y =x [o, n, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_masked_cumsum", masked_cumsum,
                     "x float32 [o, n, *i], mask bool [o, n, *i] -> y =x [o, n, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_cumsum_exclusive", cumsum_exclusive,
                     "x float32 [o, n, *i] -> y =x [o-1, n+1, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_cumsum_reverse", cumsum_reverse,
                     "x float32 [o, n, *i] -> y =x [o, n, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_cumprod", cumprod,
                     "x float32 [o, n, *i] 'uniform(0.9, 1.1)' -> y =x [o, n, *i]; dim int in 1..1 = 1"),
    REFERENCE_CALLED("mkb_l1_norm", l1_norm, "x float32 [o, n, *i] -> y =x [o, n, *i]"),
    REFERENCE_CALLED("mkb_l2_norm", l2_norm, "x float32 [o, n, *i] -> y =x [o, n, *i]"),
    {NULL, NULL, NULL, NULL},
};
