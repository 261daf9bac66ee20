#include "eval/speedup.h"
#include "base/jsons.h"
#include "eval/baseline.h"

#include <math.h>
#include <string.h>

const double speedup_launches[SPEEDUP_LAUNCHES] = {0.5, [SPEEDUP_ONE_LAUNCH] = 1, 2};

/* The candidate's modelled microseconds; 0: not known, or of a case that the task does not show. */
static double us_of(const json_t *row)
{
    const json_t *us = json_object_get(json_object_get(row, "timing"), "us");
    return json_is_true(json_object_get(row, "hidden")) ? 0 : json_number_value(us);
}

static const struct task_case *find_case(const struct task *task, json_int_t id)
{
    for (int i = 0; i < task->case_count; i++)
        if (task->cases[i].id == id)
            return &task->cases[i];
    return NULL;
}

/* Eager on the sizes that the case ran with; NULL if it has none. */
static json_t *eager_json(const struct task *task, const json_t *row)
{
    const struct task_case *shown = find_case(task, json_integer_value(json_object_get(row, "case")));
    struct task_instance *instance = NULL;
    if (!shown || !task->eager_count)
        return NULL;
    struct akgen_error *error = json_is_true(json_object_get(row, "reduced"))
                                    ? task_instance_smaller(task, shown, &instance)
                                    : task_instance_shapes(task, shown, &instance);
    json_t *list = error ? NULL : json_array();
    for (int launches = 0; launches < SPEEDUP_LAUNCHES && list; launches++) {
        double us = baseline_us(instance, speedup_launches[launches]);
        json_array_append_new(list, json_real(round(us * 1e3) / 1e3));
    }
    task_instance_free(instance);
    error_free(error);
    return list;
}

static double kernel_us(const struct kernel_times *kernel, const json_t *row)
{
    const char *shape = json_string_value(json_object_get(row, "shape"));
    const char *dtype = json_string_value(json_object_get(row, "dtype"));
    const int id = (int)json_integer_value(json_object_get(row, "case"));
    return shape && dtype ? kernel_time_of(kernel, id, shape, dtype) : 0;
}

static void add_times(const struct task *task, const struct kernel_times *kernel, json_t *row)
{
    if (!(us_of(row) > 0))
        return;
    json_t *eager = eager_json(task, row);
    const double us = kernel ? kernel_us(kernel, row) : 0;
    if (eager)
        json_object_set_new(row, "eager_us", eager);
    if (us > 0)
        json_object_set_new(row, "baseline_us", json_real(us));
}

double speedup_of_case(const json_t *row, bool kernel, int launches)
{
    const json_t *baseline = kernel ? json_object_get(row, "baseline_us")
                                    : json_array_get(json_object_get(row, "eager_us"), (size_t)launches);
    return us_of(row) > 0 && baseline ? json_number_value(baseline) / us_of(row) : 0;
}

static double mean_speedup(const json_t *verdict, bool kernel, int launches)
{
    double sum = 0;
    int cases = 0;
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(verdict, "cases"), i, row)
    {
        const double speedup = speedup_of_case(row, kernel, launches);
        sum += speedup;
        cases += speedup > 0;
    }
    return cases ? sum / cases : 0;
}

double speedup_of(const json_t *verdict, int launches)
{
    return mean_speedup(verdict, json_object_get(verdict, "baseline_kernel") != NULL, launches);
}

static void add_mean(json_t *verdict, const char *name, bool kernel)
{
    const double speedup = mean_speedup(verdict, kernel, SPEEDUP_ONE_LAUNCH);
    if (speedup > 0)
        json_object_set_new(verdict, name, json_real(round(speedup * 1e4) / 1e4));
}

void speedup_add(const struct task *task, const struct kernel_times *kernel, json_t *verdict)
{
    size_t i;
    json_t *row;
    if (!task)
        return;
    json_array_foreach(json_object_get(verdict, "cases"), i, row) add_times(task, kernel, row);
    json_object_set_new(verdict, "baseline", jsons_text(kernel ? kernel->baseline : BASELINE_EAGER));
    if (kernel)
        json_object_set_new(verdict, "baseline_kernel",
                            json_pack("{s:o, s:o, s:o}", "candidate", jsons_text(kernel->hash), "verdict",
                                      jsons_text(kernel->judged ? akgen_verdict_kind_name(kernel->kind) : NULL), "lack",
                                      jsons_text(kernel->lack)));
    const char *kind = json_string_value(json_object_get(verdict, "verdict"));
    if (!kind || strcmp(kind, "pass") != 0)
        return;
    add_mean(verdict, "speedup", kernel != NULL);
    if (kernel)
        add_mean(verdict, "eager_speedup", false);
}
