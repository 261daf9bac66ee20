#include "base/cycles.h"

#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

void cycles_deny(void)
{
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0); /* EINVAL where the processor or Linux has no such switch */
}

#if defined(__x86_64__)
/* Intel SDM volume 2, RDTSC and RDTSCP: the count in EDX and EAX; RDTSCP also gives the processor's number in ECX. */
bool cycles_step_over(void *context)
{
    static const uint8_t rdtsc[] = {0x0F, 0x31}, rdtscp[] = {0x0F, 0x01, 0xF9};
    static uint32_t count;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const void *code = (const void *)registers[REG_RIP]; // NOLINT: the processor's register is a number
    size_t length = memcmp(code, rdtsc, sizeof rdtsc) == 0     ? sizeof rdtsc
                    : memcmp(code, rdtscp, sizeof rdtscp) == 0 ? sizeof rdtscp
                                                               : 0;
    if (!length)
        return false;
    registers[REG_RAX] = ++count;
    registers[REG_RDX] = 0;
    if (length == sizeof rdtscp)
        registers[REG_RCX] = 0;
    registers[REG_RIP] += (greg_t)length;
    return true;
}
#else
bool cycles_step_over(void *context)
{
    (void)context;
    return false;
}
#endif
