/* A process in the jail, attended: what it prints is read until it ends or its time is over; then it is ended with all that
 * it left, and what became of it is told. */
#include "base/clock.h"
#include "base/inject.h"
#include "base/memory.h"
#include "sandbox/ending.h"
#include "sandbox/landlock.h"
#include "sandbox/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned long ask_persona = 0xffffffff; /* changes nothing (personality(2)) */

void process_take_output(struct sandbox_process *process)
{
    char buffer[16384];
    ssize_t n = read(process->output, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        process->open_end = false;
        return;
    }
    size_t limit = process->output_limit, room = limit > process->text.length ? limit - process->text.length : 0;
    text_append(&process->text, buffer, (size_t)n < room ? (size_t)n : room);
}

bool process_runs(const struct sandbox_process *process)
{
    siginfo_t state = {0};
    if (process->stopped)
        return false;
    return waitid(P_PID, (id_t)process->pid, &state, WEXITED | WNOHANG | WNOWAIT) || state.si_pid != process->pid;
}

/* What is in the pipe now; at most so much that a process which fills it for ever does not keep us. */
static void drain(struct sandbox_process *process)
{
    enum { MOST_READS = 1024 };
    fcntl(process->output, F_SETFL, O_NONBLOCK);
    for (int i = 0; process->open_end && i < MOST_READS; i++) {
        size_t before = process->text.length;
        process_take_output(process);
        if (process->text.length == before)
            break;
    }
}

void process_stop(struct sandbox_process *process)
{
    if (process->stopped)
        return;
    kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL);
    while (wait4(process->pid, &process->status, 0, &process->usage) < 0 && errno == EINTR)
        ;
    process->stopped = true;
    drain(process);
}

void process_free(struct sandbox_process *process)
{
    close(process->output);
    if (process->pidfd >= 0)
        close(process->pidfd);
    text_free(&process->text);
    free(process);
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

/* Reads until the process has ended by itself or its time is over. */
static void attend(struct sandbox_process *process, struct allowance *allowance)
{
    while (process_runs(process)) {
        double left = time_left(allowance, process->pid);
        if (left <= 0)
            return;
        /* Without pidfd_open look every 5 ms. */
        int wait_ms = left > 1e6 ? 1000000000 : (int)(left * 1000) + 1;
        struct pollfd ends[2] = {{.fd = process->open_end ? process->output : -1, .events = POLLIN},
                                 {.fd = process->pidfd, .events = POLLIN}};
        poll(ends, 2, process->pidfd < 0 && wait_ms > 5 ? 5 : wait_ms);
        if (ends[0].revents)
            process_take_output(process);
    }
}

/* What became of a stopped process. */
static void take_end(struct arena *arena, const struct sandbox_process *process, struct sandbox_result *result)
{
    *result = (struct sandbox_result){.started = true,
                                      .exit_code = WIFEXITED(process->status) ? WEXITSTATUS(process->status) : -1,
                                      .signal = WIFSIGNALED(process->status) ? WTERMSIG(process->status) : 0,
                                      .seconds = clock_seconds() - process->start,
                                      .output_length = process->text.length};
    result->output = process->text.length ? arena_strndup(arena, process->text.bytes, process->text.length)
                                          : arena_strdup(arena, "");
    result->killed = ending_from_outside(result->signal);
}

struct akgen_error *sandbox_start(const char *const argv[], const struct sandbox_limits *limits, const int *keep_fds,
                                  size_t output_limit, struct sandbox_process **process)
{
    return process_start(
        &(struct start){
            .argv = argv, .limits = limits, .keep_fds = keep_fds, .output_limit = output_limit, .lives_on = true},
        process);
}

bool sandbox_alive(struct sandbox_process *process)
{
    drain(process);
    return process_runs(process);
}

void sandbox_end(struct arena *arena, struct sandbox_process *process, struct sandbox_result *result)
{
    bool ours = process_runs(process);
    process_stop(process);
    if (result) {
        take_end(arena, process, result);
        result->killed &= !ours;
    }
    process_free(process);
}

/* Attends the process until it ends or its time is over, and frees it. */
static void watch(struct arena *arena, struct sandbox_process *process, const struct sandbox_limits *limits,
                  struct sandbox_result *result)
{
    uint64_t memory_kills = limits->alone ? ending_memory_kills() : 0;
    struct allowance allowance = {.start = process->start, .seconds = limits->seconds > 0 ? limits->seconds : 1e9};
    if (inject_fails(INJECT_KILL))
        kill(process->pid, SIGKILL);
    attend(process, &allowance);
    process_stop(process);
    take_end(arena, process, result);
    result->timed_out = allowance.timed_out && !allowance.starved;
    result->killed = allowance.starved || (!allowance.timed_out && result->killed);
    uint64_t filled = (uint64_t)process->usage.ru_maxrss << 10;
    if (limits->alone && result->signal == SIGKILL && filled > limits->expected_memory &&
        ending_memory_kills() > memory_kills) {
        result->exhausted = true;
        result->killed = false;
    }
    process_free(process);
}

static void spawn(struct arena *arena, const struct start *start, struct sandbox_result *result)
{
    double begin = clock_seconds();
    struct sandbox_process *process;
    struct akgen_error *error = process_start(start, &process);
    if (!error) {
        watch(arena, process, start->limits, result);
        return;
    }
    *result = (struct sandbox_result){.exit_code = -1, .output = arena_strdup(arena, "")};
    result->error = arena_strdup(arena, error->message);
    result->seconds = clock_seconds() - begin;
    error_free(error);
}

/* Held for reading by whoever has a process in a jail, for writing by one that must be alone; who waits to be alone
 * comes before those who come after him. */
static pthread_rwlock_t company = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void sandbox_spawn(struct arena *arena, const char *const argv[], const struct sandbox_limits *limits,
                   const int *keep_fds, size_t output_limit, struct sandbox_result *result)
{
    const struct start start = {.argv = argv, .limits = limits, .keep_fds = keep_fds, .output_limit = output_limit};
    if (limits->alone)
        pthread_rwlock_wrlock(&company);
    else
        pthread_rwlock_rdlock(&company);
    spawn(arena, &start, result);
    pthread_rwlock_unlock(&company);
}

void sandbox_adopt(struct arena *arena, int (*make)(void *closure, int output), void *closure,
                   const struct sandbox_limits *limits, size_t output_limit, struct sandbox_result *result)
{
    int output[2];
    *result = (struct sandbox_result){.exit_code = -1, .output = arena_strdup(arena, "")};
    if (pipe2(output, O_CLOEXEC)) {
        result->error = arena_printf(arena, "no pipe for the process's output: %s", strerror(errno));
        return;
    }
    pthread_rwlock_rdlock(&company);
    double start = clock_seconds();
    pid_t pid = make(closure, output[1]);
    close(output[1]);
    if (pid > 0) {
        struct sandbox_process *process = memory_alloc(sizeof *process);
        *process = (struct sandbox_process){.pid = pid,
                                            .pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
                                            .output = output[0],
                                            .open_end = true,
                                            .output_limit = output_limit,
                                            .start = start};
        watch(arena, process, limits, result);
    } else {
        result->error = "no process was made";
        close(output[0]);
    }
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
