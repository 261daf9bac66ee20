/* Many candidates -> a run: samples are evaluated side by side, every verdict is stored as soon as it is known. A run
 * lives in a `struct bench`, whether it was just made or comes from the database; tables and pages are made from it. */
#ifndef RUNS_BENCH_H
#define RUNS_BENCH_H

#include "eval/eval.h"
#include "eval/kernel_baseline.h"
#include "runs/metrics.h"
#include "runs/samples.h"
#include "runs/store.h"

#include <stdio.h>

/* What a baseline has for a task: eager's times, a kernel that passes, none, one that does not pass. */
enum bench_kernel { BENCH_EAGER, BENCH_KERNEL, BENCH_KERNEL_MISSING, BENCH_KERNEL_FAILS };

/* One sample of one task: what to evaluate, and what came out. */
struct bench_row {
    const char *task, *category;       /* "level1/Math/Sqrt", "Math" */
    int level, sample;                 /* sample: number of the answer, 0 if there is one */
    const struct task *definition;     /* NULL for a row that comes from the database */
    const char *path;                  /* of the candidate; NULL: it is a value, or the provider makes it */
    const struct candidate *candidate; /* NULL while it is not there yet, and when it was evaluated */
    bool evaluated;
    enum akgen_verdict_kind kind;
    enum akgen_verdict_stage stage;
    const char *reason; /* NULL for a pass */
    int cases_passed, cases_total;
    double seconds;
    const char *hash; /* of its sources; NULL: none were taken, or the row comes from the database */
    /* Owned by the row, and text because there may be thousands of rows: */
    char *verdict; /* JSON, docs/verdict.md */
    char *
        source; /* of the kernel, for the page; NULL if it could not be read, or for want of room (BENCH_SOURCE_BYTES) */
    /* What sums need of the verdict. */
    int error_class;                  /* enum diagnostic_class of its first error; -1: it has none */
    bool wrapper;                     /* an answer's wrapper does more than one plain call */
    double speedup[SPEEDUP_LAUNCHES]; /* over the baseline, modelled; 0: not known */
    double roofline;                  /* mean share of the bound that its shown cases reach, modelled; 0: not known */
    enum bench_kernel kernel;         /* what the baseline has for the task */
    const char *kernel_lack;          /* why that is no baseline; NULL: it is one */
    char kernel_hash[16 + 1];         /* how the hash of its sources begins; "": none were taken */
};
enum { BENCH_SOURCE_BYTES = 64 << 20 }; /* of the rows' sources together; the database has them all */
/* A task that a run was to evaluate, and how many samples of it. */
struct bench_planned {
    const char *task, *category;
    int level, samples;
};
/* The reason of the verdict where a tree has no answer to a task: compile_error at stage parse. */
#define BENCH_NO_ANSWER "no answer"
struct bench {
    int64_t run;                      /* number in the database; 0 = not stored */
    const char *tree;                 /* the folder that the provider's name gives; NULL: none */
    const struct bench_provider *own; /* who makes the candidates of rows that have none; NULL */
    const char *suite, *provider, *soc, *mode, *scope, *profile, *akgen;
    const char *language; /* that answers had to be in, one of eval_languages; BENCH_UNKNOWN_LANGUAGE of an old run */
    const char *protocol; /* eval_protocol(): stands beside every figure; "" if the suite has only one */
    const char *salt; /* eval_options.salt; a new run in a database gets one if this is NULL and the profile strict */
    const char *baseline;   /* what speedups are over: BASELINE_EAGER, "dir:PATH" */
    struct bench_row *rows; /* by task, then sample */
    int count, capacity;
    const struct bench_planned *plan; /* what the run was to have; a database of an older version does not say */
    int plan_count;
    const char *settings;         /* of a run that samples a model: how it does, as JSON; "" or NULL: none does */
    int planned;                  /* samples that such a run shall have; it may have been stopped before */
    struct sample_totals sampled; /* of such a run: what it has asked and got */
    const int *ks;                /* k of pass@k that was asked for; NULL: those of the papers, with several samples */
    int k_count;
    int skipped; /* tasks that lack the only case asked for; known to a run that was just made */
    double seconds;
    size_t source_bytes;             /* of the sources that the rows hold */
    struct akgen_error *store_error; /* the first failure of the store; the run went on without it */
    struct arena arena;
};
/* Candidates that come while the run goes on: answers of a model. */
struct bench_source {
    /* The number of a row whose `candidate` is set, each once; waits for one. -1: no more will come. Called by several
     * threads at once. */
    int (*next)(void *closure, struct bench *bench);
    /* The row's candidate was evaluated and is needed no more. Likewise. */
    void (*done)(void *closure, struct bench *bench, int row);
    /* The run was interrupted: what is evaluated now comes to no verdict. */
    bool (*stopped)(void *closure);
    void *closure;
};
struct bench_options {
    const struct bench_source *source; /* NULL: every row's candidate is there */
    struct eval_options eval;          /* eval.jobs samples side by side, each with one job */
    struct store *store;               /* NULL = keep nothing */
    struct kernel_baseline *baseline;  /* of the run's name; NULL = eager */
    void (*on_row)(void *closure, const struct bench *bench, int done);
    void *closure;
};
#define BENCH_REFERENCE        "reference"
#define BENCH_UNKNOWN_LANGUAGE "unknown" /* of runs that were stored before runs had a language */
/* A provider that the caller brings along: it makes candidates. */
struct bench_provider {
    const char *name;
    enum eval_language language; /* of what it makes */
    bool (*has)(const struct task *task);
    /* Makes the candidate for a task, in the arena. Called by several threads at once, when it is to be evaluated. */
    void (*make)(struct arena *arena, const struct task *task, struct candidate *candidate);
};
/* Checks the name of a provider: BENCH_REFERENCE, "dir:PATH", or the caller's own (`own` may be NULL). */
struct akgen_error *bench_check_provider(const char *provider, const struct bench_provider *own);
/* Lists the samples that a provider has for the tasks: "reference" -> <task>/reference where that exists; "dir:PATH" ->
 * tree_answers(). A broken task is a row too, and so is one without an answer (BENCH_NO_ANSWER); a task without the only case
 * asked for is skipped and counted. */
