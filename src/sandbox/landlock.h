/* The kernel's fence around what a process may reach by a path, and since version 6 by a signal or an abstract socket. */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

/* Version of the kernel's Landlock interface; 0 if it has none. */
int landlock_version(void);
/* Restricts the calling process to the paths (NULL-terminated lists, NULL = none). Paths that do not exist are skipped.
 * Makes system calls only, so it may be called between fork and exec. Returns 0, or -1 with errno; 0 as well when the
 * kernel has no Landlock. */
int landlock_restrict(int version, const char *const *readable, const char *const *writable);

#endif
