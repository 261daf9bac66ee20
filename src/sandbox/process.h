/* A process in the jail, between start.c, which makes it, and spawn.c, which attends it. */
#ifndef SANDBOX_PROCESS_H
#define SANDBOX_PROCESS_H

#include "base/text.h"
#include "sandbox/sandbox.h"

#include <sys/resource.h>
#include <sys/types.h>

struct start {
    const char *const *argv;
    const struct sandbox_limits *limits;
    const int *keep_fds; /* ended by -1; may be NULL */
    size_t output_limit;
    bool lives_on; /* not ended with the thread that starts it */
};
struct sandbox_process {
    pid_t pid;
    int pidfd;  /* -1: this kernel has none (before Linux 5.3) */
    int output; /* where what it prints is read */
    bool open_end, stopped;
    size_t output_limit;
    struct text text; /* what it has printed */
    double start;
    int status; /* of wait4, once it is stopped */
    struct rusage usage;
};
/* An error: no process was made, or its program could not be executed. */
struct akgen_error *process_start(const struct start *start, struct sandbox_process **process);
/* Takes what stands in the pipe; waits where there is nothing, unless the pipe was told not to. */
void process_take_output(struct sandbox_process *process);
/* True until it has ended by itself. */
bool process_runs(const struct sandbox_process *process);
/* Ends it with its descendants if it still runs, takes the rest of its output, and its status and usage. */
void process_stop(struct sandbox_process *process);
void process_free(struct sandbox_process *process);

#endif
