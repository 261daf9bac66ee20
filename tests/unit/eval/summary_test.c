/* Sums of a run: the shares of MultiKernelBench and AscendCraft from verdicts that carry times. */
#include "eval/bench.h"

#include "base/files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TASKS = 52 };

static void add(struct bench *bench, int task, int sample, enum akgen_verdict_kind kind, enum akgen_verdict_stage stage,
                double speedup)
{
    bench->rows[bench->count++] = (struct bench_row){
        .task = arena_printf(&bench->arena, "task%02d", task),
        .category = "Math",
        .level = 1,
        .sample = sample,
        .evaluated = true,
        .kind = kind,
        .stage = stage,
    };
    /* 4 us where eager takes `speedup` times that; half of its launches make it half as long, twice as many twice. */
    char verdict[160] = "{}";
    if (speedup > 0)
        snprintf(verdict, sizeof verdict,
                 "{\"cases\": [{\"timing\": {\"us\": 4}, \"eager_us\": [%.17g, %.17g, %.17g]}]}", 2 * speedup,
                 4 * speedup, 8 * speedup);
    bench_row_set_verdict(&bench->rows[bench->count - 1], strdup(verdict));
}

/* AscendCraft's counts: of 52 tasks 51 compile, 47 are right, 43, 30 and 24 reach 0.2, 0.8 and 1.0. Each task has a
 * second sample that must not change them: it does not compile, is wrong although fast, or is ours to blame. */
static void fill(struct bench *bench, bool timed)
{
    bench->rows = arena_alloc(&bench->arena, sizeof *bench->rows * 2 * TASKS);
    for (int i = 0; i < TASKS; i++) {
        double speedup = i < 24 ? 1.0 : i < 30 ? 0.8 : i < 43 ? 0.2 : 0.1;
        if (i < 47)
            add(bench, i, 0, AKGEN_VERDICT_PASS, AKGEN_STAGE_COMPARE, timed ? speedup : 0);
        else
            add(bench, i, 0, i < 51 ? AKGEN_VERDICT_WRONG : AKGEN_VERDICT_COMPILE_ERROR,
                i < 51 ? AKGEN_STAGE_COMPARE : AKGEN_STAGE_KERNEL, timed && i < 51 ? 5 : 0);
        add(bench, i, 1,
            i == 51 ? AKGEN_VERDICT_REJECTED
            : i % 2 ? AKGEN_VERDICT_INFRA_ERROR
                    : AKGEN_VERDICT_COMPILE_ERROR,
            i == 51 ? AKGEN_STAGE_HOST : AKGEN_STAGE_KERNEL, 0);
    }
}

static void free_rows(struct bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        bench_row_free(&bench->rows[i]);
    arena_free(&bench->arena);
}

static void test_shares_of_all_tasks(void **state)
{
    (void)state;
    struct bench bench = {0};
    fill(&bench, true);
    struct bench_shares shares = bench_shares(&bench);
    assert_int_equal(shares.tasks, TASKS);
    assert_int_equal(shares.k, 2);
    assert_true(shares.compiled == 51 / 52.0);
    assert_true(shares.passed == 47 / 52.0);
    static const double speeds[] = {0.2, 0.8, 1.0};
    static const int fast[SPEEDUP_LAUNCHES][BENCH_SPEEDS] = {{30, 0, 0}, {43, 30, 24}, {47, 30, 30}};
    /* Best samples: 24 of speed 1, 6 of 0.8, 13 of 0.2, 4 of 0.1. */
    double mean = exp((6 * log(0.8) + 13 * log(0.2) + 4 * log(0.1)) / 47);
    assert_int_equal(shares.timed, 47);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        double expected = mean * speedup_launches[launches];
        assert_true(fabs(shares.speedup[launches] - expected) < 1e-12);
        for (int i = 0; i < BENCH_SPEEDS; i++) {
            assert_true(shares.speed[i] == speeds[i]);
            assert_true(shares.fast[launches][i] == fast[launches][i] / 52.0);
        }
    }
    free_rows(&bench);
}

static void test_without_times_nothing_is_said_about_speed(void **state)
{
    (void)state;
    struct bench bench = {0};
    fill(&bench, false);
    struct bench_shares shares = bench_shares(&bench);
    assert_true(shares.passed == 47 / 52.0);
    assert_int_equal(shares.timed, 0);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        assert_true(isnan(shares.speedup[launches]));
        for (int i = 0; i < BENCH_SPEEDS; i++)
            assert_true(isnan(shares.fast[launches][i]));
    }
    free_rows(&bench);
}

