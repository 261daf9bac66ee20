/* akgen's subcommands. Exit codes of all of them: 0 pass, 1 any other verdict, 2 wrong usage, 3 our own failure. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "cli/table.h"
#include "eval/eval.h"

enum { EXIT_PASS = 0, EXIT_OTHER_VERDICT = 1, EXIT_USAGE = 2, EXIT_OWN_FAILURE = 3 };

int cli_eval(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_gen(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_export_cann(int argc, char **argv); /* akgen export cann (export_cann.c) */
int cli_task(int argc, char **argv);
int cli_tune(int argc, char **argv);
int cli_dsl(int argc, char **argv);
int cli_lm(int argc, char **argv);  /* lm.h */
int cli_cot(int argc, char **argv); /* cot.h */
int cli_soc(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_doctor(int argc, char **argv);

/* A command of a command, and the choice among them by the first word; `about` is a line of the help (command.c). */
struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};
int cli_run_command(const char *group, const char *about, const struct cli_command *commands, size_t count, int argc,
                    char **argv);

/* akgen task new (task_new.c): writes the skeleton of a task at `path`, which ends in SUITE/levelN/CATEGORY/OP.
 * `reference` and `like` may be NULL. Returns the exit code. */
int cli_task_new(struct arena *arena, const char *path, const char *reference, const char *like);
/* task mutants [NAME]: prints which candidates that leave work out each profile passes, and counts them by kind. */
int cli_task_mutants(struct arena *arena, const char *name, bool full);

/* Options that eval and bench share (options.c). */
/* Of a `struct eval_options`, filled with defaults before parsing. */
extern const struct cli_table cli_eval_table;
/* --language of the commands that read answers; of the same struct. */
extern const struct cli_table cli_language_table;
/* Defaults: Ascend910B2, dynamic, project, upstream, all cases, in-order, as many jobs as processors. */
struct eval_options cli_eval_defaults(void);
/* --soc of a row that calls with a `const struct npu_soc *`. */
void cli_take_soc(void *soc, char *text, const struct argp_state *state);
/* --salt of a row that calls with a `const char *`. */
void cli_take_salt(void *salt, char *text, const struct argp_state *state);
/* Applies --tolerance, if it was given, to a task. An error if the task or the profile has no such choice. */
struct akgen_error *cli_set_tolerance(struct arena *arena, const struct eval_options *eval, struct task *task);
/* --baseline of eval and bench, of a `struct cli_baseline`. */
struct cli_baseline {
    const char *name;                 /* BASELINE_EAGER, "dir:PATH" */
    const struct eval_options *timed; /* the command's, which must model time where the baseline is not eager */
};
extern const struct cli_table cli_baseline_table;
/* -k of bench and report: some k of pass@k, ascending. */
struct cli_ks {
    int of[16], count;
};
/* Reads "1,10", for a row that calls with a `struct cli_ks`. */
void cli_take_ks(void *ks, char *text, const struct argp_state *state);
/* Exit code of a command that ends with a verdict. */
int cli_exit_code(enum akgen_verdict_kind kind);
/* Prints "akgen: <message>" without control characters, frees the error and returns exit_code. */
int cli_fail(int exit_code, struct akgen_error *error);
/* How a command ends: with cli_fail, as wrong usage where the error is of the user's file; without an error with 0. */
int cli_end(struct akgen_error *error);
/* Prints JSON and a line's end to standard output, and releases it; jansson's flags. */
void cli_print_json(json_t *json, size_t flags);

/* Verdicts for people (print.c). */
/* Colour codes, all empty when the stream is no terminal or NO_COLOR is set. */
struct cli_colors {
    const char *good, *bad, *warn, *dim, *bold, *off;
};
struct cli_colors cli_colors_for(FILE *stream);
const char *cli_verdict_color(const struct cli_colors *colors, enum akgen_verdict_kind kind);
/* The whole verdict: build, diagnostics with the source line and a caret, cases, faults, first mismatches, the
 * result. */
void cli_print_verdict(FILE *out, const struct verdict *verdict, const struct cli_colors *colors);
/* The two parts of it: the last line, and all before it. */
void cli_print_cases(FILE *out, const struct verdict *verdict, const struct cli_colors *colors);
void cli_print_conclusion(FILE *out, const struct verdict *verdict, const struct cli_colors *colors);
/* The modelled time of the case that moves most bytes, or of every case; nothing where it is not known
 * (print_timing.c). */
void cli_print_timing(FILE *out, const struct verdict *verdict, bool every_case, const struct cli_colors *colors);
/* Prints what somebody else had a hand in, a candidate, a model, a database: text_put_plain. */
void cli_print_clean(FILE *out, const char *text);
/* eval_options.on_case for a terminal: "case 3 of 19" on standard error, nothing behind the last. */
void cli_print_progress(void *closure, int done, int total);

#endif
