/* Hidden cases: sizes, values, and what is asked for at the ends of a type. */
#include "task/expr/expr.h"
#include "task/task.h"
#include "task/task_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static void check(struct akgen_error *error)
{
    if (error)
        fail_msg("%s", error->message);
}

static struct task *task_of(const char *name)
{
    struct task *task = arena_alloc(&arena, sizeof *task);
    check(task_find(&arena, AKGEN_SOURCE_DIR, name, task));
    return task;
}

/* Cell `column` of the hidden case made of shown case number `row`. */
static const char *hidden_cell(const char *name, int row, enum task_variant variant, const char *column)
{
    const struct task *task = task_of(name);
    struct task_case hidden;
    assert_true(task_case_vary(&arena, task, &task->cases[row], variant, &hidden));
    assert_true(hidden.id >= 100000);
    int index = task_column_index(task, column);
    assert_true(index != TASK_NONE);
    return hidden.cells[index].text;
}

static void sizes_in_columns_follow(void **state)
{
    (void)state;
    assert_string_equal(hidden_cell("Sasum", 0, TASK_PRIME_SIZES, "input_shape"), "[31]"); /* [32], n 32 */
    assert_string_equal(hidden_cell("Sasum", 0, TASK_PRIME_SIZES, "n"), "31");
    assert_string_equal(hidden_cell("Sasum", 0, TASK_TAIL_SIZES, "n"), "33");
    assert_string_equal(hidden_cell("Ccopy", 1, TASK_PRIME_SIZES, "n"), "1703"); /* [16, 2048]: 13 * 131 */
    assert_string_equal(hidden_cell("Eye", 4, TASK_PRIME_SIZES, "num_rows"), "13");
    assert_string_equal(hidden_cell("Eye", 4, TASK_PRIME_SIZES, "num_columns"), "31");             /* 32 */
    assert_string_equal(hidden_cell("Arange", 0, TASK_PRIME_SIZES, "end"), "270");                 /* 8, 10, .. */
    assert_string_equal(hidden_cell("GroupNormSwish", 0, TASK_TAIL_SIZES, "gamma_shape"), "[24]"); /* 8 groups */
    assert_string_equal(hidden_cell("BasicMatmul", 0, TASK_PRIME_SIZES, "m"), "127");
}

static void hidden_cases_stay_small(void **state)
{
    (void)state;
    const struct task *task = task_of("multikernelbench/level1/Pooling/MaxPooling3d");
    struct task_case hidden;
    for (int variant = TASK_PRIME_SIZES; variant <= TASK_TAIL_SIZES; variant++) {
        assert_true(task_case_vary(&arena, task, &task->cases[0], (enum task_variant)variant, &hidden));
        assert_in_range(hidden.elements, 1000, 1 << 21);
    }
}

/* Every task has cases of sizes that it does not show, but for those whose sizes follow from nothing that may
 * change. */
static void every_task_has_hidden_sizes(void **state)
{
    (void)state;
    struct task *tasks;
    int count;
    check(task_load_all(&arena, AKGEN_SOURCE_DIR, &tasks, &count));
    assert_true(count >= 212);
    for (int i = 0; i < count; i++) {
        struct task_case hidden;
        bool prime = false, tail = false;
        for (int row = 0; row < tasks[i].case_count; row++) {
            prime |= task_case_vary(&arena, &tasks[i], &tasks[i].cases[row], TASK_PRIME_SIZES, &hidden);
            tail |= task_case_vary(&arena, &tasks[i], &tasks[i].cases[row], TASK_TAIL_SIZES, &hidden);
        }
        if (!prime || !tail)
            fail_msg("%s/%s has no hidden sizes", tasks[i].suite, tasks[i].name);
    }
}

static void count_values(const struct task_instance *instance, int input, int found[4])
{
    const struct task_tensor *x = &instance->inputs[input].tensors[0];
    memset(found, 0, sizeof(int) * 4);
    for (int64_t i = 0; i < x->elements; i++) {
        double value;
        task_read_double(x, i, 1, &value);
        found[0] += value == 0;
        found[1] += value != 0 && fabs(value) < 0x1p-126;
        found[2] += isinf(value);
        found[3] += isnan(value);
        assert_true(i < (x->elements + 1) / 2 || (isfinite(value) && fabs(value) > 0x1p-126));
    }
}

