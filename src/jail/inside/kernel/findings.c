/* What the machine saw, with places in the kernel's objects for addresses. */
#include "jail/inside/kernel/runner.h"

struct job_place runner_place(const struct runner *runner, uint64_t pc)
{
    const struct loaded *loaded = &runner->kernel;
    enum job_object object = JOB_VECTOR;
    if (runner->cube.entry && pc > runner->cube.base && (runner->cube.base > loaded->base || pc <= loaded->base)) {
        loaded = &runner->cube;
        object = JOB_CUBE;
    }
    if (pc <= loaded->base)
        return (struct job_place){.object = JOB_NOWHERE};
    return (struct job_place){object, pc - loaded->base};
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
                                        .count = found[i].count,
                                        .place = runner_place(runner, found[i].pc),
                                        .place_other = runner_place(runner, found[i].pc_other)};
    }
}

static void add_endless(struct runner *runner)
{
    struct job_result *result = &runner->result;
    const struct npu_endless *endless = npu_endless(runner->npu, &result->endless_count);
    result->endless = arena_alloc(&runner->arena, (result->endless_count + 1) * sizeof *result->endless);
    for (size_t i = 0; i < result->endless_count; i++)
        result->endless[i] = (struct job_endless){.rounds = endless[i].rounds,
                                                  .core = endless[i].core,
                                                  .cores = endless[i].cores,
                                                  .aic = endless[i].aic,
                                                  .place = runner_place(runner, endless[i].pc)};
    if (result->endless_count)
        result->status = JOB_TIMEOUT;
}

static void add_timing(struct runner *runner)
{
    struct job_timing *timing = &runner->result.timing;
    timing->model = npu_timing(runner->npu);
    timing->place = runner_place(runner, timing->model.slowest_pc);
    timing->model.slowest_pc = 0;
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
    add_timing(runner);
    add_findings(runner);
    add_endless(runner);
    add_racing(runner);
    add_undefined(runner);
}
