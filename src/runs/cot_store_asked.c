/* What models answered: a table that databases have from the first question on. */
#include "base/sql.h"
#include "runs/cot_store_internal.h"

static sqlite3_stmt *query(struct cot_store *store, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = sql_query(store->db, sql, types, values);
    va_end(values);
    return statement;
}

struct akgen_error *cot_store_make_asked(struct cot_store *store)
{
    pthread_mutex_lock(&store->lock);
    struct akgen_error *error =
        cot_store_run(store,
                      "CREATE TABLE IF NOT EXISTS asked (request TEXT PRIMARY KEY, model TEXT NOT NULL,"
                      " answer TEXT NOT NULL, finished TEXT NOT NULL) WITHOUT ROWID",
                      "");
    pthread_mutex_unlock(&store->lock);
    return error;
}

struct akgen_error *cot_store_asked(struct cot_store *store, struct arena *arena, const char *request,
                                    const char **answer)
{
    sqlite3_stmt *statement = query(store, "SELECT answer FROM asked WHERE request = ?", "s", request);
    int state = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    *answer = state == SQLITE_ROW ? arena_strdup(arena, (const char *)sqlite3_column_text(statement, 0)) : NULL;
    sqlite3_finalize(statement);
    return state == SQLITE_ROW || state == SQLITE_DONE ? NULL : cot_error(store);
}

struct akgen_error *cot_store_keep_asked(struct cot_store *store, const char *request, const char *model,
                                         const char *answer)
{
    pthread_mutex_lock(&store->lock); /* so that it is in no other thread's transaction, which may be rolled back */
    struct akgen_error *error = cot_store_run(
        store, "INSERT OR IGNORE INTO asked (request, model, answer, finished) VALUES (?,?,?,datetime('now'))", "sss",
        request, model, answer);
    pthread_mutex_unlock(&store->lock);
    return error;
}