static void values_are_planted(void **state)
{
    (void)state;
    const struct task *task = task_of("AbsMath");
    struct task_case hidden;
    struct task_instance *instance;
    int row = 0, found[4];
    while (task->cases[row].elements < 1000 || strcmp(task->cases[row].cells[2].text, "float") != 0)
        row++;
    assert_true(task_case_vary(&arena, task, &task->cases[row], TASK_LIMIT_VALUES, &hidden));
    check(task_instance_make(task, &hidden, 1, false, &instance));
    count_values(instance, 0, found);
    assert_true(found[0] > 0 && found[1] > 0 && found[2] > 0 && found[3] == 0);
    task_instance_free(instance);
    assert_true(task_case_vary(&arena, task, &task->cases[row], TASK_NAN_VALUES, &hidden));
    check(task_instance_make(task, &hidden, 1, false, &instance));
    count_values(instance, 0, found);
    assert_true(found[0] == 0 && found[1] == 0 && found[2] == 0 && found[3] > 0);
    task_instance_free(instance);
}

/* Integers have no such values, so such cases have no hidden one. */
static void integers_have_no_ends(void **state)
{
    (void)state;
    const struct task *task = task_of("Neg");
    struct task_case hidden;
    for (int row = 0; row < task->case_count; row++) {
        bool floating = false;
        for (int i = 0; i < task->columns.count; i++)
            floating |= strstr(task->cases[row].cells[i].text, "float") != NULL;
        assert_int_equal(task_case_vary(&arena, task, &task->cases[row], TASK_NAN_VALUES, &hidden), floating);
    }
}

static void the_second_run_has_equal_elements(void **state)
{
    (void)state;
    const struct task *task = task_of("Equal");
    int equal[2] = {0};
    for (int other = 0; other < 2; other++) {
        struct task_instance *instance;
        check(task_instance_make(task, &task->cases[0], other ? 1 | TASK_OTHER_VALUES : 1, false, &instance));
        assert_true(task_is_float(instance->inputs[0].tensors[0].type));
        for (int64_t i = 0; i < instance->inputs[0].tensors[0].elements; i++) {
            double x, y;
            task_read_double(&instance->inputs[0].tensors[0], i, 1, &x);
            task_read_double(&instance->inputs[1].tensors[0], i, 1, &y);
            equal[other] += x == y;
        }
        task_instance_free(instance);
    }
    assert_int_equal(equal[0], 0);
    assert_true(equal[1] > 0);
}

/* Attributes of hidden cases are drawn from `strict`, so that nobody need take them for what the task shows; with the sizes that it shows
 * they stay, as a kernel without a host part reads none. */
static void attributes_change_in_hidden_cases(void **state)
{
    (void)state;
    const struct task *task = task_of("multikernelbench/level1/Activation/Elu");
    struct task_case hidden;
    struct task_instance *instance;
    assert_true(task_case_vary(&arena, task, &task->cases[2], TASK_PRIME_SIZES, &hidden));
    for (int seed = 0; seed < 4; seed++) {
        check(task_instance_make(task, &hidden, (uint64_t)seed, false, &instance));
        double alpha = json_real_value(instance->attrs[0]);
        assert_true(alpha >= 0.25 && alpha < 0.75);
        task_instance_free(instance);
        check(task_instance_make(task, &task->cases[2], (uint64_t)seed | TASK_OTHER_VALUES, false, &instance));
        assert_true(json_real_value(instance->attrs[0]) == 1);
        task_instance_free(instance);
    }
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_in_columns_follow),
        cmocka_unit_test(hidden_cases_stay_small),
        cmocka_unit_test(every_task_has_hidden_sizes),
        cmocka_unit_test(values_are_planted),
        cmocka_unit_test(integers_have_no_ends),
        cmocka_unit_test(the_second_run_has_equal_elements),
        cmocka_unit_test(attributes_change_in_hidden_cases),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
