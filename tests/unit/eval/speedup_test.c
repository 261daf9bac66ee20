/* Speedups in verdicts: eager beside each timed case, the mean over shown ones, none where something is not known. */
#include "eval/speedup.h"

#include "eval/baseline.h"
#include "toolchain/toolchain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;

static void load(struct task *task)
{
    assert_null(task_find(&arena, toolchain_home(), "multikernelbench/level1/Activation/Sigmoid", task));
    assert_int_equal(task->eager_count, 1);
}

static void expect(double actual, double expected, double error)
{
    if (!(fabs(actual - expected) <= error))
        fail_msg("%.12g, expected %.12g", actual, expected);
}

/* Eager's Sigmoid of case 0, [16, 16384] float32: 2 MiB at 0.327 of 5 TB/s behind a launch of 4.20 us. */
static const double moving = 2097152 / (5e6 * 0.327);

static void test_a_verdict_that_passes(void **state)
{
    (void)state;
    struct task task;
    load(&task);
    /* Case 0 twice, as if there were two: 10 us and 5 us; a hidden case and one without a time do not count. */
    json_t *verdict = json_loads("{\"verdict\": \"pass\", \"cases\": ["
                                 "{\"case\": 0, \"hidden\": false, \"reduced\": false, \"timing\": {\"us\": 10}},"
                                 "{\"case\": 0, \"hidden\": false, \"reduced\": false, \"timing\": {\"us\": 5}},"
                                 "{\"case\": 100000, \"hidden\": true, \"reduced\": false, \"timing\": {\"us\": 1}},"
                                 "{\"case\": 0, \"hidden\": false, \"reduced\": false, \"timing\": null}]}",
                                 0, NULL);
    assert_non_null(verdict);
    speedup_add(&task, NULL, verdict);
    const json_t *cases = json_object_get(verdict, "cases");
    for (int i = 0; i < 3; i++) {
        const json_t *us = json_array_get(json_object_get(json_array_get(cases, 0), "eager_us"), (size_t)i);
        double eager = 4.20 * speedup_launches[i] + moving;
        expect(json_number_value(us), eager, 6e-4);
        expect(speedup_of(verdict, i), (eager / 10 + eager / 5) / 2, 2e-4);
    }
    assert_null(json_object_get(json_array_get(cases, 2), "eager_us"));
    assert_null(json_object_get(json_array_get(cases, 3), "eager_us"));
    expect(json_number_value(json_object_get(verdict, "speedup")), (4.20 + moving) * 0.15, 2e-4);
    assert_string_equal(json_string_value(json_object_get(verdict, "baseline")), "eager");
    assert_null(json_object_get(verdict, "baseline_kernel"));
    json_decref(verdict);
}

static void test_no_speedup_where_there_is_nothing_to_compare(void **state)
{
    (void)state;
    struct task task;
    load(&task);
    const char *wrong =
        "{\"verdict\": \"wrong\", \"cases\": [{\"case\": 0, \"hidden\": false, \"timing\": {\"us\": 10}}]}";
    json_t *verdict = json_loads(wrong, 0, NULL);
    speedup_add(&task, NULL, verdict); /* a wrong candidate has times but no speedup */
    assert_non_null(json_object_get(json_array_get(json_object_get(verdict, "cases"), 0), "eager_us"));
    assert_null(json_object_get(verdict, "speedup"));
    json_decref(verdict);
    task.eager_count = 0; /* a task of one's own that lists no kernels */
    verdict = json_loads(wrong, 0, NULL);
    speedup_add(&task, NULL, verdict);
    speedup_add(NULL, NULL, verdict);
    json_t *before = json_loads(wrong, 0, NULL);
    assert_int_equal(json_object_del(verdict, "baseline"), 0);
    assert_true(json_equal(verdict, before));
    assert_true(speedup_of(verdict, SPEEDUP_ONE_LAUNCH) == 0);
    json_decref(verdict);
    json_decref(before);
}

/* Cases of 10, 5 and 4 us, of which a kernel takes 30, 5 and, at another size, 400; the fourth it has no time of. A hidden case does
 * not count. */
static const char against_a_kernel[] = "{\"verdict\": \"pass\", \"cases\": ["
                                       "{\"case\": 0, \"hidden\": false, \"reduced\": false, \"shape\": \"x[8]\", "
                                       "\"dtype\": \"float16\", \"timing\": {\"us\": 10}},"
                                       "{\"case\": 1001, \"hidden\": false, \"reduced\": false, \"shape\": \"x[9]\", "
                                       "\"dtype\": \"float16\", \"timing\": {\"us\": 5}},"
                                       "{\"case\": 1002, \"hidden\": false, \"reduced\": false, \"shape\": \"x[7]\", "
                                       "\"dtype\": \"float16\", \"timing\": {\"us\": 4}},"
                                       "{\"case\": 1003, \"hidden\": false, \"reduced\": false, \"shape\": \"x[8]\", "
                                       "\"dtype\": \"float32\", \"timing\": {\"us\": 1}},"
                                       "{\"case\": 0, \"hidden\": true, \"reduced\": false, \"shape\": \"x[8]\", "
                                       "\"dtype\": \"float16\", \"timing\": {\"us\": 1}}]}";

