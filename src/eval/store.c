/* The database of runs: SQLite. Every verdict is a transaction of its own, so that killing a run loses what was in
 * flight and nothing else. The schema is documented in docs/store.md. */
#include "eval/bench.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>

struct store {
    sqlite3 *db;
    char *path;
    sqlite3_int64 run;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, akgen TEXT NOT NULL,"
    " suite TEXT NOT NULL, provider TEXT NOT NULL, soc TEXT NOT NULL, mode TEXT NOT NULL, scope TEXT NOT NULL,"
    " profile TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS verdicts (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL,"
    " level INTEGER NOT NULL, category TEXT NOT NULL, candidate TEXT, verdict TEXT NOT NULL, stage TEXT NOT NULL,"
    " reason TEXT, cases_passed INTEGER NOT NULL, cases_total INTEGER NOT NULL, seconds REAL NOT NULL,"
    " json TEXT NOT NULL, PRIMARY KEY (run, task, candidate));";

static struct akgen_error *store_error(const struct store *store)
{
    return error_new("%s: %s", store->path, sqlite3_errmsg(store->db));
}

struct akgen_error *store_open(const char *path, struct store **result)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store || asprintf(&store->path, "%s", path) < 0) {
        free(store);
        return error_new("out of memory");
    }
    if (sqlite3_open(path, &store->db) != SQLITE_OK || sqlite3_busy_timeout(store->db, 10000) != SQLITE_OK ||
        sqlite3_exec(store->db, schema, NULL, NULL, NULL) != SQLITE_OK) {
        struct akgen_error *error = store_error(store);
        store_close(store);
        return error;
    }
    *result = store;
    return NULL;
}

/* Steps a prepared statement to its end and releases it; `ok` says whether preparing and binding worked. */
static struct akgen_error *finish(struct store *store, sqlite3_stmt *statement, bool ok)
{
    struct akgen_error *error = NULL;
    if (!ok || sqlite3_step(statement) != SQLITE_DONE)
        error = store_error(store);
    sqlite3_finalize(statement);
    return error;
}

static bool bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

struct akgen_error *store_begin_run(struct store *store, const char *suite, const char *provider,
                                    const struct eval_options *options)
{
    static const char sql[] = "INSERT INTO runs (started, akgen, suite, provider, soc, mode, scope, profile)"
                              " VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?, ?, ?)";
    const char *const values[] = {
        AKGEN_VERSION,
        suite,
        provider,
        options->soc->name,
        options->mode == EVAL_STATIC ? "static" : "dynamic",
        options->scope == EVAL_KERNEL ? "kernel" : "project",
        options->profile == TASK_STRICT ? "strict" : "upstream",
    };
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK;
    for (int i = 0; ok && i < (int)(sizeof values / sizeof *values); i++)
        ok = bind_text(statement, i + 1, values[i]);
    struct akgen_error *error = finish(store, statement, ok);
    store->run = sqlite3_last_insert_rowid(store->db);
    return error;
}

struct akgen_error *store_add(struct store *store, const struct bench_row *row)
{
    static const char sql[] = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    sqlite3_stmt *statement = NULL;
    char *json = json_dumps(row->verdict, JSON_COMPACT);
    const char *candidate = json_string_value(json_object_get(row->verdict, "candidate"));
    bool ok = json && sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_bind_int64(statement, 1, store->run) == SQLITE_OK && bind_text(statement, 2, row->task->name) &&
              sqlite3_bind_int(statement, 3, row->task->level) == SQLITE_OK &&
              bind_text(statement, 4, row->task->category) && bind_text(statement, 5, candidate ? candidate : "") &&
              bind_text(statement, 6, verdict_kind_name(row->kind)) &&
              bind_text(statement, 7, verdict_stage_name(row->stage)) && bind_text(statement, 8, row->reason) &&
              sqlite3_bind_int(statement, 9, row->cases_passed) == SQLITE_OK &&
              sqlite3_bind_int(statement, 10, row->cases_total) == SQLITE_OK &&
              sqlite3_bind_double(statement, 11, row->seconds) == SQLITE_OK && bind_text(statement, 12, json);
    struct akgen_error *error = finish(store, statement, ok);
    free(json);
    return error;
}

struct akgen_error *store_end_run(struct store *store, double seconds)
{
    sqlite3_stmt *statement = NULL;
    bool ok =
        sqlite3_prepare_v2(store->db, "UPDATE runs SET seconds = ? WHERE id = ?", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_bind_double(statement, 1, seconds) == SQLITE_OK &&
        sqlite3_bind_int64(statement, 2, store->run) == SQLITE_OK;
    return finish(store, statement, ok);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}
