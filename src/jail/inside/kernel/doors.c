/* The last things before the candidate's first instruction: its kernel's files are looked through and closed, and the guard
 * is set up. */
#include "abi/npu_hooks.h"
#include "base/elf.h"
#include "jail/inside/jailed.h"
#include "jail/inside/kernel/overrides.h"
#include "jail/inside/kernel/runner.h"
#include "npu/task_types.h"

/* An object that cannot be opened is no candidate's doing: our linker wrote it. */
static void read_sections(struct runner *runner, struct loaded *loaded, const char *path)
{
    static const char *const names[LOADED_PARTS] = {
        [LOADED_GM] = NPU_SECTION_GM,         [LOADED_BLOCK] = NPU_SECTION_BLOCK,
        [LOADED_CONST] = NPU_SECTION_CONST,   [LOADED_ADDRESSES] = NPU_SECTION_ADDRESSES,
        [LOADED_BLOCKS] = NPU_SECTION_BLOCKS, [LOADED_CALLBACKS] = NPU_SECTION_CALLBACKS,
    };
    struct elf_file *file = path ? elf_file_open(path) : NULL;
    struct elf_section section;
    if (path && !file)
        runner_fail(runner, JOB_BROKEN, "akgen-run: an object of the candidate cannot be read");
    for (int i = 0; file && i < LOADED_PARTS; i++)
        if (elf_section_find(file, names[i], &section))
            loaded->parts[i] = (struct loaded_section){section.address, section.bytes};
    elf_file_close(file);
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

void runner_read_objects(struct runner *runner)
{
    read_sections(runner, &runner->kernel, runner->job.kernel_so);
    read_sections(runner, &runner->cube, runner->job.cube_so);
    runner->task_type_count = task_types_read(&runner->arena, runner->job.kernel_so, &runner->task_types);
    refuse_overrides(runner, runner->job.kernel_so);
    refuse_overrides(runner, runner->job.cube_so);
}

void runner_shut_the_door(struct runner *runner)
{
    runner->guard = (struct guard){.result_fd = runner->result_fd,
                                   .stream_fd = runner->log      ? fileno(runner->log)
                                                : runner->slices ? fileno(runner->slices)
                                                                 : -1,
                                   .violated = runner_violated,
                                   .ended_from_outside = runner_ended_from_outside,
                                   .closure = runner};
    runner_prepare_evidence(runner);
    jailed_close_all_but(runner->guard.result_fd, runner->guard.stream_fd);
    guard_install(&runner->guard);
}
