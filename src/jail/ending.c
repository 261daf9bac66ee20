#include "jail/ending.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

bool ending_from_outside(int signal)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGXFSZ, SIGXCPU};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (signal == own[i])
            return false;
    return signal != 0;
}

uint64_t ending_memory_kills(void)
{
    FILE *file = fopen("/proc/vmstat", "re");
    char line[128];
    uint64_t count = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "oom_kill %" SCNu64, &count) == 1)
            break;
    if (file)
        fclose(file);
    return count;
}

/* /proc/PID/schedstat: nanoseconds on a processor, nanoseconds in a queue for one, number of turns
 * (Documentation/scheduler/sched-stats.rst of Linux). */
double ending_waited(pid_t pid)
{
    char path[64];
    uint64_t ran, waited = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
        waited = 0;
    if (file)
        fclose(file);
    return (double)waited * 1e-9;
}
