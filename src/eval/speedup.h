/* A candidate's modelled time against the baseline's, in verdicts and from them: that of eager (baseline.h) or of a kernel
 * (kernel_baseline.h). Every figure is modelled on both sides. */
#ifndef EVAL_SPEEDUP_H
#define EVAL_SPEEDUP_H

#include "eval/kernel_baseline.h"
#include "task/task.h"

/* What a kernel of eager is charged for its launch, in launches. A baseline that is a kernel has its own: one figure. */
enum { SPEEDUP_LAUNCHES = 3, SPEEDUP_ONE_LAUNCH = 1 };
extern const double speedup_launches[SPEEDUP_LAUNCHES]; /* 0.5, 1, 2 */

/* Gives each case of a verdict's JSON that the task shows and whose time is known (timing.us) its `eager_us`, a number for
 * each of speedup_launches, and the verdict `baseline`, and `speedup` if it passes. With a `kernel` (else NULL) cases have its
 * `baseline_us` besides, `speedup` is over that, `eager_speedup` over eager, and `baseline_kernel` says which it is and what is
 * wrong with it. `task` may be NULL: nothing is added. */
void speedup_add(const struct task *task, const struct kernel_times *kernel, json_t *verdict);
/* Mean over those cases of the baseline's time / timing.us, for a charge (an index of speedup_launches) of eager's kernels.
 * 0: not known. */
double speedup_of(const json_t *verdict, int launches);
/* The same of one of the cases; `kernel`: over baseline_us. */
double speedup_of_case(const json_t *row, bool kernel, int launches);

#endif
