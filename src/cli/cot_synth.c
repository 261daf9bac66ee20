/* akgen cot synth: operators made at random, each with its proof, into the database of samples. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "cli/cot_seeds.h"
#include "cot/benchmark.h"
#include "cot/project.h"
#include "op/op.h"

#include <string.h>

enum { BLOCK = 64 }; /* operators */
#define FAMILY(name, weight) #name,
static const char *const families[] = {
#include "cot/synth_families.def"
};
#undef FAMILY
struct synthesis {
    struct cli_cot_seeds seeds;
    bool programs, brief, projects;
    const char *family; /* the only one whose operators count; NULL: all do */
};

/* The program of an operator, and the project that is compiled of it. */
static struct akgen_error *add_code(const struct synthesis *s, struct cot_block *block,
                                    const struct synth_operator *made, const char *scratch,
                                    const struct synth_proof *proof, struct cot_sample *sample)
{
    struct arena *arena = &block->arena;
    struct synth_proof of;
    struct project_answer project;
    struct akgen_error *error = synth_prove_program(arena, made, scratch, s->brief, proof, &of);
    if (!error && of.dropped)
        cot_block_drop(block, arena_printf(arena, "no program: %s", synth_drop_kind(of.dropped)));
    if (error || of.dropped)
        return error;
    sample->mode = COT_DSL;
    sample->question = arena_printf(arena, "%s" SYNTH_PROGRAM_IS_ASKED, proof->brief);
    sample->answer = of.program;
    sample->verdict = of.verdict;
    if (s->programs)
        cot_block_add(block, sample);
    if (!s->projects || (error = project_of_program(arena, &of, &project)))
        return error;
    if (project.dropped) {
        cot_block_drop(block, arena_printf(arena, "no project: %s", synth_drop_kind(project.dropped)));
        return NULL;
    }
    sample->mode = COT_ASCENDC;
    sample->question = arena_printf(arena, "%s" SYNTH_PROJECT_IS_ASKED, proof->brief, op_snake_case(arena, made->op));
    sample->answer = project.answer;
    sample->verdict = project.verdict;
    cot_block_add(block, sample);
    return NULL;
}

static struct akgen_error *add_samples(const struct synthesis *s, struct cot_block *block, uint64_t seed,
                                       const struct synth_operator *made, const char *scratch,
                                       const struct synth_proof *proof)
{
    struct arena *arena = &block->arena;
    struct cot_sample sample = {
        .part = COT_SYNTH,
        .mode = COT_GRAPH,
        .question = proof->brief,
        .chain = synth_chain(arena, proof->program),
        .answer = made->answer,
        .verdict = proof->verdict,
        .provenance = arena_printf(arena, "akgen cot synth, seed %llu", (unsigned long long)seed),
        .licence = "Apache-2.0",
        .graph = arena_printf(arena, "%016llx", (unsigned long long)made->key),
        .tags = arena_printf(arena, "[\"%s\",\"operations %d\"%s%s]", made->family, made->operations,
                             made->lists ? ",\"lists\"" : "", *made->in_place ? ",\"in place\"" : "")};
    cot_block_add(block, &sample);
    return s->programs || s->projects ? add_code(s, block, made, scratch, proof, &sample) : NULL;
}

static struct akgen_error *make_block(void *closure, int64_t first, int64_t count, const char *scratch,
                                      struct cot_block *block)
{
    const struct synthesis *s = closure;
    struct akgen_error *error = NULL;
    for (int64_t i = 0; i < count && !error; i++) {
        uint64_t seed = (uint64_t)(first + i);
        struct synth_operator made;
        struct synth_proof proof;
        synth_operator_make(&block->arena, seed, &made);
        if (s->family && strcmp(made.family, s->family) != 0)
            continue;
        if (cot_benchmark_graph(made.key) || cot_benchmark_name(s->seeds.tasks, s->seeds.task_count, made.op)) {
            block->contaminated++;
            cot_block_drop(block, "a benchmark's operator");
            continue;
        }
        bool machine = s->seeds.machine && (first + i) % s->seeds.machine == 0;
        error = synth_prove(&block->arena, &made, scratch, machine, &proof);
        if (error)
            error = error_prefix(error, "seed %llu", (unsigned long long)seed);
        else if (proof.dropped)
            cot_block_drop(block, synth_drop_kind(proof.dropped));
        else
            error = add_samples(s, block, seed, &made, scratch, &proof);
        block->on_machine += !error && proof.machine;
        block->made += !error && !proof.dropped;
    }
    return error;
}

