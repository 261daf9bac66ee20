/* The time of one candidate: what all processes that work for it may use together, side by side or one after the other. Only the
 * time in which a process had a processor, or waited for nobody but itself, counts. */
#ifndef JAIL_BUDGET_H
#define JAIL_BUDGET_H

#include <pthread.h>

struct budget {
    double seconds; /* in all */
    double used;
    int cancel_fd; /* as of sandbox_limits */
    pthread_mutex_t lock;
};
void budget_open(struct budget *budget, double seconds, int cancel_fd);
void budget_close(struct budget *budget);
/* How long a process may take that wants `seconds`; 0: it need not begin, as once the work is cancelled. Without a budget (NULL) all
 * that it wants. */
double budget_allows(struct budget *budget, double seconds);
/* Takes what a process used. */
void budget_charge(struct budget *budget, double seconds);
/* No other process begins. */
void budget_end(struct budget *budget);

#endif
