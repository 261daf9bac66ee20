/* What is wrong with an answer that was broken. */
#include "base/text.h"
#include "cot/errors_internal.h"
#include "dsl/bind.h"
#include "dsl/dsl.h"
#include "dsl/sizes.h"
#include "dsl/write.h"
#include "candidate/answer.h"
#include "gen/feedback.h"
#include "candidate/program.h"
#include "gen/remedy.h"

#include <string.h>

/* What the compiler of programs says, as the reason of a verdict. */
static enum errors_judged told(struct arena *arena, const struct dsl_messages *messages, const char *verdict,
                               struct errors_found *found)
{
    const struct dsl_message *first = dsl_messages_error(messages);
    struct text text = {0};
    if (first->rule == DSL_RULE_internal)
        return ERRORS_USELESS;
    dsl_messages_print(messages, &text);
    bool compile = strcmp(verdict, "compile_error") == 0;
    *found = (struct errors_found){.verdict = verdict,
                                   .class = compile ? diagnostic_class_name(answer_class(first->rule))
                                                    : dsl_rule_name(first->rule),
                                   .says = arena_printf(arena, "%s [%s]", first->text, dsl_rule_name(first->rule)),
                                   .told = arena_strdup(arena, text.bytes),
                                   .rule = dsl_rule_demand(first->rule),
                                   .remedy = first->remedy};
    text_free(&text);
    return ERRORS_WRONG;
}

/* An error of the candidate's. */
static enum errors_judged refused(struct arena *arena, struct akgen_error *error, enum diagnostic_class class,
                                  struct errors_found *found)
{
    *found = (struct errors_found){
        .verdict = "compile_error", .class = diagnostic_class_name(class), .says = arena_strdup(arena, error->message)};
    found->told = arena_printf(arena, "error: %s\n", found->says);
    error_free(error);
    return ERRORS_WRONG;
}

static enum errors_judged interpret(struct arena *arena, const struct task *task, const struct dsl_program *program,
                                    const struct dsl_binding *bindings, struct dsl_messages *messages,
                                    struct errors_found *found, struct akgen_error **error)
{
    enum errors_judged judged = ERRORS_RIGHT;
    for (int c = 1; c < task->case_count && !*error && judged == ERRORS_RIGHT; c++) {
        struct task_instance *instance;
        struct dsl_outcome outcome;
        if ((*error = task_instance_make(task, &task->cases[c], 0, false, &instance)))
            break;
        dsl_run_case(arena, program, bindings, instance, npu_socs, TASK_STRICT, messages, &outcome);
        const struct task_mismatch *mismatch = &outcome.by[TASK_STRICT];
        if (!outcome.ran)
            judged = messages->count ? told(arena, messages, "fault", found) : ERRORS_USELESS;
        else if (!mismatch->ok) {
            *found = (struct errors_found){
                .verdict = "wrong", .class = "result", .says = arena_strdup(arena, mismatch->reason)};
            found->told = arena_printf(arena, "case %d: %s\n%s%s", task->cases[c].id, found->says, mismatch->where,
                                       *mismatch->where ? "\n" : "");
            judged = ERRORS_WRONG;
        }
        task_instance_free(instance);
    }
    return judged;
}

enum errors_judged errors_judge_program(struct arena *arena, const struct task *task, const char *text,
                                        struct errors_found *found, struct akgen_error **error)
{
    struct dsl_messages messages = {.arena = arena}, more = {.arena = arena};
    struct dsl_binding *bindings;
    struct dsl_lowered lowered;
    const struct dsl_program *program = dsl_check_text(arena, text, &messages);
    if (program && !messages.count)
        dsl_try_sizes(arena, program, npu_socs, &messages);
    if (messages.count)
        return told(arena, &messages, "compile_error", found);
    struct akgen_error *unfit = dsl_bind(arena, program, task, &bindings);
    if (unfit)
        return refused(arena, unfit, DIAG_API, found);
    const struct candidate_program compiled = {NULL, text, strlen(text)};
    if (!candidate_program_compile(arena, &compiled, task, &lowered, &more, &unfit))
        return unfit        ? refused(arena, unfit, DIAG_API, found)
               : more.count ? told(arena, &more, "compile_error", found)
                            : ERRORS_USELESS;
    return interpret(arena, task, program, bindings, &messages, found, error);
}

