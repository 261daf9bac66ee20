#include "jail/inside/steady.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { RANDOM_BYTES = 16 /* behind AT_RANDOM */, STACK_LEFT = 64 << 10, MICROSECOND = 1000 };
static const uint64_t second = 1000000000, year_2026 = 1767225600;

static uint64_t looks;

uint64_t steady_elapsed(void)
{
    return ++looks * MICROSECOND;
}

uint64_t steady_time(void)
{
    return year_2026 * second + steady_elapsed();
}

/* splitmix64. */
void steady_random(void *to, size_t bytes)
{
    static uint64_t state;
    uint8_t *at = to;
    for (size_t i = 0; i < bytes; i++) {
        uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        at[i] = (uint8_t)(mixed >> 56);
    }
}

/* Of the numbers behind AT_RANDOM libc has made the word that functions with a stack protector leave on the stack. */
__attribute__((no_stack_protector)) void steady_begin(void)
{
    void *given = (void *)getauxval(AT_RANDOM); // NOLINT: the kernel gives a number
    if (given)
        memset(given, 0, RANDOM_BYTES);
#if defined(__x86_64__)
    __asm__ volatile("movq %0, %%fs:0x28" ::"r"(UINT64_C(0x5afe57ac)));
#endif
}

__attribute__((noinline)) void steady_stack(void)
{
    uint8_t left[STACK_LEFT];
    explicit_bzero(left, sizeof left);
}

double steady_seconds(void)
{
    /* Not clock_gettime(), which shows what the candidate sees (main_clocks.c). The filter lets this clock through. */
    struct timespec now = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Answers to system calls: what the call returns, with its first three arguments. */
typedef long answer_body(const uint64_t arguments[3]);

static long tell_clock(const uint64_t arguments[3])
{
    uint64_t now = arguments[0] == CLOCK_REALTIME ? steady_time() : steady_elapsed();
    *(struct timespec *)arguments[1] = (struct timespec){(time_t)(now / second), (long)(now % second)}; // NOLINT
    return 0;
}

static long tell_day(const uint64_t arguments[3])
{
    uint64_t now = steady_time();
    struct timeval *time = (struct timeval *)arguments[0]; // NOLINT: arguments are numbers
    if (time)
        *time = (struct timeval){(time_t)(now / second), (suseconds_t)(now % second / MICROSECOND)};
    return 0;
}

static long tell_random(const uint64_t arguments[3])
{
    steady_random((void *)arguments[0], arguments[1]); // NOLINT
    return (long)arguments[1];
}

static long tell_processors(const uint64_t arguments[3])
{
    const size_t word = sizeof(unsigned long);
    if (arguments[1] < word)
        return -EINVAL;
    *(unsigned long *)arguments[2] = 1; // NOLINT
    return (long)word;
}

static long tell_name(const uint64_t arguments[3])
{
    struct utsname *name = (struct utsname *)arguments[0]; // NOLINT
    *name = (struct utsname){.sysname = "Linux", .nodename = "akgen", .release = "5.10.0", .version = "#1"};
    snprintf(name->machine, sizeof name->machine, "%s",
#if defined(__x86_64__)
             "x86_64"
#else
             "aarch64"
#endif
    );
    return 0;
}

static long tell_memory(const uint64_t arguments[3])
{
    *(struct sysinfo *)arguments[0] =
        (struct sysinfo){.totalram = 64UL << 30, .freeram = 32UL << 30, .mem_unit = 1}; // NOLINT
    return 0;
}

static const struct {
    int system_call;
    answer_body *answer;
} answers[] = {
    {SYS_clock_gettime, tell_clock},          {SYS_gettimeofday, tell_day}, {SYS_getrandom, tell_random},
    {SYS_sched_getaffinity, tell_processors}, {SYS_uname, tell_name},       {SYS_sysinfo, tell_memory},
};

void steady_arguments(const void *context, uint64_t arguments[3])
{
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    static const int registers[] = {REG_RDI, REG_RSI, REG_RDX};
    for (int i = 0; i < 3; i++)
        arguments[i] = (uint64_t)machine->gregs[registers[i]];
#else
    for (int i = 0; i < 3; i++)
        arguments[i] = machine->regs[i];
#endif
}

bool steady_answer(int system_call, void *context)
{
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    uint64_t arguments[3];
    steady_arguments(context, arguments);
#if defined(__x86_64__)
    greg_t *result = &machine->gregs[REG_RAX];
#else
    unsigned long long *result = &machine->regs[0];
#endif
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].system_call == system_call) {
            *result = (typeof(*result))answers[i].answer(arguments);
            return true;
        }
    return false;
}
