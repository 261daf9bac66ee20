/* A worker sleeps on the number of the round, and the caller on the number of workers that are not done. Both look for a
 * moment before they sleep: waking takes longer than most rounds. */
#include "base/team.h"

#include "base/memory.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 20 to 50 microseconds; who looks for longer takes the processor from those that it waits for. */
enum { LOOKS = 1000 };

struct team {
    _Atomic uint32_t round, busy; /* busy: workers that have not ended this round */
    _Atomic bool ending;
    int threads; /* the caller's included */
    pthread_t *others;
    void (*body)(void *closure, int worker, int workers);
    void *closure;
};
struct start {
    struct team *team;
    int worker;
};

/* Until *at is no longer `value`. */
static void wait_while(_Atomic uint32_t *at, uint32_t value)
{
    for (int look = 0; look < LOOKS; look++) {
        if (atomic_load_explicit(at, memory_order_acquire) != value)
            return;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    while (atomic_load(at) == value)
        syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *at)
{
    syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *serve(void *argument)
{
    struct start start = *(struct start *)argument;
    struct team *team = start.team;
    free(argument);
    for (uint32_t round = 0;; round++) {
        wait_while(&team->round, round);
        if (atomic_load(&team->ending))
            return NULL;
        team->body(team->closure, start.worker, team->threads);
        if (atomic_fetch_sub(&team->busy, 1) == 1)
            wake(&team->busy);
    }
}

struct team *team_new(int threads)
{
    struct team *team = memory_alloc(sizeof *team);
    team->threads = 1;
    team->others = memory_alloc((size_t)(threads > 1 ? threads : 1) * sizeof *team->others);
    while (team->threads < threads) {
        struct start *start = memory_alloc(sizeof *start);
        *start = (struct start){team, team->threads};
        if (pthread_create(&team->others[team->threads - 1], NULL, serve, start) != 0) {
            free(start);
            break;
        }
        team->threads++;
    }
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    atomic_store(&team->ending, true);
    atomic_fetch_add(&team->round, 1);
    wake(&team->round);
    for (int i = 0; i < team->threads - 1; i++)
        pthread_join(team->others[i], NULL);
    free(team->others);
    free(team);
}

int team_threads(const struct team *team)
{
    return team->threads;
}

void team_run(struct team *team, void (*body)(void *closure, int worker, int workers), void *closure)
{
    team->body = body;
    team->closure = closure;
    if (team->threads > 1) {
        atomic_store(&team->busy, (uint32_t)team->threads - 1);
        atomic_fetch_add_explicit(&team->round, 1, memory_order_release);
        wake(&team->round);
    }
    body(closure, 0, team->threads);
    for (uint32_t busy; (busy = atomic_load_explicit(&team->busy, memory_order_acquire));)
        wait_while(&team->busy, busy);
}
