/* Sums of a run: the shares of MultiKernelBench and AscendCraft from verdicts that carry times. */
#include "runs/bench.h"

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
    bench_row_open(&bench->arena, &bench->rows[bench->count - 1], strdup(verdict));
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
    assert_int_equal(shares.speed.timed, 47);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        double expected = mean * speedup_launches[launches];
        assert_true(fabs(shares.speed.speedup[launches] - expected) < 1e-12);
        for (int i = 0; i < BENCH_SPEEDS; i++) {
            assert_true(bench_speeds[i] == speeds[i]);
            assert_true(shares.speed.fast[launches][i] == fast[launches][i] / 52.0);
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
    assert_int_equal(shares.speed.timed, 0);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        assert_true(isnan(shares.speed.speedup[launches]));
        for (int i = 0; i < BENCH_SPEEDS; i++)
            assert_true(isnan(shares.speed.fast[launches][i]));
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
                          .language = "ascendc",
                          .protocol = "shapes v1, tolerance 1e-2, 5 inputs",
                          .baseline = "eager"};
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
                     "speed over eager of a 910B2, both modelled; the table charges a launch a kernel\n"
                     "  half a launch a kernel  Fast0.2@2  57.7%  Fast0.8@2   0.0%  Fast1.0@2   0.0%  speedup 0.26, "
                     "geometric mean of 47 tasks\n"
                     "  a launch a kernel       Fast0.2@2  82.7%  Fast0.8@2  57.7%  Fast1.0@2  46.2%  speedup 0.51, "
                     "geometric mean of 47 tasks\n"
                     "  two launches a kernel   Fast0.2@2  90.4%  Fast0.8@2  57.7%  Fast1.0@2  57.7%  speedup 1.02, "
                     "geometric mean of 47 tasks\n"));
    assert_non_null(strstr(text, "baseline eager; protocol: shapes v1, tolerance 1e-2, 5 inputs"));
    /* 24, 30 and 43 of 52; in the columns of AscendCraft's table, and the speedup. */
    assert_non_null(strstr(text, " cases         modelled:  Fast0.2@2  Fast0.8@2  Fast1.0@2  speedup\n"));
    assert_non_null(strstr(text, "\nall                         52 "));
    assert_non_null(strstr(text, " 82.7%      57.7%      46.2%     0.51  (25 excluded)\n"));
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
                          .language = "ascendc",
                          .akgen = "0",
                          .protocol = "",
                          .baseline = "eager"};
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
                          .language = "ascendc",
                          .akgen = "0",
                          .protocol = "",
                          .baseline = "eager"};
    fill(&bench, true);
    json_t *json = report_to_json(&bench);
    const json_t *shares = json_object_get(json, "shares");
    const json_t *twice = json_array_get(json_object_get(shares, "modelled"), 2);
    assert_true(json_number_value(json_object_get(json_object_get(shares, "fast"), "0.8")) == 30 / 52.0);
    assert_true(json_number_value(json_object_get(twice, "launches")) == 2);
    assert_true(json_number_value(json_object_get(json_object_get(twice, "fast"), "0.2")) == 47 / 52.0);
    assert_int_equal(json_integer_value(json_object_get(twice, "tasks")), 47);
    assert_string_equal(json_string_value(json_object_get(json, "baseline")), "eager");
    const json_t *groups = json_object_get(json, "groups"), *math = json_array_get(groups, 0);
    assert_true(json_number_value(json_object_get(json_object_get(math, "fast"), "1.0")) == 24 / 52.0);
    json_decref(json);
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    report_write_csv(out, &bench);
    fclose(out);
    assert_non_null(strstr(
        text, "protocol,reason,modelled_speedup,baseline,language\ntask00,1,Math,0,pass,compare,0,0,0.000,upstream,"
              "\"\",\"\",1.000,\"eager\",\"ascendc\"\n"
              "task00,1,Math,1,compile_error,kernel,0,0,0.000,upstream,\"\",\"\",,\"eager\",\"ascendc\"\n"));
    free(text);
    free_rows(&bench);
}

