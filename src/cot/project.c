/* From an operator to a pair: the planner's program is compiled, its explanation taken down, and the tiling function run. What the
 * explanation counts and what the tiling function says must be the same. */
#include "cot/project_internal.h"
#include "dsl/bind.h"
#include "dsl/dsl.h"
#include "dsl/explain.h"
#include "candidate/program.h"

#include <ctype.h>
#include <string.h>

/* The statements on the project and on the case. False: `dropped` says why there are none, or *error. */
static bool explain(struct arena *arena, const char *text, const struct task *task, struct project_facts *facts,
                    const char **dropped, struct akgen_error **error)
{
    struct dsl_messages messages = {.arena = arena};
    struct dsl_explanation project = {.arena = arena}, in_case = {.arena = arena};
    struct dsl_opdef opdef;
    struct dsl_binding *bindings;
    /* The compiler's passes use a tree up; what is said of the case is said of one that they have not touched. */
    const struct dsl_program *program = dsl_check_text(arena, text, &messages),
                             *used = dsl_check_text(arena, text, &messages);
    *error = program && used ? dsl_opdef_of_task(arena, used, task, &opdef) : NULL;
    bool good =
        program && used && !*error && dsl_explain(arena, (struct dsl_tree *)used->tree, &opdef, &project, &messages);
    if (good)
        *error = dsl_bind(arena, program, task, &bindings);
    else if (!*error)
        *dropped = synth_first_message(arena, &messages);
    if (good && !*error) {
        dsl_explain_case(program, bindings, &opdef, facts->instance, npu_socs, &project, &in_case);
        facts->statements = dsl_explanation_json(&project);
        facts->in_case = dsl_explanation_json(&in_case);
    }
    dsl_explanation_free(&project);
    dsl_explanation_free(&in_case);
    return good && !*error;
}

/* Whether a field of the tiling structure is the program's value: "perCore" is "per_core". */
static bool is_field(const char *field, const char *value)
{
    for (;; field++, value++) {
        while (*value == '_')
            value++;
        if (tolower((unsigned char)*field) != tolower((unsigned char)*value))
            return false;
        if (!*field)
            return true;
    }
}

/* Whether what the explanation counts in the case is what the tiling function said. */
static bool agree(const json_t *in_case, const struct eval_tiling *tiling)
{
    size_t i;
    const json_t *statement;
    json_array_foreach(in_case, i, statement)
    {
        const char *kind = json_string_value(json_object_get(statement, "kind")), *name, *field;
        json_t *facts = json_object_get(statement, "facts"), *value, *said;
        if (strcmp(kind, "run") != 0)
            continue;
        if (json_integer_value(json_object_get(facts, "cores")) != tiling->block_dim)
            return false;
        json_object_foreach(json_object_get(facts, "values"), name, value)
            json_object_foreach(tiling->fields, field, said) if (is_field(field, name) && json_is_integer(said) &&
                                                                 !json_equal(said, value)) return false;
        return true;
    }
    return false; /* it is not known what the case does */
}

static struct eval_options options_for(int id)
{
    struct eval_options options = synth_run_options(id);
    options.full = true; /* a smaller case would have another tiling */
    return options;
}

/* The tiling of a project; `dropped`: it does not compile, or refuses the case. */
static struct akgen_error *tile(struct arena *arena, const struct task *task, const struct candidate *candidate, int id,
                                struct eval_tiling *tiling, const char **dropped)
{
    const struct eval_options options = options_for(id);
    struct verdict verdict;
    struct akgen_error *error = NULL;
    eval_tile(candidate, task, &options, &verdict, tiling);
    if (verdict.kind == AKGEN_VERDICT_INFRA_ERROR)
        error = error_new("%s: %s", task->op, verdict.reason);
    else if (!tiling->fields)
        *dropped = arena_printf(arena, "machine: %s", verdict.reason);
    verdict_free(&verdict);
    return error;
}

static bool launched_with(const struct job_result *launch, const struct eval_tiling *tiling)
{
    return launch->block_dim == tiling->block_dim && launch->tiling_key == tiling->key &&
           launch->workspace == tiling->workspace && launch->tiling_bytes == tiling->bytes &&
           json_equal(launch->tiling, tiling->fields);
}

