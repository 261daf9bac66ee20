#include "cli/dsl_cases.h"
#include "cli/cli.h"
#include "dsl/trials.h"

/* Says whether the outputs are right; true if by each profile that judges them. */
static bool print_case(const struct dsl_trial *trial, const struct dsl_outcome *outcome)
{
    static const char *const names[] = {"upstream", "strict"};
    printf("case %d%s%s:%s", trial->row->id, dsl_variants[trial->row->variant],
           trial->seed & TASK_OTHER_VALUES ? ", other values" : "", outcome->ran ? "" : " stopped");
    bool right = outcome->ran;
    for (enum task_profile profile = trial->first; outcome->ran && profile <= TASK_STRICT; profile++) {
        const struct task_mismatch *result = &outcome->by[profile];
        right &= result->ok;
        printf(" %s %s%s%s", names[profile], result->ok ? "right" : "wrong", result->ok ? "" : ": ", result->reason);
    }
    printf("\n");
    return right;
}

static int run_case(const struct dsl_program *program, const struct dsl_binding *bindings, const struct task *task,
                    const struct dsl_trial *trial, struct dsl_messages *messages)
{
    struct task_instance *instance;
    struct akgen_error *error = task_instance_make(task, trial->row, trial->seed, false, &instance);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    struct arena arena = {0};
    struct dsl_outcome outcome;
    dsl_run_case(&arena, program, bindings, instance, npu_socs, trial->first, messages, &outcome);
    bool right = print_case(trial, &outcome);
    fflush(stdout);
    if (!outcome.ran)
        dsl_messages_show(messages);
    task_instance_free(instance);
    arena_free(&arena);
    return right ? EXIT_PASS : EXIT_OTHER_VERDICT;
}

int dsl_cases_run(struct arena *arena, const struct dsl_program *program, const struct task *task, int only_case,
                  bool hidden, const struct dsl_messages *messages)
{
    struct dsl_binding *bindings;
    struct akgen_error *error = dsl_bind(arena, program, task, &bindings);
    if (error)
        return cli_fail(EXIT_OTHER_VERDICT, error_prefix(error, "%s", program->tree->path));
    int worst = EXIT_PASS, count;
    const struct dsl_trial *trials = dsl_trials_of(arena, task, only_case, hidden, &count);
    for (int i = 0; i < count; i++) {
        struct dsl_messages found = {.arena = arena, .path = messages->path, .source = messages->source};
        int code = run_case(program, bindings, task, &trials[i], &found);
        worst = code > worst ? code : worst;
    }
    return worst;
}
