/* Candidates of a database of runs that compile and fail, each beside a right one to the same task, as samples about errors. */
#ifndef COT_PAIRS_H
#define COT_PAIRS_H

#include "runs/cot_store.h"
#include "task/task.h"

struct cot_pairs_count {
    int64_t failed, samples, dropped; /* failed: different candidates that compile and fail */
};
/* Reads what `akgen bench --db` wrote at `verdicts`, answers in Ascend C alone. A candidate that was `wrong` or `fault` and nothing else, with the right one of its task that is most like it, is
 * a source of the step "errors-pairs": its kernel with what was found is the question, the right one's the answer. Right is what passed in every run
 * of the file. Tasks of the benchmarks are left out, and those with an operator of theirs; `tasks` are all that there are. */
struct akgen_error *cot_pairs(struct store *store, const char *verdicts, const struct task *tasks, int task_count,
                              struct cot_pairs_count *count);

#endif
