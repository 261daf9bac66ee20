/* Pad, UnPad and the transposition of a matrix on the whole machine, with the host's tiling, against plain copies. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "abi/tiling_abi.h"

enum { MOST = 65536 };
static _Alignas(512) uint8_t source[MOST], result[MOST];

static void fill(uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        source[i] = (uint8_t)(i * 7 + i / 256 + 1);
}

/* Types of 16 or 32 bits, in turn. */
static uint8_t type_of(uint32_t size, uint32_t turn)
{
    static const uint8_t types[2][3] = {{AKGEN_UINT16, AKGEN_INT16, AKGEN_FLOAT16},
                                        {AKGEN_UINT32, AKGEN_INT32, AKGEN_FLOAT}};
    return types[size / 4][turn % 3];
}

static uint32_t size_of(uint8_t type)
{
    return (uint32_t)akgen_dtype_size(type);
}

/* rows x cols become rows x (left + cols + right); of aligned rows the last `right` are written over. */
static void pad(uint8_t type, uint32_t rows, uint32_t cols, uint32_t data, uint32_t left, uint32_t right,
                uint32_t space)
{
    static struct akgen_PadTiling tiling;
    uint32_t size = size_of(type), wide = cols % (32 / size) ? left + cols + right : cols;
    struct akgen_shape shape = {.rank = 2, .dims = {rows, cols}}, original = {.rank = 2, .dims = {rows, data}};
    akgen_pad_tiling(&shape, &original, space, size, &tiling);
    fill(rows * cols * size);
    uint64_t value = 0x41424344;
    adv_now = (struct adv_case){
        .call = {.op = NPU_ADV_PAD, .type = type, .shape = {left, right}, .scalar = {value}, .tiling = &tiling},
        .in = {{source, 1, rows * cols * size, 0}},
        .out = {{result, 1, rows * wide * size, 0}},
        .tmp_bytes = space};
    adv_run_clean();
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < wide; c++) {
            bool mine = wide == cols ? c < data || c >= data + right : c >= left && c < left + cols;
            uint32_t from = r * cols + (wide == cols ? c : c - left);
            assert_memory_equal(result + (r * wide + c) * size, mine ? source + from * size : (uint8_t *)&value, size);
        }
}

static void pads_to_blocks(void **state)
{
    (void)state;
    static const uint8_t types[] = {AKGEN_FLOAT16, AKGEN_INT16, AKGEN_FLOAT, AKGEN_INT32, AKGEN_UINT16, AKGEN_UINT32};
    static const uint32_t cols[] = {3, 15, 17, 31, 60, 100};
    for (size_t t = 0; t < sizeof types; t++)
        for (size_t c = 0; c < sizeof cols / sizeof *cols; c++)
            for (uint32_t rows = 16; rows <= 48; rows += 32) {
                uint32_t block = 32 / size_of(types[t]), missing = block - cols[c] % block, max = 0, min = 0;
                struct akgen_shape shape = {.rank = 2, .dims = {rows, cols[c]}};
                if (missing == block)
                    continue;
                akgen_tmp_pad(&shape, size_of(types[t]), &max, &min);
                assert_int_equal(min, 1024);
                for (uint32_t space = min; space <= 4 * min; space += 1536) {
                    pad(types[t], rows, cols[c], cols[c], 0, missing, space);
                    pad(types[t], rows, cols[c], cols[c], missing, 0, space);
                    pad(types[t], rows, cols[c], cols[c], missing / 2, missing - missing / 2, space);
                }
                if (max <= 65536)
                    pad(types[t], rows, cols[c], cols[c], missing / 2, missing - missing / 2, max);
            }
    adv_now.tmp_bytes -= 32;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    adv_now.tmp_bytes += 32;
    adv_now.call.shape[1]++;
    assert_string_equal(adv_run(0), "adv_shape");
}

static void pads_surplus(void **state)
{
    (void)state;
    for (uint32_t rows = 1; rows <= 300; rows += 299)
        for (uint32_t surplus = 1; surplus < 8; surplus += 3) {
            pad(AKGEN_FLOAT, rows, 16, 16 - surplus, 0, surplus, 1024);
            pad(AKGEN_FLOAT16, rows, 32, 32 - surplus, 0, surplus, 1024);
        }
}

