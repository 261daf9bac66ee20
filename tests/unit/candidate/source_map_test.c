/* The map beside a project: what it says of a line, and that what is no map says nothing. */
#include "candidate/source_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define FILES "\"files\":{\"op_kernel/x.cpp\":[[3,17],[5,0],[9,18]],\"op_host/x.cpp\":[]}"
#define LINES "\"lines\":{\"17\":\"tl.load(x, x_ub)\"}"
#define MAP   "{\"version\":1,\"program\":\"p.py\"," FILES "," LINES "}"

static void test_lines_of_a_map(void **state)
{
    (void)state;
    static const struct {
        int line, expected;
    } rows[] = {{-1, 0}, {0, 0}, {2, 0}, {3, 17}, {4, 17}, {5, 0}, {8, 0}, {9, 18}, {1 << 30, 18}};
    struct arena arena = {0};
    const struct source_map *map = source_map_parse(&arena, MAP, strlen(MAP));
    assert_non_null(map);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct source_place place = source_map_find(map, "op_kernel/x.cpp", rows[i].line);
        assert_int_equal(place.line, rows[i].expected);
        assert_int_equal(place.program != NULL, rows[i].expected > 0);
    }
    assert_string_equal(source_map_find(map, "op_kernel/x.cpp", 4).program, "p.py");
    assert_string_equal(source_map_find(map, "op_kernel/x.cpp", 4).text, "tl.load(x, x_ub)");
    assert_null(source_map_find(map, "op_kernel/x.cpp", 9).text); /* line 18's text is not there */
    assert_null(source_map_find(map, "op_host/x.cpp", 4).program);
    assert_null(source_map_find(map, "kernel_operator.h", 4).program);
    assert_null(source_map_find(map, NULL, 4).program);
    assert_null(source_map_find(NULL, "op_kernel/x.cpp", 4).program);
    arena_free(&arena);
}

/* A fault in a function that no line owns is that of the call of it. */
static void test_a_call_that_was_inlined(void **state)
{
    (void)state;
    const struct job_call calls[] = {{"op_kernel/x.cpp", 7}, {"op_kernel/x.cpp", 4}, {"op_kernel/x.cpp", 9}, {NULL, 0}};
    const struct job_finding finding = {
        .file = "op_kernel/x.cpp", .line = 6, .calls = calls, .file_other = "op_kernel/x.cpp", .line_other = 9};
    struct arena arena = {0};
    const struct source_map *map = source_map_parse(&arena, MAP, strlen(MAP));
    assert_int_equal(source_map_of_finding(map, &finding, false).line, 17);
    assert_int_equal(source_map_of_finding(map, &finding, true).line, 18);
    assert_null(source_map_of_finding(map, &(struct job_finding){0}, false).program);
    arena_free(&arena);
}

static void test_what_is_no_map(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "\xff",
        "{\"version\":2,\"program\":\"p.py\"," FILES "," LINES "}",
        "{\"version\":1," FILES "," LINES "}",
        "{\"version\":1,\"program\":\"\"," FILES "," LINES "}",
        "{\"version\":1,\"program\":7," FILES "," LINES "}",
        "{\"version\":1,\"program\":\"\\u001b[31mp.py\"," FILES "," LINES "}",
        "{\"version\":1,\"program\":\"p.py\"," FILES "}",
        "{\"version\":1,\"program\":\"p.py\"," FILES ",\"lines\":{\"17\":17}}",
        "{\"version\":1,\"program\":\"p.py\"," FILES ",\"lines\":{\"17\":\"a\\nb\"}}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":[]," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":7}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[3,17]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[3]]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[3,17,1]]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[3,17.5]]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[0,17]]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[3,-1]]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[3,2147483648]]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[4294967299,17]]}," LINES "}",
        "{\"version\":1,\"program\":\"p.py\",\"files\":{\"op_kernel/x.cpp\":[[3,17],[3,18]]}," LINES "}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena arena = {0};
        assert_null(source_map_parse(&arena, texts[i], strlen(texts[i])));
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_a_map),
        cmocka_unit_test(test_a_call_that_was_inlined),
        cmocka_unit_test(test_what_is_no_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
