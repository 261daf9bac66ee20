/* Gatherb, Transpose and TransDataTo5HD against the index formulas of their documentation. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/core.h"
#include "unit/npu/isa_types.h"

enum { DST = 0, SRC = 65536, OFFSETS = 131072, TMP = 131072 };

static uint8_t before[UB_BYTES];

static void gatherb_takes_blocks(void **state)
{
    (void)state;
    for (int turn = 0; turn < 40; turn++) {
        fake_reset();
        uint32_t offsets[64];
        for (int i = 0; i < 64; i++)
            offsets[i] = fake_random(512) * 32;
        memcpy(fake_ub + OFFSETS, offsets, sizeof offsets);
        struct npu_insn insn = {.op = NPU_OP_GATHERB,
                                .form = NPU_FORM_MASK_REG,
                                .dst_type = turn % 2 ? AKGEN_UINT16 : AKGEN_UINT32,
                                .src_type = turn % 2 ? AKGEN_UINT16 : AKGEN_UINT32,
                                .dst = fake_local(DST, 65536),
                                .src0 = fake_local(SRC, 16384),
                                .src1 = fake_local(OFFSETS, 256),
                                .repeat = fake_random(9),
                                .dst_blk = (uint16_t)fake_random(3), /* 0 counts as 1 */
                                .dst_rep = (uint16_t)(16 + fake_random(4))};
        uint32_t bad = fake_random(16384);
        fake_ub_flag[SRC + bad] = 0;
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(fake_run(insn, npu_check_gatherb, npu_exec_gatherb));
        uint32_t blk = insn.dst_blk ? insn.dst_blk : 1;
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t b = 0; b < 8; b++) {
                const uint8_t *at = fake_ub + DST + (r * insn.dst_rep + b * blk) * 32;
                assert_memory_equal(at, before + SRC + offsets[r * 8 + b], 32);
                assert_int_equal(fake_all(at, 32), bad / 32 * 32 != offsets[r * 8 + b]);
            }
        covered(&insn, COUNT);
    }
    uint32_t wrong[8] = {0, 32, 16384, 0, 0, 0, 0, 0};
    memcpy(fake_ub + OFFSETS, wrong, sizeof wrong);
    struct npu_insn insn = {.op = NPU_OP_GATHERB,
                            .dst_type = AKGEN_UINT32,
                            .src_type = AKGEN_UINT32,
                            .dst = fake_local(DST, 65536),
                            .src0 = fake_local(SRC, 16384),
                            .src1 = fake_local(OFFSETS, 256),
                            .repeat = 1,
                            .dst_blk = 1};
    assert_string_equal(fake_run(insn, npu_check_gatherb, npu_exec_gatherb), "gatherb_offset");
    fake_ub[OFFSETS + 8] = 16, fake_ub[OFFSETS + 9] = 0;
    assert_string_equal(fake_run(insn, npu_check_gatherb, npu_exec_gatherb), "gatherb_offset");
    insn.src_type = insn.dst_type = AKGEN_FLOAT;
    assert_string_equal(fake_run(insn, npu_check_gatherb, npu_exec_gatherb), "vec_dtype");
}

static void transpose_of_a_block_works_in_place(void **state)
{
    (void)state;
    for (int turn = 0; turn < 6; turn++) {
        bool in_place = turn % 2;
        uint8_t type = isa_type(NPU_OP_TRANSPOSE, 2, (uint32_t)turn / 2);
        fake_reset();
        struct npu_insn insn = {.op = NPU_OP_TRANSPOSE,
                                .dst_type = type,
                                .src_type = type,
                                .dst = fake_local(in_place ? SRC : DST, 512),
                                .src0 = fake_local(SRC, 512)};
        fake_ub_flag[SRC + (3 * 16 + 5) * 2] = 0;
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(fake_run(insn, npu_check_transpose, npu_exec_transpose));
        const uint8_t *dst = (const uint8_t *)insn.dst.addr;
        for (int r = 0; r < 16; r++)
            for (int c = 0; c < 16; c++) {
                assert_memory_equal(dst + (c * 16 + r) * 2, before + SRC + (r * 16 + c) * 2, 2);
                assert_int_equal(fake_all(dst + (c * 16 + r) * 2, 1), r != 3 || c != 5);
            }
        covered(&insn, COUNT);
        /* TRANSPOSE_ND2ND_B16 is the same, of uint16. */
        insn.op = NPU_OP_TRANSPOSE_4D;
        insn.mode = 10;
        insn.src_type = insn.dst_type = AKGEN_UINT16;
        fake_reset();
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(fake_run(insn, npu_check_transpose_4d, npu_exec_transpose_4d));
        for (int r = 0; r < 16; r++)
            for (int c = 0; c < 16; c++)
                assert_memory_equal(dst + (c * 16 + r) * 2, before + SRC + (r * 16 + c) * 2, 2);
        covered(&insn, COUNT);
    }
}

static const char *transpose_4d(struct npu_insn insn)
{
    return fake_run(insn, npu_check_transpose_4d, npu_exec_transpose_4d);
}

