/* Jobs of the compile server, as pool.c sends them: each is a message with two descriptors, that of a file with the job's text
 * and that of the pipe for what is printed. */
#ifndef TOOLCHAIN_SERVER_JOB_H
#define TOOLCHAIN_SERVER_JOB_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exit codes: of a copy that did not do its job, and, as others_report() says it, of one that ran out of time. */
enum { JOB_NOT_SERVED = 100, JOB_OUT_OF_TIME = 101 };

/* Waits for the next one; false at the end of the socket, or after a long time without one. */
bool server_receive(int socket, int *text, int *output);

/* In the copy: what it is to do, until it ends. */
struct server_job {
    const char **arguments, **others; /* NULL-terminated; others.h */
    int argument_count, other_count;
    double seconds; /* of processor time, for each of the others as for itself */
    int jobs;       /* processes side by side */
};
/* Says that the copy is there, takes its descriptors and goes into the job's jail: its limits, what it may read and write.
 * Ends the process with JOB_NOT_SERVED if it cannot. */
void server_begin(int socket, int text, int output, struct server_job *job);

#ifdef __cplusplus
}
#endif

#endif
