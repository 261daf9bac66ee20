/* Undefined bytes that the scalar unit has loaded into a register (undefined_load.c): reported late, because what
 * becomes of them decides how. */
#ifndef NPU_UNDEFINED_LOAD_H
#define NPU_UNDEFINED_LOAD_H

#include "npu/npu_internal.h"

/* True if such a load is not reported yet and the basic block that it is in still runs. */
static inline bool npu_undefined_load_here(const struct npu_core *core)
{
    return core->undefined_load.pending && core->undefined_load.block == core->stats.scalar_blocks;
}
/* The scalar unit loads undefined bytes at addr. */
void npu_undefined_load(struct npu_core *core, uint64_t addr);
/* The scalar unit loads bytes behind a tensor in GM, from its allocation. */
void npu_undefined_load_behind(struct npu_core *core, const char *tensor);
/* Reports them, if that is still to be done: at the latest when the next instruction is issued, when the block ends or
 * where it stops. */
void npu_undefined_load_settle(struct npu_core *core);

#endif
