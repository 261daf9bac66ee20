/* What a right candidate takes, case by case, and how many times as fast one is as another. Every time is modelled. */
#ifndef EVAL_TIMES_H
#define EVAL_TIMES_H

#include "eval/eval.h"

struct times_case {
    int id;
    bool reduced;
    const char *dtype, *shape;
    double cycles, us, launch_us, bound_us;
    const char *bound; /* "MTE2 of AIV", "HBM": timing_bound() */
    bool shared;       /* it is bound by what all cores share: HBM, L2, the launch */
};
/* Of the cases that the task shows. */
struct times {
    struct times_case *cases;
    int count;
    double mean_us; /* geometric mean */
    double speedup; /* over the baseline (verdict.speedup); 0: not known */
};
/* False: the verdict is no pass, or the time of one of the cases is not known. In the arena. */
bool times_of(struct arena *arena, const struct verdict *verdict, struct times *times);
/* Geometric mean over the cases of what `before` takes over what `after` takes: above 1, `after` is the faster one. 0: they did
 * not run the same cases at the same sizes. */
double times_ratio(const struct times *before, const struct times *after);
/* `after` takes less by times_ratio(), and is not slower by the speedup of docs/metrics.md either. */
bool times_faster(const struct times *before, const struct times *after);
/* The smallest part of a case's time that its bound takes, of what all cores share; 0 if a case is bound by a pipe. */
double times_roofline(const struct times *times);
/* {"modelled": true, "before", "after", "times_as_fast"}, with times_json() of each. */
json_t *times_compared_json(const struct times *before, const struct times *after);
/* {"mean_us", "speedup", "cases": [{"case", "cycles", "us", "bound", "bound_us", "roofline"}]}; speedup null where it is not
 * known. */
json_t *times_json(const struct times *times);

#endif