void bench_prepare(struct bench *bench, const char *provider, const struct bench_provider *own,
                   const struct task *tasks, int count, const struct eval_options *options);
/* Rows of a run that gets `samples` candidates for each task from its source. */
void bench_prepare_samples(struct bench *bench, const char *provider, const struct task *tasks, int count, int samples,
                           const struct eval_options *options);
/* Fills a row from a verdict that was compared with its baseline (speedup_add), all but the JSON. Strings are the arena's. */
void bench_row_take(struct arena *arena, struct bench_row *row, const struct verdict *verdict);
/* Gives a row of a stored run its verdict's JSON, which is freed with the row, and what sums need of it. */
void bench_row_open(struct arena *arena, struct bench_row *row, char *verdict);
/* The times of an entry of `cases` in a stored verdict. */
struct speedup_case bench_case_times(const json_t *row);
/* The verdict of a row, parsed; owned by the caller. NULL: it has none. */
json_t *bench_row_verdict(const struct bench_row *row);
/* True if a row says that a tree has no answer to its task. */
bool bench_is_missing(const struct bench_row *row);
/* Drops the source of a row if the run has too many. */
void bench_row_bound(struct bench *bench, struct bench_row *row);
void bench_row_free(struct bench_row *row);
/* Takes the rows that are not evaluated out of a run that was stopped. */
void bench_keep_evaluated(struct bench *bench);
/* Evaluates every row that is not evaluated yet. */
void bench_run(struct bench *bench, const struct bench_options *options);
void bench_free(struct bench *bench);

/* Sums (summary.c). */
/* Of some of a run's tasks, by the models of candidate and baseline and for each charge of eager's launches: shares with a right
 * sample at least `bench_speeds` times as fast as the baseline, NAN while no verdict of the run carries times; and the geometric
 * mean of the best speedups of the `timed` tasks that have one, NAN if there are none. */
