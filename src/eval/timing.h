/* Figures of a case's modelled time, for verdicts, tables and advice. */
#ifndef EVAL_TIMING_H
#define EVAL_TIMING_H

#include "candidate/source_map.h"
#include "npu/npu.h"

/* The lane's part of the time that a core runs, mean over the cores: 0 to 1. */
double timing_share(const struct npu_timing_cores *cores, int lane);
/* The lane of the largest part. */
int timing_busiest(const struct npu_timing_cores *cores);
/* "V of AIV", "HBM", "L2", "launch". */
const char *timing_bound(struct arena *arena, const struct npu_timing *timing);
/* The shortest time that the bound allows over the modelled one: 1 is the best. */
double timing_roofline(const struct npu_timing *timing);
/* Bytes over the whole time in GB/s, 10^9 bytes a second. */
double timing_rate(const struct npu_timing *timing, uint64_t bytes);
/* Microseconds of the whole launch, to the digits of a verdict's JSON. */
double timing_us(const struct npu_timing *timing);
/* Where in the project's program the costliest line stands (source_map_of_finding). */
struct source_place timing_source(const struct source_map *map, const struct job_timing *timing);

/* What would make a kernel faster: one sentence, from the numbers of its modelled time. */
/* In the arena. NULL: none of the known mistakes shows, or the timing is not known. */
const char *advice_for(struct arena *arena, const struct npu_soc *soc, const struct npu_timing *timing,
                       const struct npu_stats *stats);

#endif
