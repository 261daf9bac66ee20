/* The second fence, inside akgen-host and akgen-run: once a candidate's code is about to run, the process may compute, print and
 * end, and nothing else. Anything more is evidence of a cheat, and named. */
#ifndef JAIL_INSIDE_GUARD_H
#define JAIL_INSIDE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct guard {
    int result_fd; /* may be written besides stdout and stderr, with pwrite; -1: none */
    int stream_fd; /* so may this, with write (a pipe, a log); -1: none */
    /* What happened: "system call openat". Runs in a signal handler on the candidate's thread; must not return. */
    void (*violated)(void *closure, const char *what);
    /* Another process sent a signal that ends this one. In the handler, too; must not return. */
    void (*ended_from_outside)(void *closure);
    void *closure;
};
/* From now on, for good: system calls off the list end in `violated`. Of the signals that end a process it can send
 * itself only those that an instruction raises, too (abort() sends one): any other comes from outside, which tells whose
 * doing the end is. `guard` must outlive the process. false: this kernel has no seccomp. */
bool guard_install(const struct guard *guard);
/* "openat", or "system call 123" for one that has no row in the table. */
const char *guard_syscall_name(int number);

#endif
