#include "base/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct workers {
    void (*body)(void *closure, int index);
    void *closure;
    int count;
    atomic_int next;
};

static void *work(void *closure)
{
    struct workers *workers = closure;
    for (int i; (i = atomic_fetch_add(&workers->next, 1)) < workers->count;)
        workers->body(workers->closure, i);
    return NULL;
}

void workers_run(int count, int jobs, void (*body)(void *closure, int index), void *closure)
{
    enum { MOST = 256 };
    pthread_t threads[MOST];
    struct workers workers = {.body = body, .closure = closure, .count = count};
    int wanted = (jobs < count ? jobs : count) - 1, started = 0;
    while (started < wanted && started < MOST && !pthread_create(&threads[started], NULL, work, &workers))
        started++;
    work(&workers);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
