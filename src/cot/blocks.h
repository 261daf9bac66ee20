/* Steps whose sources are seeds. Blocks of seeds are made by several threads and enter in their order, each in one transaction: the same seeds
 * make the same rows with any number of threads, and a run that was killed goes on with the first block that is not in. */
#ifndef COT_BLOCKS_H
#define COT_BLOCKS_H

#include "cot/store.h"

/* What a block made. */
struct cot_block {
    struct arena arena; /* of all that the samples hold */
    struct cot_sample *samples;
    struct cot_drop *drops;
    int64_t sample_count, sample_capacity;
    int drop_count, drop_capacity;
    int64_t made, contaminated, on_machine; /* for the caller to count */
};
void cot_block_add(struct cot_block *block, const struct cot_sample *sample);
/* One more that became no sample; `reason` lives as long as the block. */
void cot_block_drop(struct cot_block *block, const char *reason);

struct cot_blocks {
    struct cot_store *store;
    const char *step;
    const char *options; /* what besides its seeds names a block as a source; "" if nothing */
    int64_t first, count;
    int size, jobs; /* seeds of a block; threads */
    /* Makes the rows of seeds first, first + 1, ...; `scratch` is a folder of its own. From any thread. */
    struct akgen_error *(*make)(void *closure, int64_t first, int64_t count, const char *scratch,
                                struct cot_block *block);
    void *closure;
    /* What came of the blocks that were made now, in all: */
    int64_t made, dropped, contaminated, on_machine;
    double seconds;
};
/* Works through all blocks that are not in. An error is the first one of a block, behind which none enters. */
struct akgen_error *cot_blocks_run(struct cot_blocks *blocks);

#endif
