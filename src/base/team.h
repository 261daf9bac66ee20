/* Threads that stay, for work that is cut into a few equal parts thousands of times a second. For long things that are done
 * once each, see workers.h. */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <stdint.h>

struct team;
/* `threads` of them, the caller's included; where the system gives fewer, fewer. Never NULL. The caller frees. */
struct team *team_new(int threads);
void team_free(struct team *team);
int team_threads(const struct team *team);
/* Calls body(closure, worker, workers) once in each thread, workers in all, and returns when all have ended. One call at a time. */
void team_run(struct team *team, void (*body)(void *closure, int worker, int workers), void *closure);
/* The part of [0, count) that is worker's, in whole multiples of `grain` but for the last: from *first to before *last. */
static inline void team_share(int64_t count, int64_t grain, int worker, int workers, int64_t *first, int64_t *last)
{
    int64_t grains = (count + grain - 1) / grain;
    *first = grains * worker / workers * grain;
    *last = grains * (worker + 1) / workers * grain;
    *first = *first < count ? *first : count;
    *last = *last < count ? *last : count;
}

#endif
