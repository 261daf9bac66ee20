/* MultiKernelBench's pooling over one to three trailing dimensions of (N, C, ...) tensors, float32. Attributes:
 * kernel_size, stride, padding and, for max, dilation; the same for every dimension. The average counts padding. */
#include "task/reference/reference.h"

#include <inttypes.h>
#include <math.h>

#define R(value) reference_round(steps, value)

enum { SPACE = 3 };
/* Missing dimensions in front have size 1, a window of 1 and no padding. */
struct window {
    int64_t size[SPACE], out[SPACE], kernel[SPACE], stride[SPACE], padding[SPACE], dilation[SPACE];
};

static struct window window_of(const struct reference_call *call, bool max)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_output_shape(call, 0);
    int missing = SPACE - (x->rank - 2);
    struct window window;
    for (int d = 0; d < SPACE; d++) {
        bool there = d >= missing;
        window.size[d] = there ? x->dims[2 + d - missing] : 1;
        window.out[d] = there ? y->dims[2 + d - missing] : 1;
        window.kernel[d] = there ? reference_integer(call, 0) : 1;
        window.stride[d] = there ? reference_integer(call, 1) : 1;
        window.padding[d] = there ? reference_integer(call, 2) : 0;
        window.dilation[d] = there && max ? reference_integer(call, 3) : 1;
    }
    return window;
}

/* Position of tap k of output o along dimension d, -1 in the padding. */
static int64_t tap(const struct window *window, int d, int64_t o, int64_t k)
{
    int64_t at = o * window->stride[d] - window->padding[d] + k * window->dilation[d];
    return at >= 0 && at < window->size[d] ? at : -1;
}

/* One output: the sum or the maximum of what lies under the window. x is one channel. */
static double pooled(const struct window *w, const float *x, const int64_t *o, bool max)
{
    double result = max ? -INFINITY : 0;
    for (int64_t a = 0; a < w->kernel[0]; a++)
        for (int64_t b = 0; b < w->kernel[1]; b++)
            for (int64_t c = 0; c < w->kernel[2]; c++) {
                int64_t i = tap(w, 0, o[0], a), j = tap(w, 1, o[1], b), k = tap(w, 2, o[2], c);
                if (i < 0 || j < 0 || k < 0)
                    continue;
                double value = x[(i * w->size[1] + j) * w->size[2] + k];
                result = !max ? result + value : value > result ? value : result;
            }
    return result;
}

static void pool(struct reference_call *call, bool max)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_result(call, 0);
    enum akgen_dtype steps = reference_steps(call, x->type);
    struct window w = window_of(call, max);
    int64_t channel = w.size[0] * w.size[1] * w.size[2], results = w.out[0] * w.out[1] * w.out[2];
    double count = max ? 1 : (double)(w.kernel[0] * w.kernel[1] * w.kernel[2]);
    float *in = arena_alloc(call->scratch, sizeof *in * (size_t)(channel + 1));
    double *out = reference_numbers(call, results);
    for (int64_t c = 0; c < x->dims[0] * x->dims[1]; c++) {
        task_read_float(x, c * channel, (int)channel, in);
        for (int64_t r = 0; r < results; r++) {
            int64_t o[SPACE] = {r / (w.out[1] * w.out[2]), r / w.out[2] % w.out[1], r % w.out[2]};
            double value = pooled(&w, in, o, max);
            out[r] = max ? value : R(R(value) / count);
        }
        task_write_double(y, c * results, (int)results, out);
    }
}

REFERENCE_VARIANT(average, pool, false)
REFERENCE_VARIANT(maximum, pool, true)

/* The output has as many places as the window has positions, each of which covers more than padding. */
static struct akgen_error *fits(const struct reference_call *call, bool max)
{
    const struct task_tensor *x = reference_input(call, 0), *y = reference_output_shape(call, 0);
    if (x->rank < 3 || x->rank > SPACE + 2 || y->rank != x->rank)
        return error_new("x has %d dimensions and the output %d, expected the same from 3 to %d", x->rank, y->rank,
                         SPACE + 2);
    struct window w = window_of(call, max);
    if (w.kernel[SPACE - 1] > INT32_MAX || w.stride[SPACE - 1] > INT32_MAX || w.dilation[SPACE - 1] > INT32_MAX ||
        w.padding[SPACE - 1] > w.kernel[SPACE - 1] / 2)
        return error_new("padding is %" PRId64 ", expected at most half of kernel_size %" PRId64, w.padding[SPACE - 1],
                         w.kernel[SPACE - 1]);
    for (int d = SPACE - (x->rank - 2); d < SPACE; d++) {
        int64_t room = w.size[d] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1;
        int64_t places = room < 0 ? 0 : room / w.stride[d] + 1;
        if (places < 1 || w.out[d] != places)
            return error_new("the output has size %" PRId64 " where the window has %" PRId64 " places", w.out[d],
                             places);
    }
    return NULL;
}

static struct akgen_error *average_fits(const struct reference_call *call)
{
    return fits(call, false);
}

static struct akgen_error *maximum_fits(const struct reference_call *call)
{
    return fits(call, true);
}

const struct task_reference_entry task_references_mkb_pooling[] = {
    REFERENCE_CALLED("mkb_average_pooling", average,
                     "x float32 [n, c, *size] -> y =x [n, c, *out]; kernel_size int in 1.. = 3, stride int in 1.. = 2, "
                     "padding int in 0.. = 1 | size size [9, 9] | size out [5, 5]",
                     .fits = average_fits),
    REFERENCE_CALLED("mkb_max_pooling", maximum,
                     "x float32 [n, c, *size] -> y =x [n, c, *out]; kernel_size int in 1.. = 3, stride int in 1.. = 2, "
                     "padding int in 0.. = 1, dilation? int in 1.. = 1 | size size [9, 9] | size out [5, 5]",
                     .fits = maximum_fits),
    {NULL, NULL, NULL, NULL},
};
