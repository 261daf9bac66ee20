/* Tiling of high-level APIs: sizes against the published formulas worked out by hand. */
#include "abi/tiling_abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void expect_tmp(enum akgen_tmp_api api, int64_t elements, uint32_t type_size, bool reuse, uint32_t max,
                       uint32_t min)
{
    uint32_t got_max = 1, got_min = 1;
    akgen_tmp_elementwise(api, elements, type_size, reuse, &got_max, &got_min);
    assert_int_equal(got_max, max);
    assert_int_equal(got_min, min);
}

static void elementwise_space(void **state)
{
    (void)state;
    expect_tmp(AKGEN_TMP_Acos, 1024, 2, false, 6 * 2048, 6 * 256);
    expect_tmp(AKGEN_TMP_Acos, 1024, 4, false, 2 * 4096, 2 * 256);
    expect_tmp(AKGEN_TMP_Sigmoid, 16, 2, false, 256, 256);
    expect_tmp(AKGEN_TMP_Sin, 1024, 4, true, 2 * 4096, 2 * 256);
    expect_tmp(AKGEN_TMP_Exp, 1024, 2, false, 4 * 4096, 4 * 256);
    expect_tmp(AKGEN_TMP_Clamp, 1000, 2, false, 1000, 128);
    expect_tmp(AKGEN_TMP_Log, 1000, 4, false, 0, 0);
    /* CANN asserts that there are elements and leaves the results alone. */
    expect_tmp(AKGEN_TMP_Acos, 0, 4, false, 1, 1);
    uint32_t live = 9, extra = 9;
    akgen_tmp_factor(AKGEN_TMP_Exp, 2, &live, &extra);
    assert_int_equal(live, 8);
    assert_int_equal(extra, 0);
}

static void sum_space(void **state)
{
    (void)state;
    uint32_t max = 0, min = 0;
    /* 1000 floats are 16 repeats of 64, two blocks of 8 sums. */
    akgen_tmp_sum(1000, 4, &max, &min);
    assert_int_equal(max, 64);
    assert_int_equal(min, 64);
    /* A mean of halves in float: 1000 floats and their 16 repeats in 32 bytes. */
    akgen_tmp_mean(1000, 2, 4, &max, &min);
    assert_int_equal(max, 32 + 1008 * 4);
}

static struct akgen_softmax softmax(enum akgen_softmax_kind kind, int64_t rows, int64_t length, uint32_t type_size)
{
    struct akgen_softmax softmax = {.kind = kind, .type_size = type_size, .max_type_size = type_size};
    softmax.shape = (struct akgen_shape){.rank = 2, .dims = {rows, length}};
    return softmax;
}

static void softmax_space(void **state)
{
    (void)state;
    struct akgen_softmax call = softmax(AKGEN_SOFTMAX, 10, 128, 4);
    assert_int_equal(akgen_softmax_min(&call), (8 + 128 + 64) * 4);
    assert_int_equal(akgen_softmax_max(&call), 10 * (8 + 128 + 64) * 4);
    call = softmax(AKGEN_SOFTMAX_GRAD, 10, 128, 2);
    assert_int_equal(akgen_softmax_min(&call), (2 * 16 + 3 * 128 + 64) * 4);
    call = softmax(AKGEN_SOFTMAX_FLASH_V2, 64, 1024, 4);
    call.basic_block = true;
    assert_int_equal(akgen_softmax_min(&call), 8 * (8 + 128) * 4);
    assert_int_equal(akgen_softmax_max(&call), 8 * (8 + 128) * 4); /* 64 rows are halved until 8 * 1024 < 16384 */
    call.type_size = 8;
    assert_int_equal(akgen_softmax_max(&call), 0);
}

