/* The launch: the machine is made, its GM filled in, the kernel run. */
#include "abi/npu_hooks.h"
#include "jail/inside/kernel/runner.h"
#include "jail/inside/steady.h"

/* GetLibApiWorkSpaceSize() of an Ascend 910B: 16 MiB before the user's part of the workspace. */
enum { RESERVED_WORKSPACE = 16 << 20 };

/* "AIV 3   MTE2  DataCopy  dst UB+0x0  src0 x+0x800  512 float32  @1+2a4"; the reader puts the source's line for the
 * address (JOB_LOG_PLACE). */
static void log_line(void *closure, const struct npu_log_line *line)
{
    struct runner *runner = closure;
    const struct job_place place = runner_place(runner, line->pc);
    fprintf(runner->log, "%s %-3d %-4s %-16s%s", line->aic ? "AIC" : "AIV", line->core, line->pipe, line->api,
            line->text);
    fprintf(runner->log, JOB_LOG_PLACE, (int)place.object, (unsigned long long)place.address);
}

/* The reader makes a trace of it (sandbox/trace.c). What there is no room for is left out. */
static void write_slice(void *closure, const struct npu_timeline_slice *slice)
{
    struct runner *runner = closure;
    if (runner->slice_bytes > JOB_SLICES_LIMIT)
        return;
    const struct job_place place = runner_place(runner, slice->pc);
    runner->slice_bytes +=
        fprintf(runner->slices, JOB_SLICE_FORMAT "\t%s\t%s\n", slice->core, slice->aic, slice->lane, slice->start,
                slice->end, (unsigned long long)slice->bytes, slice->elements, (long long)slice->flow,
                (int)place.object, (unsigned long long)place.address, slice->name, slice->of ? slice->of : "");
}

/* What the object says of itself: where its variables lie, what is in its blocks, which functions may be called
 * (abi/npu_hooks.h). */
static void describe_object(struct runner *runner, const struct loaded *loaded, bool aic)
{
    static const struct {
        enum loaded_part part;
        bool write;
    } own[] = {{LOADED_CONST, false}, {LOADED_ADDRESSES, false}, {LOADED_BLOCK, true}};
    const struct loaded_section *parts = loaded->parts;
    if (!loaded->entry)
        return;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (parts[own[i].part].bytes)
            npu_own_memory(runner->npu, (void *)(loaded->base + parts[own[i].part].address), parts[own[i].part].bytes,
                           own[i].write);
    if (parts[LOADED_BLOCKS].bytes)
        npu_blocks(runner->npu, aic, (const void *)(loaded->base + parts[LOADED_BLOCKS].address),
                   parts[LOADED_BLOCKS].bytes / sizeof(struct npu_block_mix));
    if (aic && parts[LOADED_CALLBACKS].bytes)
        npu_callbacks(runner->npu, (const void *)(loaded->base + parts[LOADED_CALLBACKS].address),
                      parts[LOADED_CALLBACKS].bytes / sizeof(struct npu_callback));
}

/* Variables in GM that the kernel's source defines (`__gm__` at namespace scope), and those of which each core has its
 * own. */
static void add_variables(struct runner *runner, const struct loaded *loaded)
{
    const struct loaded_section *gm = &loaded->parts[LOADED_GM], *own = &loaded->parts[LOADED_BLOCK];
    if (!loaded->entry)
        return;
    if (gm->bytes)
        npu_gm_add(runner->npu, "variables in GM", (void *)(loaded->base + gm->address), gm->bytes, NPU_GM_INOUT, true);
    if (own->bytes)
        npu_own_variables(runner->npu, (void *)(loaded->base + own->address), own->bytes);
}

void runner_launch(struct runner *runner, const struct npu_soc *soc, enum npu_kernel_type type)
{
    const struct npu_config config = {.soc = soc,
                                      .sync = runner->job.sync,
                                      .random_order = runner->job.random_order,
                                      .steps = runner->job.steps,
                                      .weigh = runner->job.weigh,
                                      .racing = runner->job.racing,
                                      .racing_count = runner->job.racing_count,
                                      .seed = runner->job.seed,
                                      .poison = runner->job.poison,
                                      .tiling_key = runner->job.tiling.key,
                                      .kernel_type = type,
                                      .aic_kernel = runner->cube.entry,
                                      .reserved_workspace = RESERVED_WORKSPACE,
                                      .log = runner->log ? log_line : NULL,
                                      .log_closure = runner,
                                      .timing = runner->job.timing,
                                      .filled = runner->job.filled,
                                      .slice = runner->slices ? write_slice : NULL,
                                      .slice_closure = runner};
    runner->npu = npu_create(&config);
    runner_bind_arguments(runner);
    add_variables(runner, &runner->kernel);
    add_variables(runner, &runner->cube);
    describe_object(runner, &runner->kernel, false);
    describe_object(runner, &runner->cube, true);
    npu_confine(runner->npu);
    runner_set_stage(runner, JOB_KERNEL);
    double start = steady_seconds();
    npu_launch(runner->npu, runner->kernel.entry, runner->args, runner->arg_count, runner->job.tiling.block_dim);
    runner->result.run_seconds = steady_seconds() - start;
    runner_set_stage(runner, JOB_REPORT);
    runner_report(runner);
}
