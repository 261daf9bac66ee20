/* The database of samples: opened, added to in transactions, and the words of its columns. What is asked of it: cot_store_query.c. */
#include "runs/cot_store_internal.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/sql.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* application_id: "AKct". A percentage each of operators (or of samples without one) are kept from training. */
enum { SCHEMA_VERSION = 1, APPLICATION = 0x414b6374, PERCENT_VALID = 2, PERCENT_TEST = 2 };

const struct words cot_parts = WORDS(COT_PARTS), cot_modes = WORDS(COT_MODES), cot_splits = WORDS(COT_SPLITS);

static const char schema[] =
    "CREATE TABLE samples (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, part TEXT NOT NULL, mode TEXT NOT NULL,"
    " question TEXT NOT NULL, chain TEXT, answer TEXT NOT NULL, verdict TEXT, provenance TEXT NOT NULL,"
    " licence TEXT NOT NULL, graph TEXT, split TEXT NOT NULL, bytes INTEGER NOT NULL, tags TEXT,"
    " step TEXT NOT NULL, source TEXT NOT NULL);"
    "CREATE INDEX samples_of ON samples (step, source);"
    "CREATE TABLE done (step TEXT NOT NULL, source TEXT NOT NULL, samples INTEGER NOT NULL, finished TEXT NOT NULL,"
    " PRIMARY KEY (step, source)) WITHOUT ROWID;"
    "CREATE TABLE dropped (step TEXT NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,"
    " PRIMARY KEY (step, source, reason)) WITHOUT ROWID;";
/* Full text search, where SQLite has it; without it words are looked for in every row. */
static const char schema_words[] =
    "CREATE VIRTUAL TABLE words USING fts5 (question, chain, answer, content='samples', content_rowid='number');"
    "CREATE TRIGGER samples_words AFTER INSERT ON samples BEGIN INSERT INTO words (rowid, question, chain, answer)"
    " VALUES (new.number, new.question, new.chain, new.answer); END;";

struct akgen_error *cot_error(const struct cot_store *store)
{
    return sql_error(store->db, store->path);
}

struct akgen_error *cot_store_run(struct cot_store *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    struct akgen_error *error = sql_run(store->db, store->path, sql, types, values);
    va_end(values);
    return error;
}

/* The first value of a statement, -1: it has no row, -2: it failed. */
static int64_t value_of(struct cot_store *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = sql_query(store->db, sql, types, values);
    va_end(values);
    int state = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    int64_t value = state == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : state == SQLITE_DONE ? -1 : -2;
    sqlite3_finalize(statement);
    return value;
}

static struct akgen_error *begin(struct cot_store *store)
{
    pthread_mutex_lock(&store->lock);
    return cot_store_run(store, "BEGIN IMMEDIATE", "");
}

/* Commits, or rolls back if `error` is one. */
static struct akgen_error *end(struct cot_store *store, struct akgen_error *error)
{
    if (!error)
        error = cot_store_run(store, "COMMIT", "");
    if (error)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&store->lock);
    return error;
}