static void softmax_rows(void **state)
{
    (void)state;
    struct akgen_SoftMaxTiling tiling = {0};
    struct akgen_softmax call = softmax(AKGEN_SOFTMAX, 20, 100, 4);
    /* Space for 11 rows: whole groups of 8, so 8, 8 and a tail of 4. */
    akgen_softmax_tiling(&call, 11 * (8 + 100 + 64) * 4, &tiling);
    assert_int_equal(tiling.srcM, 20);
    assert_int_equal(tiling.splitM, 8);
    assert_int_equal(tiling.splitSize, 800);
    assert_int_equal(tiling.reduceSize, 64);
    assert_int_equal(tiling.rangeM, 2);
    assert_int_equal(tiling.tailM, 4);
    assert_int_equal(tiling.tailSplitSize, 400);
    assert_false(akgen_softmax_is_basic_block(&tiling, 4));
    /* Rows of basic blocks: a divisor of the rows. 24 of 40 fit, 24 does not divide, 16 neither, 8 does. */
    call = softmax(AKGEN_SOFTMAX, 40, 64, 4);
    akgen_softmax_tiling(&call, 30 * (8 + 64 + 64) * 4, &tiling);
    assert_int_equal(tiling.splitM, 8);
    assert_int_equal(tiling.tailM, 0);
    assert_true(akgen_softmax_is_basic_block(&tiling, 4));
    /* Too little space for a row. */
    akgen_softmax_tiling(&call, 100, &tiling);
    assert_int_equal(tiling.splitM, 0);
    assert_int_equal(tiling.rangeM, 0);
}

static struct akgen_shape shape2(int64_t first, int64_t last)
{
    return (struct akgen_shape){.rank = 2, .dims = {first, last}};
}

static void power_space(void **state)
{
    (void)state;
    const struct akgen_shape tensor = shape2(8, 128), number = {.rank = 1, .dims = {1}};
    uint32_t max, min;
    akgen_tmp_power(&tensor, &tensor, false, 4, &max, &min);
    assert_int_equal(max, 4 * 4096 + 256);
    assert_int_equal(min, 4 * 256 + 256);
    akgen_tmp_power(&number, &tensor, false, 2, &max, &min);
    assert_int_equal(max, 14 * 2048 + 256);
    assert_int_equal(min, 14 * 128 + 256);
    akgen_tmp_power(&tensor, &number, true, 4, &max, &min);
    assert_int_equal(max, 7 * 4096);
    assert_int_equal(min, 7 * 256);
}

static void broadcast_space(void **state)
{
    (void)state;
    struct akgen_shape column = shape2(10, 1), row = shape2(1, 64), to = shape2(10, 64), ragged = shape2(10, 60);
    uint32_t max, min;
    akgen_tmp_broadcast(&row, &to, 4, &max, &min);
    assert_int_equal(max, 32);
    /* Brcb: a block for each of 8 rows at least, for 16 rows at most. */
    akgen_tmp_broadcast(&column, &to, 4, &max, &min);
    assert_int_equal(min, 8 * 8 * 4);
    assert_int_equal(max, 16 * 8 * 4);
    akgen_tmp_broadcast(&column, &ragged, 4, &max, &min);
    assert_int_equal(min, 8 * 8 * 4 + 8 * 64 * 4);
    assert_int_equal(max, 16 * 8 * 4 + 10 * 64 * 4);
    /* Bytes become halves: 16 and 640 of them. */
    akgen_tmp_broadcast(&row, &to, 1, &max, &min);
    assert_int_equal(max, 32 + (64 + 640) * 2);
    akgen_tmp_broadcast(&to, &to, 4, &max, &min);
    assert_int_equal(max, 0);
}

static void select_space_is_padded(void **state)
{
    (void)state;
    struct akgen_shape source = shape2(100, 96), mask = shape2(100, 128), number = {.rank = 0};
    uint32_t max, min;
    akgen_tmp_select(&source, &number, &mask, 1, false, &max, &min);
    assert_int_equal(max, 9600 * 2 + 512 + 9600);
    assert_int_equal(min, 4096 * 2 + 512 + 9600);
    akgen_tmp_select(&number, &source, &mask, 1, true, &max, &min);
    assert_int_equal(max, 9600 * 2 + 512);
}

