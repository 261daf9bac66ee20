/* DropOut, AscendQuant, AscendDequant and AscendAntiQuant on the whole machine against plain loops. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "base/half.h"

#include <math.h>

enum { MOST = 16384 };
static _Alignas(512) uint8_t source[MOST * 4], result[MOST * 4], scale_in[MOST * 4], offset_in[MOST * 4], marks[MOST];

static double load(const uint8_t *at, uint8_t type, uint32_t i)
{
    if (type == AKGEN_FLOAT)
        return ((const float *)at)[i];
    uint16_t bits = ((const uint16_t *)at)[i];
    return type == AKGEN_BF16 ? bf16_to_float(bits) : (double)((const _Float16 *)at)[i];
}

static void store(uint8_t *at, uint8_t type, uint32_t i, double value)
{
    if (type == AKGEN_FLOAT)
        ((float *)at)[i] = (float)value;
    else if (type == AKGEN_BF16)
        ((uint16_t *)at)[i] = bf16_from_float((float)value);
    else
        ((_Float16 *)at)[i] = (_Float16)value;
}

static uint64_t bits_of(uint8_t type, double value)
{
    uint64_t bits = 0;
    store((uint8_t *)&bits, type, 0, value);
    return bits;
}

static uint32_t size_of(uint8_t type)
{
    return type == AKGEN_FLOAT ? 4 : 2;
}

static struct adv_operand whole(uint8_t *data, uint32_t bytes)
{
    return (struct adv_operand){data, 1, bytes, 0};
}

static void fill(uint8_t *at, uint8_t type, uint32_t count, double step)
{
    for (uint32_t i = 0; i < count; i++)
        store(at, type, i, ((double)(i * 29 % 83) - 41) * step);
}

static void check_dropout(uint8_t type, uint32_t mode, uint32_t rows, uint32_t cols, uint32_t mask_bytes, uint32_t tmp)
{
    bool bits = mode >= 3;
    fill(source, type, rows * cols, 0.25);
    for (uint32_t i = 0; i < rows * mask_bytes; i++)
        marks[i] = bits ? (uint8_t)(i * 91 + 7) : i % 3 != 0;
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_DROPOUT,
                                         .type = type,
                                         .shape = {rows, cols, mask_bytes, mode},
                                         .scalar = {bits_of(AKGEN_FLOAT, 0.75)}},
                                .in = {whole(source, rows * cols * size_of(type)), whole(marks, rows * mask_bytes)},
                                .out = {whole(result, rows * cols * size_of(type))},
                                .tmp_bytes = tmp};
    adv_run_clean();
    double factor = type == AKGEN_FLOAT ? (double)(1 / 0.75F) : (double)(_Float16)(1 / 0.75F);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < cols; c++) {
            uint32_t i = r * cols + c;
            bool kept = bits ? marks[r * mask_bytes + c / 8] >> c % 8 & 1 : marks[r * mask_bytes + c];
            double want = kept ? load(source, type, i) * factor : 0;
            assert_float_equal(load(result, type, i), want, fabs(want) * (type == AKGEN_FLOAT ? 0x1p-23 : 0x1p-10));
        }
}

static void dropout(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        uint8_t type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT;
        check_dropout(type, 1, 5, 48, 64, 6 * 32);
        check_dropout(type, 2, 3, 64, 64, 6 * 32);
        check_dropout(type, 2, 3, 64, 64, 4096);
        check_dropout(type, 3, 4, 256, 32, 256);
        check_dropout(type, 4, 5, 64, 32, 256);
    }
    adv_now.tmp_bytes = 255;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    adv_now.call.scalar[0] = 0;
    assert_string_equal(adv_run(0), "adv_shape");
}

/* What AscendQuant computes: every step in half. */
static int quantised(double x, double scale, double offset)
{
    _Float16 product = (_Float16)((float)(_Float16)x * (float)(_Float16)scale);
    _Float16 sum = (_Float16)((float)product + (float)(_Float16)offset);
    double whole = nearbyint((double)sum);
    return whole > 127 ? 127 : whole < -128 ? -128 : (int)whole;
}

