/* The model of time: what a Matmul object's products and results wait for. */
#include "unit/npu/adv/product.h"

#include "npu/time/rates.h"

#include <math.h>

enum { LONGEST = 64 };

/* Work of the one AIC, by lane, in the order of the tape. */
static struct {
    double start[NPU_LANES][LONGEST], end[NPU_LANES][LONGEST], bytes[NPU_LANES][LONGEST];
    int count[NPU_LANES];
} seen;
static uint32_t flags;
static int step_m, depth_a, depth_b; /* of the tiling; 0: as it is */
static int blocks = 1;               /* AICs, of which the last one works */
static double fixed;                 /* cycles that figures of Fixpipe count as work, of the newest */

static void see(void *closure, const struct npu_timeline_slice *slice)
{
    (void)closure;
    if (slice->end <= slice->start || seen.count[slice->lane] == LONGEST)
        return;
    const int at = seen.count[slice->lane]++;
    seen.start[slice->lane][at] = slice->start;
    seen.end[slice->lane][at] = slice->end;
    seen.bytes[slice->lane][at] = (double)slice->bytes;
}

static void flagged(uint64_t unused, ...)
{
    (void)unused;
    struct npu_matmul mm = {0};
    if (npu_block_idx() != blocks - 1)
        return;
    npu_pipe_create();
    describe(&mm, it.p);
    mm.flags |= flags;
    npu_matmul_register(&mm);
    npu_matmul_init(&mm, (uint64_t)&it.tiling, sizeof it.tiling, NULL);
    set_both(&mm);
    struct npu_matmul_output out = {.gm = gm_tensor(it.c), .sync = true};
    npu_matmul_iterate_all(&mm, &out);
    npu_matmul_end(&mm);
    npu_pipe_destroy();
}

/* Cycles of the product with these flags; its result is right. */
static double cycles_of(const struct product *p, uint32_t with)
{
    flags = with;
    fill_memory(p);
    it.tiling.stepM = step_m ? step_m : 1;
    it.tiling.depthA1 = depth_a ? depth_a : it.tiling.depthA1;
    it.tiling.depthB1 = depth_b ? depth_b : it.tiling.depthB1;
    memset(&seen, 0, sizeof seen);
    const struct npu_config config = {.soc = npu_soc_find("910B2"),
                                      .kernel_type = NPU_TYPE_AIC_ONLY,
                                      .aic_kernel = (void *)flagged,
                                      .reserved_workspace = 16 << 20,
                                      .timing = true,
                                      .slice = see};
    const struct gm_part parts[] = {{"a", it.a, MOST, NPU_GM_INPUT, true},
                                    {"b", it.b, MOST, NPU_GM_INPUT, true},
                                    {"c", it.c, MOST, NPU_GM_OUTPUT, true}};
    struct npu *npu = machine_make(&config, parts, 3);
    no_finding(npu, p->name, npu_launch(npu, NULL, no_arguments, 0, blocks));
    compare(p, it.c);
    const struct npu_timing timing = npu_timing(npu);
    npu_destroy(npu);
    assert_true(timing.known);
    assert_true(timing.cycles >= timing.bound_cycles);
    fixed = timing.of[1].busy[NPU_LANE_FIX];
    return timing.cycles;
}

/* Four blocks of four products each: a result leaves L0C before the last product of its block is done; without the flag each waits
 * for the whole of the other. */
