/* MultiKernelBench's normalisations of (N, C, H, W) tensors, float32. Sums in double, rounded once: means, variances
 * and norms lie within the error of any float32 order of summation. */
#include "task/reference/reference.h"

#include <math.h>

#define R(value) reference_round(steps, value)

/* The whole of a tensor in memory, as float32 (exact for inputs). */
static float *read_whole(const struct reference_call *call, const struct task_tensor *tensor)
{
    float *values = arena_alloc(call->scratch, sizeof *values * (size_t)(tensor->elements + 1));
    task_read_float(tensor, 0, (int)tensor->elements, values);
    return values;
}

/* What one statistic is taken over and how its elements are found: `blocks` runs of `run` elements, `step` apart. */
struct group {
    int64_t first, blocks, step, run;
};

static void statistics(enum akgen_dtype steps, const float *x, const struct group *group, double epsilon, double *mean,
                       double *rstd)
{
    double count = (double)(group->blocks * group->run), sum = 0, squares = 0;
    for (int64_t b = 0; b < group->blocks; b++)
        for (int64_t i = 0; i < group->run; i++)
            sum += x[group->first + b * group->step + i];
    *mean = sum / count;
    for (int64_t b = 0; b < group->blocks; b++)
        for (int64_t i = 0; i < group->run; i++) {
            double difference = x[group->first + b * group->step + i] - *mean;
            squares += difference * difference;
        }
    *mean = R(*mean);
    *rstd = R(1 / sqrt(squares / count + epsilon));
}

/* y = (x - mean) rstd weight + bias for one group; weight[(i / stretch) % affine] belongs to element i of the tensor;
 * weight, bias or both may be NULL. */
static void normalize(struct reference_call *call, const float *x, const struct group *group, int64_t stretch,
                      int64_t affine, const float *weight, const float *bias, double epsilon)
{
    const struct task_tensor *y = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, AKGEN_FLOAT);
    double mean, rstd, out[REFERENCE_BLOCK];
    statistics(steps, x, group, epsilon, &mean, &rstd);
    for (int64_t b = 0; b < group->blocks; b++)
        for (int64_t i = 0; i < group->run; i += REFERENCE_BLOCK) {
            int64_t at = group->first + b * group->step + i, rest = group->run - i;
            int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
            for (int k = 0; k < n; k++) {
                double value = R(R(x[at + k] - mean) * rstd);
                int64_t w = affine ? (at + k) / stretch % affine : 0;
                value = weight ? R(value * weight[w]) : value;
                out[k] = bias ? R(value + bias[w]) : value;
            }
            task_write_double(y, at, n, out);
        }
}

/* Inputs 1 and 2 are weight and bias, if there are any: `affine` elements, one per `stretch` of a tensor. Without them
 * `affine` is 0. */
static void over_groups(struct reference_call *call, const struct group *groups, int64_t group_step, int64_t count,
                        int64_t stretch, int64_t affine, double epsilon)
{
    bool has_weight = affine && reference_optional(call, 1), has_bias = affine && reference_optional(call, 2);
    float *x = read_whole(call, reference_input(call, 0));
    float *weight = has_weight ? read_whole(call, reference_optional(call, 1)) : NULL;
    float *bias = has_bias ? read_whole(call, reference_optional(call, 2)) : NULL;
    for (int64_t g = 0; g < count; g++) {
        struct group group = *groups;
        group.first = g * group_step;
        normalize(call, x, &group, stretch, affine, weight, bias, epsilon);
    }
}

static const double EPSILON = 1e-5; /* of torch's normalisation layers */

/* Elements of one channel of one sample: the product of the dimensions behind the second. */
static int64_t plane(const struct task_tensor *x)
{
    int64_t elements = 1;
    for (int i = 2; i < x->rank; i++)
        elements *= x->dims[i];
    return elements;
}

static void batch_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    int64_t run = plane(x), channels = x->dims[1];
    over_groups(call, &(struct group){.blocks = x->dims[0], .step = channels * run, .run = run}, run, channels, run,
                channels, EPSILON);
}

