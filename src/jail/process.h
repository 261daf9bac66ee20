/* A process in the jail, between start.c, which makes it, and spawn.c, which attends it. */
#ifndef JAIL_PROCESS_H
#define JAIL_PROCESS_H

#include "base/text.h"
#include "jail/sandbox.h"

#include <sys/resource.h>
#include <sys/types.h>

struct start {
    const char *const *argv;
    const struct sandbox_limits *limits;
    const int *keep_fds; /* ended by -1; may be NULL */
    size_t output_limit;
    bool lives_on; /* not ended with the thread that starts it */
};
/* A pipe from the process. */
struct stream {
    int fd; /* -1: none */
    bool ended;
    struct text *text; /* what came, up to limit; the rest is thrown away */
    size_t limit;
};
struct sandbox_process {
    pid_t pid, init; /* init: the first process of its process ids; 0: it has none of its own */
    int lifeline;    /* init lives as long as this is open */
    int pidfd;       /* -1: this kernel has none (before Linux 5.3) */
    bool stopped;
    struct stream printed, answer; /* the answer's descriptor and text are the caller's */
    struct text text;              /* what it has printed */
    double start;
    int status; /* of wait4, once it is stopped */
    struct rusage usage;
};
/* An error: no process was made, or its program could not be executed. */
struct akgen_error *process_start(const struct start *start, struct sandbox_process **process);
/* Takes what stands in the pipe; waits where there is nothing, unless the pipe was told not to. True if something came. */
bool process_take(struct stream *stream);
/* True until it has ended by itself. */
bool process_runs(const struct sandbox_process *process);
/* Ends it with its descendants if it still runs, takes the rest of its output, and its status and usage. */
void process_stop(struct sandbox_process *process);
void process_free(struct sandbox_process *process);

#endif
