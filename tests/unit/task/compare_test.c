/* The two ways of judging, on tensors small enough to reason about. */
/* test: builds=both */
#include "task/task.h"
#include "task/task_internal.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 64 };
/* A task with one output of COUNT elements, judged by `check`. */
struct bench {
    struct task task;
    struct task_param output;
    struct task_case row;
    struct task_instance instance;
    struct task_judging judging[2];
    struct task_tensor expected_tensor, actual_tensor;
    struct task_argument expected, actual;
    double expected_values[COUNT], actual_values[COUNT];
    struct task_mismatch result;
};

static struct task_param plain_output(const char *name)
{
    return (struct task_param){
        .name = name, .in_place = TASK_NONE, .points_into = TASK_NONE, .along = TASK_NONE, .made_of = TASK_NONE};
}

static void bench_init(struct bench *b, const char *check, enum akgen_dtype expected, enum akgen_dtype actual)
{
    struct arena arena = {0};
    const struct expr_scope scope = {.arena = &arena};
    const struct expr *rule;
    *b = (struct bench){.output = plain_output("y"), .judging = {{.depth = 1}, {.depth = 1}}};
    b->task = (struct task){.outputs = &b->output, .output_count = 1};
    b->instance = (struct task_instance){.task = &b->task, .task_case = &b->row, .judging = b->judging};
    assert_null(expr_parse(&arena, check, NULL, &rule));
    assert_null(task_check_make(rule, &scope, &b->instance.check));
    arena_free(&arena);
    b->expected_tensor = (struct task_tensor){.type = expected, .elements = COUNT, .values = b->expected_values};
    b->actual_tensor = (struct task_tensor){.type = actual, .elements = COUNT, .values = b->actual_values};
    b->expected = (struct task_argument){.tensors = &b->expected_tensor, .count = 1};
    b->actual = (struct task_argument){.tensors = &b->actual_tensor, .count = 1};
}

/* Puts one pair at element 5 and judges. */
static bool accepts(struct bench *b, enum task_profile profile, double expected, double actual)
{
    task_write_double(&b->expected_tensor, 5, 1, &expected);
    task_write_double(&b->actual_tensor, 5, 1, &actual);
    task_compare(&b->instance, profile, &b->expected, &b->actual, &b->result);
    return b->result.ok;
}

static void default_check_needs_both_errors(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_FLOAT, AKGEN_FLOAT);
    assert_true(accepts(&b, TASK_UPSTREAM, 0.5, 0.5009)); /* abs below 1e-3 */
    assert_true(accepts(&b, TASK_UPSTREAM, 100, 100.09)); /* rel below 1e-3 */
    assert_false(accepts(&b, TASK_UPSTREAM, 1.5, 1.502)); /* both above */
    assert_int_equal(b.result.index, 5);
    assert_int_equal(b.result.wrong, 1);
    assert_true(fabs(b.result.max_abs - 0.002) < 1e-6 && fabs(b.result.mean_abs - 0.002 / COUNT) < 1e-8);
    assert_string_equal(b.result.reason,
                        "y: element 5 is 1.50199997, expected 1.5 (16777 ulps of float32); 1 of 64 elements are wrong");
    assert_false(accepts(&b, TASK_UPSTREAM, INFINITY, INFINITY)); /* nothing infinite is accurate */
    assert_false(accepts(&b, TASK_UPSTREAM, 1, NAN));
    assert_int_equal(b.result.not_finite, 1);
}

/* One bfloat16 step from 0.25 on is more than 1e-3, so only the same bits pass; half subtracts in half. */
static void differences_round_in_the_tensors_type(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_BF16, AKGEN_BF16);
    assert_true(accepts(&b, TASK_UPSTREAM, 0.0625, 0.0625 + 0x1p-11));
    assert_false(accepts(&b, TASK_UPSTREAM, 0.5, 0.5 + 0x1p-8));
    bench_init(&b, "default", AKGEN_FLOAT16, AKGEN_FLOAT16);
    assert_false(accepts(&b, TASK_UPSTREAM, 65504, -65504)); /* the difference overflows half */
    assert_int_equal(b.result.not_finite, 1);
    bench_init(&b, "default", AKGEN_FLOAT, AKGEN_FLOAT16); /* a float32 module: torch widens the output */
    assert_false(accepts(&b, TASK_UPSTREAM, 1.6953125, 1.6972656));
    assert_true(accepts(&b, TASK_UPSTREAM, 2.001, 2.0019531));
}

