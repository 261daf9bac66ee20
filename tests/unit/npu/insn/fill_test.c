/* Duplicate, Brcb, Copy and CreateVecIndex against plain loops. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/core.h"
#include "unit/npu/isa_types.h"

enum { DST = 0, SRC = 98304 };

static const char *run(struct npu_insn insn, int op)
{
    insn.op = (uint16_t)op;
    switch (op) {
    case NPU_OP_DUPLICATE:
        return fake_run(insn, npu_check_duplicate, npu_exec_duplicate);
    case NPU_OP_BRCB:
        return fake_run(insn, npu_check_brcb, npu_exec_brcb);
    case NPU_OP_COPY:
        return fake_run(insn, npu_check_copy, npu_exec_copy);
    default:
        return fake_run(insn, npu_check_create_index, npu_exec_create_index);
    }
}

static uint8_t want[UB_BYTES], want_flag[UB_BYTES];
static void expect_now(void)
{
    memcpy(want, fake_ub, UB_BYTES);
    memcpy(want_flag, fake_ub_flag, UB_BYTES);
}

static void check_memory(void)
{
    assert_memory_equal(fake_ub, want, UB_BYTES);
    assert_memory_equal(fake_ub_flag, want_flag, UB_BYTES);
}

static struct npu_insn instruction(uint8_t type)
{
    return (struct npu_insn){.dst_type = type,
                             .src_type = type,
                             .dst = fake_local(DST, SRC),
                             .src0 = fake_local(SRC, SRC),
                             .dst_blk = 1,
                             .dst_rep = 8,
                             .src0_blk = 1,
                             .src0_rep = 8,
                             .repeat = 1};
}

static const uint32_t counts[] = {0, 1, 15, 16, 63, 64, 65, 127, 128, 129, 255, 256, 257, 5000};

static void undefine_some(void)
{
    for (int i = 0; i < 3000; i++)
        fake_ub_flag[fake_random(UB_BYTES)] = 0;
}

static void duplicate_repeats_the_scalar(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (uint32_t size = 2; size <= 4; size += 2) {
            fake_reset();
            undefine_some();
            struct npu_insn insn = instruction(size == 2 ? AKGEN_BF16 : AKGEN_UINT32);
            insn.form = NPU_FORM_COUNT;
            insn.count = counts[c];
            insn.scalar = 0xa1b2c3d4;
            expect_now();
            for (uint32_t i = 0; i < counts[c]; i++)
                memcpy(want + DST + i * size, &insn.scalar, size);
            memset(want_flag + DST, 1, counts[c] * size);
            assert_null(run(insn, NPU_OP_DUPLICATE));
            check_memory();
        }
}

static void duplicate_and_copy_follow_the_mask(void **state)
{
    (void)state;
    for (int turn = 0; turn < 120; turn++) {
        uint32_t size = turn % 2 ? 2 : 4, lanes = 256 / size, per_block = 32 / size;
        bool copy = turn / 2 % 2;
        fake_reset();
        undefine_some();
        struct npu_insn insn = instruction(size == 2 ? AKGEN_INT16 : AKGEN_FLOAT);
        insn.form = NPU_FORM_MASK_BITS;
        insn.mask[0] = ((uint64_t)fake_random(1u << 31) << 33) ^ fake_random(1u << 31) ^ 1;
        insn.mask[1] = size == 2 ? ~insn.mask[0] : 0;
        static const uint32_t repeats[] = {0, 1, 2, 9, 255};
        insn.repeat = repeats[turn % 5];
        insn.dst_blk = (uint16_t)(1 + fake_random(2));
        insn.dst_rep = (uint16_t)(insn.repeat > 20 ? fake_random(9) : 8 + fake_random(9));
        insn.src0_blk = (uint16_t)fake_random(3);
        insn.src0_rep = (uint16_t)fake_random(9);
        insn.scalar = 0x12345678;
        expect_now();
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t i = 0; i < lanes; i++) {
                if (!(insn.mask[i / 64] >> i % 64 & 1))
                    continue;
                uint32_t to = DST + (r * insn.dst_rep + i / per_block * insn.dst_blk) * 32 + i % per_block * size;
                uint32_t from = SRC + (r * insn.src0_rep + i / per_block * insn.src0_blk) * 32 + i % per_block * size;
                memcpy(want + to, copy ? want + from : (const uint8_t *)&insn.scalar, size);
                if (copy)
                    memcpy(want_flag + to, want_flag + from, size);
                else
                    memset(want_flag + to, 1, size);
            }
        assert_null(run(insn, copy ? NPU_OP_COPY : NPU_OP_DUPLICATE));
        check_memory();
    }
}

/* Copy's documentation, scenario 3: 144 int32 by counter mode, one block of each row of 64. */
static void counted_copy_takes_the_mask_per_repeat(void **state)
{
    (void)state;
    for (int turn = 0; turn < 40; turn++) {
        fake_reset();
        undefine_some();
        struct npu_insn insn = instruction(AKGEN_INT32);
        uint32_t n = turn ? 1 + fake_random(300) : 144;
        insn.form = turn % 2 ? NPU_FORM_MASK_LEN : NPU_FORM_MASK_REG;
        fake.regs.counter = true;
        fake.regs.mask[0] = insn.mask[0] = n;
        insn.repeat = turn ? fake_random(4) : 1;
        insn.src0_blk = turn ? (uint16_t)fake_random(9) : 8;
        insn.dst_rep = 40;
        insn.src0_rep = (uint16_t)fake_random(60);
        expect_now();
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t i = 0; i < n; i++) {
                uint32_t to = DST + (r * 40 + i / 8) * 32 + i % 8 * 4;
                uint32_t from = SRC + (r * insn.src0_rep + i / 8 * insn.src0_blk) * 32 + i % 8 * 4;
                memcpy(want + to, want + from, 4);
                memcpy(want_flag + to, want_flag + from, 4);
            }
        assert_null(run(insn, NPU_OP_COPY));
        check_memory();
    }
}

