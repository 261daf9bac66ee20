/* The mark at the beginning of the result descriptor: how far akgen-run came. */
#include "jail/job_exchange.h"

#include <stdio.h>

static const struct words stages = WORDS(JOB_STAGES);

const char *job_stage_name(enum job_stage stage)
{
    return stages.of[stage];
}

void job_mark_set(struct job_mark *mark, enum job_stage stage, const char *nonce)
{
    *mark = (struct job_mark){0};
    snprintf(mark->stage, sizeof mark->stage, "%s", stages.of[stage]);
    if (stage == JOB_REPORT && nonce)
        snprintf(mark->proof, sizeof mark->proof, "%s", nonce);
}

enum job_stage job_mark_stage(const struct job_mark *mark, const struct job_mark *untouched, const char *nonce)
{
    if (memcmp(mark, untouched, sizeof *mark) == 0)
        return JOB_START;
    for (enum job_stage stage = JOB_LOAD; stage <= JOB_REPORT; stage++) {
        struct job_mark genuine;
        job_mark_set(&genuine, stage, nonce);
        if (memcmp(mark, &genuine, sizeof *mark) == 0)
            return stage;
    }
    return JOB_LOAD; /* the candidate's own words: it runs since then */
}
