/* What is proved of a program's stores for all sizes: that the parts of the cores, and the turns of their loops, join without a
 * gap or an overlap. */
#ifndef DSL_PROVE_H
#define DSL_PROVE_H

#include "dsl/program.h"

#include <jansson.h>

struct dsl_store {
    struct dsl_place place;
    const char *tensor; /* the kernel's name of it; NULL: one of a list */
    bool proved;        /* its elements 0 .. extent - 1 are stored, each by one turn of one core, and no other */
    const char *extent; /* "rows * cols" of the host function's sizes; NULL: not proved */
};
struct dsl_stores {
    struct dsl_store *items;
    int count, capacity;
};

/* The stores of a checked program, in their order. Proved is what is affine in the number of the core and the variables of
 * loops, with min, tl.cdiv and '//' where nothing of that stands in it; the rest is for the interpreter on cases to see. */
struct dsl_stores dsl_prove_stores(struct arena *arena, const struct dsl_program *program);
/* [{"line", "column", "tensor", "proved", "extent"}]; the caller owns it. */
json_t *dsl_stores_json(const struct dsl_stores *stores);

#endif
