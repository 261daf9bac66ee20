/* Inside src/runs: the database file (store_sql.c) as store.c (runs and verdicts), store_resume.c (going on), samples.c (what models
 * answered), cot_store.c (samples to train on) and export.c use it. */
#ifndef RUNS_STORE_INTERNAL_H
#define RUNS_STORE_INTERNAL_H

#include "runs/bench.h"

#include <pthread.h>
#include <sqlite3.h>

struct store {
    sqlite3 *db;
    char *path;            /* "": a file of SQLite's own that goes with the store */
    int owned;             /* a descriptor that holds the lock on a run (store_own); -1: none */
    bool has_words;        /* samples to train on have a full text index */
    _Atomic int64_t steps; /* of SQLite's machine, since a statement began */
    pthread_mutex_t lock;  /* a transaction is one thread's */
};

/* In SQL, the language of a row `v` of the table of verdicts. */
#define BENCH_LANGUAGE_SQL                                                                                             \
    "coalesce(CASE WHEN json_valid(v.json) THEN json_extract(v.json, '$.language') END, '" BENCH_UNKNOWN_LANGUAGE "')"

/* What SQLite says of the last call that failed. */
struct akgen_error *store_error(const struct store *store);
/* Runs a statement that returns no rows. `types`: one letter per parameter, i int64_t, d double, s text or NULL. */
struct akgen_error *store_run(struct store *store, const char *sql, const char *types, ...);
/* A statement for store_next; NULL on failure. */
sqlite3_stmt *store_query(struct store *store, const char *sql, const char *types, ...);
/* True if the statement has one more row. Otherwise, and if *error is set already, it is released; *error is set if it failed. */
bool store_next(struct store *store, sqlite3_stmt *statement, struct akgen_error **error);
/* The first number that a statement returns; `otherwise` if it returns no row or fails. */
int64_t store_number(struct store *store, int64_t otherwise, const char *sql, const char *types, ...);
/* The text of a column, until the next step; NULL for NULL. */
static inline const char *store_text(sqlite3_stmt *statement, int index)
{
    return (const char *)sqlite3_column_text(statement, index);
}
/* The same, in the arena. */
const char *store_column(struct arena *arena, sqlite3_stmt *statement, int index);

/* A transaction, for which the store is locked until its end: */
struct akgen_error *store_begin(struct store *store);
/* commits it, or rolls back if `error` is one. Returns `error`, or why it could not be committed. */
struct akgen_error *store_end(struct store *store, struct akgen_error *error);

/* Holds a run until the store is closed, or the process ends however it does. An error: another process holds it. */
struct akgen_error *store_own(struct store *store, int64_t run);

/* Writes what a run is to have; a resumed one may be to have more. Within a transaction. */
struct akgen_error *store_plan(struct store *store, const struct bench *bench);

#endif
