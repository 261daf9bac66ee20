/* The launch: the machine is made, its GM filled in, the kernel run. */
#include "base/elf.h"
#include "run/runner.h"
#include "run/steady.h"

#include <sys/mman.h>

/* GetLibApiWorkSpaceSize() of an Ascend 910B: 16 MiB before the user's part of the workspace. */
enum { RESERVED_WORKSPACE = 16 << 20 };

/* "AIV 3   MTE2  DataCopy  dst UB+0x0  src0 x+0x800  512 float32  op_kernel/add.cpp:42" */
static void log_line(void *closure, const struct npu_log_line *line)
{
    struct runner *runner = closure;
    const char *file;
    int number;
    runner_place(runner, line->pc, &file, &number);
    fprintf(runner->log, "%s %-3d %-4s %-16s%s", line->aic ? "AIC" : "AIV", line->core, line->pipe, line->api,
            line->text);
    if (file)
        fprintf(runner->log, "  %s:%d", file, number);
    fputc('\n', runner->log);
}

/* What the object says of itself: where its variables lie, what is in its blocks, which functions may be called
 * (abi/npu_hooks.h). */
static void describe_object(struct runner *runner, const struct loaded *loaded, bool aic)
{
    static const struct {
        const char *section;
        bool write;
    } own[] = {{NPU_SECTION_DATA, true},
               {NPU_SECTION_CONST, false},
               {NPU_SECTION_ADDRESSES, false},
               {NPU_SECTION_BLOCK, true}};
    struct elf_file *file = loaded->entry ? elf_file_open_descriptor(loaded->fd) : NULL;
    struct elf_section section;
    for (size_t i = 0; file && i < sizeof own / sizeof *own; i++)
        if (elf_section_find(file, own[i].section, &section))
            npu_own_memory(runner->npu, (void *)(loaded->base + section.address), section.bytes, own[i].write);
    if (file && elf_section_find(file, NPU_SECTION_BLOCKS, &section))
        npu_blocks(runner->npu, aic, (const void *)(loaded->base + section.address),
                   section.bytes / sizeof(struct npu_block_mix));
    if (file && aic && elf_section_find(file, NPU_SECTION_CALLBACKS, &section))
        npu_callbacks(runner->npu, (const void *)(loaded->base + section.address),
                      section.bytes / sizeof(struct npu_callback));
    elf_file_close(file);
}

/* Variables in GM that the kernel's source defines (`__gm__` at namespace scope), and those of which each core has its
 * own (__BLOCK_LOCAL__). */
static void add_variables(struct runner *runner, const struct loaded *loaded)
{
    struct elf_file *file = loaded->entry ? elf_file_open_descriptor(loaded->fd) : NULL;
    struct elf_section section;
    if (file && elf_section_find(file, NPU_SECTION_GM, &section))
        npu_gm_add(runner->npu, "variables in GM", (void *)(loaded->base + section.address), section.bytes,
                   NPU_GM_INOUT, true);
    if (file && elf_section_find(file, NPU_SECTION_BLOCK, &section))
        npu_own_variables(runner->npu, (void *)(loaded->base + section.address), section.bytes);
    elf_file_close(file);
}

void runner_launch(struct runner *runner, const struct npu_soc *soc, enum npu_kernel_type type)
{
    const struct npu_config config = {.soc = soc,
                                      .sync = runner->job.sync,
                                      .random_order = runner->job.random_order,
                                      .weigh = runner->job.weigh,
                                      .racing = runner->job.racing,
                                      .racing_count = runner->job.racing_count,
                                      .seed = runner->job.seed,
                                      .poison = runner->job.poison,
                                      .tiling_key = runner->tiling.key,
                                      .kernel_type = type,
                                      .aic_kernel = runner->cube.entry,
                                      .reserved_workspace = RESERVED_WORKSPACE,
                                      .log = runner->log ? log_line : NULL,
                                      .log_closure = runner};
    runner_protect_gm(runner, PROT_READ | PROT_WRITE);
    guard_open_fence();
    runner->npu = npu_create(&config);
    runner_bind_arguments(runner);
    add_variables(runner, &runner->kernel);
    add_variables(runner, &runner->cube);
    describe_object(runner, &runner->kernel, false);
    describe_object(runner, &runner->cube, true);
    npu_confine(runner->npu);
    runner_set_stage(runner, JOB_KERNEL);
    double start = steady_seconds();
    npu_launch(runner->npu, runner->kernel.entry, runner->args, runner->arg_count, runner->tiling.block_dim);
    runner->result.run_seconds = steady_seconds() - start;
    runner_set_stage(runner, JOB_REPORT);
    runner_report(runner);
}