static void integers_wrap_as_torch_does(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_UINT8, AKGEN_UINT8);
    assert_false(accepts(&b, TASK_UPSTREAM, 200, 201)); /* 255, relative 1.275 */
    assert_true(b.result.max_abs == 255);
    bench_init(&b, "default", AKGEN_INT32, AKGEN_INT32);
    assert_true(accepts(&b, TASK_UPSTREAM, 2000, 2001)); /* one in two thousand is within 1e-3 */
    assert_false(accepts(&b, TASK_STRICT, 2000, 2001));
    bench_init(&b, "default", AKGEN_BOOL, AKGEN_BOOL);
    assert_false(accepts(&b, TASK_UPSTREAM, 1, 0));
    assert_true(accepts(&b, TASK_UPSTREAM, 0, 0));
}

static void custom_checks_are_followed(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "abs_rel(1e-2, 1e-2)", AKGEN_FLOAT, AKGEN_FLOAT);
    assert_true(accepts(&b, TASK_UPSTREAM, 0.5, 0.509));
    assert_false(accepts(&b, TASK_UPSTREAM, 0.5, 0.511));
    bench_init(&b, "abs_rel_any(1e-2, 1e-2)", AKGEN_FLOAT, AKGEN_FLOAT); /* published: a comparison with nan is false */
    assert_true(accepts(&b, TASK_UPSTREAM, NAN, 1));
    assert_true(accepts(&b, TASK_UPSTREAM, INFINITY, 1)); /* inf / inf is nan */
    assert_false(accepts(&b, TASK_UPSTREAM, 1, INFINITY));
    assert_false(accepts(&b, TASK_UPSTREAM, 0.5, 0.511));
    bench_init(&b, "allclose(1e-2, 1e-2)", AKGEN_FLOAT, AKGEN_FLOAT);
    assert_true(accepts(&b, TASK_UPSTREAM, 1, 1.0201)); /* 0.0201 <= 0.01 + 0.01 * 1.0201: relative to the candidate */
    assert_false(accepts(&b, TASK_UPSTREAM, 1.0203, 1));
    assert_true(accepts(&b, TASK_UPSTREAM, INFINITY, INFINITY));
    assert_false(accepts(&b, TASK_UPSTREAM, 1, INFINITY));
    assert_false(accepts(&b, TASK_UPSTREAM, NAN, NAN));
    bench_init(&b, "rel_max1(1/512)", AKGEN_FLOAT, AKGEN_FLOAT16);
    assert_true(accepts(&b, TASK_UPSTREAM, 0.01, 0.01 + 0x1p-10));
    assert_false(accepts(&b, TASK_UPSTREAM, 0.01, 0.01 + 0x1p-8));
    assert_true(accepts(&b, TASK_UPSTREAM, 8, 8 + 0x1p-6));
    assert_true(accepts(&b, TASK_UPSTREAM, 1, NAN)); /* published: nan > limit is false. Strict refuses it: */
    bench_init(&b, "rel_max1(1/512)", AKGEN_DOUBLE, AKGEN_FLOAT16);
    assert_false(accepts(&b, TASK_STRICT, 1, NAN));
}

/* share(l): wrong only if more than that share of the elements is, by both measures. COUNT is 64. */
static void a_share_of_the_elements_may_be_wrong(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "share(1e-3)", AKGEN_INT8, AKGEN_INT8); /* 0.064 elements: none */
    assert_true(accepts(&b, TASK_UPSTREAM, 5, 5));
    assert_false(accepts(&b, TASK_UPSTREAM, 5, 6));
    assert_int_equal(b.result.wrong, 1);
    assert_false(accepts(&b, TASK_UPSTREAM, -128, 127)); /* the difference wraps: */
    assert_true(b.result.max_abs == 1);
    bench_init(&b, "share(2e-2)", AKGEN_FLOAT, AKGEN_FLOAT); /* 1.28 elements: one, and no limit on how wrong it is */
    assert_true(accepts(&b, TASK_UPSTREAM, 1, 2));
    assert_int_equal(b.result.wrong, 0);
    task_write_double(&b.actual_tensor, 6, 1, &(double){0.5});
    assert_false(accepts(&b, TASK_UPSTREAM, 1, 2));
    assert_int_equal(b.result.wrong, 2);
    assert_true(accepts(&b, TASK_UPSTREAM, 100, 100.5)); /* large against the limit, small against the value */
    assert_true(accepts(&b, TASK_UPSTREAM, NAN, 1));
}

