/* From rows to samples. A file is read in pieces of LINES rows, each a source of the store: a killed run goes on behind the last that is
 * in. What was taken before is put into the index of near duplicates first, so that it goes on as it would have. */
#include "cot/corpus.h"
#include "base/array.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/jsons.h"
#include "base/lines.h"
#include "base/text.h"
#include "cot/language.h"
#include "cot/minhash.h"
#include "cot/parquet_read.h"
#include "cot/step.h"
#include "cot/turns.h"
#include "lm/likelihood.h"
#include "cot/walk.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utf8proc.h>

enum { LINES = 2000, LONGEST_LINE = 4 << 20, MOST_PENDING = 256, MOST_PENDING_BYTES = 32 << 20, TOKENS_READ = 1024 };

/* What a row has, and the names of the fields that may hold it: the first that is a text, or a list of turns, does. */
enum { LICENCE = COT_FIELDS, INPUT, FIELDS, MOST_NAMES = 6 };
static const char *const usual[FIELDS][MOST_NAMES] = {
    [COT_QUESTION] = {"question", "prompt", "instruction", "problem", "query"},
    [COT_CHAIN] = {"chain", "reasoning", "thinking", "reasoning_content"},
    [COT_ANSWER] = {"answer", "response", "output", "completion", "solution"},
    [COT_CONVERSATION] = {"messages", "conversations", "conversation"},
    [LICENCE] = {"licence", "license"},
    [INPUT] = {"input"}, /* what an instruction is about (Alpaca's form); or the question itself */
};
/* The names of what a turn has. */
static const struct {
    const char *role, *text;
} turn_names[] = {{"role", "content"}, {"from", "value"}};
enum { TURN_NAMES = sizeof turn_names / sizeof *turn_names };

struct corpus {
    struct store *store;
    const struct cot_corpus_options *options;
    const struct cot_languages *languages;
    struct cot_corpus_counts *counts;
    struct minhash_index *index;
    struct lm_likelihood *likelihood; /* NULL: perplexities are not asked for */
    struct arena arena;
    double *perplexities; /* of all rows that were asked for */
    int perplexity_count, perplexity_capacity;
    struct arena row;                       /* what the row that is read holds until it is taken or dropped */
    struct cot_block block;                 /* of the piece */
    int64_t block_bytes;                    /* of its samples' texts, also those that are sifted out */
    struct cot_block pending[MOST_PENDING]; /* pieces that are whole and not in yet */
    int64_t pending_rows, pending_bytes;
    int pending_count;
    const char *path, *read_as; /* the file, with a digest of its content and the options */
    int64_t piece;
};

/* Name number n of a field; NULL: it has no more. */
static const char *name_of(const struct corpus *corpus, int field, int n)
{
    const char *named = field < COT_FIELDS ? corpus->options->fields[field] : NULL;
    return named ? (n ? NULL : named) : usual[field][n];
}

static void drop(struct corpus *corpus, const char *reason)
{
    cot_block_drop(&corpus->block, reason);
    corpus->counts->dropped++;
}

/* NFC, and lines that end with '\n'. In the arena. */
static const char *normal(struct arena *arena, const char *text)
{
    bool ascii = true;
    char *copy = arena_strdup(arena, text), *to = copy;
    for (const char *at = copy; *at; at++) {
        ascii &= !(*at & 0x80);
        if (*at != '\r')
            *to++ = *at;
        else if (at[1] != '\n')
            *to++ = '\n';
    }
    *to = 0;
    utf8proc_uint8_t *composed = ascii ? NULL : utf8proc_NFC((const utf8proc_uint8_t *)copy);
    const char *result = composed ? arena_strdup(arena, (const char *)composed) : copy;
    free(composed);
    return result;
}

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

/* A sample's text as one, for what looks at all of it. */
static const char *whole(struct arena *arena, const struct cot_sample *sample)
{
    return arena_printf(arena, "%s\n%s\n%s", sample->question, sample->chain ? sample->chain : "", sample->answer);
}

