/* What a run of a case is worth: a fault or a cheat of the kernel, or its outputs against the reference. */
#include "base/digest.h"
#include "eval/case_internal.h"

#include <math.h>
#include <string.h>

struct task_argument *judge_actual(struct arena *arena, const struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    struct task_argument *actual =
        arena_copy(arena, bound->instance->outputs, sizeof *actual * (size_t)task->output_count);
    for (int i = 0; i < task->output_count; i++) {
        actual[i].tensors = arena_copy(arena, actual[i].tensors, sizeof *actual[i].tensors * (size_t)actual[i].count);
        for (int t = 0; t < actual[i].count; t++)
            actual[i].tensors[t].values = bound->gm.base + bound->outputs[i].tensors[t].offset;
    }
    return actual;
}

/* Name of an input that the kernel changed although the operator only reads it, or NULL. */
static const char *changed_input(const struct bound_case *bound)
{
    const struct task *task = bound->instance->task;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < bound->inputs[i].count && !bound->inputs[i].written; t++)
            if (memcmp(bound->gm.base + bound->inputs[i].tensors[t].offset,
                       bound->instance->inputs[i].tensors[t].values, bound->inputs[i].tensors[t].bytes) != 0)
                return task->inputs[i].name;
    return NULL;
}

/* Bytes of the output's tensor that the reference has values for. */
static uint64_t expected_bytes(const struct bound_case *bound, const struct task_argument *expected, int i, int t)
{
    const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
    const struct task_tensor *whole = &bound->instance->outputs[i].tensors[t];
    bool shorter =
        whole->rank == 1 && expected[i].tensors[t].rank == 1 && expected[i].tensors[t].dims[0] < whole->dims[0];
    return shorter ? (uint64_t)expected[i].tensors[t].dims[0] * akgen_dtype_size(whole->type) : tensor->bytes;
}

/* Why the outputs do not count as written, or NULL: bytes of a compared output that no block ever wrote may hold the
 * right value by luck. What lies behind a result that is shorter than its tensor may stay unwritten. */
static const char *unwritten_output(struct arena *arena, const struct bound_case *bound, enum task_profile profile,
                                    const struct task_argument *expected, const struct job_result *run)
{
    const struct task *task = bound->instance->task;
    int at = 0;
    for (int i = 0; i < bound->candidate->build->def.output_count; i++)
        for (int t = 0; t < bound->outputs[i].count && at < run->undefined_count; t++, at++)
            if (run->undefined[at] && task_output_judged(bound->instance, i, profile) &&
                run->undefined_first[at] < expected_bytes(bound, expected, i, t))
                return arena_printf(arena, "%lu bytes of output '%s' were never written, the first at offset %lu",
                                    (unsigned long)run->undefined[at], task->outputs[i].name,
                                    (unsigned long)run->undefined_first[at]);
    return NULL;
}

/* Takes back that outputs were not written, if all that was not lies behind results that are shorter than their tensors. */
static void allow_short_results(const struct bound_case *bound, const struct task_argument *expected,
                                struct job_result *run)
{
    for (int i = 0, at = 0; i < bound->candidate->build->def.output_count; i++)
        for (int t = 0; t < bound->outputs[i].count && at < run->undefined_count; t++, at++)
            if (run->undefined[at] && run->undefined_first[at] < expected_bytes(bound, expected, i, t))
                return;
    size_t kept = 0;
    for (size_t i = 0; i < run->finding_count; i++)
        if (strcmp(run->findings[i].fault, FAULT(unwritten_output)->name) != 0)
            run->findings[kept++] = run->findings[i];
    run->finding_count = kept;
}

void judge_set(struct verdict_case *row, enum akgen_verdict_kind kind, enum akgen_verdict_stage stage,
               const char *error)
{
    row->kind = kind;
    row->stage = stage;
    row->error = error;
    row->ok = kind == AKGEN_VERDICT_PASS;
}

/* At least this many different values make an output one that no mistake repeats. */
enum { VARIED = 16 };

static int count_values(const uint8_t *values, uint64_t count, size_t size)
{
    const uint8_t *seen[VARIED];
    int found = 0;
    for (uint64_t i = 0; i < count && found < VARIED; i++) {
        bool known = false;
        for (int k = 0; k < found && !known; k++)
            known = memcmp(seen[k], values + i * size, size) == 0;
        if (!known)
            seen[found++] = values + i * size;
    }
    return found;
}

