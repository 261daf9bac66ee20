/* Reading a candidate: what is taken, and what is refused. */
#include "base/files.h"
#include "base/inject.h"
#include "candidate/folder.h"

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

enum { SOURCE_LIMIT = 16 << 20 };

/* A candidate in `dir`/c. */
struct fixture {
    struct arena arena;
    char dir[64];
    const char *candidate;
    struct candidate_source source;
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
    return candidate_source_read(&fixture->arena, NULL, fixture->candidate, &fixture->source);
}

static const char *digest_of(struct fixture *fixture)
{
    assert_null(take(fixture));
    return fixture->source.digest;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void test_a_folder_is_its_files(void **state)
{
    static const char *const paths[] = {"empty/",     "op_host/",          "op_host/add.cpp",
                                        "op_kernel/", "op_kernel/add.cpp", "op_kernel/body.ipp"};
    struct fixture *fixture = *state;
    int before = open_descriptors();
    put(fixture, ".git/config", "left out");
    assert_int_equal(mkdir(in(fixture, "empty"), 0755), 0);
    assert_null(take(fixture));
    assert_null(fixture->source.text);
    const struct op_files *files = &fixture->source.files;
    assert_int_equal(files->count, sizeof paths / sizeof *paths);
    for (size_t i = 0; i < files->count; i++)
        assert_string_equal(files->items[i].path, paths[i]);
    assert_string_equal(op_files_find(files, "op_kernel/body.ipp")->bytes, "body");
    assert_int_equal(op_files_find(files, "op_kernel/body.ipp")->length, 4);
    /* Databases name candidates so. */
    assert_string_equal(fixture->source.digest, "38e430557b767487535cd4701b71206a");
    assert_int_equal(open_descriptors(), before);
}

static void test_an_answer_is_a_text(void **state)
{
    struct fixture *fixture = *state;
    const char *file = in(fixture, "op_kernel/body.ipp"), *link = in(fixture, "link.txt");
    assert_int_equal(symlink("op_kernel/body.ipp", link), 0);
    assert_null(candidate_source_read(&fixture->arena, NULL, file, &fixture->source));
    assert_string_equal(fixture->source.text, "body");
    assert_int_equal(fixture->source.length, 4);
    /* What the user names may be a link; below a folder that the user named it is the candidate's. */
    assert_null(candidate_source_read(&fixture->arena, NULL, link, &fixture->source));
    struct akgen_error *error = candidate_source_read(&fixture->arena, fixture->candidate, link, &fixture->source);
    assert_non_null(error);
    assert_true(error->of_the_file);
    assert_string_equal(error->message, "link.txt: reached through a link"); /* not where it lies */
    error_free(error);
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
    assert_int_equal(open_descriptors(), before);
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

static void assert_files_refused(struct fixture *fixture, const struct op_file *files, size_t count, const char *why)
{
    struct akgen_error *error = candidate_source_of_files(&fixture->arena, files, count, &fixture->source);
    assert_non_null(error);
    assert_true(error->of_the_file);
    assert_null(fixture->source.digest);
    if (!strstr(error->message, why))
        fail_msg("%s: not because of %s", error->message, why);
    error_free(error);
}

/* Files that somebody sends are what a folder with them is, and are refused for the same reasons. */
static void test_files_in_memory(void **state)
{
    struct fixture *fixture = *state;
    const struct op_file files[] = {
        {"op_kernel/body.ipp", "body", 4}, {"op_host/add.cpp", "host", 4}, {"op_kernel/add.cpp", "kernel", 6}};
    const char *digest = digest_of(fixture);
    assert_null(candidate_source_of_files(&fixture->arena, files, 3, &fixture->source));
    assert_string_equal(fixture->source.digest, digest);
    const char *deep = "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/x";
    char *large = arena_alloc(&fixture->arena, SOURCE_LIMIT + 2),
         *path = memset(arena_alloc(&fixture->arena, 1026), 'p', 1025);
    const struct {
        struct op_file files[3];
        size_t count;
        const char *why;
    } rows[] = {
        {{{"a\nb.h", "", 0}}, 1, "control character"},
        {{{deep, "", 0}}, 1, "more than 24 folders deep"},
        {{{path, "", 0}}, 1, "a path of more than 1024 bytes"},
        {{{"large", large, SOURCE_LIMIT + 1}}, 1, "large: more than 16777216 bytes"},
        {{{"1", large, SOURCE_LIMIT}, {"2", large, SOURCE_LIMIT}, {"3", large, 1}},
         3,
         "more than 33554432 bytes in all"},
        {{{"x", "", 0}, {"x/y", "", 0}, {"x.h", "", 0}}, 3, "x: a file, and a folder of other files"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_files_refused(fixture, rows[i].files, rows[i].count, rows[i].why);
    struct akgen_error *error =
        candidate_source_of_text(&fixture->arena, "a.txt", large, SOURCE_LIMIT + 1, &fixture->source);
    assert_non_null(strstr(error->message, "a.txt: more than 16777216 bytes"));
    error_free(error);
}

/* Of what is there and cannot be read, nothing is concluded about the candidate. */
static void test_a_file_that_ends_early(void **state)
{
    struct fixture *fixture = *state;
    for (int number = 1; number <= 3; number++) {
        inject_arm(INJECT_READ, number, number);
        struct akgen_error *error = take(fixture);
        assert_non_null(error);
        assert_false(error->of_the_file);
        assert_non_null(strstr(error->message, "could not be read to its end"));
        error_free(error);
    }
    inject_arm(INJECT_READ, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_folder_is_its_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_answer_is_a_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_byte_and_name_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_file_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_too_much_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_in_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_ends_early, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
