/* sandbox_spawn: fork, fence, exec; then read what the process prints until it ends or its time is over. */
#include "base/text.h"
#include "base/clock.h"
#include "base/inject.h"
#include "sandbox/ending.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
static int child_fences(const struct sandbox_limits *limits, int landlock)
{
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

static _Noreturn void child_run(const char *const argv[], const struct sandbox_limits *limits, const int *keep,
                                int output, int report, int landlock)
{
    const char *environment[MAX_VARIABLES + 1] = {"PATH=/usr/bin:/bin", "LANG=C", "HOME=/", "TMPDIR=/nonexistent",
                                                  SOURCE_DATE};
    int count = 5;
    for (const char *const *variable = limits->variables; variable && *variable && count < MAX_VARIABLES; variable++)
        environment[count++] = *variable;
    int null = open("/dev/null", O_RDONLY);
    /* Without these the candidate would read and write the parent's own streams. */
    if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        child_fail(report);
    int moved = child_descriptors(keep, report);
    if (moved < 0)
        child_fail(report);
    report = moved;
    if (!child_fences(limits, landlock))
        execve(argv[0], (char *const *)argv, (char *const *)environment);
    child_fail(report);
}

/* A pipe from the process. */
struct stream {
    int fd; /* -1: none, or at its end */
    struct text *text;
    size_t limit;
};

/* True if something came. */
static bool take_output(struct stream *stream)
{
    char buffer[16384];
    ssize_t n = read(stream->fd, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n <= 0) {
        stream->fd = -1;
        return false;
    }
    size_t room = stream->limit > stream->text->length ? stream->limit - stream->text->length : 0;
    text_append(stream->text, buffer, (size_t)n < room ? (size_t)n : room);
    return true;
}

/* What is still in the pipe; nobody can hold its other end open any more except a process that left the group. */
static void take_rest(struct stream *stream)
{
    enum { MOST = 1024 };
    if (stream->fd >= 0)
        fcntl(stream->fd, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < MOST && stream->fd >= 0 && take_output(stream); i++)
        ;
}

/* The time that a process has, which does not depend on how busy the machine is. */
struct allowance {
    double start, seconds;
    bool timed_out, starved; /* starved: timed out, and most of the time it had no processor */
};

/* What is left of it; at most 0: its time is over. */
static double time_left(struct allowance *allowance, pid_t pid)
{
    enum { PATIENCE = 10 }; /* times the allowance, at most */
    const double least = 1e-3;
    double used = clock_seconds() - allowance->start, left = allowance->seconds - used;
    if (left > 0)
        return left;
    left += ending_waited(pid);
    allowance->starved = left > least && used > PATIENCE * allowance->seconds;
    allowance->timed_out = left <= least || allowance->starved;
    return allowance->timed_out ? 0 : left;
}

/* Reads until the process is gone; kills its group when the time is over. Returns the wait status. */
static int attend(pid_t pid, struct stream *printed, struct stream *answer, struct allowance *allowance,
                  struct rusage *usage)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    bool running = true;
    while (running) {
        double left = time_left(allowance, pid);
        if (left <= 0)
            break;
        /* Without pidfd_open (before Linux 5.3) look every 5 ms. */
        int wait_ms = left > 1e6 ? 1000000000 : (int)(left * 1000) + 1;
        struct pollfd ends[3] = {{.fd = printed->fd, .events = POLLIN},
                                 {.fd = answer->fd, .events = POLLIN},
                                 {.fd = pidfd, .events = POLLIN}};
        poll(ends, 3, pidfd < 0 && wait_ms > 5 ? 5 : wait_ms);
        if (ends[0].revents)
            take_output(printed);
        if (ends[1].revents)
            take_output(answer);
        siginfo_t state = {0};
        if (pidfd < 0 || ends[2].revents)
            running = waitid(P_PID, (id_t)pid, &state, WEXITED | WNOHANG | WNOWAIT) || state.si_pid != pid;
    }
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    int status = 0;
    while (wait4(pid, &status, 0, usage) < 0 && errno == EINTR)
        ;
    take_rest(printed);
    take_rest(answer);
    if (pidfd >= 0)
        close(pidfd);
    return status;
}

