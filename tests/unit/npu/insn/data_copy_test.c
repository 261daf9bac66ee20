/* DataCopy and DataCopyPad against loops over bytes that follow the documentation. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/core.h"
#include "unit/npu/isa_types.h"

static const char *copy(struct npu_insn insn)
{
    insn.op = NPU_OP_DATA_COPY;
    return fake_run(insn, npu_check_data_copy, npu_exec_data_copy);
}

static void copied(struct npu_insn insn, uint16_t op)
{
    insn.op = op;
    covered(&insn, COUNT);
}

static const char *pad(struct npu_insn insn)
{
    insn.op = NPU_OP_DATA_COPY_PAD;
    insn.form = NPU_FORM_MASK_REG;
    return fake_run(insn, npu_check_data_copy_pad, npu_exec_data_copy_pad);
}

static void poke_holes(uint8_t *flags)
{
    for (int i = 0; i < 2000; i++)
        flags[fake_random(UB_BYTES)] = 0;
}

/* Expected memory, changed by the oracle's loops and compared as a whole. */
static uint8_t want_ub[UB_BYTES], want_gm[GM_BYTES], want_ub_flag[UB_BYTES], want_gm_flag[GM_BYTES];
static void expect_now(void)
{
    memcpy(want_ub, fake_ub, UB_BYTES);
    memcpy(want_gm, fake_gm, GM_BYTES);
    memcpy(want_ub_flag, fake_ub_flag, UB_BYTES);
    memcpy(want_gm_flag, fake_gm_flag, GM_BYTES);
}

static void check_memory(void)
{
    assert_memory_equal(fake_ub, want_ub, UB_BYTES);
    assert_memory_equal(fake_gm, want_gm, GM_BYTES);
    assert_memory_equal(fake_ub_flag, want_ub_flag, UB_BYTES);
    assert_memory_equal(fake_gm_flag, want_gm_flag, GM_BYTES);
}

static void count_rounds_down_to_blocks(void **state)
{
    (void)state;
    fake_reset();
    poke_holes(fake_ub_flag);
    poke_holes(fake_gm_flag);
    static const uint32_t counts[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 1000, 1001, 4096, 4097};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (uint8_t type = 0; type < AKGEN_DTYPE_CODES; type++) {
            uint32_t size = (uint32_t)akgen_dtype_size((enum akgen_dtype)type);
            if (!(npu_isa[NPU_OP_DATA_COPY].types >> type & 1) || counts[c] * size > 32768)
                continue;
            struct npu_insn insn = {.form = NPU_FORM_COUNT,
                                    .count = counts[c],
                                    .dst = fake_local(64, 32768),
                                    .src0 = fake_global(8u * (uint32_t)c),
                                    .dst_type = type,
                                    .src_type = type};
            uint32_t moved = counts[c] * size / 32 * 32;
            expect_now();
            memcpy(want_ub + 64, fake_gm + 8 * c, moved);
            memcpy(want_ub_flag + 64, fake_gm_flag + 8 * c, moved);
            assert_null(copy(insn));
            check_memory();
            bool ragged = counts[c] * size % 32;
            if (ragged)
                assert_string_equal(fake_last_note, "datacopy_ragged_count");
            else
                assert_null(fake_last_note);

            insn.dst = fake_global(100000);
            insn.src0 = fake_local(64, 32768);
            expect_now();
            memcpy(want_gm + 100000, fake_ub + 64, moved);
            memcpy(want_gm_flag + 100000, fake_ub_flag + 64, moved);
            assert_null(copy(insn));
            check_memory();
            copied(insn, NPU_OP_DATA_COPY);
        }
    }
}

