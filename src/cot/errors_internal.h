/* From a right answer to a sample: broken (mutate.h), judged (errors_judge.c), told (errors_text.c). */
#ifndef COT_ERRORS_INTERNAL_H
#define COT_ERRORS_INTERNAL_H

#include "cot/errors.h"
#include "cot/mutate.h"
#include "cot/synth_prove.h"
#include "dsl/lower.h"

/* What was found of a wrong answer. NULL where there is nothing to say. */
struct errors_found {
    const char *verdict; /* a word of docs/verdict.md */
    const char *class
        ; /* of a compile error the paper's class, else the fault's name, the rule that a run broke, or "result" */
    const char *says; /* the first thing that was found */
    const char *told; /* all of it, as who wrote the answer is told */
    const char *rule, *remedy;
};

/* What becomes of an answer. ERRORS_USELESS: it is not the answer's fault; *error: our own failure. */
enum errors_judged { ERRORS_WRONG, ERRORS_RIGHT, ERRORS_USELESS };
/* Formulas and programs: planner, checker, compiler, and the interpreter on the task's small cases by the strict profile. */
enum errors_judged errors_judge_formulas(struct arena *arena, const struct task *task, const char *text,
                                         struct errors_found *found, struct akgen_error **error);
enum errors_judged errors_judge_program(struct arena *arena, const struct task *task, const char *text,
                                        struct errors_found *found, struct akgen_error **error);
/* A project with `text` in the place of file number `broken` (-1: as it is); case 1 on the simulated chip by the strict
 * profile. */
enum errors_judged errors_judge_project(struct arena *arena, const struct task *task, const struct dsl_lowered *project,
                                        int broken, const char *text, struct errors_found *found,
                                        struct akgen_error **error);

/* Texts of a sample. */
struct errors_told {
    const char *brief;    /* the task */
    const char *language; /* of the code block: "python" */
    const char *file;     /* of a project, which the text is a part of; NULL */
    const char *text;     /* the right one */
    const char *chain;    /* how the right one does it; NULL */
    const char *seen;     /* "formulas", "program", "kernel", "host part" */
    bool part;            /* the sample shows the lines around the change alone */
};
const char *errors_question(struct arena *arena, const struct errors_told *told, const struct cot_mutation *mutation,
                            const struct errors_found *found);
const char *errors_chain(struct arena *arena, const struct errors_told *told, const struct cot_mutation *mutation,
                         const struct errors_found *found);
const char *errors_answer(struct arena *arena, const struct errors_told *told, const struct cot_mutation *mutation);
/* The verdict of the right answer with `before`, what the wrong one got. */
const char *errors_verdict(struct arena *arena, const char *right, const struct cot_mutation *mutation,
                           const struct errors_found *found);

#endif
