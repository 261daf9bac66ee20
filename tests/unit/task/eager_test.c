/* The eager baseline: bytes and operations of a case, what task.yaml may not say, and that every shipped task lists its kernels. */
#include "task/task.h"

#include "base/files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char head[] = "suite: test\n"
                           "level: 1\n"
                           "category: Math\n"
                           "op: Wide\n"
                           "reference: formula\n"
                           "inputs:\n"
                           "  - name: x\n"
                           "    shape: $shape\n"
                           "    dtype: $dtype\n"
                           "    types: [float16, float32]\n"
                           "    generate: randn\n"
                           "outputs:\n"
                           "  - name: y\n"
                           "    shape: $shape\n"
                           "    dtype: $dtype\n"
                           "    types: [float16, float32]\n"
                           "    formula: x*2\n"
                           "eager:\n";
static char directory[64];

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_null(files_write(path, text, strlen(text)));
}

static struct akgen_error *load(struct arena *arena, const char *eager, struct task *task)
{
    put("task.yaml", arena_printf(arena, "%s%s", head, eager));
    put("cases.csv", "case_id;shape;dtype\n0;[6, 5];float16\n1;[7, 3];float32\n");
    return task_load(arena, directory, task);
}

static void test_bytes_and_operations_of_a_case(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    struct akgen_error *error = load(&arena,
                                     "  - kernel: Cast\n"
                                     "    kind: elementwise\n"
                                     "    reads: [x]\n"
                                     "    writes: [\"float32 $shape\"]\n"
                                     "  - kernel: GroupedMatmul\n"
                                     "    kind: matmul\n"
                                     "    reads: [\"$dtype $shape[:1] + [1]\", \"int8 [$shape[1]]\"]\n"
                                     "    writes: [y, \"int64 []\"]\n"
                                     "    m: \"[$shape[0], 2]\"\n"
                                     "    k: 11\n"
                                     "    n: $shape\n"
                                     "    batch: 3\n",
                                     &task);
    assert_null(error);
    assert_int_equal(task.eager_count, 2);
    assert_string_equal(task.eager[0].kernel, "Cast");
    assert_int_equal(task.eager[1].kind, TASK_EAGER_MATMUL);
    struct task_instance *instance;
    struct task_eager_traffic *traffic;
    assert_null(task_instance_shapes(&task, &task.cases[0], &instance)); /* [6, 5] of float16 */
    assert_null(task_eager_of_case(&arena, instance, &traffic));
    assert_true(traffic[0].read == 30 * 2 && traffic[0].written == 30 * 4 && traffic[0].flops == 0);
    assert_int_equal(traffic[0].type, AKGEN_FLOAT16);
    assert_true(traffic[1].read == 6 * 2 + 5 && traffic[1].written == 30 * 2 + 8);
    assert_true(traffic[1].flops == 2 * 3 * (6 * 11 * 6 + 2 * 11 * 5));
    task_instance_free(instance);
    assert_null(task_instance_shapes(&task, &task.cases[1], &instance)); /* [7, 3] of float32 */
    assert_null(task_eager_of_case(&arena, instance, &traffic));
    assert_true(traffic[0].read == 21 * 4 && traffic[1].read == 7 * 4 + 3);
    assert_int_equal(traffic[1].type, AKGEN_FLOAT);
    task_instance_free(instance);
    arena_free(&arena);
}

static void expect_error(const char *eager, const char *message)
{
    struct arena arena = {0};
    struct task task;
    struct akgen_error *error = load(&arena, eager, &task);
    assert_non_null(error);
    if (!strstr(error->message, message))
        fail_msg("'%s' is not in '%s'", message, error->message);
    error_free(error);
    arena_free(&arena);
}