/* True if the outputs are what the operator makes of its inputs as the kernel left them. */
static bool fits_changed_inputs(struct arena *arena, const struct bound_case *bound, enum task_profile profile)
{
    const struct task *task = bound->instance->task;
    struct task_instance changed = *bound->instance;
    changed.inputs = arena_copy(arena, changed.inputs, sizeof *changed.inputs * (size_t)task->input_count);
    for (int i = 0; i < task->input_count; i++) {
        struct task_argument *input = &changed.inputs[i];
        input->tensors = arena_copy(arena, input->tensors, sizeof *input->tensors * (size_t)input->count);
        for (int t = 0; t < input->count && !bound->inputs[i].written; t++)
            input->tensors[t].values = bound->gm.base + bound->inputs[i].tensors[t].offset;
    }
    struct task_argument *expected = task_reference(&changed, profile);
    struct task_mismatch mismatch;
    task_compare(&changed, profile, expected, judge_actual(arena, bound), &mismatch);
    task_outputs_free(expected);
    return mismatch.ok;
}

struct job_finding *judge_finding(const struct verdict_case *row, const struct npu_fault *fault)
{
    for (size_t i = 0; i < row->run.finding_count; i++)
        if (strcmp(row->run.findings[i].fault, fault->name) == 0)
            return &row->run.findings[i];
    return NULL;
}

/* An estimate is off by 0.3 %; squares, cubes and sums of what it gave by a few times that. */
#define ESTIMATE_REACH 0x1p-6

/* True if the outputs are off by no more than a few estimates' errors: of each element, or of the largest. */
static bool is_off_by_estimates(const struct task_argument *expected, const struct task_mismatch *mismatch)
{
    const struct task_tensor *tensor = &expected[mismatch->output].tensors[mismatch->tensor];
    double values[256], largest = 0;
    for (int64_t first = 0, all = task_scalars(tensor); first < all; first += 256) {
        int n = all - first < 256 ? (int)(all - first) : 256;
        task_read_double(tensor, first, n, values);
        for (int i = 0; i < n; i++)
            if (isfinite(values[i]) && fabs(values[i]) > largest)
                largest = fabs(values[i]);
    }
    return !mismatch->not_finite && isfinite(mismatch->actual) && isfinite(mismatch->expected) &&
           (mismatch->max_rel <= ESTIMATE_REACH || mismatch->max_abs <= ESTIMATE_REACH * largest);
}

/* Why the outputs are wrong: the comparison's sentence, and what explains it: an attribute that did not arrive whole, or an
 * instruction whose precision fits the size of the error. */
static const char *why_wrong(struct arena *arena, const struct bound_case *bound, const struct task_argument *expected,
                             const struct verdict_case *row)
{
    const struct job_finding *estimate = judge_finding(row, FAULT(vec_estimate));
    if (bound->passing)
        return arena_printf(arena, "%s; %s", row->mismatch.reason, bound->passing);
    if (!estimate || !is_off_by_estimates(expected, &row->mismatch))
        return arena_strdup(arena, row->mismatch.reason);
    return arena_printf(arena, "%s; the size of the error fits %s", row->mismatch.reason, judge_place(arena, estimate));
}

static void judge_outputs(struct arena *arena, struct bound_case *bound, struct verdict_case *row)
{
    const bool strict = bound->candidate->options->profile == TASK_STRICT;
    const enum task_profile profile = task_judged_by(bound->instance->task, bound->candidate->options->profile);
    const struct task_argument *expected = prepared_expected(bound->prepared);
    task_compare(bound->instance, profile, expected, judge_actual(arena, bound), &row->mismatch);
    row->compared = true;
    const char *changed = changed_input(bound);
    const char *unwritten = unwritten_output(arena, bound, profile, expected, &row->run);
    allow_short_results(bound, expected, &row->run);
    /* What judge_repetition compares. */
    struct digest *digest = digest_new();
    for (int i = 0; i < bound->instance->task->output_count; i++)
        for (int t = 0; t < bound->outputs[i].count; t++) {
            const struct job_tensor *tensor = &bound->outputs[i].tensors[t];
            const uint8_t *values = bound->gm.base + tensor->offset;
            size_t size = akgen_dtype_size(tensor->shape.type);
            digest_bytes(digest, values, tensor->bytes);
            row->varied |= count_values(values, tensor->bytes / size, size) == VARIED;
        }
    row->outputs = digest_finish(digest, arena);
    if (!row->mismatch.ok && changed && !unwritten && fits_changed_inputs(arena, bound, profile))
        judge_set(row, AKGEN_VERDICT_REJECTED, AKGEN_STAGE_COMPARE,
                  arena_printf(arena, "the kernel changed input '%s' into one that its outputs fit (%s)", changed,
                               row->mismatch.reason));
    else if (!row->mismatch.ok)
        judge_set(row, AKGEN_VERDICT_WRONG, AKGEN_STAGE_COMPARE, why_wrong(arena, bound, expected, row));
    else if (unwritten)
        judge_set(row, AKGEN_VERDICT_WRONG, AKGEN_STAGE_COMPARE, unwritten);
    else if (changed && strict)
        judge_set(row, AKGEN_VERDICT_WRONG, AKGEN_STAGE_COMPARE,
                  arena_printf(arena, "input '%s' was changed by the kernel", changed));
    else
        judge_set(row, AKGEN_VERDICT_PASS, AKGEN_STAGE_COMPARE, NULL);
}