static void brcb_spreads_each_element_over_a_block(void **state)
{
    (void)state;
    for (int turn = 0; turn < 60; turn++) {
        uint32_t size = turn % 2 ? 2 : 4;
        fake_reset();
        undefine_some();
        struct npu_insn insn = instruction(isa_type(NPU_OP_BRCB, size, (uint32_t)turn / 2));
        static const uint32_t repeats[] = {0, 1, 2, 255};
        insn.repeat = repeats[turn % 4];
        insn.dst_blk = (uint16_t)(1 + fake_random(2));
        insn.dst_rep = (uint16_t)fake_random(11);
        expect_now();
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t i = 0; i < 8; i++) {
                uint32_t to = DST + (r * insn.dst_rep + i * insn.dst_blk) * 32, from = SRC + (r * 8 + i) * size;
                for (uint32_t at = 0; at < 32; at += size)
                    memcpy(want + to + at, want + from, size);
                memset(want_flag + to, fake_all(fake_ub + from, size), 32);
            }
        assert_null(run(insn, NPU_OP_BRCB));
        check_memory();
        insn.op = NPU_OP_BRCB;
        covered(&insn, COUNT);
    }
    struct npu_insn insn = instruction(AKGEN_FLOAT);
    insn.repeat = 256;
    assert_string_equal(run(insn, NPU_OP_BRCB), "vec_repeat");
    insn.repeat = 1;
    insn.dst_blk = 0;
    assert_string_equal(run(insn, NPU_OP_BRCB), "vec_stride");
    insn.dst_blk = 1;
    insn.src0.addr += 16;
    assert_string_equal(run(insn, NPU_OP_BRCB), "vec_alignment");
    insn = instruction(AKGEN_FLOAT);
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = 64;
    insn.src0_rep = 4096;
    assert_string_equal(run(insn, NPU_OP_COPY), "copy_params");
}

static void indices_count_up(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        fake_reset();
        struct npu_insn insn = instruction(AKGEN_INT32);
        insn.form = NPU_FORM_COUNT;
        insn.count = counts[c];
        insn.scalar = (uint32_t)-7;
        expect_now();
        for (uint32_t i = 0; i < counts[c]; i++) {
            int32_t index = -7 + (int32_t)i;
            memcpy(want + DST + i * 4, &index, 4);
        }
        assert_null(run(insn, NPU_OP_CREATE_VEC_INDEX));
        check_memory();
    }
    /* int16 wraps; repeats go on counting over strides */
    fake_reset();
    struct npu_insn insn = instruction(AKGEN_INT16);
    insn.form = NPU_FORM_MASK_LEN;
    insn.mask[0] = 100;
    insn.repeat = 3;
    insn.dst_blk = 2;
    insn.dst_rep = 20;
    insn.scalar = 32760;
    expect_now();
    for (uint32_t r = 0; r < 3; r++)
        for (uint32_t i = 0; i < 100; i++) {
            int16_t index = (int16_t)(32760 + r * 128 + i);
            memcpy(want + DST + (r * 20 + i / 16 * 2) * 32 + i % 16 * 2, &index, 2);
        }
    assert_null(run(insn, NPU_OP_CREATE_VEC_INDEX));
    check_memory();
}

/* In half the additions of 128 round where the index itself would not: 8197 is 8068 + 128 = 8196 -> 8192, not 8200. */
static void half_indices_are_chained_additions(void **state)
{
    (void)state;
    fake_reset();
    struct npu_insn insn = instruction(AKGEN_FLOAT16);
    insn.form = NPU_FORM_COUNT;
    insn.count = 9000;
    half_t index[9000];
    bool differs = false;
    for (uint32_t i = 0; i < 9000; i++) {
        index[i] = i < 16    ? (half_t)i
                   : i < 128 ? (half_t)(index[i - 16] + (half_t)16)
                             : (half_t)(index[i - 128] + (half_t)128);
        differs |= index[i] != (half_t)(float)i;
    }
    assert_null(run(insn, NPU_OP_CREATE_VEC_INDEX));
    assert_memory_equal(fake_ub + DST, index, sizeof index);
    assert_true(differs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicate_repeats_the_scalar),
        cmocka_unit_test(duplicate_and_copy_follow_the_mask),
        cmocka_unit_test(counted_copy_takes_the_mask_per_repeat),
        cmocka_unit_test(brcb_spreads_each_element_over_a_block),
        cmocka_unit_test(indices_count_up),
        cmocka_unit_test(half_indices_are_chained_additions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
