/* Reductions against plain loops: trees over neighbours, first extremes, accumulated sums. */
/* test: with=core builds=both */
#include "unit/npu/core.h"

static const char *run(struct npu_insn insn, int op)
{
    insn.op = (uint16_t)op;
    switch (op) {
    case NPU_OP_REDUCE_SUM:
    case NPU_OP_REDUCE_MAX:
    case NPU_OP_REDUCE_MIN:
        return fake_run(insn, npu_check_reduce, npu_exec_reduce);
    case NPU_OP_BLOCK_REDUCE_SUM:
    case NPU_OP_BLOCK_REDUCE_MAX:
    case NPU_OP_BLOCK_REDUCE_MIN:
        return fake_run(insn, npu_check_block_reduce, npu_exec_block_reduce);
    case NPU_OP_PAIR_REDUCE_SUM:
        return fake_run(insn, npu_check_pair_reduce, npu_exec_pair_reduce);
    case NPU_OP_VCADD_ACC:
        return fake_run(insn, npu_check_vcadd_acc, npu_exec_vcadd_acc);
    default:
        return fake_run(insn, npu_check_whole_reduce, npu_exec_whole_reduce);
    }
}

enum { DST = 0, TMP = 32768, SRC = 65536 };

static double value_at(bool half, uint32_t offset)
{
    if (half) {
        half_t h;
        memcpy(&h, fake_ub + offset, sizeof h);
        return (double)h;
    }
    float f;
    memcpy(&f, fake_ub + offset, sizeof f);
    return f;
}

static uint32_t bits_at(uint32_t offset, size_t size)
{
    uint32_t bits = 0;
    memcpy(&bits, fake_ub + offset, size);
    return bits;
}

/* Numbers whose sums round: the order of additions shows. Few distinct ones, so that extremes tie. */
static void put_numbers(bool half, bool ties)
{
    for (uint32_t at = SRC; at < UB_BYTES; at += half ? 2 : 4) {
        double number = ties ? (int)fake_random(9) - 4 : ((int)fake_random(20001) - 10000) * 0.0137;
        if (half) {
            half_t h = (half_t)number;
            memcpy(fake_ub + at, &h, sizeof h);
        } else {
            float f = (float)number;
            memcpy(fake_ub + at, &f, sizeof f);
        }
    }
}

/* Sum of a[0..n) by pairs of neighbours, n a power of two, each addition rounded to the type. Recursive on purpose. */
static double tree(bool half, const double *a, uint32_t n)
{
    if (n == 1)
        return a[0];
    double sum = tree(half, a, n / 2) + tree(half, a + n / 2, n / 2);
    return half ? (double)(half_t)sum : (double)(float)sum;
}

/* The lanes of one repeat; what is not selected is 0. */
static void lanes_of(bool half, uint32_t base, uint32_t blk, const uint64_t mask[2], double *lane, bool *selected)
{
    uint32_t lanes = half ? 128 : 64, per_block = lanes / 8, size = half ? 2 : 4;
    for (uint32_t i = 0; i < lanes; i++) {
        selected[i] = mask[i / 64] >> i % 64 & 1;
        lane[i] = selected[i] ? value_at(half, base + i / per_block * blk * 32 + i % per_block * size) : 0;
    }
}

static int first_extreme(const double *lane, const bool *selected, uint32_t from, uint32_t n, bool max)
{
    int best = -1;
    for (uint32_t i = from; i < from + n; i++)
        if (selected[i] && (best < 0 || (max ? lane[i] > lane[best] : lane[i] < lane[best])))
            best = (int)i;
    return best;
}

static struct npu_insn reduction(bool half)
{
    uint8_t type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT;
    return (struct npu_insn){.dst_type = type,
                             .src_type = type,
                             .dst = fake_local(DST, TMP),
                             .src0 = fake_local(SRC, UB_BYTES - SRC),
                             .aux = fake_local(TMP, TMP),
                             .src0_blk = 1,
                             .src0_rep = 8,
                             .dst_rep = 1,
                             .repeat = 1};
}

