/* akgen eval TASK CANDIDATE: one candidate, one verdict. */
#include "base/files.h"
#include "cli/cli.h"
#include "cli/whole_file.h"
#include "gen/feedback.h"
#include "runs/bench.h"
#include "eval/kernel_baseline.h"
#include "eval/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct eval_arguments {
    struct eval_options options;
    struct cli_baseline baseline;
    const char *task, *dir;
    bool json, feedback, timing;
    const char *json_file, *trace; /* NULL: none */
};

static void take_json(void *options, char *text, const struct argp_state *state)
{
    struct eval_arguments *arguments = options;
    (void)state;
    arguments->json |= !text;
    arguments->json_file = text ? text : arguments->json_file;
}

#define CLI_OF struct eval_arguments
static const struct cli_option rows[] = {
    {"json", 0, "FILE", CLI_CALL(take_json, .flags = OPTION_ARG_OPTIONAL), 1,
     "print the verdict as JSON (docs/verdict.md); with =FILE write that to FILE and print the text besides"},
    {"feedback", 0, NULL, CLI_FLAG(feedback), 1, "print what a model that repairs the candidate is told (docs/gen.md)"},
    {"timing", 0, NULL, CLI_FLAG(timing), 1,
     "print the modelled time of every case (default: of the one that moves most bytes, where all are right)"},
    {"trace", 0, "FILE", CLI_TEXT(trace), 1,
     "write the modelled timeline of one case (--case, else the first) to FILE, for ui.perfetto.dev or "
     "chrome://tracing"},
    {NULL, 0, "TASK", CLI_TEXT(task), 0, NULL},
    {NULL, 0, "CANDIDATE", CLI_TEXT(dir, .needed = true), 0, NULL},
};

static void check_arguments(void *eval, const struct argp_state *state)
{
    const struct eval_arguments *arguments = eval;
    if (arguments->json && arguments->feedback)
        argp_error(state, "--json and --feedback are two ways to print one verdict");
    if (arguments->timing && (arguments->json || arguments->feedback))
        argp_error(state, "--timing prints a table; %s",
                   arguments->json ? "--json has every case's time" : "--feedback has no place for it");
    if (arguments->feedback && strcmp(arguments->baseline.name, BASELINE_EAGER) != 0)
        argp_error(state, "--baseline: --feedback prints no speedup");
    if (arguments->trace && (arguments->options.no_timing || arguments->options.random_order))
        argp_error(state, "--trace: time is modelled in program order only, and not with --no-timing");
}

static const char *json_text(struct arena *arena, const struct verdict *verdict)
{
    json_t *json = verdict_to_json(verdict);
    char *dumped = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    const char *text = arena_printf(arena, "%s\n", dumped ? dumped : "");
    free(dumped);
    json_decref(json);
    return text;
}

/* Fills the file of --json=FILE and closes it. False, and said, where that failed. */
static bool write_json(struct arena *arena, struct whole_file *file, const struct verdict *verdict)
{
    if (file->fd < 0)
        return true;
    const char *text = json_text(arena, verdict);
    const bool written = files_write_all(file->fd, text, strlen(text));
    return whole_file_close(file, true, written ? 0 : errno);
}

static void print_feedback(const struct verdict *verdict)
{
    struct arena arena = {0};
    struct gen_feedback feedback;
    gen_feedback_read(&arena, verdict, NULL, &feedback);
    fputs(gen_feedback_text(&arena, &feedback, NULL), stdout);
    arena_free(&arena);
}

/* The file of --trace, and the case that it is of. */
static struct akgen_error *open_trace(struct eval_arguments *arguments, const struct task *task,
                                      struct whole_file *file)
{
    if (!arguments->trace)
        return NULL;
    if (arguments->options.only_case < 0 && task->case_count)
        arguments->options.only_case = task->cases[0].id;
    return whole_file_open(file, arguments->trace, "]\n");
}

/* False, and said, where a trace was asked for and there is none. */
static bool check_trace(const struct eval_arguments *arguments, const struct verdict *verdict)
{
    bool known = verdict->case_count && verdict->cases[0].run.timing.model.known;
    if (arguments->trace && !known)
        fprintf(stderr, "akgen: %s is not written: the launch did not come to its end\n", arguments->trace);
    return known || !arguments->trace;
}

/* What the baseline takes for a case, and how that compares. */
static void print_case_speedup(int id, const struct speedup_case *row, bool kernel)
{
    const double speedup = speedup_of_case(row, kernel, SPEEDUP_ONE_LAUNCH);
    if (!(speedup > 0))
        return;
    printf("  modelled, case %d: ", id);
    if (kernel)
        printf("the baseline's kernel %.2f us", row->kernel);
    else
        printf("eager %.2f us, %.2f with half of each launch, %.2f with twice", row->eager[SPEEDUP_ONE_LAUNCH],
               row->eager[0], row->eager[SPEEDUP_LAUNCHES - 1]);
    printf("; %.2f times as fast\n", speedup);
}

