/* Many candidates -> a run. Workers take tasks in order; a verdict is counted, stored and shown under one lock. */
#include "eval/bench.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bench_work {
    const struct bench_options *options;
    struct bench *bench;
    pthread_mutex_t lock; /* guards everything below and the store */
    int next, done;
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct akgen_error *bench_check_provider(const char *provider)
{
    if (strcmp(provider, "reference") == 0)
        return NULL;
    if (strncmp(provider, "dir:", 4) != 0)
        return error_new("provider '%s' is neither 'reference' nor 'dir:PATH'", provider);
    if (access(provider + 4, R_OK | X_OK) != 0)
        return error_new("%s: %m", provider + 4);
    return NULL;
}

static const char *candidate_dir(struct arena *arena, const char *provider, const struct task *task)
{
    if (strncmp(provider, "dir:", 4) != 0)
        return arena_printf(arena, "%s/reference", task->dir);
    const char *dir = arena_printf(arena, "%s/%s", provider + 4, task->name);
    const char *answer = arena_printf(arena, "%s/answer/0", dir);
    return access(answer, R_OK) == 0 ? answer : dir;
}

static void fill_row(struct bench_row *row, struct arena *arena, const struct verdict *verdict)
{
    row->evaluated = true;
    row->kind = verdict->kind;
    row->stage = verdict->stage;
    row->reason = verdict->reason ? arena_strdup(arena, verdict->reason) : NULL;
    row->cases_passed = verdict->cases_passed;
    row->cases_total = verdict->case_count;
    row->seconds = verdict->seconds;
    row->verdict = verdict_to_json(verdict);
}

static void *work(void *closure)
{
    struct bench_work *work = closure;
    const struct bench_options *options = work->options;
    pthread_mutex_lock(&work->lock);
    while (work->next < options->task_count) {
        int index = work->next++;
        struct verdict verdict;
        pthread_mutex_unlock(&work->lock);
        struct eval_options eval = options->eval;
        struct arena arena = {0};
        eval.jobs = 1;
        eval_run(&options->tasks[index], candidate_dir(&arena, options->provider, &options->tasks[index]), &eval,
                 &verdict);
        pthread_mutex_lock(&work->lock);
        struct bench_row *row = &work->bench->rows[index];
        fill_row(row, &work->bench->arena, &verdict);
        verdict_free(&verdict);
        arena_free(&arena);
        if (options->store && !work->bench->store_error)
            work->bench->store_error = store_add(options->store, row);
        if (options->on_row)
            options->on_row(options->closure, work->bench, ++work->done);
    }
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

void bench_run(const struct bench_options *options, struct bench *bench)
{
    enum { MAX_THREADS = 256 };
    pthread_t threads[MAX_THREADS];
    double start = now_seconds();
    memset(bench, 0, sizeof *bench);
    bench->rows = arena_alloc(&bench->arena, sizeof *bench->rows * (size_t)options->task_count);
    bench->count = options->task_count;
    for (int i = 0; i < options->task_count; i++)
        bench->rows[i].task = &options->tasks[i];
    struct bench_work shared = {.options = options, .bench = bench, .lock = PTHREAD_MUTEX_INITIALIZER};
    int started = 0;
    while (started < options->eval.jobs - 1 && started < MAX_THREADS && started < options->task_count - 1 &&
           pthread_create(&threads[started], NULL, work, &shared) == 0)
        started++;
    work(&shared);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    bench->seconds = now_seconds() - start;
    if (options->store && !bench->store_error)
        bench->store_error = store_end_run(options->store, bench->seconds);
}

void bench_free(struct bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        json_decref(bench->rows[i].verdict);
    error_free(bench->store_error);
    arena_free(&bench->arena);
}

static void count(struct bench_counts *counts, const struct bench_row *row)
{
    counts->tasks++;
    counts->cases += row->cases_total;
    counts->cases_passed += row->cases_passed;
    if (row->kind == VERDICT_UNSUPPORTED || row->kind == VERDICT_INFRA_ERROR)
        counts->excluded++;
    else {
        counts->compiled += row->stage >= STAGE_TILING;
        counts->passed += row->kind == VERDICT_PASS;
    }
}

/* True if row `i` exists and belongs to the same level, and for `category` to the same category, as row `first`. */
static bool same_group(const struct bench *bench, int first, int i, bool category)
{
    if (i >= bench->count || bench->rows[i].task->level != bench->rows[first].task->level)
        return false;
    return !category || strcmp(bench->rows[i].task->category, bench->rows[first].task->category) == 0;
}

void bench_visit_groups(const struct bench *bench,
                        void (*visit)(void *closure, const char *name, const struct bench_counts *counts),
                        void *closure)
{
    struct bench_counts all = {0}, level = {0}, category = {0};
    for (int i = 0; i < bench->count; i++) {
        const struct task *task = bench->rows[i].task;
        char name[128];
        count(&category, &bench->rows[i]);
        count(&level, &bench->rows[i]);
        count(&all, &bench->rows[i]);
        if (!same_group(bench, i, i + 1, true)) {
            snprintf(name, sizeof name, "level %d / %s", task->level, task->category);
            visit(closure, name, &category);
            category = (struct bench_counts){0};
        }
        if (!same_group(bench, i, i + 1, false)) {
            snprintf(name, sizeof name, "level %d", task->level);
            visit(closure, name, &level);
            level = (struct bench_counts){0};
        }
    }
    visit(closure, "all", &all);
}
