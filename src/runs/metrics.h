/* The figures of the field, to the digit: compile and execution rates as pass@k, NPUKernelBench's own score, Comp@k,
 * Pass@k and fast_p of AscendCraft and MultiKernelBench, with bootstrap intervals over tasks. Definitions and sources:
 * docs/metrics.md. */
#ifndef RUNS_METRICS_H
#define RUNS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What n samples for one task came to. Samples whose verdict is unsupported or infra_error are in none of the
 * counts but their own. */
struct metrics_task {
    const char *name;
    int level;
    const char *category;
    int samples;             /* n: rated samples */
    int compiled, passed;    /* c of CR and of ER */
    int cases, cases_passed; /* of all rated samples together */
    int excluded;            /* unsupported or infra_error */
    int missing;             /* samples that the run was to have beside all these: they count as wrong */
    bool absent;             /* no answer of them came at all */
    const double *speedups;  /* one per passed sample: baseline time / candidate time, 0 for a sample without times;
                              * NULL = no times known */
};

/* 1 - C(n-c, k) / C(n, k): the chance that at least one of k samples drawn from n, c of them right, is right (Chen et
 * al. 2021, unbiased). Needs 1 <= k <= n and 0 <= c <= n; NAN otherwise. */
double metrics_pass_at_k(int n, int c, int k);

enum metrics_rate { METRICS_COMPILE, METRICS_EXECUTE };
struct metrics_mean {
    double value;     /* 0..1; NAN if no task has enough samples */
    double low, high; /* 95 % bootstrap interval over tasks */
    int tasks;        /* that entered */
};
/* The n of a task's pass@k: its rated samples and the missing ones, at least k, for an answer that is not there is a wrong one; less
 * than k where excluded samples leave too few. */
int metrics_samples(const struct metrics_task *task, int k);
/* Mean over tasks of pass@k. level 0 = all levels; category NULL = all. Tasks whose n is less than k are left out. */
struct metrics_mean metrics_rate(const struct metrics_task *tasks, size_t count, enum metrics_rate rate, int k,
                                 int level, const char *category);
/* The mean of the levels' means weighted 36 : 12 : 6, as the AscendKernelGen paper's 54 tasks weigh them; levels
 * without tasks are left out. */
double metrics_weighted(const struct metrics_task *tasks, size_t count, enum metrics_rate rate, int k);

/* NPUKernelBench's own score, 0..100, as documented (task = share of passed cases, level = mean over tasks) and as
 * coded (per level the passed samples over the samples); both weigh the levels 0.2, 0.3, 0.5. */
double metrics_score_documented(const struct metrics_task *tasks, size_t count);
double metrics_score_coded(const struct metrics_task *tasks, size_t count);

/* MultiKernelBench and AscendCraft: shares of all tasks, over the first k samples. */
double metrics_comp_at(const struct metrics_task *tasks, size_t count);
double metrics_passed_at(const struct metrics_task *tasks, size_t count);
/* Geometric mean of the tasks' best speedups, over the tasks with a right sample that has a time (`timed`: how many);
 * NAN if there are none. */
double metrics_speedup(const struct metrics_task *tasks, size_t count, int *timed);
/* Share of all tasks with a right sample at least p times as fast as the baseline; NAN if no task has times. */
double metrics_fast(const struct metrics_task *tasks, size_t count, double p);

#endif
