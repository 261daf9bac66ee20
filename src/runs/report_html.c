/* The page of a run: one HTML file that needs nothing else, readable on a phone and without a network. */
#include "base/text.h"
#include "runs/report_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char style[] = {
#embed "../../templates/page/report.css" suffix(, 0)
};

static const char *kind_class(enum akgen_verdict_kind kind)
{
    return kind == AKGEN_VERDICT_PASS ? "pass" : kind >= AKGEN_VERDICT_UNSUPPORTED ? "odd" : "bad";
}

static const char *string_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

static void put_percent(FILE *out, double value)
{
    if (isnan(value))
        fputs("<td class=n>-", out);
    else
        fprintf(out, "<td class=n>%.1f %%", 100 * value);
}

struct group_rows {
    FILE *out;
    bool speed; /* with columns of speed */
};

static void put_group_row(void *closure, const struct bench_group *group)
{
    const struct group_rows *rows = closure;
    FILE *out = rows->out;
    fputs("<tr><td>", out);
    text_put_html(out, group->name);
    fprintf(out, "<td class=n>%d<td class=n>%d", group->tasks, group->compiled);
    put_percent(out, group->compile_rate.value);
    fprintf(out, "<td class=n>%d", group->passed);
    put_percent(out, group->execution_rate.value);
    fprintf(out, "<td class=n>%d / %d", group->cases_passed, group->cases);
    if (rows->speed) {
        for (int i = 0; i < BENCH_SPEEDS; i++)
            put_percent(out, group->speed.fast[SPEEDUP_ONE_LAUNCH][i]);
        if (group->speed.timed)
            fprintf(out, "<td class=n>%.2f", group->speed.speedup[SPEEDUP_ONE_LAUNCH]);
        else
            fputs("<td class=n>-", out);
    }
    fputs("<td>", out);
    /* Passed, not passed and excluded samples as one bar. */
    int all = group->samples + group->excluded;
    double passed = all ? 100.0 * group->passed / all : 0, excluded = all ? 100.0 * group->excluded / all : 0;
    fprintf(out,
            "<div class=bar role=img aria-label='%d of %d samples pass'><i style='width:%.2f%%'></i>"
            "<b style='width:%.2f%%'></b><u style='width:%.2f%%'></u></div>",
            group->passed, all, passed, all ? 100 - passed - excluded : 0, excluded);
    fputs("</tr>\n", out);
}

static void put_summary(FILE *out, struct bench *bench)
{
    struct group_rows rows = {out, report_has_speed(bench)};
    fputs("<h2>By level and category</h2><div class=wide><table><tr><th>category<th class=n>tasks<th class=n>compiled"
          "<th class=n>CR<th class=n>passed<th class=n>ER<th class=n>cases",
          out);
    for (int i = 0; i < BENCH_SPEEDS && rows.speed; i++)
        fprintf(out, "<th class=n>Fast%.1f@%d", bench_speeds[i], bench_shares(bench).k);
    fputs(rows.speed ? "<th class=n>speedup<th>&nbsp;</tr>\n" : "<th>&nbsp;</tr>\n", out);
    bench_visit_groups(bench, put_group_row, &rows);
    fputs("</table></div><p class=dim>CR: share of samples whose project compiles, mean over tasks; ER: share whose "
          "every "
          "evaluated case is right. Samples with verdict unsupported or infra_error are in neither.",
          out);
    if (rows.speed) {
        fputs(" Fast: share of all tasks with a right sample at least so many times as fast as the baseline; speedup: "
              "geometric mean of the tasks' best. Both are modelled, over ",
              out);
        report_put_baseline(out, bench, text_put_html);
        fputs(strcmp(bench->baseline, BASELINE_EAGER) == 0 ? ", charged a launch a kernel." : ".", out);
    }
    fputs("</p>\n", out);
}

static void put_findings(FILE *out, const json_t *list, const char *word)
{
    size_t i;
    const json_t *finding;
    json_array_foreach(list, i, finding)
    {
        fprintf(out, "%s ", word);
        text_put_html(out, string_at(finding, "name"));
        fputs(": ", out);
        if (*string_at(finding, "file")) {
            text_put_html(out, string_at(finding, "file"));
            fprintf(out, ":%d: ", (int)json_integer_value(json_object_get(finding, "line")));
        }
        text_put_html(out, string_at(finding, "message"));
        fputc('\n', out);
    }
}

