/* Compound instructions and CastDequant against the arithmetic that their documentation writes down. */
/* test: leaves=covered with=core builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/core.h"

#include <math.h>

enum { DST = 0, SRC0 = 65536, SRC1 = 131072 };

static const uint32_t counts[] = {1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 1000};

static struct npu_insn instruction(enum npu_op op, uint8_t src_type, uint8_t dst_type)
{
    return (struct npu_insn){.op = (uint16_t)op,
                             .dst_type = dst_type,
                             .src_type = src_type,
                             .src1_type = src_type,
                             .dst = fake_local(DST, 65536),
                             .src0 = fake_local(SRC0, 65536),
                             .src1 = fake_local(SRC1, 65536),
                             .dst_blk = 1,
                             .src0_blk = 1,
                             .src1_blk = 1};
}

static const char *run(struct npu_insn insn)
{
    return fake_run(insn, npu_check_compound, npu_exec_compound);
}

/* Element i of a tensor as a double. */
static double value(const uint8_t *at, uint8_t type, uint32_t i)
{
    float single;
    half_t half;
    int16_t word;
    int32_t whole;
    switch (type) {
    case AKGEN_FLOAT:
        memcpy(&single, at + 4 * i, 4);
        return single;
    case AKGEN_FLOAT16:
        memcpy(&half, at + 2 * i, 2);
        return (double)half;
    case AKGEN_INT16:
        memcpy(&word, at + 2 * i, 2);
        return word;
    case AKGEN_INT32:
        memcpy(&whole, at + 4 * i, 4);
        return whole;
    case AKGEN_INT8:
        return (int8_t)at[i];
    default:
        return at[i];
    }
}

static void put(uint8_t *at, uint8_t type, uint32_t i, double x)
{
    float single = (float)x;
    half_t half = (half_t)x;
    int16_t word = type == AKGEN_INT16 ? (int16_t)x : 0;
    int32_t whole = (int32_t)x;
    const void *from = type == AKGEN_FLOAT     ? (void *)&single
                       : type == AKGEN_FLOAT16 ? (void *)&half
                       : type == AKGEN_INT16   ? (void *)&word
                                               : (void *)&whole;
    memcpy(at + i * akgen_dtype_size((enum akgen_dtype)type), from, akgen_dtype_size((enum akgen_dtype)type));
}

static void fill(uint8_t src_type, uint8_t dst_type, double scale)
{
    for (uint32_t i = 0; i < 1024; i++) {
        put(fake_ub + SRC0, src_type, i, ((double)fake_random(20001) - 10000) / 10000 * scale);
        put(fake_ub + SRC1, src_type, i, ((double)fake_random(20001) - 10000) / 10000 * scale);
        if (dst_type == AKGEN_FLOAT || dst_type == AKGEN_FLOAT16)
            put(fake_ub + DST, dst_type, i, ((double)fake_random(20001) - 10000) / 10000 * scale);
    }
}

static double to_half(double x)
{
    return (double)(half_t)(float)x;
}
static double rounded(double x, uint8_t type)
{
    switch (type) {
    case AKGEN_FLOAT:
        return (double)(float)x;
    case AKGEN_FLOAT16:
        return to_half(x);
    case AKGEN_INT16:
        return (int16_t)(uint16_t)(int32_t)x;
    default:
        return x;
    }
}
static double narrowed(double x, uint8_t type)
{
    switch (type) {
    case AKGEN_INT8:
        return fmin(fmax(nearbyint(x), -128), 127);
    case AKGEN_UINT8:
        return fmin(fmax(nearbyint(x), 0), 255);
    default:
        return rounded(x, type);
    }
}

