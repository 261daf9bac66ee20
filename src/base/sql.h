/* SQLite, spoken to in statements: what every database of akgen's needs. */
#ifndef BASE_SQL_H
#define BASE_SQL_H

#include "base/arena.h"
#include "base/error.h"

#include <sqlite3.h>

enum { SQL_BUSY_MILLISECONDS = 30000 }; /* how long one process waits for another's transaction */

/* What SQLite says of the last call that failed, with the file's name before it. */
struct akgen_error *sql_error(sqlite3 *db, const char *path);
/* Runs a statement that returns no rows. `types`: one letter per parameter, i int64_t, d double, s text or NULL. */
struct akgen_error *sql_run(sqlite3 *db, const char *path, const char *sql, const char *types, va_list values);
/* A statement whose rows are stepped through; NULL on failure. */
sqlite3_stmt *sql_query(sqlite3 *db, const char *sql, const char *types, va_list values);
/* Gives each row of what a query finds in a file, which is there already and is not changed, to `take`. */
struct akgen_error *sql_read_file(const char *path, const char *sql, void (*take)(void *closure, sqlite3_stmt *row),
                                  void *closure, const char *types, ...);
/* The text of a column; NULL for NULL. */
const char *sql_column(struct arena *arena, sqlite3_stmt *statement, int index);
/* A PRAGMA whose value is a number, as user_version; -1: it cannot be read. */
int sql_pragma(sqlite3 *db, const char *pragma);

#endif
