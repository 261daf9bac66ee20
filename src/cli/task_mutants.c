/* akgen task mutants [TASK]: which candidates that leave work out each profile passes (docs/tasks.md, Candidates that leave work out). */
#include "cli/cli.h"

#include <stdlib.h>

/* Counts the tasks that have a mutant of a kind, and those in which a profile passes one; TASK_MUTATIONS stands for any kind. */
struct kind_count {
    int tasks, passed, listed; /* listed: passed by contract alone (`trivial`) */
};

/* Prints a task's mutants that a profile passes, and counts its kinds. */
static struct akgen_error *count_task(struct arena *arena, const struct task *task, enum task_profile profile,
                                      bool full, struct kind_count counts[TASK_MUTATIONS + 1])
{
    struct task_mutants mutants;
    unsigned applies = 0, passed = 0, listed = 0;
    struct akgen_error *error = task_mutants_try(task, profile, full, &mutants);
    for (int i = 0; i < mutants.count && !error; i++) {
        const struct task_mutant *mutant = &mutants.list[i];
        const struct task_trivial *trivial = task_mutant_trivial(task, mutant);
        unsigned bit = 1u << mutant->kind;
        bool by_contract = trivial->kinds & bit;
        applies |= mutant->applies ? bit : 0;
        if (!task_mutant_passes(mutant))
            continue;
        *(by_contract ? &listed : &passed) |= bit;
        printf("%s/%s %s: passes one that %s%s%s\n", task->suite, task->name, eval_profiles.of[profile],
               task_mutant_text(arena, task, mutant), by_contract ? ": " : "", by_contract ? trivial->reason : "");
    }
    for (int kind = 0; kind <= TASK_MUTATIONS && !error; kind++) {
        unsigned bits = kind < TASK_MUTATIONS ? 1u << kind : ~0u;
        counts[kind].tasks += (applies & bits) != 0;
        counts[kind].passed += (passed & bits) != 0;
        counts[kind].listed += (listed & ~passed & bits) != 0;
    }
    task_mutants_free(&mutants);
    return error;
}

static int print_counts(struct kind_count counts[TASK_STRICT + 1][TASK_MUTATIONS + 1])
{
    printf("\n%-10s %28s %28s\n%-10s %8s %9s %9s %8s %9s %9s\n", "", "strict", "upstream", "kind", "tasks", "passed",
           "contract", "tasks", "passed", "contract");
    for (int kind = 0; kind <= TASK_MUTATIONS; kind++) {
        printf("%-10s", kind < TASK_MUTATIONS ? task_mutation_names[kind] : "any");
        for (int profile = TASK_STRICT; profile >= TASK_UPSTREAM; profile--) {
            const struct kind_count *count = &counts[profile][kind];
            printf(" %8d %9d %9d", count->tasks, count->passed, count->listed);
        }
        putchar('\n');
    }
    return counts[TASK_STRICT][TASK_MUTATIONS].passed ? EXIT_OWN_FAILURE : EXIT_PASS;
}

int cli_task_mutants(struct arena *arena, const char *name, bool full)
{
    struct kind_count counts[TASK_STRICT + 1][TASK_MUTATIONS + 1] = {0};
    struct task *tasks = arena_alloc(arena, sizeof *tasks);
    int count = 1;
    struct akgen_error *error =
        name ? task_find(arena, toolchain_home(), name, tasks) : task_load_all(arena, toolchain_home(), &tasks, &count);
    for (int i = 0; i < count && !error; i++) {
        if (tasks[i].broken)
            error = error_new("%s", tasks[i].broken);
        for (int profile = TASK_UPSTREAM; profile <= TASK_STRICT && !error; profile++)
            if (profile == TASK_STRICT || task_has_check(&tasks[i]))
                error = count_task(arena, &tasks[i], (enum task_profile)profile, full, counts[profile]);
    }
    return error ? cli_fail(EXIT_USAGE, error) : print_counts(counts);
}
