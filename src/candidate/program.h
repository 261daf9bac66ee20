/* Programs in AscendDSL: the one that answers a task without a model, compiled. */
#ifndef CANDIDATE_PROGRAM_H
#define CANDIDATE_PROGRAM_H

#include "dsl/lower.h"
#include "task/task.h"

/* A program and where it comes from. */
struct candidate_program {
    const char *path; /* of the file beside the task; where the planner wrote it of the task's formulas: NULL */
    const char *text;
    size_t length;
};
/* The program of a task: `program.py` beside it, else what the planner makes of its formulas; in the arena. An error says what
 * the task would need. */
struct akgen_error *candidate_program_of_task(struct arena *arena, const struct task *task,
                                              struct candidate_program *program);
/* True if there is one: a file, or formulas for all outputs. */
bool candidate_program_exists(const struct task *task);
/* Compiles it for the task. False: `messages` say what is wrong, or `error` does. */
bool candidate_program_compile(struct arena *arena, const struct candidate_program *program, const struct task *task,
                               struct dsl_lowered *lowered, struct dsl_messages *messages, struct akgen_error **error);

/* All that can be found wrong with a program: what the checker says, what goes wrong on sizes that nothing divides and in the task's
 * cases of at most 4 million elements, what the compiler refuses. The messages have the arena, path and text afterwards. An error
 * is one of the task. */
struct akgen_error *candidate_program_review(struct arena *arena, const struct candidate_program *program,
                                             const struct task *task, int only_case, struct dsl_messages *messages);

#endif
