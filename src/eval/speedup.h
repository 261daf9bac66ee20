/* A candidate's modelled time against the eager baseline's (baseline.h), in verdicts and from them. Every figure is
 * modelled on both sides. */
#ifndef EVAL_SPEEDUP_H
#define EVAL_SPEEDUP_H

#include "task/task.h"

/* What a kernel of the baseline is charged for its launch, in launches. */
enum { SPEEDUP_LAUNCHES = 3, SPEEDUP_ONE_LAUNCH = 1 };
extern const double speedup_launches[SPEEDUP_LAUNCHES]; /* 0.5, 1, 2 */

/* Gives each case of a verdict's JSON that the task shows and whose time is known (timing.us) its `eager_us`, a number for
 * each of speedup_launches; and a verdict that passes `speedup`. `task` may be NULL: nothing is added. */
void speedup_add(const struct task *task, json_t *verdict);
/* Mean over those cases of eager_us / timing.us for a charge (an index of speedup_launches). 0: not known. */
double speedup_of(const json_t *verdict, int launches);

#endif
