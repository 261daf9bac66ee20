/* What a launch would take on the chip, by the model of src/npu/time (docs/timing.md): a modelled figure, never a measured
 * one. Times are cycles of the AI cores' clock from the launch on. */
#ifndef NPU_TIMING_H
#define NPU_TIMING_H

#include "npu/lane.h"

#include <stdbool.h>
#include <stdint.h>

/* The cores of one kind. */
struct npu_timing_cores {
    int cores;              /* that ran, all waves together */
    double mean, longest;   /* cycles from a core's start to its end: over its blocks, one after the other */
    double busy[NPU_LANES]; /* by lane: cycles with work on it, mean over the cores; overlapping work counts once */
};

/* What bounds a launch from below: the busiest pipe of a core if it never waited, or a bandwidth that all cores share. */
enum npu_bound { NPU_BOUND_PIPE, NPU_BOUND_HBM, NPU_BOUND_L2, NPU_BOUND_LAUNCH };

struct npu_timing {
    bool
        known; /* false: not requested, the launch ended early, or the replay did not cover all of its work (replay.c) */
    int mhz;
    double cycles;                  /* from the launch to the end of the last core, both ends included */
    double launch;                  /* of these: what it takes to start cores and to end, and to fill outputs before */
    struct npu_timing_cores of[2];  /* AIVs, AICs */
    uint64_t read, written;         /* bytes that the cores moved from and to GM */
    uint64_t copies_in, copies_out; /* instructions that moved them; 0: not counted */
    uint64_t read_l2;               /* of those read: found in L2 */
    uint64_t hbm_read, hbm_written;
    uint32_t ub_peak; /* bytes of UB up to the highest that an instruction touched, of any core */
    enum npu_bound bound;
    bool bound_aic;        /* of NPU_BOUND_PIPE: the core's kind, and which pipe */
    int bound_lane;        /* enum npu_lane */
    double bound_cycles;   /* the launch cannot be shorter; cycles / bound_cycles says how far off it is */
    uint64_t slowest_pc;   /* return address of the kernel's line that costs most: of whose instructions... */
    double slowest_cycles; /* ...the lane that ends last was busy so long, mean over the cores */
};

/* A piece of work on a lane of a core, for a trace. */
struct npu_timeline_slice {
    int core; /* GetBlockIdx */
    bool aic;
    int lane;          /* enum npu_lane */
    const char *name;  /* "DataCopy"; of a wait what is waited for: "WaitFlag MTE2_V 0" */
    const char *of;    /* the high-level API that it is part of; NULL: none */
    double start, end; /* cycles */
    uint64_t bytes;    /* moved from or to GM */
    uint32_t elements; /* computed */
    uint64_t pc;
    int64_t
        flow; /* slices of one flow number belong together: a flag, set on the first and waited for on the next; 0: none */
};

/* Microseconds. */
static inline double npu_timing_us(const struct npu_timing *timing, double cycles)
{
    return timing->mhz ? cycles / timing->mhz : 0;
}

#endif
