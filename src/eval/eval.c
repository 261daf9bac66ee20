/* One candidate -> a verdict: find the project, build it, run its cases side by side, sum up. */
#include "eval/case_internal.h"
#include "base/clock.h"
#include "base/workers.h"
#include "eval/eval.h"
#include "jail/sandbox.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

void verdict_set(struct verdict *verdict, enum akgen_verdict_kind kind, enum akgen_verdict_stage stage,
                 const char *reason)
{
    verdict->kind = kind;
    verdict->stage = stage;
    verdict->reason = reason;
}

static void choose(struct verdict *verdict, const struct task_case *task_case, bool hidden)
{
    verdict->cases[verdict->case_count++] =
        (struct verdict_case){.task_case = task_case, .id = task_case->id, .hidden = hidden};
}

/* The cases of this evaluation: one if asked for one, case 0 in static mode as upstream, else all. The strict profile
 * adds hidden ones where the candidate has to cope with any shape. */
static int select_cases(struct verdict *verdict, const struct task *task, const struct eval_options *options)
{
    size_t most = (size_t)task->case_count * (1 + TASK_VARIANTS);
    verdict->cases = arena_alloc(&verdict->arena, sizeof *verdict->cases * (most + 1));
    for (int i = 0; i < task->case_count; i++)
        if (options->only_case >= 0 ? task->cases[i].id == options->only_case : options->mode == EVAL_DYNAMIC || i == 0)
            choose(verdict, &task->cases[i], false);
    if (options->profile == TASK_STRICT && options->only_case < 0) {
        /* What the task does not show. Other sizes are for candidates that must cope with any shape; other values have the
         * sizes of a shown case. */
        int count = verdict->case_count;
        const struct task_case **shown = arena_alloc(&verdict->arena, sizeof *shown * (size_t)(count + 1));
        const struct task_case **hidden =
            arena_alloc(&verdict->arena, sizeof *hidden * (size_t)(count * TASK_VARIANTS + 1));
        for (int i = 0; i < count; i++)
            shown[i] = verdict->cases[i].task_case;
        int found = task_hidden_cases(&verdict->arena, task, shown, count,
                                      options->mode == EVAL_DYNAMIC && options->scope == EVAL_PROJECT, hidden);
        for (int i = 0; i < found; i++)
            choose(verdict, hidden[i], true);
    }
    return verdict->cases_total = verdict->case_count;
}

/* Building. */
struct selection {
    const struct verdict *verdict;
    const struct task *task;
    const struct eval_options *options;
};

/* Code is generated for the data type combinations that the chosen cases use; the others are only checked. */
static void select_combinations(void *closure, const struct op_def *def, bool *wanted)
{
    const struct selection *selection = closure;
    for (int i = 0; i < selection->verdict->case_count; i++) {
        struct task_instance *shapes;
        struct akgen_error *error =
            task_instance_shapes(selection->task, selection->verdict->cases[i].task_case, &shapes);
        if (error) { /* the case itself will report it */
            error_free(error);
            continue;
        }
        int combination = eval_combination(def, shapes);
        if (combination >= 0)
            wanted[combination] = true;
        task_instance_free(shapes);
    }
}

static const char *first_error(const struct build *build)
{
    for (int i = 0; i < build->diagnostic_count; i++)
        if (build->diagnostics[i].error)
            return build->diagnostics[i].message;
    return build->error;
}

static const char *unsupported_name(const struct build *build)
{
    for (int i = 0; i < build->diagnostic_count; i++)
        if (build->diagnostics[i].error && build->diagnostics[i].unsupported)
            return build->diagnostics[i].unsupported;
    return NULL;
}

