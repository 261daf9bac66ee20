/* Of what kinds failures are: the shares that AscendKernelGen's Figure 6 shows. */
#ifndef COT_FAILURES_H
#define COT_FAILURES_H

#include "runs/cot_store.h"

struct cot_failure {
    const char *verdict; /* a word of docs/verdict.md */
    const char *class;   /* of a compile error the paper's class of its first error, of a fault its name, .. */
    int64_t count;
};
struct cot_failures {
    struct cot_failure *items; /* by verdict, then by count */
    int count, capacity;
    int64_t
        candidates; /* that were judged, right ones among them; what says nothing of a candidate (unsupported, infra_error) is not */
};
/* Of a database of 'akgen bench --db': of run number `run`, 0: of all. In the arena. */
struct akgen_error *cot_failures_of_verdicts(struct arena *arena, const char *path, int64_t run,
                                             struct cot_failures *failures);
/* Of the wrong answers that samples about errors begin with (`before` of their verdicts). */
struct akgen_error *cot_failures_of_samples(struct arena *arena, struct store *store,
                                            const struct cot_filter *filter, struct cot_failures *failures);
/* A share's 95 % interval (Wilson's) for `count` of `all`. */
void cot_share_interval(int64_t count, int64_t all, double *low, double *high);

#endif
