/* The compiler: a checked program becomes an operator project in Ascend C, pass by pass. Between the passes it is a program
 * still: each one takes something away that Ascend C has no word for, and what it leaves passes the checker again
 * (lowered.def has the operations that only passes write). */
#ifndef DSL_LOWER_H
#define DSL_LOWER_H

#include "dsl/opdef.h"

/* X(VALUE, name, what holds behind it) */
#define DSL_PASSES(X)                                                                                                  \
    X(DSL_PASS_TILING, "tiling", "the kernel's parameters are tensors and fields of the tiling structure")             \
    X(DSL_PASS_INIT, "init", "each buffer is a queue or a buffer of UB")                                               \
    X(DSL_PASS_ALIGN, "align", "ranges and masks are gone: every operation says how many elements")                    \
    X(DSL_PASS_PROCESS, "process", "every operation is one instruction")                                               \
    X(DSL_PASS_TYPES, "types", "every instruction works on a data type that it has; transfers convert nothing")        \
    X(DSL_PASS_PIPELINE, "pipeline", "tensors of queues are taken, given on and freed; all fits into UB")              \
    X(DSL_PASS_SYNC, "sync", "instructions that depend on each other are ordered")
enum dsl_pass {
#define PASS(value, name, holds) value,
    DSL_PASSES(PASS)
#undef PASS
        DSL_PASSES_COUNT
};
/* "tiling"; DSL_PASSES_COUNT for a name that no pass has. */
enum dsl_pass dsl_pass_find(const char *name);
const char *dsl_pass_name(enum dsl_pass pass);

struct dsl_file {
    const char *path, *text; /* path: in the project */
    int *lines, line_count;  /* of each line, the program's that it comes from; 0: none */
};
struct dsl_lowered {
    const struct dsl_tree *tree; /* what the last pass left */
    struct dsl_file files[4];    /* the project, unless the passes were stopped */
    int count;
};

/* Runs the passes up to `last` (DSL_PASSES_COUNT: all, and prints the project). The tree is used up. False: `messages` say
 * why there is no project. */
bool dsl_lower(struct arena *arena, struct dsl_tree *tree, const struct dsl_opdef *opdef, enum dsl_pass last,
               struct dsl_lowered *lowered, struct dsl_messages *messages);
/* Puts directives into the files: a C++ compiler, and what reads its line tables, names the program's lines (emit_lines.c). */
void dsl_line_directives(struct arena *arena, struct dsl_lowered *lowered);
/* Of each line of a file, from 1 on, the program's line that it comes from; 0: none. A function that the compiler gave the project
 * comes from the only line that calls it. */
const int *dsl_file_lines(struct arena *arena, const struct dsl_file *file);

#endif
