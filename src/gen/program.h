/* Programs in AscendDSL as candidates: the one that answers a task without a model, compiled, and written as an operator project. */
#ifndef GEN_PROGRAM_H
#define GEN_PROGRAM_H

#include "dsl/lower.h"
#include "runs/bench.h"

/* A program and where it comes from. */
struct gen_program {
    const char *path; /* of the file beside the task; where the planner wrote it of the task's formulas: NULL */
    const char *text;
    size_t length;
};
/* The program of a task: `program.py` beside it, else what the planner makes of its formulas; in the arena. An error says what
 * the task would need. */
struct akgen_error *gen_program_of_task(struct arena *arena, const struct task *task, struct gen_program *program);
/* True if there is one: a file, or formulas for all outputs. */
bool gen_program_exists(struct arena *arena, const struct task *task);
/* Compiles it for the task. False: `messages` say what is wrong, or `error` does. */
bool gen_program_compile(struct arena *arena, const struct gen_program *program, const struct task *task,
                         struct dsl_lowered *lowered, struct dsl_messages *messages, struct akgen_error **error);

/* All that can be found wrong with a program: what the checker says, what goes wrong on sizes that nothing divides and in the task's
 * cases of at most 4 million elements, what the compiler refuses. The messages have the arena, path and text afterwards. An error
 * is one of the task. */
struct akgen_error *gen_program_review(struct arena *arena, const struct gen_program *program, const struct task *task,
                                       int only_case, struct dsl_messages *messages);

/* Writes the files of a project, and the map of its lines, below a folder, which is made. */
struct akgen_error *gen_program_write(struct arena *arena, const char *dir, const struct dsl_lowered *lowered);
/* Writes them to a folder of the cache that is named after what they hold. */
struct akgen_error *gen_program_keep(struct arena *arena, const struct task *task, const struct dsl_lowered *lowered,
                                     const char **dir);

/* `akgen bench --provider dsl`: the tasks' programs, compiled. What is wrong with one is said on standard error. */
extern const struct bench_provider gen_program_provider;

#endif
