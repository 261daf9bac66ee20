/* What the two ends of a job agree on: job.c, the caller, and akgen-run, the program in the jail. */
#ifndef JAIL_JOB_EXCHANGE_H
#define JAIL_JOB_EXCHANGE_H

#include "jail/job.h"

/* 1 in a build with AddressSanitizer, which asks the system for more than a candidate may. */
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum {
    JOB_RESULT_LIMIT = 16 << 20, /* bytes of a result */
    JOB_EXIT_OURS = 70           /* akgen-run's exit code where it could not write a result */
};

/* The result descriptor begins with a mark, so that an end without warning can be placed; the result's message
 * follows once the job is done. The candidate can write there, too, but two stages it cannot feign, those in which
 * nothing of it runs: until akgen-run lets it in, the mark is what the caller put there (JOB_START), which nobody is
 * told; and when it is done (JOB_REPORT), the nonce stands beside the stage. */
struct job_mark {
    char stage[8], proof[40];
};
void job_mark_set(struct job_mark *mark, enum job_stage stage, const char *nonce);
/* The stage that a mark tells; `untouched` is what the caller put there. */
enum job_stage job_mark_stage(const struct job_mark *mark, const struct job_mark *untouched, const char *nonce);

/* Bytes of address space that the process of a job may have: what its tensors explain, and its share of the machine's memory, or all of it where
 * it is alone. */
uint64_t job_memory_limit(const struct job *job, bool alone);

/* How a line of akgen-run's instruction log ends: the place of the call, its object and its address. */
#define JOB_LOG_PLACE "  @%d+%llx\n"

/* A slice of the timeline as a line of akgen-run's: core, whether it is an AIC, lane, start and end in cycles, bytes, elements,
 * flow, object and address of the line's place; then, each behind a tab, the name and what it is part of. */
#define JOB_SLICE_FORMAT "%d %d %d %.3f %.3f %llu %u %lld %d %llx"
/* What akgen-run writes of them at most: bytes. */
enum { JOB_SLICES_LIMIT = 60 << 20 };

#endif
