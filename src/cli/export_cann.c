/* akgen export cann DIR: a judged project for a machine with a chip. */
#include "base/files.h"
#include "cli/cli.h"
#include "gen/cann.h"

#include <unistd.h>

enum { LONGEST_VERDICT = 64 << 20, MEGABYTE = 1 << 20, DEFAULT_MB = 32 };

struct cann_arguments {
    struct eval_options eval;
    struct gen_cann_options cann;
    const char *candidate, *task;
    int megabytes;
};

#define CLI_OF struct cann_arguments
static const struct cli_option rows[] = {
    {"output", 'o', "OUT", CLI_TEXT(cann.dir, .needed = true), 0, "the folder of the project, which is made"},
    {"task", 0, "TASK", CLI_TEXT(task), 0, "what it was written for (default: as DIR/evidence/verdict.json says)"},
    {"soc", 0, "NAME", CLI_CALL(cli_take_soc, .at = CLI_AT(eval.soc)), 0,
     "the chip (default Ascend910B2; 'akgen soc list')"},
    {"mode", 0, WORD_CHOICE(EVAL_MODES, ""), CLI_WORD(eval.mode, eval_modes, CLI_NEITHER), 0,
     "as of 'akgen eval': static exports the first case alone"},
    {"case", 0, "N", CLI_NUMBER(eval.only_case, 0, INT32_MAX), 0, "only case N"},
    {"max-mb", 0, "N", CLI_NUMBER(megabytes, 0, 1 << 20), 0, "leave out cases with larger files (default 32)"},
    {"seed", 0, "S", CLI_NUMBER(cann.seed, 0, INT32_MAX), 0, "of the inputs (default 0)"},
    {NULL, 0, "DIR", CLI_TEXT(candidate, .needed = true), 0, NULL},
};

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
    static const struct cli_table table = {
        CLI_ROWS(rows),
        .needs = "DIR and -o OUT are needed",
        .excess = CLI_TOO_MANY,
        .args_doc = "DIR -o OUT",
        .doc = "Judges the operator project in DIR by the strict profile and writes it as a project for CANN: with "
               "build script, a "
               "program that calls it, inputs and expected outputs, and run.sh, which builds, runs and compares."
               "\vExit code: 0 pass, 1 any other verdict (the project is written if it was built), 2 wrong usage, 3 "
               "failure "
               "of akgen.",
    };
    struct cann_arguments arguments = {.eval = cli_eval_defaults(), .megabytes = DEFAULT_MB};
    struct arena arena = {0};
    struct task task;
    int code = EXIT_USAGE;
    arguments.eval.profile = TASK_STRICT;
    cli_parse(&table, argc, argv, &arguments);
    arguments.cann.case_bytes = (uint64_t)arguments.megabytes * MEGABYTE;
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
