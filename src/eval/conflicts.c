/* Conflicts between accesses that nothing orders, found in a run of a case: those that cannot change a result are notes.
 * Which do costs another run to know (npu/order/weigh.h), so it is asked only where they alone decide. */
#include "eval/case_internal.h"
#include "npu/fault.h"

#include <string.h>

/* How much longer than a run another one may take that weighs its conflicts: our time, not the candidate's. */
enum { WEIGHING_TAKES = 10 };

static bool is_conflict(const struct job_finding *finding)
{
    const struct npu_fault *const faults[] = {FAULT(hazard_raw), FAULT(hazard_war), FAULT(hazard_waw)};
    bool found = false;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        found |= strcmp(finding->fault, faults[i]->name) == 0;
    return found;
}

static bool conflicts_decide(const struct job_result *run)
{
    for (size_t i = 0; i < run->finding_count; i++)
        if (run->findings[i].fatal && !is_conflict(&run->findings[i]))
            return false;
    return run->status == JOB_OK && run->fault;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* True if the other run has the same conflict, and it is a note there wherever it occurs. */
static bool is_note_in(const struct job_result *run, const struct job_finding *conflict)
{
    bool found = false;
    for (size_t i = 0; i < run->finding_count; i++) {
        const struct job_finding *other = &run->findings[i];
        if (strcmp(other->fault, conflict->fault) != 0 || !same_text(other->file, conflict->file) ||
            !same_text(other->file_other, conflict->file_other) || other->line != conflict->line ||
            other->line_other != conflict->line_other)
            continue;
        if (other->fatal)
            return false;
        found = true;
    }
    return found;
}

void conflicts_adopt(struct arena *arena, const struct job_result *judged, struct job_result *run)
{
    run->fault = false;
    for (size_t i = 0; i < run->finding_count; i++) {
        struct job_finding *finding = &run->findings[i];
        if (finding->fatal && is_conflict(finding) && is_note_in(judged, finding)) {
            finding->fatal = false;
            finding->message =
                arena_printf(arena, "%s (the result is the same whichever comes first)", finding->message);
        }
        run->fault |= finding->fatal;
    }
}

/* A run that weighs its conflicts; `before`: what an earlier one has found. */
static void run_weighing(struct arena *arena, struct bound_case *bound, const struct job *job,
                         const struct job_result *before, struct job_result *judged)
{
    struct job weighing = *job;
    weighing.random_order = false;
    weighing.weigh = true;
    weighing.racing = before ? before->racing : NULL;
    weighing.racing_count = before ? before->racing_count : 0;
    job_be_silent(&weighing);
    weighing.seconds *= WEIGHING_TAKES;
    gm_memory_run(arena, bound, &weighing, judged);
}

/* The faults that are left are those of which another run can tell more. */
static bool only_late_reads(const struct job_result *run)
{
    for (size_t i = 0; i < run->finding_count; i++)
        if (run->findings[i].fatal && strcmp(run->findings[i].fault, FAULT(hazard_war)->name) != 0)
            return false;
    return run->status == JOB_OK && run->fault;
}

/* A further run that failed for a reason of ours leaves the question open that it was asked. */
static void take_failure(const struct job_result *further, struct job_result *run)
{
    if (further->status != JOB_BROKEN)
        return;
    run->status = JOB_BROKEN;
    run->error = further->error;
}

void conflicts_weigh(struct arena *arena, struct bound_case *bound, const struct job *job, struct job_result *run)
{
    if (bound->candidate->options->strict_order || job->debugger || !conflicts_decide(run))
        return;
    struct job_result first = {0}, second = {0}, *judged = &first;
    run_weighing(arena, bound, job, NULL, &first);
    if (first.racing_count && only_late_reads(&first)) {
        run_weighing(arena, bound, job, &first, &second);
        judged = second.status == JOB_OK ? &second : judged;
    }
    if (judged->status == JOB_OK)
        conflicts_adopt(arena, judged, run);
    take_failure(&first, run);
    take_failure(&second, run);
    job_result_free(&first);
    job_result_free(&second);
    if (run->status != JOB_OK || run->fault || !job->random_order)
        return;
    struct job again = *job; /* the outputs are those of the order that was asked for */
    struct job_result same = {0};
    job_be_silent(&again);
    gm_memory_run(arena, bound, &again, &same);
    take_failure(&same, run);
    job_result_free(&same);
}
