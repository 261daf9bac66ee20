/* Many candidates -> a run: tasks are evaluated side by side, every verdict is stored as soon as it is known. */
#ifndef EVAL_BENCH_H
#define EVAL_BENCH_H

#include "eval/eval.h"

struct store;

/* What is kept of one verdict. */
struct bench_row {
    const struct task *task;
    bool evaluated;
    enum verdict_kind kind;
    enum verdict_stage stage;
    const char *reason; /* NULL for a pass */
    int cases_passed, cases_total;
    double seconds;
    json_t *verdict; /* docs/verdict.md */
};
struct bench {
    struct bench_row *rows; /* one per task, in task order */
    int count;
    double seconds;
    struct akgen_error *store_error; /* the first failure of the store; the run went on without it */
    struct arena arena;
};
struct bench_options {
    const struct task *tasks;
    int task_count;
    const char *provider;     /* "reference", or "dir:PATH" */
    struct eval_options eval; /* eval.jobs tasks side by side, each with one job */
    struct store *store;      /* NULL = keep nothing */
    void (*on_row)(void *closure, const struct bench *bench, int done);
    void *closure;
};
/* "reference" -> <task>/reference; "dir:PATH" -> PATH/<task name>, its answer/0 if that is there. */
struct akgen_error *bench_check_provider(const char *provider);
void bench_run(const struct bench_options *options, struct bench *bench);
void bench_free(struct bench *bench);

/* Counts of a set of rows, for tables. */
struct bench_counts {
    int tasks, compiled, passed; /* compiled: got past the build */
    int excluded;                /* unsupported and infra_error: in no rate */
    int cases, cases_passed;
};
/* Calls visit for every category ("level 1 / Math"), after its categories for every level ("level 1"), and at last for
 * "all". */
void bench_visit_groups(const struct bench *bench,
                        void (*visit)(void *closure, const char *name, const struct bench_counts *counts),
                        void *closure);

/* ---- the database (store.c): SQLite, one file, schema in docs/store.md
 * ----------------------------------------------- */
struct akgen_error *store_open(const char *path, struct store **store);
/* Begins a run; its number goes to *run. */
struct akgen_error *store_begin_run(struct store *store, const char *suite, const char *provider,
                                    const struct eval_options *options);
/* Adds one verdict to the run, durably, in a transaction of its own. */
struct akgen_error *store_add(struct store *store, const struct bench_row *row);
struct akgen_error *store_end_run(struct store *store, double seconds);
void store_close(struct store *store);

/* ---- the page (report.c) --------------------------------------------------------------------------------------------
 */
/* Writes one self-contained HTML file: no scripts from elsewhere, no fonts, no network. */
struct akgen_error *report_write_html(const char *path, const struct bench *bench, const struct bench_options *options);

#endif
