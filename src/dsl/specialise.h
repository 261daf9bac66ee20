/* A program for one case: what the host function would give the kernel is written into it. */
#ifndef DSL_SPECIALISE_H
#define DSL_SPECIALISE_H

#include "dsl/bind.h"
#include "dsl/opdef.h"

/* Runs the host function for the shapes of `instance` (task_instance_shapes) on a chip that has `blocks` cores of each kind, and
 * puts what it gives in the place of the launch's arguments; dsl_lower() with opdef->host_given makes the kernel of that. The tree
 * is what the pass `tiling` leaves. False: `messages` say why there is no such kernel. */
bool dsl_specialise(struct arena *arena, struct dsl_tree *tree, const struct dsl_opdef *opdef,
                    const struct task_instance *instance, const struct npu_soc *soc, int blocks,
                    struct dsl_messages *messages);

#endif
