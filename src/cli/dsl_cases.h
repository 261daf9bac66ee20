/* A program in AscendDSL on a task's cases, by the interpreter. */
#ifndef CLI_DSL_CASES_H
#define CLI_DSL_CASES_H

#include "dsl/bind.h"

/* Computes the task's cases (`only_case`: one, below 0: all), with `hidden` also with other values, and the hidden ones; says of each
 * whether it is right by both references, or why it stopped. Returns the exit code. */
int dsl_cases_run(struct arena *arena, const struct dsl_program *program, const struct task *task, int only_case,
                  bool hidden, const struct dsl_messages *messages);

#endif
