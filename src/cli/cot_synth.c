/* akgen cot synth: operators made at random, each with its proof, into the database of samples. Operators come in blocks; a block is
 * one source of the step, named by its seeds, so that a run that was killed goes on with the first block that is not in, and blocks enter
 * in their order, whatever order they were computed in. */
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "base/workers.h"
#include "cli/cli.h"
#include "cli/cot.h"
#include "cot/benchmark.h"
#include "cot/synth_prove.h"
#include "task/task.h"
#include "toolchain/toolchain.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64, SAMPLES = 2 * BLOCK };
#define STEP "synth"

struct synthesis {
    const char *path;
    int64_t count, first; /* operators; the seed of the first */
    int jobs, machine;    /* machine: every so many operators run on it; 0: none */
    bool programs;
    struct cot_store *store;
    const char *scratch; /* a folder with one for each thread */
    const struct task *tasks;
    int task_count;
    double begin;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t turn;
    int64_t next; /* block that enters next */
    int64_t proved, dropped, contaminated, on_machine;
    struct akgen_error *error;
};
/* What a block made. */
struct block {
    struct arena arena;
    struct cot_sample samples[SAMPLES];
    struct cot_drop drops[BLOCK];
    int count, drop_count, contaminated, on_machine, proved;
};

static void add_drop(struct block *block, const char *reason)
{
    int i = 0;
    while (i < block->drop_count && strcmp(block->drops[i].reason, reason) != 0)
        i++;
    if (i == block->drop_count)
        block->drops[block->drop_count++] = (struct cot_drop){.reason = reason};
    block->drops[i].count++;
}

/* The kind of a reason: what is told of one operator has its names and numbers. */
static const char *kind_of(const char *reason)
{
    static const char *const kinds[] = {"planner", "machine", "program"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(reason, kinds[i], strlen(kinds[i])) == 0)
            return kinds[i];
    return strstr(reason, "not finite")     ? "results are not finite"
           : strstr(reason, "terms cancel") ? "terms cancel"
                                            : "no task";
}

/* The comments at the head of the planner's program: how the work is shared out. */
static const char *chain_of(struct arena *arena, const char *program)
{
    struct text chain = {0};
    const char *line = strstr(program, "\n# ");
    for (line = line ? line + 1 : ""; strncmp(line, "# ", 2) == 0;) {
        size_t length = strcspn(line, "\n");
        text_addf(&chain, "%s%.*s", chain.length ? "\n" : "", (int)length - 2, line + 2);
        line += length + (line[length] == '\n');
    }
    const char *kept = chain.length ? arena_strdup(arena, chain.bytes) : NULL;
    text_free(&chain);
    return kept;
}

static bool is_benchmarks_name(const struct synthesis *s, const char *op)
{
    for (int i = 0; i < s->task_count; i++)
        if (s->tasks[i].op && strcmp(s->tasks[i].op, op) == 0)
            return true;
    return false;
}

static void add_samples(const struct synthesis *s, struct block *block, uint64_t seed,
                        const struct synth_operator *made, const struct synth_proof *proof)
{
    struct arena *arena = &block->arena;
    struct cot_sample sample = {
        .part = COT_SYNTH,
        .mode = COT_GRAPH,
        .question = proof->brief,
        .chain = chain_of(arena, proof->program),
        .answer = made->answer,
        .verdict = proof->verdict,
        .provenance = arena_printf(arena, "akgen cot synth, seed %llu", (unsigned long long)seed),
        .licence = "Apache-2.0",
        .graph = arena_printf(arena, "%016llx", (unsigned long long)made->key),
        .tags = arena_printf(arena, "[\"%s\",\"operations %d\"%s%s]", made->family, made->operations,
                             made->lists ? ",\"lists\"" : "", *made->in_place ? ",\"in place\"" : "")};
    block->samples[block->count++] = sample;
    if (s->programs && !made->lists && !*made->in_place) {
        sample.mode = COT_DSL;
        sample.answer = proof->program;
        block->samples[block->count++] = sample;
    }
}

static struct akgen_error *make_block(const struct synthesis *s, int64_t first, int64_t count, const char *scratch,
                                      struct block *block)
{
    struct akgen_error *error = NULL;
    for (int64_t i = 0; i < count && !error; i++) {
        uint64_t seed = (uint64_t)(first + i);
        struct synth_operator made;
        struct synth_proof proof;
        synth_operator_make(&block->arena, seed, &made);
        if (cot_benchmark_graph(made.key) || is_benchmarks_name(s, made.op)) {
            block->contaminated++;
            add_drop(block, "a benchmark's operator");
            continue;
        }
        bool machine = s->machine && (first + i) % s->machine == 0;
        error = synth_prove(&block->arena, &made, scratch, machine, &proof);
        if (error)
            error = error_prefix(error, "seed %llu", (unsigned long long)seed);
        else if (proof.dropped)
            add_drop(block, kind_of(proof.dropped));
        else
            add_samples(s, block, seed, &made, &proof);
        block->on_machine += !error && proof.machine;
        block->proved += !error && !proof.dropped;
    }
    return error;
}

