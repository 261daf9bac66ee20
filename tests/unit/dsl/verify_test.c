/* Translation validation: which outputs count as those that the interpreter computes, and what is told of others. */
#include "dsl/dsl.h"
#include "dsl/verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS = 4 };
static struct arena arena;

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct task_argument *argument_of(enum akgen_dtype type, const void *values)
{
    struct task_tensor *tensor = arena_alloc(&arena, sizeof *tensor);
    *tensor = (struct task_tensor){
        .type = type, .rank = 1, .dims = {ELEMENTS}, .elements = ELEMENTS, .values = (void *)values};
    struct task_argument *argument = arena_alloc(&arena, sizeof *argument);
    *argument = (struct task_argument){.tensors = tensor, .count = 1};
    return argument;
}

/* Compares what a machine left with what the interpreter computes; `moved`: what it computes with its approximate values
 * moved, NULL if it has none. */
static struct dsl_difference compare(enum akgen_dtype type, const void *computed, const void *moved, const void *actual,
                                     const struct task_argument *lengths)
{
    struct task_param output = {.name = "y", .in_place = TASK_NONE};
    const struct task task = {.outputs = &output, .output_count = 1};
    struct task_judging judging = {.by = {true, true}, .depth = 1};
    const struct task_instance instance = {.task = &task, .judging = &judging};
    struct dsl_expected expected = {.ran = true, .approximate = moved, .outputs = argument_of(type, computed)};
    for (int i = 0; moved && i < DSL_NUDGES; i++)
        expected.nudged[expected.nudges++] = argument_of(type, i == 1 ? moved : computed);
    return dsl_compare(&instance, &expected, lengths, argument_of(type, actual));
}

static void test_exact_programs_bit_by_bit(void **state)
{
    (void)state;
    const float computed[ELEMENTS] = {1, NAN, -INFINITY, 0}, same[ELEMENTS] = {1, -NAN, -INFINITY, -0.0F};
    const float last_bit[ELEMENTS] = {1 + 0x1p-23F, NAN, -INFINITY, 0}, other[ELEMENTS] = {1, 7, INFINITY, 0};
    assert_int_equal(compare(AKGEN_FLOAT, computed, NULL, same, NULL).elements, 0);
    assert_int_equal(compare(AKGEN_FLOAT, computed, NULL, last_bit, NULL).elements, 1);
    struct dsl_difference found = compare(AKGEN_FLOAT, computed, NULL, other, NULL);
    assert_int_equal(found.elements, 2);
    assert_int_equal(found.index, 1);
    assert_true(found.actual == 7 && isnan(found.expected) && found.allowed == 0);
}

static void test_integers_bit_by_bit(void **state)
{
    (void)state;
    const int64_t computed[ELEMENTS] = {INT64_MAX, 2, 3, 4}, actual[ELEMENTS] = {INT64_MAX - 1, 2, 3, 5};
    const int64_t moved[ELEMENTS] = {INT64_MAX, 2, 3, 4};
    const bool truths[ELEMENTS] = {true, false, true, true}, others[ELEMENTS] = {true, true, true, true};
    assert_int_equal(compare(AKGEN_INT64, computed, NULL, actual, NULL).elements, 2);
    assert_int_equal(compare(AKGEN_INT64, computed, moved, actual, NULL).elements, 2);
    assert_int_equal(compare(AKGEN_BOOL, truths, NULL, others, NULL).index, 1);
}

/* What the moves change by 2^-20, a machine may change by four times that, and by two units of float32, one of float16. */
static void test_approximate_programs_as_far_as_rounding_carries(void **state)
{
    (void)state;
    const float computed[ELEMENTS] = {1, 1000, 1, 1}, moved[ELEMENTS] = {1 + 0x1p-20F, 1000, 1, INFINITY};
    const float near[ELEMENTS] = {1 + 0x1p-18F, nextafterf(1000, 0), 1 - 0x1p-22F, 1e30F};
    const float far[ELEMENTS] = {1 + 0x1p-18F + 0x1p-21F, 1000.001F, 1 + 0x1p-21F, 1};
    assert_int_equal(compare(AKGEN_FLOAT, computed, moved, near, NULL).elements, 0);
    struct dsl_difference found = compare(AKGEN_FLOAT, computed, moved, far, NULL);
    assert_int_equal(found.elements, 3);
    assert_int_equal(found.index, 0);
    assert_true(found.allowed > 0x1p-18 && found.allowed < 0x1p-18 + 0x1p-21);
    const float nothing[ELEMENTS] = {1, 1000, 1, NAN};
    assert_int_equal(compare(AKGEN_FLOAT, computed, computed, nothing, NULL).elements, 1);
    const float unknown[ELEMENTS] = {1, 1000, 1, NAN},
                known[ELEMENTS] = {1, 1000, 1, 2}; /* 0 / 0, of a 0 that may be none */
    assert_int_equal(compare(AKGEN_FLOAT, unknown, known, computed, NULL).elements, 0);
    assert_int_equal(compare(AKGEN_FLOAT, unknown, unknown, computed, NULL).elements, 1);
    const half_t halves[ELEMENTS] = {1, 2, 3, 4}, unit[ELEMENTS] = {(half_t)(1 + 0x1p-10F), 2, 3, 4},
                 units[ELEMENTS] = {(half_t)(1 + 0x1p-9F), 2, 3, 4};
    assert_int_equal(compare(AKGEN_FLOAT16, halves, halves, unit, NULL).elements, 0);
    assert_int_equal(compare(AKGEN_FLOAT16, halves, halves, units, NULL).elements, 1);
}