/* A mask as length or as bits, and its bits. */
static void random_mask(struct npu_insn *insn, bool half, uint64_t mask[2])
{
    uint32_t lanes = half ? 128 : 64;
    if (fake_random(2)) {
        static const uint32_t edges[] = {1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 127, 128};
        uint32_t n = edges[fake_random(12)];
        n = n > lanes ? lanes : n;
        insn->form = NPU_FORM_MASK_LEN;
        insn->mask[0] = n;
        mask[0] = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
        mask[1] = n >= 128 ? UINT64_MAX : n > 64 ? (UINT64_C(1) << (n - 64)) - 1 : 0;
    } else {
        insn->form = NPU_FORM_MASK_BITS;
        mask[0] = ((uint64_t)fake_random(1u << 31) << 33) ^ fake_random(1u << 31) ^ 1;
        mask[1] = half ? ((uint64_t)fake_random(1u << 31) << 33) ^ fake_random(1u << 31) : 0;
        insn->mask[0] = mask[0];
        insn->mask[1] = mask[1];
    }
}

static void whole_reduce_sums_by_pairs(void **state)
{
    (void)state;
    for (int turn = 0; turn < 120; turn++) {
        bool half = turn % 2, selected[128];
        fake_reset();
        put_numbers(half, false);
        struct npu_insn insn = reduction(half);
        static const uint32_t repeats[] = {0, 1, 2, 7, 255};
        insn.repeat = repeats[turn % 5];
        insn.src0_blk = (uint16_t)fake_random(3);
        insn.src0_rep = (uint16_t)fake_random(12);
        insn.dst_rep = (uint16_t)fake_random(3);
        uint64_t mask[2];
        random_mask(&insn, half, mask);
        uint32_t size = half ? 2 : 4;
        assert_null(run(insn, NPU_OP_WHOLE_REDUCE_SUM));
        for (uint32_t r = 0; r < insn.repeat; r++) {
            if (!insn.dst_rep && r + 1 < insn.repeat)
                continue; /* overwritten by the next */
            double lane[128];
            lanes_of(half, SRC + r * insn.src0_rep * 32, insn.src0_blk, mask, lane, selected);
            assert_float_equal(value_at(half, DST + r * insn.dst_rep * size), tree(half, lane, half ? 128 : 64), 0);
        }
    }
}

static void whole_reduce_finds_first_extremes(void **state)
{
    (void)state;
    for (int turn = 0; turn < 160; turn++) {
        bool half = turn % 2, max = turn / 2 % 2, selected[128];
        int order = turn / 4 % 4;
        fake_reset();
        put_numbers(half, true);
        struct npu_insn insn = reduction(half);
        insn.repeat = 1 + fake_random(20);
        insn.mode = (uint8_t)order;
        uint64_t mask[2];
        random_mask(&insn, half, mask);
        assert_null(run(insn, max ? NPU_OP_WHOLE_REDUCE_MAX : NPU_OP_WHOLE_REDUCE_MIN));
        uint32_t size = half ? 2 : 4, unit = order == 2 ? size : order == 3 ? 4 : 2 * size;
        double all = 0;
        uint32_t all_index = 0;
        for (uint32_t r = 0; r < insn.repeat; r++) {
            double lane[128];
            lanes_of(half, SRC + r * 256, 1, mask, lane, selected);
            int best = first_extreme(lane, selected, 0, half ? 128 : 64, max);
            uint32_t at = DST + r * unit;
            if (order != 3)
                assert_float_equal(value_at(half, at + (order == 1 ? size : 0)), lane[best], 0);
            if (order == 0 || order == 1)
                assert_int_equal(bits_at(at + (order == 0 ? size : 0), size), best);
            if (order == 3)
                assert_int_equal(bits_at(at, 4), best);
            if (r == 0 || (max ? lane[best] > all : lane[best] < all)) {
                all = lane[best];
                all_index = r * (half ? 128 : 64) + (uint32_t)best;
            }
        }
        assert_int_equal(fake.results.reduce_index, all_index);
    }
}

