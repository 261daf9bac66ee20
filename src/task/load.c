/* A task's folder -> struct task: reads the files and says in which of them a mistake is. */
#include "base/files.h"
#include "task/task_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 4 << 20 };

static struct akgen_error *read_text(struct arena *arena, const char *dir, const char *name, char **text)
{
    size_t length;
    const char *path = arena_printf(arena, "%s/%s", dir, name);
    struct akgen_error *error = files_read_inside(arena, dir, name, MAX_FILE, text, &length);
    if (error)
        return error;
    return memchr(*text, 0, length) ? error_new("%s: not a text file: it holds a NUL byte", path) : NULL;
}

/* The columns of cases.csv first: the expressions of task.yaml name them. Then task.yaml, whose shapes, types and
 * generators the cases are tried with. */
static struct akgen_error *parse(struct arena *arena, const char *description, const char *cases, struct task *task)
{
    struct csv_table table;
    struct task_lines lines = {0};
    struct akgen_error *error = csv_parse(arena, "cases.csv", cases, &table);
    if (error)
        return error;
    task->columns = (struct expr_columns){table.columns, table.column_count};
    error = task_description_parse(arena, description, task, &lines);
    return error ? error : task_cases_parse(arena, &table, &lines, task);
}

struct akgen_error *task_of_texts(struct arena *arena, const char *path, const char *yaml, const char *cases,
                                  struct task *task)
{
    *task = (struct task){
        .dir = arena_strdup(arena, path), .yaml = arena_strdup(arena, yaml), .table = arena_strdup(arena, cases)};
    struct akgen_error *error = parse(arena, yaml, cases, task);
    if (!error)
        return NULL;
    struct akgen_error *placed = error_new("%s/%s", path, error->message); /* "task.yaml:3: ..." is in that folder */
    error_free(error);
    return placed;
}

struct akgen_error *task_read_texts(struct arena *arena, const char *dir, char **yaml, char **cases)
{
    struct akgen_error *error = read_text(arena, dir, "task.yaml", yaml);
    return error ? error : read_text(arena, dir, "cases.csv", cases);
}

struct akgen_error *task_load(struct arena *arena, const char *dir, struct task *task)
{
    char absolute[PATH_MAX], *yaml, *cases;
    if (!realpath(dir, absolute))
        return error_new("%s: %m", dir);
    *task = (struct task){.dir = arena_strdup(arena, absolute)};
    struct akgen_error *error = task_read_texts(arena, dir, &yaml, &cases);
    if (error)
        return error;
    error = task_of_texts(arena, dir, yaml, cases, task);
    task->dir = arena_strdup(arena, absolute);
    return error;
}
