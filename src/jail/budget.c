#include "jail/budget.h"

#include <poll.h>

/* A process that has less would end before anything of the candidate has begun. */
static const double least_seconds = 1;

void budget_open(struct budget *budget, double seconds, int cancel_fd)
{
    *budget = (struct budget){.seconds = seconds, .cancel_fd = cancel_fd, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void budget_close(struct budget *budget)
{
    pthread_mutex_destroy(&budget->lock);
}

double budget_allows(struct budget *budget, double seconds)
{
    if (!budget)
        return seconds;
    struct pollfd cancel = {.fd = budget->cancel_fd, .events = POLLIN};
    if (budget->cancel_fd > 0 && poll(&cancel, 1, 0) > 0)
        return 0;
    pthread_mutex_lock(&budget->lock);
    double left = budget->seconds - budget->used;
    pthread_mutex_unlock(&budget->lock);
    return left < least_seconds && left < seconds ? 0 : left < seconds ? left : seconds;
}

void budget_charge(struct budget *budget, double seconds)
{
    if (!budget)
        return;
    pthread_mutex_lock(&budget->lock);
    budget->used += seconds;
    pthread_mutex_unlock(&budget->lock);
}

void budget_end(struct budget *budget)
{
    if (budget)
        budget_charge(budget, budget->seconds);
}
