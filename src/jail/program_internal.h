/* Starting one of our own programs in the jail: akgen-host, akgen-run. What job.c and host_job.c share. */
#ifndef JAIL_PROGRAM_INTERNAL_H
#define JAIL_PROGRAM_INTERNAL_H

#include "jail/budget.h"
#include "jail/host_job.h"
#include "jail/sandbox.h"

enum { PROGRAM_PRINTED = 64 << 10, PROGRAM_OBJECTS = 2 };

/* The same path in a number of bytes that few paths exceed: how long it is decides where the program's stack begins and
 * what its heap looks like. */
const char *program_same_length(struct arena *arena, const char *path);
/* A file without a name that holds `bytes`; -1 with errno if there can be none. */
int program_memory_file(const char *name, const void *bytes, size_t length);

/* The candidate's objects, opened for the program: where they lie would stand in its memory, for the candidate to
 * find. */
struct program_objects {
    const char *paths[PROGRAM_OBJECTS];
    int fds[PROGRAM_OBJECTS];
    int count;
};
/* The name by which the program opens an object whose descriptor it has as `number` and, for each object before it, one
 * more; the path itself if it cannot be opened, and the program says so. */
const char *program_take_object(struct arena *arena, struct program_objects *objects, const char *path, int number);
void program_close_objects(const struct program_objects *objects);

/* A program's run. */
struct program {
    const char *const *argv; /* files_program()'s path first */
    const struct program_objects *objects;
    const int *keep; /* descriptors, ended by -1 */
    const char *inject;
    double seconds; /* budget_allows() */
    struct budget *budget;
    uint64_t memory, expected_memory; /* struct sandbox_limits */
    uint64_t file_bytes;              /* the largest file that it writes besides copies of the objects */
    bool alone;
    struct sandbox_answer *answer; /* NULL: none */
};
/* Charges the budget. */
void program_run(struct arena *arena, const struct program *program, struct sandbox_result *ended);
/* What is said of a run that wanted `seconds`, was allowed `allowed` of them by the candidate's budget (0: it did not
 * begin), and was not done then. */
const char *program_late(struct arena *arena, const struct budget *budget, double seconds, double allowed,
                         enum job_stage stage);
/* An end without a result, in words; `who` ends in a space or is empty. */
const char *program_end(struct arena *arena, const char *who, const struct sandbox_result *ended, enum job_stage stage);
/* The error for a program whose messages are those of another build of AKGen. */
const char *program_foreign(struct arena *arena, const char *program);
/* What is said of an end by SIGSYS. */
const char *program_forbidden(struct arena *arena, enum job_stage stage);

#endif
