/* akgen bench: a provider's candidates over a suite of tasks. */
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/progress.h"
#include "base/files.h"
#include "candidate/folder.h"
#include "candidate/reader.h"
#include "candidate/program.h"
#include "runs/bench.h"
#include "eval/tree.h"

#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_INTERRUPTED = 130, MOST_GLOBS = 256 };

struct bench_arguments {
    struct eval_options eval;
    struct gen_model model;
    struct cli_ks ks;
    const char *suite, *provider, *db, *report;
    const char *tasks[MOST_GLOBS]; /* the tasks that one of these matches; none: all */
    int task_count;
    bool resume;
    struct cli_baseline baseline;
};

#define CLI_OF struct bench_arguments
static const struct cli_option rows[] = {
    {"suite", 0, "NAME", CLI_TEXT(suite), 1, "suite of tasks (default npukernelbench)"},
    {"provider", 0, "NAME", CLI_TEXT(provider), 1,
     "reference (the tasks' own answers, where they have one; default), dsl (their programs in AscendDSL, compiled), "
     "dir:PATH, openai:URL (a server of a model), lm (the model in models/), lm:DIR (one that this process runs) or "
     "exec:COMMAND (prompt on standard input, answer on standard output)"},
    {"task", 0, "GLOB", CLI_LIST(tasks, task_count), 1,
     "only tasks whose name matches, e.g. 'level1/*' or '*/Sqrt'; several times"},
    {"db", 0, "FILE", CLI_TEXT(db), 1, "keep the run in an SQLite file (docs/store.md)"},
    {"resume", 0, NULL, CLI_FLAG(resume), 1, "go on with the newest unfinished run of --db that has the same settings"},
    {"report", 0, "FILE.html", CLI_TEXT(report), 1, "write the run as one HTML page"},
    {"pass-at", 'k', "K[,K..]", CLI_CALL(cli_take_ks, .at = CLI_AT(ks)), 1,
     "report pass@k for these k (default, of several samples: 1, 5, 10, 100)"},
};

static void check_arguments(void *bench, const struct argp_state *state)
{
    const struct bench_arguments *arguments = bench;
    if (arguments->resume && !arguments->db)
        argp_error(state, "--resume needs --db");
    if (!gen_model_is_provider(arguments->provider))
        cli_refuse_model_options(state, "is of a model, which --provider openai:URL, lm, lm:DIR or exec:COMMAND names");
}

/* Results. */
/* " #3" for sample 3, nothing for the only one. */
static const char *sample_suffix(int sample)
{
    static char text[16];
    snprintf(text, sizeof text, " #%d", sample);
    return sample ? text : "";
}

/* Of a model's samples, which may be thousands and fail as a matter of course, those alone that are AKGen's or the server's
 * doing, and not all. */
static void print_failures(const struct bench *bench, bool sampled, const struct cli_colors *colors)
{
    enum { SHOWN = 10, LONGEST = 200 };
    int shown = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (row->kind == AKGEN_VERDICT_PASS || bench_is_missing(row) ||
            (sampled && row->kind != AKGEN_VERDICT_INFRA_ERROR) || (sampled && ++shown > SHOWN))
            continue;
        char reason[LONGEST + 1];
        snprintf(reason, sizeof reason, "%s", row->reason ? row->reason : "");
        printf("%s%s%s ", cli_verdict_color(colors, row->kind), akgen_verdict_kind_name(row->kind), colors->off);
        cli_print_clean(stdout, row->task);
        printf("%s (%s): ", sample_suffix(row->sample), akgen_verdict_stage_name(row->stage));
        cli_print_clean(stdout, reason);
        putchar('\n');
    }
    if (shown > SHOWN)
        printf("and %d more of them\n", shown - SHOWN);
}

/* Running. */
/* True if a glob selects the task; marks each glob that does as used. */
static bool is_selected(const struct bench_arguments *arguments, const char *name, bool *used)
{
    bool selected = !arguments->task_count;
    for (int i = 0; i < arguments->task_count; i++)
        if (fnmatch(arguments->tasks[i], name, 0) == 0)
            selected = used[i] = true;
    return selected;
}

