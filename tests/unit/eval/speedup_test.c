/* Speedups in verdicts: eager beside each timed case, the mean over shown ones, none where something is not known. */
#include "eval/speedup.h"

#include "eval/baseline.h"
#include "eval/kernel_baseline.h"
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

/* A verdict whose cases take so many microseconds; below 0: hidden, 0: no time is known. */
enum { MHZ = 1000, MOST = 8 };
struct fixture {
    struct verdict verdict;
    struct verdict_case rows[MOST];
    struct eval_options options;
};

static void fill(struct fixture *f, enum akgen_verdict_kind kind, const struct task_case *of, const double *us,
                 int count)
{
    *f = (struct fixture){.options = {.soc = &npu_socs[0]}};
    for (int i = 0; i < count; i++) {
        const double time = fabs(us[i]);
        f->rows[i] =
            (struct verdict_case){.task_case = of, .id = i, .shape = "x[8]", .dtype = "float16", .hidden = us[i] < 0};
        f->rows[i].run.timing.model =
            (struct npu_timing){.known = time > 0, .mhz = MHZ, .cycles = time * MHZ, .bound_cycles = time * MHZ / 4};
    }
    f->verdict =
        (struct verdict){.kind = kind, .cases = f->rows, .case_count = count, .options = &f->options, .protocol = ""};
}

static void release(struct fixture *f)
{
    arena_free(&f->verdict.arena);
}

static double mean(const struct fixture *f, bool kernel, int launches)
{
    return speedup_mean(f->verdict.speedup.cases, f->verdict.case_count, kernel, launches);
}

static void test_a_verdict_that_passes(void **state)
{
    (void)state;
    struct task task;
    struct fixture f;
    load(&task);
    /* Case 0 twice, as if there were two: 10 us and 5 us; a hidden case and one without a time do not count. */
    fill(&f, AKGEN_VERDICT_PASS, task.cases, (double[]){10, 5, -1, 0}, 4);
    speedup_add(&task, NULL, &f.verdict);
    const struct speedup *speedup = &f.verdict.speedup;
    for (int i = 0; i < SPEEDUP_LAUNCHES; i++) {
        const double eager = 4.20 * speedup_launches[i] + moving;
        expect(speedup->cases[0].eager[i], eager, 6e-4);
        expect(mean(&f, false, i), (eager / 10 + eager / 5) / 2, 2e-4);
    }
    for (int i = 2; i < 4; i++)
        assert_true(speedup->cases[i].us == 0 && speedup->cases[i].eager[0] == 0);
    expect(speedup->over_baseline, (4.20 + moving) * 0.15, 2e-4);
    assert_true(speedup->over_baseline == round(speedup->over_baseline * 1e4) / 1e4);
    expect(speedup_mean_roofline(speedup->cases, 4), 0.25, 1e-12);
    assert_string_equal(speedup->baseline, "eager");
    json_t *json = verdict_to_json(&f.verdict);
    const json_t *cases = json_object_get(json, "cases");
    assert_true(json_number_value(json_array_get(json_object_get(json_array_get(cases, 1), "eager_us"), 2)) ==
                speedup->cases[1].eager[2]);
    for (size_t i = 2; i < 4; i++)
        assert_null(json_object_get(json_array_get(cases, i), "eager_us"));
    assert_true(json_number_value(json_object_get(json, "speedup")) == speedup->over_baseline);
    assert_string_equal(json_string_value(json_object_get(json, "baseline")), "eager");
    assert_null(json_object_get(json, "eager_speedup"));
    assert_null(json_object_get(json, "baseline_kernel"));
    json_decref(json);
    release(&f);
}

static void test_no_speedup_where_there_is_nothing_to_compare(void **state)
{
    (void)state;
    struct task task;
    struct fixture f;
    load(&task);
    fill(&f, AKGEN_VERDICT_WRONG, task.cases, (double[]){10}, 1);
    json_t *before = verdict_to_json(&f.verdict);
    speedup_add(&task, NULL, &f.verdict); /* a wrong candidate has times but no speedup */
    json_t *json = verdict_to_json(&f.verdict);
    assert_non_null(json_object_get(json_array_get(json_object_get(json, "cases"), 0), "eager_us"));
    assert_null(json_object_get(json, "speedup"));
    json_decref(json);
    release(&f);
    task.eager_count = 0; /* a task of one's own that lists no kernels */
    fill(&f, AKGEN_VERDICT_WRONG, task.cases, (double[]){10}, 1);
    speedup_add(&task, NULL, &f.verdict);
    assert_true(mean(&f, false, SPEEDUP_ONE_LAUNCH) == 0);
    json = verdict_to_json(&f.verdict);
    assert_int_equal(json_object_del(json, "baseline"), 0);
    assert_true(json_equal(json, before));
    json_decref(json);
    json_decref(before);
    release(&f);
}

