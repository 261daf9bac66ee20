/* Sums of a run: by task for the metrics, by category, level and all for tables, by error class. */
#include "eval/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool rated(const struct bench_row *row)
{
    return row->evaluated && row->kind != AKGEN_VERDICT_UNSUPPORTED && row->kind != AKGEN_VERDICT_INFRA_ERROR;
}

static void count_row(struct metrics_task *task, const struct bench_row *row)
{
    if (!rated(row)) {
        task->excluded += row->evaluated;
        return;
    }
    task->samples++;
    task->compiled += row->stage >= AKGEN_STAGE_TILING;
    task->passed += row->kind == AKGEN_VERDICT_PASS;
    task->cases += row->cases_total;
    task->cases_passed += row->cases_passed;
}

/* The speedups of rows [first, last), all of one task, for a charge of eager's launches; NULL if no verdict carries one. */
static const double *speedups_of(struct bench *bench, int first, int last, int launches)
{
    double *speedups = arena_alloc(&bench->arena, sizeof *speedups * (size_t)(last - first + 1));
    int count = 0;
    bool timed = false;
    for (int i = first; i < last; i++)
        if (rated(&bench->rows[i]) && bench->rows[i].kind == AKGEN_VERDICT_PASS) {
            speedups[count] = bench->rows[i].speedup[launches];
            timed |= speedups[count++] > 0;
        }
    return timed ? speedups : NULL;
}

static struct metrics_task *tasks_of(struct bench *bench, int launches, size_t *count)
{
    struct metrics_task *tasks = arena_alloc(&bench->arena, sizeof *tasks * (size_t)(bench->count + 1));
    *count = 0;
    for (int i = 0, first = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (!i || strcmp(row->task, bench->rows[i - 1].task) != 0)
            tasks[(*count)++] =
                (struct metrics_task){.name = row->task, .level = row->level, .category = row->category};
        count_row(&tasks[*count - 1], row);
        if (!i || strcmp(row->task, bench->rows[i - 1].task) != 0)
            first = i;
        if (i + 1 == bench->count || strcmp(row->task, bench->rows[i + 1].task) != 0)
            tasks[*count - 1].speedups = speedups_of(bench, first, i + 1, launches);
    }
    return tasks;
}

struct metrics_task *bench_tasks(struct bench *bench, size_t *count)
{
    return tasks_of(bench, SPEEDUP_ONE_LAUNCH, count);
}

static struct bench_group sum(const struct metrics_task *tasks, size_t count, const char *name, int level,
                              const char *category)
{
    struct bench_group group = {.name = name, .level = level, .category = category};
    for (size_t i = 0; i < count; i++) {
        const struct metrics_task *task = &tasks[i];
        if ((level && task->level != level) || (category && strcmp(task->category, category) != 0))
            continue;
        group.tasks++;
        group.samples += task->samples;
        group.compiled += task->compiled;
        group.passed += task->passed;
        group.excluded += task->excluded;
        group.cases += task->cases;
        group.cases_passed += task->cases_passed;
    }
    group.compile_rate = metrics_rate(tasks, count, METRICS_COMPILE, 1, level, category);
    group.execution_rate = metrics_rate(tasks, count, METRICS_EXECUTE, 1, level, category);
    return group;
}

void bench_visit_groups(struct bench *bench, void (*visit)(void *closure, const struct bench_group *group),
                        void *closure)
{
    size_t count;
    struct metrics_task *tasks = bench_tasks(bench, &count);
    for (size_t i = 0; i < count; i++) {
        const struct metrics_task *task = &tasks[i], *next = i + 1 < count ? &tasks[i + 1] : NULL;
        bool level_ends = !next || next->level != task->level;
        struct bench_group group;
        if (level_ends || strcmp(next->category, task->category) != 0) {
            group = sum(tasks, count, arena_printf(&bench->arena, "level %d / %s", task->level, task->category),
                        task->level, task->category);
            visit(closure, &group);
        }
        if (level_ends) {
            group = sum(tasks, count, arena_printf(&bench->arena, "level %d", task->level), task->level, NULL);
            visit(closure, &group);
        }
    }
    struct bench_group all = sum(tasks, count, "all", 0, NULL);
    visit(closure, &all);
}

struct bench_shares bench_shares(struct bench *bench)
{
    static const double thresholds[BENCH_SPEEDS] = {0.2, 0.8, 1.0};
    size_t count;
    struct metrics_task *tasks = bench_tasks(bench, &count);
    struct bench_shares shares = {
        .compiled = metrics_comp_at(tasks, count), .passed = metrics_passed_at(tasks, count), .tasks = (int)count};
    for (size_t i = 0; i < count; i++)
        shares.k = tasks[i].samples > shares.k ? tasks[i].samples : shares.k;
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        tasks = tasks_of(bench, launches, &count);
        shares.speedup[launches] = metrics_speedup(tasks, count, &shares.timed);
        for (int i = 0; i < BENCH_SPEEDS; i++) {
            shares.speed[i] = thresholds[i];
            shares.fast[launches][i] = metrics_fast(tasks, count, thresholds[i]);
        }
    }
    return shares;
}

struct bench_shares bench_shares_at(const struct bench *bench, int k)
{
    struct bench_shares shares = {.k = k};
    int place = 0, compiled = 0, passed = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        bool counts = place++ < k && rated(row);
        shares.compiled += counts && row->stage >= AKGEN_STAGE_TILING && !compiled++;
        shares.passed += counts && row->kind == AKGEN_VERDICT_PASS && !passed++;
        if (i + 1 < bench->count && strcmp(row->task, bench->rows[i + 1].task) == 0)
            continue;
        place = compiled = passed = 0;
        shares.tasks++;
    }
    shares.compiled = shares.tasks ? shares.compiled / shares.tasks : NAN;
    shares.passed = shares.tasks ? shares.passed / shares.tasks : NAN;
    return shares;
}

const int *bench_ks(const struct bench *bench, int *count)
{
    static const int papers[] = {1, 5, 10, 100};
    bool several = false;
    for (int i = 1; i < bench->count && !several; i++)
        several = strcmp(bench->rows[i].task, bench->rows[i - 1].task) == 0;
    *count = bench->ks ? bench->k_count : several ? (int)(sizeof papers / sizeof *papers) : 0;
    return bench->ks ? bench->ks : papers;
}

/* Rows. */
/* Class of the first error among a verdict's diagnostics, or -1. */
static int error_class(const json_t *verdict)
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

void bench_row_set_verdict(struct bench_row *row, char *verdict)
{
    free(row->verdict);
    row->verdict = verdict;
    json_t *json = bench_row_verdict(row);
    row->error_class = error_class(json);
    row->wrapper = json_is_string(json_object_get(json, "wrapper"));
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++)
        row->speedup[launches] = speedup_of(json, launches);
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

struct bench_errors bench_errors(const struct bench *bench)
{
    struct bench_errors errors = {0};
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (!row->evaluated)
            continue;
        errors.kinds[row->kind]++;
        errors.wrappers += row->kind == AKGEN_VERDICT_UNSUPPORTED && row->wrapper;
        if (row->kind == AKGEN_VERDICT_COMPILE_ERROR && row->error_class >= 0)
            errors.classes[row->error_class]++;
    }
    return errors;
}
