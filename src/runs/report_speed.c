/* What a run says of speed: Fast_p and speedups over its baseline, as columns of its tables and as lines below them, and what the
 * baseline lacks. Every figure is modelled. */
#include "base/text.h"
#include "runs/report_internal.h"

#include <math.h>
#include <string.h>

static bool is_eager(const struct bench *bench)
{
    return strcmp(bench->baseline, BASELINE_EAGER) == 0;
}

void report_put_baseline(FILE *out, const struct bench *bench, report_put *put)
{
    fputs(is_eager(bench) ? "eager of a 910B2" : "the kernels of ", out);
    if (!is_eager(bench))
        put(out, bench->baseline);
}

bool report_has_speed(struct bench *bench)
{
    return !isnan(bench_shares(bench).speed.fast[SPEEDUP_ONE_LAUNCH][0]);
}

/* Columns. */
enum { FAST_WIDTH = 10 };

/* " 1.25", or "-" for NAN. */
static void put_speedup(FILE *out, double speedup)
{
    if (isnan(speedup))
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %8.2f", speedup);
}

void report_put_speed_head(FILE *out, int k)
{
    fputs("  modelled:", out);
    for (int i = 0; i < BENCH_SPEEDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "Fast%.1f@%d", bench_speeds[i], k);
        fprintf(out, " %*s", FAST_WIDTH, name);
    }
    fputs("  speedup", out);
}

void report_put_speed_cells(FILE *out, const struct bench_speed *speed)
{
    fprintf(out, "%*s", 11, "");
    for (int i = 0; i < BENCH_SPEEDS; i++)
        report_put_percent(out, speed->fast[SPEEDUP_ONE_LAUNCH][i], FAST_WIDTH);
    put_speedup(out, speed->speedup[SPEEDUP_ONE_LAUNCH]);
}

/* Lines. */
/* What needs no baseline. */
static void print_bound(FILE *out, const struct bench_speed *speed)
{
    if (speed->bounded)
        fprintf(out,
                "%.1f %% of what their bound allows, modelled, whatever the baseline: mean of the best of %d task%s; "
                "median "
                "%.1f %%\n",
                100 * speed->roofline, speed->bounded, speed->bounded == 1 ? "" : "s", 100 * speed->median_roofline);
}

/* "Fast0.2@1 100.0%  ...  speedup 1.25, geometric mean of 3 tasks" */
static void print_fast(FILE *out, const struct bench_shares *shares, int launches)
{
    for (int i = 0; i < BENCH_SPEEDS; i++) {
        fprintf(out, "Fast%.1f@%d", bench_speeds[i], shares->k);
        report_put_percent(out, shares->speed.fast[launches][i], 6);
        fputs("  ", out);
    }
    if (shares->speed.timed)
        fprintf(out, "speedup %.2f, geometric mean of %d tasks", shares->speed.speedup[launches], shares->speed.timed);
    else
        fputs("no speedup", out);
}

void report_write_speed_at(FILE *out, struct bench *bench, const struct bench_shares *shares)
{
    if (!report_has_speed(bench))
        return;
    fputs("  modelled: ", out);
    print_fast(out, shares, SPEEDUP_ONE_LAUNCH);
}

/* Shares of all tasks that are fast, once for each charge of eager's launches: a figure that falls apart when a launch
 * costs half or twice as much is one of launches. */
void report_write_speed(FILE *out, struct bench *bench, const struct bench_shares *shares)
{
    static const char *const charges[SPEEDUP_LAUNCHES] = {"half a launch a kernel", "a launch a kernel",
                                                          "two launches a kernel"};
    const struct bench_speed *speed = &shares->speed;
    print_bound(out, speed);
    if (isnan(speed->speedup[SPEEDUP_ONE_LAUNCH]))
        return;
    fputs("speed over ", out);
    report_put_baseline(out, bench, text_put_plain);
    fputs(is_eager(bench) ? ", both modelled; the table charges a launch a kernel\n" : ", both modelled\n", out);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        if (!is_eager(bench) && launches != SPEEDUP_ONE_LAUNCH)
            continue;
        fprintf(out, "  %-24s", is_eager(bench) ? charges[launches] : "");
        print_fast(out, shares, launches);
        fputc('\n', out);
    }
}

/* The first row of each task, by what the baseline has for it. */
static int count_tasks(const struct bench *bench, enum bench_kernel kernel)
{
    int count = 0;
    for (int i = 0; i < bench->count; i++)
        count += bench->rows[i].evaluated && bench->rows[i].kernel == kernel &&
                 (!i || strcmp(bench->rows[i].task, bench->rows[i - 1].task) != 0);
    return count;
}

/* ": level1/Math/Sqrt (wrong: case 0: ...), ..." */
static void put_lacking(FILE *out, const struct bench *bench, enum bench_kernel kernel, report_put *put)
{
    enum { NAMED = 5 };
    int named = 0;
    for (int i = 0; i < bench->count && named < NAMED; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (!row->evaluated || row->kernel != kernel || (i && strcmp(row->task, bench->rows[i - 1].task) == 0))
            continue;
        fputs(named++ ? ", " : ": ", out);
        put(out, row->task);
        if (kernel != BENCH_KERNEL_FAILS)
            continue;
        fputs(" (", out);
        put(out, row->kernel_lack);
        fputc(')', out);
    }
    if (count_tasks(bench, kernel) > named)
        fprintf(out, " and %d more", count_tasks(bench, kernel) - named);
}

