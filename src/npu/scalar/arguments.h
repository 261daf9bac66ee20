/* Copies of the memory that a kernel passes to the machine by pointer (abi/npu_hooks.h, npu_argument). */
#ifndef NPU_ARGUMENTS_H
#define NPU_ARGUMENTS_H

#include "npu/npu_internal.h"

/* Releases all copies of the core, including those of calls that did not end. */
void npu_arguments_free(struct npu_core *core);

#endif