static void blocks_keep_their_gaps(void **state)
{
    (void)state;
    fake_reset();
    for (int turn = 0; turn < 60; turn++) {
        poke_holes(fake_ub_flag);
        poke_holes(fake_gm_flag);
        uint32_t count = fake_random(12), len = fake_random(9), src_gap = fake_random(4), dst_gap = fake_random(4);
        int way = turn % 3;
        struct npu_insn insn = {
            .form = NPU_FORM_MASK_REG,
            .dst_type = AKGEN_INT32,
            .src_type = AKGEN_INT32,
            .dst = way == 1 ? fake_global(40) : fake_local(96, 90000),
            .src0 = way == 0 ? fake_global(12) : fake_local(98304, 90000),
            .copy = {.block_count = count, .block_len = len, .src_stride = src_gap, .dst_stride = dst_gap}};
        expect_now();
        for (uint32_t b = 0; b < count; b++)
            for (uint32_t i = 0; i < len * 32; i++) {
                uint32_t s = b * (len + src_gap) * 32 + i, d = b * (len + dst_gap) * 32 + i;
                uint8_t value = way == 0 ? fake_gm[12 + s] : fake_ub[98304 + s];
                uint8_t flag = way == 0 ? fake_gm_flag[12 + s] : fake_ub_flag[98304 + s];
                *(way == 1 ? &want_gm[40 + d] : &want_ub[96 + d]) = value;
                *(way == 1 ? &want_gm_flag[40 + d] : &want_ub_flag[96 + d]) = flag;
            }
        assert_null(copy(insn));
        check_memory();
        copied(insn, NPU_OP_DATA_COPY);
    }
    struct npu_insn most = {.form = NPU_FORM_MASK_REG,
                            .dst_type = AKGEN_INT8,
                            .src_type = AKGEN_INT8,
                            .dst = fake_local(0, UB_BYTES),
                            .src0 = fake_global(1),
                            .copy = {.block_count = 4095, .block_len = 1}};
    assert_null(copy(most));
    assert_memory_equal(fake_ub, fake_gm + 1, 4095 * 32);
}

static void illegal_copies_trap(void **state)
{
    (void)state;
    fake_reset();
    struct npu_insn good = {.form = NPU_FORM_MASK_REG,
                            .dst_type = AKGEN_FLOAT,
                            .src_type = AKGEN_FLOAT,
                            .dst = fake_local(0, 1024),
                            .src0 = fake_global(0),
                            .copy = {.block_count = 2, .block_len = 1}};
    assert_null(copy(good));
    struct npu_insn bad = good;
    bad.dst.addr += 16;
    assert_string_equal(copy(bad), "ub_alignment");
    bad = good;
    bad.src0.addr += 2;
    assert_string_equal(copy(bad), "gm_alignment");
    bad = good;
    bad.copy.block_count = 4096;
    assert_string_equal(copy(bad), "copy_params");
    bad = good;
    bad.copy.block_len = 65536;
    assert_string_equal(copy(bad), "copy_params");
    bad = good;
    bad.copy.src_stride = 65536;
    assert_string_equal(copy(bad), "copy_params");
    bad = good;
    bad.copy.dst_stride = -1;
    assert_string_equal(copy(bad), "copy_params");
    bad = good;
    bad.dst = fake_global(512);
    assert_string_equal(copy(bad), "copy_path");
    bad = good;
    bad.dst.position = NPU_A1; /* an AIV has no L1 */
    assert_string_equal(copy(bad), "copy_path");
}

/* The bits of element i of an atomic result, computed in double or 64-bit integers. */
static uint64_t atomic_result(int kind, int type, const uint8_t *old, const uint8_t *value)
{
    uint64_t a = 0, b = 0;
    size_t size = akgen_dtype_size(type);
    memcpy(&a, old, size);
    memcpy(&b, value, size);
    if (type == AKGEN_INT8 || type == AKGEN_INT16 || type == AKGEN_INT32) {
        int shift = 64 - 8 * (int)size;
        int64_t x = (int64_t)(a << shift) >> shift, y = (int64_t)(b << shift) >> shift;
        int64_t r = kind == 1 ? x + y : kind == 2 ? (x > y ? x : y) : (x < y ? x : y);
        return (uint64_t)r & (~UINT64_C(0) >> shift);
    }
    double x, y;
    if (type == AKGEN_FLOAT16) {
        half_t h, g;
        memcpy(&h, &a, 2);
        memcpy(&g, &b, 2);
        x = (double)h, y = (double)g;
    } else if (type == AKGEN_BF16) {
        x = bf16_to_float((uint16_t)a), y = bf16_to_float((uint16_t)b);
    } else {
        float f, g;
        memcpy(&f, &a, 4);
        memcpy(&g, &b, 4);
        x = f, y = g;
    }
    double r = kind == 1 ? x + y : kind == 2 ? (x > y ? x : y) : (x < y ? x : y);
    uint64_t bits = 0;
    if (type == AKGEN_FLOAT16) {
        half_t h = (half_t)r;
        memcpy(&bits, &h, 2);
    } else if (type == AKGEN_BF16) {
        bits = bf16_from_double(r);
    } else {
        float f = (float)r;
        memcpy(&bits, &f, 4);
    }
    return bits;
}

