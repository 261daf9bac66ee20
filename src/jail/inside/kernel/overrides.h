/* What a kernel object must not bring along: functions of the machine, and functions that run before the kernel. */
#ifndef JAIL_INSIDE_KERNEL_OVERRIDES_H
#define JAIL_INSIDE_KERNEL_OVERRIDES_H

#include "base/arena.h"

/* Name of a symbol that the shared object defines, at whatever visibility, although akgen-run gives it to kernels
 * (npu_issue, npu_load); NULL if there is none. In the arena. */
const char *overrides_find(struct arena *arena, const char *path);
/* How many functions run when the shared object is loaded. */
int overrides_early(const char *path);

#endif
