#include "sandbox/fence.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static void set_limit(int resource, uint64_t value)
{
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    setrlimit(resource, &limit);
}

int sandbox_fence(const struct sandbox_limits *limits)
{
    setsid();
    set_limit(RLIMIT_CORE, 0);
    /* akgen watches the clock; this is for when akgen has ended. */
    if (limits->seconds > 0)
        set_limit(RLIMIT_CPU, (uint64_t)limits->seconds + 2);
    if (limits->memory)
        set_limit(RLIMIT_AS, limits->memory);
    if (limits->file_bytes)
        set_limit(RLIMIT_FSIZE, limits->file_bytes);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        landlock_restrict(landlock_version(), limits->readable, limits->writable))
        return -1;
    return seccomp_restrict() && errno != EINVAL && errno != ENOSYS ? -1 : 0;
}