static void quantisation_space(void **state)
{
    (void)state;
    struct akgen_shape shape = shape2(4, 64), channels = shape2(1, 64), one = shape2(1, 1);
    uint32_t max, min, live, extra;
    akgen_tmp_quant(&shape, &max, &min);
    assert_int_equal(max, 512);
    akgen_tmp_dequant(&shape, &max, &min);
    assert_int_equal(max, (64 + 4 * 64 + 72) * 4);
    assert_int_equal(min, (64 + 64 + 72) * 4);
    akgen_tmp_dequant_factor(&shape, &live, &extra);
    assert_int_equal(live, 1);
    assert_int_equal(extra, 8 + 64 + 64);
    akgen_tmp_antiquant(&shape, &channels, false, false, &max, &min);
    assert_int_equal(max, (2 * 64 + 64 * 4) * 4);
    akgen_tmp_antiquant(&shape, &one, false, false, &max, &min);
    assert_int_equal(max, 256 * 4);
    assert_int_equal(min, 1024);
    akgen_tmp_antiquant(&shape, &channels, true, true, &max, &min);
    assert_int_equal(max, 0);
}

static void reduction_space(void **state)
{
    (void)state;
    struct akgen_shape shape = shape2(6, 100), narrow = shape2(6, 64);
    /* 100 columns fold into 64; 6 rows into 4 of 104 floats. */
    assert_int_equal(akgen_tmp_reduce(AKGEN_REDUCE_SUM, &shape, 4, true, false), 6 * 64 * 4);
    assert_int_equal(akgen_tmp_reduce(AKGEN_REDUCE_SUM, &narrow, 4, true, false), 0);
    assert_int_equal(akgen_tmp_reduce(AKGEN_REDUCE_SUM, &shape, 4, false, false), 4 * 416);
    assert_int_equal(akgen_tmp_reduce(AKGEN_REDUCE_EXTREME, &shape, 4, true, false), 6 * 256);
    assert_int_equal(akgen_tmp_reduce(AKGEN_REDUCE_EXTREME, &shape, 4, true, true), 0);
    assert_int_equal(akgen_tmp_reduce(AKGEN_REDUCE_PRODUCT, &shape, 4, true, false), (64 + 48) * 4 + 256);
    assert_int_equal(akgen_tmp_reduce(AKGEN_REDUCE_LOGIC, &shape, 1, true, true), 128 * 2 + 6 * 32);
    assert_int_equal(akgen_tmp_xor_sum(&shape, 2, false), 3 * 1200);
}

static void norm_space(void **state)
{
    (void)state;
    struct akgen_shape shape = {.rank = 4, .dims = {2, 5, 64, 60}};
    uint32_t max, min;
    akgen_tmp_layer_norm(&shape, 2, false, &max, &min);
    assert_int_equal(max, 3 * 10 * 64 * 4 + 2 * 64);
    assert_int_equal(min, 3 * 64 * 4 + 2 * 64);
    shape.rank = 3;
    assert_true(akgen_tmp_rms_norm(&shape, 2, false, &max, &min));
    assert_int_equal(max, (2 * 640 + 16) * 4);
    assert_int_equal(min, (2 * 64 + 8) * 4);
    assert_false(akgen_tmp_rms_norm(&shape, 2, true, &max, &min)); /* ten rows are no multiple of eight */
}

