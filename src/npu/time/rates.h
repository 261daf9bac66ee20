/* What things cost, in cycles of an AI core's clock and bytes per cycle. docs/timing.md says where each comes from and how well
 * the whole agrees with published measurements. "fitted": from those measurements, which are listed in
 * benchmarks/timing/published.tsv; the others are documented. */
#ifndef NPU_TIME_RATES_H
#define NPU_TIME_RATES_H

#include "abi/npu_hooks.h"

/* The scalar unit: one operation of each kind of a block's mix (fitted: a loop over elements costs 34 cycles for two loads, an
 * addition and a store). */
static const double npu_rate_mix[NPU_MIXES] = {
    [NPU_MIX_INTEGER] = 0.25, [NPU_MIX_FLOAT] = 0.5, [NPU_MIX_ADDRESS] = 0.125, [NPU_MIX_BRANCH] = 0.5,
    [NPU_MIX_LOAD] = 0.5,     [NPU_MIX_STORE] = 0.5, [NPU_MIX_CALL] = 0.5,      [NPU_MIX_OTHER] = 0.25,
};
#define NPU_RATE_SCALAR_LOAD  10.5 /* of an element of UB, or of GM where the cache has it */
#define NPU_RATE_SCALAR_STORE 8.0
#define NPU_RATE_SCALAR_MISS  300.0 /* a line of 64 bytes from GM */
/* Parameters of a copy with strides, of one from or to a tensor with a hint for L2 (fitted). */
#define NPU_RATE_SCALAR_STRIDES 50.0
#define NPU_RATE_SCALAR_HINT    14.0

/* The vector unit: an instruction is its repeats and a start (fitted: 22 to 24 cycles). */
#define NPU_RATE_V_START 22.5
/* More for a reduction of whole repeats, of blocks (fitted; documented: 2 to 5 times Add). */
#define NPU_RATE_V_WHOLE_REDUCE 70.0
#define NPU_RATE_V_BLOCK_REDUCE 52.0
/* What no instruction goes beyond, in bytes per cycle: a repeat is written in a cycle, and three sources of it are read (FusedMulAdd); MTE1 and
 * MTE2 fill L1 and L0 at most as fast as L1 goes into L0A. */
#define NPU_RATE_V_WRITTEN  256.0
#define NPU_RATE_V_READ     768.0
#define NPU_RATE_L1_WRITTEN 256.0
/* Instructions that may wait in front of a pipe, waits for flags among them (fitted: how long Fixpipe is published to wait for a
 * product that it shares L0C with, which is how far the scalar unit is ahead, and what MTE2-Preload gains). */
enum { NPU_RATE_QUEUE = 22 };
#define NPU_RATE_BARRIER 8.0 /* PipeBarrier: until what is in the pipe has been written */
#define NPU_RATE_FLAG    4.0 /* from a SetFlag to the pipe that waits for it */

/* Copies between GM and local memory. */
#define NPU_RATE_READ_LATENCY    170.0 /* from the request to the first bytes (fitted) */
#define NPU_RATE_LOADED_LATENCY  200.0 /* more where HBM is asked for all it has (fitted) */
#define NPU_RATE_WRITE_LATENCY   145.0
#define NPU_RATE_COPY_ISSUE      20.0 /* at least between two copies of a pipe (fitted) */
#define NPU_RATE_RUN             0.75 /* of each run of contiguous bytes within a copy, on an AIV; fitted */
#define NPU_RATE_RUN_AIC         2.0
#define NPU_RATE_RUN_AIC_PAST_L2 5.6  /* fitted */
#define NPU_RATE_READ_HBM        32.0 /* one core, from HBM (INI ddr_rd_rate) */
#define NPU_RATE_READ_L2         67.0 /* one AIV, from L2 (fitted) */
#define NPU_RATE_READ_HBM_AIC    48.0
#define NPU_RATE_READ_L2_AIC     105.0
#define NPU_RATE_WRITE           64.0 /* one core, into L2 (INI ub_to_l2_rate) */
/* Where HBM is asked for all it has, what a write has beyond so many bytes takes so much more (fitted). */
#define NPU_RATE_WRITE_BUFFER 8192.0
#define NPU_RATE_WRITE_LOADED 1.5
/* All cores together: 10^9 bytes a second for each 64 GiB of HBM (fitted on a 910B1; the documents quote 1.6 and 1.8 TB/s, and
 * 0.8 for a chip that they do not name), bytes per cycle for each AIC that the chip has. */