static void block_and_pair_reduce(void **state)
{
    (void)state;
    static const int ops[] = {NPU_OP_BLOCK_REDUCE_SUM, NPU_OP_BLOCK_REDUCE_MAX, NPU_OP_BLOCK_REDUCE_MIN,
                              NPU_OP_PAIR_REDUCE_SUM};
    for (int turn = 0; turn < 160; turn++) {
        bool half = turn % 2, selected[128];
        int op = ops[turn / 2 % 4];
        fake_reset();
        put_numbers(half, op == NPU_OP_BLOCK_REDUCE_MAX);
        struct npu_insn insn = reduction(half);
        insn.repeat = 1 + fake_random(6);
        insn.dst_rep = (uint16_t)(1 + fake_random(2));
        uint64_t mask[2];
        random_mask(&insn, half, mask);
        static uint8_t before[UB_BYTES];
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(run(insn, op));
        uint32_t size = half ? 2 : 4, lanes = half ? 128 : 64, group = op == NPU_OP_PAIR_REDUCE_SUM ? 2 : 32 / size;
        for (uint32_t r = 0; r < insn.repeat; r++) {
            double lane[128];
            lanes_of(half, SRC + r * 256, 1, mask, lane, selected);
            for (uint32_t g = 0; g < lanes / group; g++) {
                uint32_t at = DST + r * insn.dst_rep * (op == NPU_OP_PAIR_REDUCE_SUM ? 128 : 8 * size) + g * size;
                int best = first_extreme(lane, selected, g * group, group, op == NPU_OP_BLOCK_REDUCE_MAX);
                if (best < 0)
                    assert_memory_equal(fake_ub + at, before + at, size); /* nothing selected: left alone */
                else if (op == NPU_OP_BLOCK_REDUCE_MAX || op == NPU_OP_BLOCK_REDUCE_MIN)
                    assert_float_equal(value_at(half, at), lane[best], 0);
                else
                    assert_float_equal(value_at(half, at), tree(half, lane + g * group, group), 0);
            }
        }
    }
}

static const uint32_t counts[] = {1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4096, 8320, 16320};

static void full_or_tail(uint32_t count, uint32_t r, bool half, uint64_t mask[2])
{
    uint32_t lanes = half ? 128 : 64, left = count - r * lanes, n = left < lanes ? left : lanes;
    mask[0] = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    mask[1] = n >= 128 ? UINT64_MAX : n > 64 ? (UINT64_C(1) << (n - 64)) - 1 : 0;
}

static void reduce_sum_adds_repeats_in_order(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int half = 0; half <= 1; half++) {
            bool selected[128];
            fake_reset();
            put_numbers(half, false);
            struct npu_insn insn = reduction(half);
            insn.form = NPU_FORM_COUNT;
            insn.count = counts[c];
            insn.aux = (struct npu_tensor){0}; /* not touched in this form */
            double sum = 0;
            uint32_t lanes = half ? 128 : 64;
            for (uint32_t r = 0; r < (counts[c] + lanes - 1) / lanes; r++) {
                double lane[128];
                uint64_t mask[2];
                full_or_tail(counts[c], r, half, mask);
                lanes_of(half, SRC + r * 256, 1, mask, lane, selected);
                sum += tree(half, lane, lanes);
                sum = half ? (double)(half_t)sum : (double)(float)sum;
            }
            assert_null(run(insn, NPU_OP_REDUCE_SUM));
            assert_float_equal(value_at(half, DST), sum, 0);
            /* vcadd into the accumulator gives the same sum */
            insn.form = NPU_FORM_MASK_REG;
            insn.repeat = 1;
            insn.dst = (struct npu_tensor){0};
            fake.regs.counter = true;
            fake.regs.mask[0] = counts[c];
            assert_null(run(insn, NPU_OP_VCADD_ACC));
            uint32_t bits = (uint32_t)fake.results.acc_value;
            assert_memory_equal(&bits, fake_ub + DST, half ? 2 : 4);
        }
}

