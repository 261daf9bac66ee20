/* The jail: a process with its own limits that sees only the files it is given. Used for the compiler,
 * akgen-host and akgen-run. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    bool alone;               /* no other process of this program's jails beside it: the others are waited for */
    uint64_t expected_memory; /* bytes that it may be expected to fill; beyond, having no memory is its own doing */
    struct sandbox_answer *answer; /* NULL: none */
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
    char *output; /* stdout and stderr together, cut at limit; in the arena */
    size_t output_length;
    const char *error;
};
enum { SANDBOX_KEPT = 3 };
/* Runs argv[0] (absolute path) and captures what it prints. Of the descriptors it gets keep_fds (at most 16, ended by -1), as
 * SANDBOX_KEPT, SANDBOX_KEPT + 1, ... in their order. */
void sandbox_spawn(struct arena *arena, const char *const argv[], const struct sandbox_limits *limits,
                   const int *keep_fds, size_t output_limit, struct sandbox_result *result);
/* What this kernel offers: "landlock 4, seccomp, user namespaces"; for `akgen doctor`. */
const char *sandbox_features(struct arena *arena);

#endif