static void put_number(uint8_t *at, int type)
{
    double number = ((int)fake_random(4000) - 2000) / 16.0;
    if (type == AKGEN_FLOAT16) {
        half_t h = (half_t)number;
        memcpy(at, &h, 2);
    } else if (type == AKGEN_BF16) {
        uint16_t b = bf16_from_double(number);
        memcpy(at, &b, 2);
    } else if (type == AKGEN_FLOAT) {
        float f = (float)(number * 1.1);
        memcpy(at, &f, 4);
    }
}

static void atomics_combine_with_gm(void **state)
{
    (void)state;
    static const int types[] = {AKGEN_INT8, AKGEN_INT16, AKGEN_FLOAT16, AKGEN_BF16, AKGEN_INT32, AKGEN_FLOAT};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int kind = 1; kind <= 3; kind++) {
            fake_reset();
            size_t size = akgen_dtype_size(types[t]);
            for (uint32_t i = 0; i < 640; i++) {
                put_number(fake_ub + i * size, types[t]);
                put_number(fake_gm + 64 + i * size, types[t]);
            }
            if (kind == 2) {
                fake_ub_flag[3] = 0;
                fake_gm_flag[64 + 100] = 0;
            }
            expect_now();
            for (uint32_t i = 0; i < 640; i++) {
                uint64_t bits = atomic_result(kind, types[t], fake_gm + 64 + i * size, fake_ub + i * size);
                memcpy(want_gm + 64 + i * size, &bits, size);
                bool defined = fake_all(fake_ub + i * size, size) && fake_all(fake_gm + 64 + i * size, size);
                memset(want_gm_flag + 64 + i * size, defined, size);
            }
            fake.regs.atomic = (uint8_t)kind;
            fake.regs.atomic_type = (uint8_t)types[t];
            struct npu_insn insn = {.form = NPU_FORM_COUNT,
                                    .count = 640,
                                    .dst = fake_global(64),
                                    .src0 = fake_local(0, 4096),
                                    .dst_type = (uint8_t)types[t],
                                    .src_type = (uint8_t)types[t]};
            assert_null(copy(insn));
            check_memory();
        }
    fake.regs.atomic_type = AKGEN_UINT8;
    struct npu_insn insn = {.form = NPU_FORM_COUNT,
                            .count = 64,
                            .dst = fake_global(0),
                            .src0 = fake_local(0, 4096),
                            .dst_type = AKGEN_UINT8,
                            .src_type = AKGEN_UINT8};
    assert_string_equal(copy(insn), "atomic_type");
    insn.dst = fake_local(4096, 4096); /* atomics concern writes to GM only */
    assert_null(copy(insn));
}

/* One block of DataCopyPad GM->UB, byte by byte. */
static void expect_padded(const struct npu_insn *insn, uint32_t from, uint32_t to, uint32_t size)
{
    const struct npu_copy *p = &insn->copy;
    uint32_t left = p->left * size, end = left + p->block_len, full = (end + p->right * size + 31) / 32 * 32;
    bool plain = !p->left && !p->right;
    for (uint32_t i = 0; i < full; i++) {
        if (i >= left && i < end) {
            want_ub[to + i] = fake_gm[from + i - left];
            want_ub_flag[to + i] = fake_gm_flag[from + i - left];
        } else if (plain) {
            want_ub[to + i] = fake_gm[from + i % size];
            want_ub_flag[to + i] = fake_all(fake_gm + from, size);
        } else if (p->pad) {
            uint32_t lane = (i < left ? i : i - end) % size;
            want_ub[to + i] = (uint8_t)(p->pad_value >> 8 * lane);
            want_ub_flag[to + i] = 1;
        } else {
            want_ub_flag[to + i] = 0;
            want_ub[to + i] = fake_ub[to + i]; /* filled in after the run: any byte will do */
        }
    }
}

