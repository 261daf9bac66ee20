/* A seccomp filter with a list of what is allowed; everything else raises SIGSYS, whose handler tells what it was. The
 * candidate's objects are in memory by then (load.h), so no file is opened any more. */
#include "run/guard.h"
#include "base/cycles.h"
#include "run/steady.h"
#include "sandbox/job_exchange.h"

#include <string.h>
#include <ucontext.h>
#include <fcntl.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#else
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

enum {
    STACK_BYTES = 256 << 10,
    MAX_FILTER = 256,
    FROM_SECCOMP = 1,    /* SYS_SECCOMP of asm-generic/siginfo.h, which does not go with signal.h */
    EXIT_SIGNALLED = 128 /* added to a signal, as a shell tells that one ended a process */
};

static const struct guard *installed;

/* What computing, printing and ending need: memory, signals of its own, the streams' buffers. Clocks and the like are
 * stopped and answered (steady.h). */
static const int allowed[] = {
    SYS_mmap,        SYS_munmap,       SYS_mremap, SYS_mprotect,       SYS_madvise,
    SYS_brk,         SYS_futex,        SYS_read,   SYS_pread64,        SYS_lseek,
    SYS_fstat,       SYS_newfstatat,   SYS_close,  SYS_ioctl,          SYS_exit,
    SYS_exit_group,  SYS_clock_getres, SYS_getpid, SYS_gettid,         SYS_sched_yield,
    SYS_sigaltstack, SYS_rt_sigreturn, SYS_getuid, SYS_rt_sigprocmask, SYS_fcntl,
#if SANITIZED
    SYS_prlimit64, /* AddressSanitizer asks how long the stack may be */
#endif
};
/* Names of what candidates try. */
static const struct {
    int number;
    const char *name;
} names[] = {
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
struct filter {
    struct sock_filter steps[MAX_FILTER];
    unsigned short count;
};

static void step(struct filter *filter, struct sock_filter instruction)
{
    if (filter->count == MAX_FILTER)
        abort();
    filter->steps[filter->count++] = instruction;
}

static void load(struct filter *filter, size_t offset)
{
    step(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Continues behind the next `skip` instructions unless the loaded word equals `value`. */
static void unless_equal(struct filter *filter, uint32_t value, uint8_t skip)
{
    step(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}

static void answer(struct filter *filter, uint32_t what)
{
    step(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static void allow(struct filter *filter, int number)
{
    unless_equal(filter, (uint32_t)number, 1);
    answer(filter, SECCOMP_RET_ALLOW);
}

/* Allows a call whose argument (its low half: descriptors and signals are int) is, or is not, one of `values`. */
static void allow_if(struct filter *filter, int number, int argument, bool equal, const uint32_t *values, int count)
{
    unless_equal(filter, (uint32_t)number, (uint8_t)(count + 3));
    load(filter, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)argument);
    for (int i = 0; i < count; i++) {
        uint8_t hit = (uint8_t)(count - 1 - i + (equal ? 1 : 0)), miss = (uint8_t)(i == count - 1 && !equal ? 1 : 0);
        step(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i], hit, miss));
    }
    answer(filter, SECCOMP_RET_TRAP);
    answer(filter, SECCOMP_RET_ALLOW);
}

/* Allows a call that sends one of `signals` (its argument `at`) to the process itself. */
static void allow_own_signals(struct filter *filter, int number, int at, const uint32_t *signals, int count)
{
    const size_t arguments = offsetof(struct seccomp_data, args);
    unless_equal(filter, (uint32_t)number, (uint8_t)(count + 5));
    load(filter, arguments);
    unless_equal(filter, (uint32_t)own_process(), (uint8_t)(count + 1));
    load(filter, arguments + sizeof(uint64_t) * (size_t)at);
    for (int i = 0; i < count; i++)
        step(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, signals[i], (uint8_t)(count - i), 0));
    answer(filter, SECCOMP_RET_TRAP);
    answer(filter, SECCOMP_RET_ALLOW);
}

static void make_filter(struct filter *filter, int result_fd, int stream_fd)
{
    const uint32_t streams[] = {1, 2, stream_fd >= 0 ? (uint32_t)stream_fd : 2}, result[] = {(uint32_t)result_fd},
                   violation[] = {SIGSYS}, measured[] = {CLOCK_MONOTONIC_RAW}; /* steady_seconds() */
    const uint32_t raised[] = {0, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    enum { RAISED = sizeof raised / sizeof *raised };
    load(filter, offsetof(struct seccomp_data, arch));
    step(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0));
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        allow(filter, allowed[i]);
    allow_if(filter, SYS_clock_gettime, 0, true, measured, 1);
    allow_if(filter, SYS_write, 0, true, streams, 3);
    allow_if(filter, SYS_writev, 0, true, streams, 3);
    allow_if(filter, SYS_pwrite64, 0, true, result, 1);
    allow_if(filter, SYS_rt_sigaction, 0, false, violation, 1);
    allow_own_signals(filter, SYS_tgkill, 2, raised, RAISED);
    allow_own_signals(filter, SYS_kill, 1, raised, RAISED);
    answer(filter, SECCOMP_RET_TRAP);
}

bool guard_install(const struct guard *guard)
{
    static struct filter filter;
    installed = guard;
    open_maps();
    catch_signals();
    if (!SANITIZED)    /* AddressSanitizer reads the counter itself */
        cycles_deny(); /* from now on there is a handler */
    make_filter(&filter, guard->result_fd, guard->stream_fd);
    const struct sock_fprog program = {.len = filter.count, .filter = filter.steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
