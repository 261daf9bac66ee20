/* Is the answer to an operator that was made at random right? */
#ifndef COT_SYNTH_PROVE_H
#define COT_SYNTH_PROVE_H

#include "base/error.h"
#include "cot/synth.h"
#include "eval/eval.h"
#include "task/task.h"

#include <stdbool.h>

struct synth_proof {
    const char *
        dropped; /* why the operator is of no use: golden is not finite, the planner refuses it, ..; NULL: it is proved */
    const struct task *task;
    const char *brief;   /* what a model is asked (gen_task_brief) */
    const char *program; /* the planner's, in AscendDSL */
    const char *verdict; /* JSON: of the small cases, "by" the interpreter or the machine; the same on every run */
    bool machine;        /* the project was compiled and run */
};
/* Writes the task to the folder `scratch`, which is the caller's alone, lets the planner write the program, and computes it by the strict
 * profile: by the interpreter, and if `machine` by the simulated chip as well. Results live in the arena; an error is our own failure. */
struct akgen_error *synth_prove(struct arena *arena, const struct synth_operator *operator, const char * scratch,
                                bool machine, struct synth_proof *proof);
/* The program of an operator that is proved, of the task that its description means: lists are lists, what is in place is. `brief`: the
 * planner's plainest, the formulas before it as its only comment, without assertions. `of` is `proof` where that has it already. */
struct akgen_error *synth_prove_program(struct arena *arena, const struct synth_operator *operator,
                                        const char * scratch, bool brief, const struct synth_proof *proof,
                                        struct synth_proof *of);
/* What a project is run with: case `id` alone, by the strict profile. */
struct eval_options synth_run_options(int id);
/* The first error of a program, as a reason. */
struct dsl_messages;
const char *synth_first_message(struct arena *arena, const struct dsl_messages *messages);
/* The kind of a reason: what is told of one operator has its names and numbers. */
const char *synth_drop_kind(const char *reason);
/* The comments at the head of the planner's program: how the work is shared out. NULL: there are none. */
const char *synth_chain(struct arena *arena, const char *program);

/* What stands behind the brief where a program or a project (of this entry point) is asked for: prompts/brief says the same. */
#define SYNTH_PROGRAM_IS_ASKED "\nAnswer: a program in AscendDSL"
#define SYNTH_PROJECT_IS_ASKED "\nAnswer: %s, a project in Ascend C"

enum synth_worth {
    SYNTH_REFUSED, /* no program comes of it: it does not parse, names what is not there, or the planner has no plan; or it is one that the checker
                      or the interpreter refuses */
    SYNTH_WRONG,   /* the program computes something else */
    SYNTH_RIGHT
};
/* Judges a model's answers to what is asked of an operator, as synth_prove judges its own: planner, checker, interpreter, the small cases by the
 * strict profile; and where nothing jumps, by what its formulas and the operator's compute in double, to 1e-9: terms that the data type drowns count. A question that ends in
 * SYNTH_PROGRAM_IS_ASKED is answered by a program, which the interpreter alone judges. An answer that is NULL is refused. `scratch`: as above. Errors: our own failure; the question is not the one that this program
 * asks, so another version of it made the operator. */
struct akgen_error *synth_judge(struct arena *arena, const struct synth_operator *made, const char *scratch,
                                const char *question, const char *const *answers, int count, enum synth_worth *worth);

#endif