/* Golden keeps the number that was rounded to an integer: near a tie both neighbours are right. */
static void strict_accepts_both_sides_of_a_tie(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_DOUBLE, AKGEN_INT8);
    assert_true(accepts(&b, TASK_STRICT, 2.49999, 2));
    assert_true(accepts(&b, TASK_STRICT, 2.49999, 3));
    assert_false(accepts(&b, TASK_STRICT, 2.4, 3));
    assert_false(accepts(&b, TASK_STRICT, 2.6, 2));
}

/* Below 2^-14 half numbers lie 2^-24 apart, however small the values are. */
static void strict_limits_know_the_resolution_of_half(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_DOUBLE, AKGEN_FLOAT16);
    assert_true(accepts(&b, TASK_STRICT, 20.4 * 0x1p-24, 20 * 0x1p-24));
    assert_false(accepts(&b, TASK_STRICT, 20.4 * 0x1p-24, 23 * 0x1p-24));
}

/* 1 - 0.99 in half: one unit of rounding of the terms is 5 % of the difference. */
static void strict_limits_follow_the_terms_of_a_sum(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_DOUBLE, AKGEN_FLOAT16);
    for (int j = 0; j < COUNT; j++) {
        task_write_double(&b.expected_tensor, j, 1, &(double){0.01});
        task_write_double(&b.actual_tensor, j, 1, &(double){0.01});
    }
    assert_false(accepts(&b, TASK_STRICT, 0.01, 0.01 + 0x1p-11));
    b.expected.terms = 1;
    assert_true(accepts(&b, TASK_STRICT, 0.01, 0.01 + 0x1p-11));
    assert_false(accepts(&b, TASK_STRICT, 0.01, 0.01 + 0x1p-6));
}

/* A complex difference counts by its modulus; a real expected value is held against the real part. */
static void complex_numbers_are_judged_by_modulus(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "abs_rel(1e-3, 1e-3)", AKGEN_COMPLEX64, AKGEN_COMPLEX64);
    b.expected_tensor.elements = b.actual_tensor.elements = COUNT / 2;
    assert_true(accepts(&b, TASK_UPSTREAM, 0.5, 0.5009));
    const double four = 4;
    task_write_double(&b.expected_tensor, 4, 1, &four); /* 4 + 0.5i: the other part counts in the modulus */
    task_write_double(&b.actual_tensor, 4, 1, &four);
    assert_true(accepts(&b, TASK_UPSTREAM, 0.5, 0.503));
    assert_false(accepts(&b, TASK_UPSTREAM, 0.5, 0.506));
    assert_false(accepts(&b, TASK_UPSTREAM, 0.5, NAN));
    bench_init(&b, "rel_max1(1/512)", AKGEN_FLOAT, AKGEN_COMPLEX64);
    b.expected_tensor.elements = b.actual_tensor.elements = COUNT / 2;
    const double modulus = 2, wrong = 7;
    task_write_double(&b.expected_tensor, 3, 1, &modulus);
    task_write_double(&b.actual_tensor, 6, 1, &modulus);
    task_write_double(&b.actual_tensor, 7, 1, &wrong); /* the imaginary part does not count */
    task_compare(&b.instance, TASK_UPSTREAM, &b.expected, &b.actual, &b.result);
    assert_true(b.result.ok);
    task_write_double(&b.actual_tensor, 6, 1, &wrong);
    task_compare(&b.instance, TASK_UPSTREAM, &b.expected, &b.actual, &b.result);
    assert_false(b.result.ok);
    assert_int_equal(b.result.index, 3);
}

