/* Conflicts in global memory (order_gm.c), and what it shares with order.c. */
#ifndef NPU_ORDER_ORDER_GM_H
#define NPU_ORDER_ORDER_GM_H

#include "npu/order/order.h"
#include "npu/fault.h"
#include "npu/order/weigh.h"

/* One access to GM that something may still conflict with: `count` runs of `bytes`, `stride` apart. */
struct npu_gm_run {
    uint64_t low, high; /* bounds, high exclusive */
    uint32_t bytes, count;
    int64_t stride;
    uint32_t oldest, newest; /* instructions merged into it */
    bool atomic, raw;        /* raw: through a plain pointer, which auto-sync does not see */
    bool quiet;              /* writes that changed nothing (weigh.c) */
};
enum { NPU_GM_RUNS = 256 };
/* A ring of them, oldest first. When it is full the oldest is forgotten: a conflict that far back goes unseen. */
struct npu_gm_window {
    uint64_t low, high; /* bounds of all entries, never shrinking until the window is empty */
    uint32_t first, count;
    struct npu_gm_run runs[NPU_GM_RUNS];
};
/* consumer x what the producer did. A later access of the consumer conflicts with entries that its clock does not
 * cover. Scalar loads are no producers: see npu_order_scalar. */
enum npu_gm_pair {
    NPU_GM_MTE2_AFTER_MTE3_WRITE,
    NPU_GM_MTE2_AFTER_S_WRITE,
    NPU_GM_MTE3_AFTER_MTE2_READ,
    NPU_GM_MTE3_AFTER_MTE3_WRITE,
    NPU_GM_MTE3_AFTER_S_WRITE,
    NPU_GM_S_AFTER_MTE3_WRITE,
    NPU_GM_S_AFTER_MTE2_READ,
    NPU_GM_AIV_PAIRS,
    NPU_GM_MTE2_AFTER_FIX_WRITE = NPU_GM_AIV_PAIRS, /* the rest on AICs only */
    NPU_GM_FIX_AFTER_MTE2_READ,
    NPU_GM_MTE3_AFTER_FIX_WRITE,
    NPU_GM_FIX_AFTER_MTE3_WRITE,
    NPU_GM_S_AFTER_FIX_WRITE,
    NPU_GM_FIX_AFTER_S_WRITE,
    NPU_GM_PAIRS
};

/* Makes the windows of a core's pairs of pipes, empty. */
void npu_order_gm_begin(struct npu_order *order);
/* One access to GM: compares with the windows, then joins them. `edges`: a conflict between the scalar unit and another
 * pipe becomes an edge instead of a finding (auto-sync through tensors). */
void npu_order_gm(struct npu_core *core, int lane, const struct npu_access *access, bool edges);

/* What instruction `index` of a lane wrote to GM it has not changed. */
void npu_order_gm_quiet(struct npu_order *order, int lane, uint32_t index);

/* In order.c. */
/* Where instruction `index` of a lane was issued; 0 if that is too long ago. */
uint64_t npu_order_pc(const struct npu_order *order, int lane, uint32_t index);
/* hazard_raw, hazard_war or hazard_waw. */
const struct npu_fault *npu_order_fault(const struct npu_conflict *conflict);
/* False for conflicts that the documents do not call one, or leave open. Within V nothing but a later read or a second write can go
 * wrong: the pipe takes its instructions in order and reads before it writes. Of copies of one pipe into the same bytes
 * PipeBarrier's document names MTE2's and MTE3's, not MTE1's. */
bool npu_order_matters(const struct npu_order *order, const struct npu_conflict *conflict);
/* Reports a conflict of the running instruction; `matters`: it is a fault, unless npu_order_matters denies that. */
void npu_order_report(struct npu_core *core, const struct npu_conflict *conflict, bool matters);

#endif