enum { BENCH_SPEEDS = 3 };
extern const double bench_speeds[BENCH_SPEEDS]; /* 0.2, 0.8, 1.0 */
struct bench_speed {
    double fast[SPEEDUP_LAUNCHES][BENCH_SPEEDS], speedup[SPEEDUP_LAUNCHES];
    int timed;
    /* Whatever the baseline: mean and median of the best rooflines of the `bounded` tasks that have one, NAN. */
    double roofline, median_roofline;
    int bounded;
};
struct bench_group {
    const char *name;     /* "level 1 / Math", "level 1", "all" */
    int level;            /* 0: all */
    const char *category; /* NULL: all of the level */
    int tasks, samples;   /* samples: rated ones */
    int compiled, passed; /* samples that came past the build; samples whose every case is right */
    int excluded;         /* samples with verdict unsupported or infra_error: in no rate */
    int cases, cases_passed;
    struct metrics_mean compile_rate, execution_rate; /* pass@1 over tasks */
    struct bench_speed speed;
};
/* One entry per task of the run, in order; in the run's arena. */
struct metrics_task *bench_tasks(struct bench *bench, size_t *count) __attribute__((returns_nonnull));
/* Calls visit for every category, after its categories for every level, and at last for all. */
void bench_visit_groups(struct bench *bench, void (*visit)(void *closure, const struct bench_group *group),
                        void *closure);
/* MultiKernelBench's and AscendCraft's figures: shares of all tasks with a sample that compiles, is right, is fast. */
struct bench_shares {
    int tasks, k; /* k: the most rated samples of a task */
    double compiled, passed;
    struct bench_speed speed;
};
struct bench_shares bench_shares(struct bench *bench);
/* The same of the first k samples of each task. */
struct bench_shares bench_shares_at(struct bench *bench, int k);
/* The k for which pass@k is reported, `count` of them: those that were asked for, else those of the papers where a task has
 * several rated samples and so many, else none. */
const int *bench_ks(const struct bench *bench, int *count);
/* Evaluated samples by diagnostic class of their first error (AscendKernelGen's six) and by verdict. */
struct bench_errors {
    int classes[6], kinds[8];
    int wrappers; /* of the unsupported ones: answers whose wrapper does more than one plain call */
};
struct bench_errors bench_errors(const struct bench *bench);

/* Runs in the database (store.h; store.c, store_resume.c). */
/* Begins a run; its number goes to bench->run. */
struct akgen_error *store_begin_run(struct store *store, struct bench *bench);
/* Goes on with the newest unfinished run that has the same settings: marks the rows that it has as evaluated. A run that samples
 * a model is unfinished while it has fewer verdicts than it shall have, not counting infra_error: such rows are done again.
 * An error, which says what differs, if there is none; or if another process is at that run. */
struct akgen_error *store_resume(struct store *store, struct bench *bench);
/* Adds one verdict to the run, durably, in a transaction of its own. */
struct akgen_error *store_add(struct store *store, const struct bench *bench, const struct bench_row *row);
struct akgen_error *store_end_run(struct store *store, const struct bench *bench);
/* Reads a run; 0 = the newest. */
struct akgen_error *store_load(struct store *store, int64_t run, struct bench *bench);

/* Reports. */
/* Tables for a terminal (report_text.c): rates by group, the errors' shares, pass@k, and what a model was asked (report_sampling.c). */
struct report_style {
    const char *bold, *off;
};
void report_write_table(FILE *out, struct bench *bench, const struct report_style *style);
/* What changed from `before` to `after`: rates side by side and every task whose result differs. */
void report_write_comparison(FILE *out, struct bench *before, struct bench *after);
void report_write_csv(FILE *out, const struct bench *bench);
json_t *report_to_json(struct bench *bench);
/* One self-contained HTML file (report_html.c): no scripts, no fonts, no network. */
struct akgen_error *report_write_html(const char *path, struct bench *bench);

#endif
