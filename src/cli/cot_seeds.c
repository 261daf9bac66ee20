/* Seeds: which, by how many threads, and how many of them on the machine. */
#include "cli/cot_seeds.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "toolchain/toolchain.h"

static const struct argp_option options[] = {
    {"count", 'n', "N", 0, "operators to make up; some are dropped", 0},
    {"seed", 's', "S", 0, "of the first; the next have S + 1, S + 2, ... (default 0)", 0},
    {"machine", 'm', "N", 0, "each Nth operator goes through the machine as well (default 10; 0: none)", 0},
    {0},
};
static const struct argp_child children[] = {{&cli_cot_db_argp, 0, NULL, 0}, {&cli_cot_jobs_argp, 0, NULL, 0}, {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct cli_cot_seeds *seeds = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &seeds->db;
        state->child_inputs[1] = &seeds->jobs;
        break;
    case 'n':
        seeds->count = cli_parse_number(state, "count", text, seeds->least, 100000000);
        break;
    case 's':
        seeds->first = cli_parse_number(state, "seed", text, 0, 1L << 50);
        break;
    case 'm':
        seeds->machine = (int)cli_parse_number(state, "machine", text, 0, 1000000);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cli_cot_seeds_argp = {.options = options, .parser = parse, .children = children};

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
