/* sandbox_start: clone, fence, exec. The process is then attended by spawn.c, or lives on until sandbox_end.
 *
 * Until exec the child shares the caller's memory, and the calling thread waits: a copy of the memory, as fork makes it, takes
 * the longer the more there is. Where the kernel grants process ids of their own, the child makes two more children of the
 * caller and ends: akgen-init, the first process of these ids, and the program. All that runs before exec makes system calls
 * only: the caller has threads. */
#include "base/clock.h"
#include "base/memory.h"
#include "jail/fence.h"
#include "jail/fence_internal.h"
#include "jail/layers.h"
#include "jail/process.h"
#include "jail/raw_call.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_KEPT = 16,
    ABOVE_KEPT = 64,
    MAX_VARIABLES = 16,
    EXIT_NOT_STARTED = 127,
    CHILD_STACK = 128 << 10,
    INIT_STACK = 16 << 10,
    HIGHEST_SIGNAL = 64
};

/* What a compiler takes for the time at which it runs (reproducible-builds.org/specs/source-date-epoch): 2026. */
#define SOURCE_DATE "SOURCE_DATE_EPOCH=1767225600"

/* Of the processes that share the caller's memory. */
struct stacks {
    _Alignas(64) char child[CHILD_STACK], program[CHILD_STACK], init[INIT_STACK];
};
/* What the child needs to know. */
struct child {
    const struct start *start;
    struct fence fence;
    int output, lifeline, report;
    sigset_t signals; /* the caller's mask */
    struct stacks *stacks;
};
/* What the child tells over the report pipe: the process ids that it made, or the step that failed. */
struct report {
    pid_t init, program;
    const char *step; /* of this program's own text, which the child shares */
    int reason;
};

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

static void tell(int report, struct report what)
{
    if (write(report, &what, sizeof what) < 0)
        _exit(EXIT_NOT_STARTED);
}

/* Tells the caller why nothing was started. */
static _Noreturn void child_fail(int report, const char *step)
{
    tell(report, (struct report){.step = step, .reason = errno});
    _exit(EXIT_NOT_STARTED);
}

/* Becomes the program. */
static int child_run(void *closure)
{
    const struct child *child = closure;
    const struct start *start = child->start;
    const char *environment[MAX_VARIABLES + 1] = {"PATH=/usr/bin:/bin", "LANG=C", "HOME=/", "TMPDIR=/nonexistent",
                                                  SOURCE_DATE};
    int count = 5, report = child->report;
    for (const char *const *variable = start->limits->variables; variable && *variable && count < MAX_VARIABLES;
         variable++)
        environment[count++] = *variable;
    int null = sandbox_empty_input();
    /* Without these the candidate would read and write the parent's own streams. */
    if (null < 0 || dup2(null, 0) < 0 || dup2(child->output, 1) < 0 || dup2(child->output, 2) < 0)
        child_fail(report, "the standard streams");
    int moved = child_descriptors(start->keep_fds, report);
    if (moved < 0)
        child_fail(report, "the descriptors");
    /* Without a view that shows it, a user id of its own may keep the process from finding it. */
    int program = open(start->argv[0], O_PATH | O_CLOEXEC);
    const char *failed = fence_close(&child->fence);
    if (failed)
        child_fail(moved, failed);
    /* Last, since a new user id takes it back. The signal comes when the thread ends that forked, not the program: one that
     * lives on would die with a worker. */
    if (!start->lives_on)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &child->signals, NULL);
    execve(start->argv[0], (char *const *)start->argv, (char *const *)environment);
    if (errno == EACCES && program >= 0)
        syscall(SYS_execveat, program, "", start->argv, environment, AT_EMPTY_PATH);
    child_fail(moved, NULL);
}

/* Becomes akgen-init. Nobody waits for that, since where every processor is busy it takes milliseconds: this runs beside the
 * caller's thread, in its memory, and so has nothing of the C library's. */
static __attribute__((no_sanitize("address"))) int child_init(void *closure)
{
    static const char *const argv[] = {"akgen-init", NULL}, *const environment[] = {NULL};
    static const uint64_t ignore[] = {(uint64_t)(uintptr_t)SIG_IGN, 0, 0, 0}; /* the kernel's struct sigaction */
    const struct child *child = closure;
    const long report = raw_call(SYS_fcntl, child->report, F_DUPFD_CLOEXEC, ABOVE_KEPT, 0, 0);
    const long program = raw_call(SYS_fcntl, child->fence.namespaces->init, F_DUPFD_CLOEXEC, ABOVE_KEPT, 0, 0);
    const long low = report < program ? report : program, high = report < program ? program : report;
    long failed = low < 0 ? low : raw_call(SYS_dup3, child->lifeline, 0, 0, 0, 0);
    raw_call(SYS_setsid, 0, 0, 0, 0, 0);
    /* What it inherits is not kept as a zombie. */
    raw_call(SYS_rt_sigaction, SIGCHLD, (long)ignore, 0, sizeof(uint64_t), 0);
    if (failed >= 0) {
        raw_call(SYS_close_range, 1, low - 1, 0, 0, 0);
        raw_call(SYS_close_range, low + 1, high - 1, 0, 0, 0);
        raw_call(SYS_close_range, high + 1, ~0U, 0, 0, 0);
        failed = fence_identity(&child->fence);
        if (!failed)
            failed = raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (!failed)
            failed = raw_call(SYS_execveat, program, (long)"", (long)argv, (long)environment, AT_EMPTY_PATH);
    }
    const struct report what = {.step = "the first process", .reason = (int)-failed};
    raw_call(SYS_write, report < 0 ? child->report : report, (long)&what, sizeof what, 0, 0);
    raw_call(SYS_exit, EXIT_NOT_STARTED, 0, 0, 0, 0);
    return 0;
}

