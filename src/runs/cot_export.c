/* Rows of samples, in the forms that trainers read. */
#include "runs/cot_export.h"
#include "runs/parquet.h"
#include "base/files.h"
#include "base/text.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* What `datasets` calls a split. */
static const char *const export_split_names[] = {"train", "validation", "test"};

enum { EXPORT_LENGTHS = 24 };
struct export_counts {
    int64_t samples, bytes;
    int64_t splits[3];
    int64_t parts[8][3];             /* by part and split */
    int64_t lengths[EXPORT_LENGTHS]; /* samples of less than 2^(i + 1) bytes and at least 2^i */
};

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

/* README.md of a data set: what Hugging Face's datasets reads at its head, statistics, plots. */
static struct akgen_error *export_write_card(struct store *store, const struct cot_filter *filter,
                                             enum cot_format format, const struct export_counts *counts, FILE *out)
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

const struct words cot_formats = WORDS(COT_FORMATS);

/* The columns of a table in Parquet: the store's. */
static const char *const text_columns[] = {"id",      "part",       "mode",    "question", "chain", "answer",
                                           "verdict", "provenance", "licence", "graph",    "tags"};
static const char *const number_columns[] = {"bytes"};

struct export
{
    struct arena arena;
    const char *folder;
    enum cot_format format;
    bool chains;
    FILE *files[3]; /* by split, NULL as long as it has no sample */
    struct cot_parquet *tables[3];
    struct export_counts counts;
};

static const char *file_name(struct arena *arena, const char *folder, int split, enum cot_format format)
{
    return arena_printf(arena, "%s/%s.%s", folder, export_split_names[split],
                        format == COT_PARQUET ? "parquet" : "jsonl");
}

/* Chain and answer as a model writes them. */
static char *response(struct text *text, const struct cot_sample *sample)
{
    if (sample->chain)
        text_addf(text, "<think>\n%s\n</think>\n\n", sample->chain);
    text_add(text, sample->answer);
    return text->bytes;
}

/* The seed of an operator that was made up; -1: the sample is none whose answers are formulas or a program. */
static long long seed_of(const struct cot_sample *sample)
{
    long long seed = -1;
    bool judged = sample->mode == COT_GRAPH || sample->mode == COT_DSL;
    return judged && sscanf(sample->provenance, "akgen cot synth, seed %lld", &seed) == 1 ? seed : -1;
}

static json_t *row_of(enum cot_format format, const struct cot_sample *sample)
{
    struct text text = {0};
    const char *written = response(&text, sample);
    json_t *row = NULL;
    switch (format) {
    case COT_TRL_SFT:
        row = json_pack("{s:[{s:s s:s}] s:[{s:s s:s}]}", "prompt", "role", "user", "content", sample->question,
                        "completion", "role", "assistant", "content", written);
        break;
    case COT_LLAMA_FACTORY:
        row = json_pack("{s:s s:s s:s}", "instruction", sample->question, "input", "", "output", written);
        break;
    case COT_SHAREGPT:
        row = json_pack("{s:[{s:s s:s} {s:s s:s}]}", "conversations", "from", "human", "value", sample->question,
                        "from", "gpt", "value", written);
        break;
    case COT_PUBLISHED:
        row = json_pack("{s:s s:s s:s}", "question", sample->question, "chain", sample->chain ? sample->chain : "",
                        "answer", sample->answer);
        break;
    case COT_PROMPTS:
        row = json_pack("{s:[{s:s s:s}] s:I}", "prompt", "role", "user", "content", sample->question, "operator",
                        (json_int_t)seed_of(sample));
        break;
    case COT_PARQUET:
        break;
    }
    text_free(&text);
    return row;
}

static struct akgen_error *begin_split(struct export *export, int split)
{
    const char *path = file_name(&export->arena, export->folder, split, export->format);
    export->files[split] = fopen(path, "we");
    if (!export->files[split])
        return error_new("%s: %m", path);
    if (export->format == COT_PARQUET)
        export->tables[split] = cot_parquet_new(export->files[split], text_columns,
                                                sizeof text_columns / sizeof *text_columns, number_columns, 1);
    return NULL;
}

