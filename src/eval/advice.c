/* Known mistakes, those first that hide the others: where the launch alone takes most of the time, or one element is computed
 * after the other, the rest matters little. */
#include "eval/timing.h"
#include "jail/job.h"

#include <math.h>

struct facts {
    const struct npu_soc *soc;
    const struct npu_timing *timing;
    const struct npu_stats *stats;
};

static double us(const struct facts *facts, double cycles)
{
    return npu_timing_us(facts->timing, cycles);
}

/* Half the time is gone before and after the work. */
static const char *launch_takes_all(struct arena *arena, const struct facts *facts)
{
    const struct npu_timing *timing = facts->timing;
    if (timing->launch < 0.5 * timing->cycles)
        return NULL;
    return arena_printf(
        arena,
        "starting and ending the launch takes %.1f of %.1f us: the work is too little for a kernel of its "
        "own, or for so many cores",
        us(facts, timing->launch), us(facts, timing->cycles));
}

/* Cores of this kind work so long that something is to be gained. */
static bool is_worth_it(const struct facts *facts, const struct npu_timing_cores *cores)
{
    return cores->cores && us(facts, cores->mean) >= 2;
}

static bool scalar_leads(const struct facts *facts, const struct npu_timing_cores *cores)
{
    return is_worth_it(facts, cores) && timing_busiest(cores) == NPU_LANE_S && timing_share(cores, NPU_LANE_S) >= 0.5;
}

/* The scalar unit needs tens of cycles for an element, the vector unit a hundredth of one. */
static const char *elements_one_by_one(struct arena *arena, const struct facts *facts)
{
    const struct npu_timing *timing = facts->timing;
    const uint64_t accesses = facts->stats->scalar_loads + facts->stats->scalar_stores;
    const uint64_t words = (timing->read + timing->written) / sizeof(uint32_t);
    if (!scalar_leads(facts, &timing->of[0]) || accesses < words / 2 || !accesses)
        return NULL;
    return arena_printf(arena,
                        "scalar work takes %.0f %% of an AIV's time, with %llu loads and stores of single elements: "
                        "compute whole tiles in UB with vector instructions",
                        100 * timing_share(&timing->of[0], NPU_LANE_S), (unsigned long long)accesses);
}

static const char *scalar_work(struct arena *arena, const struct facts *facts)
{
    const struct npu_timing *timing = facts->timing;
    for (int aic = 0; aic < 2; aic++)
        if (scalar_leads(facts, &timing->of[aic]))
            return arena_printf(
                arena,
                "the scalar unit of an %s is busy %.0f %% of its time and holds the other pipes up: take "
                "larger tiles, and what does not change out of the loop",
                aic ? "AIC" : "AIV", 100 * timing_share(&timing->of[aic], NPU_LANE_S));
    return NULL;
}

static const char *uneven_cores(struct arena *arena, const struct facts *facts)
{
    for (int aic = 0; aic < 2; aic++) {
        const struct npu_timing_cores *cores = &facts->timing->of[aic];
        if (is_worth_it(facts, cores) && cores->longest >= 1.25 * cores->mean)
            return arena_printf(arena,
                                "the slowest %s works %.1f us, %.1f times the mean of %.1f us: share the work out more "
                                "evenly",
                                aic ? "AIC" : "AIV", us(facts, cores->longest), cores->longest / cores->mean,
                                us(facts, cores->mean));
    }
    return NULL;
}

/* Cores that were not started. */
static const char *idle_cores(struct arena *arena, const struct facts *facts)
{
    const struct npu_timing_cores *of = facts->timing->of;
    const int aic = of[1].cores > 0 && !(of[0].mean > of[1].mean), all = aic ? facts->soc->aic : facts->soc->aiv;
    if (4 * of[aic].cores > 3 * all || !is_worth_it(facts, &of[aic]))
        return NULL;
    return arena_printf(arena, "%d of the chip's %d %ss work, %.1f us each: more blocks would share that",
                        of[aic].cores, all, aic ? "AIC" : "AIV", us(facts, of[aic].mean));
}

/* A copy of 16 KiB comes near the bandwidth, one of a few hundred bytes costs as much as one of 2 KiB. */
static const char *small_copies(struct arena *arena, const struct facts *facts)
{
    enum { SMALL = 2048 };
    const struct npu_timing *timing = facts->timing;
    const struct {
        uint64_t bytes, copies;
        int lane;
        const char *way;
    } ways[] = {{timing->read, timing->copies_in, NPU_LANE_MTE2, "from"},
                {timing->written, timing->copies_out, NPU_LANE_MTE3, "to"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double share = fmax(timing_share(&timing->of[0], ways[i].lane), timing_share(&timing->of[1], ways[i].lane));
        if (ways[i].copies && ways[i].bytes / ways[i].copies < SMALL && share >= 0.4)
            return arena_printf(
                arena,
                "a copy %s GM moves %llu bytes on the mean: copy tiles of 16 KiB or more, rows with one "
                "strided copy",
                ways[i].way, (unsigned long long)(ways[i].bytes / ways[i].copies));
    }
    return NULL;
}

/* Pipes whose parts add up to the whole take turns, if no one of them is nearly all of it. */
static const char *pipes_take_turns(struct arena *arena, const struct facts *facts)
{
    const struct npu_timing_cores *cores = &facts->timing->of[0];
    const double in = timing_share(cores, NPU_LANE_MTE2), v = timing_share(cores, NPU_LANE_V),
                 out = timing_share(cores, NPU_LANE_MTE3), sum = in + v + out;
    if (!is_worth_it(facts, cores) || v < 0.2 || in + out < 0.3 || timing_share(cores, NPU_LANE_S) > 0.4 || sum < 0.8 ||
        sum > 1.15 || fmax(in, fmax(v, out)) > 0.7)
        return NULL;
    return arena_printf(
        arena,
        "MTE2 (%.0f %%), V (%.0f %%) and MTE3 (%.0f %%) take turns: with two buffers for each queue copies "
        "and computing overlap",
        100 * in, 100 * v, 100 * out);
}

const char *advice_for(struct arena *arena, const struct npu_soc *soc, const struct npu_timing *timing,
                       const struct npu_stats *stats)
{
    static const char *(*const rules[])(struct arena *, const struct facts *) = {
        launch_takes_all, elements_one_by_one, scalar_work, uneven_cores, idle_cores, small_copies, pipes_take_turns,
    };
    const struct facts facts = {soc, timing, stats};
    const char *advice = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !advice && timing->known; i++)
        advice = rules[i](arena, &facts);
    return advice;
}
