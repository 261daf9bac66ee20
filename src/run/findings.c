/* What the machine saw, with the author's lines in place of addresses. */
#include "run/runner.h"
#include "run/symbolize.h"

void runner_place(struct runner *runner, uint64_t pc, const char **file, int *line)
{
    struct loaded *loaded = &runner->kernel;
    if (runner->cube.entry && pc > runner->cube.base && (runner->cube.base > loaded->base || pc <= loaded->base))
        loaded = &runner->cube;
    *file = NULL;
    *line = 0;
    if (pc <= loaded->base)
        return;
    if (!loaded->symbolizer)
        loaded->symbolizer = symbolizer_open(loaded->fd);
    /* A return address: the call is the instruction before it. */
    if (!symbolizer_place(loaded->symbolizer, pc - loaded->base - 1, runner->job.headers, file, line))
        *file = NULL;
}

static void add_findings(struct runner *runner)
{
    struct job_result *result = &runner->result;
    const struct npu_finding *found = npu_findings(runner->npu, &result->finding_count);
    result->findings = arena_alloc(&runner->arena, (result->finding_count + 1) * sizeof *result->findings);
    for (size_t i = 0; i < result->finding_count; i++) {
        struct job_finding *finding = &result->findings[i];
        *finding = (struct job_finding){.fault = found[i].fault,
                                        .kind = found[i].kind,
                                        .message = found[i].message,
                                        .api = found[i].api,
                                        .operand = found[i].operand,
                                        .pipe = npu_pipe_name(found[i].pipe),
                                        .fatal = found[i].fatal,
                                        .core = found[i].core,
                                        .aic = found[i].aic,
                                        .count = found[i].count};
        runner_place(runner, found[i].pc, &finding->file, &finding->line);
        runner_place(runner, found[i].pc_other, &finding->file_other, &finding->line_other);
    }
}

static void add_racing(struct runner *runner)
{
    struct job_result *result = &runner->result;
    const struct npu_racing_read *racing = npu_racing_reads(runner->npu, &result->racing_count);
    result->racing = arena_copy(&runner->arena, racing, result->racing_count * sizeof *racing);
}

static void add_undefined(struct runner *runner)
{
    const struct job *job = &runner->job;
    struct job_result *result = &runner->result;
    size_t count = 0;
    for (int i = 0; i < job->output_count; i++)
        count += (size_t)job->outputs[i].count;
    result->undefined = arena_alloc(&runner->arena, (count + 1) * sizeof *result->undefined);
    result->undefined_first = arena_alloc(&runner->arena, (count + 1) * sizeof *result->undefined_first);
    for (int i = 0; i < job->output_count; i++)
        for (int t = 0; t < job->outputs[i].count; t++) {
            const struct job_tensor *tensor = &job->outputs[i].tensors[t];
            size_t first = 0;
            int at = result->undefined_count++;
            if (tensor->bytes)
                result->undefined[at] = npu_gm_undefined(runner->npu, runner->gm + tensor->offset, &first);
            result->undefined_first[at] = first;
        }
}

void runner_report(struct runner *runner)
{
    runner->result.stats = npu_stats(runner->npu);
    add_findings(runner);
    add_racing(runner);
    add_undefined(runner);
}
