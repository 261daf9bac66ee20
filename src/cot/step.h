/* A step of the pipeline at work. Its sources are made by several threads and enter in their order, each in one transaction: the same sources
 * make the same rows with any number of threads, and a run that was killed goes on with the first that is not in. */
#ifndef COT_STEP_H
#define COT_STEP_H

#include "runs/cot_store.h"

/* What a source made. */
struct cot_block {
    struct arena arena; /* of all that the samples hold */
    const char *source; /* its name; NULL: there is nothing to do */
    const void *read;   /* what the step read to name it */
    bool unfinished;    /* it lacks something that another run may have: it does not enter, and is not done */
    struct cot_sample *samples;
    struct cot_drop *drops;
    int64_t sample_count, sample_capacity;
    int drop_count, drop_capacity;
    int64_t made, contaminated, on_machine; /* for the caller to count */
    int64_t unusable;                       /* answers of a model that changed nothing */
};
void cot_block_add(struct cot_block *block, const struct cot_sample *sample);
/* One more that became no sample; `reason` lives as long as the block. */
void cot_block_drop(struct cot_block *block, const char *reason);
/* What it made, as the store takes it. */
struct cot_batch cot_block_batch(const struct cot_block *block, const char *step);

/* What came of the sources that were made now, in all. */
struct cot_counts {
    int64_t sources, unfinished;
    int64_t added, repeated; /* samples that are new, and that were there */
    int64_t dropped;
    int64_t made, contaminated, on_machine, unusable; /* of the blocks */
    double seconds;
};
struct cot_step {
    struct store *store;
    const char *step;
    int count, jobs; /* sources; threads */
    /* Names source `index`. From any thread. */
    void (*name)(void *closure, int index, struct cot_block *block);
    /* Makes the rows of a source that is not in; `scratch` is a folder of its own. From any thread. */
    struct akgen_error *(*make)(void *closure, int index, const char *scratch, struct cot_block *block);
    void *closure;
    struct cot_counts counts; /* the result */
};
/* Works through all sources that are not in. An error is the first one of a source, behind which none enters. */
struct akgen_error *cot_step_run(struct cot_step *step);

#endif