static void print_speedup(bool every_case, const struct task *task, const struct verdict *verdict)
{
    const struct speedup *speedup = &verdict->speedup;
    for (int i = 0; i < verdict->case_count && every_case; i++)
        print_case_speedup(verdict->cases[i].id, &speedup->cases[i], speedup->kernel != NULL);
    if (speedup->over_baseline > 0 && speedup->kernel)
        printf("  modelled, mean of the cases: %.2f times as fast as the kernel of %s\n", speedup->over_baseline,
               speedup->baseline);
    else if (speedup->over_baseline > 0)
        printf("  modelled, mean of the cases: %.2f times as fast as eager, which is %d kernel%s here\n",
               speedup->over_baseline, task->eager_count, task->eager_count == 1 ? "" : "s");
    if (speedup->over_eager > 0)
        printf("  and %.2f times as fast as eager\n", speedup->over_eager);
}

/* A baseline that is none. */
static void print_lack(const struct kernel_times *kernel)
{
    if (!kernel || !kernel->lack)
        return;
    printf("  no speedup over %s: %s", kernel->baseline, kernel->judged ? "its kernel is no baseline: " : "");
    cli_print_clean(stdout, kernel->lack);
    putchar('\n');
}

static void print_text(const struct eval_arguments *arguments, const struct task *task, const struct verdict *verdict)
{
    struct cli_colors colors = cli_colors_for(stdout);
    cli_print_cases(stdout, verdict, &colors);
    if (arguments->timing || verdict->kind == AKGEN_VERDICT_PASS)
        cli_print_timing(stdout, verdict, arguments->timing, &colors);
    if (verdict->kind == AKGEN_VERDICT_PASS)
        print_speedup(arguments->timing, task, verdict);
    print_lack(verdict->speedup.kernel);
    cli_print_conclusion(stdout, verdict, &colors);
}

static int evaluate(struct eval_arguments *arguments)
{
    struct arena arena = {0};
    struct task task;
    struct kernel_baseline *baseline = NULL;
    struct akgen_error *error = task_find(&arena, toolchain_home(), arguments->task, &task);
    if (!error)
        error = tree_check_candidate(arguments->dir);
    if (!error)
        error = task_require_case(&task, arguments->options.only_case);
    if (!error)
        error = kernel_baseline_open_for(arguments->baseline.name, &task, &baseline);
    if (!error)
        error = cli_set_tolerance(&arena, &arguments->options, &task);
    struct whole_file trace = {.fd = -1}, json = {.fd = -1};
    if (!error)
        error = open_trace(arguments, &task, &trace);
    if (!error && arguments->json_file)
        error = whole_file_open(&json, arguments->json_file, "}\n");
    const int code_of_error = error ? EXIT_USAGE : EXIT_OWN_FAILURE;
    if (error || (error = eval_check_jail(&arguments->options))) {
        whole_file_close(&trace, false, 0);
        whole_file_close(&json, false, 0);
        kernel_baseline_close(baseline);
        arena_free(&arena);
        return cli_fail(code_of_error, error);
    }
    if (isatty(STDERR_FILENO))
        arguments->options.on_case = cli_print_progress;
    const struct eval_debug debug = {.log_fd = -1, .trace_fd = trace.fd};
    if (arguments->trace)
        arguments->options.debug = &debug;
    struct candidate candidate;
    struct verdict verdict;
    eval_read(&arena, &task, arguments->dir, &arguments->options, &candidate);
    eval_run(&candidate, &task, &arguments->options, &verdict);
    speedup_add(&task, baseline ? kernel_baseline_times(baseline, &task, &arguments->options) : NULL, &verdict);
    if (arguments->feedback)
        print_feedback(&verdict);
    else if (arguments->json)
        fputs(json_text(&arena, &verdict), stdout);
    else
        print_text(arguments, &task, &verdict);
    int code = cli_exit_code(verdict.kind);
    const bool traced = check_trace(arguments, &verdict);
    const int lost = traced && trace.fd >= 0 ? verdict.cases[0].run.timing.trace_errno : 0;
    if (!(whole_file_close(&trace, traced, lost) && traced) && code == EXIT_PASS)
        code = EXIT_OWN_FAILURE;
    if (!write_json(&arena, &json, &verdict))
        code = EXIT_OWN_FAILURE;
    verdict_free(&verdict);
    kernel_baseline_close(baseline);
    arena_free(&arena);
    return code;
}

int cli_eval(int argc, char **argv)
{
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .parts = {{&cli_eval_table, CLI_AT(options)},
                  {&cli_language_table, CLI_AT(options)},
                  {&cli_baseline_table, CLI_AT(baseline)}},
        .needs = "TASK and CANDIDATE are needed",
        .excess = CLI_TOO_MANY,
        .check = check_arguments,
        .args_doc = "TASK CANDIDATE",
        .doc = "Builds the operator project CANDIDATE, runs the task's cases on the simulated NPU and judges the "
               "outputs.\v"
               "TASK is a name from 'akgen task list' or a task's directory. CANDIDATE is a directory that holds "
               "op_kernel/ "
               "and, unless --scope=kernel, op_host/; or a file .txt, .md or .py with a model's answer: files in "
               "tags or code blocks, a program in AscendDSL, or MultiKernelBench's six Python strings "
               "(docs/answers.md). Exit code: 0 pass, 1 any other verdict, 2 wrong usage, 3 failure of "
               "akgen.",
    };
    struct eval_arguments arguments = {.options = cli_eval_defaults(),
                                       .baseline = {BASELINE_EAGER, &arguments.options}};
    cli_parse(&table, argc, argv, &arguments);
    return evaluate(&arguments);
}
