/* How far a run is, on standard error: a line that is drawn again on a terminal, a line every half minute elsewhere (progress.c). */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "gen/sampler.h"

struct progress;

/* Begins to show; `ks`: the k of the running pass@k. `sampler`: NULL for candidates that are there. A run that samples is stopped
 * by the first SIGINT or SIGTERM (progress_interrupted), the second one ends the program. */
struct progress *progress_begin(const struct bench *bench, struct gen_sampler *sampler);
/* bench_options.on_row; the closure is the progress. */
void progress_on_row(void *closure, const struct bench *bench, int done);
bool progress_interrupted(void);
/* Takes the line away. Before the sampler is closed. */
void progress_end(struct progress *progress);

#endif
