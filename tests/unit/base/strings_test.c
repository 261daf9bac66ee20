/* Strings by number. */
#include "base/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void strings_are_there_once(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct strings strings = {0};
    assert_int_equal(strings_find(&strings, "a", 1), -1);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 1000; i++)
            assert_int_equal(strings_number(&arena, &strings, &i, sizeof i), i);
    assert_int_equal(strings_find(&strings, "a", 1), -1);
    assert_int_equal(strings_number(&arena, &strings, "ab", 1), 1000);
    assert_int_equal(strings_number(&arena, &strings, "ab", 2), 1001);
    assert_int_equal(strings_find(&strings, "a", 1), 1000);
    assert_string_equal(strings.items[1000].at, "a");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings_are_there_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
