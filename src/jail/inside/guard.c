/* A seccomp filter with a list of what is allowed; everything else raises SIGSYS, whose handler tells what it was. The
 * candidate's objects are in memory by then (load.h), so no file is opened any more. */
#include "jail/inside/guard.h"
#include "base/cycles.h"
#include "jail/inside/steady.h"
#include "jail/job_exchange.h"

#include <string.h>
#include <ucontext.h>
#include <fcntl.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 256 << 10,
    MAX_STEPS = 2048,
    FROM_SECCOMP = 1,    /* SYS_SECCOMP of asm-generic/siginfo.h, which does not go with signal.h */
    EXIT_SIGNALLED = 128 /* added to a signal, as a shell tells that one ended a process */
};

static const struct guard *installed;

/* What computing, printing and ending need, whatever the arguments; more below, with arguments. Clocks and the like are
 * stopped and answered (steady.h). */
static const int allowed[] = {
    SCMP_SYS(munmap),     SCMP_SYS(mremap),       SCMP_SYS(madvise),      SCMP_SYS(brk),
    SCMP_SYS(read),       SCMP_SYS(pread64),      SCMP_SYS(lseek),        SCMP_SYS(fstat),
    SCMP_SYS(newfstatat), SCMP_SYS(close),        SCMP_SYS(exit),         SCMP_SYS(exit_group),
    SCMP_SYS(getpid),     SCMP_SYS(gettid),       SCMP_SYS(sched_yield),  SCMP_SYS(sigaltstack),
    SCMP_SYS(getuid),     SCMP_SYS(rt_sigreturn), SCMP_SYS(clock_getres), SCMP_SYS(rt_sigprocmask),
#if SANITIZED
    SCMP_SYS(prlimit64), /* AddressSanitizer asks how long the stack may be */
#endif
};
/* Names of what candidates try. */
static const struct {
    int number;
    const char *name;
} names[] = {
    {SYS_mmap, "mmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_futex, "futex"},
    {SYS_ioctl, "ioctl"},
    {SYS_fcntl, "fcntl"},
    {SYS_mount, "mount"},
    {SYS_unshare, "unshare"},
    {SYS_readlinkat, "readlinkat"},
    {SYS_openat, "openat"},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
    {SYS_pwrite64, "pwrite64"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_socket, "socket"},
    {SYS_socketpair, "socketpair"},
    {SYS_connect, "connect"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_kill, "kill"},
    {SYS_tgkill, "tgkill"},
    {SYS_rt_sigaction, "rt_sigaction"},
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_dup, "dup"},
    {SYS_dup3, "dup3"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_getdents64, "getdents64"},
    {SYS_faccessat, "faccessat"},
    {SYS_prctl, "prctl"},
    {SYS_seccomp, "seccomp"},
    {SYS_setitimer, "setitimer"},
    {SYS_timer_create, "timer_create"},
    {SYS_pipe2, "pipe2"},
    {SYS_shmget, "shmget"},
#ifdef SYS_open
    {SYS_open, "open"},
    {SYS_access, "access"},
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_unlink, "unlink"},
    {SYS_mkdir, "mkdir"},
    {SYS_dup2, "dup2"},
    {SYS_pipe, "pipe"},
    {SYS_alarm, "alarm"},
    {SYS_pause, "pause"},
#endif
};

const char *guard_syscall_name(int number)
{
    static char unknown[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    snprintf(unknown, sizeof unknown, "number %d", number);
    return unknown;
}

/* What the handler sees. */
static void give_up(int number, bool sent)
{
    signal(number, SIG_DFL);       /* returning repeats the instruction, which now ends the process */
    if (sent || number == SIGTRAP) /* a breakpoint is behind it already */
        raise(number);
}

/* AddressSanitizer looks for the end of the stack in /proc/self/maps whenever a function that does not return is
 * called: in a sanitized build it gets a descriptor that was opened before. */
#if SANITIZED
static int maps = -1;

static void open_maps(void)
{
    maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
}

static bool is_the_sanitizer(int system_call, void *context)
{
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    const char *path = (const char *)machine->gregs[REG_RSI];
    greg_t *result = &machine->gregs[REG_RAX];
#else
    const char *path = (const char *)machine->regs[1];
    unsigned long long *result = &machine->regs[0];
#endif
    if (system_call != SYS_openat || strcmp(path, "/proc/self/maps") != 0 || lseek(maps, 0, SEEK_SET) < 0)
        return false;
    *result = fcntl(maps, F_DUPFD_CLOEXEC, 0);
    return true;
}
#else
static void open_maps(void)
{
}

static bool is_the_sanitizer(int system_call, void *context)
{
    (void)system_call, (void)context;
    return false;
}
#endif

/* What the system knows this process by; getpid() is main_clocks.c's. */
static pid_t own_process(void)
{
    return (pid_t)syscall(SYS_getpid);
}

/* The signal that the process tried to send itself; 0: it was another system call. It ends as if it had got it. */
static int signal_to_itself(int system_call, const void *context)
{
    uint64_t arguments[3];
    steady_arguments(context, arguments);
    pid_t to = (pid_t)arguments[0];
    if ((system_call != SYS_kill && system_call != SYS_tgkill) || (to != own_process() && to != STEADY_PROCESS))
        return 0;
    return (int)arguments[system_call == SYS_kill ? 1 : 2];
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    char what[96];
    if (number == SIGSYS && info->si_code == FROM_SECCOMP &&
        (is_the_sanitizer(info->si_syscall, context) || steady_answer(info->si_syscall, context)))
        return;
    if (number == SIGSEGV && info->si_code == SI_KERNEL && cycles_step_over(context))
        return;
    if (info->si_code <= 0 && info->si_pid != own_process())
        installed->ended_from_outside(installed->closure);
    int sent = number == SIGSYS && info->si_code == FROM_SECCOMP ? signal_to_itself(info->si_syscall, context) : 0;
    if (sent)
        _exit(EXIT_SIGNALLED + sent);
    if (number == SIGSYS && info->si_code == FROM_SECCOMP) {
        snprintf(what, sizeof what, "system call %s", guard_syscall_name(info->si_syscall));
        installed->violated(installed->closure, what);
    }
    give_up(number, info->si_code <= 0);
}

static void catch_signals(void)
{
    static const int caught[] = {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    const stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
    if (!stack.ss_sp)
        abort();
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
}

/* The filter. */

/* Allows a call if its first argument, a descriptor, is `fd`. */
static int allow_descriptor(scmp_filter_ctx filter, int call, int fd)
{
    return fd < 0 ? 0 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_EQ, (uint64_t)fd, 0));
}

