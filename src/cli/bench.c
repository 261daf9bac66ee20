/* akgen bench: a provider's candidates over a suite of tasks. */
#include "cli/cli.h"
#include "gen/program.h"
#include "base/clock.h"
#include "eval/bench.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_SUITE = 0x300, KEY_PROVIDER, KEY_TASK, KEY_DB, KEY_RESUME, KEY_REPORT };

struct bench_arguments {
    struct eval_options eval;
    const char *suite, *provider, *task, *db, *report;
    bool resume;
};

static const struct argp_option options[] = {
    {"suite", KEY_SUITE, "NAME", 0, "suite of tasks (default npukernelbench)", 1},
    {"provider", KEY_PROVIDER, "NAME", 0,
     "reference (the tasks' own answers, where they have one; default), dsl (their programs in AscendDSL, compiled) or "
     "dir:PATH",
     1},
    {"task", KEY_TASK, "GLOB", 0, "only tasks whose name matches, e.g. 'level1/*' or '*/Sqrt'", 1},
    {"db", KEY_DB, "FILE", 0, "keep the run in an SQLite file (docs/store.md)", 1},
    {"resume", KEY_RESUME, NULL, 0, "go on with the newest unfinished run of --db that has the same settings", 1},
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
    case KEY_RESUME:
        arguments->resume = true;
        break;
    case ARGP_KEY_END:
        if (arguments->resume && !arguments->db)
            argp_error(state, "--resume needs --db");
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

/* Progress. */
struct progress {
    double start; /* clock_seconds() */
    bool terminal;
    struct cli_colors colors;
};

static void show_progress(void *closure, const struct bench *bench, int done)
{
    enum { WIDTH = 30 };
    struct progress *progress = closure;
    if (!progress->terminal)
        return;
    double elapsed = clock_seconds() - progress->start, left = elapsed / done * (bench->count - done);
    int filled = WIDTH * done / bench->count, failed = 0;
    for (int i = 0; i < bench->count; i++)
        failed += bench->rows[i].evaluated && bench->rows[i].kind != AKGEN_VERDICT_PASS;
    fprintf(stderr, "\r\033[K[%.*s%*s] %d of %d, %d not passed, %.0f s left", filled, "##############################",
            WIDTH - filled, "", done, bench->count, failed, left);
    if (done == bench->count)
        fputs("\r\033[K", stderr);
}

/* " #3" for sample 3, nothing for the only one. */
static const char *sample_suffix(int sample)
{
    static char text[16];
    snprintf(text, sizeof text, " #%d", sample);
    return sample ? text : "";
}

static void print_failures(const struct bench *bench, const struct cli_colors *colors)
{
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (row->kind != AKGEN_VERDICT_PASS)
            printf("%s%s%s %s%s (%s): %.200s\n", cli_verdict_color(colors, row->kind),
                   akgen_verdict_kind_name(row->kind), colors->off, row->task, sample_suffix(row->sample),
                   akgen_verdict_stage_name(row->stage), row->reason ? row->reason : "");
    }
}

/* Running. */
/* The tasks that the suite and the glob select. */
static struct akgen_error *select_tasks(struct arena *arena, const struct bench_arguments *arguments,
                                        struct task **chosen, int *selected)
{
    struct task *all;
    int count;
    struct akgen_error *error = task_load_all(arena, toolchain_home(), &all, &count);
    if (error)
        return error;
    *chosen = arena_alloc(arena, sizeof **chosen * (size_t)(count + 1));
    *selected = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].suite, arguments->suite) == 0 &&
            (!arguments->task || fnmatch(arguments->task, all[i].name, 0) == 0))
            (*chosen)[(*selected)++] = all[i];
    for (int i = 0; i < *selected; i++)
        if ((error = cli_set_tolerance(arena, &arguments->eval, &(*chosen)[i])))
            return error;
    if (!*selected)
        return error_new("no task of suite '%s' matches '%s'", arguments->suite,
                         arguments->task ? arguments->task : "*");
    return NULL;
}