static double expected(enum npu_op op, uint8_t s, uint8_t d, double a, double b, double old)
{
    switch (op) {
    case NPU_OP_ADD_RELU:
    case NPU_OP_ADD_RELU_CAST:
        return narrowed(fmax(rounded(a + b, s), 0), d);
    case NPU_OP_SUB_RELU:
    case NPU_OP_SUB_RELU_CAST:
        return narrowed(fmax(rounded(a - b, s), 0), d);
    case NPU_OP_MUL_CAST:
        return narrowed(rounded(a * b, s), d);
    case NPU_OP_MUL_ADD_DST:
        return rounded(rounded(a * b, d) + old, d);
    case NPU_OP_FUSED_MUL_ADD_RELU:
        return fmax(rounded(rounded(a * old, s) + b, s), 0);
    default: /* AddDeqRelu: the scale is 0.125 */
        return fmax(to_half((double)(float)(a + b) * 0.125), 0);
    }
}

static const struct {
    enum npu_op op;
    uint8_t src, dst;
    double scale;
} forms[] = {{NPU_OP_ADD_RELU, AKGEN_FLOAT16, AKGEN_FLOAT16, 8},
             {NPU_OP_ADD_RELU, AKGEN_FLOAT, AKGEN_FLOAT, 8},
             {NPU_OP_ADD_RELU, AKGEN_INT16, AKGEN_INT16, 32767},
             {NPU_OP_SUB_RELU, AKGEN_FLOAT16, AKGEN_FLOAT16, 8},
             {NPU_OP_SUB_RELU, AKGEN_FLOAT, AKGEN_FLOAT, 8},
             {NPU_OP_SUB_RELU, AKGEN_INT16, AKGEN_INT16, 32767},
             {NPU_OP_ADD_RELU_CAST, AKGEN_FLOAT16, AKGEN_INT8, 100},
             {NPU_OP_ADD_RELU_CAST, AKGEN_FLOAT, AKGEN_FLOAT16, 100},
             {NPU_OP_ADD_RELU_CAST, AKGEN_INT16, AKGEN_INT8, 200},
             {NPU_OP_SUB_RELU_CAST, AKGEN_FLOAT16, AKGEN_INT8, 100},
             {NPU_OP_SUB_RELU_CAST, AKGEN_FLOAT, AKGEN_FLOAT16, 100},
             {NPU_OP_SUB_RELU_CAST, AKGEN_INT16, AKGEN_INT8, 200},
             {NPU_OP_MUL_CAST, AKGEN_FLOAT16, AKGEN_INT8, 15},
             {NPU_OP_MUL_CAST, AKGEN_FLOAT16, AKGEN_UINT8, 20},
             {NPU_OP_MUL_ADD_DST, AKGEN_FLOAT16, AKGEN_FLOAT16, 8},
             {NPU_OP_MUL_ADD_DST, AKGEN_FLOAT, AKGEN_FLOAT, 8},
             {NPU_OP_MUL_ADD_DST, AKGEN_FLOAT16, AKGEN_FLOAT, 8},
             {NPU_OP_FUSED_MUL_ADD_RELU, AKGEN_FLOAT16, AKGEN_FLOAT16, 8},
             {NPU_OP_FUSED_MUL_ADD_RELU, AKGEN_FLOAT, AKGEN_FLOAT, 8},
             {NPU_OP_ADD_DEQ_RELU, AKGEN_INT32, AKGEN_FLOAT16, 60000}};

