/* Inside src/runs: an export of samples to train on, as cot_export.c (rows) and cot_export_card.c (the card) make it. */
#ifndef RUNS_COT_EXPORT_INTERNAL_H
#define RUNS_COT_EXPORT_INTERNAL_H

#include "runs/cot_export.h"

#include <stdio.h>

enum { EXPORT_LENGTHS = 24 };
struct export_counts {
    int64_t samples, bytes;
    int64_t splits[3];
    int64_t parts[8][3];             /* by part and split */
    int64_t lengths[EXPORT_LENGTHS]; /* samples of less than 2^(i + 1) bytes and at least 2^i */
};
/* What `datasets` calls a split: train, validation, test. */
extern const char *const export_split_names[3];
/* README.md of a data set: what Hugging Face's datasets reads at its head, statistics, plots. */
struct akgen_error *export_write_card(struct store *store, const struct cot_filter *filter, enum cot_format format,
                                      const struct export_counts *counts, FILE *out);

#endif