static void transpose_of_images(void **state)
{
    (void)state;
    static const uint8_t types[] = {AKGEN_INT8,    AKGEN_UINT8, AKGEN_INT16,  AKGEN_UINT16,
                                    AKGEN_FLOAT16, AKGEN_INT32, AKGEN_UINT32, AKGEN_FLOAT};
    static const uint32_t channels[] = {1, 3, 16, 17, 30};
    for (int t = 0; t < 8; t++)
        for (int k = 0; k < 5; k++)
            for (uint8_t mode = 11; mode <= 12; mode++) {
                fake_reset();
                uint32_t size = (uint32_t)akgen_dtype_size((enum akgen_dtype)types[t]), n = 2, c = channels[k];
                uint32_t h = 2, w = 32, hw = h * w;
                struct npu_insn insn = {.op = NPU_OP_TRANSPOSE_4D,
                                        .dst_type = types[t],
                                        .src_type = types[t],
                                        .mode = mode,
                                        .count = n,
                                        .repeat = c,
                                        .mask = {h, w},
                                        .dst = fake_local(DST, 65536),
                                        .src0 = fake_local(SRC, 65536),
                                        .aux = fake_local(TMP, 65536)};
                memcpy(before, fake_ub, UB_BYTES);
                assert_null(transpose_4d(insn));
                for (uint32_t i = 0; i < n; i++)
                    for (uint32_t channel = 0; channel < c; channel++)
                        for (uint32_t p = 0; p < hw; p++) {
                            uint32_t nchw = ((i * c + channel) * hw + p) * size,
                                     nhwc = ((i * hw + p) * c + channel) * size;
                            assert_memory_equal(fake_ub + DST + (mode == 11 ? nhwc : nchw),
                                                before + SRC + (mode == 11 ? nchw : nhwc), size);
                        }
                assert_false(fake_all(fake_ub + TMP, 1));
                covered(&insn, COUNT);
                insn.aux.bytes = 3 * 16 * 32 - 32;
                assert_string_equal(transpose_4d(insn), "transpose_tmp_too_small");
                insn.aux.bytes = 65536;
                insn.mask[1] = 3;
                assert_string_equal(transpose_4d(insn), "transpose_shape");
                insn.mode = 7;
                assert_string_equal(transpose_4d(insn), "transpose_type");
            }
}

/* The lists of TransDataTo5HD in VA0..VA3: sixteen blocks each, `gap` blocks apart. */
static void set_lists(uint32_t dst_gap, uint32_t src_gap)
{
    for (uint32_t i = 0; i < 16; i++) {
        fake.regs.va[i / 8][i % 8] = DST + i * dst_gap * 32;
        fake.regs.va[2 + i / 8][i % 8] = SRC + i * src_gap * 32;
    }
}

static void trans_5hd_puts_columns_into_rows(void **state)
{
    (void)state;
    for (int turn = 0; turn < 96; turn++) {
        uint8_t type = isa_type(NPU_OP_TRANS_DATA_5HD, (size_t)1 << turn % 3, (uint32_t)turn / 3);
        bool dst_high = turn & 8, src_high = turn & 16;
        fake_reset();
        set_lists(1 + turn % 2, 1 + turn / 3 % 3);
        uint32_t size = (uint32_t)akgen_dtype_size((enum akgen_dtype)type), lanes = size == 1 ? 16 : 32 / size;
        struct npu_insn insn = {.op = NPU_OP_TRANS_DATA_5HD,
                                .dst_type = type,
                                .src_type = type,
                                .mode = 0 | 2 << 3,
                                .flags =
                                    (uint8_t)((dst_high ? NPU_INSN_DST_HIGH : 0) | (src_high ? NPU_INSN_SRC_HIGH : 0)),
                                .repeat = (uint32_t)(turn % 4),
                                .dst_rep = 40,
                                .src0_rep = (uint16_t)(turn / 4 % 2 * 50)};
        memcpy(before, fake_ub, UB_BYTES);
        assert_null(fake_run(insn, npu_check_trans_5hd, npu_exec_trans_5hd));
        if (!insn.repeat)
            assert_memory_equal(fake_ub, before, UB_BYTES);
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t i = 0; i < lanes; i++)
                for (uint32_t k = 0; k < 16; k++) {
                    uint32_t step = insn.repeat == 1 ? 1 : r; /* one repeat: the stride counts once */
                    uint32_t byte = k * size;                 /* of row i, which spans one or two blocks */
                    uint32_t block = size == 4 ? 2 * i + byte / 32 : i;
                    uint32_t to = fake.regs.va[block / 8][block % 8] + step * insn.dst_rep * 32 + byte % 32;
                    uint32_t from = fake.regs.va[2 + k / 8][k % 8] + step * insn.src0_rep * 32 + i * size;
                    to += size == 1 && dst_high ? 16 : 0;
                    from += size == 1 && src_high ? 16 : 0;
                    assert_memory_equal(fake_ub + to, before + from, size);
                }
        covered(&insn, COUNT);
    }
}

static void bad_addresses_trap(void **state)
{
    (void)state;
    fake_reset();
    set_lists(1, 1);
    struct npu_insn insn = {
        .op = NPU_OP_TRANS_DATA_5HD, .dst_type = AKGEN_INT16, .src_type = AKGEN_INT16, .mode = 0 | 2 << 3, .repeat = 1};
    fake.regs.va[3][7] += 16;
    assert_string_equal(fake_run(insn, npu_check_trans_5hd, npu_exec_trans_5hd), "vec_alignment");
    fake.regs.va[3][7] = NPU_VA_OUTSIDE;
    assert_string_equal(fake_run(insn, npu_check_trans_5hd, npu_exec_trans_5hd), "vec_position");
    insn.repeat = 256;
    assert_string_equal(fake_run(insn, npu_check_trans_5hd, npu_exec_trans_5hd), "vec_repeat");
    insn.repeat = 1;
    insn.src_type = AKGEN_BF16;
    assert_string_equal(fake_run(insn, npu_check_trans_5hd, npu_exec_trans_5hd), "vec_dtype");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gatherb_takes_blocks), cmocka_unit_test(transpose_of_a_block_works_in_place),
        cmocka_unit_test(transpose_of_images),  cmocka_unit_test(trans_5hd_puts_columns_into_rows),
        cmocka_unit_test(bad_addresses_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
