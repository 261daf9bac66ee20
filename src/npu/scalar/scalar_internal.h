/* One scalar access, through a tensor or a raw pointer: what both ways have in common. */
#ifndef NPU_SCALAR_INTERNAL_H
#define NPU_SCALAR_INTERNAL_H

#include "npu/npu_internal.h"

/* Notes a read of GM for the loops in which blocks wait for each other; lets the others run where it is one. */
void npu_scalar_spin(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes);
/* Counts, orders, checks bounds and definedness, fills the cache line. The caller reads or writes memory afterwards. */
void npu_scalar_access(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw);

/* Reports the undefined bytes that the scalar unit has loaded, if that is still to be done: at the latest when the next
 * instruction is issued, when the block ends or where it stops. */
void npu_scalar_settle(struct npu_core *core);

#endif
