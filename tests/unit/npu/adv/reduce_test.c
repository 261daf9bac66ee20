/* ReduceProd, ReduceAny, ReduceAll and ReduceXorSum on the whole machine, with the host's temporary space. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "abi/tiling_abi.h"

#include <math.h>

enum { MOST = 65536 };
static _Alignas(512) uint8_t source[MOST], other[MOST], result[MOST];

static uint32_t noise(uint32_t i)
{
    i = (i + 1) * 2654435761U;
    return i ^ i >> 15;
}

/* A matrix of rows x cols in whole 32-byte blocks, reduced along its rows (AR) or its columns (RA). */
static void reduce(enum npu_adv_op op, enum akgen_reduce_api api, uint8_t type, uint32_t rows, uint32_t cols, bool ra,
                   bool reuse)
{
    uint32_t size = type == AKGEN_FLOAT ? 4 : 1, results = ra ? cols : rows;
    struct akgen_shape shape = {.rank = 2, .dims = {rows, cols}};
    uint32_t space = akgen_tmp_reduce(api, &shape, size, !ra, reuse);
    memset(result, 0xee, sizeof result);
    adv_now = (struct adv_case){.call = {.op = (uint16_t)op,
                                         .type = type,
                                         .flags = reuse ? NPU_ADV_REUSE_SOURCE : 0,
                                         .shape = {rows, cols, ra}},
                                .in = {{source, rows, cols * size, 0}},
                                .out = {{result, 1, results * size, 0}},
                                .tmp_bytes = space};
    adv_run_clean();
}

static const uint32_t some_rows[] = {1, 3, 8, 33}, some_cols[] = {1, 3, 8, 9, 20, 32, 33, 64, 65, 200};
enum { ROWS = sizeof some_rows / sizeof *some_rows, COLS = sizeof some_cols / sizeof *some_cols };

static void product(uint32_t rows, uint32_t cols, bool ra, bool reuse)
{
    float *x = (float *)source;
    for (uint32_t i = 0; i < rows * cols; i++)
        x[i] = (1 + (float)(noise(i) % 1000) / 5000) * (noise(i) & 4096 ? -0.93F : 0.9F);
    reduce(NPU_ADV_PATTERN_PROD, AKGEN_REDUCE_PRODUCT, AKGEN_FLOAT, rows, cols, ra, reuse);
    for (uint32_t i = 0; i < (ra ? cols : rows); i++) {
        double want = 1;
        uint32_t terms = ra ? rows : cols;
        for (uint32_t k = 0; k < terms; k++)
            want *= (double)x[ra ? k * cols + i : i * cols + k];
        assert_true(fabs((double)((float *)result)[i] - want) <= fabs(want) * terms * 0x1p-24);
    }
}

static void products(void **state)
{
    (void)state;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            for (int how = 0; how < 4; how++)
                product(some_rows[r], some_cols[c], how & 1, how & 2);
    product(9, 65, false, false);
    adv_now.tmp_bytes -= 36; /* the host counts a block too many */
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    adv_now.call.shape[0] = 0;
    assert_string_equal(adv_run(0), "adv_shape");
}

/* Seldom the other value, so that both results occur. */
static void logical(bool any, uint8_t type, uint32_t rows, uint32_t cols, bool ra, bool reuse)
{
    uint32_t terms = ra ? rows : cols;
    static uint8_t bits[MOST];
    for (uint32_t i = 0; i < rows * cols; i++) {
        bits[i] = (noise(i) % (terms + 1) == 0) == any;
        if (type == AKGEN_FLOAT)
            ((float *)source)[i] = bits[i];
        else
            source[i] = bits[i];
    }
    reduce(any ? NPU_ADV_PATTERN_ANY : NPU_ADV_PATTERN_ALL, AKGEN_REDUCE_LOGIC, type, rows, cols, ra, reuse);
    /* CANN's routine for bytes along a row. */
    bool cut = type == AKGEN_UINT8 && !ra && cols > 16 && cols < 32;
    assert_true(adv_noted("adv_shape") == cut);
    terms = cut ? 16 : terms;
    for (uint32_t i = 0; i < (ra ? cols : rows); i++) {
        bool want = !any;
        for (uint32_t k = 0; k < terms; k++)
            if (bits[ra ? k * cols + i : i * cols + k] == any)
                want = any;
        double got = type == AKGEN_FLOAT ? (double)((float *)result)[i] : result[i];
        assert_true(got == want);
    }
}

static void logic(void **state)
{
    (void)state;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            for (int how = 0; how < 16; how++)
                logical(how & 1, how & 2 ? AKGEN_FLOAT : AKGEN_UINT8, some_rows[r], some_cols[c], how & 4, how & 8);
    logical(true, AKGEN_UINT8, 9, 65, false, false);
    adv_now.tmp_bytes -= 2;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

static void xor_sum(uint32_t count, bool reuse)
{
    int32_t want = 0;
    int16_t *a = (int16_t *)source, *b = (int16_t *)other;
    for (uint32_t i = 0; i < count; i++) {
        a[i] = (int16_t)noise(i);
        b[i] = (int16_t)(a[i] ^ (int16_t)(noise(i + 7) % 23 - 11));
        want += (int16_t)(a[i] ^ b[i]);
    }
    assert_true(want == (int16_t)want);
    struct akgen_shape shape = {.rank = 1, .dims = {count}};
    adv_now = (struct adv_case){
        .call = {.op = NPU_ADV_XOR_SUM, .type = AKGEN_INT16, .flags = reuse ? NPU_ADV_REUSE_SOURCE : 0, .count = count},
        .in = {{source, 1, count * 2, 0}, {other, 1, count * 2, 0}},
        .out = {{result, 1, 2, 0}},
        .tmp_bytes = akgen_tmp_xor_sum(&shape, 2, reuse)};
    adv_run_clean();
    assert_int_equal(*(int16_t *)result, want);
}

static void xor_sums(void **state)
{
    (void)state;
    static const uint32_t count[] = {1, 16, 63, 64, 65, 128, 192, 256, 992, 1024};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        for (int reuse = 0; reuse < 2; reuse++)
            xor_sum(count[i], reuse);
    /* Less than a multiple of 32 does not fit into what the host asks for: CANN asserts that. */
    adv_now.tmp_bytes -= 64;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(logic), cmocka_unit_test(xor_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