static void check_quant(uint8_t type, uint32_t rows, uint32_t cols, bool scales, bool offsets, uint32_t tmp)
{
    uint32_t size = size_of(type);
    fill(source, type, rows * cols, 1.25);
    fill(scale_in, type, cols, 0.0625);
    fill(offset_in, type, cols, 0.5);
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_QUANT,
                                         .type = type,
                                         .dst_type = scales ? type : AKGEN_FLOAT,
                                         .count = rows * cols,
                                         .shape = {scales ? cols : 0}},
                                .in = {whole(source, rows * cols * size)},
                                .out = {whole(result, rows * cols)},
                                .tmp_bytes = tmp};
    adv_now.call.scalar[0] = bits_of(AKGEN_FLOAT, 1.5);
    adv_now.call.scalar[1] = bits_of(adv_now.call.dst_type, 3);
    if (scales)
        adv_now.in[1] = whole(scale_in, cols * size);
    if (offsets)
        adv_now.in[2] = whole(offset_in, cols * size);
    adv_run_clean();
    for (uint32_t i = 0; i < rows * cols; i++) {
        double scale = scales ? load(scale_in, type, i % cols) : 1.5;
        double offset = offsets ? load(offset_in, type, i % cols) : 3;
        assert_int_equal(((int8_t *)result)[i], quantised(load(source, type, i), scale, offset));
    }
}

static void quant(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        uint8_t type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT;
        for (uint32_t tmp = 64; tmp <= 1024; tmp += 480) {
            check_quant(type, 1, 352, false, false, tmp);
            check_quant(type, 3, 160, true, false, tmp);
            check_quant(type, 3, 160, true, true, tmp);
        }
    }
    adv_now.tmp_bytes = 63;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

enum { DEQUANT_UINT64 = AKGEN_UINT64 };

static void check_dequant(uint8_t dst, uint8_t scale_type, uint32_t rows, uint32_t n, uint32_t valid, uint32_t count,
                          bool scalar, uint32_t tmp)
{
    uint32_t dst_block = 32 / size_of(dst), pitch = (n + dst_block - 1) / dst_block * dst_block;
    for (uint32_t i = 0; i < rows * n; i++)
        ((int32_t *)source)[i] = (int32_t)(i * 37 % 401) - 200;
    if (scale_type == DEQUANT_UINT64)
        for (uint32_t i = 0; i < n; i++)
            ((uint64_t *)scale_in)[i] = bits_of(AKGEN_FLOAT, (double)(i % 7) / 8) | UINT64_C(0x123) << 32;
    else
        fill(scale_in, scale_type, n, 0.125);
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_DEQUANT,
                                         .type = AKGEN_INT32,
                                         .dst_type = dst,
                                         .count = count,
                                         .shape = {rows, n, valid, scale_type}},
                                .in = {whole(source, rows * n * 4)},
                                .out = {{result, rows, n * size_of(dst), pitch * size_of(dst)}},
                                .tmp_bytes = tmp};
    if (scalar)
        adv_now.call.scalar[0] = bits_of(scale_type, 0.375);
    else
        adv_now.in[1] = whole(scale_in, n * (scale_type == DEQUANT_UINT64 ? 8 : size_of(scale_type)));
    if (count < rows * n)
        adv_now.out[0].rows = count / n;
    adv_run_clean();
    for (uint32_t i = 0; i < count / n * n; i++) {
        double scale = scalar                         ? 0.375
                       : scale_type == DEQUANT_UINT64 ? (double)(i % n % 7) / 8
                                                      : load(scale_in, scale_type, i % n);
        double want = ((int32_t *)source)[i] * (i % n < valid ? scale : 1);
        double unit = dst == AKGEN_FLOAT ? 0x1p-24 : dst == AKGEN_FLOAT16 ? 0x1p-11 : 0x1p-8;
        assert_float_equal(load(result, dst, i), want, fabs(want) * unit);
    }
}