static void layer_norm_rows(void **state)
{
    (void)state;
    struct akgen_shape shape = {.rank = 4, .dims = {2, 5, 64, 60}};
    struct akgen_LayerNormTiling tiling = {0};
    /* 32 floats of statistics and three buffers with room for four rows. */
    akgen_layer_norm_tiling(&shape, (32 + 3 * (4 * 64 + 10)) * 4, 2, false, &tiling);
    assert_int_equal(tiling.oneTmpSize, 256);
    assert_int_equal(tiling.firstTmpStartPos, 32);
    assert_int_equal(tiling.thirdTmpStartPos, 32 + 512);
    assert_int_equal(tiling.loopRound, 2);
    assert_int_equal(tiling.inputTailSize, 128);
    assert_int_equal(tiling.meanVarTailPos, 8);
    assert_float_equal(tiling.lastDimValueBack, 1.0 / 60, 1e-7);
    struct akgen_RmsNormTiling rms = {0};
    shape.rank = 3;
    struct akgen_shape original = shape;
    original.dims[2] = 60;
    assert_true(akgen_rms_norm_tiling(&shape, &original, (3 * 64 + 8) * 4, 4, false, &rms));
    assert_int_equal(rms.mainBsLength, 3);
    assert_int_equal(rms.loopRound, 3);
    assert_int_equal(rms.tailBsLength, 1);
    assert_int_equal(rms.inputTailPos, 576);
    assert_false(akgen_rms_norm_tiling(&shape, &original, 64, 4, false, &rms));
}

static void deep_norm_groups_rows(void **state)
{
    (void)state;
    struct akgen_shape shape = {.rank = 3, .dims = {4, 6, 128}}, padded = shape;
    struct akgen_DeepNormTiling tiling = {0};
    uint32_t max, min;
    assert_true(akgen_tmp_deep_norm(&shape, 4, true, true, &max, &min));
    assert_int_equal(max, 2 * 24 * 128 * 4 + 2 * 96);
    /* Two buffers with room for eleven rows: a group of eight at a time, three times. */
    assert_true(akgen_deep_norm_tiling(&shape, &padded, 2 * 11 * 128 * 4, 4, true, true, &tiling));
    assert_int_equal(tiling.bsCurLength, 8);
    assert_int_equal(tiling.loopRound, 3);
    assert_int_equal(tiling.inputTailSize, 0);
    padded.dims[2] = 120;
    assert_false(akgen_deep_norm_tiling(&shape, &padded, max, 4, true, true, &tiling));
    assert_true(akgen_deep_norm_tiling(&shape, &padded, 2 * 11 * 128 * 4, 4, true, false, &tiling));
    assert_int_equal(tiling.bsCurLength, 11);
    assert_int_equal(tiling.inputTailPos, 22 * 128);
    assert_float_equal(tiling.lastDimValueBack, 1.0 / 120, 1e-7);
    shape.dims[0] = 1; /* six rows are no group */
    assert_false(akgen_tmp_deep_norm(&shape, 4, true, true, &max, &min));
}

static void topk_pairs(void **state)
{
    (void)state;
    struct akgen_TopkTiling tiling;
    uint32_t max, min;
    assert_true(akgen_topk_tiling(64, 2, 10, 4, false, false, true, &tiling));
    assert_int_equal(tiling.tmpLocalSize, 64 * 5);
    assert_int_equal(tiling.srcIndexOffset, 64 * 4);
    assert_int_equal(tiling.maskOffset, 2 * 16);
    assert_int_equal(tiling.mrgSortSrc3offset, 6);
    akgen_tmp_topk(64, 2, false, false, true, &max, &min);
    assert_int_equal(max, 64 * 5 * 4);
    assert_true(akgen_topk_tiling(32, 4, 18, 2, true, true, false, &tiling));
    assert_int_equal(tiling.innerDataSize, 128 * 4);
    assert_int_equal(tiling.tmpLocalSize, 128 * 4 + 128 + 32);
    assert_int_equal(tiling.vreduceIdxMask0, 0xaaaaaaaa);
    assert_int_equal(tiling.vreduceIdxMask1, 0xa);
    assert_int_equal(tiling.vreducehalfValMask3, 0x1111);
    assert_int_equal(tiling.vreducehalfValMask4, 0x11);
    assert_int_equal(tiling.vreducehalfValMask5, 0);
}

/* What docs/zh/api, TCubeTiling, asks of a tiling, recomputed here. */
static int64_t up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit;
}

