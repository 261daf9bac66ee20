/* What wrong elements have in common is told in words: where they lie, what stands there. */
/* test: builds=both */
#include "task/compare_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 6, LENGTH = 10 };
static const struct task_tensor matrix = {
    .type = AKGEN_FLOAT, .rank = 2, .dims = {ROWS, LENGTH}, .elements = (int64_t)ROWS * LENGTH};

/* The elements for which `is_wrong` holds are off in the way that `actual` says, the expected ones are 1, 2, 3, .. */
static void assert_told(bool (*is_wrong)(int row, int column), double (*actual)(double expected), const char *text)
{
    struct pattern pattern = {0};
    char told[256];
    for (int i = 0; i < ROWS * LENGTH; i++)
        if (is_wrong(i / LENGTH, i % LENGTH))
            pattern_note(&pattern, &matrix, i, i + 1, actual(i + 1));
    pattern_tell(&pattern, &matrix, told, sizeof told);
    assert_string_equal(told, text);
}

static bool everywhere(int row, int column)
{
    return row >= 0 && column >= 0;
}
static bool tails(int row, int column)
{
    return row >= 0 && column >= 7;
}
static bool heads_of_some(int row, int column)
{
    return row % 2 && column < 2;
}
static bool behind(int row, int column)
{
    return row * LENGTH + column >= 34;
}
static bool before(int row, int column)
{
    return row * LENGTH + column < 12;
}
static bool third_row(int row, int column)
{
    return row == 2 && column >= 0;
}
static bool inside(int row, int column)
{
    return row * LENGTH + column >= 23 && row * LENGTH + column < 38;
}
static bool scattered(int row, int column)
{
    return (7 * row + column) % 5 == 2;
}
static bool nowhere(int row, int column)
{
    return row < 0 && column < 0;
}

static double zero(double expected)
{
    return expected * 0;
}
static double not_a_number(double expected)
{
    return (double)NAN * expected;
}
static double seven(double expected)
{
    return expected > 0 ? 7.5 : 0;
}
static double negated(double expected)
{
    return -expected;
}
static double more(double expected)
{
    return expected + 100;
}
static double other(double expected)
{
    return expected * expected + 3;
}

static void places(void **state)
{
    (void)state;
    assert_told(everywhere, other, "all elements are wrong");
    assert_told(tails, other, "only the last 3 of the 10 elements of a row are wrong, in 6 of 6 rows");
    assert_told(heads_of_some, other, "only the first 2 of the 10 elements of a row are wrong, in 3 of 6 rows");
    assert_told(behind, other, "everything from element 34 on is wrong, the last 26 of 60");
    assert_told(before, other, "only the first 12 of 60 elements are wrong");
    assert_told(third_row, other, "only row 2 of 6 is wrong");
    assert_told(inside, other, "only elements 23 to 37 of 60 are wrong");
    assert_told(scattered, other, "");
    assert_told(nowhere, other, "");
}

static void values(void **state)
{
    (void)state;
    assert_told(scattered, zero, "what stands there is 0");
    assert_told(tails, not_a_number,
                "only the last 3 of the 10 elements of a row are wrong, in 6 of 6 rows; what stands there is nan");
    assert_told(scattered, seven, "what stands there is 7.5 everywhere");
    assert_told(everywhere, negated, "all elements are wrong; what stands there is -1 times what is expected");
    assert_told(everywhere, more, "all elements are wrong; what stands there is what is expected + 100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
