/* Jobs of the compile server, as pool.c sends them: each is a message with the descriptors of a file with the job's text, of the
 * pipe for what is printed, and, for a job that reads sources, of a file with these: of each its path and its length in digits, both
 * ended by a NUL, then its bytes and a NUL. */
#ifndef TOOLCHAIN_SERVER_JOB_H
#define TOOLCHAIN_SERVER_JOB_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exit codes: of a copy that did not do its job, and, as others_report() says it, of one that ran out of time. */
enum { JOB_NOT_SERVED = 100, JOB_OUT_OF_TIME = 101 };

/* The descriptors of one; `sources` may be -1. */
struct server_message {
    int text, output, sources;
};
/* Waits for the next one; false at the end of the socket, or after a long time without one. */
bool server_receive(int socket, struct server_message *message);

/* In the copy: what it is to do, until it ends. */
struct server_job {
    const char **arguments, **others; /* NULL-terminated; others.h */
    int argument_count, other_count;
    const char *sources; /* what the third descriptor holds, `source_bytes`; NULL: there is none */
    size_t source_bytes;
    double seconds; /* of processor time, for each of the others as for itself */
    int jobs;       /* processes side by side */
};
/* Says that the copy is there, takes its descriptors and goes into the job's jail: its limits, what it may read and write.
 * Ends the process with JOB_NOT_SERVED if it cannot. */
void server_begin(int socket, const struct server_message *message, struct server_job *job);
/* One source of a job. */
struct server_source {
    const char *path, *bytes; /* a NUL ends either */
    size_t length;
};
/* Takes the source at `*at`, a place in the job's sources that moves behind it. False: there is none, or it is cut off. */
bool server_next_source(const struct server_job *job, size_t *at, struct server_source *source);

#ifdef __cplusplus
}
#endif

#endif
