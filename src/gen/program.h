/* Operator projects of programs in AscendDSL: what `akgen dsl build` and the provider `dsl` share. */
#ifndef GEN_PROGRAM_H
#define GEN_PROGRAM_H

#include "dsl/lower.h"
#include "eval/bench.h"

/* Writes the files of a project, and the map of its lines, below a folder, which is made. */
struct akgen_error *gen_program_write(struct arena *arena, const char *dir, const struct dsl_lowered *lowered);

/* Writes them to a folder of the cache that is named after what they hold. */
struct akgen_error *gen_program_keep(struct arena *arena, const struct task *task, const struct dsl_lowered *lowered,
                                     const char **dir);

/* `akgen bench --provider dsl`: the tasks' own programs, compiled. What is wrong with one is said on standard error. */
extern const struct bench_provider gen_program_provider;

#endif
