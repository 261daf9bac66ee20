/* What a published benchmark's figures depend on besides its tasks: the version of its shapes, its tolerance, how many
 * inputs it tries. MultiKernelBench changed all three while papers were written about it, so no figure of that suite
 * stands without them. */
#include "task/task.h"

#include <string.h>

/* MultiKernelBench: shapes of November 2025 (larger since January 2026: v2), torch.allclose with the same limit
 * absolute and relative, 1e-2 until January 2026, 1e-4 since; five fresh inputs per task. */
struct protocol {
    const char *suite, *shapes;
    const char *tolerances[2]; /* the first is the default: every task's `check` */
    int trials;
};
static const struct protocol protocols[] = {
    {"multikernelbench", "v1", {"1e-2", "1e-4"}, 5},
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

static const char *check_with(struct arena *arena, const char *tolerance)
{
    return arena_printf(arena, "allclose(%s, %s)", tolerance, tolerance);
}

struct akgen_error *task_set_tolerance(struct arena *arena, struct task *task, const char *tolerance)
{
    const struct protocol *protocol = protocol_of(task);
    if (!protocol)
        return error_new("suite '%s' has no tolerance to choose: its tasks bring their own checks", task->suite);
    for (int i = 0; i < 2; i++)
        if (strcmp(protocol->tolerances[i], tolerance) == 0) {
            task->check = check_with(arena, protocol->tolerances[i]);
            return NULL;
        }
    return error_new("the tolerance of '%s' is %s or %s, not '%s'", task->suite, protocol->tolerances[0],
                     protocol->tolerances[1], tolerance);
}

const char *task_protocol(struct arena *arena, const struct task *task, enum task_profile profile, int trials)
{
    const struct protocol *protocol = protocol_of(task);
    const char *tolerance = NULL;
    if (!protocol)
        return "";
    for (int i = 0; task->check && i < 2; i++)
        if (strcmp(task->check, check_with(arena, protocol->tolerances[i])) == 0)
            tolerance = protocol->tolerances[i];
    const char *check = profile == TASK_STRICT ? "strict limits"
                        : tolerance            ? arena_printf(arena, "tolerance %s", tolerance)
                                               : "a check of its own";
    return arena_printf(arena, "shapes %s, %s, %d inputs", protocol->shapes, check, trials);
}
