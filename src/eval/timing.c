#include "eval/timing.h"

#include <math.h>

double timing_share(const struct npu_timing_cores *cores, int lane)
{
    return cores->mean > 0 ? cores->busy[lane] / cores->mean : 0;
}

int timing_busiest(const struct npu_timing_cores *cores)
{
    int busiest = 0;
    for (int lane = 1; lane < NPU_LANES; lane++)
        if (cores->busy[lane] > cores->busy[busiest])
            busiest = lane;
    return busiest;
}

const char *timing_bound(struct arena *arena, const struct npu_timing *timing)
{
    static const char *const names[] = {
        [NPU_BOUND_PIPE] = NULL, [NPU_BOUND_HBM] = "HBM", [NPU_BOUND_L2] = "L2", [NPU_BOUND_LAUNCH] = "launch"};
    const char *name = names[timing->bound];
    return name ? name
                : arena_printf(arena, "%s of %s", job_lanes[timing->bound_lane], timing->bound_aic ? "AIC" : "AIV");
}

double timing_roofline(const struct npu_timing *timing)
{
    return timing->cycles > 0 ? timing->bound_cycles / timing->cycles : 0;
}

double timing_rate(const struct npu_timing *timing, uint64_t bytes)
{
    const double us = npu_timing_us(timing, timing->cycles);
    return us > 0 ? (double)bytes / us * 1e-3 : 0;
}

double timing_us(const struct npu_timing *timing)
{
    return round(npu_timing_us(timing, timing->cycles) * 1e3) / 1e3;
}

struct source_place timing_source(const struct source_map *map, const struct job_timing *timing)
{
    const struct job_finding finding = {.file = timing->file, .line = timing->line, .calls = timing->calls};
    return source_map_of_finding(map, &finding, false);
}
