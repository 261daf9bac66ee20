/* Order between cores (between.c). Where AICs and AIVs run together, and from the first IBSet or IBWait on, some cores
 * are ordered and others not: each core keeps what of every other one happened before, and which GM bytes it has
 * touched when. Elsewhere a meeting of all cores ends an epoch (gm/gm.c). */
#ifndef NPU_ORDER_BETWEEN_H
#define NPU_ORDER_BETWEEN_H

#include "npu/npu_internal.h"

struct npu_clock;
struct npu_gm_region;

enum between_access { BETWEEN_READ, BETWEEN_WRITE };
struct npu_between *between_create(int cores);
void between_destroy(struct npu_between *between);
/* Gives back what the logs of a block that has ended hold beyond their entries; NULL: nothing. */
void between_shrink(struct npu_between *between);
/* What has happened before a flag that the core sets on a lane: one clock per core, joined into `clocks`. */
void between_release(struct npu_core *core, int lane, struct npu_clock *clocks);
/* Everything that the core does from now on comes after `clocks`. */
void between_acquire(struct npu_core *core, const struct npu_clock *clocks);
/* The running access of [low, high) (offsets): a read by MTE2 about to be issued, or a write that executes. */
void between_log(struct npu_core *core, enum between_access access, struct npu_gm_region *region, size_t low,
                 size_t high, bool atomic);
/* The first part of [low, high) that another core has accessed and that nothing orders before the running core. */
struct between_conflict {
    const struct npu_core *core;
    size_t low, high;
    uint64_t pc;
};
bool between_find(const struct npu_core *core, enum between_access access, const struct npu_gm_region *region,
                  size_t low, size_t high, bool atomic, struct between_conflict *conflict);

#endif
