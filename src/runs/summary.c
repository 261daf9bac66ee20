/* Sums of a run: by task for the metrics, by category, level and all for tables, by error class. */
#include "runs/bench.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool rated(const struct bench_row *row)
{
    return row->evaluated && row->kind != AKGEN_VERDICT_UNSUPPORTED && row->kind != AKGEN_VERDICT_INFRA_ERROR;
}

bool bench_is_missing(const struct bench_row *row)
{
    return row->evaluated && row->kind == AKGEN_VERDICT_COMPILE_ERROR && row->stage == AKGEN_STAGE_PARSE &&
           row->reason && strcmp(row->reason, BENCH_NO_ANSWER) == 0;
}

static void count_row(struct metrics_task *task, const struct bench_row *row)
{
    task->absent &= !row->evaluated || bench_is_missing(row);
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

static int by_task(const void *left, const void *right)
{
    return strcmp(((const struct metrics_task *)left)->name, ((const struct metrics_task *)right)->name);
}

/* Of the first `most` samples of each task. */
static struct metrics_task *tasks_of(struct bench *bench, int launches, int most, size_t *count)
{
    struct metrics_task *tasks =
        arena_alloc(&bench->arena, sizeof *tasks * (size_t)(bench->count + bench->plan_count + 1));
    *count = 0;
    for (int first = 0, last; first < bench->count; first = last) {
        const struct bench_row *row = &bench->rows[first];
        struct metrics_task *task = &tasks[(*count)++];
        *task =
            (struct metrics_task){.name = row->task, .level = row->level, .category = row->category, .absent = true};
        for (last = first; last < bench->count && strcmp(bench->rows[last].task, row->task) == 0; last++)
            if (last - first < most)
                count_row(task, &bench->rows[last]);
        task->speedups = speedups_of(bench, first, last - first < most ? last : first + most, launches);
    }
    /* Tasks of the plan without a row are added; of the others the planned samples that did not come are counted. */
    const size_t found = *count;
    for (int i = 0; i < bench->plan_count; i++) {
        const struct bench_planned *planned = &bench->plan[i];
        struct metrics_task *task = tasks;
        while (task < tasks + found && strcmp(task->name, planned->task) != 0)
            task++;
        if (task == tasks + found) {
            task = &tasks[(*count)++];
            *task = (struct metrics_task){
                .name = planned->task, .level = planned->level, .category = planned->category, .absent = true};
        }
        const int came = task->samples + task->excluded;
        task->missing = came < planned->samples ? planned->samples - came : 0;
    }
    if (*count > found)
        qsort(tasks, *count, sizeof *tasks, by_task);
    return tasks;
}

struct metrics_task *bench_tasks(struct bench *bench, size_t *count)
{
    return tasks_of(bench, SPEEDUP_ONE_LAUNCH, INT_MAX, count);
}

const double bench_speeds[BENCH_SPEEDS] = {0.2, 0.8, 1.0};

/* The tasks of a run for each charge of eager's launches: they differ in their speedups alone. */
struct charged {
    struct metrics_task *of[SPEEDUP_LAUNCHES];
    size_t count;
    int most;   /* samples of each that count */
    bool timed; /* some right sample of the run has a speedup */
};

static struct charged charge(struct bench *bench, int most)
{
    struct charged charged = {.most = most};
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++)
        charged.of[launches] = tasks_of(bench, launches, most, &charged.count);
    for (int i = 0; i < bench->count && !charged.timed; i++)
        charged.timed = rated(&bench->rows[i]) && bench->rows[i].kind == AKGEN_VERDICT_PASS &&
                        bench->rows[i].speedup[SPEEDUP_ONE_LAUNCH] > 0;
    return charged;
}

