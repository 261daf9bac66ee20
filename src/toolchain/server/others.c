#include "toolchain/server/others.h"
#include "base/memory.h"
#include "toolchain/server/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MOST = 1 << 20 }; /* of one of the others, which writes nothing else */

struct other {
    const char *defines;
    int file, code;
    pid_t pid; /* 0: it does not run */
};
static struct {
    struct other *list;
    int count, jobs;
    int printed, real; /* the leader's file; where all is printed */
    bool copy;
} others;

/* Both descriptors of what is printed. */
static bool print_to(int file)
{
    return dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0;
}

static int new_file(void)
{
    return memfd_create("akgen-printed", MFD_CLOEXEC);
}

/* This process and, from its own beginning, each copy of it. */
static bool limit_time(double seconds)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit))
        return false;
    rlim_t wanted = (rlim_t)seconds + 1;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max ? wanted : limit.rlim_max;
    return !setrlimit(RLIMIT_CPU, &limit);
}

void others_begin(const char *const *defines, int count, int jobs, double seconds)
{
    if (!count)
        return;
    others.list = memory_alloc((size_t)count * sizeof *others.list);
    others.count = count;
    others.jobs = jobs;
    for (int i = 0; i < count; i++)
        others.list[i] = (struct other){.defines = defines[i], .file = new_file(), .code = JOB_NOT_SERVED};
    others.printed = new_file();
    others.real = dup(STDOUT_FILENO);
    if (others.real < 0 || !print_to(others.printed) || !limit_time(seconds))
        _exit(JOB_NOT_SERVED);
}

static size_t size_of(int file)
{
    off_t size = lseek(file, 0, SEEK_END);
    return size > 0 ? (size_t)size : 0;
}

/* False: not all of it. */
static bool copy_file(int from, int to)
{
    char buffer[1 << 16];
    ssize_t count;
    for (off_t at = 0; (count = pread(from, buffer, sizeof buffer, at)) > 0; at += count)
        for (ssize_t done = 0, written; done < count; done += written)
            if ((written = write(to, buffer + done, (size_t)(count - done))) <= 0)
                return false;
    return count == 0;
}

static int running(void)
{
    int count = 0;
    for (int i = 0; i < others.count; i++)
        count += others.list[i].pid > 0;
    return count;
}

/* Waits until at most `most` of them run. */
static void wait_for_copies(int most)
{
    int status;
    while (running() > most) {
        pid_t pid = wait4(-1, &status, 0, NULL);
        if (pid < 0 && errno != EINTR)
            _exit(JOB_NOT_SERVED);
        for (int i = 0; i < others.count && pid > 0; i++)
            if (others.list[i].pid == pid) {
                others.list[i].pid = 0;
                bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
                others.list[i].code = late ? JOB_OUT_OF_TIME : WIFEXITED(status) ? WEXITSTATUS(status) : JOB_NOT_SERVED;
            }
    }
}

static bool become(const struct other *other)
{
    /* clang's handlers remove the files that it has open, which are the leader's. */
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    const struct rlimit most = {OUTPUT_MOST, OUTPUT_MOST};
    others.copy = true;
    return !setrlimit(RLIMIT_FSIZE, &most) && copy_file(others.printed, other->file) && print_to(other->file);
}

const char *others_split(void)
{
    for (int i = 0; i < others.count; i++) {
        struct other *other = &others.list[i];
        wait_for_copies(others.jobs - 1);
        pid_t pid = fork();
        if (pid == 0 && !become(other))
            _exit(JOB_NOT_SERVED);
        if (pid == 0)
            return other->defines;
        other->pid = pid > 0 ? pid : 0;
    }
    wait_for_copies(others.jobs - 1); /* the leader is one that runs */
    return NULL;
}

bool others_lead(void)
{
    return !others.copy;
}

void others_report(void)
{
    if (!others.count || others.copy)
        return;
    wait_for_copies(0);
    dprintf(others.real, "%zu\n", size_of(others.printed));
    for (int i = 0; i < others.count; i++)
        dprintf(others.real, "%d %zu\n", others.list[i].code, size_of(others.list[i].file));
    bool all = copy_file(others.printed, others.real);
    for (int i = 0; i < others.count && all; i++)
        all = copy_file(others.list[i].file, others.real);
}