static struct akgen_error *add_row(void *closure, const struct cot_sample *stored)
{
    struct export *export = closure;
    struct cot_sample row = *stored;
    const struct cot_sample *sample = &row;
    if (!export->chains)
        row.chain = NULL;
    if (export->format == COT_PROMPTS && seed_of(stored) < 0)
        return error_new(
            "sample %s is no operator that was made up and is answered by formulas or a program: choose with "
            "--part synth and --mode graph or dsl",
            stored->id);
    struct export_counts *counts = &export->counts;
    int split = (int)sample->split, power = 0;
    struct akgen_error *error = export->files[split] ? NULL : begin_split(export, split);
    if (error)
        return error;
    if (export->format == COT_PARQUET) {
        const char *const texts[] = {sample->id,
                                     cot_parts.of[sample->part],
                                     cot_modes.of[sample->mode],
                                     sample->question,
                                     sample->chain,
                                     sample->answer,
                                     sample->verdict,
                                     sample->provenance,
                                     sample->licence,
                                     sample->graph,
                                     sample->tags};
        cot_parquet_row(export->tables[split], texts, &sample->bytes);
    } else {
        json_t *object = row_of(export->format, sample);
        json_dumpf(object, export->files[split], JSON_COMPACT);
        fputc('\n', export->files[split]);
        json_decref(object);
    }
    while (power < EXPORT_LENGTHS - 1 && sample->bytes >> (power + 1))
        power++;
    counts->samples++;
    counts->bytes += sample->bytes;
    counts->splits[split]++;
    counts->parts[sample->part][split]++;
    counts->lengths[power]++;
    return ferror(export->files[split]) ? error_new("%s: the rows cannot be written: %m", export->folder) : NULL;
}

/* Closes what was written. Returns `error`, or why it is not all there. */
static struct akgen_error *end_splits(struct export *export, struct akgen_error *error)
{
    for (int split = 0; split < 3; split++) {
        struct akgen_error *table = export->tables[split] ? cot_parquet_end(export->tables[split]) : NULL;
        if (error)
            error_free(table);
        else
            error = table;
        if (export->files[split] && fclose(export->files[split]) && !error)
            error = error_new("%s: the rows cannot be written: %m", export->folder);
    }
    return error;
}

/* LLaMA-Factory's entry of a data set: a name for each split. */
static struct akgen_error *write_dataset_info(struct export *export)
{
    json_t *all = json_object();
    for (int split = 0; split < 3; split++) {
        if (!export->files[split])
            continue;
        json_t *entry = json_pack("{s:o}", "file_name", json_sprintf("%s.jsonl", export_split_names[split]));
        if (export->format == COT_SHAREGPT)
            json_object_set_new(entry, "formatting", json_string("sharegpt"));
        json_object_set_new(all, export_split_names[split], entry);
    }
    const char *path = arena_printf(&export->arena, "%s/dataset_info.json", export->folder);
    struct akgen_error *error = json_dump_file(all, path, JSON_INDENT(2)) ? error_new("%s: %m", path) : NULL;
    json_decref(all);
    return error;
}

static struct akgen_error *write_card(struct export *export, struct store *store, const struct cot_filter *filter)
{
    const char *path = arena_printf(&export->arena, "%s/README.md", export->folder);
    FILE *out = fopen(path, "we");
    struct akgen_error *error =
        out ? export_write_card(store, filter, export->format, &export->counts, out) : error_new("%s: %m", path);
    if (out && fclose(out) && !error)
        error = error_new("%s: %m", path);
    return error;
}

struct akgen_error *cot_export(struct store *store, const struct cot_filter *filter, enum cot_format format,
                               bool chains, const char *path)
{
    struct export export = {.format = format, .chains = chains};
    if (files_exists(path))
        return error_new("%s exists; an export makes a new folder", path);
    struct akgen_error *error = files_begin_directory(&export.arena, path, &export.folder);
    if (error)
        return error;
    error = end_splits(&export, cot_store_each(store, filter, add_row, &export));
    if (!error && !export.counts.samples)
        error = error_new("%s: no sample is left to be written", path);
    if (!error && (format == COT_LLAMA_FACTORY || format == COT_SHAREGPT))
        error = write_dataset_info(&export);
    if (!error)
        error = write_card(&export, store, filter);
    if (!error)
        error = files_finish_directory(export.folder, path);
    else
        files_remove_tree(export.folder);
    arena_free(&export.arena);
    return error;
}
