#include "base/sql.h"
#include "base/files.h"

#include <stdbool.h>
#include <stdint.h>

struct akgen_error *sql_error(sqlite3 *db, const char *path)
{
    return error_new("%s: %s", path, sqlite3_errmsg(db));
}

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

struct akgen_error *sql_run(sqlite3 *db, const char *path, const char *sql, const char *types, va_list values)
{
    sqlite3_stmt *statement = sql_query(db, sql, types, values);
    struct akgen_error *error = NULL;
    if (!statement || sqlite3_step(statement) != SQLITE_DONE)
        error = sql_error(db, path);
    sqlite3_finalize(statement);
    return error;
}

sqlite3_stmt *sql_query(sqlite3 *db, const char *sql, const char *types, va_list values)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK || !bind(statement, types, values)) {
        sqlite3_finalize(statement);
        statement = NULL;
    }
    return statement;
}

struct akgen_error *sql_read_file(const char *path, const char *sql, void (*take)(void *closure, sqlite3_stmt *row),
                                  void *closure, const char *types, ...)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    struct akgen_error *error = NULL;
    int state = SQLITE_ERROR;
    va_list values;
    if (!files_exists(path))
        return error_new("%s: there is no such file", path);
    va_start(values, types);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        (row = sql_query(db, sql, types, values)))
        while ((state = sqlite3_step(row)) == SQLITE_ROW)
            take(closure, row);
    va_end(values);
    if (state != SQLITE_DONE)
        error = sql_error(db, path);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return error;
}

const char *sql_column(struct arena *arena, sqlite3_stmt *statement, int index)
{
    const char *text = (const char *)sqlite3_column_text(statement, index);
    return text ? arena_strdup(arena, text) : NULL;
}

int sql_pragma(sqlite3 *db, const char *pragma)
{
    sqlite3_stmt *statement = NULL;
    bool read =
        sqlite3_prepare_v2(db, pragma, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW;
    int value = read ? sqlite3_column_int(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}
