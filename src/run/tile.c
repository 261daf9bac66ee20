/* The tiling function, called with the shapes and attributes of the case. */
#include "run/runner.h"
#include "run/steady.h"

#include <string.h>
#include <sys/mman.h>

/* What tiling may read it gets as a copy. */
static void *copy_values(struct runner *runner, const struct job_tensor *tensor)
{
    void *values = arena_alloc(&runner->arena, tensor->bytes);
    memcpy(values, runner->gm + tensor->offset, tensor->bytes);
    return values;
}

static struct op_argument *call_arguments(struct runner *runner, const struct job_argument *arguments, int count)
{
    struct op_argument *list = arena_alloc(&runner->arena, ((size_t)count + 1) * sizeof *list);
    for (int i = 0; i < count; i++) {
        list[i].count = arguments[i].count;
        list[i].tensors = arena_alloc(&runner->arena, ((size_t)arguments[i].count + 1) * sizeof *list[i].tensors);
        for (int t = 0; t < arguments[i].count; t++) {
            const struct job_tensor *tensor = &arguments[i].tensors[t];
            list[i].tensors[t] = tensor->shape;
            if (tensor->offset > runner->job.gm_bytes || tensor->bytes > runner->job.gm_bytes - tensor->offset)
                runner_fail(runner, JOB_BROKEN, "a tensor lies outside the shared memory");
            if (arguments[i].host_values && tensor->bytes)
                list[i].tensors[t].values = copy_values(runner, tensor);
        }
    }
    return list;
}

static void end_unsupported(void *runner, const char *function)
{
    runner_fail(runner, JOB_UNSUPPORTED, function);
}

void runner_tile(struct runner *runner, const struct npu_soc *soc)
{
    const struct job *job = &runner->job;
    runner_set_stage(runner, JOB_TILING);
    runner_protect_gm(runner, PROT_READ);
    const struct op_call call = {.soc = soc,
                                 .inputs = call_arguments(runner, job->inputs, job->input_count),
                                 .outputs = call_arguments(runner, job->outputs, job->output_count),
                                 .attrs = job->attrs,
                                 .input_count = job->input_count,
                                 .output_count = job->output_count,
                                 .attr_count = job->attr_count};
    runner_protect_gm(runner, PROT_NONE);
    op_on_never_run(end_unsupported, runner);
    steady_stack();
    struct akgen_error *error = op_tile(&runner->def, &call, &runner->tiling);
    if (error)
        runner_fail_error(runner, JOB_TILING_FAILED, error);
    runner->result.block_dim = runner->tiling.block_dim;
    runner->result.tiling_key = runner->tiling.key;
    runner->result.workspace = runner->tiling.workspace;
    runner->result.tiling_bytes = runner->tiling.size;
    runner->result.tiling =
        op_tiling_decode(&runner->def, runner->tiling.key, runner->tiling.bytes, runner->tiling.size);
}