static void pad_in_fills_each_block(void **state)
{
    (void)state;
    fake_reset();
    for (int turn = 0; turn < 300; turn++) {
        if (turn % 3 == 0)
            poke_holes(fake_gm_flag);
        uint32_t size = 1u << fake_random(4);
        uint8_t type = isa_type(NPU_OP_DATA_COPY_PAD, size, fake_random(64));
        uint32_t most = 32 / size;
        struct npu_insn insn = {.dst = fake_local(512, 100000),
                                .src0 = fake_global(3),
                                .dst_type = type,
                                .src_type = type,
                                .copy = {.block_count = fake_random(6),
                                         .block_len = size * fake_random(40),
                                         .src_stride = fake_random(50),
                                         .dst_stride = fake_random(3),
                                         .pad = fake_random(2),
                                         .pad_value = size == 8   ? 0 /* the only one that there is */
                                                      : size == 4 ? 0xc1d2e3f4
                                                                  : 0xc1d2e3f4 & ((1u << 8 * size) - 1)}};
        if (turn % 2) {
            insn.copy.left = (uint8_t)fake_random(most + 1);
            insn.copy.right = (uint8_t)fake_random(most + 1);
        }
        uint32_t full = ((insn.copy.left + insn.copy.right) * size + insn.copy.block_len + 31) / 32 * 32;
        expect_now();
        for (uint32_t b = 0; insn.copy.block_len && b < insn.copy.block_count; b++)
            expect_padded(&insn, 3 + b * (insn.copy.block_len + (uint32_t)insn.copy.src_stride),
                          512 + b * (full + (uint32_t)insn.copy.dst_stride * 32), size);
        assert_null(pad(insn));
        for (uint32_t i = 0; i < UB_BYTES; i++)
            if (!want_ub_flag[i])
                want_ub[i] = fake_ub[i];
        check_memory();
        copied(insn, NPU_OP_DATA_COPY_PAD);
        memset(fake_ub_flag, 1, UB_BYTES);
    }
}

static void pad_out_writes_exact_bytes(void **state)
{
    (void)state;
    fake_reset();
    for (int turn = 0; turn < 100; turn++) {
        poke_holes(fake_ub_flag);
        uint32_t len = 2 * fake_random(70), count = fake_random(9), src_gap = fake_random(3), dst_gap = fake_random(40);
        struct npu_insn insn = {
            .dst = fake_global(7),
            .src0 = fake_local(64, 100000),
            .dst_type = isa_type(NPU_OP_DATA_COPY_PAD, 2, (uint32_t)turn),
            .src_type = isa_type(NPU_OP_DATA_COPY_PAD, 2, (uint32_t)turn),
            .copy = {.block_count = count, .block_len = len, .src_stride = src_gap, .dst_stride = dst_gap}};
        expect_now();
        for (uint32_t b = 0; b < count; b++)
            for (uint32_t i = 0; i < len; i++) {
                uint32_t s = 64 + b * ((len + 31) / 32 + src_gap) * 32 + i, d = 7 + b * (len + dst_gap) + i;
                want_gm[d] = fake_ub[s];
                want_gm_flag[d] = fake_ub_flag[s];
            }
        assert_null(pad(insn));
        check_memory();
        copied(insn, NPU_OP_DATA_COPY_PAD);
    }
}

static void illegal_pads_trap(void **state)
{
    (void)state;
    fake_reset();
    struct npu_insn good = {
        .dst = fake_local(0, 1024),
        .src0 = fake_global(1),
        .dst_type = AKGEN_FLOAT,
        .src_type = AKGEN_FLOAT,
        .copy = {.block_count = 1, .block_len = 12, .pad = 1, .left = 8, .right = 8, .pad_value = 1}};
    assert_null(pad(good));
    struct npu_insn bad = good;
    bad.copy.left = 9;
    assert_string_equal(pad(bad), "copy_params");
    bad = good;
    bad.copy.block_len = 13;
    assert_string_equal(pad(bad), "copy_params");
    bad = good;
    bad.copy.block_len = 2097152;
    assert_string_equal(pad(bad), "copy_params");
    bad = good;
    bad.copy.block_count = 4096;
    assert_string_equal(pad(bad), "copy_params");
    bad = good;
    bad.dst_type = bad.src_type = AKGEN_INT64;
    bad.copy.block_len = 16;
    bad.copy.left = bad.copy.right = 1;
    assert_string_equal(pad(bad), "copy_params");
    bad.copy.pad_value = 0;
    assert_null(pad(bad));
    bad = good;
    bad.dst.addr += 4;
    assert_string_equal(pad(bad), "ub_alignment");
    bad = good;
    bad.src0 = fake_local(512, 512);
    assert_string_equal(pad(bad), "copy_path");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count_rounds_down_to_blocks), cmocka_unit_test(blocks_keep_their_gaps),
        cmocka_unit_test(illegal_copies_trap),         cmocka_unit_test(atomics_combine_with_gm),
        cmocka_unit_test(pad_in_fills_each_block),     cmocka_unit_test(pad_out_writes_exact_bytes),
        cmocka_unit_test(illegal_pads_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
