/* A candidate: an operator project in a directory, or an answer in a file, which is unpacked as one. What is evaluated is a
 * copy of it. */
#include "eval/eval_internal.h"

#include <string.h>

static void set_error(struct verdict *verdict, enum akgen_verdict_kind kind, struct akgen_error *error)
{
    verdict_set(verdict, kind, AKGEN_STAGE_PARSE, arena_strdup(&verdict->arena, error->message));
    error_free(error);
}

/* Reads six strings and writes them as a project. */
static bool unpack(struct verdict *verdict, const struct task *task, const struct eval_answer *answer)
{
    static const enum akgen_verdict_kind kinds[] = {[PY_INVALID] = AKGEN_VERDICT_COMPILE_ERROR,
                                                    [PY_BEYOND] = AKGEN_VERDICT_UNSUPPORTED,
                                                    [PY_EXECUTES] = AKGEN_VERDICT_REJECTED};
    struct arena *arena = &verdict->arena;
    struct snapshot *snapshot = &verdict->snapshot;
    struct op_response *response = arena_alloc(arena, sizeof *response);
    struct py_problem problem;
    op_response_read(arena, verdict->candidate_dir, answer->text, answer->length, task->op_type, response, &problem);
    if (problem.kind != PY_NONE) {
        verdict_set(verdict, kinds[problem.kind], AKGEN_STAGE_PARSE, problem.message);
        return false;
    }
    verdict->response = response;
    struct akgen_error *error = op_response_unpack(arena, response, task->op_type, snapshot->dir);
    if (error)
        set_error(verdict, AKGEN_VERDICT_INFRA_ERROR, error);
    return !error;
}

const char *eval_language_problem(struct arena *arena, enum eval_language asked, enum eval_language found)
{
    static const char *const names[] = {
        [EVAL_ASCENDC] = "Ascend C", [EVAL_DSL] = "a program in AscendDSL", [EVAL_GRAPH] = "formulas"};
    if (asked == EVAL_ANY || asked == found)
        return NULL;
    return arena_printf(arena, "the answer is %s, but %s asked for (--language %s counts it)", names[found],
                        asked == EVAL_GRAPH ? "formulas were" : arena_printf(arena, "%s was", names[asked]),
                        eval_languages.of[found]);
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
    verdict_refuse(verdict, &(struct eval_refusal){AKGEN_VERDICT_COMPILE_ERROR, problem, &diagnostic, 1, found});
    return false;
}

/* An answer becomes a project in the snapshot's folder. */
static bool open_answer(struct verdict *verdict, const struct task *task)
{
    const struct eval_options *options = verdict->options;
    const struct snapshot *snapshot = &verdict->snapshot;
    const char *end = strrchr(verdict->candidate_dir, '.');
    struct eval_answer answer = {.form = EVAL_ANSWER_STRINGS,
                                 .text = snapshot->answer,
                                 .length = snapshot->answer_bytes,
                                 .own_form = !options->language_given && end && strcmp(end, ".py") == 0};
    struct akgen_error *error = options->read_answer
                                    ? options->read_answer(&verdict->arena, snapshot->answer, snapshot->answer_bytes,
                                                           task, options, snapshot->dir, &answer)
                                    : NULL;
    if (error)
        set_error(verdict, AKGEN_VERDICT_INFRA_ERROR, error);
    else if (answer.form == EVAL_ANSWER_REFUSED)
        verdict_refuse(verdict, answer.refusal);
    else
        return take_language(verdict, answer.language) &&
               (answer.form == EVAL_ANSWER_WRITTEN || unpack(verdict, task, &answer));
    return false;
}

bool candidate_open(struct verdict *verdict, const struct task *task, bool need_host, struct op_project *project)
{
    struct snapshot *snapshot = &verdict->snapshot;
    struct akgen_error *error = snapshot_take(&verdict->arena, verdict->options->cache_dir,
                                              verdict->options->candidates, verdict->candidate_dir, snapshot);
    if (error) {
        set_error(verdict, error->of_the_file ? AKGEN_VERDICT_COMPILE_ERROR : AKGEN_VERDICT_INFRA_ERROR, error);
        return false;
    }
    verdict->candidate_hash = snapshot->digest;
    verdict->project_dir = snapshot->dir;
    if (snapshot->answer ? !open_answer(verdict, task) : !take_language(verdict, verdict->options->folder_language))
        return false;
    verdict->map = source_map_read(&verdict->arena, snapshot->dir);
    const char *op_type = verdict->response ? NULL : task->op_type; /* an answer has one kernel: its file names it */
    error = op_project_find(&verdict->arena, snapshot->dir, op_type, need_host, project);
    if (error)
        set_error(verdict, project->unreadable ? AKGEN_VERDICT_INFRA_ERROR : AKGEN_VERDICT_COMPILE_ERROR, error);
    return !error;
}

/* The extension is host code: what is wrong with it stands with the compiler's errors. Only types are looked at. */
static void fail_build(struct verdict *verdict)
{
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

bool candidate_check_wrapper(struct verdict *verdict)
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
    if (!verdict->response)
        return true;
    op_wrapper_read(&verdict->arena, verdict->response, &verdict->build.def, &verdict->wrapper);
    enum op_wrapper_kind kind = verdict->wrapper.kind;
    if (kind == OP_WRAPPER_INVALID)
        fail_build(verdict);
    if (kind != OP_WRAPPER_PLAIN)
        verdict_set(verdict, outcomes[kind].kind, outcomes[kind].stage, verdict->wrapper.reason);
    return kind == OP_WRAPPER_PLAIN;
}

void candidate_close(struct verdict *verdict)
{
    snapshot_remove(&verdict->snapshot);
}
