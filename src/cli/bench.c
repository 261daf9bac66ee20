/* akgen bench: a provider's candidates over a suite of tasks. */
#include "cli/cli.h"
#include "eval/bench.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEY_SUITE = 0x300, KEY_PROVIDER, KEY_TASK, KEY_DB, KEY_REPORT };

struct bench_arguments {
    struct eval_options eval;
    const char *suite, *provider, *task, *db, *report;
};

static const struct argp_option options[] = {
    {"suite", KEY_SUITE, "NAME", 0, "suite of tasks (default npukernelbench)", 1},
    {"provider", KEY_PROVIDER, "NAME", 0,
     "reference (the tasks' own answers, where they have one; default) or dir:PATH", 1},
    {"task", KEY_TASK, "GLOB", 0, "only tasks whose name matches, e.g. 'level1/*' or '*/Sqrt'", 1},
    {"db", KEY_DB, "FILE", 0, "keep the run in an SQLite file (docs/store.md)", 1},
    {"report", KEY_REPORT, "FILE.html", 0, "write the run as one HTML page", 1},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct bench_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->eval;
        break;
    case KEY_SUITE:
        arguments->suite = text;
        break;
    case KEY_PROVIDER:
        arguments->provider = text;
        break;
    case KEY_TASK:
        arguments->task = text;
        break;
    case KEY_DB:
        arguments->db = text;
        break;
    case KEY_REPORT:
        arguments->report = text;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- progress -------------------------------------------------------------------------------------------------------
 */
struct progress {
    struct timespec start;
    bool terminal;
    struct cli_colors colors;
};

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static void show_progress(void *closure, const struct bench *bench, int done)
{
    enum { WIDTH = 30 };
    struct progress *progress = closure;
    if (!progress->terminal)
        return;
    double elapsed = seconds_since(&progress->start), left = elapsed / done * (bench->count - done);
    int filled = WIDTH * done / bench->count, failed = 0;
    for (int i = 0; i < bench->count; i++)
        failed += bench->rows[i].evaluated && bench->rows[i].kind != VERDICT_PASS;
    fprintf(stderr, "\r\033[K[%.*s%*s] %d of %d, %d not passed, %.0f s left", filled, "##############################",
            WIDTH - filled, "", done, bench->count, failed, left);
    if (done == bench->count)
        fputs("\r\033[K", stderr);
}

/* ---- the table ------------------------------------------------------------------------------------------------------
 */
static void print_counts(void *closure, const char *name, const struct bench_counts *counts)
{
    (void)closure;
    int rated = counts->tasks - counts->excluded;
    printf("%-24s %5d %9d %7.1f%% %7d %7.1f%% %6d/%d", name, counts->tasks, counts->compiled,
           rated ? 100.0 * counts->compiled / rated : 0, counts->passed, rated ? 100.0 * counts->passed / rated : 0,
           counts->cases_passed, counts->cases);
    if (counts->excluded)
        printf("  (%d excluded)", counts->excluded);
    putchar('\n');
}

static void print_table(const struct bench *bench, const struct cli_colors *colors)
{
    printf("%s%-24s %5s %9s %8s %7s %8s %s%s\n", colors->bold, "level / category", "tasks", "compiled", "CR", "passed",
           "ER", " cases", colors->off);
    bench_visit_groups(bench, print_counts, NULL);
}

static void print_failures(const struct bench *bench, const struct cli_colors *colors)
{
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (row->kind != VERDICT_PASS)
            printf("%s%s%s %s (%s): %.200s\n", cli_verdict_color(colors, row->kind), verdict_kind_name(row->kind),
                   colors->off, row->task->name, verdict_stage_name(row->stage), row->reason ? row->reason : "");
    }
}

/* ---- running --------------------------------------------------------------------------------------------------------
 */
/* True if the provider has something to say about a task: later tasks come without a reference project. A broken task
 * stays in, so that the run shows it. */