static void take_programs(void *synthesis, char *text, const struct argp_state *state)
{
    struct synthesis *s = synthesis;
    if (text && strcmp(text, "short") != 0)
        argp_error(state, "--programs=%s: it is --programs or --programs=short", text);
    s->programs = true;
    s->brief = text;
}

static void take_family(void *family, char *name, const struct argp_state *state)
{
    struct text names = {0};
    *(const char **)family = NULL;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i], name) == 0)
            *(const char **)family = families[i];
        text_addf(&names, "%s%s", i ? ", " : "", families[i]);
    }
    if (!*(const char **)family)
        argp_error(state, "--family: no '%s'; there are %s", name, names.bytes);
    text_free(&names);
}

#define CLI_OF struct synthesis
static const struct cli_option rows[] = {
    {"programs", 'p', "short", CLI_CALL(take_programs, .flags = OPTION_ARG_OPTIONAL), 0,
     "the planner's programs become samples, too; short: its plainest, without assertions and with no comment but the "
     "formulas, which come first"},
    {"projects", 'c', NULL, CLI_FLAG(projects), 0,
     "the projects in Ascend C that these programs, else short ones, are compiled to become samples, too, the kernel "
     "first; both parts of each are compiled"},
    {"family", 0, "NAME", CLI_CALL(take_family, .at = CLI_AT(family)), 0,
     "operators of this family alone, among those of the seeds: elementwise, single, pair, .. (their tags in 'akgen "
     "cot show')"},
};

int cli_cot_synth(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_cot_seeds_table, CLI_AT(seeds)}},
        .doc = "Makes operators up (1000, unless --count says otherwise), describes them in words, and proves an "
               "answer for "
               "each, the formulas: the planner writes a program of them, which the interpreter computes on small "
               "cases by "
               "the strict profile, and of every tenth the simulated chip as well.\vOperators whose graph or name is a "
               "benchmark's are dropped. The same seeds make the same samples; a run that was killed goes on. Exit "
               "code: 0, "
               "2 wrong usage, 3 failure.",
    };
    struct synthesis s = {.seeds = {.count = 1000, .least = 1, .machine = 10}};
    struct arena arena = {0};
    cli_parse(&table, argc, argv, &s);
    s.brief |= s.projects && !s.programs;
    const int machine = s.seeds.machine;
    struct cot_blocks blocks = {
        .step = "synth",
        .options = arena_printf(
            &arena, "%s%s%s%s", machine ? arena_printf(&arena, ", every %d on the machine", machine) : "",
            s.programs && s.brief ? ", with short programs"
            : s.programs          ? ", with programs"
                                  : "",
            s.projects ? ", with projects" : "", s.family ? arena_printf(&arena, ", of the family %s", s.family) : ""),
        .size = BLOCK,
        .make = make_block,
        .closure = &s};
    struct akgen_error *error = cli_cot_seeds_run(&s.seeds, &blocks, &arena);
    store_close(blocks.store);
    arena_free(&arena);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    const struct cot_counts *counts = &blocks.counts;
    printf("%lld operators proved, %lld of them on the machine, too; %lld dropped, of which %lld are a benchmark's; "
           "%.0f s\n",
           (long long)counts->made, (long long)counts->on_machine, (long long)counts->dropped,
           (long long)counts->contaminated, counts->seconds);
    return EXIT_PASS;
}
