/* Giant cases. A smaller case stands in for one (task/giant.c), and where the candidate is right there that is taken for
 * the answer. Where it is not, the published case has not been tried yet: an operator need not take every shape, and its
 * author has seen the published ones only. So it runs at its full size, and that counts. */
#include "eval/case_internal.h"
#include "eval/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the smaller case's verdict one that the published case may not deserve? A cheat is one at any size. What takes too
 * long when it is small takes longer when it is not. */
static bool may_depend_on_size(const struct verdict_case *row)
{
    return row->reduced && !row->hidden && (row->kind == AKGEN_VERDICT_FAULT || row->kind == AKGEN_VERDICT_WRONG);
}

/* What a case takes: each tensor as it was made, in GM, and the states of its bytes; each output as float64 and what it
 * is made of. */
static uint64_t memory_needed(const struct task *task, const struct task_case *task_case)
{
    enum { COPIES = 3, PER_OUTPUT = 3 * sizeof(double) };
    struct task_instance *shapes;
    uint64_t inputs = 0, outputs = 0, bytes;
    struct akgen_error *error = task_instance_shapes(task, task_case, &shapes);
    if (error) { /* the case itself will report it */
        error_free(error);
        return 0;
    }
    bytes = eval_tensor_bytes(shapes->inputs, task->input_count, &inputs) +
            eval_tensor_bytes(shapes->outputs, task->output_count, &outputs);
    task_instance_free(shapes);
    return bytes * COPIES + outputs * PER_OUTPUT;
}

/* MemAvailable of proc(5); UINT64_MAX if nobody says. */
static uint64_t memory_available(void)
{
    static const char name[] = "MemAvailable:";
    char text[4096];
    FILE *file = fopen("/proc/meminfo", "re");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    const char *line = strstr(text, name);
    uint64_t bytes = line ? 1024 * strtoull(line + sizeof name - 1, NULL, 10) : UINT64_MAX;
    return bytes;
}

/* Waits for the memory while others run, which may have touched theirs or not. False: they have all ended, and there is
 * too little. */
static bool enter(struct giants *giants, uint64_t needed, uint64_t *available)
{
    pthread_mutex_lock(&giants->lock);
    while ((*available = memory_available()) < giants->bytes + needed && giants->running)
        pthread_cond_wait(&giants->one_ended, &giants->lock);
    bool enough = needed <= *available;
    if (enough) {
        giants->running++;
        giants->bytes += needed;
    }
    pthread_mutex_unlock(&giants->lock);
    return enough;
}

/* A case of 2^24 elements takes a tenth of a second, and several where all is done by the scalar unit. */
enum { PARTS_PER_GIANT = 6 };

void eval_case(const struct eval_candidate *candidate, const struct task_case *task_case, struct arena *arena,
               struct verdict_case *row)
{
    case_run(candidate, task_case, arena, row);
    if (!may_depend_on_size(row))
        return;
    const char *stand_in =
        arena_printf(arena, "%s: %s: %s", row->shape, akgen_verdict_kind_name(row->kind), row->error ? row->error : "");
    uint64_t needed = memory_needed(candidate->task, task_case), available;
    if (enter(candidate->giants, needed, &available)) {
        job_result_free(&row->run);
        *row = (struct verdict_case){.task_case = task_case, .id = task_case->id};
        /* The case at its published size. The limit grows as the case does. */
        struct eval_options options = *candidate->options;
        struct eval_candidate full = *candidate;
        options.full = true;
        double limit = options.case_seconds > 0 ? options.case_seconds : CASE_SECONDS;
        double grown = limit / PARTS_PER_GIANT * (double)task_case->elements / TASK_GIANT;
        options.case_seconds = grown > limit ? grown : limit;
        full.options = &options;
        case_run(&full, task_case, arena, row);
        pthread_mutex_lock(&candidate->giants->lock);
        candidate->giants->running--;
        candidate->giants->bytes -= needed;
        pthread_cond_broadcast(&candidate->giants->one_ended);
        pthread_mutex_unlock(&candidate->giants->lock);
    } else {
        judge_set(row, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_RUN,
                  arena_printf(arena,
                               "the smaller case that stood in is not right, which says nothing of the published one, "
                               "and that one takes about %.1f GiB of memory, of which this machine has %.1f",
                               (double)needed / (1 << 30), (double)available / (1 << 30)));
    }
    row->stand_in = stand_in;
}
