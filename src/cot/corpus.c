/* From rows to samples. A file is read in pieces of LINES rows, each a source of the store: a killed run goes on behind the last that is
 * in. What was taken before is put into the index of near duplicates first, so that it goes on as it would have. */
#include "cot/corpus.h"
#include "base/array.h"
#include "base/digest.h"
#include "base/text.h"
#include "cot/language.h"
#include "cot/minhash.h"
#include "cot/parquet_read.h"
#include "cot/step.h"
#include "cot/walk.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utf8proc.h>

enum { LINES = 2000, LONGEST_LINE = 4 << 20, MOST_PENDING = 256 };

/* What a row has, and the names of the fields that may hold it: the first that is a text does. */
enum { QUESTION, CHAIN, ANSWER, LICENCE, FIELDS, MOST_NAMES = 6 };
static const char *const names[FIELDS][MOST_NAMES] = {
    [QUESTION] = {"question", "prompt", "instruction", "problem", "query"},
    [CHAIN] = {"chain", "reasoning", "thinking", "reasoning_content"},
    [ANSWER] = {"answer", "response", "output", "completion", "solution"},
    [LICENCE] = {"licence", "license"},
};

struct corpus {
    struct cot_store *store;
    const struct cot_corpus_options *options;
    const struct cot_languages *languages;
    struct cot_corpus_counts *counts;
    struct minhash_index *index;
    struct cot_block block;                 /* of the piece */
    struct cot_block pending[MOST_PENDING]; /* pieces that are whole and not in yet */
    int64_t pending_rows;
    int pending_count;
    const char *path, *read_as; /* the file, with a digest of its content and the options */
    int64_t piece;
};

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

/* Why a sample is not taken; NULL: it is. */
static const char *refuse(struct corpus *corpus, const struct cot_sample *sample)
{
    const struct cot_corpus_options *options = corpus->options;
    if (!sample->question || !sample->answer)
        return "no question and answer";
    int64_t bytes = (int64_t)(length_of(sample->question) + length_of(sample->chain) + length_of(sample->answer));
    if (bytes < options->shortest || bytes > options->longest)
        return bytes < options->shortest ? "too short" : "too long";
    const char *text = whole(&corpus->block.arena, sample), *reason;
    if (cot_secret_in(text))
        return "a secret in it";
    if ((reason = cot_languages_refuse(corpus->languages, text, strlen(text))))
        return reason;
    struct minhash hash = minhash_of(text, strlen(text));
    return minhash_index_add(corpus->index, &hash, options->similar) >= 0 ? "near duplicate" : NULL;
}

/* A row; `texts` are in UTF-8, NULL where it has none. */
static void take_row(struct corpus *corpus, const char *const texts[FIELDS])
{
    struct arena *arena = &corpus->block.arena;
    const char *normals[FIELDS] = {0};
    for (int i = 0; i < FIELDS; i++)
        if (texts[i] && *texts[i])
            normals[i] = normal(arena, texts[i]);
    const struct cot_sample sample = {.part = COT_GENERAL,
                                      .mode = COT_TEXT,
                                      .question = normals[QUESTION],
                                      .chain = normals[CHAIN],
                                      .answer = normals[ANSWER],
                                      .licence = normals[LICENCE] ? normals[LICENCE] : corpus->options->licence,
                                      .provenance = corpus->path};
    const char *reason = refuse(corpus, &sample);
    if (reason)
        drop(corpus, reason);
    else
        cot_block_add(&corpus->block, &sample);
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
    for (int i = 0; i < corpus->pending_count; i++) {
        const struct cot_block *block = &corpus->pending[i];
        batches[i] = (struct cot_batch){.step = "corpus",
                                        .source = block->source,
                                        .samples = block->samples,
                                        .count = block->sample_count,
                                        .drops = block->drops,
                                        .drop_count = block->drop_count};
    }
    struct akgen_error *error = cot_store_put_all(corpus->store, batches, corpus->pending_count, puts);
    for (int i = 0; i < corpus->pending_count; i++) {
        corpus->counts->added += error ? 0 : puts[i].added;
        corpus->counts->dropped += error ? 0 : puts[i].repeated;
        arena_free(&corpus->pending[i].arena);
    }
    corpus->pending_count = 0;
    corpus->pending_rows = 0;
    return error;
}

/* The piece is whole. It enters with others that are as small. */
static struct akgen_error *finish_piece(struct corpus *corpus, const char *source)
{
    corpus->block.source = arena_strdup(&corpus->block.arena, source);
    corpus->pending_rows += corpus->block.sample_count;
    corpus->pending[corpus->pending_count++] = corpus->block;
    corpus->block = (struct cot_block){0};
    return corpus->pending_count == MOST_PENDING || corpus->pending_rows >= LINES ? flush(corpus) : NULL;
}

