/* The kernel's arguments, and what the machine is told about the memory behind them. */
#include "jail/inside/kernel/runner.h"

#include <string.h>
#include <sys/mman.h>

uint8_t *runner_allocate(struct runner *runner, uint64_t bytes)
{
    uint8_t *at = npu_area_map(NPU_AREA_BLOCKS, &runner->next_block, bytes ? bytes : 1, -1);
    if (at == MAP_FAILED)
        runner_fail(
            runner, JOB_TILING_FAILED,
            arena_printf(&runner->arena, "no memory for %llu bytes of workspace or tiling", (unsigned long long)bytes));
    return at;
}

static void add_argument(struct runner *runner, uint64_t value)
{
    if (runner->arg_count == NPU_MAX_ARGS)
        runner_fail(runner, JOB_BROKEN, "more kernel arguments than the machine takes");
    runner->args[runner->arg_count++] = value;
}

/* The block of memory that stands for a dynamic parameter (ListTensorDesc.md in the Ascend C documentation): a byte
 * offset to the addresses; for each tensor its rank (low half) and index (high half) and then its dimensions; the
 * addresses. */
static uint64_t *address_table(struct runner *runner, const struct job_argument *argument, const char *name)
{
    uint64_t words = 1;
    for (int t = 0; t < argument->count; t++)
        words += 1 + (uint64_t)(argument->tensors[t].shape.rank > 0 ? argument->tensors[t].shape.rank : 0);
    uint64_t bytes = (words + (uint64_t)argument->count) * sizeof(uint64_t), at = 1;
    uint64_t *table = (uint64_t *)runner_allocate(runner, bytes);
    table[0] = words * sizeof(uint64_t);
    for (int t = 0; t < argument->count; t++) {
        const struct op_tensor *shape = &argument->tensors[t].shape;
        uint32_t rank = shape->rank > 0 ? (uint32_t)shape->rank : 0;
        table[at++] = (uint64_t)t << 32 | rank;
        for (uint32_t d = 0; d < rank; d++)
            table[at++] = (uint64_t)shape->dims[d];
        table[words + (uint64_t)t] = (uint64_t)(runner->gm + argument->tensors[t].offset);
    }
    npu_gm_add(runner->npu, name, table, bytes, NPU_GM_ADDRESSES, true);
    return table;
}

/* What of a tensor's block of GM lies behind the tensor, if blocks are multiples of `unit`. */
static uint64_t padding_of(uint64_t bytes, uint64_t unit)
{
    return (bytes + 32 + unit - 1) / unit * unit - bytes;
}

/* Reads behind a tensor do no harm in the block that the allocator makes; what they bring is tracked as undefined. A
 * write there would be lost without a trace, so it is held to what CANN promises. */
static void add_padding(const struct runner *runner, uint8_t *base, uint64_t bytes)
{
    enum { PROMISED = 32 };
    uint64_t unit = runner->job.gm_unit ? runner->job.gm_unit : PROMISED, readable = padding_of(bytes, unit);
    npu_gm_padding(runner->npu, base, readable, padding_of(bytes, PROMISED));
    /* Whether it decides about anything is tried with it as with UB (npu_config.poison). */
    for (uint64_t i = 0; runner->job.poison && i < readable; i++)
        base[bytes + i] = (uint8_t)(runner->job.poison >> (bytes + i) % 8 * 8);
}

static bool lies_outside(const struct runner *runner, const struct job_tensor *tensor)
{
    return tensor->offset > runner->job.gm_bytes || tensor->bytes > runner->job.gm_bytes - tensor->offset;
}

static void add_tensors(struct runner *runner, const struct job_argument *argument, const char *name,
                        enum npu_gm_kind kind)
{
    for (int t = 0; t < argument->count; t++) {
        const struct job_tensor *tensor = &argument->tensors[t];
        const char *label = argument->list ? arena_printf(&runner->arena, "%s[%d]", name, t) : name;
        if (!tensor->bytes)
            continue;
        if (lies_outside(runner, tensor))
            runner_fail(runner, JOB_BROKEN, "a tensor lies outside the shared memory");
        uint8_t *base = runner->gm + tensor->offset;
        npu_gm_add(runner->npu, label, base, tensor->bytes, kind, kind != NPU_GM_OUTPUT || tensor->defined);
        add_padding(runner, base, tensor->bytes);
    }
}

static void bind_argument(struct runner *runner, const struct job_argument *argument, const char *name)
{
    if (!argument->count)
        add_argument(runner, 0);
    else if (argument->list)
        add_argument(runner, (uint64_t)address_table(runner, argument, name));
    else
        add_argument(runner, (uint64_t)(runner->gm + argument->tensors[0].offset));
}

/* Where an OpDef has an output whose shape is known only after the run (OutputShapeDependOnCompute), the kernel gets an
 * address for the shapes: 64-bit words, the rank and the sizes. */
static void bind_shapes(struct runner *runner)
{
    enum { WORDS = 9 }; /* the rank and up to 8 sizes, per output */
    int outputs = 0;
    for (int i = 0; i < runner->job.output_count; i++)
        outputs += runner->job.outputs[i].shape_depends;
    if (!outputs)
        return;
    uint64_t bytes = (uint64_t)runner->job.output_count * WORDS * sizeof(uint64_t);
    uint8_t *shapes = runner_allocate(runner, bytes);
    npu_gm_add(runner->npu, "shapes of outputs", shapes, bytes, NPU_GM_INOUT, true);
    add_argument(runner, (uint64_t)shapes);
}

/* Inputs, outputs, shapes of outputs, workspace, tiling: the order of a kernel's parameters. */
void runner_bind_arguments(struct runner *runner)
{
    const struct job *job = &runner->job;
    for (int i = 0; i < job->input_count; i++) {
        const char *name = job->inputs[i].name;
        add_tensors(runner, &job->inputs[i], name, job->inputs[i].written ? NPU_GM_INOUT : NPU_GM_INPUT);
        bind_argument(runner, &job->inputs[i], name);
    }
    for (int i = 0; i < job->output_count; i++) {
        const char *name = job->outputs[i].name;
        if (job->outputs[i].alias < 0)
            add_tensors(runner, &job->outputs[i], name, NPU_GM_OUTPUT);
        bind_argument(runner, &job->outputs[i], name);
    }
    uint64_t low, device;
    npu_area_device(&low, &device);
    npu_gm_span(runner->npu, (const void *)low, device); // NOLINT: a number until a kernel follows it
    bind_shapes(runner);
    uint8_t *workspace = runner_allocate(runner, runner->job.tiling.workspace);
    if (runner->job.tiling.workspace)
        npu_gm_add(runner->npu, "workspace", workspace, runner->job.tiling.workspace, NPU_GM_WORKSPACE, false);
    add_argument(runner, (uint64_t)workspace);
    uint8_t *tiling = runner_allocate(runner, runner->job.tiling.size);
    if (runner->job.tiling.size) {
        memcpy(tiling, runner->job.tiling.bytes, runner->job.tiling.size);
        npu_gm_add(runner->npu, "tiling", tiling, runner->job.tiling.size, NPU_GM_TILING, true);
    }
    add_argument(runner, (uint64_t)tiling);
}
