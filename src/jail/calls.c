/* The filter of system calls around every process of the jail, the compiler's as well as akgen-run's: a list of what is
 * allowed, with arguments where a call does more than one thing. guard.c puts a far narrower one around a candidate. */
#include "jail/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MOST_STEPS = 2048,
    /* In the place of the process's id, which is known only when the filter is set up (execve keeps it). */
    ITSELF = 0x7fc0ffee,
    NAME_OF_MEMORY = 0x53564d41 /* PR_SET_VMA of linux/prctl.h: libc names its memory */
};
static const uint64_t any_namespace =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/* Whatever the arguments. Those that an architecture lacks are skipped. */
static const int plain[] = {
    /* descriptors */
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
    SCMP_SYS(preadv), SCMP_SYS(pwritev), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(dup),
    SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select),
    SCMP_SYS(pselect6), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(shutdown),
    SCMP_SYS(sendfile), SCMP_SYS(copy_file_range), SCMP_SYS(memfd_create),
    /* files */
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(stat), SCMP_SYS(fstat), SCMP_SYS(lstat), SCMP_SYS(newfstatat),
    SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(chdir), SCMP_SYS(fchdir), SCMP_SYS(getdents64),
    SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(fadvise64),
    SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(utimensat),
    SCMP_SYS(umask),
    /* memory */
    SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise), SCMP_SYS(mincore),
    SCMP_SYS(msync), SCMP_SYS(brk),
    /* processes and threads of its own */
    SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(exit), SCMP_SYS(exit_group),
    SCMP_SYS(wait4), SCMP_SYS(waitid), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getpgrp),
    SCMP_SYS(getpgid), SCMP_SYS(getsid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(getgroups), SCMP_SYS(getresuid), SCMP_SYS(getresgid), SCMP_SYS(set_tid_address), SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq), SCMP_SYS(arch_prctl), SCMP_SYS(futex), SCMP_SYS(membarrier), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_setaffinity), SCMP_SYS(getcpu), SCMP_SYS(getpriority),
    SCMP_SYS(setpriority), SCMP_SYS(getrlimit), SCMP_SYS(setrlimit), SCMP_SYS(getrusage), SCMP_SYS(restart_syscall),
    /* signals of its own */
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(sigaltstack), SCMP_SYS(alarm), SCMP_SYS(setitimer),
    SCMP_SYS(pause),
    /* time and the machine */
    SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(times), SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(getrandom),
    /* fences that it puts around itself */
    SCMP_SYS(capset), SCMP_SYS(seccomp), SCMP_SYS(landlock_create_ruleset), SCMP_SYS(landlock_add_rule),
    SCMP_SYS(landlock_restrict_self)};

/* Only if the argument `at` is `value`. */
static const struct {
    int call;
    unsigned at;
    uint64_t value;
} bound[] = {
    {SCMP_SYS(fcntl), 1, F_DUPFD},
    {SCMP_SYS(fcntl), 1, F_DUPFD_CLOEXEC},
    {SCMP_SYS(fcntl), 1, F_GETFD},
    {SCMP_SYS(fcntl), 1, F_SETFD},
    {SCMP_SYS(fcntl), 1, F_GETFL},
    {SCMP_SYS(fcntl), 1, F_SETFL},
    {SCMP_SYS(kill), 0, ITSELF},
    {SCMP_SYS(tgkill), 0, ITSELF},
    {SCMP_SYS(rt_sigqueueinfo), 0, ITSELF},
    {SCMP_SYS(rt_tgsigqueueinfo), 0, ITSELF},
    {SCMP_SYS(prlimit64), 0, 0},
    {SCMP_SYS(personality), 0, 0xffffffff},
    {SCMP_SYS(personality), 0, ADDR_NO_RANDOMIZE},
    {SCMP_SYS(prctl), 0, PR_SET_NAME},
    {SCMP_SYS(prctl), 0, PR_GET_NAME},
    {SCMP_SYS(prctl), 0, PR_SET_PDEATHSIG},
    {SCMP_SYS(prctl), 0, PR_SET_DUMPABLE},
    {SCMP_SYS(prctl), 0, PR_GET_DUMPABLE},
    {SCMP_SYS(prctl), 0, PR_SET_SECCOMP},
    {SCMP_SYS(prctl), 0, PR_GET_SECCOMP},
    {SCMP_SYS(prctl), 0, PR_SET_NO_NEW_PRIVS},
    {SCMP_SYS(prctl), 0, PR_GET_NO_NEW_PRIVS},
    {SCMP_SYS(prctl), 0, PR_CAPBSET_READ},
    {SCMP_SYS(prctl), 0, PR_SET_TSC},
    {SCMP_SYS(prctl), 0, PR_GET_TSC},
    {SCMP_SYS(prctl), 0, NAME_OF_MEMORY},
};
/* What programs ask for and do without, with the error that they expect; everything else is EPERM. */
static const struct {
    int call, error;
} refused[] = {
    {SCMP_SYS(ioctl), ENOTTY},  /* isatty() */
    {SCMP_SYS(clone3), ENOSYS}, /* its flags lie in memory: libc takes clone instead */
    {SCMP_SYS(openat2), ENOSYS},
    {SCMP_SYS(epoll_create1), ENOSYS},
};

static struct sock_filter steps[MOST_STEPS];
static unsigned short step_count;

/* 0, or a negative error; a call that this architecture lacks is none. */
static int add_rules(scmp_filter_ctx filter)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain && !failed; i++)
        if (plain[i] >= 0)
            failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, plain[i], 0);
    for (size_t i = 0; i < sizeof bound / sizeof *bound && !failed; i++)
        if (bound[i].call >= 0)
            failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, bound[i].call, 1,
                                      SCMP_CMP(bound[i].at, SCMP_CMP_EQ, bound[i].value, 0));
    for (size_t i = 0; i < sizeof refused / sizeof *refused && !failed; i++)
        if (refused[i].call >= 0)
            failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)refused[i].error), refused[i].call, 0);
    if (!failed)
        failed =
            seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, any_namespace, 0));
    return failed;
}

static void make_filter(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int file = memfd_create("akgen-calls", MFD_CLOEXEC);
    if (filter && file >= 0 && !seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) && !add_rules(filter) &&
        !seccomp_export_bpf(filter, file)) {
        ssize_t length = pread(file, steps, sizeof steps, 0);
        step_count = length > 0 && (size_t)length < sizeof steps ? (unsigned short)((size_t)length / sizeof *steps) : 0;
    }
    if (file >= 0)
        close(file);
    seccomp_release(filter);
}

bool calls_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_filter);
    return step_count > 0;
}

int calls_restrict(void)
{
    const uint32_t self = (uint32_t)syscall(SYS_getpid);
    struct sock_filter own[MOST_STEPS];
    memcpy(own, steps, sizeof *own * step_count);
    for (unsigned short i = 0; i < step_count; i++)
        if (own[i].code == (BPF_JMP | BPF_JEQ | BPF_K) && own[i].k == ITSELF)
            own[i].k = self;
    const struct sock_fprog program = {.len = step_count, .filter = own};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
