/* A task that lets a candidate leave work out is refused, and the message names what the candidate does. Each task here is lazy in one way. */
#include "task/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static const char cases[] = "case_id;n;f\n0;130;2\n1;33;2\n";

/* A task of a formula over x [4, n] and the attribute f. */
static const char *yaml_of(const char *inputs, const char *formula, const char *shape, const char *attr)
{
    return arena_printf(
        &arena,
        "suite: mine\nlevel: 1\ncategory: Math\nop: Lazy\nreference: formula\nvary: sizes n\ninputs:\n"
        "  - name: x\n    shape: \"[4, $n]\"\n    dtype: float32\n    types: [float32]\n%s"
        "outputs:\n  - name: y\n    shape: \"%s\"\n    dtype: float32\n    types: [float32]\n"
        "    formula: \"%s\"\n    depth: \"4*$n\"\nattrs:\n  - name: f\n    type: float\n    value: \"$f\"\n%s",
        inputs, shape, formula, attr);
}

static const char any_x[] = "    generate: \"randn\"\n", any_f[] = "    strict: \"uniform(3, 5)\"\n",
                  like_x[] = "[4, $n]";

/* The refusal of a task; NULL: it is fit. */
static const char *refusal(const char *inputs, const char *formula, const char *shape, const char *attr)
{
    struct task task;
    struct akgen_error *error = task_of_texts(&arena, "/nowhere", yaml_of(inputs, formula, shape, attr), cases, &task);
    if (error)
        fail_msg("%s", error->message);
    error = task_check_mutants(&task, false);
    const char *text = error ? arena_printf(&arena, "%s", error->message) : NULL;
    error_free(error);
    return text;
}

static void expect_refused(const char *text, const char *why)
{
    if (!text || !strstr(text, why))
        fail_msg("'%s', expected '%s'", text ? text : "fit", why);
}

static void a_task_that_asks_for_all_its_work_is_fit(void **state)
{
    (void)state;
    const char *text = refusal(any_x, "x*f", like_x, any_f);
    if (text)
        fail_msg("%s", text);
}

static void outputs_that_need_no_work_are_found(void **state)
{
    (void)state;
    expect_refused(refusal(any_x, "x*f*0", like_x, any_f), "writes zeros");
    expect_refused(refusal(any_x, "x*f*0 + 1", like_x, any_f), "writes ones");
    expect_refused(refusal(any_x, "x + f*0", like_x, any_f), "copies an input");
}

static void inputs_that_need_not_be_read_are_found(void **state)
{
    (void)state;
    expect_refused(refusal("    generate: \"zeros\"\n", "x + f", like_x, any_f), "takes input 'x' for zeros");
    expect_refused(refusal("    generate: \"ones\"\n", "x*f", like_x, any_f), "takes input 'x' for ones");
    expect_refused(refusal("    generate: \"full(3)\"\n", "x*f", like_x, any_f),
                   "element of input 'x' for its first one");
    expect_refused(refusal("    generate: \"arange\"\n", "x*f", like_x, any_f), "draws input 'x' by itself");
    assert_null(refusal("    generate: \"arange\"\n    strict: \"shuffled\"\n", "x*f", like_x, any_f));
}

static void parts_that_need_not_be_read_are_found(void **state)
{
    (void)state;
    expect_refused(refusal("    generate: \"randn\"\n", "x[:size(x)-1]*f", "[4, $n - 1]", any_f),
                   "last element of each row of input 'x'");
    expect_refused(refusal("    generate: \"rand*0.001 + 1\"\n", "sum(x, all)*f", "[1]", any_f), "input 'x'");
}

static void a_sum_that_a_sample_passes_is_found(void **state)
{
    (void)state;
    struct task task;
    const char long_sum[] = "case_id;n;f\n0;9001;2\n";
    const char *yaml = yaml_of("    generate: \"rand*0.00001 + 1\"\n    strict: \"rare(0.5, 1, 1.00001)\"\n",
                               "mean(x, all)*f", "[1]", any_f);
    struct akgen_error *error = task_of_texts(&arena, "/nowhere", yaml, long_sum, &task);
    assert_null(error);
    struct task_mutants mutants;
    bool passes = false;
    assert_null(task_mutants_try(&task, TASK_STRICT, false, &mutants));
    for (int i = 0; i < mutants.count; i++)
        passes |= mutants.list[i].kind == TASK_MUTANT_SAMPLE && task_mutant_passes(&mutants.list[i]);
    task_mutants_free(&mutants);
    assert_true(passes);
}

static void attributes_of_one_value_are_found(void **state)
{
    (void)state;
    expect_refused(refusal(any_x, "x*f", like_x, ""), "takes attribute 'f' for 2");
    assert_null(refusal(any_x, "x*f", like_x, "    trivial: \"constant: the contract says 2\"\n"));
}

static void reasons_must_be_true(void **state)
{
    (void)state;
    const char *attr = arena_printf(&arena, "%s    trivial: \"constant: it is\"\n", any_f);
    expect_refused(refusal(any_x, "x*f", like_x, attr),
                   "lists 'constant' as trivial of attribute f, but the strict check rejects it");
    expect_refused(refusal("    generate: \"randn\"\n    trivial: \"zeros: it is\"\n", "x*f", like_x, any_f),
                   "lists 'zeros' as trivial of input x, but the strict check rejects it");
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
        cmocka_unit_test(a_task_that_asks_for_all_its_work_is_fit),
        cmocka_unit_test(outputs_that_need_no_work_are_found),
        cmocka_unit_test(inputs_that_need_not_be_read_are_found),
        cmocka_unit_test(parts_that_need_not_be_read_are_found),
        cmocka_unit_test(a_sum_that_a_sample_passes_is_found),
        cmocka_unit_test(attributes_of_one_value_are_found),
        cmocka_unit_test(reasons_must_be_true),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