/* A row with a verdict of its own. */
static void add_verdict(struct bench *bench, const char *task, int level, const char *category,
                        enum akgen_verdict_kind kind, const char *verdict)
{
    bench->rows[bench->count++] = (struct bench_row){.task = task,
                                                     .category = category,
                                                     .level = level,
                                                     .evaluated = true,
                                                     .kind = kind,
                                                     .stage = AKGEN_STAGE_COMPARE};
    bench_row_open(&bench->arena, &bench->rows[bench->count - 1], strdup(verdict));
}

#define KERNEL(hash, verdict, lack)                                                                                    \
    "\"baseline_kernel\": {\"candidate\": " hash ", \"verdict\": " verdict ", \"lack\": " lack "}"
#define PASSES(hash) KERNEL(hash, "\"pass\"", "null")
#define US(us, baseline, roofline)                                                                                     \
    "\"cases\": [{\"timing\": {\"us\": " us ", \"roofline\": " roofline                                                \
    "}, \"eager_us\": [1, 1, 1], \"baseline_us\": " baseline "}]"

/* Kernels as the baseline: two of level 1's four tasks reach it, one of them exactly; of one task the baseline's kernel faults, for
 * one it has none; no task of level 2 is right. Eager would be slower by far. */
static void fill_against_kernels(struct bench *bench)
{
    bench->rows = arena_alloc(&bench->arena, sizeof *bench->rows * 8);
    add_verdict(bench, "a", 1, "Math", AKGEN_VERDICT_PASS, "{" PASSES("\"11\"") "," US("5", "10", "0.5") "}");
    add_verdict(bench, "b", 1, "Math", AKGEN_VERDICT_PASS, "{" PASSES("\"22\"") "," US("5", "5", "0.9") "}");
    add_verdict(
        bench, "c", 1, "Norm", AKGEN_VERDICT_PASS,
        "{" KERNEL("\"33\"", "\"fault\"",
                   "\"fault: case 0: <hang>\"") ","
                                                "\"cases\": [{\"timing\": {\"us\": 5}, \"eager_us\": [99, 99, 99]}]}");
    add_verdict(
        bench, "d", 1, "Norm", AKGEN_VERDICT_PASS,
        "{" KERNEL("null", "null",
                   "\"it has no kernel for d\"") ","
                                                 "\"cases\": [{\"timing\": {\"us\": 5}, \"eager_us\": [99, 99, 99]}]}");
    add_verdict(bench, "e", 2, "Norm", AKGEN_VERDICT_WRONG, "{" PASSES("\"55\"") "," US("5", "500", "1") "}");
    add_verdict(bench, "e", 2, "Norm", AKGEN_VERDICT_WRONG, "{" PASSES("\"56\"") "," US("5", "500", "1") "}");
    bench->rows[5].sample = 1;
}

