/* Synchronisation between cores (cross_core.c): SyncAll, cross-core flags, and words in GM. */
#ifndef NPU_SYNC_CROSS_CORE_H
#define NPU_SYNC_CROSS_CORE_H

#include "npu/npu_internal.h"

void cross_core_begin(struct npu *npu);
void cross_core_end(struct npu *npu);
/* A word in GM that blocks write and read past the scalar cache: what the scalar unit of its writer has waited for
 * comes before what its reader does afterwards. begin: before such a write; false if the launch is too large for that.
 * acquire: false if nobody has written the word so. */
bool cross_core_word_begin(struct npu_core *core);
void cross_core_word_release(struct npu_core *core, uint64_t at);
bool cross_core_word_acquire(struct npu_core *core, uint64_t at);
/* Whether the kernel has synchronised its cores by hardware. */
bool cross_core_used(const struct npu *npu);
/* Notes flags that were set and that nobody has waited for. */
void cross_core_report(struct npu *npu);
/* "CrossCoreWaitFlag<2>(3), which 1 of 2 AIVs of its block have set": what a waiting core waits for. */
void cross_core_describe(const struct npu_core *core, char *text, size_t bytes);

#endif
