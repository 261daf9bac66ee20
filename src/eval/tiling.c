/* The tiling of a case. It depends on shapes, attributes and what the task passes on the host, not on addresses, orders or
 * other inputs, and a host part sees nothing that differs from one process to the next: so one call answers for every
 * run of the case that would ask the same. Calls that differ each have a process of their own. */
#include "eval/case_internal.h"
#include "jail/wire.h"

#include <string.h>

struct tiling_answer {
    struct tiling_answer *before;
    const void *question; /* the job as a message */
    size_t length;
    struct host_result result;
};

/* The tensors as the host sees them: values only where the caller has them there. */
static struct op_argument *host_arguments(struct arena *arena, const struct job_argument *arguments, int count)
{
    struct op_argument *list = arena_alloc(arena, ((size_t)count + 1) * sizeof *list);
    for (int i = 0; i < count; i++) {
        list[i].count = arguments[i].count;
        list[i].tensors = arena_alloc(arena, ((size_t)arguments[i].count + 1) * sizeof *list[i].tensors);
        for (int t = 0; t < arguments[i].count; t++) {
            list[i].tensors[t] = arguments[i].tensors[t].shape;
            if (!arguments[i].host_values)
                list[i].tensors[t].values = NULL;
        }
    }
    return list;
}

const struct host_result *tiling_ask(struct arena *arena, const struct bound_case *bound)
{
    const struct eval_candidate *candidate = bound->candidate;
    const struct eval_options *options = candidate->options;
    const struct task *task = bound->instance->task;
    const struct op_def *def = &candidate->build->def;
    const struct host_job job = {.host_so = candidate->build->host_so,
                                 .op_type = task->op_type,
                                 .soc = options->soc->name,
                                 .tile = true,
                                 .inputs = host_arguments(arena, bound->inputs, task->input_count),
                                 .outputs = host_arguments(arena, bound->outputs, def->output_count),
                                 .input_count = task->input_count,
                                 .output_count = def->output_count,
                                 .attrs = bound->attrs,
                                 .attr_count = def->attr_count,
                                 .seconds = options->case_seconds > 0 ? options->case_seconds : CASE_SECONDS,
                                 .budget = candidate->budget};
    size_t length;
    const void *question = wire_encode(arena, WIRE_HOST_JOB, &job, &length);
    for (struct tiling_answer *answer = bound->tilings->newest; answer; answer = answer->before)
        if (answer->length == length && memcmp(answer->question, question, length) == 0)
            return &answer->result;
    struct tiling_answer *answer = arena_alloc(arena, sizeof *answer);
    *answer = (struct tiling_answer){.before = bound->tilings->newest, .question = question, .length = length};
    host_run(arena, &job, &answer->result);
    bound->tilings->newest = answer;
    return &answer->result;
}
