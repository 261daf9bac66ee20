/* A program for one case: what the host function would give the kernel is written into it. */
#ifndef DSL_SPECIALISE_H
#define DSL_SPECIALISE_H

#include "dsl/bind.h"
#include "dsl/opdef.h"

/* Runs the host function for the shapes of case `number`, which the task has, on as many cores as the task's given host part
 * launches, and puts what it gives in the place of the launch's arguments: the tree is what the pass `tiling` leaves, and
 * dsl_lower() makes the kernel of it. `messages` say why there is no such kernel; an error, that the task has no such host part. */
struct akgen_error *dsl_specialise(struct arena *arena, struct dsl_tree *tree, const struct task *task, int number,
                                   const struct npu_soc *soc, struct dsl_opdef *opdef, struct dsl_messages *messages);

#endif
