/* Which system calls a process of the jail may make. */
#ifndef JAIL_CALLS_H
#define JAIL_CALLS_H

#include <stdbool.h>

/* Makes the filter of calls_restrict, once for a program. False with errno: it has no memory for it. */
bool calls_prepare(void);
/* From now on this process and its children may compute, use files and make processes, and nothing that reaches beyond
 * them: no sockets, no namespaces, no other process's memory, no ioctl. Makes system calls only, so it may be called
 * between fork and exec. calls_prepare() came before. 0, or -1 with errno. */
int calls_restrict(void);

#endif
