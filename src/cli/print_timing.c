/* The modelled time of a case as a small table. */
#include "cli/cli.h"
#include "eval/advice.h"
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

static void print_cores(FILE *out, const struct npu_timing *timing, bool aic)
{
    const struct npu_timing_cores *cores = &timing->of[aic];
    if (!cores->cores)
        return;
    fprintf(out, "    %d %s%s: mean %.2f us, longest %.2f;", cores->cores, aic ? "AIC" : "AIV",
            cores->cores > 1 ? "s" : "", us(timing, cores->mean), us(timing, cores->longest));
    for (int lane = 0; lane < NPU_LANES; lane++)
        if (cores->busy[lane] > 0)
            fprintf(out, "  %s %.0f %%", job_lanes[lane], 100 * timing_share(cores, lane));
    fputc('\n', out);
}

static void print_memory(FILE *out, struct arena *arena, const struct npu_timing *timing)
{
    fprintf(out, "    read %s (%.0f %% in L2), written %s; HBM %.0f GB/s, L2 %.0f GB/s",
            bytes_text(arena, timing->read), timing->read ? 100.0 * (double)timing->read_l2 / (double)timing->read : 0,
            bytes_text(arena, timing->written), timing_rate(timing, timing->hbm_read + timing->hbm_written),
            timing_rate(timing, timing->read + timing->written));
    if (timing->ub_peak)
        fprintf(out, "; UB up to %.1f KiB", timing->ub_peak / 1024.0);
    fputc('\n', out);
}

static void print_slowest(FILE *out, const struct verdict *verdict, const struct job_timing *timing)
{
    if (!timing->file)
        return;
    struct source_place place = timing_source(verdict->map, timing);
    fputs("    most time at ", out);
    cli_print_clean(out, timing->file);
    fprintf(out, ":%d", timing->line);
    if (place.program) {
        fputs(", from ", out);
        cli_print_clean(out, place.program);
        fprintf(out, ":%d", place.line);
    }
    fprintf(out, ": %.2f us of a core\n", us(&timing->model, timing->model.slowest_cycles));
}

static void print_case(FILE *out, const struct verdict *verdict, const struct verdict_case *row,
                       const struct cli_colors *colors)
{
    const struct npu_timing *timing = &row->run.timing.model;
    struct arena arena = {0};
    const char *advice = advice_for(&arena, verdict->options->soc, timing, &row->run.stats);
    fprintf(out, "  modelled, case %d: %s%.2f us%s, the launch %.2f of it%s; bound by %s: %.2f us, %.0f %%\n", row->id,
            colors->bold, us(timing, timing->cycles), colors->off, us(timing, timing->launch),
            timing->shortened ? ", in part by extrapolation" : "", timing_bound(&arena, timing),
            us(timing, timing->bound_cycles), 100 * timing_roofline(timing));
    print_cores(out, timing, false);
    print_cores(out, timing, true);
    print_memory(out, &arena, timing);
    print_slowest(out, verdict, &row->run.timing);
    if (advice)
        fprintf(out, "    %sadvice:%s %s\n", colors->warn, colors->off, advice);
    arena_free(&arena);
}

static uint64_t bytes_moved(const struct verdict_case *row)
{
    return row->run.timing.model.read + row->run.timing.model.written;
}

void cli_print_timing(FILE *out, const struct verdict *verdict, bool every_case, const struct cli_colors *colors)
{
    const struct verdict_case *largest = NULL;
    for (int i = 0; i < verdict->case_count; i++) {
        const struct verdict_case *row = &verdict->cases[i];
        if (!row->run.timing.model.known)
            continue;
        if (every_case)
            print_case(out, verdict, row, colors);
        else if (!largest || bytes_moved(row) > bytes_moved(largest))
            largest = row;
    }
    if (largest)
        print_case(out, verdict, largest, colors);
}
