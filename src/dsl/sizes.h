/* Sizes that a program was not written for: what the checker finds out about them without a task. */
#ifndef DSL_SIZES_H
#define DSL_SIZES_H

#include "dsl/program.h"
#include "npu/npu.h"

/* Interprets the program on small tensors of sizes that its tiles and cores divide. Where it stores every element of its
 * outputs there, their shapes are known from those of the inputs, and it is interpreted on sizes that nothing divides: what it
 * then does wrong, and does not refuse, is told, at most once, with the sizes. Says nothing of a program for which it finds no
 * shapes: one with lists of tensors, or whose integers come from tensors. */
void dsl_try_sizes(struct arena *arena, const struct dsl_program *program, const struct npu_soc *soc,
                   struct dsl_messages *messages);

#endif
