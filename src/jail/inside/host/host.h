/* Inside akgen-host: one call of a candidate's host part on its way through the program. main_host.c takes the job, closes
 * the process before the candidate's code comes in, loads that code and calls it; answer.c ends the process. */
#ifndef JAIL_INSIDE_HOST_HOST_H
#define JAIL_INSIDE_HOST_HOST_H

#include "jail/inside/guard.h"
#include "jail/inside/jailed.h"
#include "jail/host_job.h"

struct host {
    struct arena arena;
    struct host_job job;
    struct host_result result;
    int pipe; /* the result's way out */
    struct guard guard;
    struct jailed_evidence evidence; /* of a violation, without its words */
};

/* The end (answer.c). */
/* Says that the candidate's code comes next. */
void host_set_stage(struct host *host, enum job_stage stage);
/* Writes the result and ends the process at once: the candidate's destructors are of no interest. */
_Noreturn void host_finish(struct host *host);
_Noreturn void host_fail(struct host *host, enum job_status status, const char *message);
_Noreturn void host_fail_error(struct host *host, enum job_status status, struct akgen_error *error);
/* Makes the message that host_violated fills in. */
void host_prepare_evidence(struct host *host);
/* The guard's call when the candidate did what it must not; `closure` is the host. */
_Noreturn void host_violated(void *closure, const char *what);
/* The guard's call when somebody else sent a signal that ends the process. */
_Noreturn void host_ended_from_outside(void *closure);

#endif
