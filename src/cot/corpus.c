/* From lines of JSON to samples. A file is read in pieces of LINES lines, each a source of the store: a killed run goes on behind the last that is
 * in. What was taken before is put into the index of near duplicates first, so that it goes on as it would have. */
#include "cot/corpus.h"
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "cot/minhash.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utf8proc.h>

enum { LINES = 2000, LONGEST_LINE = 4 << 20, MOST_REASONS = 16 };

struct corpus {
    struct cot_store *store;
    const struct cot_corpus_options *options;
    struct cot_corpus_counts *counts;
    struct minhash_index *index;
    struct arena arena; /* of the piece */
    const char *path;
    struct cot_sample *samples;
    int64_t count, capacity;
    struct cot_drop drops[MOST_REASONS];
    int drop_count;
};

static void drop(struct corpus *corpus, const char *reason)
{
    int at = 0;
    while (at < corpus->drop_count && strcmp(corpus->drops[at].reason, reason) != 0)
        at++;
    if (at == MOST_REASONS)
        abort(); /* a reason more than there is room for is a mistake of this file */
    if (at == corpus->drop_count)
        corpus->drops[corpus->drop_count++] = (struct cot_drop){.reason = reason};
    corpus->drops[at].count++;
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

/* The first of these fields that is a text, normalised; NULL: none is. */
static const char *field(struct arena *arena, const json_t *row, const char *const *names)
{
    for (; *names; names++) {
        const char *text = json_string_value(json_object_get(row, *names));
        if (text && *text)
            return normal(arena, text);
    }
    return NULL;
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
    const char *text = whole(&corpus->arena, sample);
    if (cot_secret_in(text))
        return "a secret in it";
    struct minhash hash = minhash_of(text, strlen(text));
    return minhash_index_add(corpus->index, &hash, options->similar) >= 0 ? "near duplicate" : NULL;
}

static void take_line(struct corpus *corpus, const char *line, size_t length)
{
    static const char *const questions[] = {"question", "prompt", "instruction", "problem", "query", NULL};
    static const char *const chains[] = {"chain", "reasoning", "thinking", "reasoning_content", NULL};
    static const char *const answers[] = {"answer", "response", "output", "completion", "solution", NULL};
    static const char *const licences[] = {"licence", "license", NULL};
    struct arena *arena = &corpus->arena;
    if (utf8proc_decompose((const utf8proc_uint8_t *)line, (utf8proc_ssize_t)length, NULL, 0, UTF8PROC_STABLE) < 0) {
        drop(corpus, "no UTF-8");
        return;
    }
    json_t *row = json_loadb(line, length, 0, NULL);
    if (!json_is_object(row)) {
        drop(corpus, "no JSON object");
        json_decref(row);
        return;
    }
    struct cot_sample sample = {.part = COT_GENERAL,
                                .mode = COT_TEXT,
                                .question = field(arena, row, questions),
                                .chain = field(arena, row, chains),
                                .answer = field(arena, row, answers),
                                .licence = field(arena, row, licences),
                                .provenance = corpus->path};
    if (!sample.licence)
        sample.licence = corpus->options->licence;
    json_decref(row);
    const char *reason = refuse(corpus, &sample);
    if (reason)
        drop(corpus, reason);
    else
        ARRAY_ADD(arena, corpus->samples, corpus->count, corpus->capacity, sample);
}

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

static struct akgen_error *finish_piece(struct corpus *corpus, const char *source)
{
    struct cot_put put = {0};
    struct akgen_error *error = cot_store_put(corpus->store,
                                              &(struct cot_batch){.step = "corpus",
                                                                  .source = source,
                                                                  .samples = corpus->samples,
                                                                  .count = corpus->count,
                                                                  .drops = corpus->drops,
                                                                  .drop_count = corpus->drop_count},
                                              &put);
    corpus->counts->added += put.added;
    corpus->counts->dropped += put.repeated;
    corpus->samples = NULL;
    corpus->count = corpus->capacity = corpus->drop_count = 0;
    arena_free(&corpus->arena);
    return error;
}

static struct akgen_error *read_file(struct corpus *corpus, const char *path)
{
    struct stat status;
    FILE *in = fopen(path, "re");
    struct text line = {0};
    struct akgen_error *error = NULL;
    bool more = true, too_long;
    corpus->path = path;
    corpus->counts->files++;
    if (!in || fstat(fileno(in), &status) || !S_ISREG(status.st_mode)) {
        if (in)
            fclose(in);
        drop(corpus, "a file that cannot be read");
        return finish_piece(corpus, path);
    }
    for (int64_t piece = 0; more && !error; piece++) {
        char source[4400];
        bool done;
        snprintf(source, sizeof source, "%s (%lld bytes), piece %lld", path, (long long)status.st_size,
                 (long long)piece);
        error = cot_store_done(corpus->store, "corpus", source, &done);
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
    fclose(in);
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

static bool is_jsonl(const char *path)
{
    size_t length = strlen(path);
    return length > 6 && strcmp(path + length - 6, ".jsonl") == 0;
}

struct akgen_error *cot_corpus(struct cot_store *store, const char *path, const struct cot_corpus_options *options,
                               struct cot_corpus_counts *counts)
{
    struct corpus corpus = {.store = store, .options = options, .counts = counts, .index = minhash_index_new()};
    struct arena arena = {0};
    struct stat status;
    const char **files = NULL;
    size_t count = 0;
    struct akgen_error *error = stat(path, &status) ? error_new("%s: %m", path) : NULL;
    if (!error)
        error = cot_store_each(store, &(struct cot_filter){.parts = 1u << COT_GENERAL}, remember, &corpus);
    if (!error && S_ISDIR(status.st_mode))
        error = files_list(&arena, path, &files, &count);
    else if (!error)
        error = read_file(&corpus, path);
    for (size_t i = 0; !error && i < count; i++)
        if (is_jsonl(files[i]))
            error = read_file(&corpus, arena_printf(&arena, "%s/%s", path, files[i]));
    minhash_index_free(corpus.index);
    arena_free(&corpus.arena);
    arena_free(&arena);
    return error;
}