static void test_unit_flag(void **state)
{
    (void)state;
    enum { BLOCKS = 4, PRODUCTS = 4 };
    static const struct product p = {.name = "unit flag",
                                     .type = AKGEN_FLOAT16,
                                     .c_type = AKGEN_FLOAT,
                                     .m = 256,
                                     .n = 256,
                                     .k = 256,
                                     .base_m = 128,
                                     .base_n = 128,
                                     .base_k = 64};
    double cycles[2], at_work[2];
    for (int shared = 0; shared < 2; shared++) {
        cycles[shared] = cycles_of(&p, shared ? NPU_MATMUL_UNIT_FLAG : 0);
        at_work[shared] = fixed;
        assert_int_equal(seen.count[NPU_LANE_M], BLOCKS * PRODUCTS);
        assert_int_equal(seen.count[NPU_LANE_FIX], BLOCKS);
        for (int block = 0; block < BLOCKS; block++) {
            const double *products = &seen.end[NPU_LANE_M][block * PRODUCTS];
            const double leaves = seen.start[NPU_LANE_FIX][block];
            assert_true(leaves >= products[PRODUCTS - 2]);
            assert_int_equal(leaves < products[PRODUCTS - 1], shared);
            if (block + 1 < BLOCKS && !shared)
                assert_true(seen.start[NPU_LANE_M][(block + 1) * PRODUCTS] >= seen.end[NPU_LANE_FIX][block]);
        }
    }
    assert_true(cycles[1] < cycles[0]);
    assert_true(at_work[1] > at_work[0]); /* it waits inside Fixpipe */
}

/* Products that take longer for a fractal than Fixpipe does not let it begin: nothing is shared. */
static void test_unit_flag_of_slow_products(void **state)
{
    (void)state;
    static const struct product p = {.name = "slow products",
                                     .type = AKGEN_FLOAT16,
                                     .c_type = AKGEN_FLOAT,
                                     .m = 128,
                                     .n = 128,
                                     .k = 512,
                                     .base_m = 64,
                                     .base_n = 64,
                                     .base_k = 256};
    const double without = cycles_of(&p, 0), with = cycles_of(&p, NPU_MATMUL_UNIT_FLAG);
    assert_true(fabs(with - without) < 1e-9 * without);
}

/* Two rows of base blocks of A fill L1. With NBuffer33MatmulPolicy they come one after the other, and the first is multiplied while
 * the second is on its way; without, the first product waits for both. */
static void test_rows_of_a_come_one_by_one(void **state)
{
    (void)state;
    static const struct product p = {.name = "NBuffer33",
                                     .type = AKGEN_FLOAT16,
                                     .c_type = AKGEN_FLOAT,
                                     .m = 128,
                                     .n = 64,
                                     .k = 256,
                                     .base_m = 64,
                                     .base_n = 64,
                                     .base_k = 64,
                                     .step_k = 4};
    double first[2], cycles[2];
    int copies[2];
    step_m = 2;
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        cycles[by_rows] = cycles_of(&p, NPU_MATMUL_LARGE | (by_rows ? NPU_MATMUL_N_BUFFER : 0));
        first[by_rows] = seen.start[NPU_LANE_M][0];
        copies[by_rows] = seen.count[NPU_LANE_MTE2];
        assert_int_equal(seen.count[NPU_LANE_M], 2 * 4);
    }
    step_m = 0;
    const double row = 64.0 * 256 * 2 / NPU_RATE_READ_HBM_AIC;
    assert_int_equal(copies[1], copies[0] + 1);
    assert_true(first[0] - first[1] > 0.8 * row && first[0] - first[1] < 1.2 * row);
    assert_true(cycles[1] < cycles[0]);
    assert_true(seen.start[NPU_LANE_M][0] < seen.end[NPU_LANE_MTE2][copies[1] - 1]);
}

/* B comes by columns of base blocks that L1 has room for two of. With doMTE2Preload the second is on its way before the first is
 * multiplied, and nothing waits for it before it is wanted; where not all of K is in L1 at once the flag says nothing. */
