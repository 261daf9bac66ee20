/* One case of one candidate: make the inputs, bind them to the OpDef, lay them out in shared memory, run the job in the
 * jail, read the outputs where the kernel left them, compare; then again, with other inputs, in other orders. */
#include "eval/case_internal.h"
#include "eval/steps.h"
#include "npu/npu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How the memory of a tensor is cut. The benchmarks keep theirs in PyTorch: torch_npu's allocator gives bytes + 32,
 * rounded up to 512 (round_size in NPUCachingAllocator.cpp), so a copy of whole blocks that runs over a small tensor's
 * end touches nothing of anybody's there. All that CANN promises is aclrtMalloc's: rounded up to 32, plus 32. */
enum { GM_UNIT_TORCH = 512, GM_UNIT_CANN = 32 };
const char *eval_case_dtype(const struct task_instance *instance)
{
    const struct task *task = instance->task;
    for (int i = 0; i < task->input_count; i++)
        if (instance->inputs[i].count && task->inputs[i].kind != TASK_SCALAR &&
            task->inputs[i].kind != TASK_SCALAR_LIST)
            return akgen_dtype_name(instance->inputs[i].tensors[0].type);
    return instance->outputs[0].count ? akgen_dtype_name(instance->outputs[0].tensors[0].type) : "";
}

/* A run that repeats another may take this many times its time: only a kernel that hangs needs more. */
enum { PATIENCE = 4 };

/* The case once more, from the memory as it was. */
static void repeat(struct arena *arena, struct bound_case *bound, const struct job *job, double first_seconds,
                   struct job_result *run)
{
    struct job other = *job;
    other.seconds += PATIENCE * first_seconds;
    gm_memory_run(arena, bound, &other, run);
}

/* What a repetition says about a case that was right. */
enum same { SAME, OTHERWISE, UNKNOWN };

/* Does the case run otherwise where UB holds something else before it is written? UNKNOWN: the run failed for a reason
 * of ours, row says which. */
static enum same compare_run(struct arena *arena, struct bound_case *bound, const struct job *job, uint64_t poison,
                             struct verdict_case *row, const uint8_t *outputs)
{
    struct job other = *job;
    struct job_result run = {0};
    other.poison = poison;
    job_be_silent(&other);
    repeat(arena, bound, &other, row->run.run_seconds, &run);
    enum same same = SAME;
    if (run.status == JOB_BROKEN) {
        same = UNKNOWN;
        judge_set(row, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_RUN,
                  arena_printf(arena, "in a repetition: %s", run.error));
    } else if (run.status != JOB_OK || run.stats.path != row->run.stats.path ||
               gm_memory_first_difference(arena, bound, outputs))
        same = OTHERWISE;
    job_result_free(&run);
    return same;
}

/* A value made of bytes that nothing has written was stored in UB, where it does no harm by itself; whether it decides
 * about anything besides shows when UB holds something else: one, minus one, zero in most types. What runs otherwise
 * without that (it reads its own stack) proves nothing. */
static void try_other_poison(struct arena *arena, struct bound_case *bound, const struct job *job,
                             struct verdict_case *row)
{
    static const uint64_t poisons[] = {0x3f803f803f803f80, 0xbf80bf80bf80bf80, 0x8000000080000000};
    struct job_finding *finding = judge_finding(row, FAULT(undefined_scalar));
    if (!finding || !row->ok)
        return;
    uint8_t *outputs = gm_memory_save_outputs(bound);
    enum same same = SAME;
    for (size_t i = 0; i < sizeof poisons / sizeof poisons[0] && same == SAME; i++)
        same = compare_run(arena, bound, job, poisons[i], row, outputs);
    if (same == OTHERWISE && compare_run(arena, bound, job, 0, row, outputs) == SAME) {
        finding->fatal = row->run.fault = true;
        finding->message =
            arena_printf(arena, "%s; the kernel runs otherwise where they hold something else", finding->message);
        judge_set(row, AKGEN_VERDICT_FAULT, AKGEN_STAGE_RUN, judge_place(arena, finding));
    }
    gm_memory_put_outputs(bound, outputs);
    free(outputs);
}

/* Returns how many random schedules a case is tried under: as many as --seeds says. The strict profile tries one without being asked
 * where cores have read what others wrote in the same epoch. Cores that wait do so, and the machine looks for no race after such a read;
 * another order shows whether they wait. */
static int orders_wanted(const struct eval_options *options, const struct verdict_case *row)
{
    const bool waits = options->profile == TASK_STRICT && row->run.stats.cores_spun;
    return options->orders ? options->orders : waits && !options->debug;
}

/* The same case once more per random schedule, until one is not right. Right results that differ in their bits are reported: the order
 * decides about them. */