static void dequant(void **state)
{
    (void)state;
    static const uint8_t types[][2] = {{AKGEN_FLOAT, AKGEN_FLOAT},
                                       {AKGEN_FLOAT, AKGEN_BF16},
                                       {AKGEN_BF16, AKGEN_BF16},
                                       {AKGEN_BF16, AKGEN_FLOAT},
                                       {AKGEN_FLOAT16, DEQUANT_UINT64}};
    for (size_t t = 0; t < 5; t++)
        for (uint32_t n = 8; n <= 136; n += 64) {
            uint32_t least = ((n + 7) / 8 * 8 + n) * 4;
            for (uint32_t rows = 1; rows <= 9; rows += 4) {
                check_dequant(types[t][0], types[t][1], rows, n, n, rows * n, false, least);
                check_dequant(types[t][0], types[t][1], rows, n, n - 3, rows * n, false, least + 3 * n * 4);
                if (types[t][1] != DEQUANT_UINT64)
                    check_dequant(types[t][0], types[t][1], rows, n, n, rows * n, true, least);
            }
            check_dequant(types[t][0], types[t][1], 3, n, n, 2 * n + 5, false, least + 2 * n * 4);
        }
    adv_now.tmp_bytes = 8;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

/* Element i of the source, a byte or half a byte. */
static int taken(uint8_t type, uint32_t i)
{
    int nibble = source[i / 2] >> i % 2 * 4 & 15;
    return type == AKGEN_INT8 ? ((int8_t *)source)[i] : nibble > 7 ? nibble - 16 : nibble;
}

static void check_antiquant(uint8_t type, uint8_t dst, uint32_t rows, uint32_t cols, bool transposed, bool offset,
                            bool scalars, uint32_t tmp)
{
    uint32_t scales = transposed ? rows : cols, count = rows * cols;
    for (uint32_t i = 0; i < count; i++)
        ((int8_t *)source)[i] = (int8_t)(i * 37 % 251 - 120);
    fill(scale_in, dst, scales, 0.125);
    fill(offset_in, dst, scales, 1);
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_ANTIQUANT,
                                         .type = type,
                                         .dst_type = dst,
                                         .flags = (scalars ? NPU_ADV_SCALARS : 0) | (offset ? NPU_ADV_HAS_OFFSET : 0),
                                         .shape = {rows, cols, transposed},
                                         .scalar = {bits_of(dst, 3), bits_of(dst, 0.5)}},
                                .in = {whole(source, type == AKGEN_INT8 ? count : count / 2)},
                                .out = {whole(result, count * 2)},
                                .tmp_bytes = tmp};
    if (!scalars && offset)
        adv_now.in[1] = whole(offset_in, scales * 2);
    if (!scalars)
        adv_now.in[2] = whole(scale_in, scales * 2);
    adv_run_clean();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = transposed ? i / cols : i % cols;
        double scale = scalars ? 0.5 : load(scale_in, dst, at);
        double shift = !offset ? 0 : scalars ? 3 : load(offset_in, dst, at);
        double want = (taken(type, i) + shift) * scale;
        assert_float_equal(load(result, dst, i), want, fabs(want) * (dst == AKGEN_FLOAT16 ? 0x1p-10 : 0x1p-8));
    }
}

static void antiquant(void **state)
{
    (void)state;
    for (int offset = 0; offset < 2; offset++)
        for (int transposed = 0; transposed < 2; transposed++)
            for (uint32_t cols = 32; cols <= 160; cols += 64) {
                check_antiquant(AKGEN_INT8, AKGEN_FLOAT16, 16, cols, transposed, offset, false, 32);
                check_antiquant(AKGEN_INT8, AKGEN_BF16, 16, cols, transposed, offset, false, 2 * cols * 4 + 1024);
                check_antiquant(AKGEN_INT8, AKGEN_FLOAT16, 3, cols, transposed, offset, true, 32);
                check_antiquant(AKGEN_INT8, AKGEN_BF16, 3, cols, transposed, offset, true, 1024);
                check_antiquant(AKGEN_INT4, AKGEN_FLOAT16, 16, 2 * cols, false, offset, false, 32);
                check_antiquant(AKGEN_INT4, AKGEN_FLOAT16, 4, 2 * cols, false, offset, true, 32);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dropout), cmocka_unit_test(quant), cmocka_unit_test(dequant),
                                       cmocka_unit_test(antiquant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
