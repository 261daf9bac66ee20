/* A candidate's modelled time against the baseline's: that of eager (baseline.h) or of a kernel (kernel_baseline.h). Every figure
 * is modelled on both sides. */
#ifndef EVAL_SPEEDUP_H
#define EVAL_SPEEDUP_H

#include <stdbool.h>

struct kernel_times;
struct task;
struct verdict;

/* What a kernel of eager is charged for its launch, in launches. A baseline that is a kernel has its own: one figure. */
enum { SPEEDUP_LAUNCHES = 3, SPEEDUP_ONE_LAUNCH = 1 };
extern const double speedup_launches[SPEEDUP_LAUNCHES]; /* 0.5, 1, 2 */

/* The times of a case in microseconds, to the digits of a verdict's JSON. 0: not known. */
struct speedup_case {
    double us;                      /* the candidate's; 0 also for a case that the task does not show */
    double roofline;                /* the share of `us` that its bound takes */
    double eager[SPEEDUP_LAUNCHES]; /* NAN: one of eager's kernels has no size */
    double kernel;                  /* of the baseline's kernel */
};
/* A verdict against its baseline. */
struct speedup {
    const char *baseline;              /* its name; NULL: the verdict was not compared */
    const struct kernel_times *kernel; /* NULL: the baseline is eager */
    struct speedup_case *cases;        /* one for each of the verdict's */
    /* Means with one launch, of a verdict that passes, to the digits of its JSON; NAN: not known. */
    double over_baseline, over_eager; /* over_eager: only beside a kernel */
};

/* Fills `verdict->speedup`, once for a verdict. `kernel`: the baseline, which outlives the verdict; NULL: eager. */
void speedup_add(const struct task *task, const struct kernel_times *kernel, struct verdict *verdict);
/* The baseline's time / the candidate's, for a charge (an index of speedup_launches) of eager's kernels; `kernel`: over the
 * baseline's kernel, which is charged its own launch. 0: not known. */
double speedup_of_case(const struct speedup_case *row, bool kernel, int launches);
/* The mean of that over the cases where it is known. 0: none. */
double speedup_mean(const struct speedup_case *cases, int count, bool kernel, int launches);
/* The mean roofline of the cases whose time is known. 0: none. */
double speedup_mean_roofline(const struct speedup_case *cases, int count);

#endif
