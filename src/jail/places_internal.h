/* The author's lines for addresses in a kernel's objects. akgen-run tells addresses only: it has no file open and reads no
 * debug information. */
#ifndef JAIL_PLACES_INTERNAL_H
#define JAIL_PLACES_INTERNAL_H

#include "jail/job.h"

#include <stdio.h>

struct symbolizer;

/* Fills the files and lines of findings and of what costs most. */
void places_find(struct arena *arena, const struct job *job, struct job_result *result);
/* Line tables of a kernel's objects, read when the first place in one is asked for. Set `job`, zero the rest. */
struct places {
    const struct job *job;
    int fds[JOB_CUBE + 1];
    struct symbolizer *tables[JOB_CUBE + 1];
};
/* *file lives as long as the places; NULL where no line is known. */
void places_line(struct places *places, const struct job_place *at, const char **file, int *line);
void places_close(struct places *places);

/* A stream over a copy of the descriptor, the caller's; NULL: there is none. */
FILE *places_stream(int fd, const char *mode);

/* The instruction log of akgen-run, whose lines end in places, written to job->log_fd with lines of the source. */
void places_copy_log(const struct job *job, int log);

#endif
