/* Finding tasks below <home>/tasks by name. */
#include "base/names.h"
#include "task/task.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Directories that hold a task.yaml, sorted. */
static struct akgen_error *list_tasks(struct arena *arena, const char *home, const char ***dirs, int *count)
{
    glob_t found = {0};
    int code = glob(arena_printf(arena, "%s/tasks/*/*/*/*/task.yaml", home), 0, NULL, &found);
    *count = code ? 0 : (int)found.gl_pathc;
    *dirs = arena_alloc(arena, sizeof **dirs * (size_t)(*count + 1));
    for (int i = 0; i < *count; i++)
        (*dirs)[i] = arena_strndup(arena, found.gl_pathv[i], strlen(found.gl_pathv[i]) - strlen("/task.yaml"));
    globfree(&found);
    return *count ? NULL : error_new("there are no tasks below %s/tasks", home);
}

/* The last `parts` components of a path. */
static const char *tail(const char *path, int parts)
{
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --parts > 0))
        at--;
    return at;
}

/* npukernelbench: what a name without a suite means first. */
static bool of_default_suite(const char *dir)
{
    static const char suite[] = "npukernelbench/";
    return strncmp(tail(dir, 4), suite, strlen(suite)) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct task *)a)->name, ((const struct task *)b)->name);
}

/* What is known of a task that cannot be loaded: where it is, and why. */
static void set_broken(struct arena *arena, const char *dir, const char *why, struct task *task)
{
    const char *suite = tail(dir, 4), *level = tail(dir, 3), *category = tail(dir, 2);
    *task = (struct task){
        .suite = arena_strndup(arena, suite, (size_t)(level - suite - 1)),
        .level = strncmp(level, "level", 5) == 0 ? atoi(level + 5) : 0,
        .category = arena_strndup(arena, category, strcspn(category, "/")),
        .op = tail(dir, 1),
        .name = level,
        .dir = dir,
        .broken = arena_strdup(arena, why),
    };
}

struct akgen_error *task_load_all(struct arena *arena, const char *home, struct task **tasks, int *count)
{
    const char **dirs;
    struct akgen_error *error = list_tasks(arena, home, &dirs, count);
    if (error)
        return error;
    *tasks = arena_alloc(arena, sizeof **tasks * (size_t)(*count + 1));
    for (int i = 0; i < *count; i++)
        if ((error = task_load(arena, dirs[i], &(*tasks)[i]))) {
            set_broken(arena, dirs[i], error->message, &(*tasks)[i]);
            error_free(error);
        }
    qsort(*tasks, (size_t)*count, sizeof **tasks, by_name);
    return NULL;
}

/* "; did you mean level1/Math/Sqrt, ...?" with at most three names, nearest first, of these npukernelbench's first. */
static const char *suggestions(struct arena *arena, const char *name, const char *const *dirs, int count)
{
    const char *text = "", *op = tail(name, 1);
    int shown = 0;
    for (int d = 0; d <= (int)strlen(op) / 3 + 1 && shown < 3; d++)
        for (int i = 0; i < 2 * count && shown < 3; i++) {
            const char *dir = dirs[i % count];
            bool first = of_default_suite(dir);
            if (first == (i < count) && names_distance(op, tail(dir, 1)) == d)
                text =
                    arena_printf(arena, "%s%s%s", text, shown++ ? ", " : "; did you mean ", tail(dir, first ? 3 : 4));
        }
    return shown ? arena_printf(arena, "%s?", text) : "; 'akgen task list' shows all";
}

struct akgen_error *task_find(struct arena *arena, const char *home, const char *name, struct task *task)
{
    struct stat status;
    if (!stat(arena_printf(arena, "%s/task.yaml", name), &status))
        return task_load(arena, name, task);
    const char **dirs, *match = NULL, *other = NULL;
    int count, parts = 1, best = 0;
    struct akgen_error *error = list_tasks(arena, home, &dirs, &count);
    if (error)
        return error;
    for (const char *at = name; *at; at++)
        parts += *at == '/';
    for (int i = 0; i < count; i++)
        if (strcasecmp(tail(dirs[i], parts), name) == 0) {
            int rank = of_default_suite(dirs[i]);
            if (rank < best)
                continue;
            other = rank == best ? match : NULL;
            match = dirs[i];
            best = rank;
        }
    if (other)
        return error_new("'%s' is ambiguous: %s and %s", name, tail(other, 4), tail(match, 4));
    if (!match)
        return error_new("there is no task called '%s'%s", name, suggestions(arena, name, dirs, count));
    return task_load(arena, match, task);
}

struct akgen_error *task_require_case(const struct task *task, int id)
{
    bool found = task->broken || id < 0;
    for (int i = 0; i < task->case_count && !found; i++)
        found = task->cases[i].id == id;
    return found ? NULL : error_new("%s has no case %d; 'akgen task show %s' lists them", task->name, id, task->name);
}