/* Memory may come and go, but none of it becomes executable: the candidate's code is what was loaded. */
static int allow_memory(scmp_filter_ctx filter)
{
    static const int calls[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};
    int failed = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        failed |=
            seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 1, SCMP_A2(SCMP_CMP_MASKED_EQ, (uint64_t)PROT_EXEC, 0));
    return failed;
}

/* A lock may be waited for, but with no time, which would be a clock. */
static int allow_locks(scmp_filter_ctx filter)
{
    static const uint64_t waking[] = {FUTEX_WAKE, FUTEX_WAKE_PRIVATE},
                          waiting[] = {FUTEX_WAIT, FUTEX_WAIT_PRIVATE, FUTEX_WAIT_BITSET_PRIVATE,
                                       FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME};
    int failed = 0;
    for (size_t i = 0; i < sizeof waking / sizeof *waking; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(futex), 1, SCMP_A1(SCMP_CMP_EQ, waking[i], 0));
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(futex), 2, SCMP_A1(SCMP_CMP_EQ, waiting[i], 0),
                                   SCMP_A3(SCMP_CMP_EQ, 0, 0));
    return failed;
}

/* Signals that an instruction raises, sent to itself; a handler for every signal but SIGSYS, which is ours. */
static int allow_signals(scmp_filter_ctx filter, uint64_t self)
{
    static const uint64_t raised[] = {0, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    enum { LAST_SIGNAL = 64 };
    int failed = 0;
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) {
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(kill), 2, SCMP_A0(SCMP_CMP_EQ, self, 0),
                                   SCMP_A1(SCMP_CMP_EQ, raised[i], 0));
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, SCMP_A0(SCMP_CMP_EQ, self, 0),
                                   SCMP_A2(SCMP_CMP_EQ, raised[i], 0));
    }
    /* All 64 bits are compared, of which the kernel takes the low half: only what equals a number is one. */
    for (uint64_t number = 1; number <= LAST_SIGNAL; number++)
        if (number != SIGSYS)
            failed |=
                seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction), 1, SCMP_A0(SCMP_CMP_EQ, number, 0));
    return failed;
}

static int allow_descriptors(scmp_filter_ctx filter, const struct guard *guard)
{
    static const int writing[] = {SCMP_SYS(write), SCMP_SYS(writev)};
    static const uint64_t asked[] = {
        F_GETFD, F_GETFL,
#if SANITIZED
        F_DUPFD_CLOEXEC, /* is_the_sanitizer() */
#endif
    };
    int failed = allow_descriptor(filter, SCMP_SYS(pwrite64), guard->result_fd);
    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
        failed |= allow_descriptor(filter, writing[i], 1) | allow_descriptor(filter, writing[i], 2) |
                  allow_descriptor(filter, writing[i], guard->stream_fd);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, asked[i], 0));
    /* isatty(): no descriptor is a terminal. */
    return failed | seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 1,
                                     SCMP_A1(SCMP_CMP_EQ, (uint64_t)TCGETS, 0));
}

static bool make_filter(const struct guard *guard, uint64_t self, int file)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    int failed = !filter;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed && !failed; i++)
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    return !failed && !allow_memory(filter) && !allow_locks(filter) && !allow_signals(filter, self) &&
           !allow_descriptors(filter, guard) &&
           /* steady_seconds() */
           !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clock_gettime), 1,
                             SCMP_A0(SCMP_CMP_EQ, CLOCK_MONOTONIC_RAW, 0)) &&
           !seccomp_export_bpf(filter, file);
}

/* A child makes the filter, so that nothing of how it was made is left in the memory that the candidate gets. */
static bool close_the_process(const struct guard *guard)
{
    static struct sock_filter steps[MAX_STEPS];
    const uint64_t self = (uint64_t)own_process();
    int file = memfd_create("akgen-guard", MFD_CLOEXEC), status = 1;
    pid_t child = file < 0 ? -1 : fork();
    if (child == 0)
        _exit(make_filter(guard, self, file) ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    ssize_t length = status == 0 ? pread(file, steps, sizeof steps, 0) : 0;
    if (file >= 0)
        close(file);
    if (length <= 0 || (size_t)length == sizeof steps)
        return false;
    const struct sock_fprog program = {.len = (unsigned short)((size_t)length / sizeof *steps), .filter = steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool guard_install(const struct guard *guard)
{
    installed = guard;
    open_maps();
    catch_signals();
    if (!SANITIZED)    /* AddressSanitizer reads the counter itself */
        cycles_deny(); /* from now on there is a handler */
    return close_the_process(guard);
}
