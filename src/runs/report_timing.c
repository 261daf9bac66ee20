/* Modelled times in the page of a run: beside each case, and all of them against what bounds them. */
#include "runs/report_internal.h"

#include <math.h>
#include <string.h>

static double number(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

/* "48 AIV: S 15 %, V 81 %", with a bar for each pipe. */
static void put_cores(FILE *out, const json_t *cores, const char *kind, report_put *put)
{
    const char *pipe;
    json_t *share;
    if (!json_is_object(cores))
        return;
    fprintf(out, "<br><span class=dim>%d %s</span>", (int)number(cores, "cores"), kind);
    json_object_foreach(json_object_get(cores, "pipes"), pipe, share)
    {
        double part = fmin(fmax(json_number_value(share), 0), 1);
        if (part < 0.005)
            continue;
        fputs(" <span class=pipe><svg viewBox='0 0 40 8' role=img aria-label='", out);
        put(out, pipe);
        fprintf(out, " %.0f %%'><rect class=room width=40 height=8 /><rect class=cr width=%.1f height=8 /></svg> ",
                100 * part, 40 * part);
        put(out, pipe);
        fprintf(out, " %.0f %%</span>", 100 * part);
    }
}

void report_put_timing(FILE *out, const json_t *timing, report_put *put)
{
    if (!json_is_object(timing)) {
        fputs("<td class=n>-<td>", out);
        return;
    }
    fprintf(out, "<td class=n>%.2f<td>", number(timing, "us"));
    put(out, text_of(timing, "bound"));
    fprintf(out, " %.0f %%", 100 * number(timing, "roofline"));
    put_cores(out, json_object_get(timing, "aiv"), "AIV", put);
    put_cores(out, json_object_get(timing, "aic"), "AIC", put);
    if (*text_of(timing, "advice")) {
        fputs("<br>", out);
        put(out, text_of(timing, "advice"));
    }
}

/* The plot: time on a logarithmic axis across, and up what part of it the bound would take. */
enum { WIDE = 480, HIGH = 240, LEFT = 60, BELOW = 40, DECADES = 4 /* from a microsecond on */, MOST_POINTS = 3000 };

static double across(double us)
{
    return LEFT + fmin(fmax(log10(us), 0), DECADES) * WIDE / DECADES;
}

static double up(double share)
{
    return HIGH - fmin(fmax(share, 0), 1) * HIGH;
}

static const char *point_class(const char *bound)
{
    return strcmp(bound, "launch") == 0                            ? "launch"
           : strcmp(bound, "HBM") == 0 || strcmp(bound, "L2") == 0 ? "cr"
                                                                   : "er";
}

static int put_points(FILE *out, const struct bench_row *row, report_put *put)
{
    size_t i;
    const json_t *entry;
    json_t *verdict = bench_row_verdict(row);
    int count = 0;
    json_array_foreach(json_object_get(verdict, "cases"), i, entry)
    {
        const json_t *timing = json_object_get(entry, "timing");
        double us = number(timing, "us"), share = number(timing, "roofline");
        if (!json_is_true(json_object_get(entry, "ok")) || !(us > 0))
            continue;
        fprintf(out, "<circle class=%s cx=%.1f cy=%.1f r=3><title>", point_class(text_of(timing, "bound")), across(us),
                up(share));
        put(out, row->task);
        fprintf(out, ", case %d: %.2f us, %.0f %% of ", (int)number(entry, "case"), us, 100 * share);
        put(out, text_of(timing, "bound"));
        fputs("</title></circle>\n", out);
        count++;
    }
    json_decref(verdict);
    return count;
}

static void put_axes(FILE *out)
{
    enum { PARTS = 4 };
    static const char *const times[DECADES + 1] = {"1 us", "10 us", "100 us", "1 ms", "10 ms"};
    for (int i = 0; i <= DECADES; i++) {
        int x = LEFT + i * WIDE / DECADES;
        fprintf(out, "<path class=grid d='M%d %dV0'/><text x=%d y=%d text-anchor=middle>%s</text>\n", x, HIGH, x,
                HIGH + 18, times[i]);
    }
    for (int i = 0; i <= PARTS; i++) {
        int y = HIGH - i * HIGH / PARTS;
        fprintf(out, "<path class=grid d='M%d %dh%d'/><text x=%d y=%d text-anchor=end>%d %%</text>\n", LEFT, y, WIDE,
                LEFT - 6, y + 4, 100 * i / PARTS);
    }
}

void report_put_roofline(FILE *out, const struct bench *bench, report_put *put)
{
    int points = 0;
    fprintf(out,
            "<h2>Modelled time</h2><div class=wide><svg viewBox='0 -10 %d %d' width=%d role=img aria-label='modelled "
            "time and its bound'>\n",
            LEFT + WIDE + 40, HIGH + BELOW, LEFT + WIDE + 40);
    put_axes(out);
    for (int i = 0; i < bench->count && points < MOST_POINTS; i++)
        points += put_points(out, &bench->rows[i], put);
    fprintf(
        out,
        "</svg></div><p class=dim>%s%d right cases by modelled time, and what part of it the bound alone would "
        "take: at 100 %% it could not be faster. Green: bound by a pipe, blue: by HBM or L2, grey: by the launch. No "
        "figure here is measured.</p>\n",
        points < MOST_POINTS ? "" : "The first ", points);
}
