/* akgen cot errors: right answers broken in a known way, and diagnostics of a run, as samples about errors. */
#include "cli/cli.h"
#include "cli/cot.h"
#include "cot/clusters.h"
#include "cot/errors.h"
#include "toolchain/toolchain.h"

#include <unistd.h>

enum { BLOCK = 8 /* operators */ };
struct arguments {
    const char *path, *verdicts;
    int64_t count, first;
    int jobs;
    struct cot_errors errors;
};

static const struct argp_option options[] = {
    {"count", 'n', "N", 0, "operators whose answers are broken (default 100; 0: none); some are dropped", 0},
    {"seed", 's', "S", 0, "of the first; the next have S + 1, S + 2, ... (default 0)", 0},
    {"jobs", 'j', "N", 0, "threads (default: one for each processor)", 0},
    {"machine", 'm', "N", 0, "break each Nth operator's project on the machine as well (default 10; 0: none)", 0},
    {"mutants", 'k', "K", 0, "changes tried of each text (default 8)", 0},
    {"verdicts", 'v', "FILE", 0,
     "a database of 'akgen bench --db': each kind of diagnostic in it that is about a function of Ascend C becomes a "
     "sample "
     "for each function, with what docs/api.md has and a call that was compiled",
     0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'n':
        a->count = cli_parse_number(state, "count", text, 0, 100000000);
        break;
    case 's':
        a->first = cli_parse_number(state, "seed", text, 0, 1L << 50);
        break;
    case 'j':
        a->jobs = (int)cli_parse_number(state, "jobs", text, 1, 256);
        break;
    case 'm':
        a->errors.machine = (int)cli_parse_number(state, "machine", text, 0, 1000000);
        break;
    case 'k':
        a->errors.mutants = (int)cli_parse_number(state, "mutants", text, 1, 1000);
        break;
    case 'v':
        a->verdicts = text;
        break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->path;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static struct akgen_error *break_answers(struct arguments *a, struct cot_store *store)
{
    struct arena arena = {0};
    struct task *tasks;
    struct cot_blocks blocks = {
        .store = store,
        .step = "errors",
        .options = arena_printf(&arena, ", %d mutants, projects of every %d", a->errors.mutants, a->errors.machine),
        .first = a->first,
        .count = a->count,
        .size = BLOCK,
        .jobs = a->jobs,
        .make = cot_errors_make,
        .closure = &a->errors};
    struct akgen_error *error = task_load_all(&arena, toolchain_home(), &tasks, &a->errors.task_count);
    a->errors.tasks = tasks;
    if (!error)
        error = cot_blocks_run(&blocks);
    if (!error)
        printf(
            "%lld samples, %lld operators' projects among what was broken; %lld dropped, of which %lld operators are a "
            "benchmark's; %.0f s\n",
            (long long)blocks.made, (long long)blocks.on_machine, (long long)blocks.dropped,
            (long long)blocks.contaminated, blocks.seconds);
    arena_free(&arena);
    return error;
}

int cli_cot_errors(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_cot_db_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc =
            "Breaks proved answers to operators that it makes up (as 'akgen cot synth') in a known way, and has "
            "compilers, interpreter and simulated chip say what is wrong: the question is the wrong answer with what "
            "was "
            "found, the chain the analysis, the answer the proved one.\vOperators whose graph or name is a benchmark's "
            "are dropped. The same seeds make the same samples; a run that was killed goes on. Exit code: 0, 2 wrong "
            "usage, 3 failure.",
        .children = children};
    struct arguments a = {
        .count = 100, .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), .errors = {.mutants = 8, .machine = 10}};
    struct cot_store *store;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    struct akgen_error *error = cot_store_open(a.path, &store);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    if (a.count)
        error = break_answers(&a, store);
    struct cot_clusters_count count = {0};
    if (!error && a.verdicts)
        error = cot_clusters(store, a.verdicts, &count);
    cot_store_close(store);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    if (a.verdicts)
        printf("%lld diagnostics in %lld kinds: %lld samples, %lld dropped\n", (long long)count.diagnostics,
               (long long)count.clusters, (long long)count.samples, (long long)count.dropped);
    return EXIT_PASS;
}
