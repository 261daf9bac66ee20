/* Files of strangers: whose fault a failed call is, and what opens them. */
#include "base/files.h"
#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What a path names, how long it is and who may read it is whoever made it; that there is no room, no memory, no descriptor and no
 * working disk is this machine. */
static void test_whose_fault(void **state)
{
    (void)state;
    static const struct {
        int reason;
        bool of_the_file;
    } rows[] = {
        {EACCES, true},       {EPERM, true},   {ENOENT, true},    {ENOTDIR, true}, {EISDIR, true},  {ELOOP, true},
        {ENAMETOOLONG, true}, {ENXIO, true},   {EOVERFLOW, true}, {ENOSPC, false}, {EDQUOT, false}, {EIO, false},
        {EMFILE, false},      {ENFILE, false}, {ENOMEM, false},   {EROFS, false},  {EAGAIN, false}, {EINTR, false},
        {EBUSY, false},       {ENODEV, false}, {ESTALE, false},   {EFAULT, false}, {EBADF, false},  {0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (files_of_the_file(rows[i].reason) != rows[i].of_the_file)
            fail_msg("%s", strerror(rows[i].reason));
}

struct place {
    struct arena arena;
    char folder[32];
};

static void begin(struct place *place)
{
    *place = (struct place){.folder = "/tmp/akgen-files-XXXXXX"};
    assert_non_null(mkdtemp(place->folder));
}

static const char *path(struct place *place, const char *name)
{
    return arena_printf(&place->arena, "%s/%s", place->folder, name);
}

static void end(struct place *place)
{
    files_remove_tree(place->folder);
    arena_free(&place->arena);
}

static void refused(struct akgen_error *error, const char *part)
{
    assert_non_null(error);
    assert_true(error->of_the_file);
    assert_non_null(strstr(error->message, part));
    error_free(error);
}

/* Nothing waits, and no link leads out of a stranger's folder. */
static void test_what_is_no_file(void **state)
{
    (void)state;
    struct place place;
    char *bytes;
    size_t length;
    FILE *in;
    begin(&place);
    assert_int_equal(mkfifo(path(&place, "fifo"), 0600), 0);
    assert_int_equal(symlink("/etc/hostname", path(&place, "link")), 0);
    assert_null(files_write(path(&place, "whole"), "a\nb", 3));
    refused(files_read(&place.arena, path(&place, "fifo"), 10, &bytes, &length), "not a regular file");
    refused(files_read(&place.arena, "/dev/zero", 10, &bytes, &length), "not a regular file");
    refused(files_read(&place.arena, place.folder, 10, &bytes, &length), "not a regular file");
    refused(files_read_inside(&place.arena, place.folder, "link", 1000, &bytes, &length), "a link");
    refused(files_read(&place.arena, path(&place, "whole"), 2, &bytes, &length), "3 bytes, at most 2 are allowed");
    refused(lines_open(path(&place, "fifo"), &in), "not a regular file");
    refused(lines_open(path(&place, "nothing"), &in), "No such file");
    assert_null(files_read_inside(&place.arena, place.folder, "whole", 3, &bytes, &length));
    assert_int_equal(length, 3);
    assert_string_equal(bytes, "a\nb");
    assert_int_equal(files_open_at(AT_FDCWD, path(&place, "link"), FILES_REFUSE_LINKS), -1);
    assert_int_equal(errno, ELOOP);
    end(&place);
}

/* A line without an end takes the memory of one that is allowed. */
static void test_lines(void **state)
{
    (void)state;
    enum { LONGEST = 5, HUGE = 1 << 20 };
    struct place place;
    struct text line = {0};
    bool too_long;
    FILE *in;
    begin(&place);
    char *text = arena_alloc(&place.arena, HUGE + 32);
    memcpy(text, "12345\n\n123456\nlast", 18);
    assert_null(files_write(path(&place, "lines"), text, 18));
    assert_null(lines_open(path(&place, "lines"), &in));
    static const struct {
        const char *text;
        bool too_long;
    } lines[] = {{"12345", false}, {"", false}, {"12345", true}, {"last", false}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_true(lines_next(in, LONGEST, &line, &too_long));
        assert_int_equal(too_long, lines[i].too_long);
        assert_int_equal(line.length, strlen(lines[i].text));
        assert_memory_equal(line.bytes, lines[i].text, line.length);
    }
    assert_false(lines_next(in, LONGEST, &line, &too_long));
    fclose(in);
    memset(text, 'x', HUGE);
    assert_null(files_write(path(&place, "endless"), text, HUGE));
    assert_null(lines_open(path(&place, "endless"), &in));
    assert_true(lines_next(in, LONGEST, &line, &too_long) && too_long);
    assert_true(line.capacity < 4096);
    assert_false(lines_next(in, LONGEST, &line, &too_long));
    fclose(in);
    text_free(&line);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_fault),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