/* Why a sample is not taken as it stands; NULL: sift() decides. */
static const char *refuse(struct corpus *corpus, const struct cot_sample *sample)
{
    const struct cot_corpus_options *options = corpus->options;
    if (!sample->question || !sample->answer)
        return "no question and answer";
    int64_t bytes = (int64_t)(length_of(sample->question) + length_of(sample->chain) + length_of(sample->answer));
    if (bytes < options->shortest || bytes > options->longest)
        return bytes < options->shortest ? "too short" : "too long";
    const char *text = whole(&corpus->row, sample);
    return cot_secret_in(text) ? "a secret in it" : cot_languages_refuse(corpus->languages, text, strlen(text));
}

/* Why a text of this loss, NaN where there is none, is too improbable; NULL: it is not. */
static const char *improbable(struct corpus *corpus, double loss)
{
    if (isnan(loss))
        return "no perplexity";
    ARRAY_ADD(&corpus->arena, corpus->perplexities, corpus->perplexity_count, corpus->perplexity_capacity, exp(loss));
    return exp(loss) > corpus->options->most_perplexity ? "a larger perplexity" : NULL;
}

/* Keeps those samples of the piece that are probable enough and no near duplicates, in this order: what is dropped makes no other a duplicate. */
static void sift(struct corpus *corpus)
{
    struct cot_block *block = &corpus->block;
    const int count = (int)block->sample_count;
    struct arena arena = {0};
    const char **texts = arena_alloc(&arena, sizeof *texts * (size_t)(count + 1));
    double *losses = arena_alloc(&arena, sizeof *losses * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        texts[i] = whole(&arena, &block->samples[i]);
    if (corpus->likelihood)
        lm_likelihood_of(corpus->likelihood, texts, count, losses);
    block->sample_count = 0;
    for (int i = 0; i < count; i++) {
        const char *reason = corpus->likelihood ? improbable(corpus, losses[i]) : NULL;
        if (!reason) {
            struct minhash hash = minhash_of(texts[i], strlen(texts[i]));
            if (minhash_index_add(corpus->index, &hash, corpus->options->similar) >= 0)
                reason = "near duplicate";
        }
        if (reason)
            drop(corpus, reason);
        else
            block->samples[block->sample_count++] = block->samples[i];
    }
    arena_free(&arena);
}

/* What a row holds; in UTF-8, NULL or empty where there is nothing. */
struct row {
    const char *texts[FIELDS];
    struct cot_turn *turns; /* of the conversation */
    int turn_count;
};

static bool is_some(const char *text)
{
    return text && *text;
}

static const char *corpus_copy(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

/* Moves a sample from the row into the piece, which holds nothing of rows that were dropped: a row may have megabytes. */
static void corpus_keep(struct corpus *corpus, struct cot_sample sample)
{
    struct arena *arena = &corpus->block.arena;
    corpus->block_bytes += (int64_t)(length_of(sample.question) + length_of(sample.chain) + length_of(sample.answer));
    sample.question = corpus_copy(arena, sample.question);
    sample.chain = corpus_copy(arena, sample.chain);
    sample.answer = corpus_copy(arena, sample.answer);
    sample.licence = corpus_copy(arena, sample.licence);
    cot_block_add(&corpus->block, &sample);
}

static void take_row(struct corpus *corpus, struct row *row)
{
    struct arena *arena = &corpus->row;
    const char **texts = row->texts, *normals[FIELDS] = {0};
    if (is_some(texts[INPUT]) && !corpus->options->fields[COT_QUESTION])
        texts[COT_QUESTION] = is_some(texts[COT_QUESTION])
                                  ? arena_printf(arena, "%s\n\n%s", texts[COT_QUESTION], texts[INPUT])
                                  : texts[INPUT];
    if (!is_some(texts[COT_QUESTION]) || !is_some(texts[COT_ANSWER]))
        cot_turns_split(arena, row->turns, row->turn_count, &texts[COT_QUESTION], &texts[COT_ANSWER]);
    for (int i = 0; i < FIELDS; i++)
        if (is_some(texts[i]))
            normals[i] = normal(arena, texts[i]);
    const struct cot_sample sample = {.part = COT_GENERAL,
                                      .mode = COT_TEXT,
                                      .question = normals[COT_QUESTION],
                                      .chain = normals[COT_CHAIN],
                                      .answer = normals[COT_ANSWER],
                                      .licence = normals[LICENCE] ? normals[LICENCE] : corpus->options->licence,
                                      .provenance = corpus->path};
    const char *reason = refuse(corpus, &sample);
    if (reason)
        drop(corpus, reason);
    else
        corpus_keep(corpus, sample);
}

/* The next piece of the file: its name as a source, and whether it is in. */
static struct akgen_error *begin_piece(struct corpus *corpus, char source[4700], bool *done)
{
    snprintf(source, 4700, "%s, piece %lld", corpus->read_as, (long long)corpus->piece++);
    return cot_store_done(corpus->store, "corpus", source, done);
}

/* Puts in what is pending. */
static struct akgen_error *flush(struct corpus *corpus)
{
    struct cot_batch batches[MOST_PENDING];
    struct cot_put puts[MOST_PENDING];
    for (int i = 0; i < corpus->pending_count; i++)
        batches[i] = cot_block_batch(&corpus->pending[i], "corpus");
    struct akgen_error *error = cot_store_put_all(corpus->store, batches, corpus->pending_count, puts);
    for (int i = 0; i < corpus->pending_count; i++) {
        corpus->counts->added += error ? 0 : puts[i].added;
        corpus->counts->dropped += error ? 0 : puts[i].repeated;
        arena_free(&corpus->pending[i].arena);
    }
    corpus->pending_count = 0;
    corpus->pending_rows = corpus->pending_bytes = 0;
    return error;
}

/* The piece is whole. It enters with others that are as small, also in what was sifted out. */
static struct akgen_error *finish_piece(struct corpus *corpus, const char *source)
{
    sift(corpus);
    corpus->block.source = arena_strdup(&corpus->block.arena, source);
    corpus->pending_rows += corpus->block.sample_count;
    corpus->pending_bytes += corpus->block_bytes;
    corpus->pending[corpus->pending_count++] = corpus->block;
    corpus->block = (struct cot_block){0};
    corpus->block_bytes = 0;
    return corpus->pending_count == MOST_PENDING || corpus->pending_rows >= LINES ||
                   corpus->pending_bytes >= MOST_PENDING_BYTES
               ? flush(corpus)
               : NULL;
}

/* ---- JSONL */

/* What is at "a.b" of an object; NULL: nothing. */
static const json_t *at_path(const json_t *object, const char *path)
{
    const json_t *value = json_object_get(object, path);
    const char *dot = strchr(path, '.');
    if (value || !dot)
        return value;
    return at_path(json_object_getn(object, path, (size_t)(dot - path)), dot + 1);
}

/* A list's turns, in the arena; the texts lie in the list. */
static int turns_of(struct arena *arena, const json_t *list, struct cot_turn **turns)
{
    const int count = (int)json_array_size(list);
    *turns = arena_alloc(arena, sizeof **turns * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        for (int n = 0; n < TURN_NAMES && !(*turns)[i].text; n++) {
            const json_t *turn = json_array_get(list, (size_t)i);
            (*turns)[i] = (struct cot_turn){json_string_value(json_object_get(turn, turn_names[n].role)),
                                            json_string_value(json_object_get(turn, turn_names[n].text))};
        }
    return count;
}

/* A field that is a list of turns, into the row: the first such conversation, or a text of any other. */
static void take_turns(struct corpus *corpus, int field, struct cot_turn *turns, int count, struct row *row)
{
    if (field != COT_CONVERSATION) {
        row->texts[field] = cot_turns_text(&corpus->row, turns, count);
    } else if (!row->turn_count) {
        row->turns = turns;
        row->turn_count = count;
    }
}

/* A field's value, into the row. */
static void take_value(struct corpus *corpus, const json_t *value, int field, struct row *row)
{
    struct cot_turn *turns;
    if (json_is_array(value)) {
        const int count = turns_of(&corpus->row, value, &turns);
        take_turns(corpus, field, turns, count, row);
    } else if (field != COT_CONVERSATION) {
        row->texts[field] = json_string_value(value);
    }
}

static void take_line(struct corpus *corpus, const char *line, size_t length)
{
    struct row row = {0};
    if (!text_is_utf8(line)) {
        drop(corpus, "no UTF-8");
        return;
    }
    json_t *object = jsons_read(line, length, 0, NULL);
    const char *name;
    for (int i = 0; i < FIELDS; i++)
        for (int n = 0; (name = name_of(corpus, i, n)) && !is_some(row.texts[i]); n++)
            take_value(corpus, at_path(object, name), i, &row);
    if (json_is_object(object))
        take_row(corpus, &row);
    else
        drop(corpus, "no JSON object");
    json_decref(object);
    arena_free(&corpus->row);
}

static struct akgen_error *read_lines(struct corpus *corpus, FILE *in)
{
    struct text line = {0};
    struct akgen_error *error = NULL;
    bool more = true, too_long;
    while (more && !error) {
        char source[4700];
        bool done = true;
        error = begin_piece(corpus, source, &done);
        for (int i = 0; !error && i < LINES && (more = lines_next(in, LONGEST_LINE, &line, &too_long)); i++) {
            corpus->counts->rows++;
            corpus->counts->bytes += (int64_t)line.length;
            if (done)
                continue;
            if (too_long)
                drop(corpus, "a line of more than 4 MiB");
            else if (line.length && memchr(line.bytes, 0, line.length))
                drop(corpus, "binary");
            else if (line.length)
                take_line(corpus, line.bytes, line.length);
        }
        if (!error && !done)
            error = finish_piece(corpus, source);
    }
    text_free(&line);
    return error;
}

/* ---- Parquet */

/* What a row group has for a name: a column of texts, or two of the turns in each row, whose lists are as long. */
struct field {
    struct cot_column text, roles, said;
};
struct columns {
    struct field of[FIELDS][MOST_NAMES];
};

static struct akgen_error *read_field(struct arena *arena, struct cot_parquet_file *file, int group, const char *name,
                                      struct field *field)
{
    const size_t bytes = sizeof *field->said.starts * (size_t)(cot_parquet_group_rows(file, group) + 1);
    struct akgen_error *error = cot_parquet_column(arena, file, group, name, &field->text);
    if (field->text.starts)
        field->text = (struct cot_column){0};
    for (int n = 0; n < TURN_NAMES && !error && !field->text.cells && !field->said.cells; n++) {
        const char *role = arena_printf(arena, "%s.%s", name, turn_names[n].role),
                   *text = arena_printf(arena, "%s.%s", name, turn_names[n].text);
        error = cot_parquet_column(arena, file, group, role, &field->roles);
        if (!error)
            error = cot_parquet_column(arena, file, group, text, &field->said);
        if (error || !field->roles.starts || !field->said.starts ||
            memcmp(field->roles.starts, field->said.starts, bytes) != 0)
            field->roles = field->said = (struct cot_column){0};
    }
    return error;
}

static struct akgen_error *read_columns(const struct corpus *corpus, struct arena *arena, struct cot_parquet_file *file,
                                        int group, struct columns *columns)
{
    struct akgen_error *error = NULL;
    const char *name;
    *columns = (struct columns){0};
    for (int i = 0; i < FIELDS; i++)
        for (int n = 0; (name = name_of(corpus, i, n)) && !error; n++)
            error = read_field(arena, file, group, name, &columns->of[i][n]);
    return error;
}

/* A cell's text in the arena, NULL if it has none; *reason: why the row is dropped. */
static const char *text_of(struct corpus *corpus, const struct cot_cell *cell, const char **reason)
{
    if (!cell->text || !cell->length)
        return NULL;
    corpus->counts->bytes += (int64_t)cell->length;
    if (cell->length > LONGEST_LINE)
        *reason = "a text of more than 4 MiB";
    else if (memchr(cell->text, 0, cell->length))
        *reason = "binary";
    const char *text = *reason ? "" : arena_strndup(&corpus->row, cell->text, cell->length);
    if (!text_is_utf8(text))
        *reason = "no UTF-8";
    return *reason ? NULL : text;
}

/* A field of a row, into `taken`. */
static void take_field(struct corpus *corpus, const struct field *field, int64_t row, int which, struct row *taken,
                       const char **reason)
{
    struct arena *arena = &corpus->row;
    if (field->text.cells)
        taken->texts[which] = text_of(corpus, &field->text.cells[row], reason);
    if (!field->said.cells)
        return;
    const int64_t first = field->said.starts[row];
    const int count = (int)(field->said.starts[row + 1] - first);
    struct cot_turn *turns = arena_alloc(arena, sizeof *turns * (size_t)(count + 1));
    for (int i = 0; i < count && !*reason; i++)
        turns[i] = (struct cot_turn){text_of(corpus, &field->roles.cells[first + i], reason),
                                     text_of(corpus, &field->said.cells[first + i], reason)};
    if (!*reason)
        take_turns(corpus, which, turns, count, taken);
}

static void take_cells(struct corpus *corpus, const struct columns *columns, int64_t row)
{
    struct row taken = {0};
    const char *reason = NULL;
    for (int i = 0; i < FIELDS; i++)
        for (int n = 0; n < MOST_NAMES && !taken.texts[i] && !reason; n++)
            take_field(corpus, &columns->of[i][n], row, i, &taken, &reason);
    if (reason)
        drop(corpus, reason);
    else
        take_row(corpus, &taken);
    arena_free(&corpus->row);
}

static struct akgen_error *read_group(struct corpus *corpus, struct cot_parquet_file *file, int group)
{
    struct arena arena = {0};
    struct columns columns;
    const char *reason = NULL;
    const int64_t rows = cot_parquet_group_rows(file, group);
    struct akgen_error *error = NULL, *unfit = read_columns(corpus, &arena, file, group, &columns);
    if (unfit)
        reason = arena_strdup(&arena, unfit->message);
    error_free(unfit);
    for (int64_t row = 0; row < (reason ? 1 : rows) && !error;) {
        char source[4700];
        bool done = true;
        error = begin_piece(corpus, source, &done);
        if (!error && reason && !done)
            drop(corpus, arena_strdup(&corpus->block.arena, reason));
        int64_t end = reason ? 1 : row + LINES < rows ? row + LINES : rows;
        corpus->counts->rows += reason ? 0 : end - row;
        for (; row < end && !error; row++)
            if (!reason && !done)
                take_cells(corpus, &columns, row);
        if (!error && !done)
            error = finish_piece(corpus, source);
    }
    arena_free(&arena);
    return error;
}

static struct akgen_error *read_table(struct corpus *corpus, int fd)
{
    struct arena arena = {0};
    struct cot_parquet_file *file;
    struct akgen_error *unfit = cot_parquet_open(&arena, fd, &file), *error = NULL;
    if (unfit) {
        char source[4700];
        bool done = true;
        error = begin_piece(corpus, source, &done);
        if (!error && !done) {
            drop(corpus, arena_strdup(&corpus->block.arena, unfit->message));
            error = finish_piece(corpus, source);
        }
        error_free(unfit);
    }
    for (int g = 0; !unfit && !error && g < cot_parquet_groups(file); g++)
        error = read_group(corpus, file, g);
    arena_free(&arena);
    return error;
}

/* ---- Files */

static bool has_end(const char *path, const char *end)
{
    size_t length = strlen(path);
    return length > strlen(end) && strcasecmp(path + length - strlen(end), end) == 0;
}

/* A digest of the content, and what else decides on what becomes of it. The stream is at its beginning again. NULL: it cannot be read. */
static const char *read_as(struct arena *arena, const struct corpus *corpus, FILE *in)
{
    enum { SOME = 1 << 16 };
    const struct cot_corpus_options *options = corpus->options;
    struct digest *digest = digest_new();
    char *bytes = arena_alloc(arena, SOME);
    for (size_t some = SOME; some == SOME;) {
        some = fread(bytes, 1, SOME, in);
        digest_bytes(digest, bytes, some);
    }
    const char *content = digest_finish(digest, arena);
    if (ferror(in) || fseek(in, 0, SEEK_SET))
        return NULL;
    const char *as = arena_printf(arena, "%s (%s), %lld to %lld bytes, similarity %g%s%s", corpus->path, content,
                                  (long long)options->shortest, (long long)options->longest, options->similar,
                                  options->languages ? ", " : "", options->languages ? options->languages : "");
    for (int i = 0; i < COT_FIELDS; i++)
        if (options->fields[i])
            as = arena_printf(arena, "%s, %s for %s", as, options->fields[i], usual[i][0]);
    if (corpus->likelihood)
        as = arena_printf(arena, "%s, perplexity at most %g to %s", as, options->most_perplexity,
                          lm_likelihood_model(corpus->likelihood));
    return as;
}

/* Counts a file that cannot be read, once. */
static struct akgen_error *refuse_file(struct corpus *corpus, const char *reason)
{
    bool done = true;
    struct arena arena = {0};
    const char *source = arena_printf(&arena, "%s, %s", corpus->path, reason);
    struct akgen_error *error = cot_store_done(corpus->store, "corpus", source, &done);
    if (!error && !done) {
        drop(corpus, reason);
        error = finish_piece(corpus, source);
    }
    arena_free(&arena);
    return error;
}

static struct akgen_error *read_file(struct corpus *corpus, const struct cot_file *file)
{
    struct arena arena = {0};
    struct stat status;
    int fd = -1;
    struct akgen_error *error = file->reason ? NULL : files_open(file->path, FILES_FOLLOW_LINKS, &fd, &status);
    FILE *in = file->reason || error ? NULL : fdopen(fd, "r");
    corpus->path = file->path;
    corpus->piece = 0;
    corpus->counts->files++;
    error_free(error);
    if (!in || !(corpus->read_as = read_as(&arena, corpus, in)))
        error = refuse_file(corpus, file->reason ? file->reason : "a file that cannot be read");
    else
        error = has_end(file->path, ".parquet") ? read_table(corpus, fd) : read_lines(corpus, in);
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    arena_free(&arena);
    return error;
}

static struct akgen_error *remember(void *closure, const struct cot_sample *sample)
{
    struct corpus *corpus = closure;
    struct arena arena = {0};
    const char *text = whole(&arena, sample);
    struct minhash hash = minhash_of(text, strlen(text));
    minhash_index_add(corpus->index, &hash, 2); /* all of them */
    arena_free(&arena);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static void tell_perplexities(struct corpus *corpus)
{
    static const double shares[] = {0.05, 0.5, 0.95};
    corpus->counts->measured = corpus->perplexity_count;
    if (!corpus->perplexity_count)
        return;
    qsort(corpus->perplexities, (size_t)corpus->perplexity_count, sizeof *corpus->perplexities, by_size);
    for (int i = 0; i < 3; i++)
        corpus->counts->perplexity[i] = corpus->perplexities[(int)(shares[i] * (corpus->perplexity_count - 1))];
}

struct akgen_error *cot_corpus(struct store *store, const char *path, const struct cot_corpus_options *options,
                               struct cot_corpus_counts *counts)
{
    static const char *const ends[] = {".jsonl", ".parquet", NULL};
    struct corpus corpus = {.store = store, .options = options, .counts = counts, .index = minhash_index_new()};
    struct arena arena = {0};
    struct cot_file *files;
    size_t count = 0;
    struct akgen_error *error = cot_languages_read(&arena, options->languages, &corpus.languages);
    if (!error && options->model)
        error = lm_likelihood_new(options->model, TOKENS_READ, 0, &corpus.likelihood);
    if (!error)
        error = cot_walk(&arena, path, ends, &files, &count);
    if (!error)
        error = cot_store_each(store, &(struct cot_filter){.parts = 1u << COT_GENERAL}, remember, &corpus);
    for (size_t i = 0; i < count && !error; i++)
        error = read_file(&corpus, &files[i]);
    if (!error)
        error = flush(&corpus);
    for (int i = 0; i < corpus.pending_count; i++)
        arena_free(&corpus.pending[i].arena);
    tell_perplexities(&corpus);
    minhash_index_free(corpus.index);
    lm_likelihood_free(corpus.likelihood);
    arena_free(&corpus.arena);
    arena_free(&corpus.block.arena);
    arena_free(&arena);
    return error;
}
