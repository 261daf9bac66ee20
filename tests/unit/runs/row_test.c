/* A sample's result: a run that was stored and opened has the figures of the verdicts that it was made of, to the last bit. */
#include "runs/bench.h"

#include "toolchain/toolchain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = 4, MHZ = 1850 };

static struct arena arena;

/* A row from the struct, and one from the JSON of the same verdict. */
static void both_rows(const struct task *task, const struct kernel_times *kernel, struct verdict *verdict,
                      struct bench_row *made, struct bench_row *stored)
{
    speedup_add(task, kernel, verdict);
    json_t *json = verdict_to_json(verdict);
    *made = *stored = (struct bench_row){.task = "t"};
    bench_row_take(&arena, made, verdict);
    bench_row_open(&arena, stored, json_dumps(json, JSON_COMPACT));
    for (int i = 0; i < verdict->case_count; i++) {
        const struct speedup_case times = bench_case_times(json_array_get(json_object_get(json, "cases"), (size_t)i));
        assert_memory_equal(&times, &verdict->speedup.cases[i], sizeof times);
    }
    json_decref(json);
}

static void expect_equal(const struct bench_row *made, const struct bench_row *stored)
{
    assert_int_equal(made->error_class, stored->error_class);
    assert_int_equal(made->wrapper, stored->wrapper);
    assert_memory_equal(made->speedup, stored->speedup, sizeof made->speedup);
    assert_true(made->roofline == stored->roofline);
    assert_int_equal(made->kernel, stored->kernel);
    assert_string_equal(made->kernel_hash, stored->kernel_hash);
    assert_string_equal(made->kernel_lack ? made->kernel_lack : "none",
                        stored->kernel_lack ? stored->kernel_lack : "none");
}

/* Cases of uneven times, of which the third is hidden and the last has none. */
static struct verdict a_verdict(const struct task *task, const struct eval_options *options, struct verdict_case *rows)
{
    for (int i = 0; i < CASES; i++) {
        const double us = i == CASES - 1 ? 0 : 10.0 / (i + 3);
        rows[i] = (struct verdict_case){
            .task_case = task->cases, .id = i, .shape = "x[8]", .dtype = "float16", .hidden = i == 2};
        rows[i].run.timing.model =
            (struct npu_timing){.known = us > 0, .mhz = MHZ, .cycles = us * MHZ, .bound_cycles = us * MHZ / (7 + i)};
    }
    return (struct verdict){
        .kind = AKGEN_VERDICT_PASS, .cases = rows, .case_count = CASES, .options = options, .protocol = ""};
}

static void test_a_stored_row_is_the_row_that_was_made(void **state)
{
    (void)state;
    struct kernel_time times[] = {{0, "x[8]", "float16", 7.001}, {1, "x[8]", "float16", 0.123}};
    const struct kernel_times kernels[] = {
        {.baseline = "dir:k", .judged = true, .hash = "0123456789abcdef0123", .cases = times, .case_count = 2},
        {.baseline = "dir:k", .judged = true, .hash = "ab", .kind = AKGEN_VERDICT_WRONG, .lack = "wrong: \"y\""},
        {.baseline = "dir:k", .lack = "it has no kernel for t"}};
    static const enum bench_kernel has[] = {BENCH_KERNEL, BENCH_KERNEL_FAILS, BENCH_KERNEL_MISSING, BENCH_EAGER};
    const struct eval_options options = {.soc = &npu_socs[0]};
    struct task task;
    assert_null(task_find(&arena, toolchain_home(), "multikernelbench/level1/Activation/Sigmoid", &task));
    for (int i = 0; i < 4; i++) {
        struct verdict_case rows[CASES];
        struct verdict verdict = a_verdict(&task, &options, rows);
        struct bench_row made, stored;
        both_rows(&task, i < 3 ? &kernels[i] : NULL, &verdict, &made, &stored);
        expect_equal(&made, &stored);
        assert_int_equal(made.kernel, has[i]);
        assert_int_equal(made.error_class, -1);
        assert_int_equal(strlen(made.kernel_hash), i == 0 ? 16 : i == 1 ? 2 : 0);
        assert_true((made.speedup[SPEEDUP_ONE_LAUNCH] > 0) == (has[i] == BENCH_KERNEL || has[i] == BENCH_EAGER));
        assert_true(made.roofline > 1.0 / 8 && made.roofline < 1.0 / 7);
        bench_row_free(&stored);
        arena_free(&verdict.arena);
    }
}

/* A warning comes before the first error, whose class counts. */
static void test_a_verdict_that_does_not_compile(void **state)
{
    (void)state;
    const struct eval_options options = {.soc = &npu_socs[0]};
    struct diagnostic diagnostics[] = {{.class = DIAG_MACRO, .message = "unused"},
                                       {.class = DIAG_MEMORY, .message = "no such member", .error = true},
                                       {.class = DIAG_API, .message = "no such function", .error = true}};
    struct verdict verdict = {.kind = AKGEN_VERDICT_COMPILE_ERROR,
                              .stage = AKGEN_STAGE_KERNEL,
                              .reason = "no such member",
                              .candidate = {.digest = "ab"},
                              .wrapper = {.reason = "two calls"},
                              .options = &options,
                              .protocol = "",
                              .cases_total = 3,
                              .build = {.diagnostics = diagnostics, .diagnostic_count = 3}};
    struct task task = {.name = "t"};
    struct bench_row made, stored;
    both_rows(&task, NULL, &verdict, &made, &stored);
    expect_equal(&made, &stored);
    assert_int_equal(made.error_class, DIAG_MEMORY);
    assert_true(made.wrapper && made.evaluated && made.kind == verdict.kind && made.stage == verdict.stage);
    assert_int_equal(made.cases_total, 3);
    assert_string_equal(made.reason, "no such member");
    assert_string_equal(made.hash, "ab");
    assert_true(made.roofline == 0 && made.speedup[SPEEDUP_ONE_LAUNCH] == 0);
    bench_row_free(&stored);
    arena_free(&verdict.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stored_row_is_the_row_that_was_made),
        cmocka_unit_test(test_a_verdict_that_does_not_compile),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
