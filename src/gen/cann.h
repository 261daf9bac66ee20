/* A judged operator as a project for a machine with a chip: what CANN builds, a program that calls it, inputs and expected
 * outputs, and one command that tells whether they agree. docs/export.md. */
#ifndef GEN_CANN_H
#define GEN_CANN_H

#include "eval/eval.h"

struct gen_cann_options {
    const char *dir;     /* an empty folder, or none yet */
    uint64_t case_bytes; /* a case with more in all its files is left out, but for the smallest */
    uint64_t seed;       /* of the inputs */
};
/* What was written. */
struct gen_cann {
    int cases, left_out;
    uint64_t bytes; /* in cases/ */
};
/* True if the candidate was built, so that there is an OpDef to call it by. */
bool gen_cann_built(const struct verdict *verdict);
/* Writes the project of a candidate that was built, with the cases that were judged. An error says what
 * an aclnn call does not have, or which file could not be written. */
struct akgen_error *gen_cann_write(struct arena *arena, const struct task *task, const struct verdict *verdict,
                                   const struct gen_cann_options *options, struct gen_cann *written);

#endif