static void check_memories(const struct akgen_TCubeTiling *tiling, int64_t bytes)
{
    int64_t a = (int64_t)tiling->baseM * tiling->baseK * bytes, b = (int64_t)tiling->baseK * tiling->baseN * bytes;
    int64_t bias = tiling->isBias ? tiling->baseN * 4LL : 0;
    assert_in_range(a * tiling->dbL0A, 1, 65536);
    assert_in_range(b * tiling->dbL0B, 1, 65536);
    assert_in_range((int64_t)tiling->baseM * tiling->baseN * 4 * tiling->dbL0C, 1, 131072);
    assert_in_range(a * tiling->depthA1 + b * tiling->depthB1 + bias, 1, 524288);
    assert_int_equal(tiling->shareL1Size, a * tiling->depthA1 + b * tiling->depthB1 + bias);
}

static void check_constraints(const struct akgen_matmul *call, const struct akgen_TCubeTiling *tiling, int64_t bytes)
{
    int64_t unit = bytes == 1 ? 32 : 16;
    assert_int_equal(tiling->baseM % 16, 0);
    assert_int_equal(tiling->baseN % 16, 0);
    assert_int_equal(tiling->baseK % unit, 0);
    check_memories(tiling, bytes);
    assert_int_equal(tiling->depthA1 % (tiling->stepM * tiling->stepKa), 0);
    assert_in_range(tiling->depthA1 / (tiling->stepM * tiling->stepKa), 1, 2);
    assert_in_range(tiling->depthB1 / (tiling->stepN * tiling->stepKb), 1, 2);
    assert_int_equal(tiling->stepM, 1);
    assert_int_equal(tiling->stepN, 1);
    assert_in_range(tiling->singleCoreM, 1, call->m);
    assert_in_range(tiling->singleCoreN, 1, call->n);
    int64_t cores =
        up(call->m, tiling->singleCoreM) * up(call->n, tiling->singleCoreN) * up(call->k, tiling->singleCoreK);
    assert_int_equal(tiling->usedCoreNum, cores);
    assert_true(cores <= (call->cores ? call->cores : 1));
    assert_true(call->split_k || tiling->singleCoreK == call->k);
    if (tiling->isBias)
        assert_true(tiling->baseN <= 256);
}

static struct akgen_matmul product(int32_t m, int32_t n, int32_t k, int dtype)
{
    struct akgen_matmul call;
    akgen_matmul_init(&call);
    call.m = m;
    call.n = n;
    call.k = k;
    call.a.dtype = call.b.dtype = dtype;
    return call;
}

enum { FLOAT, HALF, INT8, INT16 = 6 };

static void matmul_is_legal(void **state)
{
    (void)state;
    static const int32_t sizes[] = {1, 15, 16, 17, 100, 256, 1000, 5000}, cores[] = {0, 1, 7, 20, 48};
    static const int64_t bytes[] = {4, 2, 1};
    int checked = 0;
    for (size_t m = 0; m < 8; m++)
        for (size_t n = 0; n < 8; n++)
            for (size_t k = 0; k < 8; k++)
                for (size_t c = 0; c < 5; c++)
                    for (int dtype = FLOAT; dtype <= INT8; dtype++, checked++) {
                        struct akgen_matmul call = product(sizes[m], sizes[n], sizes[k], dtype);
                        struct akgen_TCubeTiling tiling;
                        call.cores = cores[c];
                        call.has_bias = (m + n + k) % 2;
                        call.split_k = cores[c] == 20;
                        assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
                        check_constraints(&call, &tiling, bytes[dtype]);
                    }
    assert_int_equal(checked, 8 * 8 * 8 * 5 * 3);
}

