/* akgen cot errors: right answers broken in a known way, and diagnostics of a run, as samples about errors. */
#include "cli/cli.h"
#include "cli/cot.h"
#include "cli/cot_model.h"
#include "cli/cot_seeds.h"
#include "cot/clusters.h"
#include "cot/errors.h"
#include "cot/pairs.h"
#include "toolchain/toolchain.h"

enum { BLOCK = 8 /* operators */ };
struct arguments {
    struct cli_cot_seeds seeds;
    const char *verdicts;
    struct cot_errors errors;
    struct cli_cot_model model;
};

#define CLI_OF struct arguments
static const struct cli_option rows[] = {
    {"mutants", 'k', "K", CLI_NUMBER(errors.mutants, 1, 1000), 0, "changes tried of each text (default 8)"},
    {"verdicts", 'v', "FILE", CLI_TEXT(verdicts), 0,
     "a database of 'akgen bench --db': each kind of diagnostic in it that is about a function of Ascend C becomes a "
     "sample for each function, with what docs/api.md has and a call that was compiled; each candidate that runs and "
     "is wrong, beside the right one of its task that is most like it, is one, too, but for tasks of benchmarks"},
};

/* Seeds, with what only a run of them knows. */
static struct akgen_error *make_block(void *closure, int64_t first, int64_t count, const char *scratch,
                                      struct cot_block *block)
{
    const struct arguments *a = closure;
    struct cot_errors errors = a->errors;
    errors.machine = a->seeds.machine;
    errors.tasks = a->seeds.tasks;
    errors.task_count = a->seeds.task_count;
    return cot_errors_make(&errors, first, count, scratch, block);
}

/* The samples of a run's database. */
static struct akgen_error *take_verdicts(struct arena *arena, struct store *store, const char *path)
{
    struct cot_clusters_count kinds = {0};
    struct cot_pairs_count pairs = {0};
    struct task *tasks = NULL;
    int count = 0;
    struct akgen_error *error = cot_clusters(store, path, &kinds);
    if (!error)
        error = task_load_all(arena, toolchain_home(), &tasks, &count);
    if (!error)
        error = cot_pairs(store, path, tasks, count, &pairs);
    if (!error)
        printf("%lld diagnostics in %lld kinds: %lld samples, %lld dropped\n"
               "%lld candidates that compile and fail: %lld samples, %lld dropped\n",
               (long long)kinds.diagnostics, (long long)kinds.clusters, (long long)kinds.samples,
               (long long)kinds.dropped, (long long)pairs.failed, (long long)pairs.samples, (long long)pairs.dropped);
    return error;
}

int cli_cot_errors(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_cot_seeds_table, CLI_AT(seeds)}, {&cli_cot_model_table, CLI_AT(model)}},
        .doc =
            "Breaks proved answers to operators that it makes up (100, unless --count says otherwise, as 'akgen cot "
            "synth') in a known way, and has compilers, interpreter and simulated chip say what is wrong: the question "
            "is "
            "the wrong answer with what was found, the chain the analysis, the answer the proved one.\vOperators whose "
            "graph or name is a benchmark's "
            "are dropped. The same seeds make the same samples; a run that was killed goes on. Exit code: 0, 2 wrong "
            "usage, 3 failure.",
    };
    struct arguments a = {
        .seeds = {.count = 100, .machine = 10}, .errors = {.mutants = 8}, .model.model = cli_model_defaults()};
    struct arena arena = {0};
    cli_parse(&table, argc, argv, &a);
    struct cot_blocks blocks = {.step = "errors", .size = BLOCK, .make = make_block, .closure = &a};
    struct akgen_error *error = store_open(a.seeds.db, &blocks.store);
    if (!error)
        error = cli_cot_model_open(&a.model, blocks.store);
    a.errors.asker = a.model.asker;
    blocks.options = arena_printf(&arena, ", %d mutants, projects of every %d%s%s", a.errors.mutants, a.seeds.machine,
                                  a.errors.asker ? ", " : "", a.errors.asker ? cot_asker_source(a.errors.asker) : "");
    if (!error)
        error = cli_cot_seeds_run(&a.seeds, &blocks, &arena);
    if (!error && a.seeds.count)
        printf(
            "%lld samples, %lld operators' projects among what was broken; %lld dropped, of which %lld operators are "
            "a benchmark's; %.0f s\n",
            (long long)blocks.counts.made, (long long)blocks.counts.on_machine, (long long)blocks.counts.dropped,
            (long long)blocks.counts.contaminated, blocks.counts.seconds);
    if (!error && a.verdicts)
        error = take_verdicts(&arena, blocks.store, a.verdicts);
    int code = cli_cot_model_close(&a.model, &blocks.counts);
    store_close(blocks.store);
    arena_free(&arena);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    return code;
}
