/* The database file: opened, brought to this version's schema (docs/store.md), and spoken to in SQL. Strangers hand over files, so
 * nothing in one runs, and no statement runs for longer than the file's size explains. */
#include "runs/store_internal.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PRAGMA application_id of a file is "AKct", PRAGMA user_version its schema's version. Up to version 5 runs had files of their own, without
 * an application_id; up to version 1 samples to train on had theirs, with this one. It stays, so that such an akgen reports a newer one's file. */
enum { APPLICATION = 0x414b6374, SCHEMA_VERSION = 7, LAST_OF_RUNS = 5, BUSY_MILLISECONDS = 30000 };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, akgen TEXT NOT NULL,"
    " suite TEXT NOT NULL, provider TEXT NOT NULL, soc TEXT NOT NULL, mode TEXT NOT NULL, scope TEXT NOT NULL,"
    " profile TEXT NOT NULL, protocol TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '',"
    " planned INTEGER NOT NULL DEFAULT 0, baseline TEXT NOT NULL DEFAULT 'eager',"
    " language TEXT NOT NULL DEFAULT '" BENCH_UNKNOWN_LANGUAGE "', salt TEXT NOT NULL DEFAULT '');"
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
    "CREATE TABLE IF NOT EXISTS answers (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL,"
    " sample INTEGER NOT NULL, round INTEGER NOT NULL, parent INTEGER NOT NULL, prompt TEXT, request TEXT,"
    " response TEXT, answer TEXT, reasoning TEXT, finish TEXT, failure TEXT, prompt_tokens INTEGER NOT NULL,"
    " completion_tokens INTEGER NOT NULL, cost REAL NOT NULL, seconds REAL NOT NULL, tries INTEGER NOT NULL,"
    " PRIMARY KEY (run, task, sample));"
    "CREATE TABLE IF NOT EXISTS samples (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, part TEXT NOT NULL,"
    " mode TEXT NOT NULL, question TEXT NOT NULL, chain TEXT, answer TEXT NOT NULL, verdict TEXT,"
    " provenance TEXT NOT NULL, licence TEXT NOT NULL, graph TEXT, split TEXT NOT NULL, bytes INTEGER NOT NULL,"
    " tags TEXT, step TEXT NOT NULL, source TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS samples_of ON samples (step, source);"
    "CREATE TABLE IF NOT EXISTS done (step TEXT NOT NULL, source TEXT NOT NULL, samples INTEGER NOT NULL,"
    " finished TEXT NOT NULL, PRIMARY KEY (step, source)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS dropped (step TEXT NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL,"
    " count INTEGER NOT NULL, PRIMARY KEY (step, source, reason)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS asked (request TEXT PRIMARY KEY, model TEXT NOT NULL, answer TEXT NOT NULL,"
    " finished TEXT NOT NULL) WITHOUT ROWID;";
/* Full text search of samples to train on, where SQLite has it; without it words are looked for in every row. The trigger is for other
 * programs that add samples: akgen runs none, and cot_store.c adds the words itself. */
static const char
    schema_words[] =
        "CREATE VIRTUAL TABLE words USING fts5 (question, chain, answer, content='samples', content_rowid='number')",
    schema_trigger[] =
        "CREATE TRIGGER samples_words AFTER INSERT ON samples BEGIN INSERT INTO words (rowid, question, chain, answer)"
        " VALUES (new.number, new.question, new.chain, new.answer); END";

/* Columns that the runs of an older version lack. */
static const struct {
    int before; /* the version that has it */
    const char *sql;
} extensions[] = {
    {2, "ALTER TABLE runs ADD COLUMN protocol TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE runs ADD COLUMN settings TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE runs ADD COLUMN planned INTEGER NOT NULL DEFAULT 0"},
    {4, "ALTER TABLE runs ADD COLUMN baseline TEXT NOT NULL DEFAULT 'eager'"},
    {5, "ALTER TABLE runs ADD COLUMN language TEXT NOT NULL DEFAULT '" BENCH_UNKNOWN_LANGUAGE "'"},
    {7, "ALTER TABLE runs ADD COLUMN salt TEXT NOT NULL DEFAULT ''"},
};

/* Speaking to it. */
struct akgen_error *store_error(const struct store *store)
{
    const char *what =
        sqlite3_errcode(store->db) == SQLITE_INTERRUPT
            ? "a query takes longer than akgen's tables of this size need; the file was not written by akgen"
            : sqlite3_errmsg(store->db);
    return error_new("%s: %s", *store->path ? store->path : "the run's temporary database", what);
}

