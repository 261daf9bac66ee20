/* Flags between the pipes of a core (sync.c). The lanes exist and the event is in range; nothing happens if the core
 * lacks one of the lanes. */
#ifndef NPU_SYNC_SYNC_H
#define NPU_SYNC_SYNC_H

#include "npu/npu_internal.h"

void npu_sync_set(struct npu_core *core, int from, int to, int event);
void npu_sync_wait(struct npu_core *core, int from, int to, int event);
/* The hang of `api`, which waits for all pipes, while a flag is set twice. */
void npu_sync_stop_if_doubled(struct npu_core *core, const char *api);
/* Notes flags that are still set. */
void npu_sync_report(struct npu_core *core);

#endif
