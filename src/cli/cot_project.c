/* akgen cot project: operators made at random, taken apart into pairs of host part and kernel, one for each scenario, into the database of
 * samples. */
#include "cli/cli.h"
#include "cli/cot.h"
#include "cli/cot_seeds.h"
#include "cot/benchmark.h"
#include "cot/project.h"

enum { BLOCK = 8 }; /* operators, of which each is compiled for every data type */

struct projects {
    struct cli_cot_seeds seeds;
    bool summaries;
};

static void add_samples(const struct projects *p, struct cot_block *block, uint64_t seed, int type, int id,
                        const struct synth_operator *made, const struct project_pair *pair)
{
    struct arena *arena = &block->arena;
    struct cot_sample sample = {
        .part = COT_PROJECT,
        .mode = COT_ASCENDC,
        .question = pair->question,
        .chain = pair->chain,
        .answer = pair->answer,
        .verdict = pair->verdict,
        .provenance = arena_printf(arena, "akgen cot project, seed %llu, %s, case %d", (unsigned long long)seed,
                                   synth_types[type], id),
        .licence = "Apache-2.0",
        .graph = arena_printf(arena, "%016llx", (unsigned long long)made->key),
        .tags = arena_printf(arena, "[\"%s\",\"%s\",\"case %d\"]", made->family, synth_types[type], id)};
    cot_block_add(block, &sample);
    if (p->summaries) {
        sample.mode = COT_TEXT;
        sample.question = pair->given;
        sample.answer = pair->summary;
        cot_block_add(block, &sample);
    }
}

/* A scenario of an operator: a data type and a case. */
static struct akgen_error *make_scenario(const struct projects *p, struct cot_block *block, uint64_t seed, int type,
                                         int id, const char *scratch)
{
    struct synth_operator made;
    struct project_pair pair;
    const bool machine = p->seeds.machine && seed % (uint64_t)p->seeds.machine == 0;
    synth_operator_make_plain(&block->arena, seed, type, &made);
    struct akgen_error *error = project_make(&block->arena, &made, id, scratch, machine, &pair);
    if (error)
        return error_prefix(error, "seed %llu, %s", (unsigned long long)seed, synth_types[type]);
    if (pair.dropped)
        cot_block_drop(block, synth_drop_kind(pair.dropped));
    else
        add_samples(p, block, seed, type, id, &made, &pair);
    block->made += !pair.dropped;
    block->on_machine += !pair.dropped && pair.machine;
    return NULL;
}

static struct akgen_error *make_block(void *closure, int64_t first, int64_t count, const char *scratch,
                                      struct cot_block *block)
{
    const struct projects *p = closure;
    struct akgen_error *error = NULL;
    for (int64_t i = 0; i < count && !error; i++) {
        struct synth_operator made;
        uint64_t seed = (uint64_t)(first + i);
        synth_operator_make(&block->arena, seed, &made);
        if (cot_benchmark_graph(made.key) || cot_benchmark_name(p->seeds.tasks, p->seeds.task_count, made.op)) {
            block->contaminated++;
            cot_block_drop(block, "a benchmark's operator");
            continue;
        }
        /* The usual shape in every data type, and an odd one in the first of them. */
        for (int type = 0; type < SYNTH_TYPES && !error; type++)
            if (made.types & 1U << type)
                error = make_scenario(p, block, seed, type, 0, scratch);
        if (!error)
            error = make_scenario(p, block, seed, __builtin_ctz(made.types), 1, scratch);
    }
    return error;
}

#define CLI_OF struct projects
static const struct cli_option rows[] = {
    {"summaries", 'y', NULL, CLI_FLAG(summaries), 0,
     "the tiling becomes an answer, too, to a question that has the source in it"},
};

int cli_cot_project(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_cot_seeds_table, CLI_AT(seeds)}},
        .doc =
            "Makes operators up (100, unless --count says otherwise) and takes them apart into scenarios, one data "
            "type "
            "and one shape each: the planner's program is compiled to a host part and a kernel in Ascend C, its "
            "explanation becomes the chain, and the tiling function is run for the values in the summary.\vOperators "
            "whose graph or name is a benchmark's are dropped. The same seeds make the same samples; a run that was "
            "killed goes on. Exit code: 0, 2 wrong usage, 3 failure.",
    };
    struct projects p = {.seeds = {.count = 100, .least = 1, .machine = 10}};
    struct arena arena = {0};
    cli_parse(&table, argc, argv, &p);
    const int machine = p.seeds.machine;
    struct cot_blocks blocks = {
        .step = "project",
        .options =
            arena_printf(&arena, "%s%s", machine ? arena_printf(&arena, ", every %d on the machine", machine) : "",
                         p.summaries ? ", with summaries" : ""),
        .size = BLOCK,
        .make = make_block,
        .closure = &p};
    struct akgen_error *error = cli_cot_seeds_run(&p.seeds, &blocks, &arena);
    store_close(blocks.store);
    arena_free(&arena);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    const struct cot_counts *counts = &blocks.counts;
    printf("%lld scenarios, %lld of them run on the machine, too; %lld dropped, of which %lld are a benchmark's "
           "operators; %.0f s\n",
           (long long)counts->made, (long long)counts->on_machine, (long long)counts->dropped,
           (long long)counts->contaminated, counts->seconds);
    return EXIT_PASS;
}