static void every_form_computes_its_formula(void **state)
{
    (void)state;
    static uint8_t before[UB_BYTES];
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            fake_reset();
            half_t scale = (half_t)0.125f;
            memcpy(&fake.regs.deq_scale, &scale, sizeof scale);
            fill(forms[f].src, forms[f].dst, forms[f].scale);
            memcpy(before, fake_ub, UB_BYTES);
            struct npu_insn insn = instruction(forms[f].op, forms[f].src, forms[f].dst);
            insn.form = NPU_FORM_COUNT;
            insn.count = counts[c];
            assert_null(run(insn));
            size_t size = akgen_dtype_size((enum akgen_dtype)forms[f].dst);
            for (uint32_t i = 0; i < counts[c]; i++) {
                double old = value(before + DST, forms[f].dst, i);
                double want = expected(forms[f].op, forms[f].src, forms[f].dst, value(before + SRC0, forms[f].src, i),
                                       value(before + SRC1, forms[f].src, i), old);
                if (value(fake_ub + DST, forms[f].dst, i) != want)
                    fail_msg("form %zu, element %u of %u: %g, expected %g", f, i, counts[c],
                             value(fake_ub + DST, forms[f].dst, i), want);
            }
            assert_memory_equal(fake_ub + DST + counts[c] * size, before + DST + counts[c] * size, 64);
        }
}

/* A narrower destination takes half the blocks of its sources. */
static void masks_and_strides_choose_the_elements(void **state)
{
    (void)state;
    static uint8_t before[UB_BYTES];
    for (int turn = 0; turn < 50; turn++) {
        fake_reset();
        fill(AKGEN_FLOAT, AKGEN_FLOAT16, 100);
        memcpy(before, fake_ub, UB_BYTES);
        struct npu_insn insn = instruction(NPU_OP_SUB_RELU_CAST, AKGEN_FLOAT, AKGEN_FLOAT16);
        insn.form = NPU_FORM_MASK_BITS;
        insn.mask[0] = (uint64_t)fake_random(1u << 31) << 33 | fake_random(1u << 31) | 1;
        insn.repeat = 1 + fake_random(3);
        insn.dst_rep = (uint16_t)(4 + fake_random(3));
        insn.src0_rep = insn.src1_rep = (uint16_t)(8 + fake_random(3));
        assert_null(run(insn));
        for (uint32_t r = 0; r < insn.repeat; r++)
            for (uint32_t i = 0; i < 64; i++) {
                double a = value(before + SRC0 + r * insn.src0_rep * 32, AKGEN_FLOAT, i);
                double b = value(before + SRC1 + r * insn.src1_rep * 32, AKGEN_FLOAT, i);
                const uint8_t *at = fake_ub + DST + r * insn.dst_rep * 32;
                if (insn.mask[0] >> i & 1)
                    assert_true(value(at, AKGEN_FLOAT16, i) == to_half(fmax((double)(float)(a - b), 0)));
                else
                    assert_memory_equal(at + 2 * i, before + (at - fake_ub) + 2 * i, 2);
            }
    }
}

static void definedness_follows_dst_where_it_is_read(void **state)
{
    (void)state;
    fake_reset();
    fill(AKGEN_FLOAT, AKGEN_FLOAT, 8);
    struct npu_insn insn = instruction(NPU_OP_MUL_ADD_DST, AKGEN_FLOAT, AKGEN_FLOAT);
    insn.form = NPU_FORM_COUNT;
    insn.count = 64;
    fake_ub_flag[DST + 4 * 5] = 0;
    fake_ub_flag[SRC1 + 4 * 7] = 0;
    assert_null(run(insn));
    assert_int_equal(fake_undefined_reads, 1);
    assert_true(!fake_all(fake_ub + DST + 20, 4) && !fake_all(fake_ub + DST + 28, 4) && fake_all(fake_ub + DST, 20));
    insn.op = NPU_OP_ADD_RELU; /* does not read dst */
    fake_reset();
    fake_ub_flag[DST] = 0;
    assert_null(run(insn));
    assert_int_equal(fake_undefined_reads, 0);
    assert_true(fake_all(fake_ub + DST, 256));
}

