/* Conflicts in global memory (order_gm.c), and what it shares with order.c. */
#ifndef NPU_ORDER_GM_H
#define NPU_ORDER_GM_H

#include "npu/order/order.h"

/* One access to GM that something may still conflict with: `count` runs of `bytes`, `stride` apart. */
struct npu_gm_run {
    uint64_t low, high; /* bounds, high exclusive */
    uint32_t bytes, count;
    int64_t stride;
    uint32_t oldest, newest; /* instructions merged into it */
    bool atomic, raw;        /* raw: through a plain pointer, which auto-sync does not see */
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

/* In order.c. */
/* Where instruction `index` of a lane was issued; 0 if that is too long ago. */
uint64_t npu_order_pc(const struct npu_order *order, int lane, uint32_t index);
/* Reports that the running instruction of `lane` conflicts with an earlier one of `other`. */
void npu_order_conflict(struct npu_core *core, int lane, int other, uint32_t other_index, bool write, bool other_write,
                        uint64_t low, uint64_t high, const char *operand);

#endif
