/* The published figures come out of the published counts. */
#include "runs/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TASKS = 54, N = 100, CRAFT = 52 };

/* C(n, k) in long double, for the definition written out. */
static long double choose(int n, int k)
{
    long double value = 1;
    if (k > n)
        return 0;
    for (int i = 1; i <= k; i++)
        value = value * (n - k + i) / i;
    return value;
}

static void test_pass_at_k_is_its_definition(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n++)
        for (int c = 0; c <= n; c++)
            for (int k = 1; k <= n; k++) {
                double expected = (double)(1 - choose(n - c, k) / choose(n, k));
                assert_true(fabs(metrics_pass_at_k(n, c, k) - expected) < 1e-12);
            }
    assert_true(isnan(metrics_pass_at_k(5, 1, 6)));
    assert_true(isnan(metrics_pass_at_k(5, 6, 1)));
    assert_true(isnan(metrics_pass_at_k(5, 1, 0)));
}

/* Row of Table 2: successes of 100 samples a task, and tasks with at least one, per level of 36, 12 and 6 tasks. */
struct table_row {
    int compiled[3], passed[3], with_compile[3], with_pass[3];
    const char *cr_at_1, *er_at_1, *cr_at_100, *er_at_100;
};
static const struct table_row table2[] = {
    {{1371, 0, 11}, {626, 0, 0}, {27, 0, 3}, {24, 0, 0}, "25.59", "11.59", "55.56", "44.44"},
    {{3054, 726, 102}, {1378, 96, 1}, {36, 12, 6}, {34, 9, 1}, "71.89", "27.31", "100.00", "81.48"},
    {{2958, 753, 88}, {1558, 171, 1}, {36, 12, 6}, {36, 11, 1}, "70.35", "32.04", "100.00", "88.89"},
};

/* Spreads `total` successes over the first `with` of a level's tasks, at most N each. */
static int share(int total, int with, int index)
{
    return index < with ? total / with + (index < total % with) : 0;
}

static void fill(struct metrics_task *tasks, const struct table_row *row)
{
    static const int sizes[3] = {36, 12, 6};
    int at = 0;
    for (int level = 0; level < 3; level++)
        for (int i = 0; i < sizes[level]; i++)
            tasks[at++] = (struct metrics_task){
                .name = "task",
                .level = level + 1,
                .category = "Math",
                .samples = N,
                .compiled = share(row->compiled[level], row->with_compile[level], i),
                .passed = share(row->passed[level], row->with_pass[level], i),
            };
}

static void assert_percent(double value, const char *expected)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f", 100 * value);
    assert_string_equal(text, expected);
}

static void test_table_2_of_ascendkernelgen(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof table2 / sizeof *table2; r++) {
        struct metrics_task tasks[TASKS];
        fill(tasks, &table2[r]);
        assert_percent(metrics_rate(tasks, TASKS, METRICS_COMPILE, 1, 0, NULL).value, table2[r].cr_at_1);
        assert_percent(metrics_rate(tasks, TASKS, METRICS_EXECUTE, 1, 0, NULL).value, table2[r].er_at_1);
        assert_percent(metrics_rate(tasks, TASKS, METRICS_COMPILE, N, 0, NULL).value, table2[r].cr_at_100);
        assert_percent(metrics_rate(tasks, TASKS, METRICS_EXECUTE, N, 0, NULL).value, table2[r].er_at_100);
        /* These are the paper's 54 tasks: the mean weighted 36:12:6 is the mean over tasks. */
        assert_percent(metrics_weighted(tasks, TASKS, METRICS_EXECUTE, 1), table2[r].er_at_1);
    }
}

static void test_intervals_hold_the_mean_and_shrink(void **state)
{
    (void)state;
    struct metrics_task tasks[TASKS];
    fill(tasks, &table2[2]);
    struct metrics_mean all = metrics_rate(tasks, TASKS, METRICS_EXECUTE, 1, 0, NULL);
    struct metrics_mean level2 = metrics_rate(tasks, TASKS, METRICS_EXECUTE, 1, 2, NULL);
    assert_int_equal(all.tasks, 54);
    assert_int_equal(level2.tasks, 12);
    assert_true(all.low < all.value && all.value < all.high);
    struct metrics_mean same = metrics_rate(tasks, TASKS, METRICS_EXECUTE, 1, 0, NULL);
    assert_true(same.low == all.low && same.high == all.high);
}

