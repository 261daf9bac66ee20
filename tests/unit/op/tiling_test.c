/* Tiling of high-level APIs: sizes against the published formulas worked out by hand. */
#include "akgen/tiling_abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void expect_tmp(enum akgen_tmp_api api, int64_t elements, uint32_t type_size, bool reuse, uint32_t max,
                       uint32_t min)
{
    uint32_t got_max = 1, got_min = 1;
    akgen_tmp_elementwise(api, elements, type_size, reuse, &got_max, &got_min);
    assert_int_equal(got_max, max);
    assert_int_equal(got_min, min);
}

static void elementwise_space(void **state)
{
    (void)state;
    expect_tmp(AKGEN_TMP_Acos, 1024, 2, false, 6 * 2048, 6 * 256);
    expect_tmp(AKGEN_TMP_Acos, 1024, 4, false, 2 * 4096, 2 * 256);
    expect_tmp(AKGEN_TMP_Sigmoid, 16, 2, false, 256, 256);
    expect_tmp(AKGEN_TMP_Sin, 1024, 4, true, 2 * 4096, 2 * 256);
    expect_tmp(AKGEN_TMP_Exp, 1024, 2, false, 4 * 4096, 4 * 256);
    expect_tmp(AKGEN_TMP_Clamp, 1000, 2, false, 1000, 128);
    expect_tmp(AKGEN_TMP_Log, 1000, 4, false, 0, 0);
    /* CANN asserts that there are elements and leaves the results alone. */
    expect_tmp(AKGEN_TMP_Acos, 0, 4, false, 1, 1);
    uint32_t live = 9, extra = 9;
    akgen_tmp_factor(AKGEN_TMP_Exp, 2, &live, &extra);
    assert_int_equal(live, 8);
    assert_int_equal(extra, 0);
}

static void sum_space(void **state)
{
    (void)state;
    uint32_t max = 0, min = 0;
    /* 1000 floats are 16 repeats of 64, two blocks of 8 sums. */
    akgen_tmp_sum(1000, 4, &max, &min);
    assert_int_equal(max, 64);
    assert_int_equal(min, 64);
    /* A mean of halves in float: 1000 floats and their 16 repeats in 32 bytes. */
    akgen_tmp_mean(1000, 2, 4, &max, &min);
    assert_int_equal(max, 32 + 1008 * 4);
}

static struct akgen_softmax softmax(enum akgen_softmax_kind kind, int64_t rows, int64_t length, uint32_t type_size)
{
    struct akgen_softmax softmax = {.kind = kind, .type_size = type_size, .max_type_size = type_size};
    softmax.shape = (struct akgen_shape){.rank = 2, .dims = {rows, length}};
    return softmax;
}

static void softmax_space(void **state)
{
    (void)state;
    struct akgen_softmax call = softmax(AKGEN_SOFTMAX, 10, 128, 4);
    assert_int_equal(akgen_softmax_min(&call), (8 + 128 + 64) * 4);
    assert_int_equal(akgen_softmax_max(&call), 10 * (8 + 128 + 64) * 4);
    call = softmax(AKGEN_SOFTMAX_GRAD, 10, 128, 2);
    assert_int_equal(akgen_softmax_min(&call), (2 * 16 + 3 * 128 + 64) * 4);
    call = softmax(AKGEN_SOFTMAX_FLASH_V2, 64, 1024, 4);
    call.basic_block = true;
    assert_int_equal(akgen_softmax_min(&call), 8 * (8 + 128) * 4);
    assert_int_equal(akgen_softmax_max(&call), 8 * (8 + 128) * 4); /* 64 rows are halved until 8 * 1024 < 16384 */
    call.type_size = 8;
    assert_int_equal(akgen_softmax_max(&call), 0);
}

static void softmax_rows(void **state)
{
    (void)state;
    struct akgen_SoftMaxTiling tiling = {0};
    struct akgen_softmax call = softmax(AKGEN_SOFTMAX, 20, 100, 4);
    /* Space for 11 rows: whole groups of 8, so 8, 8 and a tail of 4. */
    akgen_softmax_tiling(&call, 11 * (8 + 100 + 64) * 4, &tiling);
    assert_int_equal(tiling.srcM, 20);
    assert_int_equal(tiling.splitM, 8);
    assert_int_equal(tiling.splitSize, 800);
    assert_int_equal(tiling.reduceSize, 64);
    assert_int_equal(tiling.rangeM, 2);
    assert_int_equal(tiling.tailM, 4);
    assert_int_equal(tiling.tailSplitSize, 400);
    assert_false(akgen_softmax_is_basic_block(&tiling, 4));
    /* Rows of basic blocks: a divisor of the rows. 24 of 40 fit, 24 does not divide, 16 neither, 8 does. */
    call = softmax(AKGEN_SOFTMAX, 40, 64, 4);
    akgen_softmax_tiling(&call, 30 * (8 + 64 + 64) * 4, &tiling);
    assert_int_equal(tiling.splitM, 8);
    assert_int_equal(tiling.tailM, 0);
    assert_true(akgen_softmax_is_basic_block(&tiling, 4));
    /* Too little space for a row. */
    akgen_softmax_tiling(&call, 100, &tiling);
    assert_int_equal(tiling.splitM, 0);
    assert_int_equal(tiling.rangeM, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_space),
        cmocka_unit_test(sum_space),
        cmocka_unit_test(softmax_space),
        cmocka_unit_test(softmax_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
