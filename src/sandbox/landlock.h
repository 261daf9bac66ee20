/* The kernel's fences around a process: Landlock for files, a seccomp filter for sockets. */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

/* Version of the kernel's Landlock interface; 0 if it has none. */
int landlock_version(void);
/* Restricts the calling process to the paths (NULL-terminated lists, NULL = none). Paths that do not exist are skipped.
 * Makes system calls only, so it may be called between fork and exec. Returns 0, or -1 with errno; 0 as well when the
 * kernel has no Landlock. */
int landlock_restrict(int version, const char *const *readable, const char *const *writable);
/* Denies sockets, io_uring, ptrace and leaving the process group to this process and its children. 0, or -1 with
 * errno. */
int seccomp_restrict(void);

#endif
