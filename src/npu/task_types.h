/* The kernel types that an object names. */
#ifndef NPU_TASK_TYPES_H
#define NPU_TASK_TYPES_H

#include "abi/npu_abi.h"
#include "base/arena.h"

#include <stddef.h>

/* The records that KERNEL_TASK_TYPE and KERNEL_TASK_TYPE_DEFAULT left in the section NPU_TASK_TYPES of a shared object;
 * returns how many. 0 if there are none or the file cannot be read. *types lives in the arena. */
size_t task_types_read(struct arena *arena, const char *path, const struct npu_task_type **types);

#endif