/* Cases of 10, 5 and 4 us, of which a kernel takes 30, 5 and, at another size, 400; the fourth it has no time of. A hidden case does
 * not count. Only the first is one of the task's. */
static void against_a_kernel(struct fixture *f, const struct task *task, const struct kernel_times *kernel)
{
    fill(f, AKGEN_VERDICT_PASS, NULL, (double[]){10, 5, 4, 1, -1}, 5);
    f->rows[0].task_case = task->cases;
    f->rows[1].shape = "x[9]";
    f->rows[2].shape = "x[7]";
    f->rows[3].dtype = "float32";
    speedup_add(task, kernel, &f->verdict);
}

static void test_a_kernel_as_the_baseline(void **state)
{
    (void)state;
    struct task task;
    struct fixture f;
    struct kernel_time times[] = {{0, "x[8]", "float16", 30},
                                  {1, "x[9]", "float16", 5},
                                  {2, "x[700]", "float16", 400},
                                  {4, "x[8]", "float16", 9}};
    struct kernel_times kernel = {.baseline = "dir:k", .judged = true, .hash = "abc", .cases = times, .case_count = 4};
    load(&task);
    against_a_kernel(&f, &task, &kernel);
    const struct speedup *speedup = &f.verdict.speedup;
    assert_true(speedup->cases[0].kernel == 30);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) /* a kernel is charged its own launch */
        expect(mean(&f, true, launches), (3 + 1) / 2.0, 1e-12);
    expect(speedup->over_baseline, 2, 1e-12);
    expect(speedup_of_case(&speedup->cases[0], true, SPEEDUP_ONE_LAUNCH), 3, 1e-12);
    /* Eager of case 0, whose sizes the task has and no other of these cases, is still told. */
    expect(speedup->over_eager, (4.20 + moving) / 10, 2e-4);
    json_t *json = verdict_to_json(&f.verdict);
    const json_t *cases = json_object_get(json, "cases");
    assert_true(json_number_value(json_object_get(json_array_get(cases, 0), "baseline_us")) == 30);
    for (size_t i = 2; i < 5; i++)
        assert_null(json_object_get(json_array_get(cases, i), "baseline_us"));
    assert_true(json_number_value(json_object_get(json, "eager_speedup")) == speedup->over_eager);
    assert_string_equal(json_string_value(json_object_get(json, "baseline")), "dir:k");
    json_t *said = json_loads("{\"candidate\": \"abc\", \"verdict\": \"pass\", \"lack\": null}", 0, NULL);
    assert_true(json_equal(json_object_get(json, "baseline_kernel"), said));
    json_decref(said);
    json_decref(json);
    release(&f);
}

/* One that does not pass is no baseline: nothing is faster than it, whatever times it has. */
static void test_a_kernel_that_is_none(void **state)
{
    (void)state;
    struct task task;
    struct fixture f;
    struct kernel_time times[] = {{0, "x[8]", "float16", 30}};
    struct kernel_times kernel = {.baseline = "dir:k",
                                  .judged = true,
                                  .kind = AKGEN_VERDICT_FAULT,
                                  .lack = "fault: x",
                                  .cases = times,
                                  .case_count = 1};
    load(&task);
    against_a_kernel(&f, &task, &kernel);
    assert_true(isnan(f.verdict.speedup.over_baseline) && mean(&f, true, SPEEDUP_ONE_LAUNCH) == 0);
    assert_true(f.verdict.speedup.over_eager > 0);
    json_t *json = verdict_to_json(&f.verdict);
    const json_t *said = json_object_get(json, "baseline_kernel");
    assert_null(json_object_get(json, "speedup"));
    assert_string_equal(json_string_value(json_object_get(said, "verdict")), "fault");
    assert_string_equal(json_string_value(json_object_get(said, "lack")), "fault: x");
    json_decref(json);
    release(&f);
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
        struct fixture f;
        fill(&f, AKGEN_VERDICT_PASS, task.cases, (double[]){1}, 1);
        f.rows[0].reduced = reduced;
        speedup_add(&task, NULL, &f.verdict);
        us[reduced] = mean(&f, false, SPEEDUP_ONE_LAUNCH);
        release(&f);
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
