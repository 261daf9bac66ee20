/* The part of the jail that a process can put around itself: for a copy of the compile server, which is not executed. */
#ifndef SANDBOX_FENCE_H
#define SANDBOX_FENCE_H

#ifdef __cplusplus
extern "C" {
#endif
#include "sandbox/sandbox.h"

/* Limits, what may be read and written, and the filter of system calls. -1 with errno: it is not safe to go on. */
int sandbox_fence(const struct sandbox_limits *limits);
#ifdef __cplusplus
}
#endif

#endif
