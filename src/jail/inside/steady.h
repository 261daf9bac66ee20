/* What a candidate can read that differs from one process to the next although nothing was changed (steady.c): clocks,
 * random numbers, numbers of processes, the machine's name and size. In akgen-run all of it is the same in every run,
 * so a candidate that looks at it gets the same verdict every time. */
#ifndef JAIL_INSIDE_STEADY_H
#define JAIL_INSIDE_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STEADY_PROCESS = 2 /* getpid() */ };
/* Before anything of the candidate's runs: the random numbers that Linux gives every program are replaced. The caller
 * never returns. */
void steady_begin(void);
/* Fills what the machine left on the stack below its caller's frame with zeros. */
void steady_stack(void);
/* The time that a candidate sees, in nanoseconds since 1970: it begins with 2026 and goes on by a microsecond whenever
 * somebody looks. */
uint64_t steady_time(void);
/* The same, since the process began. */
uint64_t steady_elapsed(void);
/* `bytes` numbers that look like random ones. */
void steady_random(void *to, size_t bytes);
/* The first three arguments of a system call that the filter has stopped, in the handler. */
void steady_arguments(const void *context, uint64_t arguments[3]);
/* Answers a system call that the filter has stopped; the handler returns into the program. False: it has no answer. */
bool steady_answer(int system_call, void *context);
/* The real clock, for our own measurements. */
double steady_seconds(void);

#endif
