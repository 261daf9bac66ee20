/* Tasks and programs: what parameters stand for, and what runs in a case yield. The tasks are those of tasks/. */
#include "dsl/bind.h"
#include "dsl/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static struct task task;

static int drop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* A kernel that the host function launches with nothing but a number. */
#define KERNEL "@ascend_kernel\ndef k(n):\n    pass\n"
#define LAUNCH "    k[1](1)\n"

static const struct dsl_program *checked(const char *text)
{
    struct dsl_messages messages;
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", text, strlen(text), &messages);
    const struct dsl_program *program = tree ? dsl_check(&arena, tree, &messages) : NULL;
    if (!program)
        fail_msg("line %d: %s", messages.items[0].place.line, messages.items[0].text);
    return program;
}

static void find(const char *name)
{
    struct akgen_error *error = task_find(&arena, AKGEN_SOURCE_DIR, name, &task);
    if (error)
        fail_msg("%s", error->message);
}

/* The host function's parameters, and input, output and attribute of each. */
static const struct {
    const char *task, *parameters;
    struct dsl_binding expected[4];
} bindings[] = {
    {"Math/Sqrt",
     "y: torch.Tensor, x: torch.Tensor, tile: tl.constexpr = 64",
     {{-1, 0, -1}, {0, -1, -1}, {-1, -1, -1}}},
    {"Math/Sqrt", "a: torch.Tensor, b: torch.Tensor", {{0, -1, -1}, {-1, 0, -1}}},
    {"Math/Sscal", "x: torch.Tensor, n: int, factor: float, s=2", {{0, 0, -1}, {-1, -1, 1}, {-1, -1, 0}, {-1, -1, 2}}},
    {"Math/Addcmul",
     "y: torch.Tensor, x2: torch.Tensor, value: int | float, w=1",
     {{-1, 0, -1}, {2, -1, -1}, {3, -1, -1}, {-1, -1, -1}}},
    {"Foreach/ForeachZeroInplace", "x: list[torch.Tensor]", {{0, 0, -1}}},
    {"Foreach/ForeachAddScalarList",
     "x: list[torch.Tensor], scalars: torch.Tensor, y: list[torch.Tensor]",
     {{0, -1, -1}, {1, -1, -1}, {-1, 0, -1}}},
    {"Activation/GeluQuant",
     "x: torch.Tensor, offset: torch.Tensor = None, y: torch.Tensor = None, out_scale: torch.Tensor = None",
     {{0, -1, -1}, {1, -1, -1}, {-1, 0, -1}, {-1, 1, -1}}},
};

static void test_bindings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++) {
        const struct dsl_program *program =
            checked(arena_printf(&arena, KERNEL "def h(%s):\n" LAUNCH, bindings[i].parameters));
        struct dsl_binding *found;
        find(bindings[i].task);
        struct akgen_error *error = dsl_bind(&arena, program, &task, &found);
        if (error)
            fail_msg("%s: %s", bindings[i].parameters, error->message);
        for (int p = 0; p < program->host->function->count; p++)
            assert_memory_equal(&found[p], &bindings[i].expected[p], sizeof *found);
    }
}

/* What a task and a program do not have in common. */
static const struct {
    const char *task, *parameters, *says;
} wrong[] = {
    {"Math/Sqrt", "x: torch.Tensor", "no parameter for 'y', which the task level1/Math/Sqrt has as output"},
    {"Math/Sqrt", "x: torch.Tensor, y: torch.Tensor, z: torch.Tensor", "line 4: the task level1/Math/Sqrt has nothing"},
    {"Math/Sqrt", "x: torch.Tensor, y: torch.Tensor, eps: float", "nothing for the parameter 'eps', which is a real"},
    {"Math/Sqrt", "x: list[torch.Tensor], y: torch.Tensor", "'x' is a list of tensors, and the task's is a tensor"},
    {"Math/Addcmul", "value: torch.Tensor, y: torch.Tensor", "'value' is a tensor, and the task's is a scalar"},
    {"Math/Sscal", "x: torch.Tensor, alpha: int", "'alpha' is an integer, and the task's is of type float"},
    {"Math/Sscal", "n: int", "'x', which the task level1/Math/Sscal writes in place"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct dsl_program *program =
            checked(arena_printf(&arena, KERNEL "def h(%s):\n" LAUNCH, wrong[i].parameters));
        struct dsl_binding *found;
        find(wrong[i].task);
        struct akgen_error *error = dsl_bind(&arena, program, &task, &found);
        assert_non_null(error);
        if (!strstr(error->message, wrong[i].says))
            fail_msg("%s: %s", wrong[i].parameters, error->message);
        error_free(error);
    }
}