static bool is_of(const struct metrics_task *task, int level, const char *category)
{
    return (!level || task->level == level) && (!category || strcmp(task->category, category) == 0);
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Of a level (0: all) and a category (NULL: all). */
static struct bench_speed speed_of(struct bench *bench, const struct charged *charged, int level, const char *category)
{
    struct bench_speed speed = {.timed = 0};
    struct metrics_task *tasks = arena_alloc(&bench->arena, sizeof *tasks * (charged->count + 1));
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        size_t count = 0;
        for (size_t i = 0; i < charged->count; i++)
            if (is_of(&charged->of[launches][i], level, category))
                tasks[count++] = charged->of[launches][i];
        speed.speedup[launches] = metrics_speedup(tasks, count, &speed.timed);
        for (int i = 0; i < BENCH_SPEEDS; i++) {
            const double fast = metrics_fast(tasks, count, bench_speeds[i]);
            speed.fast[launches][i] = isnan(fast) && charged->timed ? 0 : fast; /* none of its samples is right */
        }
    }
    /* Mean and median of the tasks' best, over those of a level (0: all) and a category (NULL: all) with a right sample; NAN if none
     * has a time. */
    double *all = arena_alloc(&bench->arena, sizeof *all * (size_t)(bench->count + 1)), sum = 0, best = 0;
    int place = 0, count = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        const bool of = (!level || row->level == level) && (!category || strcmp(row->category, category) == 0);
        if (of && place++ < charged->most && rated(row) && row->kind == AKGEN_VERDICT_PASS)
            best = fmax(best, row->roofline);
        if (i + 1 < bench->count && strcmp(row->task, bench->rows[i + 1].task) == 0)
            continue;
        if (best > 0)
            all[count++] = best;
        sum += best;
        best = 0;
        place = 0;
    }
    qsort(all, (size_t)count, sizeof *all, ascending);
    speed.bounded = count;
    speed.roofline = count ? sum / count : NAN;
    speed.median_roofline = count ? (all[(count - 1) / 2] + all[count / 2]) / 2 : NAN;
    return speed;
}

static struct bench_group sum(struct bench *bench, const struct charged *charged, const char *name, int level,
                              const char *category)
{
    const struct metrics_task *tasks = charged->of[SPEEDUP_ONE_LAUNCH];
    const size_t count = charged->count;
    struct bench_group group = {.name = name, .level = level, .category = category};
    for (size_t i = 0; i < count; i++) {
        const struct metrics_task *task = &tasks[i];
        if (!is_of(task, level, category))
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
    group.speed = speed_of(bench, charged, level, category);
    return group;
}

void bench_visit_groups(struct bench *bench, void (*visit)(void *closure, const struct bench_group *group),
                        void *closure)
{
    const struct charged charged = charge(bench, INT_MAX);
    const struct metrics_task *tasks = charged.of[SPEEDUP_ONE_LAUNCH];
    for (size_t i = 0; i < charged.count; i++) {
        const struct metrics_task *task = &tasks[i], *next = i + 1 < charged.count ? &tasks[i + 1] : NULL;
        bool level_ends = !next || next->level != task->level;
        struct bench_group group;
        if (level_ends || strcmp(next->category, task->category) != 0) {
            group = sum(bench, &charged, arena_printf(&bench->arena, "level %d / %s", task->level, task->category),
                        task->level, task->category);
            visit(closure, &group);
        }
        if (level_ends) {
            group = sum(bench, &charged, arena_printf(&bench->arena, "level %d", task->level), task->level, NULL);
            visit(closure, &group);
        }
    }
    struct bench_group all = sum(bench, &charged, "all", 0, NULL);
    visit(closure, &all);
}

struct bench_shares bench_shares_at(struct bench *bench, int k)
{
    const struct charged charged = charge(bench, k);
    const struct metrics_task *tasks = charged.of[SPEEDUP_ONE_LAUNCH];
    return (struct bench_shares){.k = k,
                                 .compiled = metrics_comp_at(tasks, charged.count),
                                 .passed = metrics_passed_at(tasks, charged.count),
                                 .tasks = (int)charged.count,
                                 .speed = speed_of(bench, &charged, 0, NULL)};
}

struct bench_shares bench_shares(struct bench *bench)
{
    size_t count;
    const struct metrics_task *tasks = bench_tasks(bench, &count);
    struct bench_shares shares = bench_shares_at(bench, INT_MAX);
    shares.k = 0;
    for (size_t i = 0; i < count; i++)
        shares.k = tasks[i].samples > shares.k ? tasks[i].samples : shares.k;
    return shares;
}

const int *bench_ks(const struct bench *bench, int *count)
{
    enum { PAPERS = 4 };
    static const int papers[PAPERS] = {1, 5, 10, 100};
    int most = 0, of_task = 0;
    for (int i = 0; i < bench->count; i++) {
        of_task = i && strcmp(bench->rows[i].task, bench->rows[i - 1].task) == 0 ? of_task : 0;
        of_task += rated(&bench->rows[i]);
        most = of_task > most ? of_task : most;
    }
    *count = bench->k_count;
    if (bench->ks)
        return bench->ks;
    for (*count = 0; most > 1 && *count < PAPERS && papers[*count] <= most; (*count)++)
        ;
    return papers;
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