static bool provides(const char *provider, const struct task *task)
{
    struct arena arena = {0};
    bool has = strcmp(provider, "reference") != 0 || task->broken ||
               access(arena_printf(&arena, "%s/reference", task->dir), R_OK) == 0;
    arena_free(&arena);
    return has;
}

/* The tasks that the suite, the glob and the provider select. */
static struct akgen_error *select_tasks(struct arena *arena, const struct bench_arguments *arguments,
                                        struct bench_options *bench)
{
    struct task *all;
    int count, selected = 0;
    struct akgen_error *error = task_load_all(arena, toolchain_home(), &all, &count);
    if (error)
        return error;
    struct task *chosen = arena_alloc(arena, sizeof *chosen * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].suite, arguments->suite) == 0 &&
            (!arguments->task || fnmatch(arguments->task, all[i].name, 0) == 0) &&
            provides(arguments->provider, &all[i]))
            chosen[selected++] = all[i];
    if (!selected)
        return error_new("no task of suite '%s' matches '%s'", arguments->suite,
                         arguments->task ? arguments->task : "*");
    bench->tasks = chosen;
    bench->task_count = selected;
    return NULL;
}

static int exit_code(const struct bench *bench)
{
    int code = EXIT_PASS;
    for (int i = 0; i < bench->count; i++)
        if (bench->rows[i].kind == VERDICT_INFRA_ERROR)
            return EXIT_OWN_FAILURE;
        else if (bench->rows[i].kind != VERDICT_PASS)
            code = EXIT_OTHER_VERDICT;
    return code;
}

static int run(const struct bench_arguments *arguments, struct bench_options *options)
{
    struct progress progress = {.terminal = isatty(STDERR_FILENO), .colors = cli_colors_for(stdout)};
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    options->on_row = show_progress;
    options->closure = &progress;
    struct bench bench;
    bench_run(options, &bench);
    print_failures(&bench, &progress.colors);
    print_table(&bench, &progress.colors);
    printf("%d tasks in %.1f s (%s, %s profile, provider %s)\n", bench.count, bench.seconds, options->eval.soc->name,
           options->eval.profile == TASK_STRICT ? "strict" : "upstream", options->provider);
    int code = exit_code(&bench);
    struct akgen_error *error = arguments->report ? report_write_html(arguments->report, &bench, options) : NULL;
    if (error)
        code = cli_fail(EXIT_OWN_FAILURE, error);
    if (bench.store_error) {
        fprintf(stderr, "akgen: %s; the verdicts above are complete, the database is not\n",
                bench.store_error->message);
        code = EXIT_OWN_FAILURE;
    }
    bench_free(&bench);
    return code;
}

int cli_bench(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_eval_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Evaluates one candidate per task and prints compile rate (CR) and execution rate (ER) by level and "
               "category.\vA dir: provider holds candidates as PATH/level1/Math/Sqrt/[answer/0/]op_host, op_kernel. "
               "Exit code: 0 all pass, 1 some do not, 2 wrong usage, 3 failure of akgen.",
        .children = children,
    };
    struct bench_arguments arguments = {
        .eval = cli_eval_defaults(), .suite = "npukernelbench", .provider = "reference"};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct bench_options bench = {.provider = arguments.provider, .eval = arguments.eval};
    struct arena arena = {0};
    struct akgen_error *error = bench_check_provider(bench.provider);
    if (!error)
        error = select_tasks(&arena, &arguments, &bench);
    int code = error ? cli_fail(EXIT_USAGE, error) : EXIT_PASS;
    if (!error && arguments.db) {
        error = store_open(arguments.db, &bench.store);
        if (!error)
            error = store_begin_run(bench.store, arguments.suite, bench.provider, &bench.eval);
        if (error)
            code = cli_fail(EXIT_OWN_FAILURE, error);
    }
    if (code == EXIT_PASS)
        code = run(&arguments, &bench);
    store_close(bench.store);
    arena_free(&arena);
    return code;
}