/* Runs a program in the first case of a task that has so many tensors in its first input. */
static struct dsl_outcome run(const char *name, int tensors, const char *text)
{
    const struct dsl_program *program = checked(text);
    struct dsl_binding *bound;
    struct dsl_messages messages = {0};
    struct dsl_outcome outcome = {0};
    bool found = false;
    find(name);
    assert_null(dsl_bind(&arena, program, &task, &bound));
    messages.arena = &arena;
    for (int c = 0; c < task.case_count && !found; c++) {
        struct task_instance *instance;
        assert_null(task_instance_make(&task, &task.cases[c], 1, false, &instance));
        found = instance->inputs[0].count == tensors;
        if (found)
            dsl_run_case(&arena, program, bound, instance, npu_socs, TASK_UPSTREAM, &messages, &outcome);
        task_instance_free(instance);
    }
    assert_true(found);
    if (!outcome.ran)
        fail_msg("line %d: %s", messages.items[0].place.line, messages.items[0].text);
    return outcome;
}

/* y[t] = x[t] * scalars[t] and the like over lists, a core per tensor. */
#define FOREACH                                                                                                        \
    "@ascend_kernel\n"                                                                                                 \
    "def k(x, %s, lists, tile):\n"                                                                                     \
    "    x_ub = tl.alloc_ub(tile, dtype=x[0].dtype)\n"                                                                 \
    "    t = tl.program_id(0)\n"                                                                                       \
    "    total = x[t].numel()\n"                                                                                       \
    "    for at in range(0, total, tile):\n"                                                                           \
    "        offsets = at + tl.arange(0, tile)\n"                                                                      \
    "        with tl.copyin():\n"                                                                                      \
    "            tl.load(x[t] + offsets, x_ub, mask=offsets < total)\n"                                                \
    "        with tl.compute():\n"                                                                                     \
    "            %s\n"                                                                                                 \
    "        with tl.copyout():\n"                                                                                     \
    "            tl.store(%s[t] + offsets, x_ub, mask=offsets < total)\n"                                              \
    "def h(x: list[torch.Tensor]%s, tile: tl.constexpr = 1024):\n"                                                     \
    "    assert x[0].ndim == len(x[0].shape) and x[1].dtype == x[0].dtype\n"                                           \
    "    k[len(x)](x, %s, len(x), tile)\n"

static void test_lists(void **state)
{
    (void)state;
    const char *product =
        arena_printf(&arena, FOREACH, "y, scalars",
                     "tl.vmul(x_ub, x_ub, tl.extract_scalar(scalars, t), count=min(tile, total - at))", "y",
                     ", scalars: torch.Tensor, y: list[torch.Tensor]", "y, scalars");
    struct dsl_outcome outcome = run("Foreach/ForeachMulScalarList", 2, product);
    assert_true(outcome.by[TASK_UPSTREAM].ok && outcome.by[TASK_STRICT].ok);
    assert_int_equal(outcome.cores, 2);
    outcome = run("Foreach/ForeachAddScalarList", 2, product);
    assert_false(outcome.by[TASK_STRICT].ok);
    assert_string_equal(outcome.by[TASK_STRICT].output_name, "y");
}

static void test_in_place(void **state)
{
    (void)state;
    struct dsl_outcome outcome =
        run("Foreach/ForeachZeroInplace", 2, arena_printf(&arena, FOREACH, "n", "tl.duplicate(x_ub, 0)", "x", "", "1"));
    assert_true(outcome.by[TASK_UPSTREAM].ok && outcome.by[TASK_STRICT].ok);
    outcome = run("Foreach/ForeachZeroInplace", 2, arena_printf(&arena, FOREACH, "n", "pass", "x", "", "1"));
    assert_false(outcome.by[TASK_UPSTREAM].ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_bindings, drop),
        cmocka_unit_test_teardown(test_wrong, drop),
        cmocka_unit_test_teardown(test_lists, drop),
        cmocka_unit_test_teardown(test_in_place, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
