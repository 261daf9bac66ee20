/* The cases of a task on which a program is tried by the interpreter. */
#ifndef DSL_TRIALS_H
#define DSL_TRIALS_H

#include "dsl/bind.h"

/* A case of a task that is run with inputs of a seed, judged by the profiles from `first` on. */
struct dsl_trial {
    const struct task_case *row;
    uint64_t seed;
    enum task_profile first;
};
/* What a case's variant is called behind its number: "", ", prime sizes", .. */
extern const char *const dsl_variants[TASK_VARIANTS];
/* The shown cases (`only_case`: one, below 0: all); if asked for, then these with the values that the strict profile gives them, then
 * the hidden ones. In the arena. */
const struct dsl_trial *dsl_trials_of(struct arena *arena, const struct task *task, int only_case, bool hidden,
                                      int *count);
/* Interprets the program in those that have at most `elements` in their inputs, up to the first in which something goes wrong, and
 * says what; values are not compared. An error is one of the task. */
struct akgen_error *dsl_trials_try(struct arena *arena, const struct dsl_program *program, const struct task *task,
                                   int only_case, bool hidden, int64_t elements, struct dsl_messages *messages);

#endif
