/* Gather and GatherMask against the loops of their documentation. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/core.h"
#include "unit/npu/isa_types.h"

enum { DST = 0, SRC = 65536, OFFSETS = 131072, PATTERN = 131072, SRC_BYTES = 4096 };

static const char *gather(struct npu_insn insn)
{
    insn.op = NPU_OP_GATHER;
    return fake_run(insn, npu_check_gather, npu_exec_gather);
}

static const char *gather_mask(struct npu_insn insn)
{
    insn.op = NPU_OP_GATHER_MASK;
    return fake_run(insn, npu_check_gather_mask, npu_exec_gather_mask);
}

static struct npu_insn instruction(uint32_t size)
{
    uint8_t type = size == 2 ? AKGEN_BF16 : AKGEN_FLOAT;
    return (struct npu_insn){.dst_type = type,
                             .src_type = type,
                             .dst = fake_local(DST, 65536),
                             .src0 = fake_local(SRC, SRC_BYTES),
                             .src1 = fake_local(OFFSETS, 65536),
                             .src1_type = AKGEN_UINT32,
                             .dst_rep = 8,
                             .repeat = 1};
}

static void put_offsets(uint32_t base, uint32_t size)
{
    for (uint32_t i = 0; i < 16384; i++) {
        uint32_t offset = fake_random((SRC_BYTES - base) / size) * size;
        memcpy(fake_ub + OFFSETS + 4 * i, &offset, 4);
    }
}

static uint32_t offset_of(uint32_t i)
{
    uint32_t offset;
    memcpy(&offset, fake_ub + OFFSETS + 4 * i, 4);
    return offset;
}

static void gather_takes_elements_by_byte_offset(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 15, 16, 63, 64, 65, 127, 128, 129, 1000};
    static uint8_t before[UB_BYTES];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (uint32_t size = 2; size <= 4; size += 2) {
            fake_reset();
            for (int i = 0; i < 200; i++)
                fake_ub_flag[SRC + fake_random(SRC_BYTES)] = 0;
            struct npu_insn insn = instruction(size);
            insn.form = NPU_FORM_COUNT;
            insn.count = counts[c];
            insn.scalar1 = 32;
            put_offsets(32, size);
            memcpy(before, fake_ub, UB_BYTES);
            assert_null(gather(insn));
            for (uint32_t i = 0; i < counts[c]; i++) {
                uint32_t from = SRC + 32 + offset_of(i);
                assert_memory_equal(fake_ub + DST + i * size, before + from, size);
                assert_int_equal(fake_all(fake_ub + DST + i * size, size), fake_all(fake_ub + from, size));
            }
            assert_memory_equal(fake_ub + DST + counts[c] * size, before + DST + counts[c] * size, 512);
        }
}

static void gather_follows_mask_and_repeat_stride(void **state)
{
    (void)state;
    static uint8_t before[UB_BYTES];
    for (int turn = 0; turn < 40; turn++) {
        uint32_t size = turn % 2 ? 2 : 4, lanes = 256 / size;
        fake_reset();
        struct npu_insn insn = instruction(size);
        insn.form = NPU_FORM_MASK_BITS;
        insn.mask[0] = ((uint64_t)fake_random(1u << 31) << 33) ^ fake_random(1u << 31) ^ 1;
        insn.mask[1] = size == 2 ? insn.mask[0] * 7 : 0;
        insn.repeat = 1 + fake_random(5);
        insn.dst_rep = (uint16_t)(8 + fake_random(4));
        put_offsets(0, size);
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(gather(insn));
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t i = 0; i < lanes; i++) {
                uint32_t at = DST + r * insn.dst_rep * 32 + i * size;
                bool taken = insn.mask[i / 64] >> i % 64 & 1;
                assert_memory_equal(fake_ub + at, before + (taken ? SRC + offset_of(r * lanes + i) : at), size);
            }
    }
}

static void bad_offsets_are_caught(void **state)
{
    (void)state;
    fake_reset();
    struct npu_insn insn = instruction(4);
    insn.form = NPU_FORM_COUNT;
    insn.count = 100;
    put_offsets(0, 4);
    uint32_t bad = SRC_BYTES;
    memcpy(fake_ub + OFFSETS + 4 * 50, &bad, 4);
    assert_string_equal(gather(insn), "gather_offset");
    insn.count = 50;
    assert_null(gather(insn));
    bad = 6;
    memcpy(fake_ub + OFFSETS + 4 * 3, &bad, 4);
    assert_null(gather(insn));
    assert_string_equal(fake_last_note, "gather_misaligned");
    assert_true(fake_all(fake_ub + DST, 12) && !fake_all(fake_ub + DST + 12, 1) &&
                fake_all(fake_ub + DST + 16, 4 * 46));
    fake_ub_flag[OFFSETS + 4 * 5] = 0;
    assert_null(gather(insn));
    assert_int_equal(fake_fatal_notes, 1);
    assert_string_equal(fake_last_note, "undefined_address");
    insn.scalar1 = SRC_BYTES;
    assert_string_equal(gather(insn), "gather_offset");
    insn.scalar1 = 0;
    insn.src1.addr += 8;
    assert_string_equal(gather(insn), "vec_alignment");
}

/* The seven patterns as the documentation writes them, lowest bit first, for 16 elements. */
static const uint16_t patterns[8] = {0, 0x5555, 0xaaaa, 0x1111, 0x2222, 0x4444, 0x8888, 0xffff};

