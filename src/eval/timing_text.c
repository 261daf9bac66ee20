/* The modelled time of a case as a small table. */
#include "eval/timing_text.h"
#include "eval/timing.h"

static double us(const struct npu_timing *timing, double cycles)
{
    return npu_timing_us(timing, cycles);
}

/* "6.3 MB", as rates count. */
static const char *bytes_text(struct arena *arena, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    return arena_printf(arena, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void add_cores(struct text *text, const struct npu_timing *timing, bool aic)
{
    const struct npu_timing_cores *cores = &timing->of[aic];
    if (!cores->cores)
        return;
    text_addf(text, "    %d %s%s: mean %.2f us, longest %.2f;", cores->cores, aic ? "AIC" : "AIV",
              cores->cores > 1 ? "s" : "", us(timing, cores->mean), us(timing, cores->longest));
    for (int lane = 0; lane < NPU_LANES; lane++)
        if (cores->busy[lane] > 0)
            text_addf(text, "  %s %.0f %%", job_lanes[lane], 100 * timing_share(cores, lane));
    text_add(text, "\n");
}

/* A name that the candidate gave: control characters would reach a terminal. */
static const char *clean(struct arena *arena, const char *name)
{
    char *copy = arena_strdup(arena, name);
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = '?';
    return copy;
}

void timing_add_case(struct text *text, const struct verdict *verdict, const struct verdict_case *row,
                     const struct timing_style *style)
{
    const struct npu_timing *timing = &row->run.timing.model;
    struct arena arena = {0};
    if (!timing->known)
        return;
    const char *advice = advice_for(&arena, verdict->options->soc, timing, &row->run.stats);
    text_addf(text, "  modelled, case %d: %s%.2f us%s, the launch %.2f of it; bound by %s: %.2f us, %.0f %%\n", row->id,
              style->bold, us(timing, timing->cycles), style->off, us(timing, timing->launch),
              timing_bound(&arena, timing), us(timing, timing->bound_cycles), 100 * timing_roofline(timing));
    add_cores(text, timing, false);
    add_cores(text, timing, true);
    text_addf(text, "    read %s (%.0f %% in L2), written %s; HBM %.0f GB/s, L2 %.0f GB/s",
              bytes_text(&arena, timing->read),
              timing->read ? 100.0 * (double)timing->read_l2 / (double)timing->read : 0,
              bytes_text(&arena, timing->written), timing_rate(timing, timing->hbm_read + timing->hbm_written),
              timing_rate(timing, timing->read + timing->written));
    if (timing->ub_peak)
        text_addf(text, "; UB up to %.1f KiB", timing->ub_peak / 1024.0);
    text_add(text, "\n");
    if (row->run.timing.file) {
        struct source_place place = timing_source(verdict->candidate.map, &row->run.timing);
        text_addf(text, "    most time at %s:%d", clean(&arena, row->run.timing.file), row->run.timing.line);
        if (place.program)
            text_addf(text, ", from %s:%d", clean(&arena, place.program), place.line);
        text_addf(text, ": %.2f us of a core\n", us(&row->run.timing.model, row->run.timing.model.slowest_cycles));
    }
    if (advice)
        text_addf(text, "    %sadvice:%s %s\n", style->warn, style->off, advice);
    arena_free(&arena);
}

static uint64_t bytes_moved(const struct verdict_case *row)
{
    return row->run.timing.model.read + row->run.timing.model.written;
}

const struct verdict_case *timing_largest(const struct verdict *verdict)
{
    const struct verdict_case *largest = NULL;
    for (int i = 0; i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        if (row->run.timing.model.known && (!largest || bytes_moved(row) > bytes_moved(largest)))
            largest = row;
    }
    return largest;
}