/* True if the build can be run; else the verdict says why not. */
static bool judge_build(struct verdict *verdict)
{
    const struct build *build = &verdict->build;
    static const enum akgen_verdict_stage stages[] = {
        [BUILD_PARSE] = AKGEN_STAGE_PARSE,   [BUILD_HOST] = AKGEN_STAGE_HOST,     [BUILD_DESCRIBE] = AKGEN_STAGE_HOST,
        [BUILD_KERNEL] = AKGEN_STAGE_KERNEL, [BUILD_BROKEN] = AKGEN_STAGE_KERNEL,
    };
    const char *missing = unsupported_name(build);
    if (build->stage == BUILD_OK)
        return true;
    if (build->stage == BUILD_BROKEN)
        verdict_set(verdict, AKGEN_VERDICT_INFRA_ERROR, stages[build->stage], build->error);
    else if (build->cheated)
        verdict_set(verdict, AKGEN_VERDICT_REJECTED, stages[build->stage], build->error);
    else if (missing)
        verdict_set(verdict, AKGEN_VERDICT_UNSUPPORTED, stages[build->stage],
                    arena_printf(&verdict->arena, "'%s' exists in CANN, AKGen does not have it yet", missing));
    else
        verdict_set(verdict, AKGEN_VERDICT_COMPILE_ERROR, stages[build->stage], first_error(build));
    return false;
}

static bool build_candidate(struct verdict *verdict, const struct task *task, const struct eval_options *options,
                            struct budget *budget, struct op_project *project)
{
    struct arena *arena = &verdict->arena;
    bool need_host = options->scope == EVAL_PROJECT;
    if (!eval_open_candidate(verdict, task, need_host, project))
        return false;
    verdict->sync = options->sync_given ? options->sync : project->sync;
    struct task_question question = {0};
    struct selection selection = {verdict, task, options};
    struct akgen_error *error = need_host ? NULL : task_question(arena, task, true, &question);
    const struct op_files given = op_files_of(arena, question.files, question.count);
    struct build_options build_options = {
        .cache_dir = options->cache_dir,
        .no_cache = options->no_cache,
        .select = select_combinations,
        .closure = &selection,
        .soc = options->soc->name,
        .host = need_host ? NULL : &given,
        .sanitize_kernel_tiling = !need_host,
        .jobs = options->jobs > 0 ? options->jobs : 1,
        .budget = budget,
        .describe_seconds = options->case_seconds, /* a user who limits a case has the OpDef in mind, too */
        .debug = options->debug && options->debug->debugger,
        .plain_compiler = options->plain_compiler,
    };
    if (!error)
        error = toolchain_build(arena, project, &build_options, &verdict->build);
    if (error) {
        verdict_set(verdict, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_KERNEL, arena_strdup(arena, error->message));
        error_free(error);
        return false;
    }
    return judge_build(verdict) && eval_check_wrapper(verdict, budget);
}

/* Running. */
struct case_queue {
    const struct eval_candidate *candidate;
    struct verdict *verdict;
    pthread_mutex_t lock; /* guards the verdict's arena, the progress callback and what follows */
    int done;
    int last;         /* the first case that ran out of time, behind which none counts: as if they ran in their order */
    int first_failed; /* the first case that did not pass; the number of cases while there is none */
};

static void run_case(void *closure, int index)
{
    struct case_queue *queue = closure;
    const struct eval_options *options = queue->candidate->options;
    struct arena arena = {0};
    struct verdict_case *row = &queue->verdict->cases[index];
    pthread_mutex_lock(&queue->lock);
    bool counts = index < queue->last && (!options->first_failure || index < queue->first_failed);
    pthread_mutex_unlock(&queue->lock);
    if (counts)
        eval_case(queue->candidate, row->task_case, &arena, row);
    pthread_mutex_lock(&queue->lock);
    arena_adopt(&queue->verdict->arena, &arena);
    queue->done++;
    if (row->kind == AKGEN_VERDICT_TIMEOUT && index < queue->last)
        queue->last = index;
    if (counts && !row->ok && index < queue->first_failed)
        queue->first_failed = index;
    if (options->on_case)
        options->on_case(options->closure, queue->done, queue->verdict->case_count);
    pthread_mutex_unlock(&queue->lock);
}

