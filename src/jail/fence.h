/* The part of the jail that a process can put around itself: for a copy of the compile server, which is not executed. */
#ifndef JAIL_FENCE_H
#define JAIL_FENCE_H

#ifdef __cplusplus
extern "C" {
#endif
#include "jail/sandbox.h"

/* Makes what all copies share, half a millisecond's work: for the server, before its first copy. */
void sandbox_fence_prepare(void);
/* What it may read and write, no right of root's, limits, the filter of system calls; and where it still has the right to
 * make a mount namespace, it sees nothing else. The namespaces that it has otherwise stay: those of the server. The process
 * has one thread. -1 with errno: it is not safe to go on. */
int sandbox_fence(const struct sandbox_limits *limits);
/* A descriptor that has nothing to read: /dev/null, or where a root has none a pipe without a writer. -1 with errno. */
int sandbox_empty_input(void);
#ifdef __cplusplus
}
#endif

#endif