static void put_case(FILE *out, const json_t *row, bool kernel)
{
    const json_t *run = json_object_get(row, "run");
    const char *verdict = string_at(row, "verdict");
    fprintf(out, "<tr><td class=n>%d<td class='v %s'>", (int)json_integer_value(json_object_get(row, "case")),
            strcmp(verdict, "pass") == 0 ? "pass" : "bad");
    text_put_html(out, verdict);
    fputs("<td>", out);
    text_put_html(out, string_at(row, "dtype"));
    fputs("<td>", out);
    text_put_html(out, string_at(row, "shape"));
    if (json_is_true(json_object_get(row, "reduced")))
        fputs(" <span class=dim>(reduced)</span>", out);
    if (*string_at(row, "stand_in")) {
        fputs(" <span class=dim>(full size, because a smaller case that stood in is not right: ", out);
        text_put_html(out, string_at(row, "stand_in"));
        fputs(")</span>", out);
    }
    fprintf(out, "<td class=n>%d<td class=n>%.1f", (int)json_integer_value(json_object_get(run, "blocks")),
            json_real_value(json_object_get(run, "seconds")) * 1e3);
    report_put_timing(out, json_object_get(row, "timing"), text_put_html);
    /* The baseline's time of a case, eager charged a launch a kernel, and the speedup over it. */
    const struct speedup_case times = bench_case_times(row);
    const double speedup = speedup_of_case(&times, kernel, SPEEDUP_ONE_LAUNCH);
    if (speedup > 0)
        fprintf(out, "<td class=n>%.2f<td class=n>%.2f", kernel ? times.kernel : times.eager[SPEEDUP_ONE_LAUNCH],
                speedup);
    else
        fputs("<td class=n>-<td class=n>-", out);
    fputs("<td>", out);
    text_put_html(out, string_at(row, "error"));
    if (json_array_size(json_object_get(row, "faults")) || json_array_size(json_object_get(row, "notes"))) {
        fputs("<pre>", out);
        put_findings(out, json_object_get(row, "faults"), "fault");
        put_findings(out, json_object_get(row, "notes"), "note");
        fputs("</pre>", out);
    }
    fputs("</tr>\n", out);
}

static void put_diagnostics(FILE *out, const json_t *list)
{
    size_t i;
    const json_t *diagnostic;
    fputs("<pre>", out);
    json_array_foreach(list, i, diagnostic)
    {
        text_put_html(out, string_at(diagnostic, "file"));
        fprintf(out, ":%d: ", (int)json_integer_value(json_object_get(diagnostic, "line")));
        text_put_html(out, string_at(diagnostic, "severity"));
        fputs(" [", out);
        text_put_html(out, string_at(diagnostic, "class"));
        fputs("]: ", out);
        text_put_html(out, string_at(diagnostic, "message"));
        fputc('\n', out);
    }
    fputs("</pre>", out);
}

static void put_row_head(FILE *out, const struct bench_row *row)
{
    text_put_html(out, row->task);
    if (row->sample)
        fprintf(out, " #%d", row->sample);
    fprintf(out, " <span class='v %s'>%s</span> <span class=dim>%d of %d cases, %.2f s", kind_class(row->kind),
            akgen_verdict_kind_name(row->kind), row->cases_passed, row->cases_total, row->seconds);
    if (row->kind == AKGEN_VERDICT_PASS && row->speedup[SPEEDUP_ONE_LAUNCH] > 0)
        fprintf(out, ", modelled %.2f times as fast as the baseline", row->speedup[SPEEDUP_ONE_LAUNCH]);
    fputs("</span>", out);
}

/* A line, where details of all would be more than a browser likes. */
static void put_short_row(FILE *out, const struct bench_row *row)
{
    fputs("<p>", out);
    put_row_head(out, row);
    fputs("<br>", out);
    text_put_html(out, row->reason);
    fputs("</p>\n", out);
}

