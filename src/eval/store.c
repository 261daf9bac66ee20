/* The database of runs: SQLite. Every verdict is a transaction of its own, so that killing a run loses what was in
 * flight and nothing else. The schema is documented in docs/store.md. */
#include "eval/bench.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA_VERSION = 2 };

struct store {
    sqlite3 *db;
    char *path;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, akgen TEXT NOT NULL,"
    " suite TEXT NOT NULL, provider TEXT NOT NULL, soc TEXT NOT NULL, mode TEXT NOT NULL, scope TEXT NOT NULL,"
    " profile TEXT NOT NULL, protocol TEXT NOT NULL DEFAULT '');"
    "CREATE TABLE IF NOT EXISTS candidates (hash TEXT PRIMARY KEY, source TEXT);"
    "CREATE TABLE IF NOT EXISTS verdicts (run INTEGER NOT NULL REFERENCES runs(id), task TEXT NOT NULL,"
    " sample INTEGER NOT NULL, level INTEGER NOT NULL, category TEXT NOT NULL, candidate TEXT, verdict TEXT NOT NULL,"
    " stage TEXT NOT NULL, reason TEXT, cases_passed INTEGER NOT NULL, cases_total INTEGER NOT NULL, seconds REAL NOT "
    "NULL,"
    " json TEXT NOT NULL, PRIMARY KEY (run, task, sample));"
    "CREATE TABLE IF NOT EXISTS diagnostics (run INTEGER NOT NULL, task TEXT NOT NULL, sample INTEGER NOT NULL,"
    " number INTEGER NOT NULL, severity TEXT NOT NULL, class TEXT NOT NULL, file TEXT, line INTEGER, message TEXT,"
    " PRIMARY KEY (run, task, sample, number));";

static struct akgen_error *store_error(const struct store *store)
{
    return error_new("%s: %s", store->path, sqlite3_errmsg(store->db));
}

/* Statements: prepare, bind by type letters, step. */
static bool bind(sqlite3_stmt *statement, const char *types, va_list values)
{
    bool ok = true;
    for (int at = 1; *types; types++, at++)
        switch (*types) {
        case 'i':
            ok &= sqlite3_bind_int64(statement, at, va_arg(values, int64_t)) == SQLITE_OK;
            break;
        case 'd':
            ok &= sqlite3_bind_double(statement, at, va_arg(values, double)) == SQLITE_OK;
            break;
        default: /* 's': text or NULL */
            ok &= sqlite3_bind_text(statement, at, va_arg(values, const char *), -1, SQLITE_TRANSIENT) == SQLITE_OK;
        }
    return ok;
}

/* Runs a statement that returns no rows. `types`: one letter per parameter, i int64_t, d double, s text. */
static struct akgen_error *run(struct store *store, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement = NULL;
    struct akgen_error *error = NULL;
    va_list values;
    va_start(values, types);
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK || !bind(statement, types, values) ||
        sqlite3_step(statement) != SQLITE_DONE)
        error = store_error(store);
    va_end(values);
    sqlite3_finalize(statement);
    return error;
}

/* A statement whose rows are stepped through; NULL on failure. */
static sqlite3_stmt *query(struct store *store, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement = NULL;
    va_list values;
    va_start(values, types);
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK || !bind(statement, types, values)) {
        sqlite3_finalize(statement);
        statement = NULL;
    }
    va_end(values);
    return statement;
}

static const char *column(struct arena *arena, sqlite3_stmt *statement, int index)
{
    const char *text = (const char *)sqlite3_column_text(statement, index);
    return text ? arena_strdup(arena, text) : NULL;
}

/* Opening. */
static struct akgen_error *check_version(struct store *store)
{
    sqlite3_stmt *statement = query(store, "PRAGMA user_version", "");
    int version = statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
    sqlite3_finalize(statement);
    if (version < 0)
        return store_error(store);
    if (version > SCHEMA_VERSION)
        return error_new("%s was written by a newer akgen (schema %d, this one reads %d)", store->path, version,
                         SCHEMA_VERSION);
    /* Version 1 had no suite with several protocols. */
    if (sqlite3_exec(store->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
        (version == 1 && sqlite3_exec(store->db, "ALTER TABLE runs ADD COLUMN protocol TEXT NOT NULL DEFAULT ''", NULL,
                                      NULL, NULL) != SQLITE_OK))
        return store_error(store);
    return version == SCHEMA_VERSION ? NULL : run(store, "PRAGMA user_version = 2", "");
}

struct akgen_error *store_open(const char *path, struct store **result)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store || asprintf(&store->path, "%s", path) < 0) {
        free(store);
        return error_new("out of memory");
    }
    struct akgen_error *error = NULL;
    if (sqlite3_open(path, &store->db) != SQLITE_OK || sqlite3_busy_timeout(store->db, 10000) != SQLITE_OK)
        error = store_error(store);
    if (!error)
        error = check_version(store);
    if (error)
        store_close(store);
    else
        *result = store;
    return error;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

