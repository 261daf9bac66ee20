/* A sample's result in a run. What sums need of a verdict comes from the struct, or, where a stored run is opened, from its JSON, which
 * is parsed here and nowhere else. */
#include "base/memory.h"
#include "eval/kernel_baseline.h"
#include "runs/bench.h"

#include <stdlib.h>
#include <string.h>

static void set_speed(struct bench_row *row, const struct speedup_case *cases, int count)
{
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++)
        row->speedup[launches] = speedup_mean(cases, count, row->kernel != BENCH_EAGER, launches);
    row->roofline = speedup_mean_roofline(cases, count);
}

static void set_kernel(struct arena *arena, struct bench_row *row, bool judged, const char *hash, const char *lack)
{
    row->kernel = !lack ? BENCH_KERNEL : judged ? BENCH_KERNEL_FAILS : BENCH_KERNEL_MISSING;
    row->kernel_lack = lack ? arena_strdup(arena, lack) : NULL;
    snprintf(row->kernel_hash, sizeof row->kernel_hash, "%s", hash ? hash : "");
}

void bench_row_take(struct arena *arena, struct bench_row *row, const struct verdict *verdict)
{
    const struct kernel_times *kernel = verdict->speedup.kernel;
    row->evaluated = true;
    row->kind = verdict->kind;
    row->stage = verdict->stage;
    row->reason = verdict->reason ? arena_strdup(arena, verdict->reason) : NULL;
    row->cases_passed = verdict->cases_passed;
    row->cases_total = verdict->cases_total;
    row->seconds = verdict->seconds;
    row->hash = verdict->candidate.digest ? arena_strdup(arena, verdict->candidate.digest) : NULL;
    row->wrapper = verdict->wrapper.reason != NULL;
    row->error_class = -1;
    for (int i = 0; i < verdict->build.diagnostic_count && row->error_class < 0; i++)
        if (verdict->build.diagnostics[i].error)
            row->error_class = (int)verdict->build.diagnostics[i].class;
    if (kernel)
        set_kernel(arena, row, kernel->judged, kernel->hash, kernel->lack);
    set_speed(row, verdict->speedup.cases, verdict->case_count);
}

/* Stored verdicts. */
/* Class of the first error among a verdict's diagnostics, or -1. */
static int read_error_class(const json_t *verdict)
{
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(json_object_get(verdict, "compile"), "diagnostics"), i, row)
    {
        const char *severity = json_string_value(json_object_get(row, "severity"));
        const char *class = json_string_value(json_object_get(row, "class"));
        if (!severity || !class || strcmp(severity, diagnostic_severities.of[true]) != 0)
            continue;
        int found = words_find(&diagnostic_classes, class);
        if (found >= 0)
            return found;
    }
    return -1;
}

static double number_at(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

struct speedup_case bench_case_times(const json_t *row)
{
    const json_t *timing = json_object_get(row, "timing");
    struct speedup_case times = {.kernel = number_at(row, "baseline_us")};
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++)
        times.eager[launches] = json_number_value(json_array_get(json_object_get(row, "eager_us"), (size_t)launches));
    if (!json_is_true(json_object_get(row, "hidden"))) {
        times.us = number_at(timing, "us");
        times.roofline = number_at(timing, "roofline");
    }
    return times;
}

void bench_row_open(struct arena *arena, struct bench_row *row, char *verdict)
{
    row->verdict = verdict;
    json_t *json = bench_row_verdict(row);
    const json_t *cases = json_object_get(json, "cases"), *kernel = json_object_get(json, "baseline_kernel");
    const int count = (int)json_array_size(cases);
    struct speedup_case *times = memory_alloc(sizeof *times * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        times[i] = bench_case_times(json_array_get(cases, (size_t)i));
    row->error_class = read_error_class(json);
    row->wrapper = json_is_string(json_object_get(json, "wrapper"));
    if (kernel) {
        const json_t *lack = json_object_get(kernel, "lack");
        set_kernel(arena, row, json_is_string(json_object_get(kernel, "verdict")),
                   json_string_value(json_object_get(kernel, "candidate")),
                   json_is_null(lack)     ? NULL
                   : json_is_string(lack) ? json_string_value(lack)
                                          : "");
    }
    set_speed(row, times, count);
    free(times);
    json_decref(json);
}

json_t *bench_row_verdict(const struct bench_row *row)
{
    return row->verdict ? json_loads(row->verdict, 0, NULL) : NULL;
}

void bench_row_bound(struct bench *bench, struct bench_row *row)
{
    size_t length = row->source ? strlen(row->source) : 0;
    if (bench->source_bytes + length > BENCH_SOURCE_BYTES) {
        free(row->source);
        row->source = NULL;
        return;
    }
    bench->source_bytes += length;
}

void bench_row_free(struct bench_row *row)
{
    free(row->verdict);
    free(row->source);
    row->verdict = row->source = NULL;
}
