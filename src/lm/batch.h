/* Texts that go through a model together, one behind the other and without padding: N tokens in all. A token sees those of
 * its own text alone, and its place in that text is its position. */
#ifndef LM_BATCH_H
#define LM_BATCH_H

#include <stdint.h>

enum { LM_NO_LABEL = -1 };

struct lm_batch {
    const int32_t *tokens; /* (N) */
    const int32_t *labels; /* (N): what has to come next, or LM_NO_LABEL where nothing is learned */
    const int *starts;     /* (texts + 1): text t is [starts[t], starts[t + 1]); starts[texts] is N */
    int texts;
};

static inline int lm_batch_tokens(const struct lm_batch *batch)
{
    return batch->starts[batch->texts];
}

#endif
