/* Tables in Apache Parquet (format 1): text and whole numbers, plainly encoded, not compressed. Debian 12 has no C library that writes it. */
#ifndef RUNS_PARQUET_H
#define RUNS_PARQUET_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

struct cot_parquet;
/* Begins a table in `out`, whose columns have these names (kept by the caller): first texts, which may be NULL, then numbers. */
struct cot_parquet *cot_parquet_new(FILE *out, const char *const *texts, int text_count, const char *const *numbers,
                                    int number_count);
/* Adds a row. A row group ends after PARQUET_ROWS rows or as many bytes. */
enum { PARQUET_ROWS = 10000, PARQUET_GROUP_BYTES = 64 << 20 };
void cot_parquet_row(struct cot_parquet *table, const char *const *texts, const int64_t *numbers);
/* Ends the table and releases it; `out` stays open. An error: it could not be written. */
struct akgen_error *cot_parquet_end(struct cot_parquet *table);

#endif