static void run_other_orders(struct arena *arena, struct bound_case *bound, struct job *job, int orders,
                             struct verdict_case *row)
{
    uint8_t *saved = gm_memory_save_outputs(bound);
    job->random_order = true;
    job->timing = false;
    for (int seed = 1; seed <= orders && row->ok; seed++) {
        struct verdict_case other = *row;
        job->seed = (uint64_t)seed;
        repeat(arena, bound, job, row->run.run_seconds, &other.run);
        conflicts_adopt(arena, &row->run, &other.run);
        judge_run(arena, bound, &other);
        row->orders_tried = other.orders_tried = seed;
        const char *where = other.ok && !row->order_decides ? gm_memory_first_difference(arena, bound, saved) : NULL;
        if (where)
            row->order_decides =
                arena_printf(arena, "%s has other bits under --schedule=random:%d, though right", where, seed);
        if (!other.ok) {
            struct verdict_case first = *row;
            other.error = arena_printf(arena, "under --schedule=random:%d: %s", seed, other.error ? other.error : "");
            *row = other;
            other = first;
        }
        job_result_free(&other.run);
    }
    free(saved);
}

/* The objects for a combination of data types; NULL if it was only checked. */
static const struct build_kernel *kernel_for(const struct build *build, int combination)
{
    for (int i = 0; i < build->kernel_count; i++)
        if (build->kernels[i].combination == combination && build->kernels[i].so)
            return &build->kernels[i];
    return NULL;
}

/* job.restore */
static void fill_again(void *bound)
{
    gm_memory_fill(bound);
}

static struct job make_job(struct arena *arena, struct bound_case *bound, const struct build_kernel *kernel,
                           const struct host_result *host)
{
    const struct eval_candidate *candidate = bound->candidate;
    const struct eval_options *options = candidate->options;
    const struct build *build = candidate->build;
    const struct task *task = bound->instance->task;
    return (struct job){
        .kernel_so = kernel->so,
        .cube_so = kernel->cube_so,
        .inferred_type = kernel->inferred_type,
        .entry = build->entry,
        .tiling = host->tiling,
        .printed_before = host->printed,
        .soc = options->soc->name,
        .sync = candidate->sync,
        .random_order = options->random_order,
        .steps =
            options->debug && options->debug->debugger ? (struct npu_steps){0} : eval_steps_of_case(bound->instance),
        .timing = bound->trial->timed && !options->no_timing && !options->random_order &&
                  !(options->debug && options->debug->debugger),
        .seed = options->order_seed,
        .inputs = bound->inputs,
        .outputs = bound->outputs,
        .input_count = task->input_count,
        .output_count = build->def.output_count,
        .gm_bytes = bound->gm.bytes,
        .gm_unit = options->profile == TASK_STRICT ? GM_UNIT_CANN : GM_UNIT_TORCH,
        .headers = arena_printf(arena, "%s/include", toolchain_home()),
        .seconds = options->case_seconds > 0 ? options->case_seconds : CASE_SECONDS,
        .budget = candidate->budget,
        .side_by_side = options->side_by_side ? options->side_by_side : options->jobs,
        .log_fd = options->debug ? options->debug->log_fd : -1,
        .trace_fd = options->debug && bound->trial->first ? options->debug->trace_fd : -1,
        .trace_bytes = options->debug ? options->debug->trace_bytes : 0,
        .debugger = options->debug ? options->debug->debugger : NULL,
        .restore = fill_again,
        .closure = bound,
    };
}

static void run_bound(struct arena *arena, struct bound_case *bound, struct verdict_case *row)
{
    const struct eval_options *options = bound->candidate->options;
    const struct build_kernel *kernel = kernel_for(bound->candidate->build, bound->combination);
    if (!kernel) {
        judge_set(row, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_KERNEL,
                  arena_printf(arena, "no object was built for data type combination %d", bound->combination));
        return;
    }
    const struct host_result *host = tiling_ask(arena, bound);
    if (host->status != JOB_OK) {
        job_without_kernel(host, &row->run);
        judge_run(arena, bound, row);
        return;
    }
    struct job job = make_job(arena, bound, kernel, host);
    if (host->tiling.need_atomic)
        job.filled = bind_fills(bound);
    job.tiling_by_field =
        op_tiling_decode(&bound->candidate->build->def, job.tiling.key, job.tiling.bytes, job.tiling.size);
    gm_memory_run(arena, bound, &job, &row->run);
    conflicts_weigh(arena, bound, &job, &row->run);
    judge_run(arena, bound, row);
    if (options->debug) {
        const struct eval_debug *debug = bound->candidate->options->debug;
        if (debug->on_run)
            debug->on_run(debug->closure, bound->instance, judge_actual(arena, bound),
                          prepared_expected(bound->prepared));
    }
    if (!job.debugger)
        try_other_poison(arena, bound, &job, row);
    const int orders = orders_wanted(options, row);
    if (orders && row->ok)
        run_other_orders(arena, bound, &job, orders, row);
    json_decref(job.tiling_by_field);
}

