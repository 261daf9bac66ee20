/* Regions of global memory (gm_region.c): the tensors of a launch, and which of them an address lies in. What the
 * machine does with them is in gm/. */
#ifndef NPU_GM_REGION_H
#define NPU_GM_REGION_H

#include "npu/npu_internal.h"

enum { GM_WRITERS = 200 /* that are told apart: core index % 200 */ };
struct npu_gm_region {
    const char *name;
    uint8_t *base;
    size_t bytes;
    size_t readable, writable; /* bytes behind them that copies may touch; they have no state */
    enum npu_gm_kind kind;
    int index;
    uint8_t initial;                                 /* state (gm.c) of every byte while `coarse` is NULL */
    uint8_t *coarse;                                 /* one state per chunk */
    uint8_t *fine;                                   /* one state per byte, touched only where a chunk is mixed */
    size_t dirty_low, dirty_high;                    /* offsets written in this epoch; low >= high: none */
    uint64_t writer_pc[GM_WRITERS + 1];              /* last store of each writer in this epoch */
    struct npu_tape_place writer_at[GM_WRITERS + 1]; /* where that is on the writer's tape */
    int atomic_writer;                               /* core that accumulated in this epoch, -1 none, -2 several */
};
/* The region that holds addr, or NULL. */
struct npu_gm_region *npu_gm_find(const struct npu *npu, uint64_t addr);
/* The last region that begins at or below addr; NULL if there is none. */
struct npu_gm_region *npu_gm_below(const struct npu *npu, uint64_t addr);
/* The region of a core's access; the last one is tried first. */
static inline struct npu_gm_region *gm_region_of(struct npu_core *core, uint64_t addr)
{
    struct npu_gm_region *region = core->region;
    if (region && addr - (uint64_t)region->base < region->bytes)
        return region;
    region = npu_gm_find(core->npu, addr);
    if (region)
        core->region = region;
    return region;
}

#endif
