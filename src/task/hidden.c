/* Which hidden cases the strict profile adds to the cases that a task shows. */
#include "task/task_internal.h"

#include <string.h>

/* The data type of a case as its column of cases.csv says it; cases of one data type differ in their shapes. */
static const char *dtype_cell(const struct task *task, const struct task_case *row)
{
    for (int i = 0; i < task->columns.count; i++)
        if (strstr(task->columns.names[i], "dtype"))
            return row->cells[i].text;
    return "";
}

static bool same_type(const struct task *task, const struct task_case *a, const struct task_case *b)
{
    return strcmp(dtype_cell(task, a), dtype_cell(task, b)) == 0;
}

/* Is there a hidden case of this variant and data type? */
static bool has_hidden(const struct task *task, const struct task_case *const *hidden, int count,
                       const struct task_case *shown, enum task_variant variant)
{
    for (int i = 0; i < count; i++)
        if (hidden[i]->variant == variant && same_type(task, hidden[i], shown))
            return true;
    return false;
}

/* The shown case of this one's data type with the fewest elements, but enough of them to plant values in. */
static const struct task_case *smallest_like(const struct task *task, const struct task_case *const *shown, int count,
                                             const struct task_case *like)
{
    static const uint64_t enough = 64;
    const struct task_case *smallest = like;
    for (int i = 0; i < count; i++)
        if (same_type(task, shown[i], like) && shown[i]->elements >= enough &&
            (shown[i]->elements < smallest->elements || smallest->elements < enough))
            smallest = shown[i];
    return smallest;
}

int task_hidden_cases(struct arena *arena, const struct task *task, const struct task_case *const *shown, int count,
                      bool any_shape, const struct task_case **hidden)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        for (int v = any_shape ? TASK_PRIME_SIZES : TASK_LIMIT_VALUES; v < TASK_VARIANTS; v++) {
            enum task_variant variant = (enum task_variant)v;
            if (has_hidden(task, hidden, found, shown[i], variant))
                continue;
            const struct task_case *from =
                variant >= TASK_LIMIT_VALUES ? smallest_like(task, shown, count, shown[i]) : shown[i];
            struct task_case *made = arena_alloc(arena, sizeof *made);
            if (task_case_vary(arena, task, from, variant, made))
                hidden[found++] = made;
        }
    return found;
}
