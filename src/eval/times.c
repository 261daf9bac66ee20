#include "eval/times.h"
#include "eval/timing.h"

#include <math.h>
#include <string.h>

bool times_of(struct arena *arena, const struct verdict *verdict, struct times *times)
{
    double sum = 0;
    *times = (struct times){.cases = arena_alloc(arena, sizeof *times->cases * (size_t)(verdict->case_count + 1))};
    for (int i = 0; i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        if (row->hidden)
            continue;
        if (!row->run.timing.model.known)
            return false;
        const struct npu_timing *timing = &row->run.timing.model;
        times->cases[times->count] = (struct times_case){
            .id = row->id,
            .reduced = row->reduced,
            .dtype = arena_strdup(arena, row->dtype ? row->dtype : ""),
            .shape = arena_strdup(arena, row->shape ? row->shape : ""),
            .cycles = timing->cycles,
            .us = npu_timing_us(timing, timing->cycles),
            .launch_us = npu_timing_us(timing, timing->launch),
            .bound_us = npu_timing_us(timing, timing->bound_cycles),
            .bound = timing_bound(arena, timing),
            .shared = timing->bound != NPU_BOUND_PIPE,
        };
        sum += log(times->cases[times->count++].us);
    }
    if (verdict->kind != AKGEN_VERDICT_PASS || !times->count)
        return false;
    times->mean_us = exp(sum / times->count);
    times->speedup = verdict->speedup.over_baseline > 0 ? verdict->speedup.over_baseline : 0;
    return true;
}

static bool same_case(const struct times_case *a, const struct times_case *b)
{
    return a->id == b->id && a->reduced == b->reduced && strcmp(a->shape, b->shape) == 0 &&
           strcmp(a->dtype, b->dtype) == 0;
}

double times_ratio(const struct times *before, const struct times *after)
{
    double sum = 0;
    if (before->count != after->count || !before->count)
        return 0;
    for (int i = 0; i < before->count; i++) {
        if (!same_case(&before->cases[i], &after->cases[i]))
            return 0;
        sum += log(before->cases[i].us / after->cases[i].us);
    }
    return exp(sum / before->count);
}

bool times_faster(const struct times *before, const struct times *after)
{
    return times_ratio(before, after) > 1 && after->speedup >= before->speedup;
}

double times_roofline(const struct times *times)
{
    double least = times->count ? 1 : 0;
    for (int i = 0; i < times->count; i++) {
        const struct times_case *row = &times->cases[i];
        least = fmin(least, row->shared ? row->bound_us / row->us : 0);
    }
    return least;
}

/* To the thousandth, as verdicts have microseconds. */
static json_t *rounded(double value)
{
    return json_real(round(value * 1e3) / 1e3);
}

json_t *times_json(const struct times *times)
{
    json_t *cases = json_array(), *json = json_object();
    for (int i = 0; i < times->count; i++) {
        const struct times_case *row = &times->cases[i];
        json_array_append_new(cases, json_pack("{s:i, s:o, s:o, s:s, s:o, s:o}", "case", row->id, "cycles",
                                               json_integer((json_int_t)round(row->cycles)), "us", rounded(row->us),
                                               "bound", row->bound, "bound_us", rounded(row->bound_us), "roofline",
                                               rounded(row->bound_us / row->us)));
    }
    json_object_set_new(json, "mean_us", rounded(times->mean_us));
    json_object_set_new(json, "speedup", times->speedup > 0 ? rounded(times->speedup) : json_null());
    json_object_set_new(json, "cases", cases);
    return json;
}

json_t *times_compared_json(const struct times *before, const struct times *after)
{
    return json_pack("{s:b, s:o, s:o, s:o}", "modelled", true, "before", times_json(before), "after", times_json(after),
                     "times_as_fast", rounded(times_ratio(before, after)));
}
