/* The jail: what a process in it can and cannot do. */
#include "base/clock.h"
#include "base/inject.h"
#include "jail/ending.h"
#include "jail/landlock.h"
#include "jail/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *const system_files[] = {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", NULL};

static void shell(struct arena *arena, const char *script, struct sandbox_limits limits, struct sandbox_result *result)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    if (!limits.readable)
        limits.readable = system_files;
    sandbox_spawn(arena, argv, &limits, NULL, 1000, result);
}

static void test_output_and_exit_code(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    shell(&arena, "echo out; echo err >&2; exit 3", (struct sandbox_limits){.seconds = 20}, &result);
    assert_true(result.started);
    assert_int_equal(result.exit_code, 3);
    assert_string_equal(result.output, "out\nerr\n");
    assert_false(result.timed_out);
    arena_free(&arena);
}

static void test_output_is_cut(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    shell(&arena, "i=0; while [ $i -lt 5000 ]; do echo 0123456789; i=$((i+1)); done",
          (struct sandbox_limits){.seconds = 20}, &result);
    assert_int_equal(result.exit_code, 0);
    assert_int_equal(result.output_length, 1000);
    arena_free(&arena);
}

static void test_time_limit_ends_the_whole_group(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    shell(&arena, "sleep 60 & sleep 60", (struct sandbox_limits){.seconds = 0.3}, &result);
    assert_true(result.timed_out);
    assert_int_equal(result.signal, SIGKILL);
    assert_true(result.seconds < 10);
    arena_free(&arena);
}

/* Whatever numbers its caller's descriptors have, the process gets the same ones, and no others. */
static void test_descriptors_have_fixed_numbers(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    int keep[] = {-1, -1, -1};
    static const char *const texts[] = {"first", "second"};
    for (int i = 0; i < 2; i++) {
        int fd = memfd_create("kept", MFD_CLOEXEC);
        assert_int_equal(pwrite(fd, texts[i], strlen(texts[i]), 0), (ssize_t)strlen(texts[i]));
        keep[i] = fcntl(fd, F_DUPFD_CLOEXEC, i ? SANDBOX_KEPT : 70); /* the second one where the first one goes */
        close(fd);
    }
    const char *const argv[] = {"/bin/sh", "-c", "cat <&3; echo; cat <&4; echo; { true <&5; } 2>&- || echo no more",
                                NULL};
    sandbox_spawn(&arena, argv, &(struct sandbox_limits){.seconds = 20, .readable = system_files}, keep, 1000, &result);
    assert_string_equal(result.output, "first\nsecond\nno more\n");
    close(keep[0]);
    close(keep[1]);
    arena_free(&arena);
}

/* Neither the caller's stack limit nor chance decides where the process's memory lies. */
static void test_addresses_are_the_same(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rlimit before, small;
    if (!sandbox_layers()[SANDBOX_ADDRESSES].granted) {
        arena_free(&arena);
        skip();
    }
    static const char *const readable[] = {"/usr",      "/bin",  "/lib", "/lib64", "/etc/ld.so.cache",
                                           "/dev/null", "/proc", NULL};
    struct sandbox_limits limits = {.seconds = 20, .readable = readable};
    struct sandbox_result first, second;
    shell(&arena, "cat /proc/$$/stat | cut -d' ' -f26-30,45-51", limits,
          &first); /* proc(5): where code, stack, data lie */
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    small = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
    shell(&arena, "cat /proc/$$/stat | cut -d' ' -f26-30,45-51", limits, &second);
    setrlimit(RLIMIT_STACK, &before);
    assert_true(first.output_length > 20);
    assert_string_equal(first.output, second.output);
    arena_free(&arena);
}

static void test_signals_stay_inside(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    shell(&arena, "kill -0 $PPID 2>&- && echo reached; kill -0 -1 2>&- && echo all; echo alive; kill -9 $$",
          (struct sandbox_limits){.seconds = 20}, &result);
    assert_string_equal(result.output, "alive\n");
    assert_int_equal(result.signal, SIGKILL); /* its own */
    arena_free(&arena);
}

/* A process that outlives the thread which started it, answers over a pair of sockets, and is ended. */
struct server {
    struct sandbox_process *process;
    int ends[2];
};

static void *start_server(void *closure)
{
    struct server *server = closure;
    const char *const argv[] = {"/bin/sh", "-c",
                                "echo begun; while read word; do echo \"<$word>\"; done <&3 >&3 & wait", NULL};
    const int keep[] = {server->ends[1], -1};
    struct akgen_error *error =
        sandbox_start(argv, &(struct sandbox_limits){.readable = system_files}, keep, 1000, &server->process);
    assert_null(error);
    return NULL;
}

