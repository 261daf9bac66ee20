/* A baseline's kernels: found, evaluated once for each task, and asked for the time of a case. */
#include "eval/kernel_baseline.h"
#include "base/memory.h"
#include "eval/timing.h"
#include "eval/tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel for a task. */
struct entry {
    const struct task *task;
    pthread_mutex_t lock; /* held while the kernel is evaluated */
    bool known;
    struct kernel_times times;
    struct arena arena;
    struct entry *next;
};
struct kernel_baseline {
    char *name;
    bool lone;            /* the path is that of the only candidate */
    pthread_mutex_t lock; /* guards the list */
    struct entry *entries;
};

static const char *path_of(const struct kernel_baseline *baseline)
{
    return baseline->name + strlen(TREE_PREFIX);
}

/* What the path leads to. */
static struct akgen_error *look_at(const char *path, bool *lone)
{
    struct stat status;
    struct arena arena = {0};
    if (stat(path, &status) != 0)
        return error_new("%s: %m", path);
    const bool folder = S_ISDIR(status.st_mode), answer = S_ISREG(status.st_mode) && tree_is_answer(strrchr(path, '.'));
    if (!folder && !answer)
        return error_new("%s: neither a folder nor an answer in a .txt, .md or .py file", path);
    if (access(path, folder ? R_OK | X_OK : R_OK) != 0)
        return error_new("%s: %m", path);
    *lone = answer || access(arena_printf(&arena, "%s/op_kernel", path), F_OK) == 0;
    arena_free(&arena);
    return NULL;
}

struct akgen_error *kernel_baseline_open(const char *name, int task_count, struct kernel_baseline **baseline)
{
    bool lone;
    *baseline = NULL;
    if (strcmp(name, BASELINE_EAGER) == 0)
        return NULL;
    if (strncmp(name, TREE_PREFIX, strlen(TREE_PREFIX)) != 0)
        return error_new("baseline '%s' is neither '" BASELINE_EAGER "' nor '" TREE_PREFIX "PATH'", name);
    struct akgen_error *error = look_at(name + strlen(TREE_PREFIX), &lone);
    if (error)
        return error_prefix(error, "baseline");
    if (lone && task_count != 1)
        return error_new(
            "baseline: %s is one kernel, for one task, and these are %d; a folder for several has one for each, as "
            "level1/Math/Sqrt",
            name + strlen(TREE_PREFIX), task_count);
    *baseline = memory_alloc(sizeof **baseline);
    **baseline = (struct kernel_baseline){.name = memory_string(name), .lone = lone, .lock = PTHREAD_MUTEX_INITIALIZER};
    return NULL;
}

void kernel_baseline_close(struct kernel_baseline *baseline)
{
    if (!baseline)
        return;
    for (struct entry *entry = baseline->entries, *next; entry; entry = next) {
        next = entry->next;
        pthread_mutex_destroy(&entry->lock);
        arena_free(&entry->arena);
        free(entry);
    }
    pthread_mutex_destroy(&baseline->lock);
    free(baseline->name);
    free(baseline);
}

/* The candidate for a task; NULL: there is none, or, with a `count` beyond 1, no single one. */
static const char *find_kernel(struct arena *arena, const struct kernel_baseline *baseline, const struct task *task,
                               int *count)
{
    struct tree_answer *answers;
    *count = 1;
    if (baseline->lone)
        return path_of(baseline);
    *count = tree_answers(arena, path_of(baseline), task, &answers);
    return *count == 1 && access(answers->path, F_OK) == 0 ? answers->path : NULL;
}

bool kernel_baseline_has(const struct kernel_baseline *baseline, const struct task *task)
{
    struct arena arena = {0};
    int count;
    bool found = find_kernel(&arena, baseline, task, &count) || count > 1;
    arena_free(&arena);
    return found;
}