static void test_kernels_as_the_baseline(void **state)
{
    (void)state;
    struct bench bench = {.suite = "mine",
                          .provider = "dir:x",
                          .soc = "Ascend910B2",
                          .mode = "static",
                          .scope = "project",
                          .profile = "upstream",
                          .language = "ascendc",
                          .protocol = "",
                          .baseline = "dir:kernels"};
    const struct report_style style = {"", ""};
    char *text = NULL;
    size_t length;
    fill_against_kernels(&bench);
    struct bench_shares shares = bench_shares(&bench);
    for (int launches = 0; launches < SPEEDUP_LAUNCHES; launches++) {
        assert_true(shares.speed.fast[launches][2] == 2 / 5.0);
        assert_true(fabs(shares.speed.speedup[launches] - sqrt(2)) < 1e-12);
    }
    assert_int_equal(shares.speed.timed, 2);
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    report_write_table(out, &bench, &style);
    fclose(out);
    static const char *const lines[] = {
        "level 1 / Math               2         2   100.0%       2   100.0%      0/0                     100.0%     "
        "100.0%     100.0%     1.41\n",
        "level 1 / Norm               2         2   100.0%       2   100.0%      0/0                       0.0%       "
        "0.0%       0.0%        -\n",
        "level 1                      4         4   100.0%       4   100.0%      0/0                      50.0%      "
        "50.0%      50.0%     1.41\n",
        "level 2                      1         2   100.0%       0     0.0%      0/0                       0.0%       "
        "0.0%       0.0%        -\n",
        "70.0 % of what their bound allows, modelled, whatever the baseline: mean of the best of 2 tasks; median 70.0 "
        "%\n",
        "speed over the kernels of dir:kernels, both modelled\n",
        " 40.0%  Fast1.0@2  40.0%  speedup 1.41, geometric mean of 2 tasks\n",
        "for 1 task, which counts as not fast, the baseline has no kernel: d\n",
        "for 1 task, which counts as not fast, the baseline's kernel does not pass or has no time: c (fault: case 0: "
        "<hang>)\n",
        "the baseline's kernels changed within the run, of 1 task: their samples' speedups do not compare\n",
        "provider dir:x, baseline dir:kernels)\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i]))
            fail_msg("no line '%s' in\n%s", lines[i], text);
    assert_null(strstr(text, "eager"));
    assert_null(strstr(text, "launch a kernel"));
    free(text);
    free_rows(&bench);
}

/* A second sample that is right and fast counts where two do, not where one does; a first one that is slower stands. */
static void test_the_first_samples(void **state)
{
    (void)state;
    struct bench bench = {.suite = "mine",
                          .provider = "dir:x",
                          .profile = "upstream",
                          .language = "ascendc",
                          .protocol = "",
                          .baseline = "dir:kernels"};
    static const int ks[] = {1};
    const struct report_style style = {"", ""};
    char *text = NULL;
    size_t length;
    bench.ks = ks;
    bench.k_count = 1;
    bench.rows = arena_alloc(&bench.arena, sizeof *bench.rows * 4);
    add_verdict(&bench, "a", 1, "Math", AKGEN_VERDICT_PASS, "{" PASSES("\"11\"") "," US("5", "2", "0.2") "}");
    add_verdict(&bench, "a", 1, "Math", AKGEN_VERDICT_PASS, "{" PASSES("\"11\"") "," US("5", "10", "0.8") "}");
    add_verdict(&bench, "b", 1, "Math", AKGEN_VERDICT_WRONG, "{" PASSES("\"22\"") "}");
    add_verdict(&bench, "b", 1, "Math", AKGEN_VERDICT_PASS, "{" PASSES("\"22\"") "," US("5", "40", "0.4") "}");
    const struct bench_shares first = bench_shares_at(&bench, 1), both = bench_shares(&bench);
    assert_true(first.passed == 0.5 && first.speed.fast[SPEEDUP_ONE_LAUNCH][0] == 0.5 &&
                first.speed.fast[SPEEDUP_ONE_LAUNCH][1] == 0);
    assert_true(first.speed.timed == 1 && fabs(first.speed.speedup[SPEEDUP_ONE_LAUNCH] - 0.4) < 1e-12);
    assert_true(first.speed.bounded == 1 && first.speed.roofline == 0.2);
    assert_true(both.k == 2 && both.speed.fast[SPEEDUP_ONE_LAUNCH][2] == 1 && both.speed.timed == 2);
    assert_true(fabs(both.speed.speedup[SPEEDUP_ONE_LAUNCH] - 4) < 1e-12); /* of 2 and 8 */
    assert_true(both.speed.bounded == 2 && fabs(both.speed.roofline - 0.6) < 1e-12);
    assert_true(fabs(both.speed.median_roofline - 0.6) < 1e-12);
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    report_write_table(out, &bench, &style);
    fclose(out);
    assert_non_null(
        strstr(text, "of their first 1   Comp@1 100.0%  Pass@1  50.0%  modelled: Fast0.2@1  50.0%  Fast0.8@1   0.0%  "
                     "Fast1.0@1   0.0%  speedup 0.40, geometric mean of 1 tasks\n"));
    free(text);
    free_rows(&bench);
}

/* What the page says of it is markup of nobody. */
static void test_the_page_names_the_baseline(void **state)
{
    (void)state;
    char path[] = "/tmp/akgen-summary-XXXXXX", *text;
    size_t length;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct bench bench = {.suite = "mine",
                          .provider = "dir:x",
                          .soc = "Ascend910B2",
                          .mode = "static",
                          .scope = "project",
                          .profile = "upstream",
                          .language = "ascendc",
                          .akgen = "0",
                          .protocol = "",
                          .baseline = "dir:<k>"};
    fill_against_kernels(&bench);
    assert_null(report_write_html(path, &bench));
    assert_null(files_read(&bench.arena, path, 1 << 22, &text, &length));
    assert_non_null(strstr(text, "<p>baseline of speedups: <b>the kernels of dir:&lt;k&gt;</b>, modelled<br>"));
    assert_non_null(strstr(text, "does not pass or has no time: c (fault: case 0: &lt;hang&gt;)<br>"));
    assert_non_null(strstr(text, "<td class=n>50.0 %<td class=n>50.0 %<td class=n>50.0 %<td class=n>1.41<td>"));
    assert_non_null(strstr(text, "modelled 2.00 times as fast as the baseline</span>"));
    assert_non_null(strstr(text, "<td class=n>10.00<td class=n>2.00<td>"));
    assert_non_null(strstr(
        text, "modelled, over the kernels of dir:&lt;k&gt;: Fast0.2@2 40.0 %, Fast0.8@2 40.0 %, Fast1.0@2 40.0 %, "
              "speedup 1.41 (geometric mean of 2 tasks)"));
    unlink(path);
    free_rows(&bench);
}

static void test_runs_over_two_baselines_are_not_compared(void **state)
{
    (void)state;
    struct bench before = {.run = 1,
                           .provider = "dir:x",
                           .profile = "upstream",
                           .language = "ascendc",
                           .protocol = "",
                           .baseline = "dir:kernels"};
    struct bench after = before;
    char *text = NULL;
    size_t length;
    after.run = 2;
    fill_against_kernels(&before);
    fill_against_kernels(&after);
    for (int other = 0; other < 2; other++) {
        static const char *const lines[] = {
            "ER pass@1       80.0% ->    80.0%  (+0.0)\nFast0.2         40.0% ->    40.0%  (+0.0), modelled\n",
            "\nthe speedups do not compare: over the kernels of dir:kernels, over eager of a 910B2\n"
            "Fast0.2         40.0% ->    40.0%, modelled\n"};
        after.baseline = other ? "eager" : "dir:kernels";
        FILE *out = open_memstream(&text, &length);
        assert_non_null(out);
        report_write_comparison(out, &before, &after);
        fclose(out);
        assert_non_null(strstr(text, lines[other]));
        assert_null(strstr(text, lines[!other]));
        assert_non_null(
            strstr(text, "speedup          1.41 ->     1.41, modelled, geometric means of 2 and 2 tasks\n"));
        free(text);
    }
    free_rows(&before);
    free_rows(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_of_all_tasks),
        cmocka_unit_test(test_without_times_nothing_is_said_about_speed),
        cmocka_unit_test(test_the_table_prints_them),
        cmocka_unit_test(test_the_page_prints_them),
        cmocka_unit_test(test_other_programs_get_them),
        cmocka_unit_test(test_kernels_as_the_baseline),
        cmocka_unit_test(test_the_first_samples),
        cmocka_unit_test(test_the_page_names_the_baseline),
        cmocka_unit_test(test_runs_over_two_baselines_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