static void matmul_is_sensible(void **state)
{
    (void)state;
    struct akgen_TCubeTiling tiling;
    struct akgen_matmul call = product(1024, 1024, 1024, HALF);
    call.cores = 16;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    /* Four by four parts; the base block that the documentation recommends. */
    assert_int_equal(tiling.usedCoreNum, 16);
    assert_int_equal(tiling.singleCoreM, 256);
    assert_int_equal(tiling.singleCoreN, 256);
    assert_int_equal(tiling.baseM, 128);
    assert_int_equal(tiling.baseN, 256);
    assert_int_equal(tiling.baseK, 64);
    assert_int_equal(tiling.dbL0C, 1);
    assert_int_equal(tiling.M, 1024);
    /* A size that SetShape leaves open is SetOrgShape's. */
    call.m = call.n = -1;
    call.org_m = call.org_n = call.org_ka = call.org_kb = 1024;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_int_equal(tiling.singleCoreM, 256);
    assert_int_equal(tiling.singleCoreN, 256);
    /* 80 x 176 on 48 cores would be a little less for each; 128 x 128 on 40 leaves no rest. */
    call = product(640, 1024, 512, HALF);
    call.cores = 48;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_int_equal(tiling.usedCoreNum, 40);
    assert_int_equal(tiling.singleCoreM, 128);
    assert_int_equal(tiling.singleCoreN, 128);
    /* Two equal ways to cut: along M. */
    call = product(512, 512, 128, HALF);
    call.cores = 2;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_int_equal(tiling.singleCoreM, 256);
    assert_int_equal(tiling.singleCoreN, 512);
    /* One core's, though there are as many fractals of C as cores. */
    call = product(64, 64, 64, HALF);
    call.cores = 16;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_int_equal(tiling.usedCoreNum, 1);
    call.cores = 15;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_true(tiling.usedCoreNum > 1);
    /* All of k fits into L1, so nothing is loaded twice. */
    call = product(128, 128, 256, HALF);
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_int_equal(tiling.stepKa * tiling.baseK, 256);
    assert_int_equal(tiling.depthA1, tiling.stepKa);
}

static void matmul_obeys(void **state)
{
    (void)state;
    struct akgen_TCubeTiling tiling;
    struct akgen_matmul call = product(512, 512, 512, HALF);
    assert_int_equal(akgen_matmul_fix_split(&call, 100, -1, -1), -1);
    assert_int_equal(akgen_matmul_fix_split(&call, -1, 128, 8), -1);
    assert_int_equal(akgen_matmul_fix_split(&call, 64, 128, 128), 0);
    call.n_first = true;
    call.org_m = 2000;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_int_equal(tiling.baseM, 64);
    assert_int_equal(tiling.baseN, 128);
    assert_int_equal(tiling.baseK, 128);
    assert_int_equal(tiling.iterateOrder, 1);
    assert_int_equal(tiling.M, 2000);
    assert_int_equal(tiling.dbL0C, 2);
    /* 512 * 512 floats are eight times L0C. */
    call.base_m = call.base_n = 512;
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), -1);

    call = product(512, 512, 512, HALF);
    assert_int_equal(akgen_matmul_buffer_space(&call, 1 << 30, -1, -1, -1), -1);
    assert_int_equal(akgen_matmul_buffer_space(&call, 65536, 32768, -1, -1), 0);
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), 0);
    assert_true(tiling.shareL1Size <= 65536);
    assert_true(tiling.shareL0CSize <= 32768);

    call = product(512, 512, 512, HALF);
    call.cores = 4;
    call.single_m = 100; /* six rows of parts need six cores */
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), -1);
    call = product(512, 512, 512, INT16);
    assert_int_equal(akgen_matmul_tiling(&call, &tiling), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_space),
        cmocka_unit_test(broadcast_space),
        cmocka_unit_test(select_space_is_padded),
        cmocka_unit_test(quantisation_space),
        cmocka_unit_test(reduction_space),
        cmocka_unit_test(norm_space),
        cmocka_unit_test(deep_norm_groups_rows),
        cmocka_unit_test(layer_norm_rows),
        cmocka_unit_test(topk_pairs),
        cmocka_unit_test(matmul_is_legal),
        cmocka_unit_test(matmul_is_sensible),
        cmocka_unit_test(matmul_obeys),
        cmocka_unit_test(elementwise_space),
        cmocka_unit_test(sum_space),
        cmocka_unit_test(softmax_space),
        cmocka_unit_test(softmax_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
