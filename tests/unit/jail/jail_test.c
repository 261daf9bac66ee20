/* The jail from inside: this program is started in it and tries to get out. Each layer is tried alone, too: the others are left
 * out. */
#include "jail/fence.h"
#include "jail/landlock.h"
#include "jail/sandbox.h"
#include "unit/unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT(layer) (1U << SANDBOX_##layer)

static const uint32_t namespaces = BIT(USER) | BIT(MOUNT) | BIT(PID) | BIT(NET) | BIT(IPC) | BIT(UTS) | BIT(UID);
static const uint32_t fences = BIT(LANDLOCK) | BIT(SECCOMP);

static char secret[] = "/tmp/akgen-jail-secret-XXXXXX"; /* a file of the same user's, outside */

/* What is tried in the jail. True: it got out. `argument` is what the test handed over. */
static bool read_file(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY);
    return fd >= 0 && read(fd, &byte, 1) >= 0;
}

static bool password_file(const char *argument)
{
    return read_file("/etc/passwd") || read_file(argument);
}

static bool file_is_seen(const char *argument)
{
    return access(argument, F_OK) == 0;
}

static bool first_process(const char *argument)
{
    char path[64];
    return read_file("/proc/1/environ") || readlink("/proc/1/root", path, sizeof path) > 0 ||
           readlink("/proc/1/cwd", path, sizeof path) > 0 || kill(atoi(argument), 0) == 0;
}

static bool process_is_seen(const char *argument)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s", argument);
    return access(path, F_OK) == 0;
}