/* Of AddDeqRelu the result stands; what its steps leave in the sources and in the last 8 KB of UB is nobody's. */
static void deq_relu_loses_its_sources(void **state)
{
    (void)state;
    enum { N = 96, RESERVED = 184 * 1024 };
    fake_reset();
    struct npu_insn insn = instruction(NPU_OP_ADD_DEQ_RELU, AKGEN_INT32, AKGEN_FLOAT16);
    insn.form = NPU_FORM_COUNT;
    insn.count = N;
    insn.src1 = fake_local(SRC1, 4096);
    memset(fake_ub_flag + RESERVED, 0, N * 4);
    assert_null(run(insn));
    assert_true(fake_all(fake_ub + DST, N * 2));
    assert_false(npu_ub_any_defined(&fake, fake_ub + SRC0, N * 4) || npu_ub_any_defined(&fake, fake_ub + SRC1, N * 4));
    assert_true(fake_all(fake_ub + SRC0 + N * 4, 64) && fake_all(fake_ub + SRC1 + N * 4, 64));
    assert_null(fake_last_note);
    /* Something of the kernel's lies there; and the result lies over a source. */
    fake_reset();
    insn.dst = fake_local(SRC0, 4096);
    assert_null(run(insn));
    assert_string_equal(fake_last_note, "ub_reserved");
    assert_true(fake_all(fake_ub + SRC0, N * 2));
    assert_false(npu_ub_any_defined(&fake, fake_ub + SRC0 + N * 2, N * 2));
    assert_false(npu_ub_any_defined(&fake, fake_ub + RESERVED, N * 4));
    assert_true(fake_all(fake_ub + RESERVED + N * 4, 64));
}

static void missing_forms_trap(void **state)
{
    (void)state;
    fake_reset();
    struct npu_insn insn = instruction(NPU_OP_MUL_CAST, AKGEN_FLOAT16, AKGEN_FLOAT16);
    insn.form = NPU_FORM_COUNT;
    insn.count = 16;
    assert_string_equal(run(insn), "vec_dtype");
    insn = instruction(NPU_OP_ADD_RELU, AKGEN_INT32, AKGEN_INT32);
    assert_string_equal(run(insn), "vec_dtype");
}

/* CastDequant of int16. */
static struct npu_insn dequant(uint8_t dst_type, bool vector, bool upper, uint32_t count)
{
    struct npu_insn insn = instruction(NPU_OP_CAST_DEQUANT, AKGEN_INT16, dst_type);
    insn.form = NPU_FORM_COUNT;
    insn.count = count;
    insn.mode = (uint8_t)(vector | upper << 1);
    return insn;
}

static uint64_t deq_word(float scale, int offset, bool sign)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    return (uint64_t)sign << 46 | (uint64_t)(offset & 0x1ff) << 37 | bits;
}

/* What a value becomes under a word of the register: x * scale + offset to nearest even, saturated. */
static uint8_t dequantized(uint64_t word, int16_t x)
{
    float scale;
    memcpy(&scale, &word, sizeof scale);
    int offset = (int)(word >> 37 & 0x1ff);
    offset -= offset > 255 ? 512 : 0;
    double rounded_off = nearbyintf((float)x * scale + (float)offset);
    bool sign = word >> 46 & 1;
    return (uint8_t)(int)(sign ? fmin(fmax(rounded_off, -128), 127) : fmin(fmax(rounded_off, 0), 255));
}

