/* The protocol that a published benchmark's figures depend on besides its tasks: its check, the version of its shapes, its tolerance, how many
 * inputs it tries. MultiKernelBench changed all three while papers were written about it, so no figure of that suite
 * stands without them. */
#include "task/task_internal.h"

#include <stdlib.h>
#include <string.h>

/* MultiKernelBench: shapes of November 2025 (larger since January 2026: v2), torch.allclose with the same limit
 * absolute and relative, 1e-2 until January 2026, 1e-4 since; five fresh inputs per task. */
struct protocol {
    const char *suite, *shapes;
    const struct words *tolerances; /* the first is the default: every task's `check` */
    int trials;
};
const struct words task_tolerances = WORDS(TASK_TOLERANCES);
static const struct protocol protocols[] = {
    {"multikernelbench", "v1", &task_tolerances, 5},
};

static const struct protocol *protocol_of(const struct task *task)
{
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (task->suite && strcmp(protocols[i].suite, task->suite) == 0)
            return &protocols[i];
    return NULL;
}

int task_trials(const struct task *task)
{
    const struct protocol *protocol = protocol_of(task);
    return protocol ? protocol->trials : 1;
}

bool task_has_check(const struct task *task)
{
    return task->check || (task->suite && strcmp(task->suite, "npukernelbench") == 0 &&
                           task->reference != task_reference_find("formula"));
}

enum task_profile task_judged_by(const struct task *task, enum task_profile profile)
{
    return task_has_check(task) ? profile : TASK_STRICT;
}

struct akgen_error *task_set_tolerance(struct arena *arena, struct task *task, const char *tolerance)
{
    const struct protocol *protocol = protocol_of(task);
    if (!protocol && !task_has_check(task))
        return error_new("%s has no check whose tolerance could be chosen: strict limits judge it in both profiles",
                         task->name);
    if (!protocol)
        return error_new("suite '%s' has no tolerance to choose: its tasks bring their own checks", task->suite);
    if (words_find(protocol->tolerances, tolerance) < 0)
        return error_new("the tolerance of '%s' is %s or %s, not '%s'", task->suite, protocol->tolerances->of[0],
                         protocol->tolerances->of[1], tolerance);
    return expr_parse(arena, arena_printf(arena, "allclose(%s, %s)", tolerance, tolerance), NULL, &task->check);
}

struct akgen_error *task_instance_set_tolerance(struct arena *arena, struct task_instance *instance,
                                                const char *tolerance)
{
    struct task *task = arena_copy(arena, instance->task, sizeof *task);
    struct akgen_error *error = task_set_tolerance(arena, task, tolerance);
    struct expr_scope anywhere = {.arena = arena};
    if (!error)
        error = task_check_make(task->check, &anywhere, &instance->check);
    return error;
}

/* The check is allclose with this limit, absolute and relative, in every case. */
static bool checks_with(struct arena *arena, const struct task *task, double limit)
{
    struct expr_scope anywhere = {.arena = arena};
    struct expr_value check;
    struct akgen_error *error = task->check ? expr_eval(task->check, &anywhere, &check) : NULL;
    bool same = task->check && !error && check.kind == EXPR_RULE && check.integer == RULE_ALLCLOSE &&
                expr_number(&check.items[0]) == limit && expr_number(&check.items[1]) == limit;
    error_free(error);
    return same;
}

const char *task_protocol(struct arena *arena, const struct task *task, enum task_profile profile, int trials)
{
    const struct protocol *protocol = protocol_of(task);
    const char *tolerance = NULL;
    const bool strict = task_judged_by(task, profile) == TASK_STRICT;
    if (!protocol)
        return strict && profile == TASK_UPSTREAM ? "strict limits, the task has no check" : "";
    for (int i = 0; i < protocol->tolerances->count; i++)
        if (checks_with(arena, task, strtod(protocol->tolerances->of[i], NULL)))
            tolerance = protocol->tolerances->of[i];
    const char *check = strict      ? "strict limits"
                        : tolerance ? arena_printf(arena, "tolerance %s", tolerance)
                                    : "a check of its own";
    return arena_printf(arena, "shapes %s, %s, %d inputs", protocol->shapes, check, trials);
}