enum errors_judged errors_judge_formulas(struct arena *arena, const struct task *task, const char *text,
                                         struct errors_found *found, struct akgen_error **error)
{
    struct task copy;
    const char *program;
    struct akgen_error *unfit = task_with_formulas(arena, task, text, &copy);
    if (!unfit)
        unfit = dsl_write(arena, &copy, &program);
    if (unfit)
        return refused(arena, unfit, DIAG_SYNTAX, found);
    enum errors_judged judged = errors_judge_program(arena, task, program, found, error);
    /* The program is the planner's: what its compiler says is of no use to who wrote the formulas. */
    return judged == ERRORS_WRONG && strcmp(found->verdict, "wrong") != 0 ? ERRORS_USELESS : judged;
}

/* Where the verdict comes from: a diagnostic, a finding, or how far the candidate came. */
static void find_reason(struct arena *arena, const struct verdict *verdict, struct errors_found *found)
{
    found->class = akgen_verdict_stage_name(verdict->stage);
    found->says = verdict->reason ? arena_strdup(arena, verdict->reason) : found->verdict;
    for (int i = 0; i < verdict->build.diagnostic_count && verdict->kind == AKGEN_VERDICT_COMPILE_ERROR; i++)
        if (verdict->build.diagnostics[i].error) {
            found->class = diagnostic_class_name(verdict->build.diagnostics[i].class);
            found->says = arena_strdup(arena, verdict->build.diagnostics[i].message);
            return;
        }
    for (int c = 0; c < verdict->case_count; c++) {
        const struct verdict_case *row = &verdict->cases[c];
        if (row->ok)
            continue;
        for (size_t i = 0; i < row->run.finding_count; i++)
            if (row->run.findings[i].fatal && verdict->kind == AKGEN_VERDICT_FAULT) {
                found->class = arena_strdup(arena, row->run.findings[i].fault);
                found->says = arena_strdup(arena, row->run.findings[i].message);
                found->rule = gen_remedy_of_fault(found->class).rule;
                return;
            }
        if (row->compared && !row->mismatch.ok) {
            found->class = "result";
            found->says = arena_strdup(arena, row->mismatch.reason);
        }
        return;
    }
}

enum errors_judged errors_judge_project(struct arena *arena, const struct task *task, const struct dsl_lowered *project,
                                        int broken, const char *text, struct errors_found *found,
                                        struct akgen_error **error)
{
    struct op_file *files = arena_alloc(arena, (size_t)(project->count + 1) * sizeof *files);
    struct candidate candidate;
    struct eval_options options = synth_run_options(1);
    struct verdict verdict;
    enum errors_judged judged = ERRORS_WRONG;
    options.case_seconds = 20;
    options.no_cache = true;
    *found = (struct errors_found){0};
    for (int i = 0; i < project->count; i++) {
        const char *held = i == broken ? text : project->files[i].text;
        files[i] = (struct op_file){project->files[i].path, held, strlen(held)};
    }
    candidate_of_files(arena, files, (size_t)project->count, &candidate);
    eval_run(&candidate, task, &options, &verdict);
    found->verdict = akgen_verdict_kind_name(verdict.kind);
    if (verdict.kind == AKGEN_VERDICT_INFRA_ERROR)
        *error = error_new("%s: %s", task->op, verdict.reason);
    if (verdict.kind == AKGEN_VERDICT_INFRA_ERROR || verdict.kind == AKGEN_VERDICT_UNSUPPORTED ||
        verdict.kind == AKGEN_VERDICT_TIMEOUT) /* how long a run takes is this machine's */
        judged = ERRORS_USELESS;
    else if (verdict.kind == AKGEN_VERDICT_PASS)
        judged = ERRORS_RIGHT;
    else {
        struct gen_feedback feedback;
        gen_feedback_read(arena, &verdict, NULL, &feedback);
        find_reason(arena, &verdict, found);
        found->told = gen_feedback_text(arena, &feedback, NULL);
        found->remedy = feedback.count ? feedback.points[0].remedy : NULL;
    }
    verdict_free(&verdict);
    return judged;
}