/* Sixteen int16 of a source block become the lower or upper half of a destination block, in every form. */
static void dequant_in_every_form(void **state)
{
    (void)state;
    enum { TABLE = 180224, ROOM = 32768 };
    static uint8_t want[UB_BYTES];
    for (uint32_t turn = 0; turn < 4 * FORM_TURNS; turn++)
        for (enum form form = 0; form < FORMS; form++) {
            bool vector = turn & 1, upper = turn & 2, sign = turn / 4 & 1;
            fake_reset();
            uint64_t words[16];
            for (int i = 0; i < 16; i++)
                words[i] = deq_word(0.01f * (float)(i + 1), i * 7 - 50, sign);
            memcpy(fake_ub + TABLE, words, sizeof words);
            fake.regs.deq_scale = vector ? ((uint64_t)fake_ub + TABLE) / 32 : words[5];
            struct npu_insn insn = dequant(sign ? AKGEN_INT8 : AKGEN_UINT8, vector, upper, 0);
            struct form_room room = {.bytes = ROOM, .repeats = 255};
            form_put(&insn, &fake.regs, form, turn / 4, 16, 16, &room);
            memcpy(want, fake_ub, UB_BYTES);
            for (uint32_t r = 0; r < form_turns(&insn, &fake.regs, 128); r++)
                for (uint32_t lane = 0; lane < 128; lane++) {
                    if (!form_selects(&insn, &fake.regs, 128, r, lane))
                        continue;
                    size_t to = form_bit(&insn, 128, 16, insn.dst_blk, insn.dst_rep, r, lane) / 8 / 32 * 32;
                    size_t from = form_bit(&insn, 128, 16, insn.src0_blk, insn.src0_rep, r, lane) / 8;
                    int16_t x;
                    memcpy(&x, want + SRC0 + from, sizeof x);
                    want[DST + to + (upper ? 16 : 0) + lane % 16] = dequantized(words[vector ? lane % 16 : 5], x);
                }
            assert_null(fake_run(insn, npu_check_dequant, npu_exec_dequant));
            assert_memory_equal(fake_ub, want, UB_BYTES);
            covered(&insn, form);
        }
}

static void dequant_scales_into_half_blocks(void **state)
{
    (void)state;
    static uint8_t before[UB_BYTES];
    enum { TABLE = 180224 };
    for (int turn = 0; turn < 64; turn++) {
        bool vector = turn & 1, upper = turn & 2, sign = turn & 4;
        fake_reset();
        fill(AKGEN_INT16, AKGEN_INT16, 3000);
        uint64_t words[16];
        for (int i = 0; i < 16; i++)
            words[i] = deq_word(0.05f + (vector ? 0.01f * (float)i : 0), (vector ? i : 3) * (i % 2 ? -1 : 1), sign);
        memcpy(fake_ub + TABLE, words, sizeof words);
        fake.regs.deq_scale = vector ? ((uint64_t)fake_ub + TABLE) / 32 : words[0];
        memcpy(before, fake_ub, UB_BYTES);
        uint32_t count = counts[turn % 12];
        assert_null(fake_run(dequant(sign ? AKGEN_INT8 : AKGEN_UINT8, vector, upper, count), npu_check_dequant,
                             npu_exec_dequant));
        for (uint32_t i = 0; i < count; i++) {
            uint64_t word = words[vector ? i % 16 : 0];
            uint32_t at = DST + i / 16 * 32 + (upper ? 16 : 0) + i % 16;
            assert_int_equal(fake_ub[at], dequantized(word, (int16_t)value(before + SRC0, AKGEN_INT16, i)));
        }
        uint32_t other = upper ? 0 : 16;
        assert_memory_equal(fake_ub + DST + other, before + DST + other, 16);
        assert_null(fake_last_note);
    }
    assert_null(fake_run(dequant(AKGEN_UINT8, false, false, 16), npu_check_dequant, npu_exec_dequant));
    fake.regs.deq_scale = deq_word(1, 0, true);
    assert_null(fake_run(dequant(AKGEN_UINT8, false, false, 16), npu_check_dequant, npu_exec_dequant));
    assert_string_equal(fake_last_note, "deq_sign_mode");
    assert_string_equal(fake_run(dequant(AKGEN_INT8, true, false, 16), npu_check_dequant, npu_exec_dequant),
                        "deq_table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_computes_its_formula),
        cmocka_unit_test(masks_and_strides_choose_the_elements),
        cmocka_unit_test(definedness_follows_dst_where_it_is_read),
        cmocka_unit_test(deq_relu_loses_its_sources),
        cmocka_unit_test(missing_forms_trap),
        cmocka_unit_test(dequant_in_every_form),
        cmocka_unit_test(dequant_scales_into_half_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
