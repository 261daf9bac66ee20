/* The database file: opened, brought to this version's schema (docs/store.md), and spoken to in SQL. */
#include "runs/store_internal.h"
#include "base/memory.h"
#include "base/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCHEMA_VERSION = 5 };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, akgen TEXT NOT NULL,"
    " suite TEXT NOT NULL, provider TEXT NOT NULL, soc TEXT NOT NULL, mode TEXT NOT NULL, scope TEXT NOT NULL,"
    " profile TEXT NOT NULL, protocol TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '',"
    " planned INTEGER NOT NULL DEFAULT 0, baseline TEXT NOT NULL DEFAULT 'eager',"
    " language TEXT NOT NULL DEFAULT '" BENCH_UNKNOWN_LANGUAGE "');"
    "CREATE TABLE IF NOT EXISTS planned (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL,"
    " level INTEGER NOT NULL, category TEXT NOT NULL, samples INTEGER NOT NULL, PRIMARY KEY (run, task));"
    "CREATE TABLE IF NOT EXISTS candidates (hash TEXT PRIMARY KEY, source TEXT);"
    "CREATE TABLE IF NOT EXISTS verdicts (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL,"
    " sample INTEGER NOT NULL, level INTEGER NOT NULL, category TEXT NOT NULL, candidate TEXT, verdict TEXT NOT NULL,"
    " stage TEXT NOT NULL, reason TEXT, cases_passed INTEGER NOT NULL, cases_total INTEGER NOT NULL, seconds REAL NOT "
    "NULL,"
    " json TEXT NOT NULL, PRIMARY KEY (run, task, sample));"
    "CREATE TABLE IF NOT EXISTS diagnostics (run INTEGER NOT NULL, task TEXT NOT NULL, sample INTEGER NOT NULL,"
    " number INTEGER NOT NULL, severity TEXT NOT NULL, class TEXT NOT NULL, file TEXT, line INTEGER, message TEXT,"
    " PRIMARY KEY (run, task, sample, number));"
    "CREATE TABLE IF NOT EXISTS prompts (hash TEXT PRIMARY KEY, messages TEXT NOT NULL, tokens INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS samples (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL,"
    " sample INTEGER NOT NULL, round INTEGER NOT NULL, parent INTEGER NOT NULL, prompt TEXT, request TEXT,"
    " response TEXT, answer TEXT, reasoning TEXT, finish TEXT, failure TEXT, prompt_tokens INTEGER NOT NULL,"
    " completion_tokens INTEGER NOT NULL, cost REAL NOT NULL, seconds REAL NOT NULL, tries INTEGER NOT NULL,"
    " PRIMARY KEY (run, task, sample));";

/* What a file of an older version lacks, besides tables. */
static const struct {
    int before; /* the version that has it */
    const char *sql;
} extensions[] = {
    {2, "ALTER TABLE runs ADD COLUMN protocol TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE runs ADD COLUMN settings TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE runs ADD COLUMN planned INTEGER NOT NULL DEFAULT 0"},
    {4, "ALTER TABLE runs ADD COLUMN baseline TEXT NOT NULL DEFAULT 'eager'"},
    {5, "ALTER TABLE runs ADD COLUMN language TEXT NOT NULL DEFAULT '" BENCH_UNKNOWN_LANGUAGE "'"},
};

static const char *name_of(const struct store *store)
{
    return *store->path ? store->path : "the run's temporary database";
}

struct akgen_error *store_error(const struct store *store)
{
    return sql_error(store->db, name_of(store));
}

struct akgen_error *store_run(struct store *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    struct akgen_error *error = sql_run(store->db, name_of(store), sql, types, values);
    va_end(values);
    return error;
}

sqlite3_stmt *store_query(struct store *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = sql_query(store->db, sql, types, values);
    va_end(values);
    return statement;
}

const char *store_column(struct arena *arena, sqlite3_stmt *statement, int index)
{
    return sql_column(arena, statement, index);
}

struct akgen_error *store_begin(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    return store_run(store, "BEGIN IMMEDIATE", "");
}

struct akgen_error *store_end(struct store *store, struct akgen_error *error)
{
    if (!error)
        error = store_run(store, "COMMIT", "");
    if (error)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&store->lock);
    return error;
}

/* Opening. */
static int version_of(struct store *store)
{
    return sql_pragma(store->db, "PRAGMA user_version");
}

/* Makes the tables, or extends those of an older version. Another process may have done it by now. */
static struct akgen_error *extend(struct store *store)
{
    struct akgen_error *error = store_begin(store);
    int version = error ? SCHEMA_VERSION : version_of(store);
    if (version < SCHEMA_VERSION && sqlite3_exec(store->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        error = store_error(store);
    for (size_t i = 0; !error && version && i < sizeof extensions / sizeof *extensions; i++)
        if (version < extensions[i].before)
            error = store_run(store, extensions[i].sql, "");
    if (!error && version < SCHEMA_VERSION)
        error = store_run(store, "PRAGMA user_version = 5", "");
    return store_end(store, error);
}

static struct akgen_error *check_version(struct store *store)
{
    int version = version_of(store);
    if (version < 0)
        return store_error(store);
    if (version > SCHEMA_VERSION)
        return error_new("%s was written by a newer akgen (schema %d, this one reads %d)", store->path, version,
                         SCHEMA_VERSION);
    return version == SCHEMA_VERSION ? NULL : extend(store);
}

struct akgen_error *store_open(const char *path, struct store **result)
{
    struct store *store = memory_alloc(sizeof *store);
    *store = (struct store){.path = memory_string(path), .owned = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct akgen_error *error = NULL;
    if (sqlite3_open(path, &store->db) != SQLITE_OK ||
        sqlite3_busy_timeout(store->db, SQL_BUSY_MILLISECONDS) != SQLITE_OK)
        error = store_error(store);
    if (!error)
        error = check_version(store);
    if (error)
        store_close(store);
    else
        *result = store;
    return error;
}

/* A lock of its own kind on a byte that the file does not have, one for each run. SQLite's locks are the process's, and closing
 * any descriptor of the file would end them: this one is closed behind SQLite's. */
struct akgen_error *store_own(struct store *store, int64_t run)
{
    enum { BEHIND_ALL_FILES = 40 };
    struct flock byte = {.l_type = F_WRLCK, .l_start = ((off_t)1 << BEHIND_ALL_FILES) + run, .l_len = 1};
    if (!*store->path)
        return NULL;
    if (store->owned < 0)
        store->owned = open(store->path, O_RDWR | O_CLOEXEC);
    if (store->owned >= 0 && fcntl(store->owned, F_OFD_SETLK, &byte) && (errno == EAGAIN || errno == EACCES))
        return error_new("%s: run %lld goes on in another akgen; end that one first", store->path, (long long)run);
    return NULL; /* a file system without locks is none of this run's troubles */
}

void store_close(struct store *store)
{
    if (!store)
        return;
    sqlite3_close(store->db);
    if (store->owned >= 0)
        close(store->owned);
    pthread_mutex_destroy(&store->lock);
    free(store->path);
    free(store);
}
