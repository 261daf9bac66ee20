/* The parts of `akgen gen`: a task's own program (gen.c), a description (gen_describe.c), a model (gen_model.c), a program that is
 * made faster (gen_optimise.c). */
#ifndef CLI_GEN_H
#define CLI_GEN_H

#include "cli/cli.h"
#include "eval/times.h"
#include "gen/evidence.h"
#include "gen/model.h"
#include "candidate/program.h"
#include "gen/tune.h"

struct gen_arguments {
    struct eval_options eval;
    struct gen_model model;
    const char *task, *output, *description, *provider, *db;
    int rounds, beam;
    bool optimise, yes, print_prompt, json;
    bool model_given;   /* an option of a model that is asked */
    int optimise_count; /* rounds of a model, settings without one; 0: the default */
    int patience;       /* rounds of a model */
    double roofline;    /* percent */
    double seconds;     /* of what a model is asked for, or of the tuning; 0: none was given */
};

/* Makes the project's folder, without what an earlier `akgen gen` left there; one with files of others is an error. */
struct akgen_error *cli_gen_folder(struct arena *arena, const char *dir);
/* "trace     DIR/evidence/trace.json: case 3, ..", nothing where there is none. */
void cli_gen_print_trace(const char *dir, const struct verdict_trace *trace);
/* Drafts the task of a description in the project's folder, which `arguments` have afterwards; goes on if it is confirmed. */
struct akgen_error *cli_gen_describe(struct arena *arena, struct gen_arguments *arguments, bool *confirmed);
/* Writes what proves a project that was compiled of a program, and adds the trace to its verdict, which is written last. */
struct akgen_error *cli_gen_evidence(struct arena *arena, const char *dir, const struct candidate_program *program,
                                     const struct task *task, struct verdict *verdict);
/* Tunes the program whose project in `dir` has the verdict, a pass. Where another setting is faster, project, evidence and verdict
 * are that one's afterwards, and the first one's are in evidence/before. */
struct akgen_error *cli_gen_optimise(struct arena *arena, struct gen_arguments *arguments, const struct task *task,
                                     const char *dir, struct candidate_program *program, struct verdict *verdict);
/* A line for each case: what it takes and what bounds that, before and, where that is faster, after. */
void cli_print_times(const struct times *before, const struct times *after, bool faster, bool cycles);
/* Before and after, and why it ended. */
void cli_print_faster(const struct times *before, const struct times *after, const char *stopped);
/* gen_tune_options.seen (tune.c): "tile = 8192, cores = 24: modelled 8.65 us", what the setting has and the candidate had not.
 * `arena` is the closure. */
void cli_print_setting(void *arena, const struct gen_subject *subject, const struct gen_setting *setting);
/* The project that a model makes of the task, judged and repaired; `code` is what the command ends with. */
struct akgen_error *cli_gen_model(struct arena *arena, struct gen_arguments *arguments, const struct task *task,
                                  const char *dir, int *code);

#endif