static void put_row(FILE *out, const struct bench_row *row)
{
    size_t i;
    json_t *verdict = bench_row_verdict(row);
    const json_t *entry, *diagnostics = json_object_get(json_object_get(verdict, "compile"), "diagnostics");
    fputs("<details><summary>", out);
    put_row_head(out, row);
    fputs("</summary>\n", out);
    if (row->reason) {
        fputs("<p>", out);
        text_put_html(out, row->reason);
        fputs("</p>", out);
    }
    if (json_array_size(diagnostics))
        put_diagnostics(out, diagnostics);
    fputs("<div class=wide><table><tr><th class=n>case<th>verdict<th>dtype<th>shape<th class=n>blocks<th class=n>run "
          "ms<th class=n>modelled us<th>bound, pipes, advice<th class=n>baseline us<th class=n>speedup<th>"
          "remarks</tr>\n",
          out);
    json_array_foreach(json_object_get(verdict, "cases"), i, entry) put_case(out, entry, row->kernel != BENCH_EAGER);
    fputs("</table></div>", out);
    json_decref(verdict);
    if (row->source) {
        fputs("<details><summary>source of the kernel</summary><pre>", out);
        text_put_html(out, row->source);
        fputs("</pre></details>", out);
    }
    fputs("</details>\n", out);
}

/* Charts. */
enum { CHART_WIDTH = 540, BAR_HEIGHT = 18, LABEL_WIDTH = 180 };

static void chart_begin(FILE *out, const char *title, int bars)
{
    fprintf(out, "<h3>%s</h3><div class=wide><svg viewBox='0 0 %d %d' width='%d' role=img aria-label='%s'>\n", title,
            CHART_WIDTH, bars * (BAR_HEIGHT + 6) + 6, CHART_WIDTH, title);
}

static void chart_bar(FILE *out, int index, const char *label, double value, const char *class, const char *text)
{
    int y = 6 + index * (BAR_HEIGHT + 6), room = CHART_WIDTH - LABEL_WIDTH - 100;
    fprintf(out, "<text x='%d' y='%d' text-anchor=end>", LABEL_WIDTH - 8, y + BAR_HEIGHT - 4);
    text_put_html(out, label);
    fprintf(out, "</text><rect class='%s' x='%d' y='%d' width='%.1f' height='%d'/><text x='%.1f' y='%d'>%s</text>\n",
            class, LABEL_WIDTH, y, isnan(value) ? 0 : value * room, BAR_HEIGHT,
            LABEL_WIDTH + (isnan(value) ? 0 : value * room) + 6, y + BAR_HEIGHT - 4, text);
}

struct rate_chart {
    FILE *out;
    bool levels; /* levels and all, or categories */
    bool counting;
    int bars;
};

static void chart_group(void *closure, const struct bench_group *group)
{
    struct rate_chart *chart = closure;
    char text[32];
    if ((strchr(group->name, '/') == NULL) != chart->levels)
        return;
    if (!chart->counting) {
        snprintf(text, sizeof text, "CR %.1f %%", 100 * group->compile_rate.value);
        chart_bar(chart->out, chart->bars, group->name, group->compile_rate.value, "cr", text);
        snprintf(text, sizeof text, "ER %.1f %%", 100 * group->execution_rate.value);
        chart_bar(chart->out, chart->bars + 1, "", group->execution_rate.value, "er", text);
    }
    chart->bars += 2;
}

static void put_rate_chart(FILE *out, struct bench *bench, bool levels)
{
    struct rate_chart chart = {out, levels, true, 0};
    bench_visit_groups(bench, chart_group, &chart);
    chart_begin(out, levels ? "Rates by level" : "Rates by category", chart.bars);
    chart = (struct rate_chart){out, levels, false, 0};
    bench_visit_groups(bench, chart_group, &chart);
    fputs("</svg></div>\n", out);
}

