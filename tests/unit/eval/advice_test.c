/* Each rule of the advice shows for numbers that have its mistake, and for those beside them does not. */
#include "eval/timing.h"
#include "jail/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* 48 AIVs that copy large tiles while they compute: nothing to say. 1800 cycles are a microsecond. */
static struct npu_timing good(void)
{
    return (struct npu_timing){
        .known = true,
        .mhz = 1800,
        .cycles = 21600,
        .launch = 3600,
        .of = {{.cores = 48,
                .mean = 17000,
                .longest = 18000,
                .busy = {[NPU_LANE_S] = 2000, [NPU_LANE_V] = 5100, [NPU_LANE_MTE2] = 15300, [NPU_LANE_MTE3] = 8500}}},
        .read = 12582912,
        .written = 12582912,
        .copies_in = 768,
        .copies_out = 768,
    };
}

static const char *advice(struct arena *arena, const struct npu_timing *timing, uint64_t loads)
{
    static const struct npu_soc soc = {.name = "Ascend910B2", .aiv = 48, .aic = 24, .mhz = 1800};
    const struct npu_stats stats = {.scalar_loads = loads};
    return advice_for(arena, &soc, timing, &stats);
}

static void expect(const struct npu_timing *timing, uint64_t loads, const char *part)
{
    struct arena arena = {0};
    const char *text = advice(&arena, timing, loads);
    if (!part)
        assert_null(text);
    else {
        assert_non_null(text);
        if (!strstr(text, part))
            fail_msg("'%s' does not say '%s'", text, part);
        assert_null(strchr(text, '\n'));
    }
    arena_free(&arena);
}

static void test_a_good_kernel(void **state)
{
    (void)state;
    struct npu_timing timing = good();
    expect(&timing, 100, NULL);
    timing.launch = timing.cycles;
    timing.known = false;
    expect(&timing, 100, NULL);
}

static void test_launch(void **state)
{
    (void)state;
    struct npu_timing timing = good();
    timing.launch = 10800;
    expect(&timing, 0, "takes 6.0 of 12.0 us");
    timing.launch = 10700;
    expect(&timing, 0, NULL);
}

static void test_scalar(void **state)
{
    (void)state;
    struct npu_timing timing = good();
    timing.of[0].busy[NPU_LANE_S] = 16150;
    /* 6291456 words moved. */
    expect(&timing, 6291456, "scalar work takes 95 % of an AIV's time, with 6291456 loads and stores");
    expect(&timing, 100, "the scalar unit of an AIV is busy 95 %");
    timing.of[0].mean = 3500; /* of a core that hardly begins */
    timing.of[0].busy[NPU_LANE_S] = 3400;
    expect(&timing, 6291456, NULL);
    timing = good();
    timing.of[0].busy[NPU_LANE_S] = 15200; /* MTE2 leads */
    expect(&timing, 6291456, NULL);
    timing = good();
    timing.of[1] =
        (struct npu_timing_cores){.cores = 24, .mean = 10000, .longest = 10000, .busy = {[NPU_LANE_S] = 9000}};
    expect(&timing, 0, "the scalar unit of an AIC is busy 90 %");
}

static void test_uneven_cores(void **state)
{
    (void)state;
    struct npu_timing timing = good();
    timing.of[0].longest = 25500;
    expect(&timing, 0, "the slowest AIV works 14.2 us, 1.5 times the mean of 9.4 us");
    timing.of[0].longest = 20000;
    expect(&timing, 0, NULL);
}

static void test_idle_cores(void **state)
{
    (void)state;
    struct npu_timing timing = good();
    timing.of[0].cores = 8;
    expect(&timing, 0, "8 of the chip's 48 AIVs work, 9.4 us each");
    timing.of[0].mean = timing.of[0].longest = 3000; /* too little to share */
    memset(timing.of[0].busy, 0, sizeof timing.of[0].busy);
    expect(&timing, 0, NULL);
    timing.of[1] = (struct npu_timing_cores){.cores = 6, .mean = 9000, .longest = 9000, .busy = {[NPU_LANE_M] = 8000}};
    expect(&timing, 0, "6 of the chip's 24 AICs work, 5.0 us each");
}

static void test_small_copies(void **state)
{
    (void)state;
    struct npu_timing timing = good();
    timing.copies_in = 49152;
    expect(&timing, 0, "a copy from GM moves 256 bytes");
    timing.of[0].busy[NPU_LANE_MTE2] = 3400; /* they do no harm: MTE3 is what takes the time */
    timing.of[0].busy[NPU_LANE_MTE3] = 13600;
    expect(&timing, 0, NULL);
    timing = good();
    timing.copies_out = 24576;
    expect(&timing, 0, "a copy to GM moves 512 bytes");
    timing.copies_out = 6144; /* 2 KiB */
    expect(&timing, 0, NULL);
}

static void test_turns(void **state)
{
    (void)state;
    struct npu_timing timing = good();
    timing.of[0].busy[NPU_LANE_MTE2] = 6800;
    timing.of[0].busy[NPU_LANE_V] = 5950;
    timing.of[0].busy[NPU_LANE_MTE3] = 3400;
    expect(&timing, 0, "MTE2 (40 %), V (35 %) and MTE3 (20 %) take turns");
    for (int lane = 0; lane < NPU_LANES; lane++) /* of a core with two tiles little would overlap */
        timing.of[0].busy[lane] /= 5;
    timing.of[0].mean /= 5;
    timing.of[0].longest /= 5;
    timing.cycles = 8000;
    expect(&timing, 0, NULL);
    timing = good();
    timing.of[0].busy[NPU_LANE_MTE2] = 6800;
    timing.of[0].busy[NPU_LANE_MTE3] = 3400;
    timing.of[0].busy[NPU_LANE_V] = 11900; /* they overlap */
    expect(&timing, 0, NULL);
    timing.of[0].busy[NPU_LANE_V] = 1700; /* something else holds them up */
    expect(&timing, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_kernel), cmocka_unit_test(test_launch),     cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_uneven_cores),  cmocka_unit_test(test_idle_cores), cmocka_unit_test(test_small_copies),
        cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
