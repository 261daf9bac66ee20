/* tasks/exemplars.csv. */
#include "dsl/exemplar.h"
#include "base/files.h"
#include "task/csv.h"

#include <string.h>
#include <unistd.h>

static const char *const columns[] = {"suite", "category", "first", "second"};
enum { COLUMNS = sizeof columns / sizeof *columns, LONGEST = 1 << 20 };

static struct akgen_error *read_row(struct arena *arena, const char *home, const struct csv_row *row,
                                    struct dsl_exemplar *exemplar)
{
    *exemplar = (struct dsl_exemplar){.suite = row->values[0], .category = row->values[1]};
    for (int i = 0; i < 2; i++) {
        const char *task = row->values[2 + i];
        exemplar->tasks[i] = task;
        exemplar->programs[i] = arena_printf(arena, "%s/tasks/%s/program.py", home, task);
        if (access(exemplar->programs[i], R_OK))
            return error_new("exemplars.csv:%d: there is no %s", row->line, exemplar->programs[i]);
    }
    return strcmp(exemplar->tasks[0], exemplar->tasks[1]) == 0
               ? error_new("exemplars.csv:%d: %s stands in for itself", row->line, exemplar->tasks[0])
               : NULL;
}

struct akgen_error *dsl_exemplars_load(struct arena *arena, const char *home, struct dsl_exemplars *exemplars)
{
    char *text;
    size_t length;
    struct csv_table table;
    struct akgen_error *error =
        files_read(arena, arena_printf(arena, "%s/tasks/exemplars.csv", home), LONGEST, &text, &length);
    *exemplars = (struct dsl_exemplars){0};
    if (!error)
        error = csv_parse(arena, "exemplars.csv", text, &table);
    for (int i = 0; !error && i < COLUMNS; i++)
        if (table.column_count != COLUMNS || strcmp(table.columns[i], columns[i]) != 0)
            error = error_new("exemplars.csv:1: the columns are suite;category;first;second");
    if (!error)
        exemplars->items = arena_alloc(arena, (size_t)(table.row_count + 1) * sizeof *exemplars->items);
    for (int i = 0; !error && i < table.row_count; i++)
        error = read_row(arena, home, &table.rows[i], &exemplars->items[exemplars->count++]);
    return error;
}

const struct dsl_exemplar *dsl_exemplar_for(const struct dsl_exemplars *exemplars, const struct task *task, int *which)
{
    for (int i = 0; i < exemplars->count; i++) {
        const struct dsl_exemplar *exemplar = &exemplars->items[i];
        if (strcmp(exemplar->suite, task->suite) != 0 || strcmp(exemplar->category, task->category) != 0)
            continue;
        *which = strcmp(exemplar->tasks[0] + strlen(exemplar->suite) + 1, task->name) == 0;
        return exemplar;
    }
    return NULL;
}