static void test_a_process_that_lives_on(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    struct server server = {0};
    pthread_t thread;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, server.ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, start_server, &server), 0);
    pthread_join(thread, NULL);
    close(server.ends[1]);
    for (int i = 0; i < 3; i++) {
        char answer[16] = "";
        assert_int_equal(write(server.ends[0], "word\n", 5), 5);
        assert_int_equal(recv(server.ends[0], answer, 7, MSG_WAITALL), 7);
        assert_string_equal(answer, "<word>\n");
        assert_true(sandbox_alive(server.process));
    }
    sandbox_end(&arena, server.process, &result);
    assert_string_equal(result.output, "begun\n");
    assert_int_equal(result.signal, SIGKILL);
    assert_false(result.killed);
    char more;
    assert_int_equal(read(server.ends[0], &more, 1), 0); /* its child is gone, too */
    close(server.ends[0]);
    arena_free(&arena);
}

static void test_one_that_ended_by_itself(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    struct sandbox_process *process;
    const char *const argv[] = {"/bin/sh", "-c", "exit 7", NULL}, *const none[] = {"/nonexistent/program", NULL};
    const struct sandbox_limits limits = {.readable = system_files};
    assert_null(sandbox_start(argv, &limits, NULL, 1000, &process));
    for (int i = 0; i < 2000 && sandbox_alive(process); i++)
        usleep(10000);
    assert_false(sandbox_alive(process));
    sandbox_end(&arena, process, &result);
    assert_int_equal(result.exit_code, 7);
    struct akgen_error *error = sandbox_start(none, &limits, NULL, 1000, &process);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "No such file"));
    error_free(error);
    arena_free(&arena);
}

static void test_missing_program(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    const char *const argv[] = {"/nonexistent/program", NULL};
    sandbox_spawn(&arena, argv, &(struct sandbox_limits){.seconds = 5, .readable = system_files}, NULL, 100, &result);
    assert_false(result.started);
    assert_non_null(strstr(result.error, "No such file"));
    arena_free(&arena);
}

static void test_files_are_fenced(void **state)
{
    (void)state;
    if (!landlock_version())
        skip();
    struct arena arena = {0};
    struct sandbox_result result;
    char dir[] = "/tmp/akgen-spawn-XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *const writable[] = {dir, NULL};
    const char *script =
        arena_printf(&arena, "echo in > %s/a && cat %s/a; cat /etc/passwd; echo no > %s-other", dir, dir, dir);
    shell(&arena, script, (struct sandbox_limits){.seconds = 20, .writable = writable}, &result);
    assert_memory_equal(result.output, "in\n", 3);
    assert_null(strstr(result.output, "root:"));
    const char *outside = arena_printf(&arena, "%s-other", dir);
    assert_int_not_equal(access(outside, F_OK), 0);
    unlink(arena_printf(&arena, "%s/a", dir));
    rmdir(dir);
    arena_free(&arena);
}

static void test_environment_is_clean(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    setenv("AKGEN_SECRET", "hidden", 1);
    shell(&arena, "echo \"[$AKGEN_SECRET]\"", (struct sandbox_limits){.seconds = 20}, &result);
    assert_string_equal(result.output, "[]\n");
    arena_free(&arena);
}

static void test_file_size_limit(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct sandbox_result result;
    char path[] = "/tmp/akgen-size-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const char *const writable[] = {path, NULL};
    const char *script = arena_printf(&arena, "exec head -c 100000 /dev/zero > %s", path);
    const char *readable[] = {"/usr", "/bin", "/lib", "/lib64", "/dev/null", "/dev/zero", NULL};
    shell(&arena, script,
          (struct sandbox_limits){.seconds = 20, .writable = writable, .readable = readable, .file_bytes = 4096},
          &result);
    assert_int_equal(lseek(fd, 0, SEEK_END), 4096);
    close(fd);
    unlink(path);
    arena_free(&arena);
}

/* Whose doing an end was. */
static void test_who_ended_it(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        bool killed;
    } rows[] = {{"exit 3", false},       {"kill -SEGV $$", false}, {"kill -ABRT $$", false},
                {"kill -FPE $$", false}, {"kill -KILL $$", true},  {"kill -TERM $$", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct sandbox_result result;
        shell(&arena, rows[i].script, (struct sandbox_limits){.seconds = 20, .alone = i % 2}, &result);
        assert_true(result.started);
        assert_int_equal(result.killed, rows[i].killed);
        assert_false(result.exhausted);
        arena_free(&arena);
    }
}

static void test_killed_on_purpose(void **state)
{
    (void)state;
    for (int number = 1; number <= 4; number++) {
        struct arena arena = {0};
        struct sandbox_result result;
        if (number == 1)
            inject_arm(INJECT_KILL, 2, 3);
        shell(&arena, "sleep 5", (struct sandbox_limits){.seconds = number == 2 || number == 3 ? 20 : 0.2}, &result);
        assert_int_equal(result.killed, number == 2 || number == 3);
        assert_int_equal(result.timed_out, number == 1 || number == 4);
        arena_free(&arena);
    }
    inject_arm(INJECT_KILL, 0, 0);
}

/* A process that must be alone: the one that runs when it comes ends first, the one that comes after it waits. */
struct visit {
    double delay, begin, end;
    bool alone;
};

