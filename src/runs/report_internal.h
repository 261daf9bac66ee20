/* Inside src/eval: what the reports of a run share, as text, JSON and a page. */
#ifndef RUNS_REPORT_INTERNAL_H
#define RUNS_REPORT_INTERNAL_H

#include "runs/bench.h"

/* Puts text that anybody may have written: text_put_plain for a terminal, text_put_html in a page. What comes of a database or of a
 * verdict goes through one of them, whatever column it is of. */
typedef void report_put(FILE *out, const char *text);
/* For a terminal, filled up to so many bytes with spaces. */
void report_put_name(FILE *out, const char *name, int width);
/* " 12.3%", or "-" for NAN, `width` characters behind a space. */
void report_put_percent(FILE *out, double value, int width);

/* pass@k by level and category (report_sampling.c). */
void report_write_pass_at_k(FILE *out, struct bench *bench, const struct report_style *style);
/* A line that says how many tasks have no answer, or fewer than a k that is shown; nothing where all have theirs. */
void report_write_missing(FILE *out, struct bench *bench, report_put *put, const char *end);
/* {"tasks": all, "no_answer": tasks, "fewer": [{"k": k, "tasks": those with answers, but fewer than k}]} */
json_t *report_missing_json(struct bench *bench);
/* A line for each k that excluded samples leave too few for: which tasks are left out of it. */
void report_write_shortages(FILE *out, struct bench *bench, report_put *put);
json_t *report_pass_at_k_json(struct bench *bench);

/* Of a run that samples a model, nothing of others: which it is and how it samples, what it was asked and answered, what is in no figure,
 * what is not there. Each line ends with `end`. */
void report_write_sampling(FILE *out, const struct bench *bench, report_put *put, const char *end);
json_t *report_sampling_json(const struct bench *bench);

/* Speed (report_speed.c). What speedups of the run are over: "eager of a 910B2", "the kernels of dir:PATH". */
void report_put_baseline(FILE *out, const struct bench *bench, report_put *put);
/* Whether a verdict of the run carries times; else its tables have no columns of speed. */
bool report_has_speed(struct bench *bench);
/* The columns of a table for a terminal: their heads, k as in Fast_p@k, and the cells of a row. */
void report_put_speed_head(FILE *out, int k);
void report_put_speed_cells(FILE *out, const struct bench_speed *speed);
/* Lines below the table, for a terminal; nothing where no speedup is known. */
void report_write_speed(FILE *out, struct bench *bench, const struct bench_shares *shares);
/* Behind the shares of the first k samples of each task. */
void report_write_speed_at(FILE *out, struct bench *bench, const struct bench_shares *shares);
/* The same of a page, in a sentence. */
void report_put_speed(FILE *out, struct bench *bench, const struct bench_shares *shares, report_put *put);
/* For which tasks the baseline has no times, and why. Each line ends with `end`. */
void report_write_lacking(FILE *out, const struct bench *bench, report_put *put, const char *end);
/* From one run to another, for a terminal. */
void report_write_speed_change(FILE *out, struct bench *before, struct bench *after);
/* Adds `fast`, which charges eager a launch a kernel, `modelled`, which has every charge, and the speedups, and `roofline`. */
void report_add_speed(json_t *json, const struct bench *bench, const struct bench_speed *speed);

/* For a page (report_timing.c): the two cells of a case's modelled time (a verdict's `timing`, NULL or null: it has none), and the
 * plot of all cases of a run. */
void report_put_timing(FILE *out, const json_t *timing, report_put *put);
void report_put_roofline(FILE *out, const struct bench *bench, report_put *put);

#endif
