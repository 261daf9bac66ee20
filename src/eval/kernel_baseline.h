/* Kernels as what speedups are over, in place of eager (baseline.h): one for each task, which the user names and which is evaluated
 * as any candidate is, with the same options, once for a run. Its modelled times are the baseline; one that does not pass is none. */
#ifndef EVAL_KERNEL_BASELINE_H
#define EVAL_KERNEL_BASELINE_H

#include "eval/eval.h"

#define BASELINE_EAGER "eager"

/* Of a run. Thread-safe. */
struct kernel_baseline;

/* What the baseline's kernel for a task is worth. Owned by the baseline. */
struct kernel_times {
    const char *baseline; /* its name, "dir:PATH" */
    bool judged;          /* there is a kernel for the task, and only one: `kind` is what it was found to be */
    const char *hash;     /* of its sources (verdict.candidate_hash); NULL: none were taken */
    enum akgen_verdict_kind kind;
    const char
        *lack; /* why there are no times, one line that begins with its verdict if it was judged; NULL: there are */
    struct kernel_time {
        int id;
        const char *shape, *dtype; /* as in the verdict */
        double us;                 /* to the digits of a verdict */
    } *cases;                      /* those that the task shows and whose time is known */
    int case_count;
};

/* BASELINE_EAGER, of which *baseline is NULL, or "dir:PATH": a tree of candidates (tree.h), or, where `task_count` is 1, the only
 * candidate itself: a folder with op_kernel/ or an answer in a file. An error says what is wrong with the name or the path. */
struct akgen_error *kernel_baseline_open(const char *name, int task_count, struct kernel_baseline **baseline);
/* The same for one task, for which it must have a kernel. On an error *baseline may be set. */
struct akgen_error *kernel_baseline_open_for(const char *name, const struct task *task,
                                             struct kernel_baseline **baseline);
void kernel_baseline_close(struct kernel_baseline *baseline);
/* Whether it has a kernel for the task, right or not. */
bool kernel_baseline_has(const struct kernel_baseline *baseline, const struct task *task);
/* Of a task that outlives the baseline. The first call evaluates the kernel, others wait for it. `options` are those of the
 * candidates, but for what is told while they run (debug, on_case). */
const struct kernel_times *kernel_baseline_times(struct kernel_baseline *baseline, const struct task *task,
                                                 const struct eval_options *options);
/* Its time of a case; 0: not known, or not of these sizes. */
double kernel_time_of(const struct kernel_times *times, int id, const char *shape, const char *dtype);

#endif
