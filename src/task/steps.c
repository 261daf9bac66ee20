/* The texts of `vary` and `smaller`, parsed: segments separated by ';'. A segment is `column = expression`; or, in
 * `vary`, a list of words: `sizes` for the sizes in all lists of a case, `even`, and columns that hold one size each. */
#include "base/names.h"
#include "task/task_internal.h"

#include <string.h>

static int column_of(const struct expr_columns *columns, const char *name)
{
    for (int i = 0; i < columns->count; i++)
        if (strcmp(columns->names[i], name) == 0)
            return i;
    return TASK_NONE;
}

static struct akgen_error *no_column(struct arena *arena, const struct expr_columns *columns, const char *name)
{
    const char **names = arena_alloc(arena, sizeof *names * (size_t)(columns->count + 1));
    const char *known = "";
    for (int i = 0; i < columns->count; i++) {
        names[i] = columns->names[i];
        known = arena_printf(arena, "%s%s%s", known, i ? ", " : "", names[i]);
    }
    return error_new("'%s' is no column of cases.csv, its columns are %s%s", name, known,
                     names_hint(arena, name, names));
}

static struct akgen_error *parse_words(struct arena *arena, const char *text, const struct expr_columns *columns,
                                       struct task_step *step)
{
    step->columns = arena_alloc(arena, sizeof *step->columns * (size_t)columns->count);
    for (const char *at = text; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        const char *word = arena_strndup(arena, at, length);
        int column = column_of(columns, word);
        at += length;
        if (strcmp(word, "sizes") == 0)
            step->lists = true;
        else if (strcmp(word, "even") == 0)
            step->even = true;
        else if (column != TASK_NONE)
            step->columns[column] = true;
        else
            return no_column(arena, columns, word);
    }
    return NULL;
}

/* `hidden`: the expression may name $hidden, which stands behind the columns. */
static struct akgen_error *parse_assignment(struct arena *arena, const char *text, const char *equals,
                                            const struct expr_columns *columns, bool hidden, struct task_step *step)
{
    const char *name = arena_strndup(arena, text, strcspn(text, " ="));
    const char **names = arena_alloc(arena, sizeof *names * (size_t)(columns->count + 1));
    for (int i = 0; i < columns->count; i++)
        names[i] = columns->names[i];
    names[columns->count] = "hidden";
    step->column = column_of(columns, name);
    if (step->column == TASK_NONE)
        return no_column(arena, columns, name);
    const struct expr_columns all = {names, columns->count + hidden};
    return expr_parse(arena, equals + 1, &all, &step->value);
}

struct akgen_error *task_steps_parse(struct arena *arena, const char *text, const struct expr_columns *columns,
                                     bool words, struct task_steps *steps)
{
    int most = 1;
    for (const char *at = text; *at; at++)
        most += *at == ';';
    steps->steps = arena_alloc(arena, sizeof *steps->steps * (size_t)most);
    for (const char *at = text; *at; at += *at == ';') {
        struct akgen_error *error = NULL;
        at += strspn(at, " ");
        const char *segment = arena_strndup(arena, at, strcspn(at, ";")), *equals = strchr(segment, '=');
        at += strlen(segment);
        if (!*segment)
            continue;
        struct task_step *step = &steps->steps[steps->count++];
        if (equals)
            error = parse_assignment(arena, segment, equals, columns, words, step);
        else if (words)
            error = parse_words(arena, segment, columns, step);
        else
            error = error_new("'%s' is not of the form 'column = expression'", segment);
        if (error)
            return error;
    }
    return NULL;
}

static bool any_size(const struct task *task, int column)
{
    for (int i = 0; i < task->case_count; i++)
        if (task->cases[i].cells[column].kind == EXPR_INT)
            return true;
    return false;
}

struct akgen_error *task_vary_columns_check(const struct task *task)
{
    for (int i = 0; i < task->vary.count; i++)
        for (int c = 0; c < task->columns.count && !task->vary.steps[i].value; c++)
            if (task->vary.steps[i].columns[c] && !any_size(task, c))
                return error_new("column '%s' holds no size in any case", task->columns.names[c]);
    return NULL;
}
