/* The timeline of a launch as a trace that Perfetto and chrome://tracing show. */
#ifndef JAIL_TRACE_INTERNAL_H
#define JAIL_TRACE_INTERNAL_H

#include "jail/job.h"

/* Writes the slices (job_exchange.h, JOB_SLICE_FORMAT) that akgen-run has left in `slices` to job->trace_fd, in place of what
 * stands there. Nothing where the timing is not known. Slices come about in the order of their times, so a trace that has no room
 * for all shows all cores up to some time; its last event says that it ends there. True if all is in it. `failed`: an errno where it could not be written, else 0. */
bool trace_write(const struct job *job, const struct npu_timing *timing, int slices, int *failed);

#endif
