/* The steps that a case's launch may take: by hand, and of cases of the suites. */
#include "eval/steps.h"

#include "toolchain/toolchain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct npu_steps steps_of(const char *path, int index)
{
    struct arena arena = {0};
    struct task task;
    struct task_instance *instance;
    assert_null(task_load(&arena, arena_printf(&arena, "%s/tasks/%s", toolchain_home(), path), &task));
    assert_null(task_instance_shapes(&task, &task.cases[index], &instance));
    struct npu_steps steps = eval_steps_of_case(instance);
    task_instance_free(instance);
    arena_free(&arena);
    return steps;
}

static void expect(struct npu_steps steps, uint64_t control, uint64_t data)
{
    assert_int_equal(steps.control, control);
    assert_int_equal(steps.data, data);
}

static void test_steps_grow_with_bytes_and_products(void **state)
{
    (void)state;
    expect(eval_steps(0, 0), 400000000, 100000000);
    expect(eval_steps(1 << 20, 0), 400000000 + 34ul * (1 << 20), 100000000 + 112ul * (1 << 20));
    expect(eval_steps(0, 48e9), 1400000000, 4100000000);
    expect(eval_steps(UINT64_C(1) << 33, 0), 400000000 + (UINT64_C(34) << 33), 100000000 + (UINT64_C(112) << 33));
}

static void test_steps_of_cases(void **state)
{
    (void)state;
    /* Sqrt, case 0: 48 x 128 x 512 halves in and out. */
    const uint64_t sqrt = 2ul * 2 * 48 * 128 * 512;
    expect(steps_of("npukernelbench/level1/Math/Sqrt", 0), 400000000 + 34 * sqrt, 100000000 + 112 * sqrt);
    /* BasicMatmul, case 0: 128 x 1280 and 1280 x 640 halves in, 128 x 640 out, 2 * 128 * 1280 * 640 operations. */
    const uint64_t matmul = 2ul * (128 * 1280 + 1280 * 640 + 128 * 640), flops = 2ul * 128 * 1280 * 640;
    expect(steps_of("npukernelbench/level3/GMM/BasicMatmul", 0), 400000000 + 34 * matmul + flops / 48,
           100000000 + 112 * matmul + flops / 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_grow_with_bytes_and_products),
        cmocka_unit_test(test_steps_of_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