static void fail(struct arena *arena, struct sandbox_result *result, const char *what, int reason)
{
    result->error = arena_printf(arena, "%s: %s", what, strerror(reason));
}

/* What became of the process. */
static void take_end(const struct sandbox_limits *limits, int status, const struct allowance *allowance,
                     const struct rusage *usage, uint64_t memory_kills, struct sandbox_result *result)
{
    uint64_t filled = (uint64_t)usage->ru_maxrss << 10;
    result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result->timed_out = allowance->timed_out && !allowance->starved;
    result->killed = allowance->starved || (!allowance->timed_out && ending_from_outside(result->signal));
    if (limits->alone && result->signal == SIGKILL && filled > limits->expected_memory &&
        ending_memory_kills() > memory_kills) {
        result->exhausted = true;
        result->killed = false;
    }
}

static void spawn(struct arena *arena, const char *const argv[], const struct sandbox_limits *limits,
                  const int *keep_fds, size_t output_limit, struct sandbox_result *result)
{
    int output[2], report[2];
    if (pipe2(output, O_CLOEXEC)) {
        fail(arena, result, "no pipe for the process's output", errno);
        return;
    }
    if (pipe2(report, O_CLOEXEC)) {
        fail(arena, result, "no pipe for the process's start", errno);
        close(output[0]), close(output[1]);
        return;
    }
    int landlock = landlock_version();
    uint64_t memory_kills = limits->alone ? ending_memory_kills() : 0;
    double start = clock_seconds();
    pid_t pid = fork();
    if (!pid)
        child_run(argv, limits, keep_fds, output[1], report[1], landlock);
    int reason = errno;
    close(output[1]), close(report[1]);
    if (pid > 0) {
        struct text text = {0};
        struct allowance allowance = {.start = start, .seconds = limits->seconds > 0 ? limits->seconds : 1e9};
        struct rusage usage = {0};
        reason = 0;
        ssize_t n;
        while ((n = read(report[0], &reason, sizeof reason)) < 0 && errno == EINTR)
            ;
        if (inject_fails(INJECT_KILL))
            kill(pid, SIGKILL);
        struct stream printed = {output[0], &text, output_limit}, answer = {.fd = -1};
        if (limits->answer)
            answer = (struct stream){limits->answer->fd, &limits->answer->text, limits->answer->limit};
        int status = attend(pid, &printed, &answer, &allowance, &usage);
        result->started = n == 0;
        take_end(limits, status, &allowance, &usage, memory_kills, result);
        result->output_length = text.length;
        if (text.length)
            result->output = arena_strndup(arena, text.bytes, text.length);
        text_free(&text);
    }
    close(output[0]), close(report[0]);
    result->seconds = clock_seconds() - start;
    if (!result->started)
        fail(arena, result, argv[0], reason);
}

/* Held for reading by whoever has a process in a jail, for writing by one that must be alone; who waits to be alone
 * comes before those who come after him. */
static pthread_rwlock_t company = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void sandbox_spawn(struct arena *arena, const char *const argv[], const struct sandbox_limits *limits,
                   const int *keep_fds, size_t output_limit, struct sandbox_result *result)
{
    *result = (struct sandbox_result){.exit_code = -1, .output = arena_strdup(arena, "")};
    if (limits->alone)
        pthread_rwlock_wrlock(&company);
    else
        pthread_rwlock_rdlock(&company);
    spawn(arena, argv, limits, keep_fds, output_limit, result);
    pthread_rwlock_unlock(&company);
}

const char *sandbox_features(struct arena *arena)
{
    int landlock = landlock_version();
    struct text text = {0};
    if (landlock)
        text_addf(&text, "landlock %d", landlock);
    else
        text_add(&text, "no landlock");
    text_add(&text, prctl(PR_GET_SECCOMP) >= 0 ? ", seccomp" : ", no seccomp");
    text_add(&text, ", rlimits");
    int persona = personality(ask_persona);
    text_add(&text, persona >= 0 && personality((unsigned long)persona | ADDR_NO_RANDOMIZE) >= 0
                        ? ", fixed addresses"
                        : ", random addresses");
    personality((unsigned long)persona);
    const char *features = arena_strdup(arena, text.bytes);
    text_free(&text);
    return features;
}
