/* What TPipe means to the rest of the machine: which part of local memory is whose (queue.c, pipe.c). */
#ifndef NPU_QUEUE_QUEUE_H
#define NPU_QUEUE_QUEUE_H

#include "npu/memory.h"

/* The block has ended: reports tensors that were not freed and flags that were set and not waited for. */
void npu_pipe_object_destroy(struct npu_core *core);
/* The trap for an access of [addr, addr+bytes) that leaves its local memory; names the InitBuffer that gave away what
 * is not there, if one did. */
_Noreturn void npu_local_overrun(struct npu_core *core, enum npu_memory memory, const char *operand, uint64_t addr,
                                 uint64_t bytes);
/* Bytes at the start of a memory that the core's TPipe has given away; NULL if there was no TPipe yet. */
uint32_t *npu_taken(const struct npu_core *core, enum npu_memory memory);
/* PopStackBuffer for the kernel's line that is under way (pipe.c). */
void npu_pop_rest(struct npu_core *core, int position, struct npu_tensor *tensor);

#endif