static void *visit(void *closure)
{
    struct visit *visit = closure;
    struct arena arena = {0};
    struct sandbox_result result;
    usleep((useconds_t)(visit->delay * 1e6));
    shell(&arena, "date +%s.%N; sleep 0.3; date +%s.%N", (struct sandbox_limits){.seconds = 20, .alone = visit->alone},
          &result);
    sscanf(result.output, "%lf %lf", &visit->begin, &visit->end);
    arena_free(&arena);
    return NULL;
}

static void test_one_that_is_alone(void **state)
{
    (void)state;
    struct visit visits[] = {{.delay = 0}, {.delay = 0.1, .alone = true}, {.delay = 0.2}};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &visits[i]), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(visits[0].begin > 0 && visits[0].end <= visits[1].begin);
    assert_true(visits[1].end <= visits[2].begin);
}

/* The limit counts no time in which a process waited for a processor: of many that spin, each gets all of its own. */
static void *spin(void *closure)
{
    struct arena arena = {0};
    struct sandbox_result result;
    shell(&arena, "while :; do :; done", (struct sandbox_limits){.seconds = 0.5}, &result);
    /* killed: so busy that it did not come to its time in many times that */
    *(double *)closure = result.timed_out || result.killed ? result.seconds : 0;
    arena_free(&arena);
    return NULL;
}

/* Of processor time, the caller's own: a busy machine adds none. */
static double seconds_of_starts(void)
{
    enum { STARTS = 20 };
    struct timespec begin;
    struct timespec end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < STARTS; i++) {
        struct arena arena = {0};
        struct sandbox_result result;
        const char *const argv[] = {"/bin/true", NULL};
        sandbox_spawn(&arena, argv, &(struct sandbox_limits){.readable = system_files}, NULL, 1000, &result);
        assert_int_equal(result.exit_code, 0);
        arena_free(&arena);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

/* A start takes as long whatever the caller holds. */
static void test_a_large_caller(void **state)
{
    (void)state;
    const size_t bytes = 1UL << 30;
    double small = seconds_of_starts();
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    double large = seconds_of_starts();
    munmap(memory, bytes);
    if (large > 5 * small) /* a fork copies 2 MB of page tables: 0.33 s against 0.004 */
        fail_msg("%.4f s, with 1 GiB %.4f s", small, large);
}

static void *start_some(void *closure)
{
    (void)closure;
    for (int i = 0; i < 20; i++) {
        struct arena arena = {0};
        struct sandbox_result result;
        shell(&arena, "exit 4", (struct sandbox_limits){.seconds = 20, .apart = true}, &result);
        if (result.exit_code != 4)
            abort();
        arena_free(&arena);
    }
    return NULL;
}

static volatile sig_atomic_t handled_elsewhere;

static void count_elsewhere(int number)
{
    (void)number;
    static pid_t caller;
    caller = caller ? caller : getpid();
    handled_elsewhere += getpid() != caller;
}

/* The child that begins in the caller's memory leaves nothing there: who may look at it, its signals and their mask. */
static void test_nothing_is_left_in_the_caller(void **state)
{
    (void)state;
    struct sigaction before;
    sigset_t mask, now;
    pthread_t threads[3];
    const struct sigaction action = {.sa_handler = count_elsewhere};
    int dumpable = prctl(PR_GET_DUMPABLE);
    count_elsewhere(0);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_some, NULL), 0);
    for (int i = 0; i < 200; i++) {
        kill(getpid(), SIGUSR1);
        usleep(1000);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    start_some(NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(prctl(PR_GET_DUMPABLE), dumpable);
    for (int number = 1; number < SIGRTMIN; number++)
        assert_int_equal(sigismember(&mask, number), sigismember(&now, number));
    assert_int_equal(handled_elsewhere, 0);
}

static void test_a_busy_machine_is_nobodys_fault(void **state)
{
    (void)state;
    enum { MOST = 256 };
    int count = 3 * (int)sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[MOST];
    double seconds[MOST], all = 0;
    if (count > MOST || ending_waited(getpid()) <= 0)
        skip();
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, spin, &seconds[i]), 0);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        assert_true(seconds[i] > 0);
        all += seconds[i];
    }
    assert_true(all / count > 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_exit_code),
        cmocka_unit_test(test_output_is_cut),
        cmocka_unit_test(test_time_limit_ends_the_whole_group),
        cmocka_unit_test(test_descriptors_have_fixed_numbers),
        cmocka_unit_test(test_addresses_are_the_same),
        cmocka_unit_test(test_signals_stay_inside),
        cmocka_unit_test(test_a_process_that_lives_on),
        cmocka_unit_test(test_one_that_ended_by_itself),
        cmocka_unit_test(test_missing_program),
        cmocka_unit_test(test_files_are_fenced),
        cmocka_unit_test(test_environment_is_clean),
        cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_who_ended_it),
        cmocka_unit_test(test_killed_on_purpose),
        cmocka_unit_test(test_one_that_is_alone),
        cmocka_unit_test(test_a_large_caller),
        cmocka_unit_test(test_nothing_is_left_in_the_caller),
        cmocka_unit_test(test_a_busy_machine_is_nobodys_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
