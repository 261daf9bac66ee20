/* The eager baseline: what PyTorch on the NPU would take for a case, as the sum over the kernels that the task lists
 * (task->eager) of a launch and of what bytes and products need at the rates that published timings of the vendor's
 * kernels show (eager.def). Modelled, and for a 910B2: no figure from it is a measurement. docs/eager.md. */
#ifndef EVAL_BASELINE_H
#define EVAL_BASELINE_H

#include "task/task.h"

/* Rates of a kind of kernel. The shares are of BASELINE_L2, BASELINE_MEMORY and of the cube's rate for the type. */
struct baseline_rate {
    int rows;      /* published timings behind it, 0: those of another kind */
    double launch; /* microseconds */
    double resident, streamed, compute;
};
#define BASELINE_MEMORY   1.5e6             /* bytes per microsecond: what copies reach on 48 cores */
#define BASELINE_L2       5e6               /* bytes per microsecond, as documented */
#define BASELINE_L2_BYTES (192 << 20)       /* what fits */
#define BASELINE_CUBE     (24 * 1800.0 * 2) /* operations per microsecond and per product that a cube makes in a cycle */

const struct baseline_rate *baseline_rate(enum task_eager_kind kind);
/* Microseconds of one kernel, its launch taken `launches` times. */
double baseline_kernel_us(enum task_eager_kind kind, const struct task_eager_traffic *traffic, double launches);
/* Microseconds of all kernels of a case. Tables are printed for 0.5, 1 and 2 launches: how much of a speedup hangs on
 * what a launch costs. NAN where the task lists no kernels or one of them has no size. */
double baseline_us(const struct task_instance *instance, double launches);

#endif
