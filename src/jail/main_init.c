/* akgen-init: the first process of a jail's process ids. It lives as long as the program that made the jail keeps the other
 * end of its standard input open; when it ends, however that comes, the kernel ends every process of the jail.
 *
 * One starts with every jail, so it has no C library, whose beginning takes longer than all the rest of the jail: it asks
 * the processor for its features, which a virtual machine answers slowly. */
#include "jail/raw_call.h"

#include <errno.h>
#include <sys/syscall.h>

_Noreturn void _start(void);

void _start(void)
{
    static char byte;
    long n;
    do
        n = raw_call(SYS_read, 0, (long)&byte, 1, 0, 0);
    while (n > 0 || n == -EINTR);
    for (;;)
        raw_call(SYS_exit_group, 0, 0, 0, 0, 0);
}
