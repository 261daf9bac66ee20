/* One scalar access, through a tensor or a raw pointer (hooks.c): what both ways have in common. */
#ifndef NPU_SCALAR_ACCESS_H
#define NPU_SCALAR_ACCESS_H

#include "npu/npu_internal.h"

struct npu_gm_region;

/* Notes a read of GM for the loops in which blocks wait for each other; lets the others run where it is one. */
void npu_scalar_spin(struct npu_core *core, struct npu_gm_region *region, uint64_t addr, uint32_t bytes);
/* A trap unless the scalar unit has accesses of that size. */
void npu_check_size(struct npu_core *core, int size);
/* Counts, orders, checks bounds and definedness, fills the cache line. The caller reads or writes memory afterwards. */
void npu_scalar_access(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw);

#endif
