/* The copy of a candidate: what is in it, what is refused, and what stays behind. */
#include "base/files.h"
#include "toolchain/toolchain_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A candidate in `dir`/c and a cache in `dir`/cache. */
struct fixture {
    struct arena arena;
    char dir[64];
    const char *candidate, *cache;
    struct snapshot snapshot;
};

static const char *in(struct fixture *fixture, const char *name)
{
    return arena_printf(&fixture->arena, "%s/%s", fixture->candidate, name);
}

static void put(struct fixture *fixture, const char *name, const char *text)
{
    const char *path = in(fixture, name);
    assert_null(files_make_directory(arena_strndup(&fixture->arena, path, (size_t)(strrchr(path, '/') - path))));
    assert_null(files_write(path, text, strlen(text)));
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    strcpy(fixture->dir, "/tmp/akgen-snapshot-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    fixture->candidate = arena_printf(&fixture->arena, "%s/c", fixture->dir);
    fixture->cache = arena_printf(&fixture->arena, "%s/cache", fixture->dir);
    put(fixture, "op_kernel/add.cpp", "kernel");
    put(fixture, "op_kernel/body.ipp", "body");
    put(fixture, "op_host/add.cpp", "host");
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    files_remove_tree(fixture->dir);
    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

static struct akgen_error *take(struct fixture *fixture)
{
    return snapshot_take(&fixture->arena, fixture->cache, NULL, fixture->candidate, &fixture->snapshot);
}

/* The digest of the candidate as it is; by way of a copy, which is removed, and without one. */
static const char *digest_of(struct fixture *fixture)
{
    const char *digest;
    assert_null(take(fixture));
    snapshot_remove(&fixture->snapshot);
    assert_null(snapshot_digest(&fixture->arena, fixture->candidate, &digest));
    assert_string_equal(digest, fixture->snapshot.digest);
    return digest;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static size_t works(struct fixture *fixture)
{
    const char **paths;
    size_t count;
    assert_null(files_list(&fixture->arena, arena_printf(&fixture->arena, "%s/work", fixture->cache), &paths, &count));
    return count;
}

static void test_the_copy_is_the_candidate(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    char *text;
    size_t count, length;
    const char **paths;
    int before = open_descriptors();
    put(fixture, ".git/config", "left out");
    assert_int_equal(mkdir(in(fixture, "empty"), 0755), 0);
    assert_null(take(fixture));
    assert_null(fixture->snapshot.answer);
    assert_null(files_list(&fixture->arena, fixture->snapshot.dir, &paths, &count));
    assert_int_equal(count, 3);
    assert_string_equal(paths[0], "op_host/add.cpp");
    assert_string_equal(paths[2], "op_kernel/body.ipp");
    const char *copy = fixture->snapshot.dir;
    assert_null(
        files_read(&fixture->arena, arena_printf(&fixture->arena, "%s/op_kernel/body.ipp", copy), 99, &text, &length));
    assert_string_equal(text, "body");
    assert_false(files_exists(arena_printf(&fixture->arena, "%s/.git", copy)));
    assert_true(files_exists(arena_printf(&fixture->arena, "%s/empty", copy)));
    assert_int_equal(stat(copy, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    snapshot_remove(&fixture->snapshot);
    assert_false(files_exists(copy));
    assert_int_equal(open_descriptors(), before);
}

static void test_an_answer_is_a_text(void **state)
{
    struct fixture *fixture = *state;
    const char *file = in(fixture, "op_kernel/body.ipp"), *link = in(fixture, "link.txt");
    assert_int_equal(symlink("op_kernel/body.ipp", link), 0);
    assert_null(snapshot_take(&fixture->arena, fixture->cache, NULL, file, &fixture->snapshot));
    assert_string_equal(fixture->snapshot.answer, "body");
    assert_int_equal(fixture->snapshot.answer_bytes, 4);
    snapshot_remove(&fixture->snapshot);
    /* What the user names may be a link; below a folder that the user named it is the candidate's. */
    assert_null(snapshot_take(&fixture->arena, fixture->cache, NULL, link, &fixture->snapshot));
    snapshot_remove(&fixture->snapshot);
    struct akgen_error *error =
        snapshot_take(&fixture->arena, fixture->cache, fixture->candidate, link, &fixture->snapshot);
    assert_non_null(error);
    assert_true(error->of_the_file);
    assert_non_null(strstr(error->message, "reached through a link"));
    error_free(error);
    snapshot_remove(&fixture->snapshot);
}

static void test_every_byte_and_name_counts(void **state)
{
    struct fixture *fixture = *state;
    const char *first = digest_of(fixture);
    assert_string_equal(digest_of(fixture), first);
    put(fixture, "op_kernel/body.ipp", "bodY");
    assert_string_not_equal(digest_of(fixture), first);
    put(fixture, "op_kernel/body.ipp", "body");
    assert_string_equal(digest_of(fixture), first);
    assert_int_equal(rename(in(fixture, "op_kernel/body.ipp"), in(fixture, "op_kernel/body.txt")), 0);
    assert_string_not_equal(digest_of(fixture), first);
    assert_int_equal(rename(in(fixture, "op_kernel/body.txt"), in(fixture, "op_kernel/body.ipp")), 0);
    /* A folder decides whether "../" behind its name leads anywhere. */
    assert_int_equal(mkdir(in(fixture, "empty"), 0755), 0);
    assert_string_not_equal(digest_of(fixture), first);
    /* The end of one file is not the beginning of the next. */
    put(fixture, "two/a", "1");
    put(fixture, "two/b", "23");
    const char *cut = digest_of(fixture);
    put(fixture, "two/a", "12");
    put(fixture, "two/b", "3");
    assert_string_not_equal(digest_of(fixture), cut);
}

static void assert_refused(struct fixture *fixture, const char *why)
{
    int before = open_descriptors();
    struct akgen_error *error = take(fixture);
    assert_non_null(error);
    assert_true(error->of_the_file);
    if (!strstr(error->message, why))
        fail_msg("%s: not because of %s", error->message, why);
    error_free(error);
    snapshot_remove(&fixture->snapshot);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(works(fixture), 0);
}

static void test_what_is_no_file_is_refused(void **state)
{
    struct fixture *fixture = *state;
    const char *odd = in(fixture, "op_kernel/odd");
    assert_int_equal(mkfifo(odd, 0600), 0);
    assert_refused(fixture, "op_kernel/odd: neither a file nor a folder");
    unlink(odd);
    static const char *const targets[] = {"add.cpp", "/etc/passwd", "..", "odd", "/dev/zero"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        assert_int_equal(symlink(targets[i], odd), 0);
        assert_refused(fixture, "op_kernel/odd: a link");
        unlink(odd);
    }
    static const char *const names[] = {"a\nb.h", "\x1b[31m.h", "\xff\xfe.h", "\x7f"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put(fixture, names[i], "x");
        assert_refused(fixture, "control character");
        unlink(in(fixture, names[i]));
    }
    put(fixture, "h\xc3\xa4.h", "a name in UTF-8");
    assert_null(take(fixture));
    snapshot_remove(&fixture->snapshot);
}

static void test_what_is_too_much_is_refused(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "large", "x");
    assert_int_equal(truncate(in(fixture, "large"), 1LL << 40), 0);
    assert_refused(fixture, "large: more than 16777216 bytes");
    assert_int_equal(truncate(in(fixture, "large"), SOURCE_LIMIT), 0);
    for (int i = 0; i < 2; i++) {
        const char *name = arena_printf(&fixture->arena, "large%d", i);
        put(fixture, name, "x");
        assert_int_equal(truncate(in(fixture, name), SOURCE_LIMIT), 0);
    }
    assert_refused(fixture, "more than 33554432 bytes in all");
    files_remove_tree(fixture->candidate);
    put(fixture, "x", "x");
    const char *path = "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d";
    put(fixture, arena_printf(&fixture->arena, "%s/x", path), "x");
    assert_refused(fixture, "more than 24 folders deep");
    files_remove_tree(in(fixture, "d"));
    for (int i = 0; i <= FILES_MAX; i++)
        close(open(in(fixture, arena_printf(&fixture->arena, "%d", i)), O_CREAT | O_WRONLY, 0600));
    assert_refused(fixture, "more than 20000 files");
}

static void test_left_overs_go_and_what_is_in_use_stays(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = &fixture->arena;
    const char *old = arena_printf(arena, "%s/work/build-old", fixture->cache);
    const char *young = arena_printf(arena, "%s/work/build-young", fixture->cache);
    const char *left = arena_printf(arena, "%s/work/held-left/x", fixture->cache);
    const struct timespec long_ago[2] = {{.tv_sec = time(NULL) - 100000}, {.tv_sec = time(NULL) - 100000}};
    struct work_directory used, next;
    assert_null(work_make(arena, fixture->cache, &used));
    assert_int_equal(utimensat(AT_FDCWD, used.path, long_ago, 0), 0);
    assert_null(files_make_directory(old));
    assert_null(files_make_directory(young));
    assert_null(files_make_directory(left)); /* its maker was killed: nobody holds a lock */
    assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
    assert_null(work_make(arena, fixture->cache, &next));
    assert_true(files_exists(used.path));
    assert_true(files_exists(young));
    assert_false(files_exists(old));
    assert_false(files_exists(left));
    work_remove(&used);
    work_remove(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_copy_is_the_candidate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_answer_is_a_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_byte_and_name_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_file_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_too_much_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_left_overs_go_and_what_is_in_use_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