static void test_what_is_wrong_says_what_is_right(void **state)
{
    (void)state;
#define ADD  "  - kernel: Add\n"
#define KIND "    kind: elementwise\n"
#define MOVE "    reads: [x]\n    writes: [y]\n"
    expect_error("", "task.yaml:18: eager must be a list of 1 to 64 kernels");
    expect_error(ADD MOVE, "task.yaml:19: eager kernel number 1 lacks 'kind'");
    expect_error(ADD "    kind: elementwize\n" MOVE,
                 "task.yaml:20: kind is 'elementwize', expected elementwise, foreach, optimizer, reduction, softmax, "
                 "norm, quant, "
                 "scan, pooling, sort, gather, layout, matmul or attention; did you mean elementwise?");
    expect_error(
        ADD KIND "    reads: [z]\n    writes: [y]\n",
        "task.yaml:21: reads: 'z' is no input or output, expected x, y, or a type and a shape as in 'float32 [4, 3]'");
    expect_error(ADD KIND "    reads: [\"float31 [4]\"]\n    writes: [y]\n",
                 "task.yaml:21: reads: in 'float31 [4]', 'float31' is no data type");
    expect_error(ADD KIND "    reads: [\"float32 4\"]\n    writes: [y]\n",
                 "task.yaml:21: reads: in 'float32 4', '4' is no shape, expected a list of sizes");
    expect_error(ADD KIND "    reads: x\n    writes: [y]\n",
                 "task.yaml:21: reads must be a list of at most 32 tensors");
    expect_error(
        ADD KIND MOVE "    m: 4\n",
        "task.yaml:19: eager kernel number 1: m, k, n and batch belong to matmul and attention, not to elementwise");
    expect_error(ADD "    kind: matmul\n" MOVE "    m: 4\n    k: 4\n", "matmul lacks m, k or n");
    expect_error(ADD "    kind: matmul\n" MOVE "    m: float16\n    k: 4\n    n: 4\n",
                 "task.yaml:23: m is 'float16', expected a number or a list of numbers");
    /* What only a case shows. */
    expect_error(ADD KIND "    reads: [\"float32 [$shape[0] - 7]\"]\n    writes: [y]\n",
                 "cases.csv:2: eager kernel number 1, Add: in 'float32 [$shape[0] - 7]': shape is [-1]");
    expect_error(
        ADD "    kind: matmul\n" MOVE "    m: $shape\n    k: \"[1, 2, 3]\"\n    n: 4\n",
        "cases.csv:2: eager kernel number 1, Add: k, in '[1, 2, 3]': the list has 3 numbers, another one has 2");
}

/* No task of a published suite is without its kernels, and each kernel moves something in every case. */
static void test_every_shipped_task_lists_its_kernels(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task *tasks;
    int count, kernels = 0;
    assert_null(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    assert_int_equal(count, 212);
    for (int t = 0; t < count; t++) {
        assert_null(tasks[t].broken);
        if (!tasks[t].eager_count)
            fail_msg("%s/%s has no eager baseline", tasks[t].suite, tasks[t].name);
        kernels += tasks[t].eager_count;
        for (int c = 0; c < tasks[t].case_count; c++) {
            struct task_instance *instance;
            struct task_eager_traffic *traffic;
            assert_null(task_instance_shapes(&tasks[t], &tasks[t].cases[c], &instance));
            assert_null(task_eager_of_case(&arena, instance, &traffic));
            for (int k = 0; k < tasks[t].eager_count; k++)
                if (!(traffic[k].read + traffic[k].written > 0) || (tasks[t].eager[k].m && !(traffic[k].flops > 0)))
                    fail_msg("%s case %d: %s moves or multiplies nothing", tasks[t].name, tasks[t].cases[c].id,
                             tasks[t].eager[k].kernel);
            task_instance_free(instance);
        }
    }
    assert_true(kernels > count);
    arena_free(&arena);
}

int main(void)
{
    strcpy(directory, "/tmp/akgen-eager-XXXXXX");
    if (!mkdtemp(directory))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_and_operations_of_a_case),
        cmocka_unit_test(test_what_is_wrong_says_what_is_right),
        cmocka_unit_test(test_every_shipped_task_lists_its_kernels),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    struct arena arena = {0};
    unlink(arena_printf(&arena, "%s/task.yaml", directory));
    unlink(arena_printf(&arena, "%s/cases.csv", directory));
    rmdir(directory);
    arena_free(&arena);
    return failed;
}
