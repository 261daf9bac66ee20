/* What akgen-run tells of the launch's time, as JSON. */
#ifndef JAIL_TIMING_INTERNAL_H
#define JAIL_TIMING_INTERNAL_H

#include "jail/job.h"

json_t *timing_to_json(const struct job_timing *timing);
/* Fills everything but file and line. What is missing or out of range leaves the timing unknown: it decides about no
 * verdict. */
void timing_from_json(const json_t *json, struct job_timing *timing);

#endif
