/* The proof of an operator: values are chosen for which golden is finite; then planner, checker, interpreter; sometimes the machine. */
#include "cot/synth_prove.h"
#include "base/files.h"
#include "base/text.h"
#include "dsl/bind.h"
#include "dsl/dsl.h"
#include "dsl/write.h"
#include "candidate/answer.h"
#include "candidate/program.h"
#include "gen/prompt.h"
#include "task/expr/formula.h"
#include "task/reference/expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tensors that the description calls lists become lists, of one member in each case: golden is that of tensor 0. */
static struct akgen_error *make_lists(struct arena *arena, const struct synth_operator *operator, struct task * task)
{
    struct akgen_error *error = NULL;
    for (int i = 0; i < task->input_count + task->output_count && !error; i++) {
        struct task_param *param = i < task->input_count ? &task->inputs[i] : &task->outputs[i - task->input_count];
        if (!strstr(operator->listed, arena_printf(arena, " %s ", param->name)))
            continue;
        param->kind = TASK_TENSOR_LIST;
        error = expr_parse(arena, arena_printf(arena, "[%s]", expr_text(param->shape)), &task->columns, &param->shape);
    }
    return error;
}

/* The task, or that which is meant, with the first kind of values for which it is one to judge with. False: `why` not, or *error. */
static bool load(struct arena *arena, const struct synth_operator *operator, bool meant, const char *scratch,
                 struct task *task, const char **why, struct akgen_error **error)
{
    const char *text = arena_printf(arena, "# %s\n\n%s\n", operator->op, operator->description);
    *error = files_write(arena_printf(arena, "%s/desc.md", scratch), text, strlen(text));
    for (int i = 0; i < SYNTH_VALUES && !*error; i++) {
        struct akgen_error *unfit = task_of_texts(arena, scratch, meant ? operator->meant_yaml[i] : operator->yaml[i],
                                                  operator->cases, task);
        if (!unfit && meant && operator->lists)
            unfit = make_lists(arena, operator, task);
        for (int c = 1; !unfit && c < task->case_count; c++)
            unfit = task_check_case(task, &task->cases[c], 0);
        if (!unfit)
            return true;
        *why = arena_strdup(arena, unfit->message);
        error_free(unfit);
    }
    return false;
}

static bool drop(struct synth_proof *proof, const char *why)
{
    proof->dropped = why;
    return false;
}

const char *synth_first_message(struct arena *arena, const struct dsl_messages *messages)
{
    const struct dsl_message *message = dsl_messages_error(messages);
    return message ? arena_printf(arena, "program: %s [%s]", message->text, dsl_rule_name(message->rule))
                   : "program: refused";
}

/* The small cases by the interpreter. */
static bool interpret(struct arena *arena, const struct task *task, struct synth_proof *proof,
                      struct akgen_error **error)
{
    struct dsl_messages messages = {.arena = arena};
    struct dsl_binding *bindings;
    const struct dsl_program *program = dsl_check_text(arena, proof->program, &messages);
    if (!program)
        return drop(proof, synth_first_message(arena, &messages));
    if ((*error = dsl_bind(arena, program, task, &bindings)))
        return false;
    struct text verdict = {0};
    text_add(&verdict, "{\"verdict\":\"pass\",\"by\":\"interpreter\",\"profile\":\"strict\",\"cases\":[");
    for (int c = 1; c < task->case_count && !*error && !proof->dropped; c++) {
        struct task_instance *instance;
        struct dsl_outcome outcome;
        if ((*error = task_instance_make(task, &task->cases[c], 0, false, &instance)))
            break;
        dsl_run_case(arena, program, bindings, instance, npu_socs, TASK_STRICT, &messages, &outcome);
        if (!outcome.ran)
            drop(proof, synth_first_message(arena, &messages));
        else if (!outcome.by[TASK_STRICT].ok)
            drop(proof, "wrong by the strict profile: terms cancel, or the planner is wrong");
        else
            text_addf(&verdict, "%s{\"case\":%d,\"max_abs\":%.3g}", c > 1 ? "," : "", task->cases[c].id,
                      outcome.by[TASK_STRICT].max_abs);
        task_instance_free(instance);
    }
    text_add(&verdict, "]}");
    proof->verdict = arena_strdup(arena, verdict.bytes);
    text_free(&verdict);
    return !proof->dropped && !*error;
}