/* The first finding that is a fault, of one kind (enum npu_kind) or, below 0, of any. */
static const struct job_finding *first_fatal(const struct job_result *run, int kind)
{
    for (size_t i = 0; i < run->finding_count; i++)
        if (run->findings[i].fatal && (kind < 0 || (int)run->findings[i].kind == kind))
            return &run->findings[i];
    return NULL;
}

const char *judge_place(struct arena *arena, const struct job_finding *finding)
{
    if (!finding->file)
        return finding->message;
    return arena_printf(arena, "%s:%d: %s", finding->file, finding->line, finding->message);
}

static enum akgen_verdict_stage stage_of(const struct job_result *run)
{
    return run->stage == JOB_TILING ? AKGEN_STAGE_TILING : AKGEN_STAGE_RUN;
}

void judge_run(struct arena *arena, struct bound_case *bound, struct verdict_case *row)
{
    const struct job_result *run = &row->run;
    const struct job_finding *finding;
    switch (run->status) {
    case JOB_BROKEN:
        judge_set(row, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_RUN, run->error);
        break;
    case JOB_TILING_FAILED:
        judge_set(row, AKGEN_VERDICT_WRONG, AKGEN_STAGE_TILING, run->error);
        break;
    case JOB_UNSUPPORTED:
        if (toolchain_never_runs(run->error))
            judge_set(row, AKGEN_VERDICT_UNSUPPORTED, AKGEN_STAGE_TILING, run->error);
        else
            judge_set(row, AKGEN_VERDICT_REJECTED, AKGEN_STAGE_TILING,
                      "the host part ended the run in the name of a function that AKGen does not have");
        break;
    case JOB_LOAD_FAILED:
        judge_set(row, AKGEN_VERDICT_COMPILE_ERROR, AKGEN_STAGE_KERNEL, run->error);
        break;
    case JOB_TIMEOUT:
        judge_set(row, AKGEN_VERDICT_TIMEOUT, AKGEN_STAGE_RUN, run->error);
        break;
    case JOB_CHEATED:
        judge_set(row, AKGEN_VERDICT_REJECTED, stage_of(run), run->error);
        break;
    case JOB_CRASHED:
    case JOB_EXITED:
        judge_set(row, AKGEN_VERDICT_FAULT, stage_of(run), run->error);
        break;
    case JOB_OK:
        if ((finding = first_fatal(run, NPU_UNSUPPORTED)))
            judge_set(row, AKGEN_VERDICT_UNSUPPORTED, AKGEN_STAGE_RUN, judge_place(arena, finding));
        else if ((finding = first_fatal(run, -1)))
            judge_set(row, AKGEN_VERDICT_FAULT, AKGEN_STAGE_RUN, judge_place(arena, finding));
        else
            judge_outputs(arena, bound, row);
        break;
    }
}

/* A table of results fits the inputs that it was made for and comes out unchanged for all others. That something comes
 * out unchanged proves nothing where it holds few values: a kernel that answers `false` everywhere may be an honest
 * mistake. */
void judge_repetition(struct arena *arena, const struct verdict_case *first, struct verdict_case *again)
{
    if (again->kind == AKGEN_VERDICT_WRONG && again->compared && first->varied &&
        strcmp(first->outputs, again->outputs) == 0)
        judge_set(
            again, AKGEN_VERDICT_REJECTED, AKGEN_STAGE_COMPARE,
            arena_printf(arena,
                         "the outputs are bit by bit those of the first inputs, for which they were right: results "
                         "are built in (%s)",
                         again->error));
}
