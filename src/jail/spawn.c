/* A process in the jail, attended: what it prints is read until it ends or its time is over; then it is ended with all that
 * it left, and what became of it is told. */
#include "base/clock.h"
#include "base/inject.h"
#include "base/memory.h"
#include "jail/ending.h"
#include "jail/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDING_MOST = 16 };

bool process_take(struct stream *stream)
{
    char buffer[16384];
    ssize_t n = read(stream->fd, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n <= 0) {
        stream->ended = true;
        return false;
    }
    size_t room = stream->limit > stream->text->length ? stream->limit - stream->text->length : 0;
    text_append(stream->text, buffer, (size_t)n < room ? (size_t)n : room);
    return true;
}

bool process_runs(const struct sandbox_process *process)
{
    siginfo_t state = {0};
    if (process->stopped)
        return false;
    return waitid(P_PID, (id_t)process->pid, &state, WEXITED | WNOHANG | WNOWAIT) || state.si_pid != process->pid;
}

/* What is in the pipe now; at most so much that a process which fills it for ever does not keep us. */
static void drain(struct stream *stream)
{
    enum { MOST_READS = 1024 };
    if (stream->fd >= 0)
        fcntl(stream->fd, F_SETFL, O_NONBLOCK);
    for (int i = 0; stream->fd >= 0 && !stream->ended && i < MOST_READS && process_take(stream); i++)
        ;
}

/* First processes that were killed, and whose namespaces the kernel may take milliseconds to take down, in which nobody needs
 * to wait. */
static struct {
    pthread_mutex_t lock;
    pid_t pids[ENDING_MOST];
    int count;
} ending = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Reaps those that have ended, and adds one; when there are too many, the oldest is waited for. */
static void reap_later(pid_t init)
{
    pthread_mutex_lock(&ending.lock);
    int left = 0;
    for (int i = 0; i < ending.count; i++) {
        bool wait = i == 0 && ending.count == ENDING_MOST;
        pid_t reaped;
        while ((reaped = waitpid(ending.pids[i], NULL, wait ? 0 : WNOHANG)) < 0 && errno == EINTR)
            ;
        if (reaped == 0)
            ending.pids[left++] = ending.pids[i];
    }
    ending.pids[left++] = init;
    ending.count = left;
    pthread_mutex_unlock(&ending.lock);
}

void process_stop(struct sandbox_process *process)
{
    if (process->stopped)
        return;
    if (process->pid > 0) {
        kill(-process->pid, SIGKILL);
        kill(process->pid, SIGKILL);
    }
    /* The first of its process ids: with it end all that it started. */
    if (process->init > 0)
        kill(process->init, SIGKILL);
    while (process->pid > 0 && wait4(process->pid, &process->status, 0, &process->usage) < 0 && errno == EINTR)
        ;
    if (process->init > 0)
        reap_later(process->init);
    process->stopped = true;
    drain(&process->printed);
    drain(&process->answer);
}

void process_free(struct sandbox_process *process)
{
    close(process->printed.fd);
    close(process->lifeline);
    if (process->pidfd >= 0)
        close(process->pidfd);
    text_free(&process->text);
    free(process);
}

/* The time that a process has, which does not depend on how busy the machine is. */
struct allowance {
    double start, seconds;
    double used;             /* of it, once the process has ended */
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

/* Reads until the process has ended by itself, its time is over, or it is cancelled. */
static void attend(struct sandbox_process *process, int cancel_fd, struct allowance *allowance)
{
    enum { CANCEL = 3, ENDS };
    while (process_runs(process)) {
        double left = time_left(allowance, process->pid);
        if (left <= 0)
            break;
        /* Without pidfd_open look every 5 ms. */
        int wait_ms = left > 1e6 ? 1000000000 : (int)(left * 1000) + 1;
        struct stream *const streams[] = {&process->printed, &process->answer};
        struct pollfd ends[ENDS] = {
            {.fd = process->pidfd, .events = POLLIN},
            [CANCEL] = {.fd = cancel_fd > 0 ? cancel_fd : -1, .events = POLLIN},
        };
        for (int i = 0; i < 2; i++)
            ends[i + 1] = (struct pollfd){.fd = streams[i]->ended ? -1 : streams[i]->fd, .events = POLLIN};
        poll(ends, ENDS, process->pidfd < 0 && wait_ms > 5 ? 5 : wait_ms);
        for (int i = 0; i < 2; i++)
            if (ends[i + 1].revents)
                process_take(streams[i]);
        if (ends[CANCEL].revents) {
            allowance->timed_out = true;
            break;
        }
    }
    allowance->used = clock_seconds() - allowance->start - ending_waited(process->pid);
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
    drain(&process->printed);
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
    if (limits->answer)
        process->answer =
            (struct stream){.fd = limits->answer->fd, .text = &limits->answer->text, .limit = limits->answer->limit};
    attend(process, limits->cancel_fd, &allowance);
    process_stop(process);
    take_end(arena, process, result);
    result->charged = allowance.used > 0 ? allowance.used : 0;
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
        *process = (struct sandbox_process){
            .pid = pid, .lifeline = -1, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .answer.fd = -1, .start = start};
        process->printed = (struct stream){.fd = output[0], .text = &process->text, .limit = output_limit};
        watch(arena, process, limits, result);
    } else {
        result->error = "no process was made";
        close(output[0]);
    }
    pthread_rwlock_unlock(&company);
}
