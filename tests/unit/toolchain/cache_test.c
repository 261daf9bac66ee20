/* The cache of objects and the directories of builds, as several programs use them and some are killed. */
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OBJECT = 1 << 20, KEYS = 16, ROUNDS = 40, HOUR = 3600 };

static char folder[64];
static struct clang compiler;

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/akgen-cache-test-XXXXXX");
    compiler = (struct clang){.cache = folder};
    return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
    (void)state;
    files_remove_tree(folder);
    return unsetenv("AKGEN_CACHE_MB");
}

static const char *key_of(struct arena *arena, int number)
{
    return arena_printf(arena, "%02x%030x", number, number);
}

/* Stores an object of OBJECT bytes that say its number. */
static void store(int number)
{
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    struct cache_entry entry = {.good = true};
    const char *so = arena_printf(&arena, "%s/%d-%d.so", folder, (int)getpid(), number);
    char *bytes = arena_alloc(&arena, OBJECT);
    memset(bytes, 'a' + number % 26, OBJECT);
    assert_null(files_write(so, bytes, OBJECT));
    assert_null(cache_store(&arena, &compiler, key_of(&arena, number), so, &list, &entry));
    unlink(so);
    arena_free(&arena);
}

/* True if the entry is there; then it must be the right one. */
static bool load(int number)
{
    struct arena arena = {0};
    struct diagnostic_list list = {0};
    struct cache_entry entry;
    char *bytes;
    size_t length;
    bool found = cache_load(&arena, &compiler, key_of(&arena, number), &entry, &list);
    if (found) {
        assert_null(files_read(&arena, entry.so, 2 * OBJECT, &bytes, &length));
        assert_int_equal(length, OBJECT);
        assert_int_equal(bytes[0], 'a' + number % 26);
        assert_int_equal(bytes[OBJECT - 1], 'a' + number % 26);
    }
    arena_free(&arena);
    return found;
}

/* Calls visit for each file under objects/. */
static void each_file(void (*visit)(const char *path, const struct stat *status, uint64_t *sum), uint64_t *sum)
{
    struct arena arena = {0};
    const char **paths;
    size_t count;
    struct stat status;
    const char *root = arena_printf(&arena, "%s/objects", folder);
    assert_null(files_list(&arena, root, &paths, &count));
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_printf(&arena, "%s/%s", root, paths[i]);
        if (!stat(path, &status))
            visit(path, &status, sum);
    }
    arena_free(&arena);
}

static void add_bytes(const char *path, const struct stat *status, uint64_t *sum)
{
    (void)path;
    *sum += (uint64_t)status->st_blocks * 512;
}

static void make_older(const char *path, const struct stat *status, uint64_t *sum)
{
    (void)sum;
    struct timespec times[2] = {status->st_atim, status->st_mtim};
    times[1].tv_sec -= HOUR;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* As if an hour went by. */
static void let_time_pass(void)
{
    uint64_t none = 0;
    each_file(make_older, &none);
    char stamp[128];
    snprintf(stamp, sizeof stamp, "%s/objects/.trimmed", folder);
    unlink(stamp);
}

static void test_bound(void **state)
{
    (void)state;
    uint64_t bytes = 0;
    setenv("AKGEN_CACHE_MB", "8", 1);
    for (int i = 0; i < KEYS; i++)
        store(i);
    /* All were used just now: nobody may lose what it is about to load. */
    for (int i = 0; i < KEYS; i++)
        assert_true(load(i));
    let_time_pass();
    assert_true(load(2)); /* used since */
    store(KEYS);
    each_file(add_bytes, &bytes);
    assert_true(bytes <= 8 << 20);
    assert_true(bytes >= 4 << 20);
    assert_true(load(2));
    assert_true(load(KEYS));
    assert_false(load(0));
    /* What was removed can be made again. */
    store(0);
    assert_true(load(0));
}

/* Without a bound in the environment nothing of this size is removed. */
static void test_no_bound_reached(void **state)
{
    (void)state;
    for (int i = 0; i < KEYS; i++)
        store(i);
    let_time_pass();
    store(KEYS);
    for (int i = 0; i <= KEYS; i++)
        assert_true(load(i));
}

/* Stores and loads the same keys as its neighbours until it is killed. */
static _Noreturn void store_for_ever(unsigned seed)
{
    for (unsigned i = seed;; i++) {
        store((int)(i % KEYS));
        load((int)(i % KEYS));
    }
}

static void test_killed_in_the_middle(void **state)
{
    (void)state;
    setenv("AKGEN_CACHE_MB", "8", 1);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pids[2];
        for (int i = 0; i < 2; i++) {
            pids[i] = fork();
            if (!pids[i])
                store_for_ever((unsigned)(round + i));
        }
        usleep((unsigned)(1000 * (round % 20)));
        for (int i = 0; i < 2; i++) {
            int status;
            kill(pids[i], SIGKILL);
            waitpid(pids[i], &status, 0);
            assert_int_equal(WTERMSIG(status), SIGKILL); /* no assertion failed before that */
        }
        for (int i = 0; i < KEYS; i++)
            load(i); /* sound or not there */
    }
    for (int i = 0; i < KEYS; i++) {
        store(i);
        assert_true(load(i));
    }
}

static int directories(void)
{
    char path[128];
    int count = 0;
    snprintf(path, sizeof path, "%s/work", folder);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* A build that was killed leaves its directory to the next one, and to nobody while it lives. */
static void test_work_directories(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct work_directory work, second;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        if (!work_make(&arena, compiler.cache, &work) && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_null(work_make(&arena, compiler.cache, &work));
    assert_int_equal(directories(), 2);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_null(work_make(&arena, compiler.cache, &second));
    assert_int_equal(directories(), 2);
    assert_int_equal(access(work.path, W_OK), 0);
    work_remove(&work);
    work_remove(&second);
    work_remove(&second);
    assert_int_equal(directories(), 0);
    close(ready[0]);
    close(ready[1]);
    arena_free(&arena);
}

static void test_left_overs_go_and_what_is_in_use_stays(void **state)
{
    struct arena scratch = {0}, *arena = &scratch;
    (void)state;
    const char *old = arena_printf(arena, "%s/work/build-old", folder);
    const char *young = arena_printf(arena, "%s/work/build-young", folder);
    const char *left = arena_printf(arena, "%s/work/held-left/x", folder);
    const struct timespec long_ago[2] = {{.tv_sec = time(NULL) - 100000}, {.tv_sec = time(NULL) - 100000}};
    struct work_directory used, next;
    assert_null(work_make(arena, folder, &used));
    assert_int_equal(utimensat(AT_FDCWD, used.path, long_ago, 0), 0);
    assert_null(files_make_directory(old));
    assert_null(files_make_directory(young));
    assert_null(files_make_directory(left)); /* its maker was killed: nobody holds a lock */
    assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
    assert_null(work_make(arena, folder, &next));
    assert_true(files_exists(used.path));
    assert_true(files_exists(young));
    assert_false(files_exists(old));
    assert_false(files_exists(left));
    work_remove(&used);
    work_remove(&next);
    arena_free(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bound, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_no_bound_reached, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_killed_in_the_middle, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_work_directories, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_left_overs_go_and_what_is_in_use_stays, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
