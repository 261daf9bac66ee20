/* Tasks in memory: found and parsed once, until their files change. Who has used none for the longest time goes first. */
#include "base/files.h"
#include "base/memory.h"
#include "candidate/reader.h"
#include "serve/serve_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_TASKS = 256, TASK_FILES = 2 };

/* Another file, or one that was written again, has another. */
struct stamp {
    dev_t device;
    ino_t number;
    off_t bytes;
    struct timespec changed;
};
struct served_task {
    struct served_task *next;
    const char *name, *tolerance; /* tolerance: NULL: the task's own */
    struct task task;
    struct stamp stamps[TASK_FILES];
    struct arena arena;
    int users;
    bool stale; /* not in the list any more: the last user frees it */
    uint64_t used_at;
};
struct serve_tasks {
    pthread_mutex_t lock;
    struct eval_cache *cache;
    struct served_task *first;
    int count;
    uint64_t clock;
};

struct serve_tasks *serve_tasks_create(struct eval_cache *cache)
{
    struct serve_tasks *tasks = memory_alloc(sizeof *tasks);
    pthread_mutex_init(&tasks->lock, NULL);
    tasks->cache = cache;
    return tasks;
}

static void served_task_free(struct serve_tasks *tasks, struct served_task *task)
{
    eval_cache_forget(tasks->cache, &task->task);
    arena_free(&task->arena);
    free(task);
}

void serve_tasks_destroy(struct serve_tasks *tasks)
{
    for (struct served_task *task = tasks->first, *next; task; task = next) {
        next = task->next;
        served_task_free(tasks, task);
    }
    pthread_mutex_destroy(&tasks->lock);
    free(tasks);
}

static void take_stamps(const struct task *task, struct stamp stamps[TASK_FILES])
{
    static const char *const names[TASK_FILES] = {"task.yaml", "cases.csv"};
    struct arena arena = {0};
    for (int i = 0; i < TASK_FILES; i++) {
        struct stat status = {0};
        if (stat(arena_printf(&arena, "%s/%s", task->dir, names[i]), &status))
            status = (struct stat){0};
        memset(&stamps[i], 0, sizeof stamps[i]);
        stamps[i].device = status.st_dev;
        stamps[i].number = status.st_ino;
        stamps[i].bytes = status.st_size;
        stamps[i].changed = status.st_mtim;
    }
    arena_free(&arena);
}

/* Takes it out of the list. */
static void drop_task(struct serve_tasks *tasks, struct served_task **at)
{
    struct served_task *gone = *at;
    *at = gone->next;
    tasks->count--;
    gone->stale = true;
    if (!gone->users)
        served_task_free(tasks, gone);
}

/* The task of the list that is still what its files say; NULL: there is none. */
static struct served_task *find_task(struct serve_tasks *tasks, const char *name, const char *tolerance)
{
    for (struct served_task **at = &tasks->first; *at; at = &(*at)->next) {
        struct stamp now[TASK_FILES];
        if (strcmp((*at)->name, name) != 0 ||
            strcmp((*at)->tolerance ? (*at)->tolerance : "", tolerance ? tolerance : ""))
            continue;
        take_stamps(&(*at)->task, now);
        if (memcmp(now, (*at)->stamps, sizeof now) == 0)
            return *at;
        drop_task(tasks, at);
        return NULL;
    }
    return NULL;
}

/* The task of a name, or of a folder, whose texts may be a stranger's: they are tried in a process of their own first. */
static struct akgen_error *load_task(struct arena *arena, const char *name, struct task *task)
{
    char *yaml, *cases, *absolute = realpath(name, NULL);
    if (!absolute || !files_exists(arena_printf(arena, "%s/task.yaml", absolute))) {
        free(absolute);
        return task_find(arena, toolchain_home(), name, task);
    }
    const char *dir = arena_strdup(arena, absolute);
    free(absolute);
    struct akgen_error *error = task_read_texts(arena, name, &yaml, &cases);
    if (!error)
        error = candidate_try_task(name, yaml, cases);
    if (!error)
        error = task_of_texts(arena, name, yaml, cases, task);
    task->dir = dir;
    return error;
}

/* Without the lock: others are served meanwhile. */
static struct akgen_error *read_task(const char *name, const char *tolerance, struct served_task **read)
{
    struct served_task *task = memory_alloc(sizeof *task);
    struct akgen_error *error = load_task(&task->arena, name, &task->task);
    if (!error && tolerance)
        error = task_set_tolerance(&task->arena, &task->task, tolerance);
    if (error) {
        arena_free(&task->arena);
        free(task);
        return error;
    }
    task->name = arena_strdup(&task->arena, name);
    task->tolerance = tolerance ? arena_strdup(&task->arena, tolerance) : NULL;
    take_stamps(&task->task, task->stamps);
    *read = task;
    return NULL;
}

static void add_task(struct serve_tasks *tasks, struct served_task *task)
{
    if (tasks->count == MOST_TASKS) {
        struct served_task **oldest = NULL;
        for (struct served_task **at = &tasks->first; *at; at = &(*at)->next)
            if (!(*at)->users && (!oldest || (*at)->used_at < (*oldest)->used_at))
                oldest = at;
        if (oldest)
            drop_task(tasks, oldest);
    }
    task->next = tasks->first;
    tasks->first = task;
    tasks->count++;
}

struct akgen_error *serve_tasks_take(struct serve_tasks *tasks, const char *name, const char *tolerance,
                                     struct served_task **taken)
{
    struct served_task *read = NULL;
    struct akgen_error *error = NULL;
    pthread_mutex_lock(&tasks->lock);
    struct served_task *task = find_task(tasks, name, tolerance);
    if (!task) {
        pthread_mutex_unlock(&tasks->lock);
        error = read_task(name, tolerance, &read);
        pthread_mutex_lock(&tasks->lock);
        task = error ? NULL : find_task(tasks, name, tolerance); /* another worker may have read it meanwhile */
        if (!task && read) {
            add_task(tasks, read);
            task = read;
            read = NULL;
        }
    }
    if (task) {
        task->users++;
        task->used_at = ++tasks->clock;
    }
    pthread_mutex_unlock(&tasks->lock);
    if (read)
        served_task_free(tasks, read);
    *taken = task;
    return error;
}

const struct task *serve_task(const struct served_task *taken)
{
    return &taken->task;
}

void serve_tasks_release(struct serve_tasks *tasks, struct served_task *taken)
{
    if (!taken)
        return;
    pthread_mutex_lock(&tasks->lock);
    if (!--taken->users && taken->stale)
        served_task_free(tasks, taken);
    pthread_mutex_unlock(&tasks->lock);
}
