/* Diagnostics of a database of runs, in kinds (signature.h), as samples about the functions that they are about. */
#ifndef COT_CLUSTERS_H
#define COT_CLUSTERS_H

#include "runs/cot_store.h"

struct cot_clusters_count {
    int64_t diagnostics, clusters, samples, dropped;
};
/* Reads what `akgen bench --db` wrote at `verdicts`, answers in Ascend C alone. A kind is a source of the step "errors-verdicts". A sample for each function that
 * docs/api.md has and a message of this kind quotes: the first such message with its line, what the documentation has, a call that was compiled.
 * Of the candidate one line is shown, of its task nothing. */
struct akgen_error *cot_clusters(struct store *store, const char *verdicts, struct cot_clusters_count *count);

#endif
