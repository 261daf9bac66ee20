/* Rows of samples, in the forms that trainers read. */
#include "runs/cot_export_internal.h"
#include "runs/parquet.h"
#include "base/files.h"
#include "base/text.h"

#include <jansson.h>
#include <string.h>

const struct words cot_formats = WORDS(COT_FORMATS);
const char *const export_split_names[] = {"train", "validation", "test"};

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
