/* The second fence, inside akgen-run: once a candidate's code is about to be loaded, the process may compute, print and
 * end, and nothing else. Anything more is evidence of a cheat, and named. */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct guard {
    int result_fd;     /* may be written besides stdout and stderr */
    int log_fd;        /* so may this; -1: none */
    const void *fence; /* memory that the host part must not touch */
    size_t fence_bytes;
    /* What happened: "system call openat". Runs in a signal handler on the candidate's thread; must not return. */
    void (*violated)(void *closure, const char *what);
    /* Another process sent a signal that ends this one. In the handler, too; must not return. */
    void (*ended_from_outside)(void *closure);
    void *closure;
};
/* From now on, for good: system calls off the list end in `violated`. Of the signals that end a process it can send
 * itself only those that an instruction raises, too (abort() sends one): any other comes from outside, which tells whose
 * doing the end is. Objects can still be loaded: opening files for
 * reading stays allowed to the loader (not to libc), within what Landlock lets it see. `guard` must outlive the
 * process. false: this kernel has no seccomp; the memory fence holds all the same. */
bool guard_install(const struct guard *guard);
/* The host part is done: an access to `fence` is no violation any more. */
void guard_open_fence(void);
/* "openat", or "system call 123" for one that has no row in the table. */
const char *guard_syscall_name(int number);

#endif
