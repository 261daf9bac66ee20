/* The card of a data set: what it holds, where it comes from and what that allows, for people and for Hugging Face's datasets. */
#include "runs/cot_export_internal.h"

#include <ctype.h>
#include <string.h>

/* The licence of the whole as Hugging Face writes it: SPDX in small letters where there is one for all, else "other". */
static void put_licence(const struct cot_count *licences, int count, FILE *out)
{
    fprintf(out, "license: ");
    if (count == 1 && strcmp(licences[0].name, COT_NO_LICENCE) != 0)
        for (const char *at = licences[0].name; *at; at++)
            fputc(tolower((unsigned char)*at), out);
    else
        fprintf(out, "other");
    fprintf(out, "\n");
}

static void put_head(enum cot_format format, const struct export_counts *counts, const struct cot_count *licences,
                     int count, FILE *out)
{
    fprintf(out, "---\n");
    put_licence(licences, count, out);
    fprintf(out, "task_categories:\n- text-generation\ntags:\n- code\n- ascend-c\nconfigs:\n- config_name: default\n  "
                 "data_files:\n");
    for (int split = 0; split < 3; split++)
        if (counts->splits[split])
            fprintf(out, "  - split: %s\n    path: %s.%s\n", export_split_names[split], export_split_names[split],
                    format == COT_PARQUET ? "parquet" : "jsonl");
    fprintf(out,
            "---\n\n# Samples of Ascend-CoT\n\nWritten by akgen " AKGEN_VERSION
            " in the format `%s`: %lld samples, %lld bytes of text.\n\n",
            cot_formats.of[format], (long long)counts->samples, (long long)counts->bytes);
}

static void put_parts(const struct export_counts *counts, FILE *out)
{
    fprintf(out, "| part | train | validation | test |\n|---|---:|---:|---:|\n");
    for (int part = 0; part < cot_parts.count; part++) {
        const int64_t *row = counts->parts[part];
        if (row[0] + row[1] + row[2])
            fprintf(out, "| %s | %lld | %lld | %lld |\n", cot_parts.of[part], (long long)row[0], (long long)row[1],
                    (long long)row[2]);
    }
    fprintf(out, "| all | %lld | %lld | %lld |\n\n", (long long)counts->splits[0], (long long)counts->splits[1],
            (long long)counts->splits[2]);
}

/* Horizontal bars, as an image within the text. */
struct bar {
    char name[48];
    int64_t value;
};
static void put_bars(const char *title, const struct bar *bars, int count, FILE *out)
{
    int64_t largest = 1;
    for (int i = 0; i < count; i++)
        largest = bars[i].value > largest ? bars[i].value : largest;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\" role=\"img\">"
            "<title>%s</title><text x=\"0\" y=\"14\" font-weight=\"bold\" fill=\"#57606a\">%s</text>",
            24 + 20 * count, title, title);
    for (int i = 0; i < count; i++)
        fprintf(out,
                "<text x=\"0\" y=\"%d\" fill=\"#57606a\">%s</text><rect x=\"170\" y=\"%d\" width=\"%.1f\" "
                "height=\"14\" fill=\"#2da44e\"/>"
                "<text x=\"%.1f\" y=\"%d\" fill=\"#57606a\">%lld</text>",
                36 + 20 * i, bars[i].name, 25 + 20 * i, 380.0 * (double)bars[i].value / (double)largest,
                176 + 380.0 * (double)bars[i].value / (double)largest, 36 + 20 * i, (long long)bars[i].value);
    fprintf(out, "</svg>\n\n");
}

static void put_plots(const struct export_counts *counts, FILE *out)
{
    struct bar bars[EXPORT_LENGTHS];
    int count = 0, first = 0, last = EXPORT_LENGTHS - 1;
    for (int part = 0; part < cot_parts.count; part++) {
        struct bar bar = {.value = counts->parts[part][0] + counts->parts[part][1] + counts->parts[part][2]};
        snprintf(bar.name, sizeof bar.name, "%s", cot_parts.of[part]);
        if (bar.value)
            bars[count++] = bar;
    }
    put_bars("samples by part", bars, count, out);
    while (first < last && !counts->lengths[first])
        first++;
    while (last > first && !counts->lengths[last])
        last--;
    for (int i = first; i <= last; i++) {
        bars[i - first].value = counts->lengths[i];
        snprintf(bars[i - first].name, sizeof bars->name, "%lld to %lld", 1LL << i, (1LL << (i + 1)) - 1);
    }
    put_bars("samples by bytes of question, chain and answer", bars, last - first + 1, out);
}

static void put_table(const char *name, const struct cot_count *rows, int count, FILE *out)
{
    fprintf(out, "| %s | samples | bytes |\n|---|---:|---:|\n", name);
    for (int i = 0; i < count; i++)
        fprintf(out, "| %s | %lld | %lld |\n", rows[i].name, (long long)rows[i].samples, (long long)rows[i].bytes);
    fprintf(out, "\n");
}

struct akgen_error *export_write_card(struct store *store, const struct cot_filter *filter, enum cot_format format,
                                      const struct export_counts *counts, FILE *out)
{
    static const struct {
        enum cot_by by;
        const char *title, *name;
    } tables[] = {{COT_BY_VERDICT,
                   "## Verdicts\n\nOf answers that are code, found on a simulated chip; none: no code.\n\n", "verdict"},
                  {COT_BY_MODE, "## Answers\n\n", "mode"},
                  {COT_BY_STEP, "## Where they come from\n\n", "step"},
                  {COT_BY_LICENCE,
                   "## Licences\n\n`unknown`: the source names none; such samples are not to be passed on.\n\n",
                   "licence"}};
    struct arena arena = {0};
    struct cot_count *rows;
    int count;
    struct akgen_error *error = cot_store_count(store, filter, COT_BY_LICENCE, &arena, &rows, &count);
    if (!error) {
        put_head(format, counts, rows, count, out);
        put_parts(counts, out);
        put_plots(counts, out);
    }
    for (size_t i = 0; !error && i < sizeof tables / sizeof *tables; i++) {
        error = cot_store_count(store, filter, tables[i].by, &arena, &rows, &count);
        if (!error) {
            fprintf(out, "%s", tables[i].title);
            put_table(tables[i].name, rows, count, out);
        }
    }
    arena_free(&arena);
    return error;
}
