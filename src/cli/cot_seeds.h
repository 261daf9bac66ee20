/* What the steps of akgen cot that make operators up have in common: options, and a run of theirs. */
#ifndef CLI_COT_SEEDS_H
#define CLI_COT_SEEDS_H

#include "cli/table.h"
#include "cot/blocks.h"
#include "task/task.h"

struct cli_cot_seeds {
    const char *db;
    int64_t count, least, first; /* operators, and how few may be asked for; the seed of the first */
    int jobs, machine;           /* machine: every so many operators run on it; 0: none */
    const struct task *tasks;    /* of the benchmarks, whose operators are left out */
    int task_count;
};
/* --count, --seed, --jobs, --machine and --db; the struct has its defaults but for `jobs`. */
extern const struct cli_table cli_cot_seeds_table;
/* Opens the database, if `blocks` has none, reads the tasks and runs `blocks`, whose step, options, size, make and closure are set; the store stays open. */
struct akgen_error *cli_cot_seeds_run(struct cli_cot_seeds *seeds, struct cot_blocks *blocks, struct arena *arena);

#endif