static void test_a_kernel_as_the_baseline(void **state)
{
    (void)state;
    struct task task;
    struct kernel_time times[] = {
        {0, "x[8]", "float16", 30}, {1001, "x[9]", "float16", 5}, {1002, "x[700]", "float16", 400}};
    struct kernel_times kernel = {.baseline = "dir:k", .judged = true, .hash = "abc", .cases = times, .case_count = 3};
    load(&task);
    json_t *verdict = json_loads(against_a_kernel, 0, NULL);
    assert_non_null(verdict);
    speedup_add(&task, &kernel, verdict);
    const json_t *cases = json_object_get(verdict, "cases");
    assert_true(json_number_value(json_object_get(json_array_get(cases, 0), "baseline_us")) == 30);
    for (size_t i = 2; i < 5; i++)
        assert_null(json_object_get(json_array_get(cases, i), "baseline_us"));
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) /* a kernel is charged its own launch */
        expect(speedup_of(verdict, launches), (3 + 1) / 2.0, 1e-12);
    expect(json_number_value(json_object_get(verdict, "speedup")), 2, 1e-12);
    expect(speedup_of_case(json_array_get(cases, 0), true, SPEEDUP_ONE_LAUNCH), 3, 1e-12);
    /* Eager of case 0, whose sizes the task has and no other of these cases, is still told. */
    expect(json_number_value(json_object_get(verdict, "eager_speedup")), (4.20 + moving) / 10, 2e-4);
    assert_string_equal(json_string_value(json_object_get(verdict, "baseline")), "dir:k");
    json_t *said = json_loads("{\"candidate\": \"abc\", \"verdict\": \"pass\", \"lack\": null}", 0, NULL);
    assert_true(json_equal(json_object_get(verdict, "baseline_kernel"), said));
    json_decref(said);
    json_decref(verdict);
}

/* One that does not pass is no baseline: nothing is faster than it, whatever times it has. */
static void test_a_kernel_that_is_none(void **state)
{
    (void)state;
    struct task task;
    struct kernel_time times[] = {{0, "x[8]", "float16", 30}};
    struct kernel_times kernel = {.baseline = "dir:k",
                                  .judged = true,
                                  .kind = AKGEN_VERDICT_FAULT,
                                  .lack = "fault: x",
                                  .cases = times,
                                  .case_count = 1};
    load(&task);
    json_t *verdict = json_loads(against_a_kernel, 0, NULL);
    speedup_add(&task, &kernel, verdict);
    assert_null(json_object_get(verdict, "speedup"));
    assert_true(speedup_of(verdict, SPEEDUP_ONE_LAUNCH) == 0);
    assert_true(json_number_value(json_object_get(verdict, "eager_speedup")) > 0);
    const json_t *said = json_object_get(verdict, "baseline_kernel");
    assert_string_equal(json_string_value(json_object_get(said, "verdict")), "fault");
    assert_string_equal(json_string_value(json_object_get(said, "lack")), "fault: x");
    json_decref(verdict);
}

/* A giant case is compared as it ran: with eager on the smaller sizes. */
static void test_a_reduced_case(void **state)
{
    (void)state;
    struct task task;
    assert_null(task_find(&arena, toolchain_home(), "multikernelbench/level1/Normalization/FrobeniusNorm", &task));
    assert_true(task.cases[0].elements > TASK_GIANT);
    double us[2];
    for (int reduced = 0; reduced < 2; reduced++) {
        json_t *verdict = json_pack("{s:s, s:[{s:i, s:b, s:{s:f}}]}", "verdict", "pass", "cases", "case", 0, "reduced",
                                    reduced, "timing", "us", 1.0);
        speedup_add(&task, NULL, verdict);
        us[reduced] = speedup_of(verdict, SPEEDUP_ONE_LAUNCH);
        json_decref(verdict);
    }
    struct task_instance *smaller;
    assert_null(task_instance_smaller(&task, &task.cases[0], &smaller));
    expect(us[1], baseline_us(smaller, 1), 6e-4);
    assert_true(us[1] > 0 && us[1] < us[0] / 4);
    task_instance_free(smaller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_verdict_that_passes),
        cmocka_unit_test(test_no_speedup_where_there_is_nothing_to_compare),
        cmocka_unit_test(test_a_kernel_as_the_baseline),
        cmocka_unit_test(test_a_kernel_that_is_none),
        cmocka_unit_test(test_a_reduced_case),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
