/* Which of two candidates is faster: a geometric mean over the same cases, whatever one of them leaves out. */
#include "eval/times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

enum { CASES = 4, MHZ = 1800 };

/* A pass whose cases take so many microseconds; below 0: hidden, 0: not known. */
static struct verdict pass_of(struct verdict_case *rows, const double *us)
{
    for (int i = 0; i < CASES; i++) {
        double time = us[i] < 0 ? -us[i] : us[i];
        rows[i] = (struct verdict_case){.id = i, .ok = true, .shape = "x[8]", .dtype = "float16", .hidden = us[i] < 0};
        rows[i].run.timing.model = (struct npu_timing){.known = time > 0,
                                                       .mhz = MHZ,
                                                       .cycles = time * MHZ,
                                                       .launch = MHZ,
                                                       .bound = i ? NPU_BOUND_HBM : NPU_BOUND_LAUNCH,
                                                       .bound_cycles = time * MHZ * 0.8};
    }
    return (struct verdict){.kind = AKGEN_VERDICT_PASS, .cases = rows, .case_count = CASES};
}

static bool read_times(struct arena *arena, const double *us, struct times *times)
{
    struct verdict verdict = pass_of(arena_alloc(arena, sizeof *verdict.cases * CASES), us);
    return times_of(arena, &verdict, times);
}

static void test_mean(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct times times;
    assert_true(read_times(&arena, (double[]){2, 4, 8, -1000}, &times));
    assert_int_equal(times.count, 3);
    assert_float_equal(times.mean_us, 4, 1e-9);
    assert_float_equal(times.speedup, 0, 0);
    assert_float_equal(times.cases[2].us, 8, 1e-9);
    assert_float_equal(times.cases[2].bound_us, 6.4, 1e-9);
    assert_string_equal(times.cases[0].bound, "launch");
    assert_float_equal(times_roofline(&times), 0.8, 1e-9);
    times.cases[1].shared = false; /* a pipe of its own: how near the kernel is says nothing of another kernel */
    assert_float_equal(times_roofline(&times), 0, 0);
    arena_free(&arena);
}

static void test_without_a_time(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct times times;
    assert_false(read_times(&arena, (double[]){2, 0, 8, -1000}, &times));
    assert_false(read_times(&arena, (double[]){-2, -4, -8, -9}, &times));
    struct verdict_case rows[CASES];
    struct verdict verdict = pass_of(rows, (double[]){1, 1, 1, 1});
    verdict.kind = AKGEN_VERDICT_WRONG;
    assert_false(times_of(&arena, &verdict, &times));
    arena_free(&arena);
}

static void test_which_is_faster(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct times before, after;
    assert_true(read_times(&arena, (double[]){2, 4, 8, -1}, &before));
    assert_true(read_times(&arena, (double[]){1, 4, 4, -100}, &after)); /* 2 x 1 x 2 times */
    assert_float_equal(times_ratio(&before, &after), 1.5874010519682, 1e-9);
    assert_true(times_faster(&before, &after));
    assert_false(times_faster(&after, &before));
    assert_false(times_faster(&before, &before));
    assert_true(read_times(&arena, (double[]){1, 8, 8, -1}, &after)); /* the same mean */
    assert_float_equal(times_ratio(&before, &after), 1, 1e-12);
    assert_true(read_times(&arena, (double[]){1, 4, 4, -1}, &after));
    after.speedup = 1.1; /* shorter by the mean of times, not by the speedup of docs/metrics.md */
    before.speedup = 1.2;
    assert_false(times_faster(&before, &after));
    after.speedup = 1.3;
    assert_true(times_faster(&before, &after));
    arena_free(&arena);
}

/* Neither one case less nor a smaller one is a way to be fast. */
static void test_other_cases(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct times before, after;
    assert_true(read_times(&arena, (double[]){2, 4, 8, -1}, &before));
    assert_true(read_times(&arena, (double[]){1, 1, -1, -1}, &after));
    assert_float_equal(times_ratio(&before, &after), 0, 0);
    assert_false(times_faster(&before, &after));
    assert_true(read_times(&arena, (double[]){1, 1, 1, -1}, &after));
    assert_true(times_faster(&before, &after));
    after.cases[2].reduced = true;
    assert_false(times_faster(&before, &after));
    after.cases[2].reduced = false;
    after.cases[2].shape = "x[4]";
    assert_false(times_faster(&before, &after));
    arena_free(&arena);
}

static void test_json(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct times before, after;
    assert_true(read_times(&arena, (double[]){2, 4, 8, -1}, &before));
    assert_true(read_times(&arena, (double[]){1, 2, 4, -1}, &after));
    json_t *json = times_compared_json(&before, &after);
    const json_t *row = json_array_get(json_object_get(json_object_get(json, "before"), "cases"), 1);
    assert_true(json_is_true(json_object_get(json, "modelled")));
    assert_float_equal(json_number_value(json_object_get(json, "times_as_fast")), 2, 1e-9);
    assert_float_equal(json_number_value(json_object_get(row, "us")), 4, 1e-9);
    assert_float_equal(json_number_value(json_object_get(row, "roofline")), 0.8, 1e-9);
    assert_string_equal(json_string_value(json_object_get(row, "bound")), "HBM");
    assert_true(json_is_null(json_object_get(json_object_get(json, "after"), "speedup")));
    json_decref(json);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_without_a_time),
        cmocka_unit_test(test_which_is_faster),
        cmocka_unit_test(test_other_cases),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
