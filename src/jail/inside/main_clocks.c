/* Functions of libc that the program akgen-run has in their place: the candidate's objects, and the libraries that they
 * call, find these first. They look at clocks without a system call that the guard could answer, or ask the processor
 * itself. Only the program has them: elsewhere in this tree clocks are clocks. */
#include "jail/inside/steady.h"

#include <sys/sysinfo.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const uint64_t second = 1000000000;

static struct timespec timespec_of(uint64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / second), .tv_nsec = (long)(nanoseconds % second)};
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    *time = timespec_of(clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? steady_time() : steady_elapsed());
    return 0;
}

int timespec_get(struct timespec *time, int base)
{
    if (base != TIME_UTC)
        return 0;
    *time = timespec_of(steady_time());
    return base;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    (void)zone;
    uint64_t now = steady_time();
    *time = (struct timeval){.tv_sec = (time_t)(now / second), .tv_usec = (suseconds_t)(now % second / 1000)};
    return 0;
}

time_t time(time_t *result)
{
    time_t now = (time_t)(steady_time() / second);
    if (result)
        *result = now;
    return now;
}

clock_t clock(void)
{
    return (clock_t)(steady_elapsed() / (second / CLOCKS_PER_SEC));
}

int sched_getcpu(void)
{
    return 0;
}

/* For std::thread::hardware_concurrency(). */
int get_nprocs(void)
{
    return 1;
}

/* Not the system calls: abort() and raise() make them with signals blocked, when nothing could answer. */
int getpid(void)
{
    return STEADY_PROCESS;
}

int gettid(void)
{
    return STEADY_PROCESS;
}

/* std::random_device::_M_getval() of libstdc++, which asks the processor. */
uint32_t random_device_value(void *device) __asm__("_ZNSt13random_device9_M_getvalEv");
uint32_t random_device_value(void *device)
{
    (void)device;
    uint32_t value;
    steady_random(&value, sizeof value);
    return value;
}
