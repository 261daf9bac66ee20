/* The parts of `akgen gen`: a task's own program (gen.c), a description (gen_describe.c), a model (gen_model.c). */
#ifndef CLI_GEN_H
#define CLI_GEN_H

#include "cli/cli.h"
#include "gen/evidence.h"
#include "gen/model.h"

struct gen_arguments {
    struct eval_options eval;
    struct gen_model model;
    const char *task, *output, *description, *provider, *db;
    int rounds, beam;
    bool yes, print_prompt, json;
};

/* Makes the project's folder, without what an earlier `akgen gen` left there; one with files of others is an error. */
struct akgen_error *cli_gen_folder(struct arena *arena, const char *dir);
/* "trace     DIR/evidence/trace.json: case 3, ..", nothing where there is none. */
void cli_gen_print_trace(const char *dir, const struct gen_trace *trace);
/* Drafts the task of a description in the project's folder, which `arguments` have afterwards; goes on if it is confirmed. */
struct akgen_error *cli_gen_describe(struct arena *arena, struct gen_arguments *arguments, bool *confirmed);
/* The project that a model makes of the task, judged and repaired; `code` is what the command ends with. */
struct akgen_error *cli_gen_model(struct arena *arena, struct gen_arguments *arguments, const struct task *task,
                                  const char *dir, int *code);

#endif
