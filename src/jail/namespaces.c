#include "base/files.h"
#include "jail/fence_internal.h"
#include "jail/namespaces.h"
#include "jail/layers.h"
#include "jail/program_internal.h"
#include "jail/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct namespaces prepared = {.user = -1, .net = -1, .ipc = -1, .uts = -1, .init = -1};

/* The shared ones. */
static const struct {
    enum sandbox_layer layer;
    int flag;
    const char *file;
    int *descriptor;
} shared[] = {
    {SANDBOX_NET, CLONE_NEWNET, "net", &prepared.net},
    {SANDBOX_IPC, CLONE_NEWIPC, "ipc", &prepared.ipc},
    {SANDBOX_UTS, CLONE_NEWUTS, "uts", &prepared.uts},
};
enum { SHARED = sizeof shared / sizeof *shared };

const char *namespaces_join(const struct namespaces *namespaces, uint32_t layers)
{
    if (layers & LAYER(SANDBOX_USER) && setns(namespaces->user, CLONE_NEWUSER))
        return "the user namespace";
    for (size_t i = 0; i < SHARED; i++)
        if (layers & LAYER(shared[i].layer) && setns(*shared[i].descriptor, shared[i].flag))
            return shared[i].file;
    return NULL;
}

bool namespaces_try(void (*trial)(void))
{
    int status = -1;
    pid_t pid = fork();
    if (!pid) {
        trial();
        _exit(1);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

static const char *const some_paths[] = {"/usr", "/dev/null", NULL};

static void try_view(void)
{
    struct view *view = view_new(some_paths, NULL, false);
    _exit(namespaces_join(&prepared, prepared.layers) || view_enter(view) || view_close(false) ? 1 : 0);
}

static void nothing(void)
{
    _exit(0);
}

static void try_pids(void)
{
    if (namespaces_join(&prepared, prepared.layers) || unshare(CLONE_NEWPID))
        _exit(1);
    _exit(namespaces_try(nothing) ? 0 : 1);
}

static void mount_proc(void)
{
    _exit(view_close(true) ? 1 : 0);
}

static void try_all(void)
{
    struct view *view = view_new(some_paths, NULL, false);
    if (namespaces_join(&prepared, prepared.layers) || view_enter(view) || unshare(CLONE_NEWPID))
        _exit(1);
    _exit(namespaces_try(mount_proc) ? 0 : 1);
}

static void try_id(void)
{
    /* In a root that only its owner may enter, no other user finds the dynamic linker. */
    _exit(fence_become(NAMESPACES_APART_OUTSIDE) || access("/", X_OK) ? 1 : 0);
}

static bool write_file(pid_t pid, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return written;
}

/* Gives the new user namespace its ids: the caller's, and where the kernel allows it one more that nobody has. */
static bool map_ids(pid_t pid)
{
    char users[96], groups[96];
    snprintf(users, sizeof users, "%d %u 1\n%d %d 1\n", NAMESPACES_CALLER, geteuid(), NAMESPACES_APART,
             NAMESPACES_APART_OUTSIDE);
    snprintf(groups, sizeof groups, "%d %u 1\n%d %d 1\n", NAMESPACES_CALLER, getegid(), NAMESPACES_APART,
             NAMESPACES_APART_OUTSIDE);
    if (write_file(pid, "uid_map", users) && write_file(pid, "gid_map", groups)) {
        prepared.layers |= LAYER(SANDBOX_UID);
        return true;
    }
    *strchr(users, '\n') = *strchr(groups, '\n') = '\0';
    return write_file(pid, "uid_map", users) && write_file(pid, "setgroups", "deny") &&
           write_file(pid, "gid_map", groups);
}

/* In the process that makes the shared namespaces: says which it has, and waits until they were taken. */
static _Noreturn void make_shared(int said, int heard)
{
    uint32_t layers = unshare(CLONE_NEWUSER) ? 0 : LAYER(SANDBOX_USER);
    char byte;
    if (write(said, &layers, sizeof layers) < 0 || read(heard, &byte, 1) != 1)
        _exit(1);
    for (size_t i = 0; i < SHARED; i++)
        if (!unshare(shared[i].flag))
            layers |= LAYER(shared[i].layer);
    if (write(said, &layers, sizeof layers) < 0 || read(heard, &byte, 1) < 0)
        _exit(1);
    _exit(0);
}

static int open_namespace(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Takes the namespaces of the process `pid`, which answers over the two pipes. */
static void take_shared(pid_t pid, int answers, int questions)
{
    uint32_t layers = 0;
    if (read(answers, &layers, sizeof layers) != sizeof layers)
        return;
    if (layers && !map_ids(pid))
        return; /* without ids it is of no use */
    if (write(questions, "", 1) != 1 || read(answers, &layers, sizeof layers) != sizeof layers)
        return;
    if (layers & LAYER(SANDBOX_USER) && (prepared.user = open_namespace(pid, "user")) < 0)
        return;
    for (size_t i = 0; i < SHARED; i++)
        if (layers & LAYER(shared[i].layer) && (*shared[i].descriptor = open_namespace(pid, shared[i].file)) < 0)
            layers &= ~LAYER(shared[i].layer);
    prepared.layers |= layers;
}

static void prepare_shared(void)
{
    int answers[2], questions[2];
    if (pipe2(answers, O_CLOEXEC))
        return;
    if (pipe2(questions, O_CLOEXEC)) {
        close(answers[0]), close(answers[1]);
        return;
    }
    pid_t pid = fork();
    if (!pid) {
        close(answers[0]), close(questions[1]);
        make_shared(answers[1], questions[0]);
    }
    close(answers[1]), close(questions[0]);
    if (pid > 0)
        take_shared(pid, answers[0], questions[1]);
    close(answers[0]), close(questions[1]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void prepare(void)
{
    struct arena arena = {0};
    const char *init = files_program(&arena, "akgen-init");
    prepared.init = init ? open(init, O_PATH | O_CLOEXEC) : -1;
    arena_free(&arena);
    prepare_shared();
    if (prepared.user < 0 && namespaces_try(try_id))
        prepared.layers |= LAYER(SANDBOX_UID);
    prepared.own_proc = prepared.init >= 0 && namespaces_try(try_all);
    if (prepared.own_proc)
        prepared.layers |= LAYER(SANDBOX_MOUNT) | LAYER(SANDBOX_PID);
    else {
        prepared.layers |= namespaces_try(try_view) ? LAYER(SANDBOX_MOUNT) : 0;
        prepared.layers |= prepared.init >= 0 && namespaces_try(try_pids) ? LAYER(SANDBOX_PID) : 0;
    }
}

const struct namespaces *namespaces_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    return &prepared;
}