static void unpads(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 4; size += 2)
        for (uint32_t rows = 1; rows <= 254; rows += 23)
            for (uint32_t right = 1; right < 32 / size; right += 3) {
                static struct akgen_UnPadTiling tiling;
                uint32_t cols = 64 / size, kept = cols - right;
                struct akgen_shape shape = {.rank = 2, .dims = {rows, cols}};
                akgen_unpad_tiling(&shape, 0, size, &tiling);
                fill(rows * 64);
                adv_now = (struct adv_case){.call = {.op = NPU_ADV_UNPAD,
                                                     .type = type_of(size, right / 3),
                                                     .flags = NPU_ADV_NO_TMP,
                                                     .shape = {0, right},
                                                     .tiling = &tiling},
                                            .in = {{source, rows, kept * size, 64}},
                                            .out = {{result, 1, rows * kept * size, 0}},
                                            .tmp_bytes = 32};
                adv_run_clean();
                assert_memory_equal(result, source, rows * kept * size);
            }
    adv_now.call.shape[1] = 8;
    assert_string_equal(adv_run(0), "adv_shape");
}

static void transposes(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 4; size += 2)
        for (uint32_t rows = 16; rows <= 80; rows += 32)
            for (uint32_t cols = 16; cols <= 144; cols += 64) {
                static struct akgen_ConfusionTransposeTiling tiling;
                struct akgen_shape shape = {.rank = 2, .dims = {rows, cols}};
                akgen_transpose_matrix_tiling(&shape, size, &tiling);
                fill(rows * cols * size);
                adv_now = (struct adv_case){.call = {.op = NPU_ADV_TRANSPOSE,
                                                     .type = type_of(size, rows / 32),
                                                     .flags = NPU_ADV_NO_TMP,
                                                     .shape = {7},
                                                     .tiling = &tiling},
                                            .in = {{source, 1, rows * cols * size, 0}},
                                            .out = {{result, 1, rows * cols * size, 0}},
                                            .tmp_bytes = 32};
                adv_run_clean();
                for (uint32_t r = 0; r < rows; r++)
                    for (uint32_t c = 0; c < cols; c++)
                        assert_memory_equal(result + (c * rows + r) * size, source + (r * cols + c) * size, size);
            }
    ((struct akgen_ConfusionTransposeTiling *)adv_now.call.tiling)->param1 = 8;
    assert_string_equal(adv_run(0), "adv_shape");
    adv_now.call.shape[0] = 3;
    assert_string_equal(adv_run(0), "unsupported_api");
}

/* (b, n, h/n, s) in squares of 16 x 16 to (b, s, n, h/n), in rows (type 1) or, where n is whole squares, in squares of
 * (n, h/n) (type 2); the temporary space holds a square, three, or a whole column. */
static void check_swap(uint32_t size, uint32_t b, uint32_t n, uint32_t s, uint32_t d, uint32_t type, uint32_t squares)
{
    static struct akgen_ConfusionTransposeTiling tiling;
    const struct akgen_shape shape = {.rank = 4, .dims = {b, n, s, d}};
    uint32_t bytes = b * n * s * d * size, space = squares * 256 * size;
    akgen_transpose_swap_tiling(&shape, space, size, &tiling);
    fill(bytes);
    adv_now = (struct adv_case){
        .call = {.op = NPU_ADV_TRANSPOSE, .type = type_of(size, n), .shape = {type}, .tiling = &tiling},
        .in = {{source, 1, bytes, 0}},
        .out = {{result, 1, bytes, 0}},
        .tmp_bytes = space};
    adv_run_clean();
    for (uint32_t i = 0; i < b * n * s * d; i++) {
        uint32_t c = i % d, y = i / d % s, head = i / d / s % n, batch = i / d / s / n;
        uint32_t from = ((batch * n + head) * d / 16 + c / 16) * s * 16 + y * 16 + c % 16;
        uint32_t to = batch * n * s * d + y * n * d;
        to += type == 1 ? head * d + c : (c / 16 * (n / 16) + head / 16) * 256 + head % 16 * 16 + c % 16;
        assert_memory_equal(result + to * size, source + from * size, size);
    }
}

static void swaps_axes(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 4; size += 2)
        for (uint32_t squares = 1; squares <= 5; squares += 2) {
            check_swap(size, 1, 2, 64, 32, 1, squares);
            check_swap(size, 2, 3, 48, 16, 1, squares);
            check_swap(size, 1, 16, 16, 32, 2, squares);
            check_swap(size, 1, 32, 16, 16, 2, squares);
        }
    adv_now.tmp_bytes = 512;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pads_to_blocks), cmocka_unit_test(pads_surplus),
                                       cmocka_unit_test(unpads), cmocka_unit_test(transposes),
                                       cmocka_unit_test(swaps_axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
