#include "eval/speedup.h"
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

void speedup_add(const struct task *task, json_t *verdict)
{
    size_t i;
    json_t *row;
    if (!task)
        return;
    json_array_foreach(json_object_get(verdict, "cases"), i, row)
    {
        json_t *eager = us_of(row) > 0 ? eager_json(task, row) : NULL;
        if (eager)
            json_object_set_new(row, "eager_us", eager);
    }
    const char *kind = json_string_value(json_object_get(verdict, "verdict"));
    double speedup = kind && strcmp(kind, "pass") == 0 ? speedup_of(verdict, SPEEDUP_ONE_LAUNCH) : 0;
    if (speedup > 0)
        json_object_set_new(verdict, "speedup", json_real(round(speedup * 1e4) / 1e4));
}

double speedup_of(const json_t *verdict, int launches)
{
    double sum = 0;
    int cases = 0;
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(verdict, "cases"), i, row)
    {
        const json_t *eager = json_array_get(json_object_get(row, "eager_us"), (size_t)launches);
        if (us_of(row) > 0 && eager) {
            sum += json_number_value(eager) / us_of(row);
            cases++;
        }
    }
    return cases ? sum / cases : 0;
}