static void reduce_sum_with_masks_is_a_tree_of_trees(void **state)
{
    (void)state;
    static const uint32_t repeats[] = {1, 2, 3, 63, 64, 65, 127, 128, 129, 255, 256, 300};
    for (size_t c = 0; c < sizeof repeats / sizeof *repeats; c++)
        for (int half = 0; half <= 1; half++) {
            bool selected[128];
            fake_reset();
            put_numbers(half, false);
            struct npu_insn insn = reduction(half);
            uint64_t mask[2];
            random_mask(&insn, half, mask);
            insn.repeat = repeats[c];
            uint32_t lanes = half ? 128 : 64, n = insn.repeat;
            static double sums[512];
            for (uint32_t r = 0; r < n; r++) {
                double lane[128];
                lanes_of(half, SRC + r * 256, 1, mask, lane, selected);
                sums[r] = tree(half, lane, lanes);
            }
            for (; n > 1; n = (n + lanes - 1) / lanes)
                for (uint32_t i = 0; i * lanes < n; i++) {
                    double lane[128];
                    for (uint32_t k = 0; k < lanes; k++)
                        lane[k] = i * lanes + k < n ? sums[i * lanes + k] : 0;
                    sums[i] = tree(half, lane, lanes);
                }
            assert_null(run(insn, NPU_OP_REDUCE_SUM));
            assert_float_equal(value_at(half, DST), sums[0], 0);
        }
}

static void reduce_max_gives_first_index(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int turn = 0; turn < 8; turn++) {
            bool half = turn & 1, max = turn & 2, index = turn & 4;
            fake_reset();
            put_numbers(half, true);
            struct npu_insn insn = reduction(half);
            insn.form = NPU_FORM_COUNT;
            insn.count = counts[c];
            insn.flags = index ? NPU_INSN_CAL_INDEX : 0;
            uint32_t size = half ? 2 : 4, best = 0;
            for (uint32_t i = 1; i < counts[c]; i++) {
                double a = value_at(half, SRC + i * size), b = value_at(half, SRC + best * size);
                if (max ? a > b : a < b)
                    best = i;
            }
            uint32_t next = bits_at(DST + size, size);
            assert_null(run(insn, max ? NPU_OP_REDUCE_MAX : NPU_OP_REDUCE_MIN));
            assert_float_equal(value_at(half, DST), value_at(half, SRC + best * size), 0);
            assert_int_equal(bits_at(DST + size, size), index ? best : next);
        }
}

static void nan_is_an_extreme(void **state)
{
    (void)state;
    fake_reset();
    put_numbers(false, true);
    float nan = __builtin_nanf("");
    memcpy(fake_ub + SRC + 70 * 4, &nan, 4);
    memcpy(fake_ub + SRC + 90 * 4, &nan, 4);
    struct npu_insn insn = reduction(false);
    insn.form = NPU_FORM_COUNT;
    insn.count = 200;
    insn.flags = NPU_INSN_CAL_INDEX;
    for (int op = NPU_OP_REDUCE_MAX; op <= NPU_OP_REDUCE_MIN; op++) {
        assert_null(run(insn, op));
        assert_true(value_at(false, DST) != value_at(false, DST));
        assert_int_equal(bits_at(DST + 4, 4), 70);
    }
}

static void undefined_sources_make_undefined_results(void **state)
{
    (void)state;
    fake_reset();
    put_numbers(false, false);
    fake_ub_flag[SRC + 256 + 5] = 0; /* element 1 of the second repeat */
    struct npu_insn insn = reduction(false);
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = 64;
    insn.repeat = 3;
    assert_null(run(insn, NPU_OP_WHOLE_REDUCE_SUM));
    assert_int_equal(fake_undefined_reads, 1);
    assert_true(fake_all(fake_ub, 4) && !fake_all(fake_ub + 4, 4) && fake_all(fake_ub + 8, 4));
    insn.dst.addr += 1024;
    assert_null(run(insn, NPU_OP_BLOCK_REDUCE_MAX));
    assert_true(fake_all(fake_ub + 1024, 32) && !fake_all(fake_ub + 1056, 4) && fake_all(fake_ub + 1060, 28));
    insn.form = NPU_FORM_MASK_BITS;
    insn.mask[0] = ~UINT64_C(2); /* without that element */
    insn.dst.addr += 1024;
    assert_null(run(insn, NPU_OP_WHOLE_REDUCE_SUM));
    assert_int_equal(fake_undefined_reads, 0);
    assert_true(fake_all(fake_ub + 2048, 12));
    insn.form = NPU_FORM_COUNT;
    insn.count = 100;
    assert_null(run(insn, NPU_OP_REDUCE_SUM));
    assert_false(fake_all(fake_ub + 2048, 1));
}