/* An answer that is not there is wrong: one more than there are of any task changes pass@k to the share of tasks with a right one. */
static void test_missing_answers_are_wrong(void **state)
{
    (void)state;
    struct metrics_task tasks[TASKS];
    fill(tasks, &table2[2]);
    assert_percent(metrics_rate(tasks, TASKS, METRICS_EXECUTE, N + 1, 0, NULL).value, table2[2].er_at_100);
    /* Of four tasks one has two answers, one right; one has one, which is right; of two there is none, one in ten planned. */
    const struct metrics_task four[] = {{.level = 1, .samples = 2, .passed = 1},
                                        {.level = 1, .samples = 1, .passed = 1},
                                        {.level = 1},
                                        {.level = 1, .missing = 10}};
    assert_int_equal(metrics_rate(four, 4, METRICS_EXECUTE, 2, 0, NULL).tasks, 4);
    assert_true(metrics_rate(four, 4, METRICS_EXECUTE, 2, 0, NULL).value == 2 / 4.0);
    assert_true(metrics_rate(four, 4, METRICS_EXECUTE, 1, 0, NULL).value == 1.5 / 4);
    assert_true(metrics_weighted(four, 4, METRICS_EXECUTE, 2) == 2 / 4.0);
    assert_int_equal(metrics_samples(&four[3], 5), 10);
    /* One right of ten that were to be, nine of which did not come: 1 - C(9, 5) / C(10, 5). */
    const struct metrics_task stopped = {.level = 1, .samples = 1, .passed = 1, .missing = 9};
    assert_true(fabs(metrics_rate(&stopped, 1, METRICS_EXECUTE, 5, 0, NULL).value - 0.5) < 1e-12);
    /* Samples that are nobody's mistake are not made wrong: of three, two excluded, there is no pass@2. */
    const struct metrics_task excluded = {.level = 1, .samples = 1, .passed = 1, .excluded = 2};
    assert_int_equal(metrics_rate(&excluded, 1, METRICS_EXECUTE, 2, 0, NULL).tasks, 0);
    assert_true(metrics_rate(&excluded, 1, METRICS_EXECUTE, 1, 0, NULL).value == 1);
    /* NPUKernelBench's code divides by the samples that were to be. */
    assert_true(fabs(metrics_score_coded(&stopped, 1) - 0.2 * 10) < 1e-12);
}

static void test_ascendcraft_shares(void **state)
{
    (void)state;
    /* 52 tasks: 51 compile, 47 are right, of these 43, 30 and 24 reach 0.2, 0.8 and 1.0 of the baseline's speed. */
    static const double slow = 0.1, fifth = 0.2, most = 0.8, equal = 1.0;
    struct metrics_task tasks[CRAFT] = {0};
    for (int i = 0; i < CRAFT; i++) {
        tasks[i].samples = 1;
        tasks[i].compiled = i < 51;
        tasks[i].passed = i < 47;
        tasks[i].speedups = i < 24 ? &equal : i < 30 ? &most : i < 43 ? &fifth : i < 47 ? &slow : NULL;
    }
    assert_percent(metrics_comp_at(tasks, CRAFT), "98.08");
    assert_percent(metrics_passed_at(tasks, CRAFT), "90.38");
    assert_percent(metrics_fast(tasks, CRAFT, 0.2), "82.69");
    assert_percent(metrics_fast(tasks, CRAFT, 0.8), "57.69");
    assert_percent(metrics_fast(tasks, CRAFT, 1.0), "46.15");
    /* The best of a task's right samples counts, one without a time does not. */
    static const double two[] = {0.5, 2, 0}, none[] = {0, 0};
    const struct metrics_task three[] = {{.samples = 3, .passed = 3, .speedups = two},
                                         {.samples = 2, .passed = 2, .speedups = none},
                                         {.samples = 1},
                                         {.samples = 1, .passed = 1, .speedups = &most}};
    int timed;
    assert_true(fabs(metrics_speedup(three, 4, &timed) - sqrt(2 * 0.8)) < 1e-12);
    assert_int_equal(timed, 2);
    for (int i = 0; i < CRAFT; i++)
        tasks[i].speedups = NULL;
    assert_true(isnan(metrics_fast(tasks, CRAFT, 1.0)));
    assert_true(isnan(metrics_speedup(tasks, CRAFT, &timed)));
}

static void test_the_two_scores_of_npukernelbench(void **state)
{
    (void)state;
    /* Level 1: a task with 3 of 4 cases right (so no sample passes) and one that passes; level 2: one that passes. */
    const struct metrics_task tasks[] = {
        {.level = 1, .samples = 1, .compiled = 1, .passed = 0, .cases = 4, .cases_passed = 3},
        {.level = 1, .samples = 1, .compiled = 1, .passed = 1, .cases = 5, .cases_passed = 5},
        {.level = 2, .samples = 1, .compiled = 1, .passed = 1, .cases = 2, .cases_passed = 2},
    };
    assert_true(fabs(metrics_score_documented(tasks, 3) - (0.2 * 87.5 + 0.3 * 100)) < 1e-9);
    assert_true(fabs(metrics_score_coded(tasks, 3) - (0.2 * 50 + 0.3 * 100)) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass_at_k_is_its_definition),
        cmocka_unit_test(test_table_2_of_ascendkernelgen),
        cmocka_unit_test(test_intervals_hold_the_mean_and_shrink),
        cmocka_unit_test(test_missing_answers_are_wrong),
        cmocka_unit_test(test_ascendcraft_shares),
        cmocka_unit_test(test_the_two_scores_of_npukernelbench),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