struct eval_options synth_run_options(int id)
{
    return (struct eval_options){.soc = npu_socs,
                                 .mode = EVAL_DYNAMIC,
                                 .scope = EVAL_PROJECT,
                                 .profile = TASK_STRICT,
                                 .only_case = id,
                                 .jobs = 1,
                                 .no_timing = true};
}

/* The project of the program on the machine; what is wrong there is the compiler's fault, and tells so. */
static struct akgen_error *run(struct arena *arena, const struct task *task, struct synth_proof *proof)
{
    const struct candidate_program program = {NULL, proof->program, strlen(proof->program)};
    struct dsl_lowered lowered;
    struct dsl_messages messages = {.arena = arena};
    struct akgen_error *error = NULL;
    struct candidate candidate;
    if (!candidate_program_compile(arena, &program, task, &lowered, &messages, &error)) {
        if (!error)
            drop(proof, synth_first_message(arena, &messages));
        return error;
    }
    candidate_of_program(arena, &lowered, &candidate);
    const struct eval_options options = synth_run_options(1);
    struct verdict verdict;
    eval_run(&candidate, task, &options, &verdict);
    if (verdict.kind == AKGEN_VERDICT_INFRA_ERROR)
        error = error_new("%s: %s", task->op, verdict.reason);
    else if (verdict.kind != AKGEN_VERDICT_PASS)
        drop(proof, arena_printf(arena, "machine: %s", verdict.reason));
    proof->verdict = arena_printf(
        arena,
        "{\"verdict\":\"pass\",\"by\":\"machine\",\"profile\":\"strict\",\"cases_passed\":%d,\"cases_total\":%d}",
        verdict.cases_passed, verdict.cases_total);
    proof->machine = true;
    verdict_free(&verdict);
    return error;
}

/* The line of an input that no formula has: the first output's type and shape. */
static const char *idle_line(struct arena *arena, const struct synth_operator *operator, const char * brief)
{
    if (operator->idle_as)
        return arena_printf(arena, "in %s %s\n", operator->idle, operator->idle_as);
    const char *output = strstr(brief, "\nout ") + 5, *behind = output + strcspn(output, " ");
    return arena_printf(arena, "in %s%s%.*s\n", operator->idle, operator->lists ? " list" : "",
                        (int)strcspn(behind, "\n"), behind);
}

/* A brief whose first `count` outputs stand behind the others. */
static const char *turned(struct arena *arena, const char *brief, int count)
{
    const char *first = strstr(brief, "\nout "), *other = first;
    for (int i = 0; i < count && other; i++)
        other = strstr(other + 1, "\nout ");
    return !count || !other
               ? arena_strdup(arena, brief)
               : arena_printf(arena, "%.*s%s%.*s", (int)(first - brief), brief, other, (int)(other - first), first);
}

/* The brief of the task, which has one tensor in the place of each list and outputs of their own, as that of the operator that is
 * meant. */