static void test_columns_of_b_come_ahead(void **state)
{
    (void)state;
    struct product p = {.name = "MTE2-Preload",
                        .type = AKGEN_FLOAT16,
                        .c_type = AKGEN_FLOAT,
                        .m = 64,
                        .n = 256,
                        .k = 256,
                        .base_m = 64,
                        .base_n = 64,
                        .base_k = 32,
                        .step_k = 8};
    double cycles[2], second[2];
    depth_b = 16;
    for (int ahead = 0; ahead < 2; ahead++) {
        cycles[ahead] = cycles_of(&p, NPU_MATMUL_LARGE | (ahead ? NPU_MATMUL_AHEAD_N : 0));
        assert_int_equal(seen.count[NPU_LANE_MTE2], 1 + 4);
        second[ahead] = seen.start[NPU_LANE_MTE2][2];
        assert_true(seen.start[NPU_LANE_M][0] < seen.end[NPU_LANE_MTE2][2]);
    }
    assert_true(second[1] <= second[0] && cycles[1] <= cycles[0]);
    p.step_k = 4;
    depth_b = 8;
    assert_true(cycles_of(&p, NPU_MATMUL_LARGE) == cycles_of(&p, NPU_MATMUL_LARGE | NPU_MATMUL_AHEAD_N));
    depth_b = 0;
}

/* Norm: with room for one block of A and one of B in L1 the next copy waits for both loads out of it, with room for two it is under
 * way before. */
static void test_norm_with_room_for_two(void **state)
{
    (void)state;
    static const struct product p = {.name = "Norm",
                                     .type = AKGEN_FLOAT16,
                                     .c_type = AKGEN_FLOAT,
                                     .m = 64,
                                     .n = 64,
                                     .k = 512,
                                     .base_m = 64,
                                     .base_n = 64,
                                     .base_k = 64};
    double cycles[2];
    for (int room = 1; room <= 2; room++) {
        depth_a = depth_b = room;
        cycles[room - 1] = cycles_of(&p, 0);
        assert_int_equal(seen.count[NPU_LANE_MTE2], 2 * 8);
        const double loaded = seen.start[NPU_LANE_M][0], second = seen.start[NPU_LANE_MTE2][2];
        assert_true(room == 1 ? second >= loaded - NPU_RATE_FLAG : second < loaded);
    }
    depth_a = depth_b = 0;
    assert_true(cycles[1] < cycles[0]);
}

/* K is two whole pieces and half of one. With enableKdimReorderLoad the second AIC begins with the second; Norm does not know the
 * flag. */
static void test_cores_begin_elsewhere_along_k(void **state)
{
    (void)state;
    static const struct product p = {.name = "K goes round",
                                     .type = AKGEN_FLOAT16,
                                     .c_type = AKGEN_FLOAT,
                                     .m = 64,
                                     .n = 64,
                                     .k = 160,
                                     .base_m = 64,
                                     .base_n = 64,
                                     .base_k = 64,
                                     .step_k = 1};
    static const struct {
        uint32_t flags;
        int block, half; /* which piece is the short one */
    } runs[] = {{NPU_MATMUL_LARGE, 1, 2},
                {NPU_MATMUL_LARGE | NPU_MATMUL_AROUND_K, 0, 2},
                {NPU_MATMUL_LARGE | NPU_MATMUL_AROUND_K, 1, 1},
                {NPU_MATMUL_LARGE | NPU_MATMUL_AROUND_K, 2, 0},
                {NPU_MATMUL_AROUND_K, 1, 2}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        blocks = runs[i].block + 1;
        cycles_of(&p, runs[i].flags);
        assert_int_equal(seen.count[NPU_LANE_MTE2], 2 * 3);
        for (int piece = 0; piece < 3; piece++)
            assert_true(seen.bytes[NPU_LANE_MTE2][2 * piece] == 64.0 * (piece == runs[i].half ? 32 : 64) * 2);
    }
    blocks = 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unit_flag),
        cmocka_unit_test(test_unit_flag_of_slow_products),
        cmocka_unit_test(test_rows_of_a_come_one_by_one),
        cmocka_unit_test(test_columns_of_b_come_ahead),
        cmocka_unit_test(test_norm_with_room_for_two),
        cmocka_unit_test(test_cores_begin_elsewhere_along_k),
    };
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