/* Writing a run. */
struct akgen_error *store_begin_run(struct store *store, struct bench *bench)
{
    struct akgen_error *error = run(store,
                                    "INSERT INTO runs (started, akgen, suite, provider, soc, mode, scope, profile, "
                                    "protocol) VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?, ?, ?, ?)",
                                    "ssssssss", bench->akgen, bench->suite, bench->provider, bench->soc, bench->mode,
                                    bench->scope, bench->profile, bench->protocol);
    bench->run = sqlite3_last_insert_rowid(store->db);
    return error;
}

static struct akgen_error *add_diagnostics(struct store *store, int64_t run_id, const struct bench_row *row)
{
    size_t i;
    const json_t *entry;
    struct akgen_error *error = NULL;
    json_array_foreach(json_object_get(json_object_get(row->verdict, "compile"), "diagnostics"), i, entry)
    {
        if (error)
            break;
        error =
            run(store, "INSERT OR REPLACE INTO diagnostics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "isiisssis", run_id,
                row->task, (int64_t)row->sample, (int64_t)i, json_string_value(json_object_get(entry, "severity")),
                json_string_value(json_object_get(entry, "class")), json_string_value(json_object_get(entry, "file")),
                (int64_t)json_integer_value(json_object_get(entry, "line")),
                json_string_value(json_object_get(entry, "message")));
    }
    return error;
}

struct akgen_error *store_add(struct store *store, const struct bench *bench, const struct bench_row *row)
{
    const char *candidate = json_string_value(json_object_get(row->verdict, "candidate"));
    char *json = json_dumps(row->verdict, JSON_COMPACT);
    struct akgen_error *error = json ? run(store, "BEGIN IMMEDIATE", "") : error_new("out of memory");
    if (!error && candidate)
        error = run(store, "INSERT OR IGNORE INTO candidates VALUES (?, ?)", "ss", candidate, row->source);
    if (!error)
        error = run(store, "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    "isiisssssiids", bench->run, row->task, (int64_t)row->sample, (int64_t)row->level, row->category,
                    candidate, akgen_verdict_kind_name(row->kind), akgen_verdict_stage_name(row->stage), row->reason,
                    (int64_t)row->cases_passed, (int64_t)row->cases_total, row->seconds, json);
    if (!error)
        error = add_diagnostics(store, bench->run, row);
    if (!error)
        error = run(store, "COMMIT", "");
    if (error)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    free(json);
    return error;
}

struct akgen_error *store_end_run(struct store *store, const struct bench *bench)
{
    return run(store, "UPDATE runs SET seconds = ? WHERE id = ?", "di", bench->seconds, bench->run);
}

/* Reading a run. */
static int name_index(const char *name, const char *(*name_of)(int), int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, name_of(i)) == 0)
            return i;
    return 0;
}

static const char *kind_name(int kind)
{
    return akgen_verdict_kind_name((enum akgen_verdict_kind)kind);
}

static const char *stage_name(int stage)
{
    return akgen_verdict_stage_name((enum akgen_verdict_stage)stage);
}

static struct bench_row read_row(struct arena *arena, sqlite3_stmt *statement)
{
    return (struct bench_row){
        .task = column(arena, statement, 0),
        .sample = sqlite3_column_int(statement, 1),
        .level = sqlite3_column_int(statement, 2),
        .category = column(arena, statement, 3),
        .evaluated = true,
        .kind = (enum akgen_verdict_kind)name_index((const char *)sqlite3_column_text(statement, 4), kind_name,
                                                    AKGEN_VERDICT_INFRA_ERROR + 1),
        .stage = (enum akgen_verdict_stage)name_index((const char *)sqlite3_column_text(statement, 5), stage_name,
                                                      AKGEN_STAGE_COMPARE + 1),
        .reason = column(arena, statement, 6),
        .cases_passed = sqlite3_column_int(statement, 7),
        .cases_total = sqlite3_column_int(statement, 8),
        .seconds = sqlite3_column_double(statement, 9),
        .verdict = json_loads((const char *)sqlite3_column_text(statement, 10), 0, NULL),
        .source = column(arena, statement, 11),
    };
}

