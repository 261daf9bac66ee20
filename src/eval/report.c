/* The page of a run: one HTML file that needs nothing else, readable on a phone and without a network. */
#include "eval/bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char style[] =
    "body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;max-width:72rem;padding:1rem;color:#1d2433;background:#fff}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse;width:100%;font-size:."
    "9rem}"
    "th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #dfe3ea;vertical-align:top}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.wide{overflow-x:auto}"
    ".v{font-weight:600;white-space:nowrap}.pass{color:#116329}.bad{color:#a40e26}.odd{color:#7a4d00}"
    ".bar{display:flex;min-width:6rem;margin-top:.35rem;height:.7rem;background:#eceff4;border-radius:.35rem;overflow:"
    "hidden}"
    ".bar i{background:#2da44e}.bar b{background:#d1242f}.bar u{background:#bf8700}"
    "details{margin:.3rem 0;border:1px solid #dfe3ea;border-radius:.4rem;padding:.3rem .6rem}summary{cursor:pointer}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f8fa;padding:.5rem;border-radius:.3rem;font-size:."
    "82rem}"
    ".dim{color:#57606a}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,td,details{border-color:#30363d}"
    "pre,.bar{background:#161b22}.pass{color:#3fb950}.bad{color:#ff7b72}.odd{color:#d29922}.dim{color:#8d96a0}}";

/* Text of a candidate in a page: everything that HTML could read as markup is escaped. */
static void put(FILE *out, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
}

static const char *kind_class(enum verdict_kind kind)
{
    return kind == VERDICT_PASS ? "pass" : kind >= VERDICT_UNSUPPORTED ? "odd" : "bad";
}

static const char *string_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

static double percent(int part, int whole)
{
    return whole ? 100.0 * part / whole : 0;
}

static void put_counts_row(void *closure, const char *name, const struct bench_counts *counts)
{
    FILE *out = closure;
    int rated = counts->tasks - counts->excluded;
    fprintf(out, "<tr><td>");
    put(out, name);
    fprintf(out,
            "<td class=n>%d<td class=n>%d<td class=n>%.1f %%<td class=n>%d<td class=n>%.1f %%<td class=n>%d / %d<td>",
            counts->tasks, counts->compiled, percent(counts->compiled, rated), counts->passed,
            percent(counts->passed, rated), counts->cases_passed, counts->cases);
    fprintf(
        out,
        "<div class=bar role=img aria-label='%d of %d pass'><i style='width:%.2f%%'></i><b style='width:%.2f%%'></b>"
        "<u style='width:%.2f%%'></u></div></tr>\n",
        counts->passed, counts->tasks, percent(counts->passed, counts->tasks),
        percent(rated - counts->passed, counts->tasks), percent(counts->excluded, counts->tasks));
}

static void put_summary(FILE *out, const struct bench *bench)
{
    fputs("<h2>By level and category</h2><div class=wide><table><tr><th>category<th class=n>tasks<th class=n>compiled"
          "<th class=n>CR<th class=n>passed<th class=n>ER<th class=n>cases<th>&nbsp;</tr>\n",
          out);
    bench_visit_groups(bench, put_counts_row, out);
    fputs("</table></div><p class=dim>CR: share of tasks whose project compiles; ER: share of tasks whose every "
          "evaluated case is "
          "right. Tasks with verdict unsupported or infra_error are in neither.</p>\n",
          out);
}

static void put_findings(FILE *out, const json_t *list, const char *word)
{
    size_t i;
    const json_t *finding;
    json_array_foreach(list, i, finding)
    {
        fprintf(out, "%s %s: ", word, string_at(finding, "name"));
        if (*string_at(finding, "file")) {
            put(out, string_at(finding, "file"));
            fprintf(out, ":%d: ", (int)json_integer_value(json_object_get(finding, "line")));
        }
        put(out, string_at(finding, "message"));
        fputc('\n', out);
    }
}

static void put_case(FILE *out, const json_t *row)
{
    const json_t *run = json_object_get(row, "run");
    const char *verdict = string_at(row, "verdict");
    fprintf(out, "<tr><td class=n>%d<td class='v %s'>%s<td>%s<td>",
            (int)json_integer_value(json_object_get(row, "case")), strcmp(verdict, "pass") == 0 ? "pass" : "bad",
            verdict, string_at(row, "dtype"));
    put(out, string_at(row, "shape"));
    if (json_is_true(json_object_get(row, "reduced")))
        fputs(" <span class=dim>(reduced)</span>", out);
    fprintf(out, "<td class=n>%d<td class=n>%.1f<td>", (int)json_integer_value(json_object_get(run, "blocks")),
            json_real_value(json_object_get(run, "seconds")) * 1e3);
    put(out, string_at(row, "error"));
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
        put(out, string_at(diagnostic, "file"));
        fprintf(out, ":%d: %s [%s]: ", (int)json_integer_value(json_object_get(diagnostic, "line")),
                string_at(diagnostic, "severity"), string_at(diagnostic, "class"));
        put(out, string_at(diagnostic, "message"));
        fputc('\n', out);
    }
    fputs("</pre>", out);
}

static void put_task(FILE *out, const struct bench_row *row)
{
    size_t i;
    const json_t *entry, *diagnostics = json_object_get(json_object_get(row->verdict, "compile"), "diagnostics");
    fputs("<details><summary>", out);
    put(out, row->task->name);
    fprintf(out, " <span class='v %s'>%s</span> <span class=dim>%d of %d cases, %.2f s</span></summary>\n",
            kind_class(row->kind), verdict_kind_name(row->kind), row->cases_passed, row->cases_total, row->seconds);
    if (row->reason) {
        fputs("<p>", out);
        put(out, row->reason);
        fputs("</p>", out);
    }
    if (json_array_size(diagnostics))
        put_diagnostics(out, diagnostics);
    fputs("<div class=wide><table><tr><th class=n>case<th>verdict<th>dtype<th>shape<th class=n>blocks<th class=n>run "
          "ms<th>"
          "remarks</tr>\n",
          out);
    json_array_foreach(json_object_get(row->verdict, "cases"), i, entry) put_case(out, entry);
    fputs("</table></div></details>\n", out);
}

static void put_page(FILE *out, const struct bench *bench, const struct bench_options *options)
{
    const struct eval_options *eval = &options->eval;
    fprintf(out,
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width,"
            "initial-scale=1'><title>AKGen run</title><style>%s</style><h1>AKGen run: ",
            style);
    put(out, options->task_count ? options->tasks[0].suite : "");
    fputs("</h1><p>provider <b>", out);
    put(out, options->provider);
    fprintf(out,
            "</b>, %s, mode %s, scope %s, profile %s; akgen %s, %.1f s. Every figure comes from a simulated NPU.</p>\n",
            eval->soc->name, eval->mode == EVAL_STATIC ? "static" : "dynamic",
            eval->scope == EVAL_KERNEL ? "kernel" : "project", eval->profile == TASK_STRICT ? "strict" : "upstream",
            AKGEN_VERSION, bench->seconds);
    put_summary(out, bench);
    fputs("<h2>Tasks</h2>\n", out);
    for (int i = 0; i < bench->count; i++)
        put_task(out, &bench->rows[i]);
    fputs("</html>\n", out);
}

struct akgen_error *report_write_html(const char *path, const struct bench *bench, const struct bench_options *options)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return error_new("%s: %m", path);
    put_page(out, bench, options);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return error_new("%s: %s", path, strerror(errno));
    return NULL;
}