/* The tables of a new file; another process may have made them by now. */
static struct akgen_error *make_tables(struct cot_store *store)
{
    struct akgen_error *error = begin(store);
    bool made = !error && sql_pragma(store->db, "PRAGMA user_version") == SCHEMA_VERSION;
    if (!error && !made && sqlite3_exec(store->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        error = cot_error(store);
    if (!error && !made && sqlite3_compileoption_used("ENABLE_FTS5") &&
        sqlite3_exec(store->db, schema_words, NULL, NULL, NULL) != SQLITE_OK)
        error = cot_error(store);
    if (!error && !made)
        error = cot_store_run(store, "PRAGMA user_version = 1", "");
    if (!error && !made)
        error = cot_store_run(store, "PRAGMA application_id = 1095459700", ""); /* APPLICATION */
    return end(store, error);
}

static struct akgen_error *check_kind(struct cot_store *store, bool write)
{
    int application = sql_pragma(store->db, "PRAGMA application_id");
    int version = sql_pragma(store->db, "PRAGMA user_version");
    if (application < 0 || version < 0)
        return cot_error(store);
    bool empty = !application && !version && !value_of(store, "SELECT count(*) FROM sqlite_master", "");
    if (empty && write)
        return make_tables(store);
    if (application != APPLICATION)
        return error_new("%s is a database of another kind; samples go into a file of their own, made by 'akgen cot'",
                         store->path);
    if (version > SCHEMA_VERSION)
        return error_new("%s was written by a newer akgen (schema %d, this one reads %d)", store->path, version,
                         SCHEMA_VERSION);
    return NULL;
}

static struct akgen_error *open_as(const char *path, bool write, struct cot_store **result)
{
    int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    struct akgen_error *error = NULL;
    if (!write && access(path, R_OK))
        return error_new("%s: %m", path);
    struct cot_store *store = memory_alloc(sizeof *store);
    *store = (struct cot_store){.path = memory_string(path), .lock = PTHREAD_MUTEX_INITIALIZER};
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(store->db, SQL_BUSY_MILLISECONDS) != SQLITE_OK)
        error = cot_error(store);
    if (!error)
        error = check_kind(store, write);
    if (!error)
        store->has_words = value_of(store, "SELECT count(*) FROM sqlite_master WHERE name = 'words'", "") == 1;
    if (error)
        cot_store_close(store);
    else
        *result = store;
    return error;
}

struct akgen_error *cot_store_open(const char *path, struct cot_store **store)
{
    return open_as(path, true, store);
}

struct akgen_error *cot_store_open_to_read(const char *path, struct cot_store **store)
{
    return open_as(path, false, store);
}

void cot_store_close(struct cot_store *store)
{
    if (!store)
        return;
    sqlite3_close(store->db);
    pthread_mutex_destroy(&store->lock);
    free(store->path);
    free(store);
}

struct akgen_error *cot_store_done(struct cot_store *store, const char *step, const char *source, bool *done)
{
    int64_t found = value_of(store, "SELECT 1 FROM done WHERE step = ? AND source = ?", "ss", step, source);
    *done = found == 1;
    return found == -2 ? cot_error(store) : NULL;
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

const char *cot_sample_id(struct arena *arena, const struct cot_sample *sample)
{
    struct digest *digest = digest_new();
    digest_string(digest, cot_parts.of[sample->part]);
    digest_string(digest, sample->question);
    digest_string(digest, sample->answer);
    return digest_finish(digest, arena);
}

enum cot_split cot_split_of(const char *key)
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
static struct akgen_error *insert(struct cot_store *store, const struct cot_batch *batch, struct cot_put *put)
{
    struct akgen_error *error = NULL;
    struct arena arena = {0};
    for (int64_t i = 0; !error && i < batch->count; i++) {
        const struct cot_sample *sample = &batch->samples[i];
        const char *id = cot_sample_id(&arena, sample);
        error = cot_store_run(
            store,
            "INSERT OR IGNORE INTO samples (id, part, mode, question, chain, answer, verdict, provenance, licence,"
            " graph, split, bytes, tags, step, source) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            "sssssssssssisss", id, cot_parts.of[sample->part], cot_modes.of[sample->mode], sample->question,
            sample->chain, sample->answer, sample->verdict, sample->provenance,
            sample->licence ? sample->licence : COT_NO_LICENCE, sample->graph,
            cot_splits.of[cot_split_of(sample->graph ? sample->graph : id)],
            length(sample->question) + length(sample->chain) + length(sample->answer), sample->tags, batch->step,
            batch->source);
        if (!error && sqlite3_changes(store->db))
            put->added++;
        else
            put->repeated++;
        arena_free(&arena);
    }
    return error;
}

static struct akgen_error *insert_drop(struct cot_store *store, const struct cot_batch *batch,
                                       const struct cot_drop *drop)
{
    if (!drop->count)
        return NULL;
    return cot_store_run(store,
                         "INSERT INTO dropped (step, source, reason, count) VALUES (?,?,?,?)"
                         " ON CONFLICT DO UPDATE SET count = count + excluded.count",
                         "sssi", batch->step, batch->source, drop->reason, drop->count);
}

/* What came of one source, within a transaction. */
static struct akgen_error *put_source(struct cot_store *store, const struct cot_batch *batch, struct cot_put *put)
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
        error =
            cot_store_run(store, "INSERT INTO done (step, source, samples, finished) VALUES (?,?,?,datetime('now'))",
                          "ssi", batch->step, batch->source, put->added);
    return error;
}

struct akgen_error *cot_store_put_all(struct cot_store *store, const struct cot_batch *batches, int count,
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
    error = begin(store);
    for (int b = 0; !error && b < count; b++)
        error = put_source(store, &batches[b], &results[b]);
    return end(store, error);
}

struct akgen_error *cot_store_put(struct cot_store *store, const struct cot_batch *batch, struct cot_put *result)
{
    struct cot_put put;
    struct akgen_error *error = cot_store_put_all(store, batch, 1, &put);
    if (!error && result)
        *result = put;
    return error;
}
