/* Copies of what a kernel hands to the machine by pointer (abi/npu_hooks.h, npu_argument). */
#ifndef NPU_ARGUMENTS_H
#define NPU_ARGUMENTS_H

#include "npu/npu_internal.h"

/* Those of calls that never ended, too. */
void npu_arguments_free(struct npu_core *core);

#endif
