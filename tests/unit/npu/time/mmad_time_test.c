/* The model of time: Mmad and Fixpipe that share L0C by unit flags, and that wait for each other. */
#include "unit/npu/cube/program.h"

enum { SIDE = 128, LONGEST = 8 };

static struct {
    double start[NPU_LANES][LONGEST], end[NPU_LANES][LONGEST];
    int count[NPU_LANES];
} seen;
static bool shared;

static void see(void *closure, const struct npu_timeline_slice *slice)
{
    (void)closure;
    if (slice->end <= slice->start || seen.count[slice->lane] == LONGEST)
        return;
    const int at = seen.count[slice->lane]++;
    seen.start[slice->lane][at] = slice->start;
    seen.end[slice->lane][at] = slice->end;
}

static void multiply(uint8_t init, uint8_t unit_flag)
{
    struct npu_insn insn = {.op = NPU_OP_MMAD,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT16,
                            .src1_type = AKGEN_FLOAT16,
                            .dst = local_at(NPU_CO1, 0, 0),
                            .src0 = local_at(NPU_A2, 0, 0),
                            .src1 = local_at(NPU_B2, 0, 0),
                            .mmad = {.m = SIDE, .n = SIDE, .k = 64, .init = init, .unit_flag = shared ? unit_flag : 0}};
    npu_issue(&insn);
}

static void leave(void)
{
    struct npu_insn insn = {.op = NPU_OP_FIXPIPE,
                            .src_type = AKGEN_FLOAT,
                            .dst_type = AKGEN_FLOAT,
                            .dst = gm_tensor(cube_out),
                            .src0 = local_at(NPU_CO1, 0, 0),
                            .fixpipe = {.n = SIDE,
                                        .m = SIDE,
                                        .src_stride = SIDE,
                                        .dst_stride = SIDE,
                                        .nd_num = 1,
                                        .unit_flag = shared ? 3 : 0,
                                        .nz2nd = 1}};
    if (!shared)
        cube_join();
    npu_issue(&insn);
    if (!shared)
        cube_join();
}

/* A block of two products, and one of a single product in the same place of L0C. */
static void two_blocks(uint64_t unused, ...)
{
    (void)unused;
    npu_pipe_create();
    cube_fill(NPU_A2, 0, SIDE * 64 * 2);
    cube_fill(NPU_B2, 0, SIDE * 64 * 2);
    multiply(NPU_C_ZERO, 2);
    multiply(NPU_C_ACCUMULATE, 3);
    leave();
    multiply(NPU_C_ZERO, 3);
    leave();
    npu_pipe_destroy();
}

static void test_unit_flags(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        const struct npu_config config = {.soc = npu_soc_find("910B2"),
                                          .sync = NPU_SYNC_MANUAL,
                                          .kernel_type = NPU_TYPE_AIC_ONLY,
                                          .aic_kernel = (void *)two_blocks,
                                          .timing = true,
                                          .slice = see};
        const struct gm_part parts[] = {{"in", cube_in, GM_BYTES, NPU_GM_INPUT, true},
                                        {"out", cube_out, GM_BYTES, NPU_GM_OUTPUT, true}};
        shared = with;
        memset(&seen, 0, sizeof seen);
        assert_string_equal(launch_once(&config, (void *)two_blocks, parts, 2).fatal, "");
        const double *products = seen.end[NPU_LANE_M];
        assert_int_equal(seen.count[NPU_LANE_M], 3);
        assert_int_equal(seen.count[NPU_LANE_FIX], 2);
        assert_true(seen.start[NPU_LANE_FIX][0] >= products[0]);
        assert_int_equal(seen.start[NPU_LANE_FIX][0] < products[1], with);
        assert_int_equal(seen.start[NPU_LANE_M][2] < seen.end[NPU_LANE_FIX][0], with);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unit_flags)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
