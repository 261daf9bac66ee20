/* The author's lines for addresses in a kernel's objects. akgen-run tells addresses only: it has no file open and reads no
 * debug information. */
#ifndef SANDBOX_PLACES_INTERNAL_H
#define SANDBOX_PLACES_INTERNAL_H

#include "sandbox/job.h"

/* Fills the findings' files and lines. */
void places_find(struct arena *arena, const struct job *job, struct job_result *result);
/* The instruction log of akgen-run, whose lines end in places, written to job->log_fd with lines of the source. */
void places_copy_log(const struct job *job, int log);

#endif
