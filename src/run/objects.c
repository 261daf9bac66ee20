/* Loading the candidate: its host part, which registers the operator while it is loaded, and the objects of its kernel. */
#include "base/elf.h"
#include "run/runner.h"
#include "run/steady.h"

#include <dlfcn.h>
#include <link.h>

void runner_load_host(struct runner *runner)
{
    /* Objects are linked without the libraries of the toolchain that makes them; what they call is put here for
     * them. */
    static const char *const libraries[] = {"libstdc++.so.6", "libgcc_s.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (!dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL))
            runner_fail(runner, JOB_BROKEN, arena_strdup(&runner->arena, dlerror()));
    runner_shut_the_door(runner);
    runner_set_stage(runner, JOB_LOAD);
    steady_stack();
    struct akgen_error *error = op_describe(&runner->arena, runner->job.host_so, runner->job.op_type,
                                            runner->job.soc ? npu_soc_find(runner->job.soc) : NULL, &runner->def);
    if (error)
        runner_fail_error(runner, JOB_LOAD_FAILED, error);
}

static void load_object(struct runner *runner, const char *path, struct loaded *loaded)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        runner_fail(runner, JOB_LOAD_FAILED, arena_strdup(&runner->arena, elf_load_error(path)));
    loaded->entry = dlsym(object, runner->job.entry);
    if (!loaded->entry)
        runner_fail(runner, JOB_LOAD_FAILED, arena_strdup(&runner->arena, elf_load_error(path)));
    struct link_map *map;
    if (!dlinfo(object, RTLD_DI_LINKMAP, &map))
        loaded->base = map->l_addr;
}

enum npu_kernel_type runner_load_kernel(struct runner *runner)
{
    runner_set_stage(runner, JOB_LOAD);
    enum npu_kernel_type type = npu_kernel_type_choose(runner->task_types, runner->task_type_count, runner->tiling.key);
    if (type == NPU_TYPE_INFERRED)
        type = (enum npu_kernel_type)runner->job.inferred_type;
    int aic, aiv;
    npu_kernel_type_cores(type, &aic, &aiv);
    if (aiv)
        load_object(runner, runner->job.kernel_so, &runner->kernel);
    if (aic && !runner->job.cube_so)
        runner_fail(runner, JOB_BROKEN, "the kernel starts AICs and was not compiled for them");
    if (aic)
        load_object(runner, runner->job.cube_so, &runner->cube);
    return type;
}
