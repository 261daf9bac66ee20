/* akgen dsl build --verify: the compiler's project against the interpreter. */
#ifndef CLI_DSL_VERIFY_H
#define CLI_DSL_VERIFY_H

#include "candidate/candidate.h"
#include "dsl/program.h"

/* Runs the project that was made of the program on the task's cases (`only_case`: one, below 0: all) and says of each
 * whether it computes what the interpreter does. `kernel_only`: it is a kernel for that case and the task's given host part.
 * Returns the exit code. */
int dsl_verify(const struct dsl_program *program, const struct task *task, const struct candidate *candidate,
               int only_case, bool kernel_only);

#endif
