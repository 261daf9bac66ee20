/* The jail: a process with its own limits that sees only the files it is given. Used for the compiler,
 * akgen-host and akgen-run. */
#ifndef JAIL_SANDBOX_H
#define JAIL_SANDBOX_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The layers of the jail: name, whether --require-jail asks for it, what is lost where the kernel refuses it. */
#define SANDBOX_LAYERS(X)                                                                                              \
    X(USER, "user namespace", true, "as a plain user: every namespace below")                                          \
    X(MOUNT, "mount namespace", true,                                                                                  \
      "names and sizes of all files can be seen; Landlock alone guards their contents")                                \
    X(PID, "process namespace", true,                                                                                  \
      "other processes can be seen; what a killed process leaves is found by its group")                               \
    X(NET, "network namespace", true, "the seccomp filter alone denies sockets")                                       \
    X(IPC, "IPC namespace", true, "shared memory and message queues of other processes are in reach")                  \
    X(UTS, "host name namespace", false, "the machine's name can be seen")                                             \
    X(UID, "a user id apart", false, "kernels run with the caller's user id")                                          \
    X(LANDLOCK, "landlock", true,                                                                                      \
      "a process in the jail may read and write what its user may and its namespace shows")                            \
    X(SCOPE, "landlock scope", false,                                                                                  \
      "the process namespace and the network namespace alone stop signals and sockets")                                \
    X(SECCOMP, "seccomp", true, "every system call is in reach")                                                       \
    X(ADDRESSES, "fixed addresses", false, "addresses differ from run to run, and what a kernel makes of them")
enum sandbox_layer {
#define SANDBOX_VALUE(id, name, required, lost) SANDBOX_##id,
    SANDBOX_LAYERS(SANDBOX_VALUE)
#undef SANDBOX_VALUE
        SANDBOX_LAYER_COUNT
};
struct sandbox_layer_state {
    const char *name, *lost;
    bool required, granted;
};
/* SANDBOX_LAYER_COUNT states, in their order: what this kernel grants this program. Tried once, then remembered. */
const struct sandbox_layer_state *sandbox_layers(void);
/* The names of the required layers that are not granted, "mount namespace, landlock"; NULL: none is missing. */
const char *sandbox_missing(struct arena *arena);
/* Why this program starts no process at all, with what would help; NULL: it does. What no other layer makes up for is seccomp. */
const char *sandbox_refusal(void);
/* What comes through a pipe of the process's, besides what it prints. */
struct sandbox_answer {
    int fd;           /* the end to read from; the other one is among keep_fds */
    size_t limit;     /* bytes; the rest is thrown away */
    struct text text; /* out; the caller's */
};
struct sandbox_limits {
    double seconds;              /* wall clock, less the time without a processor; then the process group is killed */
    uint64_t memory;             /* RLIMIT_AS in bytes; 0 = none */
    uint64_t file_bytes;         /* RLIMIT_FSIZE */
    const char *const *readable; /* NULL-terminated paths (files or trees) that may be read and executed */
    const char *const *writable; /* NULL-terminated paths that may be written */
    /* "NAME=value" in the process's environment besides the usual, at most 8, ended by NULL; NULL: none */
    const char *const *variables;
    bool apart;       /* under a user id of its own, where there is one: what it reads must be readable to everybody */
    uint32_t without; /* for tests: bits (1 << SANDBOX_...) of layers that the process goes without */
    bool alone;       /* no other process of this program's jails beside it: the others are waited for */
    uint64_t expected_memory; /* bytes that it may be expected to fill; beyond, having no memory is its own doing */
    struct sandbox_answer *answer; /* NULL: none */
    int cancel_fd; /* once it is readable the process is ended, as if its time were over; 0: nobody cancels */
};
struct sandbox_result {
    bool started; /* false: see error */
    bool timed_out;
    int exit_code; /* -1 if ended by a signal */
    int signal;
    /* Whose doing it was that the process did not end by itself. */
    bool killed; /* somebody else's signal ended it, or it never came to a processor in all its time: not its doing */
    bool exhausted; /* the system ended it because it, alone, had filled the memory: its own doing */
    double seconds;
    double charged; /* of them, those that count against limits->seconds */
    char *output;   /* stdout and stderr together, cut at limit; in the arena */
    size_t output_length;
    const char *error;
};
enum { SANDBOX_KEPT = 3 };
/* Runs argv[0] (absolute path) and captures what it prints. Of the descriptors it gets keep_fds (at most 16, ended by -1), as
 * SANDBOX_KEPT, SANDBOX_KEPT + 1, ... in their order. */
void sandbox_spawn(struct arena *arena, const char *const argv[], const struct sandbox_limits *limits,
                   const int *keep_fds, size_t output_limit, struct sandbox_result *result);
/* A process that lives on and is talked to over the descriptors that it was given: a pair of sockets or pipes, made by the
 * caller (with O_CLOEXEC or SOCK_CLOEXEC), one end of which is in keep_fds and is closed by the caller after the start.
 *
 * It gets the same jail as one of sandbox_spawn, and what of `limits` is a limit of the system (memory, file_bytes,
 * readable, writable, variables). Its time is the caller's business: `seconds`, `cancel_fd`, `alone` and `expected_memory` are
 * for sandbox_spawn alone, and one that is alone does not wait for it. `limits`, argv and keep_fds are read during the call
 * only.
 *
 * Whichever thread started it, it lives until sandbox_end. It should end itself when it reads the end of its
 * descriptor: the caller has ended. What it prints is kept up to output_limit; a process that prints more than a pipe
 * holds (64 KiB) waits until sandbox_alive or sandbox_end takes it. One process must be used by one thread at a time. */
struct sandbox_process;
/* An error: nothing runs (no such program, no process, no memory); *process stays as it was. */
struct akgen_error *sandbox_start(const char *const argv[], const struct sandbox_limits *limits, const int *keep_fds,
                                  size_t output_limit, struct sandbox_process **process);
/* False once it has ended, by itself or by somebody's signal; sandbox_end is still to be called. Does not wait. */
bool sandbox_alive(struct sandbox_process *process);
/* Kills it with all its descendants if it still runs, reaps it and frees `process`. `result` (NULL: nobody asks) tells how
 * it ended as sandbox_spawn does: `killed` is not set where this call ended it. Its strings lie in the arena, which may
 * be NULL if `result` is. */
void sandbox_end(struct arena *arena, struct sandbox_process *process, struct sandbox_result *result);

/* Attends a process as sandbox_spawn does that somebody else makes: a child of this program (clone's CLONE_PARENT) that has
 * put itself into the jail (fence.h) and prints to `output`, of which it keeps no other end. `make` returns its id, or -1:
 * result->started is false. */
void sandbox_adopt(struct arena *arena, int (*make)(void *closure, int output), void *closure,
                   const struct sandbox_limits *limits, size_t output_limit, struct sandbox_result *result);
#endif