struct akgen_error *kernel_baseline_open_for(const char *name, const struct task *task,
                                             struct kernel_baseline **baseline)
{
    struct akgen_error *error = kernel_baseline_open(name, 1, baseline);
    if (error || !*baseline || kernel_baseline_has(*baseline, task))
        return error;
    return error_new("baseline %s is no kernel, which holds op_kernel/, and has none for %s", name, task->name);
}

/* The times of a kernel that passes. */
static void take_times(struct entry *entry, const struct verdict *verdict)
{
    struct arena *arena = &entry->arena;
    struct kernel_times *times = &entry->times;
    times->cases = arena_alloc(arena, sizeof *times->cases * (size_t)(verdict->case_count + 1));
    for (int i = 0; i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        const struct npu_timing *model = &row->run.timing.model;
        if (row->hidden || !model->known)
            continue;
        times->cases[times->case_count++] = (struct kernel_time){row->id, arena_strdup(arena, row->shape),
                                                                 arena_strdup(arena, row->dtype), timing_us(model)};
    }
    if (!times->case_count)
        times->lack = "pass, but no case has a modelled time";
}

static void evaluate(struct kernel_baseline *baseline, struct entry *entry, const struct eval_options *options)
{
    struct arena *arena = &entry->arena;
    struct kernel_times *times = &entry->times;
    struct arena scratch = {0};
    struct candidate candidate;
    struct verdict verdict;
    int count;
    times->baseline = baseline->name;
    if ((times->lack = entry->task->broken))
        return;
    const char *path = find_kernel(arena, baseline, entry->task, &count);
    if (!path) {
        times->lack =
            count > 1 ? arena_printf(arena, "it has %d kernels for %s, and a baseline is one", count, entry->task->name)
                      : arena_printf(arena, "it has no kernel for %s", entry->task->name);
        return;
    }
    struct eval_options own = *options;
    own.candidates = baseline->lone ? NULL : path_of(baseline);
    own.debug = NULL;
    own.on_case = NULL;
    own.language = EVAL_ASCENDC;
    own.language_given = false; /* the run's language is that of its candidates */
    eval_read(&scratch, entry->task, path, &own, &candidate);
    eval_run(&candidate, entry->task, &own, &verdict);
    times->judged = true;
    times->kind = verdict.kind;
    times->hash = candidate.digest ? arena_strdup(arena, candidate.digest) : NULL;
    if (verdict.kind == AKGEN_VERDICT_PASS)
        take_times(entry, &verdict);
    else
        times->lack =
            arena_printf(arena, "%s: %s", akgen_verdict_kind_name(verdict.kind), verdict.reason ? verdict.reason : "");
    verdict_free(&verdict);
    arena_free(&scratch);
}

static struct entry *entry_of(struct kernel_baseline *baseline, const struct task *task)
{
    pthread_mutex_lock(&baseline->lock);
    struct entry *entry = baseline->entries;
    while (entry && entry->task != task)
        entry = entry->next;
    if (!entry) {
        entry = memory_alloc(sizeof *entry);
        *entry = (struct entry){.task = task, .lock = PTHREAD_MUTEX_INITIALIZER, .next = baseline->entries};
        baseline->entries = entry;
    }
    pthread_mutex_unlock(&baseline->lock);
    return entry;
}

const struct kernel_times *kernel_baseline_times(struct kernel_baseline *baseline, const struct task *task,
                                                 const struct eval_options *options)
{
    struct entry *entry = entry_of(baseline, task);
    pthread_mutex_lock(&entry->lock);
    if (!entry->known)
        evaluate(baseline, entry, options);
    entry->known = true;
    pthread_mutex_unlock(&entry->lock);
    return &entry->times;
}

double kernel_time_of(const struct kernel_times *times, int id, const char *shape, const char *dtype)
{
    for (int i = 0; i < times->case_count && !times->lack; i++) {
        const struct kernel_time *of = &times->cases[i];
        if (of->id == id && strcmp(of->shape, shape) == 0 && strcmp(of->dtype, dtype) == 0)
            return of->us;
    }
    return 0;
}
