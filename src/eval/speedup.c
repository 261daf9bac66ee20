#include "eval/speedup.h"
#include "eval/baseline.h"
#include "eval/kernel_baseline.h"
#include "eval/timing.h"

#include <math.h>

const double speedup_launches[SPEEDUP_LAUNCHES] = {0.5, [SPEEDUP_ONE_LAUNCH] = 1, 2};

/* Eager on the sizes that the case ran with. */
static void add_eager(const struct task *task, const struct verdict_case *row, struct speedup_case *times)
{
    struct task_instance *instance = NULL;
    if (!row->task_case || !task->eager_count)
        return;
    struct akgen_error *error = row->reduced ? task_instance_smaller(task, row->task_case, &instance)
                                             : task_instance_shapes(task, row->task_case, &instance);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES && !error; launches++)
        times->eager[launches] = round(baseline_us(instance, speedup_launches[launches]) * 1e3) / 1e3;
    task_instance_free(instance);
    error_free(error);
}

static void add_times(const struct task *task, const struct kernel_times *kernel, const struct verdict_case *row,
                      struct speedup_case *times)
{
    const struct npu_timing *timing = &row->run.timing.model;
    if (row->hidden || !timing->known)
        return;
    times->us = timing_us(timing);
    times->roofline = round(timing_roofline(timing) * 1e4) / 1e4;
    add_eager(task, row, times);
    if (kernel && row->shape && row->dtype)
        times->kernel = kernel_time_of(kernel, row->id, row->shape, row->dtype);
}

double speedup_of_case(const struct speedup_case *row, bool kernel, int launches)
{
    const double baseline = kernel ? row->kernel : row->eager[launches];
    return row->us > 0 && baseline > 0 ? baseline / row->us : 0;
}

double speedup_mean(const struct speedup_case *cases, int count, bool kernel, int launches)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < count; i++) {
        const double speedup = speedup_of_case(&cases[i], kernel, launches);
        sum += speedup;
        known += speedup > 0;
    }
    return known ? sum / known : 0;
}

double speedup_mean_roofline(const struct speedup_case *cases, int count)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < count; i++) {
        sum += cases[i].us > 0 ? cases[i].roofline : 0;
        known += cases[i].us > 0;
    }
    return known ? sum / known : 0;
}

static double rounded_mean(const struct verdict *verdict, bool kernel)
{
    const double mean = speedup_mean(verdict->speedup.cases, verdict->case_count, kernel, SPEEDUP_ONE_LAUNCH);
    return mean > 0 ? round(mean * 1e4) / 1e4 : NAN;
}

void speedup_add(const struct task *task, const struct kernel_times *kernel, struct verdict *verdict)
{
    struct speedup *speedup = &verdict->speedup;
    speedup->baseline = kernel ? kernel->baseline : BASELINE_EAGER;
    speedup->kernel = kernel;
    speedup->cases = arena_alloc(&verdict->arena, sizeof *speedup->cases * (size_t)(verdict->case_count + 1));
    for (int i = 0; i < verdict->case_count; i++)
        add_times(task, kernel, &verdict->cases[i], &speedup->cases[i]);
    const bool pass = verdict->kind == AKGEN_VERDICT_PASS;
    speedup->over_baseline = pass ? rounded_mean(verdict, kernel != NULL) : NAN;
    speedup->over_eager = pass && kernel ? rounded_mean(verdict, false) : NAN;
}
