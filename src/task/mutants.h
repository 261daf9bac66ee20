/* How inputs are changed for candidates that leave work out: mutants.c tries them, mutate.c changes the inputs. */
#ifndef TASK_MUTANTS_H
#define TASK_MUTANTS_H

#include "task/task.h"

/* True if the kind changes a part of the input alone. An operator may read the input twice, as x / norm(x) does; the candidate
 * may leave out the part in the norm alone. */
bool mutation_is_partial(enum task_mutation kind);
/* True if the mutation changes a tensor of this shape. */
bool mutation_changes(const struct task_mutant *mutant, const struct task_tensor *tensor);
/* True if a partial mutation leaves out this element of a tensor. */
bool mutation_leaves_out(const struct task_mutant *mutant, const struct task_tensor *tensor, int64_t index);
/* Changes input number `mutant->input` of an instance; `guess` is the same case drawn again from the shown generators, NULL if it could
 * not be made. False if this case has nothing to change. */
bool mutate_input(struct task_instance *instance, const struct task_mutant *mutant, const struct task_instance *guess);

#endif