/* Waits for its turn, then adds. */
static void enter(struct synthesis *s, int64_t number, const char *source, struct block *block,
                  struct akgen_error *error)
{
    pthread_mutex_lock(&s->lock);
    while (s->next != number && !s->error)
        pthread_cond_wait(&s->turn, &s->lock);
    if (!s->error && !error && block) {
        const struct cot_batch batch = {.step = STEP,
                                        .source = source,
                                        .samples = block->samples,
                                        .count = block->count,
                                        .drops = block->drops,
                                        .drop_count = block->drop_count};
        error = cot_store_put(s->store, &batch, NULL);
        s->proved += block->proved;
        s->contaminated += block->contaminated;
        s->on_machine += block->on_machine;
        for (int i = 0; i < block->drop_count; i++)
            s->dropped += block->drops[i].count;
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r%lld proved, %.0f/s ", (long long)s->proved,
                    (double)s->proved / (clock_seconds() - s->begin));
    }
    if (!s->error)
        s->error = error;
    else
        error_free(error);
    s->next = number + 1;
    pthread_cond_broadcast(&s->turn);
    pthread_mutex_unlock(&s->lock);
}

static void work(void *closure, int index)
{
    struct synthesis *s = closure;
    int64_t first = s->first + (int64_t)index * BLOCK, left = s->count - (int64_t)index * BLOCK,
            count = left < BLOCK ? left : BLOCK;
    struct arena arena = {0};
    const char *source =
        arena_printf(&arena, "seeds %lld to %lld%s%s", (long long)first, (long long)(first + count - 1),
                     s->machine ? arena_printf(&arena, ", every %d on the machine", s->machine) : "",
                     s->programs ? ", with programs" : "");
    const char *scratch = arena_printf(&arena, "%s/%d", s->scratch, index);
    struct block *block = NULL;
    bool done = true;
    pthread_mutex_lock(&s->lock);
    struct akgen_error *error = s->error ? NULL : cot_store_done(s->store, STEP, source, &done);
    pthread_mutex_unlock(&s->lock);
    if (!error && !done && !(error = files_make_directory(scratch))) {
        block = calloc(1, sizeof *block);
        error = block ? make_block(s, first, count, scratch, block) : error_new("no memory for a block");
        files_remove_tree(scratch);
    }
    enter(s, index, source, block, error);
    if (block)
        arena_free(&block->arena);
    free(block);
    arena_free(&arena);
}

static const struct argp_option options[] = {
    {"count", 'n', "N", 0, "operators to make (default 1000); some are dropped", 0},
    {"seed", 's', "S", 0, "of the first; the next have S + 1, S + 2, ... (default 0)", 0},
    {"jobs", 'j', "N", 0, "threads (default: one for each processor)", 0},
    {"machine", 'm', "N", 0, "run each Nth operator's project on the machine as well (default 10; 0: none)", 0},
    {"programs", 'p', NULL, 0, "the planner's programs become samples, too", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct synthesis *s = state->input;
    switch (key) {
    case 'n':
        s->count = cli_parse_number(state, "--count", text, 1, 100000000);
        break;
    case 's':
        s->first = cli_parse_number(state, "--seed", text, 0, 1L << 60);
        break;
    case 'j':
        s->jobs = (int)cli_parse_number(state, "--jobs", text, 1, 256);
        break;
    case 'm':
        s->machine = (int)cli_parse_number(state, "--machine", text, 0, 1000000);
        break;
    case 'p':
        s->programs = true;
        break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &s->path;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_cot_synth(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_cot_db_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc =
            "Makes operators up, describes them in words, and proves an answer for each, the formulas: the planner "
            "writes a program of them, which the interpreter computes on small cases by the strict profile, and of "
            "every tenth the simulated chip as well.\vOperators whose graph or name is a benchmark's are dropped. The "
            "same seeds make the same samples; a run that was killed goes on. Exit code: 0, 2 wrong usage, 3 failure.",
        .children = children};
    struct synthesis s = {.count = 1000,
                          .machine = 10,
                          .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN),
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .turn = PTHREAD_COND_INITIALIZER};
    struct arena arena = {0};
    struct task *tasks;
    argp_parse(&argp, argc, argv, 0, NULL, &s);
    const char *base = getenv("TMPDIR");
    char *scratch = arena_printf(&arena, "%s/akgen-synth-XXXXXX", base && *base ? base : "/tmp");
    struct akgen_error *error = cot_store_open(s.path, &s.store);
    if (error) {
        arena_free(&arena);
        return cli_fail(EXIT_OWN_FAILURE, error);
    }
    error = task_load_all(&arena, toolchain_home(), &tasks, &s.task_count);
    s.tasks = tasks;
    if (!error && !mkdtemp(scratch))
        error = error_new("%s: %m", scratch);
    s.scratch = scratch;
    s.begin = clock_seconds();
    if (!error) {
        workers_run((int)((s.count + BLOCK - 1) / BLOCK), s.jobs, work, &s);
        error = s.error;
        files_remove_tree(scratch);
    }
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
    cot_store_close(s.store);
    arena_free(&arena);
    if (error)
        return cli_fail(EXIT_OWN_FAILURE, error);
    printf("%lld operators proved, %lld of them on the machine, too; %lld dropped, of which %lld are a benchmark's; "
           "%.0f s\n",
           (long long)s.proved, (long long)s.on_machine, (long long)s.dropped, (long long)s.contaminated,
           clock_seconds() - s.begin);
    return EXIT_PASS;
}
