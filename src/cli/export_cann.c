/* akgen export cann DIR: a judged project for a machine with a chip. */
#include "base/files.h"
#include "cli/cli.h"
#include "gen/cann.h"

#include <string.h>
#include <unistd.h>

enum {
    KEY_TASK = 0x500,
    KEY_SOC,
    KEY_CASE,
    KEY_MB,
    KEY_SEED,
    KEY_MODE,
    LONGEST_VERDICT = 64 << 20,
    MEGABYTE = 1 << 20,
    DEFAULT_MB = 32
};

struct cann_arguments {
    struct eval_options eval;
    struct gen_cann_options cann;
    const char *candidate, *task;
};

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "the folder of the project, which is made", 0},
    {"task", KEY_TASK, "TASK", 0, "what it was written for (default: as DIR/evidence/verdict.json says)", 0},
    {"soc", KEY_SOC, "NAME", 0, "the chip (default Ascend910B2; 'akgen soc list')", 0},
    {"mode", KEY_MODE, WORD_CHOICE(EVAL_MODES, ""), 0, "as of 'akgen eval': static exports the first case alone", 0},
    {"case", KEY_CASE, "N", 0, "only case N", 0},
    {"max-mb", KEY_MB, "N", 0, "leave out cases with larger files (default 32)", 0},
    {"seed", KEY_SEED, "S", 0, "of the inputs (default 0)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct cann_arguments *arguments = state->input;
    switch (key) {
    case 'o':
        arguments->cann.dir = text;
        break;
    case KEY_TASK:
        arguments->task = text;
        break;
    case KEY_SOC:
        if (!(arguments->eval.soc = npu_soc_find(text)))
            argp_error(state, "--soc: no chip '%s'; 'akgen soc list' shows them", text);
        break;
    case KEY_MODE:
        if (words_find(&eval_modes, text) < 0)
            argp_error(state, "--mode: '%s' is neither static nor dynamic", text);
        arguments->eval.mode = words_find(&eval_modes, text) == EVAL_STATIC ? EVAL_STATIC : EVAL_DYNAMIC;
        break;
    case KEY_CASE:
        arguments->eval.only_case = (int)cli_parse_number(state, "case", text, 0, INT32_MAX);
        break;
    case KEY_MB:
        arguments->cann.case_bytes = (uint64_t)cli_parse_number(state, "max-mb", text, 0, 1 << 20) * MEGABYTE;
        break;
    case KEY_SEED:
        arguments->cann.seed = (uint64_t)cli_parse_number(state, "seed", text, 0, INT32_MAX);
        break;
    case ARGP_KEY_ARG:
        if (arguments->candidate)
            argp_error(state, "too many arguments: '%s'", text);
        arguments->candidate = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->candidate || !arguments->cann.dir)
            argp_error(state, "DIR and -o OUT are needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* The task of a project that `akgen gen` wrote: the one that was drafted in it, or what the evidence names. */
static struct akgen_error *task_of_project(struct arena *arena, const char *dir, const char **task)
{
    char *text;
    *task = arena_printf(arena, "%s/task", dir);
    if (files_exists(arena_printf(arena, "%s/task.yaml", *task)))
        return NULL;
    struct akgen_error *error =
        files_read(arena, arena_printf(arena, "%s/evidence/verdict.json", dir), LONGEST_VERDICT, &text, NULL);
    json_t *verdict = error ? NULL : json_loads(text, 0, NULL);
    const char *suite = json_string_value(json_object_get(verdict, "suite"));
    const char *name = json_string_value(json_object_get(verdict, "task"));
    if (suite && name)
        *task = arena_printf(arena, "%s/%s", suite, name);
    json_decref(verdict);
    error_free(error);
    return suite && name
               ? NULL
               : error_new("%s has no evidence/verdict.json that says what it was written for; --task does", dir);
}

static struct akgen_error *check_folder(struct arena *arena, const char *dir)
{
    const char **paths;
    size_t count;
    if (access(dir, F_OK) == 0 && access(arena_printf(arena, "%s/.", dir), F_OK) != 0)
        return error_new("%s is no folder", dir);
    struct akgen_error *error = files_list(arena, dir, &paths, &count);
    return error ? error : count ? error_new("%s holds files already; -o names another folder", dir) : NULL;
}

/* Judges, then writes; `code` is what the command ends with. */
static struct akgen_error *judge_and_write(struct arena *arena, struct cann_arguments *arguments,
                                           const struct task *task, int *code)
{
    struct candidate candidate;
    struct verdict verdict;
    struct gen_cann written;
    if (isatty(STDERR_FILENO))
        arguments->eval.on_case = cli_print_progress;
    eval_read(arena, task, arguments->candidate, &arguments->eval, &candidate);
    eval_run(&candidate, task, &arguments->eval, &verdict);
    struct cli_colors colors = cli_colors_for(stdout);
    cli_print_verdict(stdout, &verdict, &colors);
    struct akgen_error *error = gen_cann_write(arena, task, &verdict, &arguments->cann, &written);
    if (error && gen_cann_built(&verdict))
        files_remove_tree(arguments->cann.dir); /* it was empty; half a project helps nobody */
    *code = error && !gen_cann_built(&verdict) ? EXIT_OTHER_VERDICT
            : error                            ? EXIT_OWN_FAILURE
                                               : cli_exit_code(verdict.kind);
    if (!error) {
        printf("project   %s: %d cases, %.1f MB", arguments->cann.dir, written.cases, (double)written.bytes / MEGABYTE);
        if (written.left_out)
            printf(", %d larger ones left out", written.left_out);
        printf("; %s/run.sh on a machine with CANN and a chip\n", arguments->cann.dir);
    }
    verdict_free(&verdict);
    return error;
}

int cli_export_cann(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "DIR -o OUT",
        .doc = "Judges the operator project in DIR by the strict profile and writes it as a project for CANN: with "
               "build script, a "
               "program that calls it, inputs and expected outputs, and run.sh, which builds, runs and compares."
               "\vExit code: 0 pass, 1 any other verdict (the project is written if it was built), 2 wrong usage, 3 "
               "failure "
               "of akgen.",
    };
    struct cann_arguments arguments = {.eval = cli_eval_defaults(),
                                       .cann = {.case_bytes = (uint64_t)DEFAULT_MB * MEGABYTE}};
    struct arena arena = {0};
    struct task task;
    int code = EXIT_USAGE;
    arguments.eval.profile = TASK_STRICT;
    cli_parse(&argp, argc, argv, &arguments);
    struct akgen_error *error = check_folder(&arena, arguments.cann.dir);
    if (!error && !arguments.task)
        error = task_of_project(&arena, arguments.candidate, &arguments.task);
    if (!error)
        error = task_find(&arena, toolchain_home(), arguments.task, &task);
    if (!error && task.broken)
        error = error_new("%s", task.broken);
    if (!error)
        error = task_require_case(&task, arguments.eval.only_case);
    if (!error)
        error = judge_and_write(&arena, &arguments, &task, &code);
    if (error)
        cli_fail(code, error);
    arena_free(&arena);
    return code;
}
