/* Order (order.c): what happens before what inside a core. Lanes, clocks and flags, which synchronisation, queues and
 * the order between cores are made of. */
#ifndef NPU_ORDER_ORDER_H
#define NPU_ORDER_ORDER_H

#include "npu/lane.h"
#include "npu/npu_internal.h"

enum {
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
static inline void npu_clock_join(struct npu_clock *into, const struct npu_clock *from)
{
    for (int i = 0; i < 8; i++)
        into->at[i] = into->at[i] > from->at[i] ? into->at[i] : from->at[i];
}

/* One event: a flag from a lane to a lane. */
struct npu_flag {
    struct npu_clock clock[NPU_FLAG_SETS]; /* what was complete at SetFlag number i modulo NPU_FLAG_SETS */
    uint64_t pc;                           /* the last SetFlag */
    uint32_t sets;                         /* SetFlags issued; executed_sets lags behind under a random schedule */
    uint32_t executed_sets;
    uint32_t pending; /* SetFlags not yet waited for, in program order: 1 at most in a kernel that keeps the rules */
};

/* Who touched local memory, as the detector distinguishes. On an AIV auto-sync sees scalar accesses through tensors,
 * not through pointers; on an AIC the scalar unit touches none. */
enum npu_track { NPU_TRACK_S, NPU_TRACK_V, NPU_TRACK_MTE2, NPU_TRACK_MTE3, NPU_TRACK_S_RAW, NPU_TRACKS };
enum npu_cube_track { NPU_CUBE_TRACK_M, NPU_CUBE_TRACK_MTE1, NPU_CUBE_TRACK_FIX = NPU_TRACK_S_RAW };
enum { NPU_PC_RING = 1024 };

struct npu_order {
    struct npu_clock clock[NPU_LANES]; /* of a lane: what is complete before its next instruction starts */
    uint32_t last[8];                  /* index of its newest instruction; 0 = none yet */
    uint32_t
        perhaps[8]; /* its newest instruction that is complete if what the documents leave open is read generously */
    bool auto_sync, random_order, aic, off; /* off: npu_config.no_hazards */
    uint32_t ub_blocks;
    struct {
        uint32_t newest, first, end; /* the newest instruction; the blocks [first, end) hold all that were touched */
    } touched[NPU_TRACKS][2];        /* [write] */
    uint32_t *marks[NPU_TRACKS][2];  /* [write]: per 32-byte block the newest instruction that touched it */
    uint32_t *bytes[NPU_TRACKS][2];  /* the same per byte, for blocks in `partial`; NULL until needed */
    uint8_t *partial[NPU_TRACKS][2]; /* per block: its bytes differ; NULL with `bytes` */
    struct npu_gm_window *gm;        /* order_gm.c: of each pair that the kind of core has */
    int gm_pairs;
    uint32_t gm_checks[NPU_LANES][2]; /* [write]: the pairs whose consumer the lane is, as bits */
    uint32_t gm_keeps[NPU_LANES][2];  /* and whose producer */
    struct npu_weigh *weigh;          /* weigh.h; NULL: every conflict counts */
    struct npu_core *timed;           /* the core, if what it waits for is to be on its tape; else NULL */
    int doubled;                      /* flags with more than one SetFlag pending */
    uint64_t pcs[NPU_LANES][NPU_PC_RING];
    struct npu_flag flags[NPU_LANES][NPU_LANES][NPU_EVENTS];
    uint8_t events[NPU_LANES][NPU_LANES]; /* bit i: a queue or AllocEventID has taken event id i */
};

struct npu_order *npu_order_create(struct npu_core *core);
void npu_order_destroy(struct npu_core *core);
/* Gives the instruction its index on its pipe, checks UB and same-core GM conflicts, records its accesses. */
void npu_order_issue(struct npu_core *core, int pipe, const struct npu_access *accesses, int count);
/* A scalar access: the edges of auto-sync unless raw, then as an instruction of pipe S. */
void npu_order_scalar(struct npu_core *core, uint64_t addr, uint32_t bytes, bool write, bool raw);
/* Everything issued so far happens before everything that follows: PipeBarrier<PIPE_ALL>, SyncAll, kernel end. */
void npu_order_join_all(struct npu_core *core);
/* `to` waits for everything that `from` was given so far. */
void npu_order_edge(struct npu_order *order, int from, int to);
/* The edge that auto-sync inserts: the scalar unit as `to` waits for the pipe at once. */
void npu_order_auto_edge(struct npu_core *core, int from, int to);
void npu_order_barrier(struct npu_order *order, int lane);
/* As a barrier, if what the documents leave open is read generously: what it would have ordered is a note. */
void npu_order_perhaps(struct npu_order *order, int lane);
/* The lane that a track belongs to. */
int npu_order_track_lane(const struct npu_order *order, int track);
void npu_order_set_flag(struct npu_order *order, int from, int to, int event);
void npu_order_wait_flag(struct npu_order *order, int from, int to, int event);

#endif