static void positions_of_equal_values_are_equal(void **state)
{
    (void)state;
    float values[] = {5, 1, 9, 9, 9, 2};
    int32_t expected[] = {2, 3}, actual[] = {4, 2};
    struct task_tensor x = {.type = AKGEN_FLOAT, .rank = 1, .dims = {6}, .elements = 6, .values = values};
    struct task_tensor e = {.type = AKGEN_INT32, .rank = 1, .dims = {2}, .elements = 2, .values = expected}, a = e;
    a.values = actual;
    const int32_t cases[][4] = {{4, 2, 2, 3},  {3, 2, 2, 3}, {2, 3, 2, 3},   {2, 2, 2, 2},
                                {3, 3, 2, -1}, {0, 4, 0, 3}, {-1, 3, -1, 3}, {6, 3, 6, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(actual, cases[i], sizeof actual);
        struct task_tensor judged = task_forgive_ties(&x, -1, &e, &a);
        assert_memory_equal(judged.values, &cases[i][2], sizeof actual);
        free(judged.values);
    }
}

static void what_nearly_overflows_may(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_DOUBLE, AKGEN_FLOAT16);
    assert_true(accepts(&b, TASK_STRICT, 65530, 65504)); /* the largest half; rounding makes it infinite */
    assert_true(accepts(&b, TASK_STRICT, 65400, INFINITY));
    assert_false(accepts(&b, TASK_STRICT, 65400, -INFINITY));
    assert_false(accepts(&b, TASK_STRICT, 60000, INFINITY));
    assert_false(accepts(&b, TASK_STRICT, 1e6, 65504));
    assert_true(accepts(&b, TASK_STRICT, 1e6, INFINITY));
    assert_false(accepts(&b, TASK_STRICT, INFINITY, 65504));
}

static void what_no_operation_defines_is_not_judged(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_DOUBLE, AKGEN_FLOAT);
    assert_false(accepts(&b, TASK_STRICT, NAN, 3));
    assert_false(accepts(&b, TASK_STRICT, 3, NAN));
    b.row.variant = TASK_NAN_VALUES; /* inputs are nan: so are the results */
    assert_false(accepts(&b, TASK_STRICT, NAN, 3));
    b.row.variant = TASK_LIMIT_VALUES; /* inf - inf */
    assert_true(accepts(&b, TASK_STRICT, NAN, 3));
    assert_false(accepts(&b, TASK_STRICT, 3, NAN));
    assert_false(accepts(&b, TASK_STRICT, INFINITY, -INFINITY));
}

/* A float made of itself as half: 4 units of half's rounding, 2^-9 of twice the value at a scale of 1. */
static void strict_limits_know_what_a_result_is_made_of(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_DOUBLE, AKGEN_FLOAT);
    struct task_param outputs[2] = {b.output, plain_output("x")};
    struct task_argument expected[2] = {b.expected}, actual[2] = {b.actual};
    struct task_tensor stored = {.type = AKGEN_FLOAT16};
    actual[1] = (struct task_argument){.tensors = &stored, .count = 1};
    b.task.outputs = outputs;
    b.task.output_count = 2;
    static const double differences[] = {0x1p-13, 0x1p-8, 0x1p-7};
    for (int made = 0; made < 2; made++)
        for (int i = 0; i < 3; i++) {
            outputs[0].made_of = made ? 1 : TASK_NONE;
            for (int j = 0; j < COUNT; j++) {
                task_write_double(&b.expected_tensor, j, 1, &(double){1});
                task_write_double(&b.actual_tensor, j, 1, &(double){j == 5 ? 1 + differences[i] * 0.99 : 1});
            }
            task_compare(&b.instance, TASK_STRICT, expected, actual, &b.result);
            assert_int_equal(b.result.ok, i == 0 || (i == 1 && made));
        }
}

/* 64 terms: sqrt(64) / 4 times the limit of half, which is 2^-8 of twice the value at a scale of 1. */
static void strict_limits_know_sums_one_after_the_other(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "default", AKGEN_DOUBLE, AKGEN_FLOAT16);
    for (int j = 0; j < COUNT; j++) {
        task_write_double(&b.expected_tensor, j, 1, &(double){1});
        task_write_double(&b.actual_tensor, j, 1, &(double){1});
    }
    b.judging[0].depth = 64;
    assert_false(accepts(&b, TASK_STRICT, 1, 1 + 1.5 * 0x1p-7));
    b.output.serial = true;
    assert_true(accepts(&b, TASK_STRICT, 1, 1 + 1.5 * 0x1p-7));
    assert_true(accepts(&b, TASK_STRICT, 1, 1 + 1.9 * 0x1p-7));
    assert_false(accepts(&b, TASK_STRICT, 1, 1 + 2.1 * 0x1p-6));
}

