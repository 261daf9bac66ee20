/* Folders that appear whole: the first one stays, nothing hidden is left. */
#include "base/files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static void test_the_first_one_stays(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *top = arena_printf(&arena, "/tmp/akgen-directory-%d", (int)getpid());
    const char *path = arena_printf(&arena, "%s/deep/place", top), *first, *second;
    char *text;
    files_remove_tree(top);
    assert_null(files_begin_directory(&arena, path, &first));
    assert_null(files_begin_directory(&arena, path, &second));
    assert_string_not_equal(first, second);
    assert_null(files_write(arena_printf(&arena, "%s/a.txt", first), "first", 5));
    assert_null(files_write(arena_printf(&arena, "%s/a.txt", second), "second", 6));
    assert_false(files_exists(path));
    assert_null(files_finish_directory(first, path));
    assert_null(files_finish_directory(second, path));
    assert_null(files_read(&arena, arena_printf(&arena, "%s/a.txt", path), 100, &text, NULL));
    assert_string_equal(text, "first");
    assert_int_equal(count_entries(arena_printf(&arena, "%s/deep", top)), 1);
    files_remove_tree(top);

    struct akgen_error *error = files_begin_directory(&arena, "/dev/null/place", &first);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "/dev/null"));
    error_free(error);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_first_one_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
