/* `formula` of an output in task.yaml: an elementwise operator as one expression over inputs and attributes, the
 * reference of people's own tasks. */
#ifndef TASK_FORMULA_H
#define TASK_FORMULA_H

#include "task/task.h"

struct formula;
/* Parses a formula; names are the task's inputs (tensors and scalars that are always there) and numeric attributes. */
struct akgen_error *formula_parse(struct arena *arena, const char *text, const struct task *task,
                                  struct formula **formula);
/* Its value for one element: inputs by position, attributes by position; every step is rounded to the type `steps`. */
double formula_value(const struct formula *formula, enum akgen_dtype steps, const double *inputs, const double *attrs);
/* True if the formula names input number `index`. */
bool formula_uses(const struct formula *formula, int index);
/* Checks that in this case every input of each formula has as many elements as the output, or one. */
struct akgen_error *formula_fits(const struct task_instance *instance);
/* Names of the functions, separated by spaces. */
const char *formula_functions(struct arena *arena);

#endif
