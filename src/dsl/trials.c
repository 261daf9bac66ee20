#include "dsl/trials.h"

enum { SEED = 1 };

const char *const dsl_variants[TASK_VARIANTS] = {"", ", prime sizes", ", tail sizes", ", limits", ", nan"};

const struct dsl_trial *dsl_trials_of(struct arena *arena, const struct task *task, int only_case, bool hidden,
                                      int *count)
{
    size_t most = (size_t)task->case_count;
    const struct task_case **shown = arena_alloc(arena, (most + 1) * sizeof *shown),
                           **others = arena_alloc(arena, (most * TASK_VARIANTS + 1) * sizeof *others);
    struct dsl_trial *trials = arena_alloc(arena, (most * (2 + TASK_VARIANTS) + 1) * sizeof *trials);
    int chosen = 0;
    for (int i = 0; i < task->case_count; i++)
        if (only_case < 0 || task->cases[i].id == only_case)
            shown[chosen++] = &task->cases[i];
    *count = 0;
    for (int i = 0; i < chosen; i++)
        trials[(*count)++] = (struct dsl_trial){shown[i], SEED, task_judged_by(task, TASK_UPSTREAM)};
    for (int i = 0; i < chosen && hidden; i++)
        trials[(*count)++] = (struct dsl_trial){shown[i], SEED | TASK_OTHER_VALUES, TASK_STRICT};
    int found = hidden ? task_hidden_cases(arena, task, shown, chosen, true, others) : 0;
    for (int i = 0; i < found; i++)
        trials[(*count)++] = (struct dsl_trial){others[i], SEED, TASK_STRICT};
    return trials;
}

static struct akgen_error *try_case(const struct dsl_program *program, const struct dsl_binding *bindings,
                                    const struct task *task, const struct dsl_trial *trial, int64_t elements,
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
                     trial->row->id, dsl_variants[trial->row->variant], found.items->text);
    task_instance_free(instance);
    arena_free(&arena);
    return NULL;
}

struct akgen_error *dsl_trials_try(struct arena *arena, const struct dsl_program *program, const struct task *task,
                                   int only_case, bool hidden, int64_t elements, struct dsl_messages *messages)
{
    struct dsl_binding *bindings;
    int count;
    struct akgen_error *error = dsl_bind(arena, program, task, &bindings);
    if (error)
        return error;
    const struct dsl_trial *trials = dsl_trials_of(arena, task, only_case, hidden, &count);
    for (int i = 0; i < count && !error && !messages->count; i++)
        if (!(trials[i].seed & TASK_OTHER_VALUES))
            error = try_case(program, bindings, task, &trials[i], elements, messages);
    return error;
}
