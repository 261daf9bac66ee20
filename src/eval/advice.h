/* What would make a kernel faster: one sentence, from the numbers of its modelled time. */
#ifndef EVAL_ADVICE_H
#define EVAL_ADVICE_H

#include "base/arena.h"
#include "npu/npu.h"

/* In the arena. NULL: none of the known mistakes shows, or the timing is not known. */
const char *advice_for(struct arena *arena, const struct npu_soc *soc, const struct npu_timing *timing,
                       const struct npu_stats *stats);

#endif
