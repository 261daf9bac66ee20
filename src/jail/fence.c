#include "jail/fence.h"
#include "jail/calls.h"
#include "jail/fence_internal.h"
#include "jail/landlock.h"
#include "jail/layers.h"
#include "jail/raw_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_FILES = 256,
    MAX_PROCESSES = 512, /* of all the jails of a program together */
    MAX_THREADS = 16     /* of lld, which has the most */
};

bool fence_sees_all(const struct sandbox_limits *limits)
{
    for (const char *const *path = limits->readable; path && *path; path++)
        if (strcmp(*path, "/") == 0)
            return true;
    return false;
}

/* Not by the C library's functions, which change every thread of the program whose memory this is. */
long fence_become(long id)
{
    long failed = raw_call(SYS_setgroups, 0, 0, 0, 0, 0);
    if (!failed)
        failed = raw_call(SYS_setresgid, id, id, id, 0, 0);
    return failed ? failed : raw_call(SYS_setresuid, id, id, id, 0, 0);
}

int fence_identity(const struct fence *fence)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    long failed = 0;
    /* First, since another user id takes the right to: refused to who has none. */
    for (long right = 0; raw_call(SYS_prctl, PR_CAPBSET_READ, right, 0, 0, 0) >= 0; right++)
        raw_call(SYS_prctl, PR_CAPBSET_DROP, right, 0, 0, 0);
    if (fence->limits->apart && fence->layers & LAYER(SANDBOX_UID))
        failed = fence_become(fence->layers & LAYER(SANDBOX_USER) ? NAMESPACES_APART : NAMESPACES_APART_OUTSIDE);
    if (failed)
        return (int)failed;
    raw_call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return (int)raw_call(SYS_capset, (long)&header, (long)none, 0, 0, 0);
}

static void set_limit(int resource, uint64_t value)
{
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    setrlimit(resource, &limit);
}

/* The program gets the same addresses in every run: none chosen at random (where a container allows that), and none that
 * depends on the limit of the caller's stack, above which Linux leaves room for it to grow. */
static void fix_addresses(void)
{
    static const unsigned long ask = 0xffffffff; /* changes nothing (personality(2)) */
    static const rlim_t stack = 8 << 20;
    int persona = personality(ask);
    struct rlimit limit;
    if (persona >= 0)
        personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
    if (getrlimit(RLIMIT_STACK, &limit))
        return;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > stack ? stack : limit.rlim_max;
    setrlimit(RLIMIT_STACK, &limit);
}

static void set_limits(const struct sandbox_limits *limits)
{
    fix_addresses();
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, MAX_FILES);
    set_limit(RLIMIT_MEMLOCK, 0);
    set_limit(RLIMIT_MSGQUEUE, 0);
    /* The caller watches the clock; this is for when it has ended. */
    if (limits->seconds > 0)
        set_limit(RLIMIT_CPU, MAX_THREADS * (uint64_t)(limits->seconds + 1));
    if (limits->memory)
        set_limit(RLIMIT_AS, limits->memory);
    if (limits->file_bytes)
        set_limit(RLIMIT_FSIZE, limits->file_bytes);
}

const char *fence_close(const struct fence *fence)
{
    const struct sandbox_limits *limits = fence->limits;
    const char *failed = fence->view ? view_close(fence->own_proc) : NULL;
    if (failed)
        return failed;
    setsid();
    set_limits(limits);
    /* A user's processes are counted in its user namespace; without one, those outside the jail would count, too. */
    if (fence->layers & LAYER(SANDBOX_USER))
        set_limit(RLIMIT_NPROC, MAX_PROCESSES);
    int ruleset = landlock_prepare(fence->landlock, limits->readable, limits->writable);
    if (ruleset == -1)
        return "landlock";
    errno = -fence_identity(fence);
    if (errno)
        return "the user id";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return "no_new_privs";
    if (landlock_restrict(ruleset))
        return "landlock";
    if (fence->layers & LAYER(SANDBOX_SECCOMP) && calls_restrict())
        return "the seccomp filter";
    return NULL;
}

int sandbox_empty_input(void)
{
    int ends[2], null = open("/dev/null", O_RDONLY);
    if (null >= 0 || pipe(ends))
        return null;
    close(ends[1]);
    return ends[0];
}

void sandbox_fence_prepare(void)
{
    calls_prepare();
}

int sandbox_fence(const struct sandbox_limits *limits)
{
    struct fence fence = {.limits = limits, .landlock = landlock_version()};
    if (!fence_sees_all(limits))
        fence.view = view_new(limits->readable, limits->writable, false);
    /* Only who was not jailed before may make a mount namespace; for others it is one layer less. */
    if (fence.view && view_enter(fence.view)) {
        if (errno != EPERM)
            return -1;
        view_free(fence.view);
        fence.view = NULL;
    }
    fence.layers = calls_prepare() ? LAYER(SANDBOX_SECCOMP) : 0;
    return fence_close(&fence) ? -1 : 0;
}
