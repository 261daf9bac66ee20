/* Inside src/eval: what the reports of a run share, as text, JSON and a page. */
#ifndef EVAL_REPORT_INTERNAL_H
#define EVAL_REPORT_INTERNAL_H

#include "eval/bench.h"

/* Puts text that anybody may have written: as it is for a terminal, escaped in a page. */
typedef void report_put(FILE *out, const char *text);
/* For a terminal: control characters become '?'. */
report_put report_put_text;
/* " 12.3%", or "-" for NAN, `width` characters behind a space. */
void report_put_percent(FILE *out, double value, int width);

/* pass@k by level and category (report_sampling.c). */
void report_write_pass_at_k(FILE *out, struct bench *bench, const struct report_style *style);
/* A line for each k: which tasks have fewer rated samples than that. */
void report_write_shortages(FILE *out, struct bench *bench, report_put *put);
json_t *report_pass_at_k_json(struct bench *bench);

/* Of a run that samples a model, nothing of others: which it is and how it samples, what it was asked and answered, what is in no figure,
 * what is not there. Each line ends with `end`. */
void report_write_sampling(FILE *out, const struct bench *bench, report_put *put, const char *end);
json_t *report_sampling_json(const struct bench *bench);

/* For a page (report_timing.c): the two cells of a case's modelled time (a verdict's `timing`, NULL or null: it has none), and the
 * plot of all cases of a run. */
void report_put_timing(FILE *out, const json_t *timing, report_put *put);
void report_put_roofline(FILE *out, const struct bench *bench, report_put *put);

#endif
