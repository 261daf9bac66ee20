/* Samples to train on, in the database: added in transactions, and the words of their columns. What is asked of it: cot_store_query.c. */
#include "runs/cot_store.h"
#include "base/digest.h"
#include "runs/store_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A percentage each of operators (or of samples without one) are kept from training. */
enum { PERCENT_VALID = 2, PERCENT_TEST = 2 };

const struct words cot_parts = WORDS(COT_PARTS), cot_modes = WORDS(COT_MODES), cot_splits = WORDS(COT_SPLITS);

struct akgen_error *cot_store_done(struct store *store, const char *step, const char *source, bool *done)
{
    static const char sql[] = "SELECT EXISTS (SELECT 1 FROM done WHERE step = ? AND source = ?)";
    int64_t found = store_number(store, -1, sql, "ss", step, source);
    *done = found == 1;
    return found < 0 ? store_error(store) : NULL;
}

/* What is wrong with a verdict or with tags; NULL: nothing. */
static const char *wrong_json(const char *text, bool tags)
{
    json_t *json = text ? json_loads(text, 0, NULL) : NULL, *item;
    const char *wrong = NULL;
    size_t i;
    if (text && tags && !json_is_array(json))
        wrong = "tags are no JSON array of strings";
    json_array_foreach(json, i, item)
    {
        if (tags && !json_is_string(item))
            wrong = "tags are no JSON array of strings";
    }
    if (text && !tags && !json_is_string(json_object_get(json, "verdict")))
        wrong = "the verdict is no JSON object with a text 'verdict'";
    json_decref(json);
    return wrong;
}

/* Whether jansson, and with it every reader of the exports, takes it. */
static bool is_text(const char *text)
{
    json_t *json = text ? json_string(text) : NULL;
    bool right = json || !text;
    json_decref(json);
    return right;
}

static struct akgen_error *check(const struct cot_sample *sample)
{
    const char *const texts[] = {sample->question,   sample->chain,   sample->answer,
                                 sample->provenance, sample->licence, sample->graph};
    const char *wrong = !sample->question || !*sample->question ? "it has no question"
                        : !sample->answer || !*sample->answer   ? "it has no answer"
                        : !sample->provenance                   ? "it does not say where it comes from"
                                                                : NULL;
    for (size_t i = 0; !wrong && i < sizeof texts / sizeof *texts; i++)
        if (!is_text(texts[i]))
            wrong = "a text is no UTF-8";
    if (!wrong)
        wrong = wrong_json(sample->verdict, false);
    if (!wrong)
        wrong = wrong_json(sample->tags, true);
    return wrong ? error_new("a sample of part %s cannot be stored: %s", cot_parts.of[sample->part], wrong) : NULL;
}

/* The id that the sample has in the store; in the arena. */
static const char *id_of(struct arena *arena, const struct cot_sample *sample)
{
    struct digest *digest = digest_new();
    digest_string(digest, cot_parts.of[sample->part]);
    digest_string(digest, sample->question);
    digest_string(digest, sample->answer);
    return digest_finish(digest, arena);
}

/* The split of what has this key, the same for ever. */
static enum cot_split split_of(const char *key)
{
    struct arena arena = {0};
    struct digest *digest = digest_new();
    digest_string(digest, "split");
    digest_string(digest, key);
    const char *hexadecimal = arena_strndup(&arena, digest_finish(digest, &arena), 12);
    int percent = (int)(strtoull(hexadecimal, NULL, 16) % 100);
    arena_free(&arena);
    return percent < PERCENT_TEST ? COT_TEST : percent < PERCENT_TEST + PERCENT_VALID ? COT_VALID : COT_TRAIN;
}

static int64_t length(const char *text)
{
    return text ? (int64_t)strlen(text) : 0;
}

