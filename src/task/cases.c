/* cases.csv -> the cases of a task. Each is tried as far as that is cheap: whatever an evaluation would stumble over is
 * an error here. */
#include "task/task_internal.h"

#include <stdlib.h>
#include <string.h>

static struct akgen_error *read_case(struct arena *arena, const struct csv_row *from, const struct task *task,
                                     struct task_case *row)
{
    struct expr_value *cells = arena_alloc(arena, sizeof *cells * (size_t)(task->columns.count + 1));
    for (int i = 0; i < task->columns.count; i++)
        cells[i] = expr_cell(arena, from->values[i]);
    *row = (struct task_case){.cells = cells, .line = from->line};
    if (strcmp(task->columns.names[0], "case_id") != 0 || cells[0].kind != EXPR_INT || cells[0].integer < 0 ||
        cells[0].integer > INT32_MAX)
        return error_new("cases.csv:%d: the first column must be 'case_id', a number", row->line);
    row->id = (int)cells[0].integer;
    for (const struct task_case *other = task->cases; other < row; other++)
        if (other->id == row->id)
            return error_new("cases.csv:%d: case_id %d appears twice", row->line, row->id);
    return NULL;
}

/* Tries what task.yaml makes of a case. */
static struct akgen_error *try_case(struct arena *arena, const struct task *task, const struct task_lines *lines,
                                    struct task_case *row)
{
    struct akgen_error *error = task_case_measure(task, row);
    if (error)
        return error;
    if ((error = task_vary_check(arena, task, row)))
        return error_prefix(error, "task.yaml:%d: vary", lines->vary);
    struct task_case smaller = *row;
    if ((error = task_case_smaller(arena, task, &smaller)))
        return error_prefix(error, "task.yaml:%d: smaller", lines->smaller);
    return NULL;
}

struct akgen_error *task_cases_parse(struct arena *arena, const struct csv_table *table, const struct task_lines *lines,
                                     struct task *task)
{
    if (!table->row_count)
        return error_new("cases.csv: no case below the header");
    task->cases = arena_alloc(arena, sizeof *task->cases * (size_t)table->row_count);
    task->case_count = table->row_count;
    for (int i = 0; i < table->row_count; i++) {
        struct akgen_error *error = read_case(arena, &table->rows[i], task, &task->cases[i]);
        if (!error)
            error = try_case(arena, task, lines, &task->cases[i]);
        if (error)
            return error;
    }
    struct akgen_error *error = task_vary_columns_check(task);
    return error ? error_prefix(error, "task.yaml:%d: vary", lines->vary) : NULL;
}
