/* akgen-init: the first process of a jail's process ids. It lives as long as the program that made the jail keeps the other
 * end of its standard input open; when it ends, however that comes, the kernel ends every process of the jail.
 *
 * One starts with every jail, so it has no C library, whose beginning takes longer than all the rest of the jail: it asks
 * the processor for its features, which a virtual machine answers slowly. */
#include <errno.h>
#include <sys/syscall.h>

_Noreturn void _start(void);

static long system_call(long number, long first, long second, long third)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = first, x1 __asm__("x1") = second,
                     x2 __asm__("x2") = third;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

void _start(void)
{
    static char byte;
    long n;
    do
        n = system_call(SYS_read, 0, (long)&byte, 1);
    while (n > 0 || n == -EINTR);
    for (;;)
        system_call(SYS_exit_group, 0, 0, 0);
}
