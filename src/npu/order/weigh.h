/* Weighing conflicts (weigh.c): which of them can change a result. A second run of a kernel whose conflicts are known. */
#ifndef NPU_ORDER_WEIGH_H
#define NPU_ORDER_WEIGH_H

#include "npu/npu_internal.h"

struct npu_gm_run;

/* Two accesses that nothing orders. */
struct npu_conflict {
    int lane, other;      /* of the running instruction, of the earlier one */
    uint32_t other_index; /* of the earlier one on its lane */
    bool write, other_write;
    uint64_t low, high; /* the bytes that both touch, high exclusive */
    const char *operand;
    bool atomic; /* one of them accumulates in GM: what it writes depends on what was there */
};

struct npu_weigh *npu_weigh_create(const struct npu_core *core);
/* Judges a last store of the scalar unit. */
void npu_weigh_destroy(struct npu_core *core);
/* A conflict in local memory; all of the bytes were last touched by the earlier instruction, on `track`. */
void npu_weigh_local(struct npu_core *core, int track, const struct npu_conflict *conflict);
/* A conflict in GM; `quiet`: the earlier access is a write that changed nothing. */
void npu_weigh_gm(struct npu_core *core, const struct npu_conflict *conflict, bool quiet);
/* The conflicts of the running instruction are known and it has not executed. */
void npu_weigh_begin(struct npu_core *core, int lane, int track, const struct npu_access *accesses, int count);
/* It has executed: what it changed, and what its conflicts are worth. `gm_seen`: GM shows what it holds. Without an
 * instruction begun: nothing. */
void npu_weigh_settle(struct npu_core *core, bool gm_seen);
/* The launch is over: conflicts that nothing but their use could make faults. */
void npu_weigh_end(struct npu *npu);

#endif