#define NPU_RATE_HBM_GBS     1468.0
#define NPU_RATE_HBM_WRITTEN 1.6 /* bytes that a byte written back counts as: turning from reads to writes (fitted) */
#define NPU_RATE_L2_AIC      131.0
/* A run that does not begin where requests do takes so many bytes more (fitted: rows of odd length). */
#define NPU_RATE_ODD_RUN 512.0 /* not at a multiple of 32 bytes */
/* More for each 32 bytes of such a run that an AIC reads (fitted: rows of 8190 bytes that become fractals on the way). */
#define NPU_RATE_ODD_BLOCK   1.6
#define NPU_RATE_CROSSED_RUN 96.0 /* at one of 32, not of 512 */

/* Runs of less than a request take so much more of HBM, by way of L2 and past it (fitted). */
#define NPU_RATE_SHORT_RUN 0.1
#define NPU_RATE_PAST_L2   0.6
/* Reads by way of L2 of what more AICs than AT_ONCE read at about the same time: each of those, up to CROWD, makes a request take so
 * many cycles longer (fitted: 2 x 12 cores against 4 x 6, and 24 that read the same rows). */
enum { NPU_RATE_AT_ONCE = 4, NPU_RATE_CROWD = 12 };
#define NPU_RATE_IN_CROWD 0.25
/* Reads past L2 of what n cores read at about the same time take so much more, times 1 - 1 / n (fitted). */
#define NPU_RATE_SAME_ADDRESS 1.1

/* The cube. */
#define NPU_RATE_M_START    61.0 /* the first product of a chain (fitted, and the column of theory of UnitFlag.md) */
#define NPU_RATE_M_NEXT     9.0  /* those behind it */
#define NPU_RATE_L1_TO_A    256.0
#define NPU_RATE_L1_TO_B    128.0
#define NPU_RATE_L1_TO_BT   32.0
#define NPU_RATE_MTE1_START 45.0 /* the first load of a chain (fitted); those behind it */
#define NPU_RATE_MTE1_NEXT  2.0
#define NPU_RATE_FIX        128.0
#define NPU_RATE_FIX_START  40.0
#define NPU_RATE_FIX_ODD    57.0 /* more for each run of results not at a multiple of 32 bytes (fitted) */

/* What the scalar unit of an AIC does for a Matmul object: for each product of a base block, for each part of a matrix that it
 * brings into L1 (fitted). */
#define NPU_RATE_MATMUL_PRODUCT 219.0
#define NPU_RATE_MATMUL_FIXED   0.55 /* of it where the tiling is a constant */
#define NPU_RATE_MATMUL_PART    115.0
#define NPU_RATE_MATMUL_BLOCK   470.0 /* for each base block that leaves L0C */

/* What it does before the first: Init, and more of it where the tiling is no constant. */
#define NPU_RATE_MATMUL_INIT   3200.0
#define NPU_RATE_MATMUL_TILING 2300.0

/* What it does for a message of an AIV, five lines of GM among it (fitted). */
#define NPU_RATE_MATMUL_MESSAGE 1100.0

/* Launching, and cores that wait for each other. */
#define NPU_RATE_LAUNCH_US      0.45   /* one core: from the launch to its end, besides its own time (fitted) */
#define NPU_RATE_LAUNCH_CORE_US 0.067  /* more for each further core (fitted: the shortest kernels of 48 cores) */
#define NPU_RATE_CROSS_FLAG     400.0  /* from a CrossCoreSetFlag to those who wait; assumed: nothing is published */
#define NPU_RATE_MEETING        1500.0 /* a SyncAll; assumed */
#define NPU_RATE_TOLD           400.0  /* until others see a word that a core wrote into GM for them; assumed */

#endif
