/* From a description in words and formulas to a task: `akgen gen --describe op.md`. */
#ifndef GEN_DESCRIBE_H
#define GEN_DESCRIBE_H

#include "base/arena.h"
#include "base/error.h"

/* What a description says: docs/gen.md says what it may hold. In the arena. */
struct gen_description;
/* Reads the text of a description, which `path` names in errors. */
struct akgen_error *gen_description_read(struct arena *arena, const char *path, const char *text,
                                         struct gen_description **description);
/* The operator's name, in CamelCase. */
const char *gen_description_op(const struct gen_description *description);

/* What it was understood as, a line each. */
struct gen_draft {
    const char *formulas;
    const char *tensors; /* "x [$N, $C], weight [$C] -> y [$N, $C]" */
    const char *chosen;  /* what the description leaves open */
};
/* Writes task.yaml, cases.csv and desc.md to `dir`, which is made. The task that is left loads, and golden is finite in its cases;
 * if there is no such task, the error is that of the first one tried. */
struct akgen_error *gen_description_draft(struct gen_description *description, const char *dir,
                                          struct gen_draft *draft);

#endif