/* How the samples ended: the share of every verdict that occurs. */
static void put_verdict_chart(FILE *out, const struct bench *bench)
{
    struct bench_errors errors = bench_errors(bench);
    int kinds = 0, all = 0;
    for (int kind = AKGEN_VERDICT_PASS; kind <= AKGEN_VERDICT_INFRA_ERROR; kind++) {
        kinds += errors.kinds[kind] > 0;
        all += errors.kinds[kind];
    }
    chart_begin(out, "Samples by verdict", kinds);
    for (int kind = AKGEN_VERDICT_PASS, bar = 0; kind <= AKGEN_VERDICT_INFRA_ERROR; kind++) {
        char text[48];
        if (!errors.kinds[kind])
            continue;
        snprintf(text, sizeof text, "%d (%.1f %%)", errors.kinds[kind], 100.0 * errors.kinds[kind] / all);
        chart_bar(out, bar++, akgen_verdict_kind_name((enum akgen_verdict_kind)kind), (double)errors.kinds[kind] / all,
                  kind == AKGEN_VERDICT_PASS ? "er" : "bad", text);
    }
    fputs("</svg></div>\n", out);
}

/* pass@k by level and category, as the AscendKernelGen paper's Table 2 by level. */
struct pass_table {
    FILE *out;
    struct bench *bench;
};

static void put_pass_row(void *closure, const struct bench_group *group)
{
    const struct pass_table *table = closure;
    size_t count;
    int k_count;
    const int *ks = bench_ks(table->bench, &k_count);
    const struct metrics_task *tasks = bench_tasks(table->bench, &count);
    fputs("<tr><td>", table->out);
    text_put_html(table->out, group->name);
    for (int rate = METRICS_COMPILE; rate <= METRICS_EXECUTE; rate++)
        for (int i = 0; i < k_count; i++)
            put_percent(
                table->out,
                metrics_rate(tasks, count, (enum metrics_rate)rate, ks[i], group->level, group->category).value);
    fputs("</tr>\n", table->out);
}

static void put_pass_at_k(FILE *out, struct bench *bench)
{
    struct pass_table table = {out, bench};
    int k_count;
    const int *ks = bench_ks(bench, &k_count);
    if (!k_count)
        return;
    fputs("<h2>pass@k</h2><div class=wide><table><tr><th>tasks", out);
    for (int rate = METRICS_COMPILE; rate <= METRICS_EXECUTE; rate++)
        for (int i = 0; i < k_count; i++)
            fprintf(out, "<th class=n>%s@%d", rate == METRICS_COMPILE ? "CR" : "ER", ks[i]);
    fputs("</tr>\n", out);
    bench_visit_groups(bench, put_pass_row, &table);
    fputs("</table></div><p class=dim>", out);
    report_write_shortages(out, bench, text_put_html);
    fputs("</p>\n", out);
}

/* The model and what was asked of it. */
static void put_sampling(FILE *out, const struct bench *bench)
{
    if (!bench->settings || !*bench->settings)
        return;
    fputs("<h2>Model</h2><p>", out);
    report_write_sampling(out, bench, text_put_html, "<br>\n");
    fputs("</p>\n", out);
}

static void put_error_chart(FILE *out, const struct bench *bench)
{
    struct bench_errors errors = bench_errors(bench);
    int compile_errors = errors.kinds[AKGEN_VERDICT_COMPILE_ERROR];
    if (!compile_errors)
        return;
    chart_begin(out, "Compile errors by class of the first error", DIAG_MACRO + 1);
    for (int class = DIAG_API; class <= DIAG_MACRO; class ++) {
        char text[32];
        snprintf(text, sizeof text, "%d", errors.classes[class]);
        chart_bar(out, class, diagnostic_class_name((enum diagnostic_class) class),
                  (double)errors.classes[class] / compile_errors, "bad", text);
    }
    fputs("</svg></div>\n", out);
}

static void put_rows(FILE *out, const struct bench *bench)
{
    enum { LONGEST_PAGE = 32 << 20 };
    bool all = true;
    fputs("<h2>Tasks</h2>\n", out);
    for (int i = 0; i < bench->count; i++) {
        if (!bench->rows[i].evaluated)
            continue;
        bool details = ftell(out) < LONGEST_PAGE;
        if (all && !details)
            fputs("<p class=dim>The page has no room for the details of the following samples; the database has "
                  "them.</p>\n",
                  out);
        all = details;
        (details ? put_row : put_short_row)(out, &bench->rows[i]);
    }
}