static bool write_outside(const char *argument)
{
    (void)argument;
    return open("/tmp/akgen-jail-written", O_WRONLY | O_CREAT, 0600) >= 0 || mkdir("/akgen-jail-made", 0700) == 0 ||
           open("/usr/akgen-jail-written", O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool any_socket(const char *argument)
{
    (void)argument;
    int pair[2];
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
           socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
}

/* A socket of the test's without a name in the file system. */
static const char abstract[] = "\0akgen-jail-abstract";
static bool abstract_socket(const char *argument)
{
    (void)argument;
    struct sockaddr_un_like {
        sa_family_t family;
        char name[108];
    } address = {.family = AF_UNIX};
    memcpy(address.name, abstract, sizeof abstract - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&address,
                              (socklen_t)(offsetof(struct sockaddr_un_like, name) + sizeof abstract - 1)) == 0;
}

static bool kill_others(const char *argument)
{
    return kill(atoi(argument), 0) == 0 || kill(-1, 0) == 0 || kill(getppid(), 0) == 0 || kill(1, 0) == 0;
}

static bool look_into_others(const char *argument)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {&byte, 1};
    return ptrace(PTRACE_ATTACH, atoi(argument), NULL, NULL) == 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ||
           syscall(SYS_process_vm_readv, atoi(argument), &here, 1, &there, 1, 0) >= 0 ||
           syscall(SYS_pidfd_open, atoi(argument), 0) >= 0;
}

static bool any_ioctl(const char *argument)
{
    (void)argument;
    int count;
    int ends[2];
    return pipe(ends) == 0 && ioctl(ends[0], FIONREAD, &count) == 0;
}

static bool file_control(const char *argument)
{
    (void)argument;
    int ends[2];
    return pipe(ends) == 0 && (fcntl(ends[0], F_SETOWN, 1) == 0 || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0 ||
                               fcntl(ends[0], F_NOTIFY, DN_CREATE) == 0);
}

static bool new_namespaces(const char *argument)
{
    (void)argument;
    static const int flags[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (unshare(flags[i]) == 0 || syscall(SYS_clone, flags[i] | SIGCHLD, NULL, NULL, NULL, NULL) >= 0)
            return true;
    return mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0 || umount("/proc") == 0 || chroot("/usr") == 0 ||
           mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0;
}

static bool kernel_doors(const char *argument)
{
    (void)argument;
    char block[256] = {0};
    return syscall(SYS_keyctl, 0, -3, 1) >= 0 || syscall(SYS_add_key, "user", "a", "b", 1, -3) >= 0 ||
           syscall(SYS_bpf, 0, block, sizeof block) >= 0 || syscall(SYS_perf_event_open, block, 0, -1, -1, 0) >= 0 ||
           syscall(SYS_io_uring_setup, 1, block) >= 0 || syscall(SYS_userfaultfd, 0) >= 0 || setsid() >= 0 ||
           setpgid(0, getppid()) == 0 || acct(NULL) == 0 || sethostname("x", 1) == 0;
}

static bool shared_memory(const char *argument)
{
    return shmget((key_t)atoi(argument), 4096, 0600) >= 0 || msgget((key_t)atoi(argument), 0600) >= 0;
}

static bool posix_memory(const char *argument)
{
    (void)argument;
    return shm_open("/akgen-jail-shared", O_RDWR, 0600) >= 0 ||
           shm_open("/akgen-jail-new", O_RDWR | O_CREAT, 0600) >= 0;
}

static bool rights_of_root(const char *argument)
{
    for (int right = 0; prctl(PR_CAPBSET_READ, right) >= 0; right++)
        if (prctl(PR_CAPBSET_READ, right) == 1 && geteuid() == 0)
            return true;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || (geteuid() && setuid(0) == 0) || chown(argument, 1, 1) == 0;
}

static bool callers_id(const char *argument)
{
    return (int)getuid() == atoi(argument);
}

static bool machines_name(const char *argument)
{
    struct utsname name;
    return uname(&name) == 0 && strcmp(name.nodename, argument) == 0;
}

static const struct attempt {
    const char *name;
    bool (*gets_out)(const char *argument);
} attempts[] = {
    {"file", password_file},    {"seen", file_is_seen},  {"first", first_process},      {"process", process_is_seen},
    {"write", write_outside},   {"socket", any_socket},  {"abstract", abstract_socket}, {"kill", kill_others},
    {"look", look_into_others}, {"ioctl", any_ioctl},    {"fcntl", file_control},       {"namespace", new_namespaces},
    {"doors", kernel_doors},    {"sysv", shared_memory}, {"posix", posix_memory},       {"rights", rights_of_root},
    {"id", callers_id},         {"name", machines_name},
};

/* What this program does in the jail. */
static int try_it(const char *name, const char *argument)
{
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (strcmp(attempts[i].name, name) == 0)
            return attempts[i].gets_out(argument) ? 1 : 0;
    return 2;
}

/* Child of a child of a child, in a session of its own, that holds the kept descriptor for ever. */
static int leave_somebody(void)
{
    if (fork() == 0) {
        setsid();
        setpgid(0, 0);
        if (fork() == 0)
            for (;;)
                pause();
        _exit(0);
    }
    wait(NULL);
    return 0;
}

static int hold(void)
{
    while (write(SANDBOX_KEPT, "x", 1) == 1)
        for (;;)
            pause();
    return 1;
}

static int make_many(void)
{
    int made = 0;
    while (made < 100000 && fork() >= 0)
        made++;
    return 0;
}

static const char *self(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    return path;
}

/* A process that has put itself into the jail, as a copy of the compile server does, from outside or from inside one. */
static int fence_itself(const char *attempt)
{
    const char *const paths[] = {"/usr/lib", "/lib", "/dev/null", NULL};
    const struct sandbox_limits limits = {.readable = paths};
    sandbox_fence_prepare();
    if (sandbox_fence(&limits))
        return 3;
    return try_it(attempt, attempt[0] == 'k' || attempt[0] == 'l' ? "1" : secret);
}

static const char *const *readable(void)
{
    static const char *paths[] = {"/usr/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", NULL, NULL};
    paths[5] = self();
    return paths;
}

static void run(const char *name, const char *argument, uint32_t without, struct sandbox_result *result,
                struct arena *arena, const int *keep)
{
    const char *const argv[] = {self(), unit_argv[0], name, argument, NULL};
    const struct sandbox_limits limits = {.seconds = 60, .readable = readable(), .apart = true, .without = without};
    sandbox_spawn(arena, argv, &limits, keep, 1000, result);
}

/* 0: it stayed inside; 1: it got out. */
static int outcome(const char *name, const char *argument, uint32_t without)
{
    struct arena arena = {0};
    struct sandbox_result result;
    run(name, argument, without, &result, &arena, NULL);
    if (!result.started || result.exit_code < 0 || result.output_length)
        print_message("%s: %s%s signal %d\n", name, result.started ? "" : result.error, result.output, result.signal);
    assert_true(result.started);
    arena_free(&arena);
    return result.exit_code;
}

/* What the test gives the jail to reach for. */
struct outside {
    char process[16], key[16], id[16];
    char name[65];
    int segment, listener;
    pid_t child;
};

static const char *argument_of(const struct outside *outside, const char *attempt)
{
    static const struct {
        const char *attempt;
        size_t offset;
    } rows[] = {{"first", offsetof(struct outside, process)}, {"process", offsetof(struct outside, process)},
                {"kill", offsetof(struct outside, process)},  {"look", offsetof(struct outside, process)},
                {"sysv", offsetof(struct outside, key)},      {"id", offsetof(struct outside, id)},
                {"name", offsetof(struct outside, name)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].attempt, attempt) == 0)
            return (const char *)outside + rows[i].offset;
    return secret;
}

static int set_up(void **state)
{
    static struct outside outside;
    key_t key = 0x414b4745 ^ getpid();
    struct utsname name;
    int fd = mkstemp(secret);
    outside.child = fork();
    if (!outside.child)
        for (;;)
            pause();
    outside.segment = shmget(key, 4096, IPC_CREAT | 0600);
    outside.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct {
        sa_family_t family;
        char name[108];
    } address = {.family = AF_UNIX};
    memcpy(address.name, abstract, sizeof abstract - 1);
    uname(&name);
    snprintf(outside.process, sizeof outside.process, "%d", outside.child);
    snprintf(outside.key, sizeof outside.key, "%d", key);
    snprintf(outside.id, sizeof outside.id, "%u", getuid());
    snprintf(outside.name, sizeof outside.name, "%s", name.nodename);
    *state = &outside;
    bool ready = fd >= 0 && write(fd, "secret\n", 7) == 7 && outside.child > 0 && outside.segment >= 0 &&
                 bind(outside.listener, (const struct sockaddr *)&address,
                      (socklen_t)(sizeof(sa_family_t) + sizeof abstract - 1)) == 0 &&
                 listen(outside.listener, 1) == 0;
    close(fd);
    return ready ? 0 : -1;
}

static int tear_down(void **state)
{
    struct outside *outside = *state;
    unlink(secret);
    kill(outside->child, SIGKILL);
    waitpid(outside->child, NULL, 0);
    shmctl(outside->segment, IPC_RMID, NULL);
    close(outside->listener);
    return 0;
}

static bool granted(uint32_t layers)
{
    for (int i = 0; i < SANDBOX_LAYER_COUNT; i++)
        if (layers & 1U << i && !sandbox_layers()[i].granted)
            return false;
    return true;
}

/* Outside the jail every attempt gets somewhere: the tests below mean something. */
static void test_attempts_work_outside(void **state)
{
    static const char *const ordinary[] = {"file", "seen",  "process", "socket", "abstract",
                                           "kill", "ioctl", "sysv",    "id"};
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++) {
        int status = 0;
        pid_t pid = fork();
        if (!pid) {
            execl(self(), self(), unit_argv[0], ordinary[i], argument_of(*state, ordinary[i]), NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
        if (WEXITSTATUS(status) != 1)
            print_message("%s does nothing\n", ordinary[i]);
        assert_int_equal(WEXITSTATUS(status), 1);
    }
}

static void test_nothing_gets_out(void **state)
{
    if (!granted(BIT(USER) | BIT(MOUNT) | BIT(PID) | BIT(LANDLOCK) | BIT(SECCOMP)))
        skip();
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const char *name = attempts[i].name;
        if (strcmp(name, "name") == 0) /* the new name space begins with the old name */
            continue;
        int got_out = outcome(name, argument_of(*state, name), 0);
        if (got_out)
            print_message("%s got out\n", name);
        assert_int_equal(got_out, 0);
    }
}

/* Which layers, alone, stop what. */
static void test_each_layer_alone(void **state)
{
    static const struct {
        const char *attempt;
        uint32_t with; /* of the namespaces and fences: these only */
    } rows[] = {{"file", BIT(LANDLOCK)},
                {"file", BIT(USER) | BIT(MOUNT)},
                {"seen", BIT(USER) | BIT(MOUNT)},
                {"write", BIT(LANDLOCK)},
                {"write", BIT(USER) | BIT(MOUNT)},
                {"process", BIT(USER) | BIT(MOUNT) | BIT(PID)},
                {"socket", BIT(SECCOMP)},
                {"abstract", BIT(USER) | BIT(NET)},
                {"sysv", BIT(USER) | BIT(IPC)},
                {"sysv", BIT(SECCOMP)},
                {"kill", BIT(SECCOMP)},
                {"look", BIT(SECCOMP)},
                {"ioctl", BIT(SECCOMP)},
                {"fcntl", BIT(SECCOMP)},
                {"namespace", BIT(SECCOMP)},
                {"doors", BIT(SECCOMP)},
                {"posix", BIT(USER) | BIT(MOUNT)},
                {"rights", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!granted(rows[i].with))
            continue;
        int got_out =
            outcome(rows[i].attempt, argument_of(*state, rows[i].attempt), (namespaces | fences) & ~rows[i].with);
        if (got_out)
            print_message("%s got out of row %zu\n", rows[i].attempt, i);
        assert_int_equal(got_out, 0);
    }
}

/* A container that refuses namespaces: everything works with what is left. */
static void test_without_namespaces(void **state)
{
    static const char *const stopped[] = {"file",  "write",     "socket", "kill", "look",
                                          "ioctl", "namespace", "doors",  "sysv"};
    if (!granted(fences))
        skip();
    for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++)
        assert_int_equal(outcome(stopped[i], argument_of(*state, stopped[i]), BIT(USER)), 0);
}

