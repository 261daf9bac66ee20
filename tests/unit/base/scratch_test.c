/* Scratch folders: those of processes that were killed are removed by the next of their name, and no others. */
#include "base/files.h"
#include "base/scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char base[64];

static int make_base(void **state)
{
    (void)state;
    strcpy(base, "/tmp/akgen-base-XXXXXX");
    return !mkdtemp(base) || setenv("TMPDIR", base, 1);
}

static int remove_base(void **state)
{
    (void)state;
    unsetenv("TMPDIR");
    files_remove_tree(base);
    return 0;
}

/* A process with a scratch folder, whose path is told. */
static pid_t start(struct arena *arena, const char *name, const char **path)
{
    int ends[2];
    char told[256] = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        struct scratch scratch;
        struct akgen_error *error = scratch_make(arena, name, &scratch);
        if (error || write(ends[1], scratch.path, strlen(scratch.path)) < 0)
            _exit(1);
        close(ends[1]);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_true(read(ends[0], told, sizeof told - 1) > 0);
    close(ends[0]);
    *path = arena_strdup(arena, told);
    return child;
}

static void end(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void what_a_killed_process_left_is_removed_by_the_next(void **state)
{
    struct arena arena = {0};
    struct scratch own;
    const char *dead, *alive, *other;
    (void)state;
    pid_t first = start(&arena, "akgen-one", &dead), second = start(&arena, "akgen-one", &alive),
          third = start(&arena, "akgen-two", &other);
    assert_null(files_write(arena_printf(&arena, "%s/held", dead), "x", 1));
    end(first);
    end(third);
    assert_true(files_exists(dead));
    assert_null(scratch_make(&arena, "akgen-one", &own));
    assert_false(files_exists(dead));
    assert_true(files_exists(alive));
    assert_true(files_exists(other)); /* of another name */
    assert_true(files_exists(own.path));
    scratch_remove(&own);
    end(second);
    assert_null(scratch_make(&arena, "akgen-one", &own));
    assert_false(files_exists(alive));
    scratch_remove(&own);
    assert_null(own.path);
    scratch_remove(&own);
    arena_free(&arena);
}

static void folders_that_are_none_of_ours_stay(void **state)
{
    struct arena arena = {0};
    struct scratch own, again;
    (void)state;
    const char *users = arena_printf(&arena, "%s/akgen-one-backup", base),
               *link = arena_printf(&arena, "%s/akgen-one-link", base);
    assert_null(files_make_directory(users));
    assert_null(scratch_make(&arena, "akgen-two", &again));
    assert_int_equal(symlink(again.path, link), 0);
    assert_int_equal(mkfifo(arena_printf(&arena, "%s/.akgen-scratch", users), 0600), 0);
    assert_null(scratch_make(&arena, "akgen-one", &own));
    assert_true(files_exists(users));
    assert_true(files_exists(again.path));
    scratch_remove(&own);
    scratch_remove(&again);
    arena_free(&arena);
}

static void a_base_that_is_not_there_is_an_error(void **state)
{
    struct arena arena = {0};
    struct scratch own;
    (void)state;
    setenv("TMPDIR", "/nowhere", 1);
    struct akgen_error *error = scratch_make(&arena, "akgen-one", &own);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "/nowhere/akgen-one-"));
    error_free(error);
    assert_null(own.path);
    setenv("TMPDIR", base, 1);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_killed_process_left_is_removed_by_the_next),
        cmocka_unit_test(folders_that_are_none_of_ours_stay),
        cmocka_unit_test(a_base_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