static const char *as_it_is_asked(struct arena *arena, const struct synth_operator *operator, const char * brief)
{
    struct text text = {0};
    bool told = false;
    for (const char *at = brief; *at;) {
        size_t length = strcspn(at, "\n");
        bool output = strncmp(at, "out ", 4) == 0, tensor = output || strncmp(at, "in ", 3) == 0;
        const char *name = at + (output ? 4 : 3), *line = arena_strndup(arena, at, length);
        size_t named = tensor ? strcspn(name, " ") : 0;
        const char *input = output ? synth_place_of(arena, operator->in_place, name, named) : NULL;
        if (!told && (output || strncmp(at, "attr ", 5) == 0)) {
            if (operator->idle)
                text_add(&text, idle_line(arena, operator, brief));
            if (operator->absent)
                text_addf(&text, "in %s absent\n", operator->absent);
            told = true;
        }
        bool listed = operator->lists && tensor &&
                      strstr(operator->listed, arena_printf(arena, " %.*s ", (int)named, name));
        if (tensor)
            text_addf(&text, "%s %.*s%s%s%s", output ? "out" : "in", input ? (int)strlen(input) : (int)named,
                      input ? input : name, listed ? " list" : "", line + (name - at) + named,
                      input ? " in place" : "");
        else
            text_add(&text, line);
        at += length + (at[length] == '\n');
        text_add(&text, *at ? "\n" : "");
    }
    const char *kept = turned(arena, text.bytes, operator->turned);
    text_free(&text);
    return kept;
}

const char *synth_drop_kind(const char *reason)
{
    static const char *const kinds[] = {"planner", "machine", "program"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(reason, kinds[i], strlen(kinds[i])) == 0)
            return kinds[i];
    return strstr(reason, "not finite")     ? "results are not finite"
           : strstr(reason, "terms cancel") ? "terms cancel"
                                            : "no task";
}

struct akgen_error *synth_prove(struct arena *arena, const struct synth_operator *operator, const char * scratch,
                                bool machine, struct synth_proof *proof)
{
    struct task *task = arena_alloc(arena, sizeof *task);
    struct akgen_error *error;
    *proof = (struct synth_proof){.task = task};
    if (!load(arena, operator, false, scratch, task, &proof->dropped, &error))
        return error;
    proof->dropped = NULL;
    if ((error = gen_task_brief(arena, task, &proof->brief)))
        return error;
    proof->brief = as_it_is_asked(arena, operator, proof->brief);
    struct akgen_error *refused = dsl_write(arena, task, &proof->program);
    if (refused) {
        drop(proof, arena_printf(arena, "planner: %s", refused->message));
        error_free(refused);
        return NULL;
    }
    bool right = interpret(arena, task, proof, &error);
    return right && machine ? run(arena, task, proof) : error;
}

/* A program as a small model can learn it: first the formulas, then no comments, and no assertions. */
static const char *shortened(struct arena *arena, const char *formulas, const char *program)
{
    struct text text = {0};
    int depth = 0; /* of brackets, in an assertion */
    bool asserts = false;
    text_addf(&text, "# %s\n", formulas);
    for (const char *line = program; *line;) {
        size_t length = strcspn(line, "\n");
        const char *first = line + strspn(line, " "), *comment = strstr(line, "  # ");
        asserts |= strncmp(first, "assert ", 7) == 0;
        for (size_t i = 0; asserts && i < length; i++)
            depth += (line[i] == '(') - (line[i] == ')');
        if (!asserts && *first != '#')
            text_addf(&text, "%.*s\n", (int)(comment && comment < line + length ? (size_t)(comment - line) : length),
                      line);
        asserts &= depth > 0;
        line += length + (line[length] == '\n');
    }
    return text_keep(&text, arena);
}

struct akgen_error *synth_prove_program(struct arena *arena, const struct synth_operator *operator,
                                        const char * scratch, bool brief, const struct synth_proof *proof,
                                        struct synth_proof *of)
{
    bool meant = operator->meant_yaml[0];
    struct task *task = arena_alloc(arena, sizeof *task);
    struct akgen_error *error = NULL;
    *of = *proof;
    if (!brief && !meant)
        return NULL;
    *of = (struct synth_proof){.task = meant ? task : proof->task, .brief = proof->brief};
    if (meant && !load(arena, operator, true, scratch, task, &of->dropped, &error))
        return error;
    of->dropped = NULL;
    struct akgen_error *refused = (brief ? dsl_write_plain : dsl_write)(arena, of->task, &of->program);
    if (refused) {
        drop(of, arena_printf(arena, "planner: %s", refused->message));
        error_free(refused);
        return NULL;
    }
    if (brief)
        of->program = shortened(arena, operator->answer, of->program);
    interpret(arena, of->task, of, &error);
    return error;
}

