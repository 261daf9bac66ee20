/* akgen/akgen.h: one evaluation for another program. */
#include "base/memory.h"
#include "eval/eval.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The verdict and what its strings live in. */
struct owned_verdict {
    struct akgen_verdict public;
    struct arena arena;
    char *json;
};

static struct akgen_verdict *refuse(struct owned_verdict *owned, struct akgen_error *error)
{
    owned->public.kind = AKGEN_VERDICT_INFRA_ERROR;
    owned->public.stage = AKGEN_STAGE_PARSE;
    owned->public.reason = arena_strdup(&owned->arena, error->message);
    error_free(error);
    return &owned->public;
}

static struct eval_options options_of(const struct akgen_request *request)
{
    return (struct eval_options){
        .soc = request->soc ? npu_soc_find(request->soc) : &npu_socs[0],
        .mode = request->static_shapes ? EVAL_STATIC : EVAL_DYNAMIC,
        .scope = request->kernel_only ? EVAL_KERNEL : EVAL_PROJECT,
        .profile = request->strict ? TASK_STRICT : TASK_UPSTREAM,
        .only_case = request->one_case ? request->case_id : -1,
        .random_order = request->random_order,
        .order_seed = request->order_seed,
        .strict_order = request->strict_order,
        .first_failure = request->first_failure,
        .input_seed = request->input_seed,
        .salt = request->salt,
        .case_seconds = request->case_seconds,
        .jobs = request->jobs > 0 ? request->jobs : 1,
        .tolerance = request->tolerance,
        .require_jail = request->require_jail,
    };
}

struct akgen_verdict *akgen_evaluate(const struct akgen_request *request)
{
    struct owned_verdict *owned = memory_alloc(sizeof *owned);
    struct eval_options options = options_of(request);
    struct task task;
    if (!options.soc)
        return refuse(owned, error_new("no chip '%s'", request->soc));
    struct akgen_error *error = eval_check_jail(&options);
    if (!error)
        error = task_find(&owned->arena, toolchain_home(), request->task, &task);
    if (!error) {
        /* A project's directory, or an answer's file, that can be read. */
        struct stat status;
        bool file = stat(request->candidate, &status) == 0 && S_ISREG(status.st_mode);
        error = access(request->candidate, file ? R_OK : R_OK | X_OK) ? error_new("%s: %m", request->candidate) : NULL;
    }
    if (error)
        return refuse(owned, error);
    struct candidate candidate;
    struct verdict verdict;
    eval_read(&owned->arena, &task, request->candidate, &options, &candidate);
    eval_run(&candidate, &task, &options, &verdict);
    json_t *json = verdict_to_json(&verdict);
    owned->json = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    owned->public = (struct akgen_verdict){
        .kind = verdict.kind,
        .stage = verdict.stage,
        .reason = verdict.reason ? arena_strdup(&owned->arena, verdict.reason) : NULL,
        .cases_passed = verdict.cases_passed,
        .cases_total = verdict.cases_total,
        .seconds = verdict.seconds,
        .json = owned->json,
    };
    verdict_free(&verdict);
    return &owned->public;
}

void akgen_verdict_free(struct akgen_verdict *verdict)
{
    struct owned_verdict *owned = (struct owned_verdict *)verdict;
    if (!owned)
        return;
    arena_free(&owned->arena);
    free(owned->json);
    free(owned);
}