static void strict_limits_follow_type_and_scale(void **state)
{
    (void)state;
    static const struct {
        enum akgen_dtype type;
        double accepted, refused; /* differences at a scale of 1 (all elements are 1) */
    } cases[] = {
        {AKGEN_FLOAT, 0x1p-14, 0x1p-12},
        {AKGEN_FLOAT16, 0x1p-8, 0x1p-6},
        {AKGEN_BF16, 0x1p-6, 0x1p-4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        bench_init(&b, "default", AKGEN_DOUBLE, cases[i].type);
        for (int j = 0; j < COUNT; j++) {
            task_write_double(&b.expected_tensor, j, 1, &(double){1});
            task_write_double(&b.actual_tensor, j, 1, &(double){1});
        }
        assert_true(accepts(&b, TASK_STRICT, 1, 1 + cases[i].accepted));
        assert_false(accepts(&b, TASK_STRICT, 1, 1 + cases[i].refused));
        assert_true(accepts(&b, TASK_STRICT, INFINITY, INFINITY));
        assert_true(accepts(&b, TASK_STRICT, NAN, NAN));
        assert_false(accepts(&b, TASK_STRICT, INFINITY, -INFINITY));
        assert_false(accepts(&b, TASK_STRICT, NAN, 1));
    }
    struct bench zeros;
    bench_init(&zeros, "default", AKGEN_DOUBLE, AKGEN_FLOAT);
    assert_false(accepts(&zeros, TASK_STRICT, 0, 1e-30)); /* zeros have no scale */
    assert_true(accepts(&zeros, TASK_STRICT, 1e-60, 0));  /* no float32 is that small */
    struct bench half;
    bench_init(&half, "default", AKGEN_DOUBLE, AKGEN_FLOAT16);
    assert_true(accepts(&half, TASK_STRICT, 70000, INFINITY)); /* overflows as half must */
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All finite numbers of a type of two bytes in order: neighbours are one ulp apart, however far from zero, but for 0 and -0, which are one
 * number; so are numbers of which the one lies as many places behind the other. */
static void ulps_count_the_numbers_between(void **state)
{
    (void)state;
    static double numbers[1 << 16];
    for (int type = 0; type < 2; type++) {
        int count = 0, places[1 << 10], last = 0;
        for (int bits = 0; bits < 1 << 16; bits++) {
            const uint16_t stored = (uint16_t)bits;
            half_t half;
            memcpy(&half, &stored, sizeof half);
            double value = type ? (double)bf16_to_float(stored) : (double)half;
            if (isfinite(value) && stored != 0x8000) /* -0 */
                numbers[count++] = value;
        }
        qsort(numbers, (size_t)count, sizeof *numbers, by_value);
        const enum akgen_dtype of = type ? AKGEN_BF16 : AKGEN_FLOAT16;
        for (int i = 0; i + 1 < count; i++)
            assert_true(task_ulps(of, numbers[i], numbers[i + 1]) == 1);
        for (int i = 7; i < count && last < 1 << 10; i += 61)
            places[last++] = i;
        for (int i = 0; i < last; i++)
            assert_true(task_ulps(of, numbers[places[i]], numbers[places[last - 1 - i]]) ==
                        abs(places[i] - places[last - 1 - i]));
        double zero = 0, beyond = type ? 0x1.ffp127 : 65520;
        assert_true(task_ulps(of, zero, -zero) == 0 && task_ulps(of, -zero, type ? 0x1p-133 : 0x1p-24) == 1);
        assert_true(task_ulps(of, type ? -0x1p-133 : -0x1p-24, type ? 0x1p-133 : 0x1p-24) == 2);
        assert_true(isinf(task_ulps(of, 1, NAN)) && isinf(task_ulps(of, -INFINITY, 1)));
        assert_true(isinf(task_ulps(of, INFINITY, INFINITY)) && isinf(task_ulps(of, 1, beyond)));
    }
    float at = -0x1.8p-148F;
    for (int steps = 0; steps < 100; steps++, at = nextafterf(at, INFINITY))
        assert_true(task_ulps(AKGEN_FLOAT, (double)-0x1.8p-148F, (double)at) == steps);
    assert_true(at > 0); /* went through zero */
    assert_true(task_ulps(AKGEN_FLOAT, (double)nextafterf(2, 0), (double)nextafterf(2, 3)) == 2);
    assert_true(task_ulps(AKGEN_FLOAT, 1, 1 + 0x1p-25) == 0); /* rounded first */
    assert_true(task_ulps(AKGEN_FLOAT16, 1.25, 1.2517) == 2 && task_ulps(AKGEN_FLOAT16, 1, 1 + 0x1.002p-11) == 1);
    assert_true(task_ulps(AKGEN_DOUBLE, 1, nextafter(nextafter(1, 2), 2)) == 2);
    assert_true(task_ulps(AKGEN_DOUBLE, -DBL_MAX, DBL_MAX) == 2 * (double)0x7fefffffffffffff);
    assert_true(task_ulps(AKGEN_INT32, -5, 7) == 12 && task_ulps(AKGEN_BOOL, 1, 0) == 1);
}

/* Several wrong elements: the first, and the one that is furthest off. */
static void a_mismatch_says_how_far_off_it_is(void **state)
{
    (void)state;
    static const struct {
        enum akgen_dtype type;
        double expected[3], actual[3];
        const char *distance;
        int64_t worst;
    } rows[] = {
        {AKGEN_FLOAT16, {1, 2, 4}, {1.0625, 2.5, 4.5}, "(64 ulps of float16); worst 256 ulps", 1},
        {AKGEN_FLOAT16, {1, 2, 4}, {1.0625, NAN, 4.5}, "(64 ulps of float16); worst not finite", 1},
        {AKGEN_FLOAT16, {1, 2, 4}, {1, INFINITY, 4}, "(not finite)", 1},
        {AKGEN_FLOAT16, {1, 70000, 4}, {1, 8, 4}, "(beyond the type)", 1},
        {AKGEN_BF16, {1, -0.5, 4}, {1, 0.5, 4}, "(32256 ulps of bfloat16)", 1},
        {AKGEN_FLOAT, {0, 0, 0}, {0x1p-126, 1, -1}, "(1.07e+09 ulps of float32); worst 1.07e+09 ulps", 1},
        {AKGEN_INT32, {7, 7, 7}, {7, 10, -5}, "(off by 3); worst off by 12", 2},
        {AKGEN_BOOL, {1, 1, 0}, {0, 1, 0}, "(off by 1)", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        bench_init(&b, "default", task_is_float(rows[i].type) ? AKGEN_DOUBLE : rows[i].type, rows[i].type);
        task_write_double(&b.expected_tensor, 5, 3, rows[i].expected);
        task_write_double(&b.actual_tensor, 5, 3, rows[i].actual);
        task_compare(&b.instance, TASK_STRICT, &b.expected, &b.actual, &b.result);
        assert_string_equal(b.result.distance, rows[i].distance);
        assert_non_null(strstr(b.result.reason, rows[i].distance));
        assert_int_equal(b.result.worst.index, 5 + rows[i].worst);
        assert_true(b.result.ulps <= b.result.worst.ulps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_check_needs_both_errors),
        cmocka_unit_test(differences_round_in_the_tensors_type),
        cmocka_unit_test(integers_wrap_as_torch_does),
        cmocka_unit_test(custom_checks_are_followed),
        cmocka_unit_test(a_share_of_the_elements_may_be_wrong),
        cmocka_unit_test(strict_accepts_both_sides_of_a_tie),
        cmocka_unit_test(strict_limits_know_the_resolution_of_half),
        cmocka_unit_test(complex_numbers_are_judged_by_modulus),
        cmocka_unit_test(positions_of_equal_values_are_equal),
        cmocka_unit_test(strict_limits_follow_type_and_scale),
        cmocka_unit_test(strict_limits_know_sums_one_after_the_other),
        cmocka_unit_test(strict_limits_know_what_a_result_is_made_of),
        cmocka_unit_test(what_nearly_overflows_may),
        cmocka_unit_test(what_no_operation_defines_is_not_judged),
        cmocka_unit_test(strict_limits_follow_the_terms_of_a_sum),
        cmocka_unit_test(ulps_count_the_numbers_between),
        cmocka_unit_test(a_mismatch_says_how_far_off_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