static void test_the_table_prints_them(void **state)
{
    (void)state;
    struct bench bench = {.suite = "multikernelbench",
                          .provider = "dir:x",
                          .soc = "Ascend910_9392",
                          .mode = "static",
                          .scope = "project",
                          .profile = "upstream",
                          .protocol = "shapes v1, tolerance 1e-2, 5 inputs"};
    const struct report_style style = {"", ""};
    char *text = NULL;
    size_t length;
    fill(&bench, true);
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    report_write_table(out, &bench, &style);
    fclose(out);
    assert_non_null(
        strstr(text, "of 52 tasks   Comp@2  98.1%  Pass@2  90.4%\n"
                     "speed over eager, both modelled, eager of a 910B2\n"
                     "  half a launch a kernel  Fast0.2@2  57.7%  Fast0.8@2   0.0%  Fast1.0@2   0.0%  speedup 0.26, "
                     "geometric mean of 47 tasks\n"
                     "  a launch a kernel       Fast0.2@2  82.7%  Fast0.8@2  57.7%  Fast1.0@2  46.2%  speedup 0.51, "
                     "geometric mean of 47 tasks\n"
                     "  two launches a kernel   Fast0.2@2  90.4%  Fast0.8@2  57.7%  Fast1.0@2  57.7%  speedup 1.02, "
                     "geometric mean of 47 tasks\n"));
    assert_non_null(strstr(text, "protocol: shapes v1, tolerance 1e-2, 5 inputs"));
    free(text);
    free_rows(&bench);
}

/* The page says the same in a sentence. */
static void test_the_page_prints_them(void **state)
{
    (void)state;
    char path[] = "/tmp/akgen-summary-XXXXXX", *text;
    size_t length;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct bench bench = {.suite = "multikernelbench",
                          .provider = "dir:x",
                          .soc = "Ascend910_9392",
                          .mode = "static",
                          .scope = "project",
                          .profile = "upstream",
                          .akgen = "0",
                          .protocol = ""};
    fill(&bench, true);
    assert_null(report_write_html(path, &bench));
    assert_null(files_read(&bench.arena, path, 1 << 22, &text, &length));
    assert_non_null(
        strstr(text, "<p>Of 52 tasks: Comp@2 98.1 %, Pass@2 90.4 %; modelled, over eager of a 910B2 charged half a "
                     "launch a kernel, one and two: Fast0.2@2 57.7 / 82.7 / 90.4 %, Fast0.8@2 0.0 / 57.7 / 57.7 %, "
                     "Fast1.0@2 0.0 / 46.2 / 57.7 %, speedup 0.26 / 0.51 / 1.02 (geometric mean of 47 tasks)</p>"));
    unlink(path);
    free_rows(&bench);
}

/* So do JSON, with every charge, and CSV, with one launch. */
static void test_other_programs_get_them(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length;
    struct bench bench = {.suite = "multikernelbench",
                          .provider = "dir:x",
                          .soc = "Ascend910_9392",
                          .mode = "static",
                          .scope = "project",
                          .profile = "upstream",
                          .akgen = "0",
                          .protocol = ""};
    fill(&bench, true);
    json_t *json = report_to_json(&bench);
    const json_t *shares = json_object_get(json, "shares");
    const json_t *twice = json_array_get(json_object_get(shares, "modelled"), 2);
    assert_true(json_number_value(json_object_get(json_object_get(shares, "fast"), "0.8")) == 30 / 52.0);
    assert_true(json_number_value(json_object_get(twice, "launches")) == 2);
    assert_true(json_number_value(json_object_get(json_object_get(twice, "fast"), "0.2")) == 47 / 52.0);
    assert_int_equal(json_integer_value(json_object_get(twice, "tasks")), 47);
    json_decref(json);
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    report_write_csv(out, &bench);
    fclose(out);
    assert_non_null(strstr(
        text, "protocol,reason,modelled_speedup\ntask00,1,Math,0,pass,compare,0,0,0.000,upstream,\"\",\"\",1.000\n"
              "task00,1,Math,1,compile_error,kernel,0,0,0.000,upstream,\"\",\"\",\n"));
    free(text);
    free_rows(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_of_all_tasks),
        cmocka_unit_test(test_without_times_nothing_is_said_about_speed),
        cmocka_unit_test(test_the_table_prints_them),
        cmocka_unit_test(test_the_page_prints_them),
        cmocka_unit_test(test_other_programs_get_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
