/* What order.c, order_gm.c, sync.c, schedule.c and queue.c share: clocks, flags, the random schedule's entry points. */
#ifndef NPU_ORDER_INTERNAL_H
#define NPU_ORDER_INTERNAL_H

#include "npu/npu_internal.h"

/* Pipes without the gaps of CANN's numbering. */
enum npu_lane {
    NPU_LANE_S,
    NPU_LANE_V,
    NPU_LANE_MTE2,
    NPU_LANE_MTE3,
    NPU_LANE_M,
    NPU_LANE_MTE1,
    NPU_LANE_FIX,
    NPU_LANES
};
enum {
    NPU_EVENTS = 8,        /* event ids per pair of pipes: docs SetFlag-WaitFlag(ISASI) */
    NPU_SYSTEM_EVENTS = 6, /* this id and those behind it are the system's: docs NPU架构版本2201 */
    NPU_FLAG_SETS = 4 /* SetFlags of one event without a WaitFlag that are followed: the second is undefined already */
};

/* The lane of a pipe; -1 for PIPE_ALL and what is no pipe. */
int npu_lane_of(int pipe);
/* "V", "MTE2", ... */
const char *npu_lane_name(int lane);

/* at[q]: the newest instruction of lane q that is complete. */
struct npu_clock {
    _Alignas(32) uint32_t at[8];
};

/* One event: a flag from a lane to a lane. */
struct npu_flag {
    struct npu_clock clock[NPU_FLAG_SETS]; /* what was complete at SetFlag number i modulo NPU_FLAG_SETS */
    uint64_t pc;                           /* the last SetFlag */
    uint32_t sets;                         /* SetFlags issued; executed_sets lags behind under a random schedule */
    uint32_t executed_sets;
    uint32_t pending; /* SetFlags not yet waited for, in program order: 1 at most in a kernel that keeps the rules */
};

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

/* Who touched local memory, as the detector distinguishes. On an AIV auto-sync sees scalar accesses through tensors,
 * not through pointers; on an AIC the scalar unit touches none. */
enum npu_track { NPU_TRACK_S, NPU_TRACK_V, NPU_TRACK_MTE2, NPU_TRACK_MTE3, NPU_TRACK_S_RAW, NPU_TRACKS };
enum npu_cube_track { NPU_CUBE_TRACK_M, NPU_CUBE_TRACK_MTE1, NPU_CUBE_TRACK_FIX = NPU_TRACK_S_RAW };
enum { NPU_PC_RING = 1024 };

struct npu_order {
    struct npu_clock clock[NPU_LANES];      /* of a lane: what is complete before its next instruction starts */
    uint32_t last[8];                       /* index of its newest instruction; 0 = none yet */
    bool auto_sync, random_order, aic, off; /* off: npu_config.no_hazards */
    uint32_t ub_blocks;
    struct {
        uint32_t newest, first, end; /* the newest instruction; the blocks [first, end) hold all that were touched */
    } touched[NPU_TRACKS][2];        /* [write] */
    uint32_t *marks[NPU_TRACKS][2];  /* [write]: per 32-byte block the newest instruction that touched it */
    uint32_t *bytes[NPU_TRACKS][2];  /* the same per byte, for blocks in `partial`; NULL until needed */
    uint8_t *partial[NPU_TRACKS][2]; /* per block: its bytes differ; NULL with `bytes` */
    struct npu_gm_window *gm;        /* of each pair that the kind of core has */
    int gm_pairs;
    uint32_t gm_checks[NPU_LANES][2]; /* [write]: the pairs whose consumer the lane is, as bits */
    uint32_t gm_keeps[NPU_LANES][2];  /* and whose producer */
    int doubled;                      /* flags with more than one SetFlag pending */
    uint64_t pcs[NPU_LANES][NPU_PC_RING];
    struct npu_flag flags[NPU_LANES][NPU_LANES][NPU_EVENTS];
};

static inline void npu_clock_join(struct npu_clock *into, const struct npu_clock *from)
{
    for (int i = 0; i < 8; i++)
        into->at[i] = into->at[i] > from->at[i] ? into->at[i] : from->at[i];
}

/* Order.c. */
/* `to` waits for everything that `from` was given so far. */
void npu_order_edge(struct npu_order *order, int from, int to);
/* The edge that auto-sync inserts: the scalar unit as `to` waits for the pipe at once. */
void npu_order_auto_edge(struct npu_core *core, int from, int to);
void npu_order_barrier(struct npu_order *order, int lane);
void npu_order_set_flag(struct npu_order *order, int from, int to, int event);
void npu_order_wait_flag(struct npu_order *order, int from, int to, int event);
/* Where instruction `index` of a lane was issued; 0 if that is too long ago. */
uint64_t npu_order_pc(const struct npu_order *order, int lane, uint32_t index);
/* Reports that the running instruction of `lane` conflicts with an earlier one of `other`. */
void npu_order_conflict(struct npu_core *core, int lane, int other, uint32_t other_index, bool write, bool other_write,
                        uint64_t low, uint64_t high, const char *operand);

/* order_gm.c. */
/* Makes the windows of a core's pairs of pipes, empty. */
void npu_order_gm_begin(struct npu_order *order);
/* One access to GM: compares with the windows, then joins them. `edges`: a conflict between the scalar unit and another
 * pipe becomes an edge instead of a finding (auto-sync through tensors). */
void npu_order_gm(struct npu_core *core, int lane, const struct npu_access *access, bool edges);

/* Schedule.c. */
/* The synchronisation instructions in a random schedule; nothing under program order. The flag's own counts say which
 * SetFlag a WaitFlag belongs to. */
void npu_schedule_set_flag(struct npu_core *core, int from, int to, int event);
void npu_schedule_wait_flag(struct npu_core *core, int from, int to, int event);

#endif