static void keep_values(void *state, int64_t first, int64_t n, const double *values)
{
    memcpy((double *)state + first, values, (size_t)n * sizeof *values);
}

/* Whether a statement of an answer gives a name its value. */
static bool assigns(const char *answer, const char *name, size_t length)
{
    for (const char *at = answer; *at;) {
        at += strspn(at, " \t\r\n;`");
        const char *behind = strncmp(at, name, length) == 0 ? at + length + strspn(at + length, " \t") : "";
        if (behind[0] == '=' && behind[1] != '=')
            return true;
        at += strcspn(at, ";\n");
    }
    return false;
}

/* An answer, whose outputs have the names of inputs where they are in place, with those of the task behind it. */
static const char *with_outputs(struct arena *arena, const char *answer, const char *pairs)
{
    struct text text = {0};
    text_add(&text, answer);
    for (const char *at = pairs; *at;) {
        size_t pair = strcspn(at, " "), output = strcspn(at, "=");
        const char *input = at + output + 1;
        if (assigns(answer, input, pair - output - 1))
            text_addf(&text, "\n%.*s = %.*s", (int)output, at, (int)(pair - output - 1), input);
        at += pair + (at[pair] == ' ');
    }
    return text_keep(&text, arena);
}

/* What formulas compute in double: the values of one output after the other. NULL: their shapes do not fit, or they jump (round, a comparison), so
 * that two ways of computing the same may differ. */
static double *values_of(struct arena *arena, const struct task_instance *made, const struct task *task, int64_t count)
{
    struct task_instance instance = *made;
    struct formula_bound *bound = NULL;
    double *values = arena_alloc(arena, (size_t)(count + 1) * sizeof *values), *at = values;
    instance.task = task;
    struct akgen_error *error = task_formulas_bind(arena, &instance, &bound);
    bool jumps = !error && formula_jumps(bound);
    for (int i = 0; i < task->output_count && !error && !jumps; i++) {
        const struct task_tensor *output = &instance.outputs[i].tensors[0];
        int step = task->outputs[i].formula->count - 1;
        if (!(error = formula_fits(bound, step, output)))
            formula_compute(bound, step, output, keep_values, at);
        at += output->elements;
    }
    bool known = !error && !jumps;
    error_free(error);
    return known ? values : NULL;
}

/* Whether an answer's formulas differ from the operator's in double, where hardly anything drowns: a term that no small case shows in the data type of
 * the task, 1e-6 of a sum. They agree up to what another order of sums does. */
static bool differs_in_double(struct arena *arena, const struct task *task, const struct task *copy)
{
    bool differs = false;
    for (int c = 1; c < task->case_count && !differs; c++) {
        struct task_instance *instance;
        struct akgen_error *error = task_instance_make(task, &task->cases[c], 0, false, &instance);
        if (error) {
            error_free(error);
            continue;
        }
        int64_t count = 0;
        for (int i = 0; i < task->output_count; i++)
            count += instance->outputs[i].tensors[0].elements;
        const double *golden = values_of(arena, instance, task, count), *own = values_of(arena, instance, copy, count);
        double largest = 0;
        for (int64_t i = 0; golden && own && i < count; i++)
            largest = isfinite(golden[i]) ? fmax(largest, fabs(golden[i])) : largest;
        for (int64_t i = 0; golden && own && i < count; i++)
            differs |= isfinite(golden[i]) && !(fabs(own[i] - golden[i]) <= 1e-9 * fabs(golden[i]) + 1e-12 * largest);
        task_instance_free(instance);
    }
    return differs;
}

