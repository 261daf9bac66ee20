#include "cot/failures.h"
#include "base/array.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(struct arena *arena, struct cot_failures *failures, const char *verdict, const char *class)
{
    for (int i = 0; i < failures->count; i++) {
        struct cot_failure *item = &failures->items[i];
        if (strcmp(item->verdict, verdict) == 0 && strcmp(item->class, class) == 0) {
            item->count++;
            return;
        }
    }
    ARRAY_ADD(arena, failures->items, failures->count, failures->capacity,
              (struct cot_failure){arena_strdup(arena, verdict), arena_strdup(arena, class), 1});
}

static int in_order(const void *a, const void *b)
{
    const struct cot_failure *one = a, *other = b;
    int verdicts = strcmp(one->verdict, other->verdict);
    return verdicts                     ? verdicts
           : one->count != other->count ? (one->count < other->count ? 1 : -1)
                                        : strcmp(one->class, other->class);
}

static void sort(struct cot_failures *failures)
{
    if (failures->count)
        qsort(failures->items, (size_t)failures->count, sizeof *failures->items, in_order);
}

/* The name of the first fault in the first case that has one; NULL. */
static const char *fault_of(const json_t *verdict)
{
    size_t i, k;
    json_t *row, *finding;
    json_array_foreach(json_object_get(verdict, "cases"), i, row)
    {
        json_array_foreach(json_object_get(row, "faults"), k, finding)
        {
            const char *name = json_string_value(json_object_get(finding, "name"));
            if (name)
                return name;
        }
    }
    return NULL;
}

struct reading {
    struct arena *arena;
    struct cot_failures *failures;
};

static void add_row(void *closure, const struct store_finding *row)
{
    const struct reading *reading = closure;
    struct cot_failures *failures = reading->failures;
    const char *verdict = row->verdict;
    bool says = verdict && strcmp(verdict, "unsupported") != 0 && strcmp(verdict, "infra_error") != 0;
    json_t *whole = NULL;
    failures->candidates += says;
    if (says && strcmp(verdict, "pass") != 0) {
        const char *shown = row->stage ? row->stage : "-";
        if (strcmp(verdict, "compile_error") == 0)
            shown = row->class ? row->class : shown;
        else if (strcmp(verdict, "fault") == 0) {
            whole = row->json ? json_loads(row->json, 0, NULL) : NULL;
            const char *name = fault_of(whole);
            shown = name ? name : "crash";
        } else if (strcmp(shown, "compare") == 0)
            shown = "result";
        add(reading->arena, failures, verdict, shown);
    }
    json_decref(whole);
}

struct akgen_error *cot_failures_of_verdicts(struct arena *arena, const char *path, int64_t run,
                                             struct cot_failures *failures)
{
    struct reading reading = {arena, failures};
    *failures = (struct cot_failures){0};
    struct akgen_error *error = store_each_finding(path, STORE_VERDICTS, run, add_row, &reading);
    sort(failures);
    return error;
}

static struct akgen_error *count_sample(void *closure, const struct cot_sample *sample)
{
    const struct reading *reading = closure;
    json_t *verdict = sample->verdict ? json_loads(sample->verdict, 0, NULL) : NULL;
    const json_t *before = json_object_get(verdict, "before");
    const char *word = json_string_value(json_object_get(before, "verdict"));
    const char *class = json_string_value(json_object_get(before, "class"));
    if (word && class) {
        add(reading->arena, reading->failures, word, class);
        reading->failures->candidates++;
    }
    json_decref(verdict);
    return NULL;
}

struct akgen_error *cot_failures_of_samples(struct arena *arena, struct store *store, const struct cot_filter *filter,
                                            struct cot_failures *failures)
{
    struct reading reading = {arena, failures};
    *failures = (struct cot_failures){0};
    struct akgen_error *error = cot_store_each(store, filter, count_sample, &reading);
    sort(failures);
    return error;
}

/* Wilson, Probable inference, 1927: the shares p for which `count` of `all` is less than z deviations from p. */
void cot_share_interval(int64_t count, int64_t all, double *low, double *high)
{
    const double z = 1.959964, n = (double)all, p = all ? (double)count / n : 0, spread = 1 + z * z / n;
    double middle = (p + z * z / (2 * n)) / spread;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / spread;
    *low = !all || count == 0 ? 0 : middle - half;
    *high = !all || count == all ? 1 : middle + half;
}