static void run_all_cases(const struct eval_candidate *candidate, struct verdict *verdict)
{
    struct case_queue queue = {.candidate = candidate,
                               .verdict = verdict,
                               .lock = PTHREAD_MUTEX_INITIALIZER,
                               .last = verdict->case_count,
                               .first_failed = verdict->case_count};
    workers_run(verdict->case_count, candidate->options->jobs, run_case, &queue);
    if (candidate->options->first_failure) {
        /* Cases are begun in their order, so all before the first failure were tried. Whether one behind it was depends on the
         * workers: nobody sees those. */
        for (int i = queue.first_failed + 1; i < verdict->case_count; i++)
            job_result_free(&verdict->cases[i].run);
        if (queue.first_failed < verdict->case_count)
            verdict->case_count = queue.first_failed + 1;
    }
    /* The cases behind the one that ran out of time. */
    for (int i = queue.last + 1; i < verdict->case_count; i++) {
        struct verdict_case *row = &verdict->cases[i];
        job_result_free(&row->run);
        *row = (struct verdict_case){
            .task_case = row->task_case,
            .id = row->id,
            .hidden = row->hidden,
            .kind = AKGEN_VERDICT_TIMEOUT,
            .stage = AKGEN_STAGE_RUN,
            .error = arena_printf(&verdict->arena, "not run: case %d ran out of time", verdict->cases[queue.last].id)};
    }
    /* What the candidate printed, in all cases together. */
    size_t left = 1 << 20;
    for (int i = 0; i < verdict->case_count; i++) {
        struct job_result *run = &verdict->cases[i].run;
        size_t length = run->printed ? strlen(run->printed) : 0;
        if (length > left)
            run->printed = arena_strndup(&verdict->arena, run->printed, left);
        left -= length < left ? length : left;
    }
}

/* A giant case that this machine could not run at full size. */
static bool is_undecided(const struct verdict_case *row)
{
    return row->kind == AKGEN_VERDICT_INFRA_ERROR && row->stand_in;
}

/* How much a case that did not pass says: a cheat comes first, wherever it was tried; then our own failures, because then
 * nothing can be concluded about the candidate; then what is not right; then missing features, which excuse nothing that is
 * not right without them. A giant case that could not be tried comes last: what the others show stands. */
static int weight(const struct verdict_case *row)
{
    return row->ok                                  ? 0
           : is_undecided(row)                      ? 1
           : row->kind == AKGEN_VERDICT_UNSUPPORTED ? 2
           : row->kind == AKGEN_VERDICT_INFRA_ERROR ? 4
           : row->kind == AKGEN_VERDICT_REJECTED    ? 5
                                                    : 3;
}

/* The task as these options want it: with its suite's other tolerance. NULL: the verdict says why there is none. */
static const struct task *task_as_wanted(struct verdict *verdict, const struct task *task,
                                         const struct eval_options *options)
{
    if (!options->tolerance || task->broken)
        return task;
    struct task *wanted = arena_copy(&verdict->arena, task, sizeof *task);
    struct akgen_error *error = options->profile == TASK_STRICT
                                    ? error_new("the strict profile has limits of its own")
                                    : task_set_tolerance(&verdict->arena, wanted, options->tolerance);
    if (!error)
        return wanted;
    verdict_set(verdict, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_PARSE,
                arena_printf(&verdict->arena, "tolerance: %s", error->message));
    error_free(error);
    return NULL;
}

