/* The planner: a task whose outputs are formulas becomes a program in AscendDSL. */
#ifndef DSL_WRITE_H
#define DSL_WRITE_H

#include "task/task.h"

/* The program's text, formatted, in the arena. An error says what the planner has no plan for: outputs without a formula, data
 * types that are not floating ones, lists of tensors. */
struct akgen_error *dsl_write(struct arena *arena, const struct task *task, const char **program);
/* The same with what long rows gain from left out: a row is one core's. Shorter, and right for any sizes. */
struct akgen_error *dsl_write_plain(struct arena *arena, const struct task *task, const char **program);

#endif
