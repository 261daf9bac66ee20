/* Expected outputs: what src/task asks the references for. */
#ifndef TASK_REFERENCE_EXPECTED_H
#define TASK_REFERENCE_EXPECTED_H

#include "task/model/model.h"

/* NULL if there is none of that name. */
const struct task_reference_entry *task_reference_find(const char *name);
/* What it needs of a task, as text (signature.h), and parsed; NULL: what the task's formulas name. */
const char *task_reference_needs(const struct task_reference_entry *reference);
const struct reference_signature *task_reference_signature(struct arena *arena,
                                                           const struct task_reference_entry *reference);
/* An error if the reference cannot compute the case: what its signature says of shapes, types and attributes, and of
 * the inputs' values where they have been made. */
struct akgen_error *task_reference_fits(const struct task_instance *instance);
/* Name number `index` of the references that task.yaml may name, NULL behind the last. */
const char *task_reference_name(int index);
/* "; did you mean a, b?" for a name that is none of them, nearest first; or what lists them all. */
const char *task_reference_hint(struct arena *arena, const char *name);

/* The formulas of a task whose outputs have them, bound to a case, of which the shapes are enough (task/expr/formula.h). */
struct formula_bound;
struct akgen_error *task_formulas_bind(struct arena *arena, const struct task_instance *instance,
                                       struct formula_bound **bound);

/* Expected outputs, one per output of the task; one that is not judged has count 0. TASK_UPSTREAM: the published
 * PyTorch module step by step in its data types (the type may be wider than the output's, as the module's is).
 * TASK_STRICT: `golden`, float64 (values are double for floating outputs; complex ones are pairs of doubles in a last
 * dimension). Result is owned by the caller: task_outputs_free. */
struct task_argument *task_reference(const struct task_instance *instance, enum task_profile profile);
/* The golden outputs of the case with every floating input tensor of more than one element multiplied by
 * 1 + relative * factor(state, index), factors in [-1, 1]; NULL: always 1. The caller frees them. */
struct task_argument *task_reference_moved(const struct task_instance *instance, double relative,
                                           double (*factor)(void *state, int64_t index), void *state);
/* True if the task's formulas jump where another way of computing may fall on the other side (round, sign, comparisons of
 * what is computed): the golden outputs of the case where it does, by `lean` of the operand's size. The caller frees them. */
bool task_formulas_jump(const struct task_instance *instance);
struct task_argument *task_reference_leaning(const struct task_instance *instance, double lean);
/* The golden outputs of a task of formulas, NULL of another task, moved by 32 times what it does to them that each step is
 * rounded to float32: a candidate's instructions are approximations, and it sums in another order. Integers stay. True if that
 * is more than half of what strict allows anyway. */
struct task_argument *task_reference_rounded(const struct task_instance *instance);
bool task_formulas_cancel(const struct task_instance *instance);
void task_outputs_free(struct task_argument *outputs);

#endif
