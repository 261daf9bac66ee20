/* Who ended a process of the jail, and what kept it waiting: what the system knows about that. */
#ifndef JAIL_ENDING_H
#define JAIL_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True for a signal that neither an instruction nor a limit of the process raises (SIGKILL, SIGTERM, ...): somebody else
 * sent it, as long as the process cannot send it to itself. */
bool ending_from_outside(int signal);
/* How many processes this system has ended because it had no memory; 0 where it does not count them. */
uint64_t ending_memory_kills(void);
/* Seconds in which the process could have run and had no processor; 0 where the system does not say. */
double ending_waited(pid_t pid);

#endif
