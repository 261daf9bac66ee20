/* The last things before the candidate's first instruction: its kernel's files are opened and looked through, and the
 * guard is set up. */
#include "run/kernel/overrides.h"
#include "run/kernel/runner.h"
#include "npu/task_types.h"

#include <fcntl.h>

static void open_object(struct loaded *object, const char *path)
{
    object->path = path;
    object->fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static void refuse_overrides(struct runner *runner, const char *path)
{
    if (!path)
        return;
    const char *name = overrides_find(&runner->arena, path);
    if (overrides_early(path))
        runner_fail(runner, JOB_CHEATED, "the kernel has functions that run when it is loaded");
    if (name)
        runner_fail(runner, JOB_CHEATED,
                    arena_printf(&runner->arena, "the kernel defines %s, a function of the machine", name));
}

void runner_open_objects(struct runner *runner)
{
    open_object(&runner->kernel, runner->job.kernel_so);
    open_object(&runner->cube, runner->job.cube_so);
    runner->task_type_count = task_types_read(&runner->arena, runner->job.kernel_so, &runner->task_types);
    refuse_overrides(runner, runner->job.kernel_so);
    refuse_overrides(runner, runner->job.cube_so);
}

void runner_shut_the_door(struct runner *runner)
{
    runner->guard = (struct guard){.result_fd = runner->result_fd,
                                   .stream_fd = runner->log ? fileno(runner->log) : -1,
                                   .violated = runner_violated,
                                   .ended_from_outside = runner_ended_from_outside,
                                   .closure = runner};
    runner_prepare_evidence(runner);
    guard_install(&runner->guard);
}
