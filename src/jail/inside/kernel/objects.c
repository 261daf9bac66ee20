/* Loading the objects of the candidate's kernel: before the process is closed, when nothing of them runs. */
#include "base/elf.h"
#include "jail/inside/kernel/runner.h"
#include "jail/inside/steady.h"

#include <dlfcn.h>

static void load(struct runner *runner, const char *path, struct loaded *loaded)
{
    struct object_loaded *object = &loaded->object;
    const char *problem;
    bool broken = false;
    if (runner->job.debugged) {
        problem = load_for_debugger(&runner->arena, path, object);
    } else {
        problem = load_prepare(&runner->arena, path, object, &broken);
        if (problem && broken)
            runner_fail(runner, JOB_BROKEN, arena_printf(&runner->arena, "akgen-run: %s", problem));
        runner_set_stage(runner, JOB_LOAD);
        if (!problem)
            problem = load_object(&runner->arena, object);
    }
    if (problem)
        runner_fail(runner, JOB_LOAD_FAILED, problem);
    loaded->base = object->base;
    loaded->entry = dlsym(object->handle, runner->job.entry);
    if (!loaded->entry)
        runner_fail(runner, JOB_LOAD_FAILED, arena_strdup(&runner->arena, elf_load_error(path)));
}

enum npu_kernel_type runner_load_kernel(struct runner *runner)
{
    enum npu_kernel_type type =
        npu_kernel_type_choose(runner->task_types, runner->task_type_count, runner->job.tiling.key);
    if (type == NPU_TYPE_INFERRED)
        type = (enum npu_kernel_type)runner->job.inferred_type;
    int aic, aiv;
    npu_kernel_type_cores(type, &aic, &aiv);
    if (aiv)
        load(runner, runner->job.kernel_so, &runner->kernel);
    if (aic && !runner->job.cube_so)
        runner_fail(runner, JOB_BROKEN, "the kernel starts AICs and was not compiled for them");
    if (aic)
        load(runner, runner->job.cube_so, &runner->cube);
    return type;
}

void runner_initialise(struct runner *runner)
{
    steady_stack();
    if (runner->kernel.entry)
        load_initialise(&runner->kernel.object);
    if (runner->cube.entry)
        load_initialise(&runner->cube.object);
}
