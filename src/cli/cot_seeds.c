/* Seeds: which, by how many threads, and how many of them on the machine. */
#include "cli/cot_seeds.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "toolchain/toolchain.h"

static void take_count(void *arguments, char *text, const struct argp_state *state)
{
    struct cli_cot_seeds *seeds = arguments;
    seeds->count = cli_parse_number(state, "count", text, seeds->least, 100000000);
}

#define CLI_OF struct cli_cot_seeds
static const struct cli_option rows[] = {
    {"count", 'n', "N", CLI_CALL(take_count), 0, "operators to make up; some are dropped"},
    {"seed", 's', "S", CLI_NUMBER(first, 0, 1L << 50), 0, "of the first; the next have S + 1, S + 2, ... (default 0)"},
    {"machine", 'm', "N", CLI_NUMBER(machine, 0, 1000000), 0,
     "each Nth operator goes through the machine as well (default 10; 0: none)"},
};
const struct cli_table cli_cot_seeds_table = {
    CLI_ROWS(rows), .parts = {{&cli_cot_db_table, CLI_AT(db)}, {&cli_cot_jobs_table, CLI_AT(jobs)}}};

struct akgen_error *cli_cot_seeds_run(struct cli_cot_seeds *seeds, struct cot_blocks *blocks, struct arena *arena)
{
    struct task *tasks;
    struct akgen_error *error = blocks->store ? NULL : store_open(seeds->db, &blocks->store);
    if (!error && seeds->count)
        error = task_load_all(arena, toolchain_home(), &tasks, &seeds->task_count);
    if (error || !seeds->count)
        return error;
    seeds->tasks = tasks;
    blocks->first = seeds->first;
    blocks->count = seeds->count;
    blocks->jobs = seeds->jobs;
    return cot_blocks_run(blocks);
}