static void group_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    int64_t groups = reference_integer(call, 0), run = plane(x) * x->dims[1] / groups;
    over_groups(call, &(struct group){.blocks = 1, .run = run}, run, groups * x->dims[0], plane(x), x->dims[1],
                EPSILON);
}

static void instance_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    over_groups(call, &(struct group){.blocks = 1, .run = plane(x)}, plane(x), x->dims[0] * x->dims[1], 1, 0, EPSILON);
}

/* over all dimensions but the first; weight and bias have one element each */
static void layer_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    int64_t run = plane(x) * x->dims[1];
    over_groups(call, &(struct group){.blocks = 1, .run = run}, run, x->dims[0], 1, run, EPSILON);
}

/* y = x / sqrt(sum of all x^2) */
static double divided(enum akgen_dtype steps, const double *x, const double *norm)
{
    return R(x[0] / *norm);
}

static void frobenius_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0);
    enum akgen_dtype steps = reference_steps(call, x->type);
    double block[REFERENCE_BLOCK], sum = 0;
    for (int64_t first = 0; first < x->elements; first += REFERENCE_BLOCK) {
        int64_t rest = x->elements - first;
        int n = rest < REFERENCE_BLOCK ? (int)rest : REFERENCE_BLOCK;
        task_read_double(x, first, n, block);
        for (int i = 0; i < n; i++)
            sum += block[i] * block[i];
    }
    double norm = R(sqrt(sum));
    reference_elementwise(call, divided, NULL, 1, &norm);
}

/* y = x / sqrt(mean over dimension 1 of x^2 + epsilon). x (N, C, plane): a block of each plane at a time, so that
 * memory is walked in order. */
static void rms_norm(struct reference_call *call)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, x->type);
    int64_t inner = plane(x), channels = x->dims[1];
    double epsilon = reference_attr(call, 0), block[REFERENCE_BLOCK], rms[REFERENCE_BLOCK];
    for (int64_t sample = 0; sample < x->dims[0]; sample++)
        for (int64_t first = 0; first < inner; first += REFERENCE_BLOCK) {
            int n = inner - first < REFERENCE_BLOCK ? (int)(inner - first) : REFERENCE_BLOCK;
            for (int i = 0; i < n; i++)
                rms[i] = 0;
            for (int64_t c = 0; c < channels; c++) {
                task_read_double(x, (sample * channels + c) * inner + first, n, block);
                for (int i = 0; i < n; i++)
                    rms[i] += R(block[i] * block[i]);
            }
            for (int i = 0; i < n; i++)
                rms[i] = R(sqrt(R(R(rms[i] / (double)channels) + R(epsilon))));
            for (int64_t c = 0; c < channels; c++) {
                task_read_double(x, (sample * channels + c) * inner + first, n, block);
                for (int i = 0; i < n; i++)
                    block[i] = R(block[i] / rms[i]);
                task_write_double(y, (sample * channels + c) * inner + first, n, block);
            }
        }
}

const struct task_reference_entry task_references_mkb_norm[] = {
    REFERENCE_CALLED("mkb_batch_norm", batch_norm,
                     "x float32 [n, c, *plane], weight? =x (c), bias? =x (c) -> y =x [n, c, *plane]"),
    REFERENCE_CALLED("mkb_group_norm", group_norm,
                     "x float32 [n, num_groups*own, *plane], weight? =x (num_groups*own), bias? =x (num_groups*own) -> "
                     "y =x [n, num_groups*own, *plane]; num_groups int in 1.. = 4"),
    REFERENCE_CALLED("mkb_instance_norm", instance_norm, "x float32 [n, c, *plane] -> y =x [n, c, *plane]"),
    REFERENCE_CALLED("mkb_layer_norm", layer_norm,
                     "x float32 [n, c, *plane], weight? =x (c**plane), bias? =x (c**plane) -> y =x [n, c, *plane]"),
    REFERENCE_CALLED("mkb_frobenius_norm", frobenius_norm, "x float32 (e) -> y =x (e)"),
    REFERENCE_CALLED("mkb_rms_norm", rms_norm, "x float32 [n, c, *plane] -> y =x [n, c, *plane]; eps float = 1e-5"),
    {NULL, NULL, NULL, NULL},
};