/* Whether the kernel gives them process ids of their own or not. */
static void test_descendants_are_ended(void **state)
{
    (void)state;
    static const uint32_t without[] = {0, BIT(USER), BIT(PID)};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        struct arena arena = {0};
        struct sandbox_result result;
        int ends[2];
        char byte;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        const int keep[] = {ends[1], -1};
        run("leave", "", without[i], &result, &arena, keep);
        close(ends[1]);
        assert_int_equal(result.exit_code, 0);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        ssize_t n = -1;
        for (int tries = 0; tries < 5000 && (n = read(ends[0], &byte, 1)) < 0; tries++)
            usleep(1000);
        assert_int_equal(n, 0); /* nobody holds the other end */
        close(ends[0]);
        arena_free(&arena);
    }
}

static void test_a_process_that_fences_itself(void **state)
{
    (void)state;
    static const char *const stopped[] = {"file",  "write",     "socket", "kill",  "look",
                                          "ioctl", "namespace", "doors",  "rights"};
    static const char *const everything[] = {"/", NULL};
    if (!granted(fences))
        skip();
    for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++) {
        struct arena arena = {0};
        struct sandbox_result result;
        const char *const argv[] = {self(), unit_argv[0], "fence", stopped[i], NULL};
        sandbox_spawn(&arena, argv, &(struct sandbox_limits){.seconds = 60, .readable = everything}, NULL, 1000,
                      &result);
        assert_true(result.started);
        assert_int_equal(result.exit_code, 0);
        int status = 0;
        pid_t pid = fork();
        if (!pid)
            _exit(fence_itself(stopped[i]));
        waitpid(pid, &status, 0);
        assert_int_equal(WEXITSTATUS(status), 0);
        arena_free(&arena);
    }
}

