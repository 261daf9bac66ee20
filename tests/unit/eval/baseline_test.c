/* Modelled microseconds of eager kernels, computed by hand. */
#include "eval/baseline.h"

#include "toolchain/toolchain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect(double actual, double expected)
{
    if (fabs(actual - expected) > 1e-9 * expected)
        fail_msg("%.12g, expected %.12g", actual, expected);
}

static void test_bytes_at_the_rate_of_where_they_lie(void **state)
{
    (void)state;
    /* 1 MiB in, 1 MiB out: 2097152 bytes at 0.327 of 5 TB/s. */
    struct task_eager_traffic small = {.read = 1 << 20, .written = 1 << 20, .type = AKGEN_FLOAT};
    expect(baseline_kernel_us(TASK_EAGER_ELEMENTWISE, &small, 1), 4.20 + 2097152 / (5e6 * 0.327));
    expect(baseline_kernel_us(TASK_EAGER_ELEMENTWISE, &small, 0.5), 2.10 + 2097152 / (5e6 * 0.327));
    expect(baseline_kernel_us(TASK_EAGER_ELEMENTWISE, &small, 2), 8.40 + 2097152 / (5e6 * 0.327));
    /* 192 MiB fill the L2; one byte more streams from memory at 0.929 of 1.5 TB/s. */
    struct task_eager_traffic full = {.read = 192 << 20};
    expect(baseline_kernel_us(TASK_EAGER_ELEMENTWISE, &full, 1), 4.20 + 201326592 / (5e6 * 0.327));
    full.written = 1;
    expect(baseline_kernel_us(TASK_EAGER_ELEMENTWISE, &full, 1), 4.20 + 201326593 / (1.5e6 * 0.929));
    struct task_eager_traffic nothing = {0};
    expect(baseline_kernel_us(TASK_EAGER_REDUCTION, &nothing, 1), 7.40);
    /* Nobody has published a scan: it takes what a reduction takes. */
    assert_int_equal(baseline_rate(TASK_EAGER_SCAN)->rows, 0);
    expect(baseline_kernel_us(TASK_EAGER_SCAN, &small, 1), baseline_kernel_us(TASK_EAGER_REDUCTION, &small, 1));
}

static void test_products_bound_a_matmul(void **state)
{
    (void)state;
    /* 4096 cubed: 2^37 operations, on 24 cubes of 2 * 4096 a cycle at 1800 MHz for halves: 353.9e6 in a microsecond. */
    struct task_eager_traffic traffic = {.read = 2 << 25, .written = 1 << 25, .flops = 0x1p37, .type = AKGEN_FLOAT16};
    expect(baseline_kernel_us(TASK_EAGER_MATMUL, &traffic, 1), 7.69 + 0x1p37 / (24 * 1800.0 * 8192 * 0.408));
    traffic.type = AKGEN_BF16;
    expect(baseline_kernel_us(TASK_EAGER_MATMUL, &traffic, 1), 7.69 + 0x1p37 / (24 * 1800.0 * 8192 * 0.408));
    traffic.type = AKGEN_INT8;
    expect(baseline_kernel_us(TASK_EAGER_MATMUL, &traffic, 1), 7.69 + 0x1p37 / (24 * 1800.0 * 16384 * 0.408));
    traffic.type = AKGEN_FLOAT;
    expect(baseline_kernel_us(TASK_EAGER_MATMUL, &traffic, 1), 7.69 + 0x1p37 / (24 * 1800.0 * 2048 * 0.408));
    /* A vector times a matrix is bound by the bytes of the matrix. */
    struct task_eager_traffic thin = {.read = 1 << 25, .flops = 0x1p25, .type = AKGEN_FLOAT16};
    expect(baseline_kernel_us(TASK_EAGER_MATMUL, &thin, 1), 7.69 + 33554432 / (5e6 * 0.141));
}

/* Every kind of the table has rates that a machine could have. */
static void test_the_table_is_whole(void **state)
{
    (void)state;
    for (int kind = 0; kind < TASK_EAGER_KINDS; kind++) {
        const struct baseline_rate *rate = baseline_rate((enum task_eager_kind)kind);
        bool multiplies = kind == TASK_EAGER_MATMUL || kind == TASK_EAGER_ATTENTION;
        assert_true(rate->launch >= 1 && rate->launch < 100);
        assert_true(rate->resident > 0 && rate->resident <= 1 && rate->streamed > 0 && rate->streamed <= 1);
        assert_true(multiplies ? rate->compute > 0 && rate->compute <= 1 : rate->compute == 0);
    }
}

/* Whole tasks: the sum over their kernels. */
static void test_a_task_is_the_sum_of_its_kernels(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    struct task_instance *instance;
    /* x * sigmoid(x) of [16, 16384] float32: 1 MiB each; Sigmoid moves two of them, Mul three. */
    assert_null(task_find(&arena, toolchain_home(), "multikernelbench/level1/Activation/Swish", &task));
    assert_null(task_instance_shapes(&task, &task.cases[0], &instance));
    for (int i = 0; i < 3; i++) {
        double launches = 0.5 * (1 << i);
        expect(baseline_us(instance, launches), 2 * launches * 4.20 + 5 * 1048576 / (5e6 * 0.327));
    }
    task.eager_count = 0;
    assert_true(isnan(baseline_us(instance, 1)));
    task_instance_free(instance);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_at_the_rate_of_where_they_lie),
        cmocka_unit_test(test_products_bound_a_matmul),
        cmocka_unit_test(test_the_table_is_whole),
        cmocka_unit_test(test_a_task_is_the_sum_of_its_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