static const char rows_sql[] =
    "SELECT task, sample, level, category, verdict, stage, reason, cases_passed, cases_total,"
    " seconds, json, source FROM verdicts LEFT JOIN candidates ON hash = candidate"
    " WHERE run = ? ORDER BY task, sample";

static int count_rows(struct store *store, int64_t run_id)
{
    sqlite3_stmt *statement = query(store, "SELECT count(*) FROM verdicts WHERE run = ?", "i", run_id);
    int count = statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    return count;
}

static struct akgen_error *load_rows(struct store *store, struct bench *bench)
{
    int count = count_rows(store, bench->run);
    sqlite3_stmt *statement = query(store, rows_sql, "i", bench->run);
    if (!statement)
        return store_error(store);
    bench->rows = arena_alloc(&bench->arena, sizeof *bench->rows * (size_t)(count + 1));
    while (bench->count < count && sqlite3_step(statement) == SQLITE_ROW)
        bench->rows[bench->count++] = read_row(&bench->arena, statement);
    sqlite3_finalize(statement);
    return NULL;
}

struct akgen_error *store_load(struct store *store, int64_t run_id, struct bench *bench)
{
    static const char sql[] =
        "SELECT id, suite, provider, soc, mode, scope, profile, akgen, protocol, seconds FROM runs"
        " WHERE id = ? OR ? = 0 ORDER BY id DESC LIMIT 1";
    memset(bench, 0, sizeof *bench);
    sqlite3_stmt *statement = query(store, sql, "ii", run_id, run_id);
    if (!statement)
        return store_error(store);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const char **texts[] = {&bench->suite, &bench->provider, &bench->soc,   &bench->mode,
                                &bench->scope, &bench->profile,  &bench->akgen, &bench->protocol};
        bench->run = sqlite3_column_int64(statement, 0);
        for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
            *texts[i] = column(&bench->arena, statement, i + 1);
        bench->seconds = sqlite3_column_double(statement, 9);
    }
    sqlite3_finalize(statement);
    if (!bench->run)
        return run_id ? error_new("%s has no run %lld", store->path, (long long)run_id)
                      : error_new("%s holds no run", store->path);
    return load_rows(store, bench);
}

/* Going on. */
static int64_t find_unfinished(struct store *store, const struct bench *bench)
{
    static const char sql[] = "SELECT id FROM runs WHERE seconds IS NULL AND suite = ? AND provider = ? AND soc = ? AND"
                              " mode = ? AND scope = ? AND profile = ? AND protocol = ? ORDER BY id DESC LIMIT 1";
    sqlite3_stmt *statement = query(store, sql, "sssssss", bench->suite, bench->provider, bench->soc, bench->mode,
                                    bench->scope, bench->profile, bench->protocol);
    int64_t found = statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return found;
}

/* Copies what the database knows of a row; task, definition and directory stay. */
static void take_row(struct bench_row *row, struct bench_row *stored)
{
    struct bench_row merged = *stored;
    merged.task = row->task;
    merged.category = row->category;
    merged.definition = row->definition;
    merged.dir = row->dir;
    *row = merged;
    stored->verdict = NULL;
}

struct akgen_error *store_resume(struct store *store, struct bench *bench)
{
    struct bench earlier;
    int64_t found = find_unfinished(store, bench);
    if (!found)
        return error_new("%s has no unfinished run with these settings", store->path);
    struct akgen_error *error = store_load(store, found, &earlier);
    bench->run = found;
    for (int i = 0, j = 0; !error && i < bench->count; i++)
        for (j = 0; j < earlier.count; j++)
            if (earlier.rows[j].sample == bench->rows[i].sample &&
                strcmp(earlier.rows[j].task, bench->rows[i].task) == 0 && !bench->rows[i].evaluated)
                take_row(&bench->rows[i], &earlier.rows[j]);
    for (int j = 0; j < earlier.count; j++)
        json_decref(earlier.rows[j].verdict);
    arena_adopt(&bench->arena, &earlier.arena);
    return error;
}
