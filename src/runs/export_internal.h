/* Inside src/runs: what the statements (export.c) and the rows (export_rows.c) of an export share. */
#ifndef RUNS_EXPORT_INTERNAL_H
#define RUNS_EXPORT_INTERNAL_H

#include "base/arena.h"
#include "runs/export.h"

#include <jansson.h>

/* One answer of a row, as the database has it. */
struct export_answer {
    const char *text, *reasoning; /* reasoning: NULL if the server kept none apart */
    int64_t run, sample;
    const char *verdict, *stage, *model, *akgen;
};
/* A row: a question and one answer, or two of which the first is better. */
struct export_row {
    const char *task, *prompt_hash;
    const json_t *messages; /* the question */
    struct export_answer answers[2];
};

/* An answer without what the model thought in it; "" if that never came to an end. */
const char *export_spoken(struct arena *arena, const char *answer);
/* NULL, or why such messages do not fit the format. */
const char *export_misfit(const json_t *messages, enum export_format format);
/* The row as the format has it; owned by the caller. */
json_t *export_row_json(const struct export_row *row, const struct export_options *options);

#endif
