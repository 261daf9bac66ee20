/* Error-derived samples: right answers to operators that were made up are broken in a known way (mutate.h), what is found of them is what the
 * compilers, the interpreter and the simulated chip say, and the answer is the right one again. docs/cot.md. */
#ifndef COT_ERRORS_H
#define COT_ERRORS_H

#include "cot/ask.h"
#include "cot/blocks.h"
#include "task/task.h"

struct cot_errors {
    int mutants;              /* of each text of an operator */
    int machine;              /* every so many operators' projects are broken, too; 0: none */
    const struct task *tasks; /* whose operators are left out */
    int task_count;
    struct cot_asker *asker; /* writes the analyses; NULL: what was found and changed does */
};
/* cot_blocks.make of the step: closure is a `struct cot_errors`. A sample for each broken text that is wrong, a drop for each that is
 * right all the same. */
struct akgen_error *cot_errors_make(void *closure, int64_t first, int64_t count, const char *scratch,
                                    struct cot_block *block);

#endif