static void put_page(FILE *out, struct bench *bench)
{
    fputs("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width,"
          "initial-scale=1'><title>AKGen run</title><style>",
          out);
    for (const char *at = style; *at; at++) /* a line a rule in the file, one in the page */
        if (*at != '\n')
            fputc(*at, out);
    fputs("</style><h1>AKGen run: ", out);
    text_put_html(out, bench->suite);
    fputs("</h1><p>provider <b>", out);
    text_put_html(out, bench->provider);
    const char *const settings[][2] = {{"</b>, language <b>", bench->language},
                                       {"</b>, ", bench->soc},
                                       {", mode ", bench->mode},
                                       {", scope ", bench->scope},
                                       {", profile ", bench->profile},
                                       {"; akgen ", bench->akgen}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        fputs(settings[i][0], out);
        text_put_html(out, settings[i][1]);
    }
    fprintf(out, ", %.1f s. Every figure comes from a simulated NPU.</p>\n<p>baseline of speedups: <b>",
            bench->seconds);
    report_put_baseline(out, bench, text_put_html);
    fputs("</b>, modelled<br>\n", out);
    report_write_lacking(out, bench, text_put_html, "<br>\n");
    fputs("</p>\n", out);
    if (*bench->protocol) {
        fputs("<p>protocol: <b>", out);
        text_put_html(out, bench->protocol);
        fputs("</b></p>", out);
    }
    put_sampling(out, bench);
    put_summary(out, bench);
    /* Shares of all tasks, as MultiKernelBench and AscendCraft print them. */
    struct bench_shares shares = bench_shares(bench);
    fprintf(out, "<p>Of %d tasks: Comp@%d %.1f %%, Pass@%d %.1f %%", shares.tasks, shares.k, 100 * shares.compiled,
            shares.k, 100 * shares.passed);
    report_put_speed(out, bench, &shares, text_put_html);
    for (int i = 0, most = shares.k; i < bench->k_count && bench->ks[i] < most; i++) {
        shares = bench_shares_at(bench, bench->ks[i]);
        fprintf(out, "; of their first %d samples Comp@%d %.1f %%, Pass@%d %.1f %%", shares.k, shares.k,
                100 * shares.compiled, shares.k, 100 * shares.passed);
        report_put_speed(out, bench, &shares, text_put_html);
    }
    fputs("</p>\n", out);
    fputs("<p>", out);
    report_write_missing(out, bench, text_put_html, ".");
    fputs("</p>\n", out);
    put_pass_at_k(out, bench);
    int wrappers = bench_errors(bench).wrappers;
    if (wrappers)
        fprintf(out, "<p>unsupported because the Python wrapper does more than one plain call: %d</p>\n", wrappers);
    put_rate_chart(out, bench, true);
    put_rate_chart(out, bench, false);
    /* One bar per task: the share of its rated samples that are right. */
    size_t count;
    const struct metrics_task *tasks = bench_tasks(bench, &count);
    chart_begin(out, "Right samples by operator", (int)count);
    for (size_t i = 0; i < count; i++) {
        const char *name = strrchr(tasks[i].name, '/') ? strrchr(tasks[i].name, '/') + 1 : tasks[i].name;
        char text[48];
        const int samples = tasks[i].samples + tasks[i].missing;
        snprintf(text, sizeof text, "%d of %d", tasks[i].passed, samples);
        chart_bar(out, (int)i, arena_printf(&bench->arena, "%.26s", name),
                  metrics_pass_at_k(samples, tasks[i].passed, 1), "er", text);
    }
    fputs("</svg></div>\n", out);
    put_verdict_chart(out, bench);
    put_error_chart(out, bench);
    report_put_roofline(out, bench, text_put_html);
    put_rows(out, bench);
    fputs("</html>\n", out);
}

struct akgen_error *report_write_html(const char *path, struct bench *bench)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return error_new("%s: %m", path);
    put_page(out, bench);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return error_new("%s: %s", path, strerror(errno));
    return NULL;
}
