#include "eval/baseline.h"

#include <math.h>

#define EAGER_RATE(kind, rows, launch, resident, streamed, compute)                                                    \
    [TASK_EAGER_##kind] = {rows, launch, resident, streamed, compute},
static const struct baseline_rate rates[TASK_EAGER_KINDS] = {
#include "eval/eager.def"
};

const struct baseline_rate *baseline_rate(enum task_eager_kind kind)
{
    return &rates[kind];
}

/* Products of 16 x 16 x 16 halves in a cycle; twice as many of int8, a quarter of float32 (Cube instructions'
 * theoretical performance, in the appendix of Ascend C's documentation). */
static double cube_products(enum akgen_dtype type)
{
    enum { HALF = 16 * 16 * 16, INT8 = 16 * 16 * 32, SINGLE = 16 * 16 * 4 };
    return type == AKGEN_INT8 || type == AKGEN_UINT8 ? INT8 : type == AKGEN_FLOAT ? SINGLE : HALF;
}

double baseline_kernel_us(enum task_eager_kind kind, const struct task_eager_traffic *traffic, double launches)
{
    const struct baseline_rate *rate = &rates[kind];
    double bytes = traffic->read + traffic->written;
    double moving = bytes <= BASELINE_L2_BYTES ? bytes / (BASELINE_L2 * rate->resident)
                                               : bytes / (BASELINE_MEMORY * rate->streamed);
    double multiplying =
        traffic->flops > 0 ? traffic->flops / (BASELINE_CUBE * cube_products(traffic->type) * rate->compute) : 0;
    return launches * rate->launch + fmax(moving, multiplying);
}

double baseline_us(const struct task_instance *instance, double launches)
{
    const struct task *task = instance->task;
    struct task_eager_traffic *traffic;
    struct arena arena = {0};
    double us = task->eager_count ? 0 : NAN;
    struct akgen_error *error = task_eager_of_case(&arena, instance, &traffic);
    if (error)
        us = NAN;
    for (int i = 0; i < task->eager_count && !error; i++)
        us += baseline_kernel_us(task->eager[i].kind, &traffic[i], launches);
    arena_free(&arena);
    error_free(error);
    return us;
}