/* ---- JSONL */

/* The next line without its end, and whether there was one. What is longer than LONGEST_LINE is read over: `too_long`. */
static bool next_line(FILE *in, struct text *line, bool *too_long)
{
    int c = getc_unlocked(in);
    *too_long = false;
    line->length = 0;
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(in))
        if (line->length < LONGEST_LINE)
            text_append(line, &(char){(char)c}, 1);
        else
            *too_long = true;
    return true;
}

static bool is_utf8(const char *bytes, size_t length)
{
    return utf8proc_decompose((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)length, NULL, 0, UTF8PROC_STABLE) >= 0;
}

static void take_line(struct corpus *corpus, const char *line, size_t length)
{
    const char *texts[FIELDS] = {0};
    if (!is_utf8(line, length)) {
        drop(corpus, "no UTF-8");
        return;
    }
    json_t *row = json_loadb(line, length, 0, NULL);
    for (int i = 0; i < FIELDS; i++)
        for (int n = 0; names[i][n] && !(texts[i] && *texts[i]); n++)
            texts[i] = json_string_value(json_object_get(row, names[i][n]));
    if (json_is_object(row))
        take_row(corpus, texts);
    else
        drop(corpus, "no JSON object");
    json_decref(row);
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
        for (int i = 0; !error && i < LINES && (more = next_line(in, &line, &too_long)); i++) {
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

/* The columns of a row group; NULL where the file has none of that name. */
struct columns {
    const struct cot_cell *cells[FIELDS][MOST_NAMES];
};

static struct akgen_error *read_columns(struct arena *arena, struct cot_parquet_file *file, int group,
                                        struct columns *columns)
{
    struct akgen_error *error = NULL;
    *columns = (struct columns){0};
    for (int i = 0; i < FIELDS; i++)
        for (int n = 0; names[i][n] && !error; n++)
            error = cot_parquet_cells(arena, file, group, names[i][n], &columns->cells[i][n]);
    return error;
}

static void take_cells(struct corpus *corpus, const struct columns *columns, int64_t row)
{
    const char *texts[FIELDS] = {0}, *reason = NULL;
    for (int i = 0; i < FIELDS; i++)
        for (int n = 0; names[i][n] && !texts[i]; n++) {
            const struct cot_cell *cell = columns->cells[i][n] ? &columns->cells[i][n][row] : NULL;
            if (!cell || !cell->text || !cell->length)
                continue;
            corpus->counts->bytes += (int64_t)cell->length;
            if (cell->length > LONGEST_LINE)
                reason = "a text of more than 4 MiB";
            else if (memchr(cell->text, 0, cell->length))
                reason = "binary";
            else if (!is_utf8(cell->text, cell->length))
                reason = "no UTF-8";
            texts[i] = reason ? "" : arena_strndup(&corpus->block.arena, cell->text, cell->length);
        }
    if (reason)
        drop(corpus, reason);
    else
        take_row(corpus, texts);
}

static struct akgen_error *read_group(struct corpus *corpus, struct cot_parquet_file *file, int group)
{
    struct arena arena = {0};
    struct columns columns;
    const char *reason = NULL;
    const int64_t rows = cot_parquet_group_rows(file, group);
    struct akgen_error *error = NULL, *unfit = read_columns(&arena, file, group, &columns);
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
    return arena_printf(arena, "%s (%s), %lld to %lld bytes, similarity %g%s%s", corpus->path, content,
                        (long long)options->shortest, (long long)options->longest, options->similar,
                        options->languages ? ", " : "", options->languages ? options->languages : "");
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
    int fd = file->reason ? -1 : open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    struct akgen_error *error;
    corpus->path = file->path;
    corpus->piece = 0;
    corpus->counts->files++;
    if (!in || fstat(fd, &status) || !S_ISREG(status.st_mode) || !(corpus->read_as = read_as(&arena, corpus, in)))
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

struct akgen_error *cot_corpus(struct cot_store *store, const char *path, const struct cot_corpus_options *options,
                               struct cot_corpus_counts *counts)
{
    static const char *const ends[] = {".jsonl", ".parquet", NULL};
    struct corpus corpus = {.store = store, .options = options, .counts = counts, .index = minhash_index_new()};
    struct arena arena = {0};
    struct cot_file *files;
    size_t count = 0;
    struct akgen_error *error = cot_languages_read(&arena, options->languages, &corpus.languages);
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
    minhash_index_free(corpus.index);
    arena_free(&corpus.block.arena);
    arena_free(&arena);
    return error;
}