static void evaluate(struct verdict *verdict, const struct task *task, const struct eval_options *options)
{
    struct op_project project = {0};
    struct budget budget;
    if (task->broken) {
        verdict_set(verdict, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_PARSE, arena_strdup(&verdict->arena, task->broken));
        return;
    }
    if (select_cases(verdict, task, options) == 0) {
        verdict_set(verdict, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_PARSE,
                    arena_printf(&verdict->arena, "%s has no case %d", task->name, options->only_case));
        return;
    }
    budget_open(&budget, eval_candidate_seconds(options), options->cancel_fd);
    budget_charge(&budget, verdict->candidate.charged);
    if (build_candidate(verdict, task, options, &budget, &project)) {
        /* A candidate that was built. */
        struct giants giants = GIANTS_NONE;
        struct eval_candidate candidate = {task,
                                           options,
                                           &verdict->build,
                                           verdict->sync,
                                           options->cache ? eval_cache_giants(options->cache) : &giants,
                                           &budget,
                                           verdict->candidate.response ? &verdict->wrapper : NULL,
                                           verdict->candidate.digest};
        run_all_cases(&candidate, verdict);
        /* The verdict is that of the first case of those that say most. */
        const struct verdict_case *decisive = NULL;
        for (int i = 0; i < verdict->case_count; i++) {
            const struct verdict_case *row = &verdict->cases[i];
            verdict->cases_passed += row->ok;
            if (weight(row) > (decisive ? weight(decisive) : 0))
                decisive = row;
        }
        if (decisive)
            verdict_set(
                verdict, decisive->kind, decisive->stage,
                arena_printf(&verdict->arena, "case %d: %s", decisive->id, decisive->error ? decisive->error : ""));
        else
            verdict_set(verdict, AKGEN_VERDICT_PASS, AKGEN_STAGE_COMPARE, NULL);
    } else {
        /* A candidate that came to no case ended in each as it did. */
        for (int i = 0; i < verdict->case_count; i++) {
            verdict->cases[i].kind = verdict->kind;
            verdict->cases[i].stage = verdict->stage;
        }
    }
    budget_close(&budget);
}

double eval_candidate_seconds(const struct eval_options *options)
{
    enum { LIMITS_OF_A_CASE = 10 };
    double limit = options->case_seconds > CASE_SECONDS ? options->case_seconds : CASE_SECONDS;
    return options->candidate_seconds > 0 ? options->candidate_seconds
                                          : LIMITS_OF_A_CASE * limit * (1 + options->orders);
}

int eval_trials(const struct task *task, const struct eval_options *options)
{
    if (options->profile == TASK_STRICT)
        return options->trials > 2 ? options->trials : 2;
    return options->trials > 0 ? options->trials : task_trials(task);
}

const char *eval_protocol(struct arena *arena, const struct task *task, const struct eval_options *options)
{
    const char *protocol = task_protocol(arena, task, options->profile, eval_trials(task, options));
    if (options->strict_order)
        protocol = arena_printf(arena, "%s%sstrict order", protocol, *protocol ? ", " : "");
    if (options->first_failure)
        protocol = arena_printf(arena, "%s%sfirst failure", protocol, *protocol ? ", " : "");
    return protocol;
}

struct candidate_asked eval_asked(const struct eval_options *options)
{
    return (struct candidate_asked){.scope = options->scope,
                                    .language = options->language,
                                    .language_given = options->language_given,
                                    .only_case = options->only_case,
                                    .seconds = eval_candidate_seconds(options),
                                    .cancel_fd = options->cancel_fd,
                                    .tree = options->candidates};
}

void eval_read(struct arena *arena, const struct task *task, const char *path, const struct eval_options *options,
               struct candidate *candidate)
{
    const struct candidate_asked asked = eval_asked(options);
    candidate_read_path(arena, path, task, &asked, candidate);
}

/* A verdict that says nothing yet. Returns the task as it is to be evaluated; NULL: it cannot be, and the verdict says why. */
static const struct task *begin(struct verdict *verdict, const struct task *task, const struct candidate *candidate,
                                const struct eval_options *options)
{
    memset(verdict, 0, sizeof *verdict);
    verdict->suite = task->suite;
    verdict->task = task->name;
    verdict->candidate = *candidate;
    verdict->options = options;
    verdict->language = options->language;
    verdict->sync = options->sync_given ? options->sync : NPU_SYNC_AUTO;
    const struct task *wanted = task_as_wanted(verdict, task, options);
    verdict->protocol = eval_protocol(&verdict->arena, wanted ? wanted : task, options);
    return wanted;
}

