/* cases.csv: a table with a header line. Fields are separated by ';' and may be quoted with "..." ("" is a quote). */
#ifndef TASK_CSV_H
#define TASK_CSV_H

#include "base/arena.h"
#include "base/error.h"

struct csv_row {
    const char **values; /* as many as the table has columns */
    int line;            /* 1-based, where the row starts */
};
struct csv_table {
    const char **columns;
    int column_count;
    struct csv_row *rows;
    int row_count;
};
/* Parses a whole text, of at most 10000 rows and 64 KiB in a field. Errors start with "<name>:<line>: ". Blank lines are skipped. */
struct akgen_error *csv_parse(struct arena *arena, const char *name, const char *text, struct csv_table *table);

#endif