static void gather_mask_keeps_what_the_pattern_says(void **state)
{
    (void)state;
    static uint8_t before[UB_BYTES];
    for (int turn = 0; turn < 256; turn++) {
        uint32_t size = turn % 2 ? 2 : 4, per_block = 32 / size;
        uint8_t mode = (uint8_t)(turn / 2 % 8); /* 0: the pattern comes from a tensor */
        bool user = !mode, counter = turn / 16 % 2;
        fake_reset();
        struct npu_insn insn = instruction(size);
        insn.src_type = insn.dst_type = isa_type(NPU_OP_GATHER_MASK, size, (uint32_t)turn / 32);
        insn.src0 = fake_local(SRC, 65536);
        insn.src1_type = size == 2 ? AKGEN_UINT16 : AKGEN_UINT32;
        insn.mode = mode;
        insn.flags = (user ? NPU_INSN_USER_PATTERN : 0) | (counter ? NPU_INSN_REDUCE_MODE : 0);
        insn.mask[0] = counter ? 1 + fake_random(300) : 0;
        insn.repeat = fake_random(5);
        insn.src0_blk = (uint16_t)(1 + fake_random(2));
        insn.src0_rep = (uint16_t)fake_random(20);
        insn.src1_rep = (uint16_t)fake_random(3);
        uint32_t elements = counter ? (uint32_t)insn.mask[0] : 256 / size, kept = 0;
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(gather_mask(insn));
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t e = 0; e < elements; e++) {
                uint8_t byte = before[PATTERN + r * insn.src1_rep * 32 + e / 8];
                if (!(user ? byte >> e % 8 & 1 : patterns[insn.mode] >> e % 16 & 1))
                    continue;
                uint32_t from = SRC + (r * insn.src0_rep + e / per_block * insn.src0_blk) * 32 + e % per_block * size;
                assert_memory_equal(fake_ub + DST + kept++ * size, before + from, size);
            }
        assert_int_equal(fake.results.rsvd_count, kept);
        insn.op = NPU_OP_GATHER_MASK;
        covered(&insn, COUNT);
        if (kept * size % 32)
            assert_false(fake_all(fake_ub + DST + kept * size, 1)); /* the rest of the last block is not described */
        assert_true(fake_all(fake_ub + DST, kept * size) && fake_all(fake_ub + DST + (kept * size + 31) / 32 * 32, 64));
    }
}

/* GatherMask.md, second example: in place, 256 numbers, pattern 2. */
static void gather_mask_works_in_place(void **state)
{
    (void)state;
    fake_reset();
    for (uint32_t i = 0; i < 256; i++)
        ((npu_f32 *)(fake_ub + SRC))[i] = (float)(i + 1);
    struct npu_insn insn = instruction(4);
    insn.dst = insn.src0;
    insn.mode = 2;
    insn.repeat = 4;
    insn.src0_blk = 1;
    insn.src0_rep = 8;
    assert_null(gather_mask(insn));
    assert_int_equal(fake.results.rsvd_count, 128);
    for (uint32_t i = 0; i < 128; i++)
        assert_float_equal(((npu_f32 *)(fake_ub + SRC))[i], 2.0 * (i + 1), 0);
}

static void illegal_gather_masks_trap(void **state)
{
    (void)state;
    fake_reset();
    struct npu_insn insn = instruction(4);
    insn.src0_blk = 1;
    insn.src0_rep = 8;
    insn.mode = 8;
    assert_string_equal(gather_mask(insn), "gather_pattern");
    insn.mode = 7;
    insn.repeat = 256;
    assert_string_equal(gather_mask(insn), "vec_repeat");
    insn.repeat = 2;
    insn.flags = NPU_INSN_REDUCE_MODE;
    assert_string_equal(gather_mask(insn), "vec_mask");
    insn.flags = NPU_INSN_USER_PATTERN;
    memset(fake_ub + PATTERN, 0xff, 64);
    insn.dst.bytes = 256;
    assert_string_equal(gather_mask(insn), "gather_mask_overflow");
    insn.dst.bytes = 512;
    assert_null(gather_mask(insn));
    fake_ub_flag[PATTERN + 1] = 0;
    assert_null(gather_mask(insn));
    assert_string_equal(fake_last_note, "undefined_address");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_takes_elements_by_byte_offset),
        cmocka_unit_test(gather_follows_mask_and_repeat_stride),
        cmocka_unit_test(bad_offsets_are_caught),
        cmocka_unit_test(gather_mask_keeps_what_the_pattern_says),
        cmocka_unit_test(gather_mask_works_in_place),
        cmocka_unit_test(illegal_gather_masks_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