/* Inserts the samples; those that are there already are counted. */
static struct akgen_error *insert(struct store *store, const struct cot_batch *batch, struct cot_put *put)
{
    struct akgen_error *error = NULL;
    struct arena arena = {0};
    for (int64_t i = 0; !error && i < batch->count; i++) {
        const struct cot_sample *sample = &batch->samples[i];
        const char *id = id_of(&arena, sample);
        error = store_run(
            store,
            "INSERT OR IGNORE INTO samples (id, part, mode, question, chain, answer, verdict, provenance, licence,"
            " graph, split, bytes, tags, step, source) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            "sssssssssssisss", id, cot_parts.of[sample->part], cot_modes.of[sample->mode], sample->question,
            sample->chain, sample->answer, sample->verdict, sample->provenance,
            sample->licence ? sample->licence : COT_NO_LICENCE, sample->graph,
            cot_splits.of[split_of(sample->graph ? sample->graph : id)],
            length(sample->question) + length(sample->chain) + length(sample->answer), sample->tags, batch->step,
            batch->source);
        const bool added = !error && sqlite3_changes(store->db);
        put->added += added;
        put->repeated += !added;
        if (added && store->has_words)
            error = store_run(store, "INSERT INTO words (rowid, question, chain, answer) VALUES (?,?,?,?)", "isss",
                              (int64_t)sqlite3_last_insert_rowid(store->db), sample->question, sample->chain,
                              sample->answer);
        arena_free(&arena);
    }
    return error;
}

static struct akgen_error *insert_drop(struct store *store, const struct cot_batch *batch, const struct cot_drop *drop)
{
    if (!drop->count)
        return NULL;
    return store_run(store,
                     "INSERT INTO dropped (step, source, reason, count) VALUES (?,?,?,?)"
                     " ON CONFLICT DO UPDATE SET count = count + excluded.count",
                     "sssi", batch->step, batch->source, drop->reason, drop->count);
}

/* What came of one source, within a transaction. */
static struct akgen_error *put_source(struct store *store, const struct cot_batch *batch, struct cot_put *put)
{
    struct akgen_error *error = cot_store_done(store, batch->step, batch->source, &put->done_before);
    if (error || put->done_before)
        return error;
    error = insert(store, batch, put);
    for (int i = 0; !error && i < batch->drop_count; i++)
        error = insert_drop(store, batch, &batch->drops[i]);
    if (!error)
        error = insert_drop(store, batch, &(struct cot_drop){"duplicate", put->repeated});
    if (!error)
        error = store_run(store, "INSERT INTO done (step, source, samples, finished) VALUES (?,?,?,datetime('now'))",
                          "ssi", batch->step, batch->source, put->added);
    return error;
}

struct akgen_error *cot_store_put_all(struct store *store, const struct cot_batch *batches, int count,
                                      struct cot_put *results)
{
    struct akgen_error *error = NULL;
    for (int b = 0; b < count; b++) {
        results[b] = (struct cot_put){0};
        for (int64_t i = 0; !error && i < batches[b].count; i++)
            error = check(&batches[b].samples[i]);
    }
    if (error)
        return error;
    error = store_begin(store);
    for (int b = 0; !error && b < count; b++)
        error = put_source(store, &batches[b], &results[b]);
    return store_end(store, error);
}

struct akgen_error *cot_store_put(struct store *store, const struct cot_batch *batch, struct cot_put *result)
{
    struct cot_put put;
    struct akgen_error *error = cot_store_put_all(store, batch, 1, &put);
    if (!error && result)
        *result = put;
    return error;
}

/* What models answered. */
struct akgen_error *cot_store_asked(struct store *store, struct arena *arena, const char *request, const char **answer)
{
    sqlite3_stmt *statement = store_query(store, "SELECT answer FROM asked WHERE request = ?", "s", request);
    struct akgen_error *error = NULL;
    *answer = NULL;
    while (store_next(store, statement, &error))
        *answer = store_column(arena, statement, 0);
    return error;
}

struct akgen_error *cot_store_keep_asked(struct store *store, const char *request, const char *model,
                                         const char *answer)
{
    pthread_mutex_lock(&store->lock); /* so that it is in no other thread's transaction, which may be rolled back */
    struct akgen_error *error = store_run(
        store, "INSERT OR IGNORE INTO asked (request, model, answer, finished) VALUES (?,?,?,datetime('now'))", "sss",
        request, model, answer);
    pthread_mutex_unlock(&store->lock);
    return error;
}
