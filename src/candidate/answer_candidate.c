/* Converts an answer that was read to a candidate: files of a project, a compiled program, or a refusal with its reason. */
#include "base/digest.h"
#include "candidate/answer.h"
#include "candidate/program.h"
#include "dsl/write.h"

#include <string.h>

#define PROGRAM_FILE "program.py"

/* The paper's class of what a rule of AscendDSL demands. */
enum {
    CLASS_text = DIAG_SYNTAX,
    CLASS_indentation = DIAG_SYNTAX,
    CLASS_syntax = DIAG_SYNTAX,
    CLASS_not_in_the_language = DIAG_SYNTAX,
    CLASS_number = DIAG_DTYPE,
    CLASS_depth = DIAG_SYNTAX,
    CLASS_extent = DIAG_SYNTAX,
    CLASS_functions = DIAG_SYNTAX,
    CLASS_launch = DIAG_SYNTAX,
    CLASS_names = DIAG_SCOPE,
    CLASS_types = DIAG_DTYPE,
    CLASS_arguments = DIAG_API,
    CLASS_stages = DIAG_API,
    CLASS_bounds = DIAG_MEMORY,
    CLASS_alignment = DIAG_MEMORY,
    CLASS_undefined = DIAG_SCOPE,
    CLASS_shared = DIAG_MEMORY,
    CLASS_coverage = DIAG_MEMORY,
    CLASS_neutral = DIAG_DTYPE,
    CLASS_arithmetic = DIAG_DTYPE,
    CLASS_refused = DIAG_MEMORY,
    CLASS_fits = DIAG_MEMORY,
    CLASS_not_compiled = DIAG_API,
    CLASS_internal = DIAG_API,
};
static const enum diagnostic_class classes[DSL_RULES] = {
#define RULE(name, text, demand) [DSL_RULE_##name] = CLASS_##name,
#include "dsl/rules.def"
#undef RULE
};

enum diagnostic_class answer_class(enum dsl_rule rule)
{
    return classes[rule];
}

static const char *source_line(struct arena *arena, const char *text, int line)
{
    enum { LONGEST = 400 };
    for (; line > 1 && text; line--) {
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : NULL;
    }
    size_t length = text ? strcspn(text, "\n") : 0;
    return length && length <= LONGEST ? arena_strndup(arena, text, length) : NULL;
}

/* The messages of the compiler, as those of any other. A rule that says that the compiler is wrong blames no candidate. */
static void refuse_program(struct arena *arena, const struct dsl_messages *messages, struct candidate *candidate)
{
    struct candidate_refusal *refusal = arena_alloc(arena, sizeof *refusal);
    struct diagnostic *diagnostics = arena_alloc(arena, sizeof *diagnostics * (size_t)(messages->kept + 1));
    const struct dsl_message *first = dsl_messages_error(messages);
    for (int i = 0; i < messages->kept; i++) {
        const struct dsl_message *message = &messages->items[i];
        diagnostics[i] = (struct diagnostic){
            .class = classes[message->rule],
            .error = !message->warning,
            .file = PROGRAM_FILE,
            .line = message->place.line,
            .column = message->place.column,
            .message = arena_printf(arena, "%s [%s]%s%s", message->text, dsl_rule_name(message->rule),
                                    message->remedy ? "; fix: " : "", message->remedy ? message->remedy : ""),
            .text = source_line(arena, messages->source, message->place.line)};
    }
    *refusal = (struct candidate_refusal){
        .kind = first->rule == DSL_RULE_internal ? AKGEN_VERDICT_INFRA_ERROR : AKGEN_VERDICT_COMPILE_ERROR,
        .reason = arena_printf(arena, PROGRAM_FILE ":%d:%d: %s [%s]", first->place.line, first->place.column,
                               first->text, dsl_rule_name(first->rule)),
        .diagnostics = diagnostics,
        .diagnostic_count = messages->kept};
    candidate->refusal = refusal;
}

typedef void make_function(struct arena *arena, const char *text, const struct task *task, struct candidate *candidate);

static void compile(struct arena *arena, const char *text, const struct task *task, struct candidate *candidate)
{
    const struct candidate_program program = {NULL, text, strlen(text)};
    struct dsl_lowered lowered;
    struct dsl_messages messages = {0};
    struct akgen_error *error;
    candidate->program = text;
    if (candidate_program_compile(arena, &program, task, &lowered, &messages, &error))
        candidate_of_program(arena, &lowered, candidate);
    else if (error) /* the task cannot call it */
        candidate_refuse_for(arena, DIAG_API, PROGRAM_FILE, error->message, candidate);
    else
        refuse_program(arena, &messages, candidate);
    candidate->program = text;
    error_free(error);
}