/* The tasks that the suite and the globs select. */
static struct akgen_error *select_tasks(struct arena *arena, const struct bench_arguments *arguments,
                                        struct task **chosen, int *selected)
{
    struct task *all;
    int count;
    struct akgen_error *error = task_load_all(arena, toolchain_home(), &all, &count);
    if (error)
        return error;
    bool used[MOST_GLOBS] = {false};
    *chosen = arena_alloc(arena, sizeof **chosen * (size_t)(count + 1));
    *selected = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].suite, arguments->suite) == 0 && is_selected(arguments, all[i].name, used))
            (*chosen)[(*selected)++] = all[i];
    for (int i = 0; i < arguments->task_count; i++)
        if (!used[i])
            return error_new("no task of suite '%s' matches '%s'", arguments->suite, arguments->tasks[i]);
    for (int i = 0; i < *selected; i++)
        if ((error = cli_set_tolerance(arena, &arguments->eval, &(*chosen)[i])))
            return error;
    return *selected ? NULL : error_new("there is no suite '%s' of tasks", arguments->suite);
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

/* What there is to say of a run, and its exit code. */
static int conclude(const struct bench_arguments *arguments, struct bench *bench, bool sampled)
{
    const struct cli_colors colors = cli_colors_for(stdout);
    const struct report_style style = {colors.bold, colors.off};
    print_failures(bench, sampled, &colors);
    report_write_table(stdout, bench, &style);
    if (bench->skipped)
        printf("%d tasks skipped: they have no case %d\n", bench->skipped, arguments->eval.only_case);
    int code = exit_code(bench);
    struct akgen_error *error = arguments->report ? report_write_html(arguments->report, bench) : NULL;
    if (error)
        code = cli_fail(EXIT_OWN_FAILURE, error);
    if (bench->store_error) {
        fprintf(stderr, "akgen: %s; %s\n", bench->store_error->message,
                sampled ? "some verdicts above are not in the database, and are found again when the run goes on"
                        : "the verdicts above are complete, the database is not");
        code = EXIT_OWN_FAILURE;
    }
    return code;
}

static int run(const struct bench_arguments *arguments, struct bench *bench, struct bench_options *options)
{
    struct progress *progress = progress_begin(bench, NULL);
    options->on_row = progress_on_row;
    options->closure = progress;
    bench_run(bench, options);
    progress_end(progress);
    return conclude(arguments, bench, false);
}

/* Models. */
/* Why there is not all of it, and how to go on. Returns the exit code. */
static int explain_end(const struct bench_arguments *arguments, const struct bench *bench,
                       const struct gen_sampling_state *state, const struct akgen_error *error, int code)
{
    int open = bench->planned - bench->count + bench_errors(bench).kinds[AKGEN_VERDICT_INFRA_ERROR];
    fflush(stdout);
    if (state->end == GEN_SAMPLING_FAILING || state->end == GEN_SAMPLING_BROKEN)
        code = EXIT_OWN_FAILURE;
    if (progress_interrupted())
        code = EXIT_INTERRUPTED;
    if (state->end != GEN_SAMPLING_WHOLE) {
        fprintf(stderr, "akgen: %s%s", gen_sampling_ends.of[state->end],
                error || state->end == GEN_SAMPLING_FAILING ? ": " : "");
        cli_print_clean(stderr, error ? error->message : state->end == GEN_SAMPLING_FAILING ? state->last_failure : "");
        fputc('\n', stderr);
    }
    if (open && arguments->db)
        fprintf(stderr, "akgen: %d of %d samples lack a verdict; the same command with --resume%s goes on\n", open,
                bench->planned,
                state->end == GEN_SAMPLING_TOKENS || state->end == GEN_SAMPLING_COST ? " and a higher limit" : "");
    else if (open)
        fprintf(stderr, "akgen: %d of %d samples lack a verdict; only a run with --db can be resumed\n", open,
                bench->planned);
    return code;
}

