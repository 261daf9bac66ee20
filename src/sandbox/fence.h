/* The part of the jail that a process can put around itself: for a copy of the compile server, which is not executed. */
#ifndef SANDBOX_FENCE_H
#define SANDBOX_FENCE_H

#ifdef __cplusplus
extern "C" {
#endif
#include "sandbox/sandbox.h"

/* Everything but process ids of its own, which only a child gets: what it sees of the files, network and IPC, no right of
 * root's, limits, what may be read and written, the filter of system calls. The process has one thread; sandbox_layers() was
 * called in the process that it is a copy of, or is called now, which takes milliseconds. -1 with errno: it is not safe to go
 * on. */
int sandbox_fence(const struct sandbox_limits *limits);
#ifdef __cplusplus
}
#endif

#endif