static int exit_code(const struct bench *bench)
{
    int code = EXIT_PASS;
    for (int i = 0; i < bench->count; i++)
        if (bench->rows[i].kind == AKGEN_VERDICT_INFRA_ERROR)
            return EXIT_OWN_FAILURE;
        else if (bench->rows[i].kind != AKGEN_VERDICT_PASS)
            code = EXIT_OTHER_VERDICT;
    return code;
}

static int run(const struct bench_arguments *arguments, struct bench *bench, struct bench_options *options)
{
    struct progress progress = {.terminal = isatty(STDERR_FILENO), .colors = cli_colors_for(stdout)};
    const struct report_style style = {progress.colors.bold, progress.colors.off};
    progress.start = clock_seconds();
    options->on_row = show_progress;
    options->closure = &progress;
    bench_run(bench, options);
    print_failures(bench, &progress.colors);
    report_write_table(stdout, bench, &style);
    if (bench->skipped)
        printf("%d tasks skipped: they have no case %d\n", bench->skipped, options->eval.only_case);
    int code = exit_code(bench);
    struct akgen_error *error = arguments->report ? report_write_html(arguments->report, bench) : NULL;
    if (error)
        code = cli_fail(EXIT_OWN_FAILURE, error);
    if (bench->store_error) {
        fprintf(stderr, "akgen: %s; the verdicts above are complete, the database is not\n",
                bench->store_error->message);
        code = EXIT_OWN_FAILURE;
    }
    return code;
}

/* Opens the database, if one is asked for, and begins a run in it or goes on with one. */
static struct akgen_error *open_store(const struct bench_arguments *arguments, struct bench *bench,
                                      struct store **store)
{
    if (!arguments->db)
        return NULL;
    struct akgen_error *error = store_open(arguments->db, store);
    if (error)
        return error;
    return arguments->resume ? store_resume(*store, bench) : store_begin_run(*store, bench);
}

int cli_bench(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_eval_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc =
            "Evaluates the samples of a provider and prints compile rate (CR) and execution rate (ER) by level and "
            "category.\vA dir: provider holds candidates as PATH/level1/Math/Sqrt/op_host, op_kernel, or any number of "
            "them as PATH/level1/Math/Sqrt/answer/0, 1, ...; models' answers (docs/answers.md) as "
            "PATH/level1/Math/Sqrt.txt, .../answer/0.txt, also .md and .py, or, as MultiKernelBench leaves them, "
            "PATH/sqrt.txt. Exit code: 0 all pass, "
            "1 some do not, 2 wrong usage, "
            "3 failure of akgen.",
        .children = children,
    };
    struct bench_arguments arguments = {
        .eval = cli_eval_defaults(), .suite = "npukernelbench", .provider = BENCH_REFERENCE};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct bench_options options = {.eval = arguments.eval};
    struct bench bench = {0};
    struct task *tasks;
    int task_count, code = EXIT_PASS;
    struct arena arena = {0};
    struct akgen_error *error = bench_check_provider(arguments.provider, &gen_program_provider);
    if (!error)
        error = select_tasks(&arena, &arguments, &tasks, &task_count);
    if (error)
        code = cli_fail(EXIT_USAGE, error);
    else if ((error = eval_check_jail(&options.eval)))
        code = cli_fail(EXIT_OWN_FAILURE, error);
    else {
        bench_prepare(&bench, arguments.provider, &gen_program_provider, tasks, task_count, &options.eval);
        if (!bench.count && bench.skipped)
            code = cli_fail(EXIT_USAGE,
                            error_new("none of these %d tasks has a case %d", task_count, options.eval.only_case));
        else if (!bench.count)
            code = cli_fail(EXIT_USAGE, error_new("none of these %d tasks has a project of provider %s", task_count,
                                                  arguments.provider));
        else if ((error = open_store(&arguments, &bench, &options.store)))
            code = cli_fail(EXIT_OWN_FAILURE, error);
        else
            code = run(&arguments, &bench, &options);
    }
    bench_free(&bench);
    store_close(options.store);
    arena_free(&arena);
    return code;
}
