#include "cli/dsl_cases.h"
#include "cli/cli.h"

enum { SEED = 1 };

/* A case of a task that is run with inputs of a seed, judged by the profiles from `first` on. */
struct trial {
    const struct task_case *row;
    uint64_t seed;
    enum task_profile first;
};

static const char *const variants[TASK_VARIANTS] = {"", ", prime sizes", ", tail sizes", ", limits", ", nan"};

/* The shown cases; if asked for, then these with the values that the strict profile gives them, then the hidden ones. */
static const struct trial *trials_of(struct arena *arena, const struct task *task, int only_case, bool hidden,
                                     int *count)
{
    size_t most = (size_t)task->case_count;
    const struct task_case **shown = arena_alloc(arena, (most + 1) * sizeof *shown),
                           **others = arena_alloc(arena, (most * TASK_VARIANTS + 1) * sizeof *others);
    struct trial *trials = arena_alloc(arena, (most * (2 + TASK_VARIANTS) + 1) * sizeof *trials);
    int chosen = 0;
    for (int i = 0; i < task->case_count; i++)
        if (only_case < 0 || task->cases[i].id == only_case)
            shown[chosen++] = &task->cases[i];
    *count = 0;
    for (int i = 0; i < chosen; i++)
        trials[(*count)++] = (struct trial){shown[i], SEED, TASK_UPSTREAM};
    for (int i = 0; i < chosen && hidden; i++)
        trials[(*count)++] = (struct trial){shown[i], SEED | TASK_OTHER_VALUES, TASK_STRICT};
    int found = hidden ? task_hidden_cases(arena, task, shown, chosen, true, others) : 0;
    for (int i = 0; i < found; i++)
        trials[(*count)++] = (struct trial){others[i], SEED, TASK_STRICT};
    return trials;
}

/* Says whether the outputs are right; true if by each profile that judges them. */
static bool print_case(const struct trial *trial, const struct dsl_outcome *outcome)
{
    static const char *const names[] = {"upstream", "strict"};
    printf("case %d%s%s:%s", trial->row->id, variants[trial->row->variant],
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
                    const struct trial *trial, struct dsl_messages *messages)
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
    const struct trial *trials = trials_of(arena, task, only_case, hidden, &count);
    for (int i = 0; i < count; i++) {
        struct dsl_messages found = {.arena = arena, .path = messages->path, .source = messages->source};
        int code = run_case(program, bindings, task, &trials[i], &found);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static struct akgen_error *try_case(const struct dsl_program *program, const struct dsl_binding *bindings,
                                    const struct task *task, const struct trial *trial, int64_t elements,
                                    struct dsl_messages *messages)
{
    struct task_instance *instance;
    struct akgen_error *error = task_instance_shapes(task, trial->row, &instance);
    if (error)
        return error;
    for (int i = 0; i < task->input_count; i++)
        for (int t = 0; t < instance->inputs[i].count; t++)
            elements -= instance->inputs[i].tensors[t].elements;
    task_instance_free(instance);
    if (elements < 0)
        return NULL;
    if ((error = task_instance_make(task, trial->row, trial->seed, false, &instance)))
        return error;
    struct arena arena = {0};
    struct dsl_messages found = {.arena = messages->arena};
    dsl_compute_case(&arena, program, bindings, instance, npu_socs, 0, &found);
    if (found.count)
        dsl_complain(messages, found.items->place, found.items->rule, found.items->remedy, "case %d%s: %s",
                     trial->row->id, variants[trial->row->variant], found.items->text);
    task_instance_free(instance);
    arena_free(&arena);
    return NULL;
}

struct akgen_error *dsl_cases_try(struct arena *arena, const struct dsl_program *program, const struct task *task,
                                  int only_case, bool hidden, int64_t elements, struct dsl_messages *messages)
{
    struct dsl_binding *bindings;
    int count;
    struct akgen_error *error = dsl_bind(arena, program, task, &bindings);
    if (error)
        return error;
    const struct trial *trials = trials_of(arena, task, only_case, hidden, &count);
    for (int i = 0; i < count && !error && !messages->count; i++)
        if (!(trials[i].seed & TASK_OTHER_VALUES))
            error = try_case(program, bindings, task, &trials[i], elements, messages);
    return error;
}