static sqlite3_stmt *query(struct store *store, const char *sql, const char *types, va_list values)
{
    sqlite3_stmt *statement = NULL;
    store->steps = 0;
    bool ok = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK;
    for (int at = 1; ok && *types; types++, at++)
        switch (*types) {
        case 'i':
            ok = sqlite3_bind_int64(statement, at, va_arg(values, int64_t)) == SQLITE_OK;
            break;
        case 'd':
            ok = sqlite3_bind_double(statement, at, va_arg(values, double)) == SQLITE_OK;
            break;
        default: /* 's': text or NULL */
            ok = sqlite3_bind_text(statement, at, va_arg(values, const char *), -1, SQLITE_TRANSIENT) == SQLITE_OK;
        }
    if (ok)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

sqlite3_stmt *store_query(struct store *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = query(store, sql, types, values);
    va_end(values);
    return statement;
}

bool store_next(struct store *store, sqlite3_stmt *statement, struct akgen_error **error)
{
    const int state = *error ? SQLITE_DONE : statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (state == SQLITE_ROW)
        return true;
    if (state != SQLITE_DONE)
        *error = store_error(store);
    sqlite3_finalize(statement);
    return false;
}

struct akgen_error *store_run(struct store *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = query(store, sql, types, values);
    va_end(values);
    struct akgen_error *error = statement && sqlite3_step(statement) == SQLITE_DONE ? NULL : store_error(store);
    sqlite3_finalize(statement);
    return error;
}

int64_t store_number(struct store *store, int64_t otherwise, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = query(store, sql, types, values);
    va_end(values);
    int64_t number =
        statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : otherwise;
    sqlite3_finalize(statement);
    return number;
}

const char *store_column(struct arena *arena, sqlite3_stmt *statement, int index)
{
    const char *text = store_text(statement, index);
    return text ? arena_strdup(arena, text) : NULL;
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

static struct akgen_error *execute(struct store *store, const char *sql)
{
    store->steps = 0;
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : store_error(store);
}

/* Opening. */

/* Ends a statement that takes longer than any of akgen's does on tables of this size: those of a stranger may lack their keys. */
enum { STEPS_A_CALL = 10000000, STEPS_A_BYTE = 1000 };
static const int64_t least_steps = 300000000; /* about 3 s */

static int store_ends(void *closure)
{
    struct store *store = closure;
    struct stat status;
    store->steps += STEPS_A_CALL;
    return *store->path && !stat(store->path, &status) &&
           store->steps > least_steps + STEPS_A_BYTE * (int64_t)status.st_size;
}

/* Opens every database of this room: no trigger, view or unsafe function of the file runs, and SQLite checks the cells that it reads. */
static struct akgen_error *open_database(struct store *store, const char *path, int flags)
{
    static const struct {
        int what, on;
    } guards[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                  {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
    enum { LONGEST_ROW = 128 << 20 };
    bool good = sqlite3_open_v2(path, &store->db, flags, NULL) == SQLITE_OK &&
                sqlite3_busy_timeout(store->db, BUSY_MILLISECONDS) == SQLITE_OK;
    for (size_t i = 0; good && i < sizeof guards / sizeof *guards; i++)
        good = sqlite3_db_config(store->db, guards[i].what, guards[i].on, NULL) == SQLITE_OK;
    if (!good)
        return store_error(store);
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, LONGEST_ROW);
    sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_progress_handler(store->db, STEPS_A_CALL, store_ends, store);
    return execute(store, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

/* Refuses a file that holds more than tables, their indices, and what akgen makes. SQLite itself refuses a row of the schema whose type is not
 * what its text makes. */
static struct akgen_error *check_schema(struct store *store)
{
    static const char others[] =
        "SELECT coalesce(type, 'row'), coalesce(name, ''), NULL FROM sqlite_master"
        " WHERE (type NOT IN ('table', 'index') AND NOT (type = 'trigger' AND name = 'samples_words')) OR"
        " (sql LIKE 'create virtual%' AND sql <> ?)"
        " UNION ALL"
        " SELECT 'column', m.name, c.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c ON c.hidden > 1"
        " WHERE m.type = 'table' AND m.sql NOT LIKE 'create virtual%' LIMIT 1";
    struct akgen_error *error = NULL, *found = NULL;
    sqlite3_stmt *row = store_query(store, others, "s", schema_words);
    while (store_next(store, row, &error))
        found =
            sqlite3_column_type(row, 2) == SQLITE_NULL
                ? error_new("%s holds the %.20s '%.60s', expected tables alone (docs/store.md)", store->path,
                            strcmp(store_text(row, 0), "table") == 0 ? "virtual table" : store_text(row, 0),
                            store_text(row, 1))
                : error_new("%s: column '%.60s' of '%.60s' is computed, expected one that is stored (docs/store.md)",
                            store->path, store_text(row, 2), store_text(row, 1));
    if (error)
        error_free(found);
    return error ? error : found;
}

static bool has_table(struct store *store, const char *name)
{
    return store_number(store, 0, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", "s", name);
}

/* Kinds of files: without a table, of this version, of an earlier one, or not readable by this akgen. RUNS_ALONE has no application_id. */
enum kind { EMPTY, CURRENT, RUNS_ALONE, OLDER, NEWER, FOREIGN };

static enum kind kind_of(struct store *store, int *version)
{
    const int64_t application = store_number(store, 0, "PRAGMA application_id", "");
    *version = (int)store_number(store, 0, "PRAGMA user_version", "");
    if (application == APPLICATION)
        return *version == SCHEMA_VERSION ? CURRENT : *version > SCHEMA_VERSION ? NEWER : OLDER;
    if (application || *version < 0 || *version > LAST_OF_RUNS)
        return FOREIGN;
    if (*version)
        return has_table(store, "runs") ? RUNS_ALONE : FOREIGN;
    return store_number(store, 0, "SELECT count(*) FROM sqlite_master", "") ? FOREIGN : EMPTY;
}

/* Makes the tables, or those that a file of an earlier version lacks. Another process may have done it by now. */
static struct akgen_error *migrate(struct store *store)
{
    char mark[80];
    int version = 0;
    struct akgen_error *error = store_begin(store);
    const enum kind kind = error ? CURRENT : kind_of(store, &version);
    if (kind != EMPTY && kind != RUNS_ALONE && kind != OLDER)
        return store_end(store, error);
    const bool had_runs = has_table(store, "runs");
    snprintf(mark, sizeof mark, "PRAGMA user_version = %d; PRAGMA application_id = %d", SCHEMA_VERSION, APPLICATION);
    if (kind == RUNS_ALONE && has_table(store, "samples")) /* which are what models answered */
        error = execute(store, "ALTER TABLE samples RENAME TO answers");
    if (!error)
        error = execute(store, schema);
    if (!error && kind != OLDER && sqlite3_compileoption_used("ENABLE_FTS5"))
        error = execute(store, schema_words);
    if (!error && kind != OLDER && sqlite3_compileoption_used("ENABLE_FTS5"))
        error = execute(store, schema_trigger);
    for (size_t i = 0; had_runs && !error && i < sizeof extensions / sizeof *extensions; i++)
        if (version < extensions[i].before)
            error = execute(store, extensions[i].sql);
    if (!error)
        error = execute(store, mark);
    return store_end(store, error);
}

static struct akgen_error *check_kind(struct store *store, bool write)
{
    int version;
    struct akgen_error *error = execute(store, "BEGIN; SELECT count(*) FROM sqlite_master");
    const enum kind kind = error ? CURRENT : kind_of(store, &version);
    if (!error && kind != NEWER && kind != FOREIGN)
        error = check_schema(store);
    if (!error)
        error = execute(store, "COMMIT");
    if (error || kind == CURRENT)
        return error;
    if (kind == NEWER)
        return error_new("%s was written by a newer akgen (schema %d, this one reads %d)", store->path, version,
                         SCHEMA_VERSION);
    if (kind == FOREIGN || (kind == EMPTY && !write))
        return error_new("%s is a database of another kind; 'akgen bench --db' and 'akgen cot' write akgen's",
                         store->path);
    error = migrate(store);
    if (!error || write)
        return error;
    error_free(error); /* who only reads does not need to write */
    /* Puts a temporary copy in the file's place, which ends with the store. */
    sqlite3 *file = store->db;
    error = open_database(store, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3_backup *backup = error ? NULL : sqlite3_backup_init(store->db, "main", file, "main");
    if (backup)
        sqlite3_backup_step(backup, -1);
    if (!error && (!backup || sqlite3_backup_finish(backup) != SQLITE_OK))
        error = store_error(store);
    sqlite3_close(file);
    return error ? error : migrate(store);
}

static struct akgen_error *open_as(const char *path, bool write, struct store **result)
{
    struct akgen_error *error = NULL;
    struct stat status;
    if (!write && access(path, R_OK))
        return error_new("%s: %m", path);
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        return error_new("%s: not a regular file", path);
    struct store *store = memory_alloc(sizeof *store);
    *store = (struct store){.path = memory_string(path), .owned = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
    error = open_database(store, path, SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0));
    if (!error)
        error = check_kind(store, write);
    if (error)
        store_close(store);
    else {
        store->has_words = has_table(store, "words");
        *result = store;
    }
    return error;
}

struct akgen_error *store_open(const char *path, struct store **store)
{
    return open_as(path, true, store);
}

struct akgen_error *store_open_to_read(const char *path, struct store **store)
{
    return open_as(path, false, store);
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
