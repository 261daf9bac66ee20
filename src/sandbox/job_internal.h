/* What job.c (the caller) and main_run.c (the program in the jail) share. */
#ifndef SANDBOX_JOB_INTERNAL_H
#define SANDBOX_JOB_INTERNAL_H

#include "sandbox/job.h"

/* The result descriptor: the name of the stage in the first bytes, padded with NUL, so that an end without warning can
 * be placed; the result's JSON behind it once the job is done. */
enum { JOB_STAGE_BYTES = 16, JOB_RESULT_LIMIT = 16 << 20 };

json_t *job_result_to_json(const struct job_result *result);
/* Fills everything but `printed`. An error: the text is no result. */
struct akgen_error *job_result_from_json(struct arena *arena, const json_t *json, struct job_result *result);

#endif
