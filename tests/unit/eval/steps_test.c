/* The steps that a case's launch may take: by hand, and of cases of the suites. */
#include "eval/steps.h"

#include "toolchain/toolchain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t steps_of(const char *path, int index)
{
    struct arena arena = {0};
    struct task task;
    struct task_instance *instance;
    assert_null(task_load(&arena, arena_printf(&arena, "%s/tasks/%s", toolchain_home(), path), &task));
    assert_null(task_instance_shapes(&task, &task.cases[index], &instance));
    uint64_t steps = eval_steps_of_case(instance);
    task_instance_free(instance);
    arena_free(&arena);
    return steps;
}

static void test_steps_grow_with_bytes_and_products(void **state)
{
    (void)state;
    assert_int_equal(eval_steps(0, 0), 500000000);
    assert_int_equal(eval_steps(1 << 20, 0), 500000000 + 64ul * (1 << 20));
    assert_int_equal(eval_steps(0, 24e9), 2500000000);
    assert_int_equal(eval_steps(UINT64_C(1) << 33, 0), 500000000 + (UINT64_C(64) << 33));
}

static void test_steps_of_cases(void **state)
{
    (void)state;
    /* Sqrt, case 0: 48 x 128 x 512 halves in and out. */
    assert_int_equal(steps_of("npukernelbench/level1/Math/Sqrt", 0), 500000000 + 64ul * 2 * 2 * 48 * 128 * 512);
    /* BasicMatmul, case 0: 128 x 1280 and 1280 x 640 halves in, 128 x 640 out, 2 * 128 * 1280 * 640 operations. */
    assert_int_equal(steps_of("npukernelbench/level3/GMM/BasicMatmul", 0),
                     500000000 + 64ul * 2 * (128 * 1280 + 1280 * 640 + 128 * 640) + 2ul * 128 * 1280 * 640 / 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_grow_with_bytes_and_products),
        cmocka_unit_test(test_steps_of_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