/* A child of the caller's that shares its memory until it executes its program; with CLONE_VFORK this one waits for that. */
static pid_t make_sibling(int (*run)(void *), char *stack, size_t bytes, int flags, const struct child *child)
{
    return clone(run, stack + bytes, CLONE_VM | CLONE_PARENT | SIGCHLD | flags, (void *)child);
}

/* The caller's handlers are not for what runs in its memory. */
static void forget_handlers(void)
{
    struct sigaction action;
    for (int number = 1; number <= HIGHEST_SIGNAL; number++)
        if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL)
            signal(number, SIG_DFL);
}

/* The first child. */
static int child_begin(void *closure)
{
    struct child *child = closure;
    struct stacks *stacks = child->stacks;
    struct report made = {0};
    forget_handlers();
    const char *failed = fence_enter(&child->fence);
    if (failed)
        child_fail(child->report, failed);
    if (!(child->fence.layers & LAYER(SANDBOX_PID)))
        _exit(child_run(child));
    if (unshare(CLONE_NEWPID))
        child_fail(child->report, "process ids of its own");
    made.init = make_sibling(child_init, stacks->init, sizeof stacks->init, 0, child);
    if (made.init > 0) {
        tell(child->report, made);
        made.program = make_sibling(child_run, stacks->program, sizeof stacks->program, CLONE_VFORK, child);
    }
    if (made.init < 0 || made.program < 0)
        child_fail(child->report, "a process");
    tell(child->report, made);
    _exit(0);
}

static void reap(pid_t pid)
{
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Reads the reports until the program runs, or nothing does: `last` is what was told. */
static void await_exec(int report, struct report *last)
{
    struct report next;
    ssize_t n;
    while ((n = read(report, &next, sizeof next)) == sizeof next || (n < 0 && errno == EINTR))
        if (n > 0) {
            last->init = next.init ? next.init : last->init;
            last->program = next.program ? next.program : last->program;
            if (next.reason && !last->reason) {
                last->step = next.step;
                last->reason = next.reason;
            }
        }
}

/* A child that changes its user id makes the memory that it shares closed to debuggers and to /proc: rightly, but for the
 * caller not for good. */
static struct {
    pthread_mutex_t lock;
    int sharing, before;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void begin_sharing(void)
{
    pthread_mutex_lock(&memory.lock);
    if (!memory.sharing++)
        memory.before = prctl(PR_GET_DUMPABLE);
    pthread_mutex_unlock(&memory.lock);
}

static void end_sharing(void)
{
    pthread_mutex_lock(&memory.lock);
    if (!--memory.sharing && memory.before == 1)
        prctl(PR_SET_DUMPABLE, 1);
    pthread_mutex_unlock(&memory.lock);
}

/* Waits until the child has executed its program or ended; no handler of the caller's runs in it. */
static pid_t make_child(struct child *child)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &child->signals);
    pid_t pid =
        clone(child_begin, child->stacks->child + sizeof child->stacks->child, CLONE_VM | CLONE_VFORK | SIGCHLD, child);
    int reason = errno;
    pthread_sigmask(SIG_SETMASK, &child->signals, NULL);
    errno = reason;
    return pid;
}

/* Runs the child and takes what it made. Returns NULL, or why there is no program. */
static struct akgen_error *make_process(struct sandbox_process *process, struct child *child, int told)
{
    struct report last = {0};
    struct stacks stacks;
    child->stacks = &stacks;
    begin_sharing();
    pid_t pid = make_child(child);
    if (pid < 0)
        last = (struct report){.reason = errno, .step = "clone"};
    close(child->output), close(child->report), close(child->lifeline);
    if (pid > 0)
        await_exec(told, &last); /* the end of all that share the memory */
    end_sharing();
    if (child->fence.layers & LAYER(SANDBOX_PID)) {
        reap(pid);
        pid = last.program;
    }
    process->init = last.init;
    process->pid = pid;
    if (pid > 0)
        process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (!last.reason && pid > 0)
        return NULL;
    return error_new("%s%s%s: %s", child->start->argv[0], last.step ? ": " : "", last.step ? last.step : "",
                     strerror(last.reason ? last.reason : ECHILD));
}

struct akgen_error *process_start(const struct start *start, struct sandbox_process **started)
{
    int output[2], report[2], lifeline[2];
    const char *refusal = sandbox_refusal();
    if (refusal)
        return error_new("%s", refusal);
    if (pipe2(output, O_CLOEXEC))
        return error_new("no pipe for the process's output: %s", strerror(errno));
    if (pipe2(report, O_CLOEXEC)) {
        struct akgen_error *error = error_new("no pipe for the process's start: %s", strerror(errno));
        close(output[0]), close(output[1]);
        return error;
    }
    if (pipe2(lifeline, O_CLOEXEC)) {
        struct akgen_error *error = error_new("no pipe for the process's life: %s", strerror(errno));
        close(output[0]), close(output[1]), close(report[0]), close(report[1]);
        return error;
    }
    struct child child = {.start = start,
                          .fence = fence_plan(start->limits),
                          .output = output[1],
                          .lifeline = lifeline[0],
                          .report = report[1]};
    struct sandbox_process *process = memory_alloc(sizeof *process);
    *process = (struct sandbox_process){.lifeline = lifeline[1],
                                        .pidfd = -1,
                                        .printed = {.fd = output[0], .limit = start->output_limit},
                                        .answer = {.fd = -1},
                                        .start = clock_seconds()};
    process->printed.text = &process->text;
    struct akgen_error *error = make_process(process, &child, report[0]);
    close(report[0]);
    fence_free(&child.fence);
    if (!error) {
        *started = process;
        return NULL;
    }
    process_stop(process);
    process_free(process);
    return error;
}