static void illegal_reductions_trap(void **state)
{
    (void)state;
    fake_reset();
    struct npu_insn insn = reduction(true);
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = 129;
    assert_null(run(insn, NPU_OP_WHOLE_REDUCE_SUM)); /* counts as 128 */
    assert_string_equal(fake_last_note, "vec_mask");
    insn.mask[0] = 0; /* documented to do nothing */
    assert_null(run(insn, NPU_OP_WHOLE_REDUCE_SUM));
    insn.mask[0] = 128;
    insn.repeat = 256;
    assert_string_equal(run(insn, NPU_OP_WHOLE_REDUCE_SUM), "vec_repeat");
    insn.repeat = 1;
    insn.dst.addr += 2;
    assert_null(run(insn, NPU_OP_WHOLE_REDUCE_SUM));
    assert_string_equal(run(insn, NPU_OP_WHOLE_REDUCE_MAX), "vec_alignment");
    insn.mode = 2;
    assert_null(run(insn, NPU_OP_WHOLE_REDUCE_MAX));
    assert_string_equal(run(insn, NPU_OP_BLOCK_REDUCE_SUM), "vec_alignment");
    insn.dst.addr += 14;
    assert_null(run(insn, NPU_OP_BLOCK_REDUCE_SUM));
    assert_string_equal(run(insn, NPU_OP_PAIR_REDUCE_SUM), "vec_alignment");
    insn.mode = 4;
    assert_string_equal(run(insn, NPU_OP_WHOLE_REDUCE_MIN), "reduce_order");
    insn.src_type = insn.dst_type = AKGEN_INT32;
    assert_string_equal(run(insn, NPU_OP_PAIR_REDUCE_SUM), "vec_dtype");
}

/* The examples of the documentation: ReduceMax.md, sharedTmpBuffer. Bytes that suffice, and 32 fewer. */
static void tmp_buffer_sizes_are_the_documented_ones(void **state)
{
    (void)state;
    static const struct {
        bool half, index, level2;
        uint32_t n, bytes;
    } examples[] = {{true, true, false, 65, 352}, {true, true, false, 255, 1088},   {true, true, true, 65408, 2112},
                    {true, true, false, 4, 64},   {true, false, true, 65408, 2048}, {false, true, false, 130, 1152}};
    fake_reset();
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct npu_insn insn = reduction(examples[i].half);
        insn.form = examples[i].level2 ? NPU_FORM_COUNT : NPU_FORM_MASK_LEN;
        insn.mask[0] = examples[i].half ? 128 : 64;
        insn.count = insn.repeat = examples[i].n;
        insn.flags = examples[i].index ? NPU_INSN_CAL_INDEX : 0;
        insn.aux = fake_local(TMP, examples[i].bytes);
        assert_null(run(insn, NPU_OP_REDUCE_MAX));
        insn.aux.bytes -= 32;
        assert_string_equal(run(insn, NPU_OP_REDUCE_MAX), "reduce_tmp_too_small");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_reduce_sums_by_pairs),
        cmocka_unit_test(whole_reduce_finds_first_extremes),
        cmocka_unit_test(block_and_pair_reduce),
        cmocka_unit_test(reduce_sum_adds_repeats_in_order),
        cmocka_unit_test(reduce_sum_with_masks_is_a_tree_of_trees),
        cmocka_unit_test(reduce_max_gives_first_index),
        cmocka_unit_test(nan_is_an_extreme),
        cmocka_unit_test(undefined_sources_make_undefined_results),
        cmocka_unit_test(illegal_reductions_trap),
        cmocka_unit_test(tmp_buffer_sizes_are_the_documented_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