/* The program that made the jail is killed: whatever runs in it ends. */
static void test_the_end_of_the_caller(void **state)
{
    (void)state;
    static const struct {
        uint32_t without;
        bool lives_on;
    } rows[] = {{0, false}, {0, true}, {BIT(USER), false}, {BIT(PID), false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const argv[] = {self(), unit_argv[0], "hold", "", NULL};
        const struct sandbox_limits limits = {.readable = readable(), .apart = true, .without = rows[i].without};
        int ends[2];
        char byte;
        if (rows[i].lives_on && !granted(BIT(PID)))
            continue;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        pid_t caller = fork();
        if (!caller) {
            const int keep[] = {ends[1], -1};
            struct sandbox_process *process;
            struct sandbox_result result;
            struct arena arena = {0};
            close(ends[0]);
            if (rows[i].lives_on)
                error_free(sandbox_start(argv, &limits, keep, 1000, &process));
            else
                sandbox_spawn(&arena, argv, &limits, keep, 1000, &result);
            for (;;)
                pause();
        }
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1); /* it runs */
        kill(caller, SIGKILL);
        waitpid(caller, NULL, 0);
        assert_int_equal(read(ends[0], &byte, 1), 0); /* and does no more: a test that hangs says that it does */
        close(ends[0]);
    }
}