void eval_run(const struct candidate *candidate, const struct task *task, const struct eval_options *options,
              struct verdict *verdict)
{
    double start = clock_seconds();
    const struct task *wanted = begin(verdict, task, candidate, options);
    if (wanted)
        evaluate(verdict, task, options);
    verdict->seconds = clock_seconds() - start;
}

void verdict_free(struct verdict *verdict)
{
    for (int i = 0; i < verdict->case_count; i++)
        job_result_free(&verdict->cases[i].run);
    op_wrapper_release(&verdict->wrapper);
    op_def_release(&verdict->build.def);
    arena_free(&verdict->arena);
}

/* The tiling of the one case of a candidate that was built. */
static void tile_case(struct verdict *verdict, const struct task *task, struct budget *budget,
                      struct eval_tiling *tiling)
{
    struct arena *arena = &verdict->arena;
    const struct eval_candidate candidate = {
        .task = task, .options = verdict->options, .build = &verdict->build, .sync = verdict->sync, .budget = budget};
    struct tilings tilings = {0};
    struct bound_case bound = {.candidate = &candidate, .tilings = &tilings};
    struct task_instance *shapes;
    struct akgen_error *error = task_instance_shapes(task, verdict->cases->task_case, &shapes);
    if (error) {
        verdict_set(verdict, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_TILING, arena_strdup(arena, error->message));
        error_free(error);
        return;
    }
    bound.instance = shapes;
    const char *why = bind_case(arena, &bound);
    const struct host_result *result = why ? NULL : tiling_ask(arena, &bound);
    if (why)
        verdict_set(verdict, AKGEN_VERDICT_COMPILE_ERROR, AKGEN_STAGE_HOST, why);
    else if (result->status != JOB_OK)
        verdict_set(verdict, result->status == JOB_BROKEN ? AKGEN_VERDICT_INFRA_ERROR : AKGEN_VERDICT_WRONG,
                    AKGEN_STAGE_TILING, result->error);
    else
        *tiling = (struct eval_tiling){
            result->tiling.block_dim, result->tiling.key, result->tiling.workspace, result->tiling.size,
            op_tiling_decode(&verdict->build.def, result->tiling.key, result->tiling.bytes, result->tiling.size)};
    json_decref(bound.received);
    task_instance_free(shapes);
}

void eval_tile(const struct candidate *candidate, const struct task *task, const struct eval_options *options,
               struct verdict *verdict, struct eval_tiling *tiling)
{
    struct op_project project = {0};
    struct budget budget;
    *tiling = (struct eval_tiling){0};
    if (!begin(verdict, task, candidate, options))
        return;
    if (task->broken || options->only_case < 0 || select_cases(verdict, task, options) != 1) {
        verdict_set(verdict, AKGEN_VERDICT_INFRA_ERROR, AKGEN_STAGE_PARSE,
                    arena_printf(&verdict->arena, "%s: case %d is none of a task that can be loaded", task->name,
                                 options->only_case));
        return;
    }
    budget_open(&budget, eval_candidate_seconds(options), options->cancel_fd);
    if (build_candidate(verdict, task, options, &budget, &project))
        tile_case(verdict, task, &budget, tiling);
    budget_close(&budget);
}

struct akgen_error *eval_check_jail(const struct eval_options *options)
{
    struct arena arena = {0};
    struct akgen_error *error = NULL;
    const char *refusal = sandbox_refusal(), *missing = options->require_jail ? sandbox_missing(&arena) : NULL;
    if (refusal)
        error = error_new("%s", refusal);
    else if (missing)
        error = error_new("the jail is incomplete: this machine does not grant: %s ('akgen doctor' says what is lost)",
                          missing);
    else if (options->require_jail && options->debug && options->debug->debugger)
        error = error_new("a jail is required, and a debugger runs a kernel without one");
    arena_free(&arena);
    return error;
}
