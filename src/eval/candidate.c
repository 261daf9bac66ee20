/* The candidate of a verdict: what can be said of it before it is built, and how its wrapper calls it. */
#include "candidate/reader.h"
#include "eval/eval_internal.h"

#include <string.h>

static void take_refusal(struct verdict *verdict, const struct candidate_refusal *refusal, enum eval_language language)
{
    verdict->build.diagnostics = arena_copy(&verdict->arena, refusal->diagnostics,
                                            sizeof *refusal->diagnostics * (size_t)refusal->diagnostic_count);
    verdict->build.diagnostic_count = refusal->diagnostic_count;
    if (verdict->language == EVAL_ANY)
        verdict->language = language;
    verdict_set(verdict, refusal->kind, AKGEN_STAGE_PARSE, refusal->reason);
}

/* True if a candidate in this language counts. Where none was asked for, it counts in its own. */
static bool take_language(struct verdict *verdict, enum eval_language found)
{
    const struct eval_options *options = verdict->options;
    const enum eval_language asked = options->language_given ? options->language : EVAL_ANY;
    const char *problem = eval_language_problem(&verdict->arena, asked, found);
    if (asked == EVAL_ANY)
        verdict->language = found;
    if (!problem)
        return true;
    const struct diagnostic diagnostic = {.class = DIAG_SYNTAX, .error = true, .message = problem};
    take_refusal(verdict, &(struct candidate_refusal){AKGEN_VERDICT_COMPILE_ERROR, problem, &diagnostic, 1}, found);
    return false;
}

bool eval_open_candidate(struct verdict *verdict, const struct task *task, bool need_host, struct op_project *project)
{
    const struct candidate *candidate = &verdict->candidate;
    if (candidate->refusal) {
        take_refusal(verdict, candidate->refusal, candidate->language);
        return false;
    }
    if (!take_language(verdict, candidate->language))
        return false;
    const char *op_type = candidate->response ? NULL : task->op_type; /* an answer has one kernel: its file names it */
    struct akgen_error *error = op_project_find(&verdict->arena, &candidate->files, op_type, need_host, project);
    if (error)
        verdict_set(verdict, AKGEN_VERDICT_COMPILE_ERROR, AKGEN_STAGE_PARSE,
                    arena_strdup(&verdict->arena, error->message));
    error_free(error);
    return !error;
}

bool eval_check_wrapper(struct verdict *verdict, struct budget *budget)
{
    static const struct {
        enum akgen_verdict_kind kind;
        enum akgen_verdict_stage stage;
    } outcomes[] = {
        [OP_WRAPPER_MORE] = {AKGEN_VERDICT_UNSUPPORTED, AKGEN_STAGE_RUN},
        [OP_WRAPPER_FOREIGN] = {AKGEN_VERDICT_REJECTED, AKGEN_STAGE_RUN},
        [OP_WRAPPER_BROKEN] = {AKGEN_VERDICT_WRONG, AKGEN_STAGE_RUN}, /* it compiles; the call fails */
        [OP_WRAPPER_INVALID] = {AKGEN_VERDICT_COMPILE_ERROR, AKGEN_STAGE_HOST},
    };
    if (!verdict->candidate.response)
        return true;
    const struct candidate_refusal *refusal = candidate_read_wrapper(&verdict->arena, verdict->candidate.response,
                                                                     &verdict->build.def, budget, &verdict->wrapper);
    if (refusal) {
        verdict_set(verdict, refusal->kind, AKGEN_STAGE_PARSE, refusal->reason);
        return false;
    }
    enum op_wrapper_kind kind = verdict->wrapper.kind;
    if (kind == OP_WRAPPER_INVALID) {
        /* The extension is host code: what is wrong with it stands with the compiler's errors. Only types are looked at. */
        struct build *build = &verdict->build;
        struct diagnostic *all = arena_alloc(&verdict->arena, sizeof *all * (size_t)(build->diagnostic_count + 1));
        if (build->diagnostic_count)
            memcpy(all, build->diagnostics, sizeof *all * (size_t)build->diagnostic_count);
        all[build->diagnostic_count++] = (struct diagnostic){.class = DIAG_DTYPE,
                                                             .error = true,
                                                             .file = "python_bind_src",
                                                             .line = verdict->wrapper.line,
                                                             .message = verdict->wrapper.reason};
        build->diagnostics = all;
        build->stage = BUILD_HOST;
        build->error = verdict->wrapper.reason;
    }
    if (kind != OP_WRAPPER_PLAIN)
        verdict_set(verdict, outcomes[kind].kind, outcomes[kind].stage, verdict->wrapper.reason);
    return kind == OP_WRAPPER_PLAIN;
}