/* The prepared case under the options' tolerance; candidates with others share what is prepared. eval_run() has seen that
 * the task takes it. */
static const struct task_instance *instance_as_wanted(struct arena *arena, const struct eval_options *options,
                                                      const struct prepared *prepared)
{
    if (!options->tolerance)
        return prepared_instance(prepared);
    struct task_instance *wanted = arena_copy(arena, prepared_instance(prepared), sizeof *wanted);
    error_free(task_instance_set_tolerance(arena, wanted, options->tolerance));
    return wanted;
}

static void run_case(const struct eval_candidate *candidate, const struct task_case *task_case,
                     const struct trial *trial, struct tilings *tilings, struct arena *arena, struct verdict_case *row)
{
    struct bound_case bound = {.candidate = candidate, .gm = {.fd = -1}, .trial = trial, .tilings = tilings};
    struct akgen_error *error =
        prepared_get(candidate->task, task_case, trial->seed, !row->hidden, candidate->options, &bound.prepared);
    row->task_case = task_case;
    row->id = task_case->id;
    if (error) {
        judge_set(row, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_RUN, arena_strdup(arena, error->message));
        error_free(error);
        return;
    }
    bound.instance = instance_as_wanted(arena, candidate->options, bound.prepared);
    /* "x[8,2048] y[8,2048]"; a list shows its first shapes. */
    const char *text = "";
    for (int i = 0; i < bound.instance->task->input_count; i++) {
        const struct task_argument *argument = &bound.instance->inputs[i];
        for (int t = 0; t < argument->count && t < 3; t++) {
            text = arena_printf(arena, "%s%s%s[", text, *text ? " " : "", bound.instance->task->inputs[i].name);
            for (int d = 0; d < argument->tensors[t].rank; d++)
                text = arena_printf(arena, "%s%s%ld", text, d ? "," : "", (long)argument->tensors[t].dims[d]);
            text = arena_printf(arena, "%s]", text);
        }
        if (argument->count > 3)
            text = arena_printf(arena, "%s (%d tensors)", text, argument->count);
    }
    row->shape = text;
    row->dtype = eval_case_dtype(bound.instance);
    row->reduced = bound.instance->reduced;
    const char *why = bind_case(arena, &bound);
    if (why)
        judge_set(row, AKGEN_VERDICT_COMPILE_ERROR, AKGEN_STAGE_HOST, why);
    else if (!gm_memory_lay_out(&bound))
        judge_set(row, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_RUN,
                  arena_printf(arena, "no shared memory for the case's tensors: %s", strerror(errno)));
    else
        run_bound(arena, &bound, row);
    gm_memory_free(&bound.gm);
    json_decref(bound.received);
    prepared_release(bound.prepared);
}

/* Runs a right case once more with other inputs, under the strict profile at other addresses: what was right by luck,
 * or by knowing where and what the inputs are, is not right again. Under the strict profile the row
 * keeps the first run, and takes from this one its conclusion alone. */
static void run_again(const struct eval_candidate *candidate, const struct task_case *task_case, int number,
                      struct tilings *tilings, struct arena *arena, struct verdict_case *row)
{
    struct verdict_case again = {.hidden = row->hidden};
    struct trial trial = eval_trial(candidate, task_case, number);
    trial.timed &= !row->hidden && row->run.timing.model.known;
    run_case(candidate, task_case, &trial, tilings, arena, &again);
    row->trials = again.trials = number + 1;
    if (again.ok && trial.timed)
        trial_keep_longer(row, &again);
    if (!again.ok) {
        again.error = trial_error(arena, candidate, &trial, &again);
        judge_repetition(arena, row, &again);
        if (candidate->options->profile == TASK_STRICT)
            judge_set(row, again.kind, again.stage, again.error);
        else {
            struct verdict_case first = *row;
            *row = again;
            again = first;
        }
    }
    job_result_free(&again.run);
}

void case_run(const struct eval_candidate *candidate, const struct task_case *task_case, struct arena *arena,
              struct verdict_case *row)
{
    struct tilings tilings = {0};
    const struct trial first = eval_trial(candidate, task_case, 0);
    run_case(candidate, task_case, &first, &tilings, arena, row);
    row->trials = 1;
    for (int number = 1; row->ok && number < eval_trials(candidate->task, candidate->options); number++)
        run_again(candidate, task_case, number, &tilings, arena, row);
}