/* A process that makes as many as it can is ended with all of them, and its neighbours go on. */
static void test_many_processes(void **state)
{
    (void)state;
    if (!granted(BIT(USER) | BIT(PID)) || (geteuid() == 0 && !granted(BIT(UID))))
        skip(); /* root's processes are not counted */
    struct arena arena = {0};
    struct sandbox_result result;
    const char *const argv[] = {self(), unit_argv[0], "many", "", NULL};
    const struct sandbox_limits limits = {.seconds = 5, .readable = readable(), .apart = true};
    sandbox_spawn(&arena, argv, &limits, NULL, 1000, &result);
    assert_true(result.started);
    assert_true(result.seconds < 60);
    assert_int_equal(outcome("ioctl", "", 0), 0);
    arena_free(&arena);
}

/* This program as in a container that refuses namespaces and mounts: what a process is told to try, it tries in a jail with
 * what is left. Exit code 3: there are namespaces all the same. */
static int in_a_container(const char *attempt)
{
    static const int calls[] = {SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(pivot_root)};
    struct arena arena = {0};
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int failed = !filter;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
    if (failed || seccomp_load(filter))
        return 2;
    seccomp_release(filter);
    const char *missing = sandbox_missing(&arena);
    if (granted(BIT(USER)) || granted(BIT(MOUNT)) || !missing || !strstr(missing, "user namespace, mount namespace"))
        return 3;
    int got_out = outcome(attempt, secret, 0);
    arena_free(&arena);
    return got_out;
}

static void test_a_container_that_refuses_namespaces(void **state)
{
    (void)state;
    static const char *const stopped[] = {"write", "socket", "ioctl", "namespace"};
    if (!granted(fences))
        skip();
    for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++) {
        int status = 0;
        pid_t pid = fork();
        if (!pid) {
            execl(self(), self(), unit_argv[0], "container", stopped[i], NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* What is in the table of layers is what the program says. */
static void test_layers_have_names(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *missing = sandbox_missing(&arena);
    for (int i = 0; i < SANDBOX_LAYER_COUNT; i++) {
        const struct sandbox_layer_state *layer = &sandbox_layers()[i];
        assert_int_equal(layer->required && !layer->granted, missing && strstr(missing, layer->name));
    }
    assert_int_equal(sandbox_layers()[SANDBOX_LANDLOCK].granted, landlock_version() > 0);
    arena_free(&arena);
}

/* What this program does for the tests. */
static int play(const char *part, const char *argument)
{
    if (strcmp(part, "leave") == 0)
        return leave_somebody();
    if (strcmp(part, "fence") == 0)
        return fence_itself(argument);
    if (strcmp(part, "hold") == 0)
        return hold();
    if (strcmp(part, "many") == 0)
        return make_many();
    if (strcmp(part, "container") == 0)
        return in_a_container(argument);
    return try_it(part, argument);
}

int main(void)
{
    if (unit_argc == 3) {
        int code = play(unit_argv[1], unit_argv[2]);
        fflush(stdout);
        _exit(code); /* not through what a sanitizer does at the end, which asks for more than the jail gives */
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attempts_work_outside),
        cmocka_unit_test(test_nothing_gets_out),
        cmocka_unit_test(test_each_layer_alone),
        cmocka_unit_test(test_without_namespaces),
        cmocka_unit_test(test_descendants_are_ended),
        cmocka_unit_test(test_the_end_of_the_caller),
        cmocka_unit_test(test_a_process_that_fences_itself),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_layers_have_names),
        cmocka_unit_test(test_a_container_that_refuses_namespaces),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