/* Tasks of which two samples were held against different sources. */
static int count_changed(const struct bench *bench)
{
    int changed = 0;
    bool counted = false;
    for (int i = 1; i < bench->count; i++) {
        const struct bench_row *before = &bench->rows[i - 1], *row = &bench->rows[i];
        const bool same_task = strcmp(row->task, before->task) == 0;
        counted &= same_task;
        if (same_task && !counted && row->evaluated && before->evaluated &&
            strcmp(row->kernel_hash, before->kernel_hash) != 0) {
            counted = true;
            changed++;
        }
    }
    return changed;
}

void report_write_lacking(FILE *out, const struct bench *bench, report_put *put, const char *end)
{
    static const struct {
        enum bench_kernel kernel;
        const char *what;
    } kinds[] = {{BENCH_KERNEL_MISSING, "the baseline has no kernel"},
                 {BENCH_KERNEL_FAILS, "the baseline's kernel does not pass or has no time"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int count = count_tasks(bench, kinds[i].kernel);
        if (!count)
            continue;
        fprintf(out, "for %d task%s, which count%s as not fast, %s", count, count == 1 ? "" : "s",
                count == 1 ? "s" : "", kinds[i].what);
        put_lacking(out, bench, kinds[i].kernel, put);
        fputs(end, out);
    }
    const int changed = count_changed(bench);
    if (changed)
        fprintf(out,
                "the baseline's kernels changed within the run, of %d task%s: their samples' speedups do not compare%s",
                changed, changed == 1 ? "" : "s", end);
}

/* Two runs. */
void report_write_speed_change(FILE *out, struct bench *before, struct bench *after)
{
    const struct bench_speed was = bench_shares(before).speed, now = bench_shares(after).speed;
    const bool compare = strcmp(before->baseline, after->baseline) == 0;
    if (!was.timed && !now.timed)
        return;
    if (!compare) {
        fputs("the speedups do not compare: over ", out);
        report_put_baseline(out, before, text_put_plain);
        fputs(", over ", out);
        report_put_baseline(out, after, text_put_plain);
        fputc('\n', out);
    }
    for (int i = 0; i < BENCH_SPEEDS; i++) {
        const double a = was.fast[SPEEDUP_ONE_LAUNCH][i], b = now.fast[SPEEDUP_ONE_LAUNCH][i];
        fprintf(out, "Fast%.1f     ", bench_speeds[i]);
        report_put_percent(out, a, 8);
        fputs(" ->", out);
        report_put_percent(out, b, 8);
        if (compare && !isnan(a) && !isnan(b))
            fprintf(out, "  (%+.1f)", 100 * (b - a));
        fputs(", modelled\n", out);
    }
    fprintf(out, "%-12s", "speedup");
    put_speedup(out, was.speedup[SPEEDUP_ONE_LAUNCH]);
    fputs(" ->", out);
    put_speedup(out, now.speedup[SPEEDUP_ONE_LAUNCH]);
    fprintf(out, ", modelled, geometric means of %d and %d tasks\n", was.timed, now.timed);
}

/* For other programs. */
static json_t *figure(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *fast_json(const struct bench_speed *speed, int launches)
{
    json_t *fast = json_object();
    for (int i = 0; i < BENCH_SPEEDS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%.1f", bench_speeds[i]);
        json_object_set_new(fast, key, figure(speed->fast[launches][i]));
    }
    return fast;
}

void report_add_speed(json_t *json, const struct bench *bench, const struct bench_speed *speed)
{
    json_t *modelled = json_array();
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++)
        if (is_eager(bench) || launches == SPEEDUP_ONE_LAUNCH)
            json_array_append_new(modelled,
                                  json_pack("{so so so si}", "launches",
                                            is_eager(bench) ? json_real(speedup_launches[launches]) : json_null(),
                                            "fast", fast_json(speed, launches), "speedup",
                                            figure(speed->speedup[launches]), "tasks", speed->timed));
    json_object_set_new(json, "fast", fast_json(speed, SPEEDUP_ONE_LAUNCH));
    json_object_set_new(json, "modelled", modelled);
    json_object_set_new(json, "roofline", figure(speed->roofline));
    json_object_set_new(json, "median_roofline", figure(speed->median_roofline));
}

void report_put_speed(FILE *out, struct bench *bench, const struct bench_shares *shares, report_put *put)
{
    if (report_has_speed(bench)) {
        /* For a page. */
        const struct bench_speed *speed = &shares->speed;
        const int first = is_eager(bench) ? 0 : SPEEDUP_ONE_LAUNCH,
                  last = is_eager(bench) ? SPEEDUP_LAUNCHES - 1 : first;
        fputs("; modelled, over ", out);
        report_put_baseline(out, bench, put);
        fputs(is_eager(bench) ? " charged half a launch a kernel, one and two:" : ":", out);
        for (int i = 0; i < BENCH_SPEEDS; i++) {
            fprintf(out, " Fast%.1f@%d", bench_speeds[i], shares->k);
            for (int launches = first; launches <= last; launches++)
                fprintf(out, "%s %.1f", launches > first ? " /" : "", 100 * speed->fast[launches][i]);
            fputs(" %,", out);
        }
        fputs(speed->timed ? " speedup" : " no speedup", out);
        for (int launches = first; launches <= last && speed->timed; launches++)
            fprintf(out, "%s %.2f", launches > first ? " /" : "", speed->speedup[launches]);
        if (speed->timed)
            fprintf(out, " (geometric mean of %d tasks)", speed->timed);
    }
    if (shares->speed.bounded)
        fprintf(out, "; the best reach %.1f %% of what their bound allows, modelled", 100 * shares->speed.roofline);
}
