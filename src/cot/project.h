/* Project-level samples: an operator that was made up, in one data type and one case, becomes a pair of host part and kernel, with what the host
 * decides for it. docs/cot.md. */
#ifndef COT_PROJECT_H
#define COT_PROJECT_H

#include "cot/synth_prove.h"

struct project_pair {
    const char *dropped; /* why there is none: what synth_proof.dropped may say, ..; NULL: there is one */
    const char
        *question; /* instruction, kernel source, test case, hardware: the kernel source is the entry to be written */
    const char *chain;   /* the host's strategy, the kernel's pipeline, and the summary */
    const char *answer;  /* every file between tags that bear its path */
    const char *summary; /* JSON of the tiling, which is what the tiling function gives when it is run */
    const char *given;   /* the question with the whole source in its second part, to which the summary is the answer */
    const char
        *verdict; /* JSON, "by" the interpreter on small cases or the machine in this one; the same on every run */
    bool machine; /* the case was run */
};
/* Makes the pair of case `id` of a plain operator (synth_operator_make_plain). Its project is compiled and its tiling function run;
 * with `machine` the case is run and judged by the strict profile as well. `scratch`: a folder, the caller's alone. Texts live in the
 * arena; an error is our own failure. */
struct akgen_error *project_make(struct arena *arena, const struct synth_operator *operator, int id,
                                 const char *scratch, bool machine, struct project_pair *pair);

/* The project of a program that is proved (synth_prove_program), as an answer by itself, for the data types of the first case, which are what the
 * question has. */
struct project_answer {
    const char *dropped; /* why there is none; NULL: there is one */
    const char
        *answer; /* every file between tags that bear its path, the kernel first, with the program's first comment */
    const char *verdict; /* the program's, and that it was compiled */
};
/* Compiles both parts and runs the tiling function for that case. Texts and errors: as above. */
struct akgen_error *project_of_program(struct arena *arena, const struct synth_proof *proof,
                                       struct project_answer *project);

#endif