static int run_model(const struct bench_arguments *arguments, struct bench *bench, struct bench_options *options)
{
    struct gen_sampler *sampler = NULL;
    struct akgen_error *error = gen_sampler_open(bench, options->store, &arguments->model, &options->eval, &sampler);
    if (error)
        return cli_fail(EXIT_USAGE, error);
    struct progress *progress = progress_begin(bench, sampler);
    options->source = gen_sampler_source(sampler);
    options->on_row = progress_on_row;
    options->closure = progress;
    bench_run(bench, options);
    progress_end(progress);
    const struct akgen_error *broken = gen_sampler_finish(sampler);
    const struct gen_sampling_state state = gen_sampler_state(sampler);
    bench_keep_evaluated(bench);
    error = store_sample_totals(options->store, bench->run, &bench->sampled);
    if (error && !bench->store_error)
        bench->store_error = error;
    else
        error_free(error);
    int code = explain_end(arguments, bench, &state, broken, conclude(arguments, bench, true));
    gen_sampler_close(sampler);
    return code;
}

/* Opens the database, if one is asked for, and begins a run in it or goes on with one. A model's samples need one: who asks for
 * none gets one that goes with the run. */
static struct akgen_error *open_store(const struct bench_arguments *arguments, struct bench *bench,
                                      struct bench_options *options)
{
    if (!arguments->db && !bench->planned)
        return NULL;
    struct akgen_error *error = store_open(arguments->db ? arguments->db : "", &options->store);
    if (!error)
        error = arguments->resume ? store_resume(options->store, bench) : store_begin_run(options->store, bench);
    options->eval.salt = bench->salt;
    return error;
}

/* The tasks' programs, compiled. */
static const struct bench_provider program_provider = {"dsl", EVAL_DSL, candidate_program_exists, candidate_of_task};

/* Fills the run's rows. */
static struct akgen_error *prepare(struct bench_arguments *arguments, const struct task *tasks, int count,
                                   struct bench *bench)
{
    const char *provider = arguments->provider;
    if (gen_model_is_provider(provider))
        gen_sampler_prepare(bench, &arguments->model, tasks, count, &arguments->eval);
    else
        bench_prepare(bench, provider, &program_provider, tasks, count, &arguments->eval);
    bench->ks = arguments->ks.count ? arguments->ks.of : NULL;
    bench->k_count = arguments->ks.count;
    bench->baseline = arguments->baseline.name;
    bench->salt = arguments->eval.profile == TASK_STRICT ? arguments->eval.salt : NULL;
    if (bench->count)
        return NULL;
    return bench->skipped ? error_new("none of these %d tasks has a case %d", count, arguments->eval.only_case)
                          : error_new("none of these %d tasks has a project of provider %s", count, provider);
}

/* A folder that has no kernel for any of the tasks is another one than was meant. */
static struct akgen_error *open_baseline(const struct bench_arguments *arguments, const struct task *tasks, int count,
                                         struct kernel_baseline **baseline)
{
    bool found = false;
    struct akgen_error *error = kernel_baseline_open(arguments->baseline.name, count, baseline);
    for (int i = 0; i < count && *baseline && !found; i++)
        found = kernel_baseline_has(*baseline, &tasks[i]);
    return error || found || !*baseline
               ? error
               : error_new("baseline %s has a kernel for none of these %d tasks; one for each is expected there, as %s",
                           arguments->baseline.name, count, tasks[0].name);
}

static struct akgen_error *check_provider(struct bench_arguments *arguments)
{
    if (!gen_model_is_provider(arguments->provider))
        return bench_check_provider(arguments->provider, &program_provider);
    cli_model_take(&arguments->model, &arguments->eval);
    struct akgen_error *error = cli_model_provider(&arguments->model, arguments->provider);
    cli_model_judge(&arguments->model, &arguments->eval);
    return error;
}

/* True if the answers that a tree has for the tasks are .py files with programs in AscendDSL, all of them. */
static bool holds_programs(const char *tree, const struct task *tasks, int count, enum eval_scope scope)
{
    enum { LARGEST = 1 << 20 };
    struct arena arena = {0};
    int programs = 0, others = 0;
    for (int i = 0; i < count && !others; i++) {
        struct tree_answer *answers;
        const int found = tasks[i].broken ? 0 : tree_answers(&arena, tree, &tasks[i], &answers);
        for (int k = 0; k < found && !others; k++) {
            const char *end = strrchr(answers[k].path, '.');
            struct answer answer = {.kind = ANSWER_IS_NOTHING};
            struct candidate_source source;
            if (access(answers[k].path, F_OK) != 0)
                continue;
            if (end && strcmp(end, ".py") == 0) {
                struct akgen_error *error = candidate_source_read(&arena, tree, answers[k].path, &source);
                if (!error && source.text && source.length <= LARGEST)
                    candidate_read_answer(&arena, "", source.text, source.length, &tasks[i],
                                          &(struct candidate_asked){.scope = scope, .language = EVAL_ANY}, &answer,
                                          NULL);
                error_free(error);
            }
            programs += answer.kind == ANSWER_IS_PROGRAM;
            others += answer.kind != ANSWER_IS_PROGRAM;
        }
    }
    arena_free(&arena);
    return programs && !others;
}

