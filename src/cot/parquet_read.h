/* Columns of text of a file in Apache Parquet: those that hold one text or none in a row, or a list of texts, however deep in structs and the list's
 * elements, in pages of version 1 and 2, plain or by dictionary, not compressed or by Snappy, gzip or Zstandard. Everything else is refused by its name.
 * Debian 12 has no C library that reads it. */
#ifndef COT_PARQUET_READ_H
#define COT_PARQUET_READ_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct cot_parquet_file;
/* Reads the footer; the descriptor stays the caller's and open as long as the file is read. Everything lives in the arena. Errors say what is not
 * read, in words that are the same for all of a kind but for the name of a column. */
struct akgen_error *cot_parquet_open(struct arena *arena, int fd, struct cot_parquet_file **file);
int cot_parquet_groups(const struct cot_parquet_file *file);
int64_t cot_parquet_group_rows(const struct cot_parquet_file *file, int group);

/* A text of a row: bytes without an end; NULL: there is none. */
struct cot_cell {
    const char *text;
    size_t length;
};
/* A column of a row group. */
struct cot_column {
    const struct cot_cell *cells; /* one for each row, or of all lists; NULL: there is no such column */
    const int64_t *
        starts; /* of lists, (rows + 1): row r has the cells from starts[r] to before starts[r + 1]; NULL: it is none */
};
/* Reads it, into the arena. `path`: the names from the top to the column with dots between them, "question", "row.answer"; between a list and the
 * fields of its elements stands nothing else: "messages.content" of list<struct{role, content}>, "tags" of list<string>. A column of lists of
 * lists, or of anything but texts, is none. */
struct akgen_error *cot_parquet_column(struct arena *arena, struct cot_parquet_file *file, int group, const char *path,
                                       struct cot_column *column);

#endif
