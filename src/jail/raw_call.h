/* A system call without the C library: no errno, which a thread's child that shares its memory would share, too. */
#ifndef JAIL_RAW_CALL_H
#define JAIL_RAW_CALL_H

/* What the kernel returns: a negative error number, or the result. */
static inline long raw_call(long number, long first, long second, long third, long fourth, long fifth)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = fourth, r8 __asm__("r8") = fifth;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = first, x1 __asm__("x1") = second,
                     x2 __asm__("x2") = third, x3 __asm__("x3") = fourth, x4 __asm__("x4") = fifth;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

#endif
