/* Steps whose sources are seeds, some of them at a time. */
#ifndef COT_BLOCKS_H
#define COT_BLOCKS_H

#include "cot/step.h"

struct cot_blocks {
    struct store *store;
    const char *step;
    const char *options; /* what besides its seeds names a block as a source; "" if nothing */
    int64_t first, count;
    int size, jobs; /* seeds of a block; threads */
    /* Makes the rows of seeds first, first + 1, ...; `scratch` is a folder of its own. From any thread. */
    struct akgen_error *(*make)(void *closure, int64_t first, int64_t count, const char *scratch,
                                struct cot_block *block);
    void *closure;
    struct cot_counts counts; /* the result */
};
/* Works through all blocks that are not in, as cot_step_run does. */
struct akgen_error *cot_blocks_run(struct cot_blocks *blocks);

#endif
