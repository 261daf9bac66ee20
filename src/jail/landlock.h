/* The kernel's fence around what a process may reach by a path, and since version 6 by a signal or an abstract socket. */
#ifndef JAIL_LANDLOCK_H
#define JAIL_LANDLOCK_H

/* Version of the kernel's Landlock interface; 0 if it has none. */
int landlock_version(void);
/* In two steps, since a process under a user id of its own may no longer find the paths. Both make system calls only, so
 * they may be called between fork and exec. */
enum { LANDLOCK_NONE = -2 };
/* A descriptor of what the process will be restricted to: the paths (NULL-terminated lists, NULL = none), of which those
 * that do not exist are skipped. -1: errno says why not; LANDLOCK_NONE: the kernel has no Landlock. */
int landlock_prepare(int version, const char *const *readable, const char *const *writable);
/* Restricts the calling process to it and closes it. Returns 0, or -1 with errno; 0 as well for LANDLOCK_NONE. */
int landlock_restrict(int ruleset);

#endif