/* Runs the case; the launch must have got the tiling that the summary has. */
static struct akgen_error *run(struct arena *arena, const struct task *task, const struct candidate *candidate, int id,
                               const struct eval_tiling *tiling, struct project_pair *pair)
{
    const struct eval_options options = options_for(id);
    struct verdict verdict;
    struct akgen_error *error = NULL;
    eval_run(candidate, task, &options, &verdict);
    if (verdict.kind == AKGEN_VERDICT_INFRA_ERROR)
        error = error_new("%s: %s", task->op, verdict.reason);
    else if (verdict.kind != AKGEN_VERDICT_PASS)
        pair->dropped = arena_printf(arena, "machine: %s", verdict.reason);
    else if (!launched_with(&verdict.cases->run, tiling))
        pair->dropped = "machine: the launch had another tiling";
    pair->verdict = arena_printf(arena,
                                 "{\"verdict\":\"pass\",\"by\":\"machine\",\"profile\":\"strict\",\"cases\":[{\"case\":"
                                 "%d,\"max_abs\":%.3g}]}",
                                 id, verdict.case_count ? verdict.cases->mismatch.max_abs : 0);
    pair->machine = true;
    verdict_free(&verdict);
    return error;
}

/* Compiles, tiles, runs and writes the texts of a case of a program that is right. */
static struct akgen_error *make_pair(struct arena *arena, const struct synth_proof *proof, bool machine,
                                     struct project_facts *facts, struct project_pair *pair)
{
    const struct task *task = proof->task;
    const int id = facts->instance->task_case->id;
    const struct candidate_program program = {NULL, proof->program, strlen(proof->program)};
    struct dsl_messages messages = {.arena = arena};
    struct dsl_lowered *lowered = arena_alloc(arena, sizeof *lowered);
    struct eval_tiling *tiling = arena_alloc(arena, sizeof *tiling);
    struct candidate candidate;
    struct akgen_error *error = NULL;
    facts->lowered = lowered;
    facts->tiling = tiling;
    if (!candidate_program_compile(arena, &program, task, lowered, &messages, &error)) {
        if (!error)
            pair->dropped = synth_first_message(arena, &messages);
        return error;
    }
    if (!explain(arena, proof->program, task, facts, &pair->dropped, &error))
        return error;
    candidate_of_program(arena, lowered, &candidate);
    if ((error = tile(arena, task, &candidate, id, tiling, &pair->dropped)) || pair->dropped)
        return error;
    if (!agree(facts->in_case, tiling))
        pair->dropped = "machine: the tiling is not what the program says";
    else if (machine)
        error = run(arena, task, &candidate, id, tiling, pair);
    if (!error && !pair->dropped)
        project_texts(arena, facts, pair);
    json_decref(tiling->fields);
    return error;
}

struct akgen_error *project_make(struct arena *arena, const struct synth_operator *operator, int id,
                                 const char *scratch, bool machine, struct project_pair *pair)
{
    struct synth_proof proof;
    struct task_instance *instance;
    *pair = (struct project_pair){0};
    struct akgen_error *error = synth_prove(arena, operator, scratch, false, &proof);
    pair->dropped = error ? NULL : proof.dropped;
    if (error || pair->dropped)
        return error;
    pair->verdict = proof.verdict;
    if ((error = task_instance_shapes(proof.task, &proof.task->cases[id], &instance)))
        return error;
    struct project_facts facts = {.operator= operator, .instance = instance };
    error = make_pair(arena, &proof, machine, &facts, pair);
    json_decref((json_t *)facts.statements);
    json_decref((json_t *)facts.in_case);
    task_instance_free(instance);
    return error;
}

/* A program's first line, where that is a comment, as one in C++; "". */
static const char *first_comment(struct arena *arena, const char *program)
{
    return *program == '#' ? arena_printf(arena, "//%.*s\n", (int)strcspn(program, "\n") - 1, program + 1) : "";
}

struct akgen_error *project_of_program(struct arena *arena, const struct synth_proof *proof,
                                       struct project_answer *project)
{
    const struct candidate_program program = {NULL, proof->program, strlen(proof->program)};
    const int id = proof->task->cases[0].id;
    struct dsl_messages messages = {.arena = arena};
    struct dsl_lowered lowered;
    struct eval_tiling tiling = {0};
    struct task asked;
    struct candidate candidate;
    struct akgen_error *error = task_of_case(arena, proof->task, id, &asked);
    *project = (struct project_answer){0};
    if (error || !candidate_program_compile(arena, &program, &asked, &lowered, &messages, &error)) {
        if (!error)
            project->dropped = synth_first_message(arena, &messages);
        return error;
    }
    project_begin_kernel(arena, &lowered, first_comment(arena, proof->program));
    candidate_of_program(arena, &lowered, &candidate);
    error = tile(arena, &asked, &candidate, id, &tiling, &project->dropped);
    json_decref(tiling.fields);
    project->answer = project_files(arena, &lowered, true);
    project->verdict = arena_printf(arena, "%.*s,\"compiled\":true}", (int)strlen(proof->verdict) - 1, proof->verdict);
    return error;
}