/* A run is of one language: the one asked for, else the one that the provider's answers are in. */
static struct akgen_error *set_language(struct bench_arguments *arguments, const struct task *tasks, int count)
{
    struct eval_options *eval = &arguments->eval;
    const bool tree = strncmp(arguments->provider, TREE_PREFIX, strlen(TREE_PREFIX)) == 0;
    enum eval_language own =
        strcmp(arguments->provider, program_provider.name) == 0 ? program_provider.language : EVAL_ASCENDC;
    if (gen_model_is_provider(arguments->provider))
        return NULL; /* set with the model */
    if (!tree && eval->language_given && eval->language != own && eval->language != EVAL_ANY)
        return error_new("--language %s: provider %s gives answers in %s", eval_languages.of[eval->language],
                         arguments->provider, eval_languages.of[own]);
    if (tree && !eval->language_given &&
        holds_programs(arguments->provider + strlen(TREE_PREFIX), tasks, count, eval->scope))
        own = EVAL_DSL;
    if (!eval->language_given)
        eval->language = own;
    eval->language_given = true;
    return NULL;
}

int cli_bench(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_eval_table, CLI_AT(eval)},
                  {&cli_language_table, CLI_AT(eval)},
                  {&cli_baseline_table, CLI_AT(baseline)},
                  {&cli_model_table, CLI_AT(model)}},
        .excess = CLI_UNEXPECTED,
        .check = check_arguments,
        .doc =
            "Evaluates the samples of a provider and prints compile rate (CR) and execution rate (ER) by level and "
            "category.\vA dir: provider holds candidates as PATH/level1/Math/Sqrt/op_host, op_kernel, or any number of "
            "them as PATH/level1/Math/Sqrt/answer/0, 1, ...; models' answers (docs/answers.md) as "
            "PATH/level1/Math/Sqrt.txt, .../answer/0.txt, also .md and .py, or, as MultiKernelBench leaves them, "
            "PATH/sqrt.txt. A baseline of dir:PATH lies likewise, one kernel for each task. Exit code: 0 all pass, "
            "1 some do not, 2 wrong usage, "
            "3 failure of akgen or of a model's server, 130 interrupted.",
    };
    struct bench_arguments arguments = {.eval = cli_eval_defaults(),
                                        .model = cli_model_defaults(),
                                        .suite = "npukernelbench",
                                        .provider = BENCH_REFERENCE,
                                        .baseline = {BASELINE_EAGER, &arguments.eval}};
    cli_parse(&table, argc, argv, &arguments);
    struct bench_options options = {0};
    struct bench bench = {0};
    struct task *tasks;
    int task_count, code = EXIT_PASS;
    struct arena arena = {0};
    struct akgen_error *error = check_provider(&arguments);
    if (!error)
        error = select_tasks(&arena, &arguments, &tasks, &task_count);
    if (!error)
        error = set_language(&arguments, tasks, task_count);
    options.eval = arguments.eval;
    if (!error)
        error = open_baseline(&arguments, tasks, task_count, &options.baseline);
    if (!error)
        error = prepare(&arguments, tasks, task_count, &bench);
    if (error)
        code = cli_fail(EXIT_USAGE, error);
    else if ((error = eval_check_jail(&options.eval)) || (error = open_store(&arguments, &bench, &options)))
        code = cli_fail(EXIT_OWN_FAILURE, error);
    else
        code = (bench.planned ? run_model : run)(&arguments, &bench, &options);
    bench_free(&bench);
    store_close(options.store);
    kernel_baseline_close(options.baseline);
    gen_model_free(&arguments.model);
    arena_free(&arena);
    return code;
}
