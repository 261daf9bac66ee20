/* sandbox_start: fork, fence, exec. The process is then attended by spawn.c, or lives on until sandbox_end. */
#include "base/clock.h"
#include "base/memory.h"
#include "sandbox/landlock.h"
#include "sandbox/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_FILES = 256, MAX_KEPT = 16, ABOVE_KEPT = 64, MAX_VARIABLES = 16, EXIT_NOT_STARTED = 127 };

/* What a compiler takes for the time at which it runs (reproducible-builds.org/specs/source-date-epoch): 2026. */
#define SOURCE_DATE "SOURCE_DATE_EPOCH=1767225600"

static const unsigned long ask_persona = 0xffffffff; /* changes nothing (personality(2)) */

static void set_limit(int resource, uint64_t value)
{
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    setrlimit(resource, &limit);
}

/* The program gets the same addresses in every run: none chosen at random (where a container allows that), and none that
 * depends on the limit of the caller's stack, above which Linux leaves room for it to grow. */
static void child_addresses(void)
{
    static const rlim_t stack = 8 << 20;
    int persona = personality(ask_persona);
    struct rlimit limit;
    if (persona >= 0)
        personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
    if (getrlimit(RLIMIT_STACK, &limit))
        return;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > stack ? stack : limit.rlim_max;
    setrlimit(RLIMIT_STACK, &limit);
}

/* Everything below up to execve runs in a child of a threaded program: system calls only. */
static int child_fences(const struct start *start, int landlock)
{
    const struct sandbox_limits *limits = start->limits;
    /* The signal comes when the thread ends that forked, not the program: one that lives on would die with a worker. */
    if (!start->lives_on)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    child_addresses();
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, MAX_FILES);
    if (limits->memory)
        set_limit(RLIMIT_AS, limits->memory);
    if (limits->file_bytes)
        set_limit(RLIMIT_FSIZE, limits->file_bytes);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    if (landlock_restrict(landlock, limits->readable, limits->writable))
        return -1;
    /* Kernels built without seccomp answer EINVAL: sandbox_features() says so, and the rest of the jail holds. */
    if (seccomp_restrict() && errno != EINVAL && errno != ENOSYS)
        return -1;
    return 0;
}

/* Gives the kept descriptors their numbers and closes every other but the report pipe, which closes itself on exec.
 * Returns the pipe's new number, -1 with errno if there is none. */
static int child_descriptors(const int *keep, int report)
{
    int above[MAX_KEPT], count = 0;
    report = fcntl(report, F_DUPFD_CLOEXEC, ABOVE_KEPT);
    for (; keep && count < MAX_KEPT && keep[count] >= 0; count++)
        above[count] = fcntl(keep[count], F_DUPFD, ABOVE_KEPT);
    for (int i = 0; i < count; i++)
        if (above[i] < 0 || dup2(above[i], SANDBOX_KEPT + i) < 0)
            return -1;
    if (report < 0)
        return -1;
    syscall(SYS_close_range, SANDBOX_KEPT + count, report - 1, 0);
    syscall(SYS_close_range, report + 1, ~0U, 0);
    return report;
}

/* Tells the parent why nothing was started. */
static _Noreturn void child_fail(int report)
{
    int reason = errno;
    if (write(report, &reason, sizeof reason) < 0)
        _exit(EXIT_NOT_STARTED);
    _exit(EXIT_NOT_STARTED);
}

static _Noreturn void child_run(const struct start *start, int output, int report, int landlock)
{
    const char *environment[MAX_VARIABLES + 1] = {"PATH=/usr/bin:/bin", "LANG=C", "HOME=/", "TMPDIR=/nonexistent",
                                                  SOURCE_DATE};
    int count = 5;
    for (const char *const *variable = start->limits->variables; variable && *variable && count < MAX_VARIABLES;
         variable++)
        environment[count++] = *variable;
    int null = open("/dev/null", O_RDONLY);
    /* Without these the candidate would read and write the parent's own streams. */
    if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        child_fail(report);
    int moved = child_descriptors(start->keep_fds, report);
    if (moved < 0)
        child_fail(report);
    report = moved;
    if (!child_fences(start, landlock))
        execve(start->argv[0], (char *const *)start->argv, (char *const *)environment);
    child_fail(report);
}

/* The child's errno if it did not come to its program; 0. */
static int await_exec(int report)
{
    int reason = 0;
    while (read(report, &reason, sizeof reason) < 0 && errno == EINTR)
        ;
    return reason;
}

struct akgen_error *process_start(const struct start *start, struct sandbox_process **started)
{
    int output[2], report[2];
    if (pipe2(output, O_CLOEXEC))
        return error_new("no pipe for the process's output: %s", strerror(errno));
    if (pipe2(report, O_CLOEXEC)) {
        struct akgen_error *error = error_new("no pipe for the process's start: %s", strerror(errno));
        close(output[0]), close(output[1]);
        return error;
    }
    int landlock = landlock_version();
    struct sandbox_process *process = memory_alloc(sizeof *process);
    *process = (struct sandbox_process){.output = output[0],
                                        .open_end = true,
                                        .output_limit = start->output_limit,
                                        .start = clock_seconds(),
                                        .pid = fork()};
    if (!process->pid)
        child_run(start, output[1], report[1], landlock);
    int reason = errno;
    close(output[1]), close(report[1]);
    if (process->pid > 0)
        reason = await_exec(report[0]);
    close(report[0]);
    process->pidfd = process->pid > 0 ? (int)syscall(SYS_pidfd_open, process->pid, 0) : -1;
    if (!reason) {
        *started = process;
        return NULL;
    }
    if (process->pid > 0)
        process_stop(process);
    process_free(process);
    return error_new("%s: %s", start->argv[0], strerror(reason));
}