static void test_as_far_as_the_result_goes(void **state)
{
    (void)state;
    const int32_t computed[ELEMENTS] = {1, 2, 0, 0}, actual[ELEMENTS] = {1, 2, 99, 99};
    struct task_argument *lengths = argument_of(AKGEN_INT32, computed);
    lengths->tensors->dims[0] = lengths->tensors->elements = 2;
    assert_int_equal(compare(AKGEN_INT32, computed, NULL, actual, lengths).elements, 0);
    assert_int_equal(compare(AKGEN_INT32, computed, NULL, actual, NULL).elements, 2);
}

/* y = f(x) for every case of Math/Sqrt. */
static const char *program_of(const char *operation)
{
    return arena_printf(&arena,
                        "@ascend_kernel\n"
                        "def k(x, y, total):\n"
                        "    a = tl.alloc_ub(1024, dtype=tl.float32)\n"
                        "    for at in range(tl.program_id(0) * 1024, total, tl.num_programs(0) * 1024):\n"
                        "        o = at + tl.arange(0, 1024)\n"
                        "        with tl.copyin():\n"
                        "            tl.load(x + o, a, mask=o < total)\n"
                        "        with tl.compute():\n"
                        "            tl.%s\n"
                        "        with tl.copyout():\n"
                        "            tl.store(y + o, a, mask=o < total)\n"
                        "def h(x: torch.Tensor, y: torch.Tensor):\n"
                        "    k[4](x, y, x.numel())\n",
                        operation);
}

static struct dsl_expected expect(const char *operation, const struct task *task, const struct task_instance *instance)
{
    struct dsl_messages messages;
    struct dsl_binding *bindings;
    const char *text = program_of(operation);
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), &messages);
    const struct dsl_program *program = dsl_check(&arena, tree, &messages);
    assert_non_null(program);
    assert_null(dsl_bind(&arena, program, task, &bindings));
    struct dsl_expected expected = dsl_expect(&arena, program, bindings, instance, npu_socs, DSL_NUDGES, &messages);
    assert_true(expected.ran);
    return expected;
}

/* Programs that differ are told apart, and those whose steps are rounded otherwise are not. */
static void test_programs_that_differ(void **state)
{
    (void)state;
    struct task task;
    struct task_instance *instance;
    assert_null(task_find(&arena, AKGEN_SOURCE_DIR, "Math/Sqrt", &task));
    assert_null(task_instance_make(&task, &task.cases[1], 1, false, &instance));
    struct dsl_expected doubled = expect("vmul_scalar(a, a, 2.0)", &task, instance),
                        summed = expect("vadd(a, a, a)", &task, instance),
                        more = expect("vmul_scalar(a, a, 2.001)", &task, instance),
                        raised = expect("vexp(a, a)", &task, instance);
    assert_false(doubled.approximate);
    assert_int_equal(dsl_compare(instance, &doubled, NULL, summed.outputs).elements, 0);
    assert_true(dsl_compare(instance, &doubled, NULL, more.outputs).elements > 0);
    assert_true(raised.approximate);
    assert_int_equal(dsl_compare(instance, &raised, NULL, raised.nudged[1]).elements, 0);
    assert_true(dsl_compare(instance, &raised, NULL, doubled.outputs).elements > 0);
    task_instance_free(instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_exact_programs_bit_by_bit, drop),
        cmocka_unit_test_teardown(test_integers_bit_by_bit, drop),
        cmocka_unit_test_teardown(test_approximate_programs_as_far_as_rounding_carries, drop),
        cmocka_unit_test_teardown(test_as_far_as_the_result_goes, drop),
        cmocka_unit_test_teardown(test_programs_that_differ, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