void candidate_of_task(struct arena *arena, const struct task *task, struct candidate *candidate)
{
    struct candidate_program program;
    struct akgen_error *error = candidate_program_of_task(arena, task, &program);
    *candidate = (struct candidate){.name = ""};
    if (error)
        candidate_refuse(arena, AKGEN_VERDICT_COMPILE_ERROR, error->message, candidate);
    else
        compile(arena, program.text, task, candidate);
    error_free(error);
    candidate->language = EVAL_DSL;
}

/* Formulas: the planner writes the program. */
static void plan(struct arena *arena, const char *formulas, const struct task *task, struct candidate *candidate)
{
    struct task copy;
    const char *program;
    struct akgen_error *error = task_with_formulas(arena, task, formulas, &copy);
    if (!error)
        error = dsl_write(arena, &copy, &program);
    if (error)
        candidate_refuse_for(arena, DIAG_SYNTAX, "formulas.txt", error->message, candidate);
    else
        compile(arena, program, task, candidate);
    error_free(error);
}

/* For all cases; where nothing comes of it and one case alone is judged, for that one. */
static void make(struct arena *arena, const char *text, const struct task *task, int only_case, make_function *of,
                 struct candidate *candidate)
{
    struct candidate alone = {0};
    struct task own;
    of(arena, text, task, candidate);
    if (!candidate->refusal || only_case < 0)
        return;
    struct akgen_error *error = task_of_case(arena, task, only_case, &own);
    if (!error)
        of(arena, text, &own, &alone);
    if (!error && !alone.refusal)
        *candidate = alone;
    error_free(error);
}

/* Six strings: a project, and the wrapper that calls it. */
static void take_strings(struct arena *arena, const char *name, const struct op_file *file, const struct task *task,
                         struct candidate *candidate)
{
    static const enum akgen_verdict_kind kinds[] = {[PY_INVALID] = AKGEN_VERDICT_COMPILE_ERROR,
                                                    [PY_BEYOND] = AKGEN_VERDICT_UNSUPPORTED,
                                                    [PY_EXECUTES] = AKGEN_VERDICT_REJECTED};
    struct op_response *response = arena_alloc(arena, sizeof *response);
    struct py_problem problem;
    struct digest *digest = digest_new_unforgeable();
    digest_bytes(digest, file->bytes, file->length);
    candidate->digest = digest_finish(digest, arena);
    op_response_read(arena, *name ? name : file->path, arena_copy(arena, file->bytes, file->length + 1), file->length,
                     task->op_type, response, &problem);
    if (problem.kind != PY_NONE) {
        candidate_refuse(arena, kinds[problem.kind], problem.message, candidate);
        return;
    }
    candidate->response = response;
    candidate->files = op_response_files(arena, response, task->op_type);
}

void candidate_of_answer(struct arena *arena, const struct answer *answer, const char *name, const struct task *task,
                         int only_case, struct candidate *candidate)
{
    *candidate = (struct candidate){.name = ""};
    switch (answer->kind) {
    case ANSWER_IS_NOTHING:
        candidate_refuse_for(arena, DIAG_SYNTAX, NULL, answer->problem, candidate);
        break;
    case ANSWER_IS_PROGRAM:
        make(arena, answer->files[0].bytes, task, only_case, compile, candidate);
        break;
    case ANSWER_IS_FORMULAS:
        make(arena, answer->files[0].bytes, task, only_case, plan, candidate);
        break;
    case ANSWER_IS_STRINGS:
        take_strings(arena, name, &answer->files[0], task, candidate);
        break;
    case ANSWER_IS_PROJECT:
        candidate_of_files(arena, answer->files, (size_t)answer->count, candidate);
        break;
    }
    candidate->language = answer->language;
    candidate->name = arena_strdup(arena, name);
}

void answer_read_file(struct arena *arena, const char *name, const char *text, size_t length, const struct task *task,
                      const struct candidate_asked *asked, struct answer *answer, struct candidate *candidate)
{
    /* A .py file may hold six strings or a program; other text is what was asked for. */
    const char *end = strrchr(name, '.');
    const bool own_form = !asked->language_given && end && strcmp(end, ".py") == 0;
    answer_read(arena, text, length, task, asked->scope, own_form ? EVAL_ANY : asked->language, answer);
    if (answer->kind == ANSWER_IS_FORMULAS && own_form)
        answer_hold(arena, answer, EVAL_ASCENDC); /* a line of Python, but no form that a .py file has */
    if (candidate)
        candidate_of_answer(arena, answer, name, task, asked->only_case, candidate);
}