static enum synth_worth worth_of(struct arena *arena, const struct task *task, const char *answer)
{
    struct answer read;
    struct task copy;
    struct synth_proof proof = {0};
    answer_read(arena, answer, strlen(answer), task, EVAL_PROJECT, EVAL_GRAPH, &read);
    if (read.kind != ANSWER_IS_FORMULAS)
        return SYNTH_REFUSED;
    struct akgen_error *error = task_with_formulas(arena, task, read.files[0].bytes, &copy);
    if (!error)
        error = dsl_write(arena, &copy, &proof.program);
    if (error) {
        error_free(error);
        return SYNTH_REFUSED;
    }
    bool right = interpret(arena, task, &proof, &error) && !differs_in_double(arena, task, &copy);
    enum synth_worth worth = error ? SYNTH_REFUSED : right ? SYNTH_RIGHT : SYNTH_WRONG;
    error_free(error);
    return worth;
}

static enum synth_worth worth_of_program(struct arena *arena, const struct task *task, const char *answer)
{
    struct answer read;
    answer_read(arena, answer, strlen(answer), task, EVAL_PROJECT, EVAL_DSL, &read);
    if (read.kind != ANSWER_IS_PROGRAM)
        return SYNTH_REFUSED;
    struct synth_proof proof = {.program = read.files[0].bytes};
    struct akgen_error *refused = NULL;
    if (interpret(arena, task, &proof, &refused))
        return SYNTH_RIGHT;
    bool wrong = !refused && strncmp(proof.dropped, "wrong", 5) == 0;
    error_free(refused);
    return wrong ? SYNTH_WRONG : SYNTH_REFUSED;
}

/* Whether the question is the brief, with what asks for a program behind it where one is asked for. */
static bool asks(struct arena *arena, const char *question, const char *brief, bool program)
{
    return strcmp(question, program ? arena_printf(arena, "%s" SYNTH_PROGRAM_IS_ASKED, brief) : brief) == 0;
}

struct akgen_error *synth_judge(struct arena *arena, const struct synth_operator *made, const char *scratch,
                                const char *question, const char *const *answers, int count, enum synth_worth *worth)
{
    struct task task, meant;
    struct akgen_error *error;
    const char *why, *brief, *end = strstr(question, SYNTH_PROGRAM_IS_ASKED);
    const bool program = end && !end[strlen(SYNTH_PROGRAM_IS_ASKED)];
    if (!load(arena, made, false, scratch, &task, &why, &error))
        return error ? error : error_new("no operator to judge with: %s", why);
    if ((error = gen_task_brief(arena, &task, &brief)))
        return error;
    if (!asks(arena, question, as_it_is_asked(arena, made, brief), program))
        return error_of_the_file(
            error_new("its seed makes another operator than the question is about: another akgen made the row"));
    const bool other = program && made->meant_yaml[0];
    if (other && !load(arena, made, true, scratch, &meant, &why, &error))
        return error ? error : error_new("no operator to judge with: %s", why);
    for (int i = 0; i < count; i++) {
        struct arena own = {0};
        worth[i] = !answers[i] ? SYNTH_REFUSED
                   : program   ? worth_of_program(&own, other ? &meant : &task, answers[i])
                               : worth_of(&own, &task, with_outputs(&own, answers[i], made->in_place));
        arena_free(&own);
    }
    return NULL;
}

const char *synth_chain(struct arena *arena, const char *program)
{
    struct text chain = {0};
    const char *line = strstr(program, "\n# ");
    for (line = line ? line + 1 : ""; strncmp(line, "# ", 2) == 0;) {
        size_t length = strcspn(line, "\n");
        text_addf(&chain, "%s%.*s", chain.length ? "\n" : "", (int)length - 2, line + 2);
        line += length + (line[length] == '\n');
    }
    const char *kept = text_keep(&chain, arena);
    return *kept ? kept : NULL;
}
