/* Sort, Extract and BilinearInterpolation on the whole machine, against qsort and plain loops. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"

#include <math.h>

enum { MOST = 33 * 32 };
static _Alignas(512) uint8_t scores[MOST * 4], pairs[MOST * 8], sorted[MOST * 8], values[MOST * 4];
static _Alignas(512) uint32_t indices[MOST], places[MOST];

struct pair {
    float score;
    uint32_t index;
};
/* Descending, a NaN first; equal scores as they stood. */
static int compare(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score))
        return isnan(x->score) ? -1 : 1;
    if (!isnan(x->score) && x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void put(uint8_t *at, uint8_t type, float value)
{
    _Float16 half = (_Float16)value;
    memcpy(at, type == AKGEN_FLOAT ? (void *)&value : (void *)&half, type == AKGEN_FLOAT ? 4 : 2);
}
static float get(const uint8_t *at, uint8_t type)
{
    float value;
    _Float16 half;
    if (type == AKGEN_FLOAT)
        return memcpy(&value, at, 4), value;
    return memcpy(&half, at, 2), (float)half;
}

/* `repeat` times 32 scores with many equal ones, sorted whole or by 32. */
static void check_sort(uint8_t type, uint32_t repeat, bool whole)
{
    static struct pair want[MOST];
    uint32_t n = repeat * 32, size = type == AKGEN_FLOAT ? 4 : 2;
    for (uint32_t i = 0; i < n; i++) {
        want[i] = (struct pair){(float)((int)(i * 37 % 101) - 50) / 4, i};
        if (i % 97 == 5)
            want[i].score = i % 2 ? INFINITY : -INFINITY;
        if (i % 211 == 7)
            want[i].score = NAN;
        put(scores + i * size, type, want[i].score);
        indices[i] = i;
    }
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_SORT, .type = type, .count = repeat, .shape = {whole}},
                                .in = {{scores, 1, n * size, 0}, {indices, 1, n * 4, 0}},
                                .out = {{sorted, 1, n * 8, 0}},
                                .tmp_bytes = n * 8};
    adv_run_clean();
    for (uint32_t i = 0; i < n; i += whole ? n : 32)
        qsort(want + i, whole ? n : 32, sizeof *want, compare);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index;
        float score = get(sorted + i * 8, type);
        memcpy(&index, sorted + i * 8 + 4, 4);
        assert_true(score == want[i].score || (isnan(score) && isnan(want[i].score)));
        assert_int_equal(index, want[i].index);
    }
}

static void sorts(void **state)
{
    (void)state;
    static const uint32_t repeats[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 33};
    for (int i = 0; i < 40; i++)
        check_sort(i % 2 ? AKGEN_FLOAT : AKGEN_FLOAT16, repeats[i / 4], i / 2 % 2);
    adv_now.call.shape[0] = 1;
    adv_now.tmp_bytes -= 8;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

static void extracts(void **state)
{
    (void)state;
    static const uint32_t repeats[] = {1, 2, 7, 33};
    for (int i = 0; i < 8; i++) {
        uint8_t type = i % 2 ? AKGEN_FLOAT : AKGEN_FLOAT16;
        uint32_t n = repeats[i / 2] * 32, size = type == AKGEN_FLOAT ? 4 : 2;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t index = k * 17 + 3;
            memset(pairs + k * 8, 0, 8);
            put(pairs + k * 8, type, (float)k - 100);
            memcpy(pairs + k * 8 + 4, &index, 4);
        }
        adv_now = (struct adv_case){.call = {.op = NPU_ADV_EXTRACT, .type = type, .count = repeats[i / 2]},
                                    .in = {{pairs, 1, n * 8, 0}},
                                    .out = {{values, 1, n * size, 0}, {places, 1, n * 4, 0}},
                                    .tmp_bytes = 32};
        adv_run_clean();
        for (uint32_t k = 0; k < n; k++) {
            assert_true(get(values + k * size, type) == (float)k - 100);
            assert_int_equal(places[k], k * 17 + 3);
        }
    }
}

/* The product of gathered block b of repeat r and its weight, rounded. */
static _Float16 product(uint32_t r, uint32_t lane, bool by_block)
{
    uint32_t offset = indices[r * 8 + lane / 16];
    float weight = get(values + (by_block ? r * 8 + lane / 16 : r) * 2, AKGEN_FLOAT16);
    return (_Float16)(get(scores + offset + lane % 16 * 2, AKGEN_FLOAT16) * weight);
}

/* Each of `down` rows is the sum of `across` repeats of eight gathered blocks times their weights. */
static void interpolates(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 16}, {2, 8}, {4, 4}, {16, 1}, {3, 16}};
    for (int i = 0; i < 20; i++) {
        uint32_t across = shapes[i / 4][0], down = shapes[i / 4][1], lanes = i % 4 / 2 ? 128 : 48, r = across * down;
        bool by_block = i % 2;
        for (uint32_t k = 0; k < MOST; k++)
            put(scores + k * 2, AKGEN_FLOAT16, (float)(k * 29 % 201) / 16 - 6);
        for (uint32_t k = 0; k < r * 8; k++)
            indices[k] = k * 13 % (MOST / 16) * 32;
        for (uint32_t k = 0; k < r * 8; k++)
            put(values + k * 2, AKGEN_FLOAT16, (float)(k % 7) / 3 - 1);
        adv_now = (struct adv_case){
            .call = {.op = NPU_ADV_BILINEAR,
                     .type = AKGEN_FLOAT16,
                     .scalar = {lanes, 0},
                     .shape = {across, by_block, 1, 160, down, 0}},
            .in = {{scores, 1, MOST * 2, 0}, {indices, 1, r * 8 * 4, 0}, {values, 1, r * (by_block ? 8 : 1) * 2, 0}},
            .out = {{sorted, down, lanes * 2, 320}},
            .tmp_bytes = r * 256 + r * (by_block ? 8 : 1) * 32};
        adv_run_clean();
        for (uint32_t v = 0; v < down; v++)
            for (uint32_t lane = 0; lane < lanes; lane++) {
                _Float16 sum = product(v * across, lane, by_block);
                for (uint32_t h = 1; h < across; h++)
                    sum = (_Float16)((float)sum + (float)product(v * across + h, lane, by_block));
                assert_true(get(sorted + (v * lanes + lane) * 2, AKGEN_FLOAT16) == (float)sum);
            }
    }
    adv_now.tmp_bytes -= 32;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts), cmocka_unit_test(extracts),
                                       cmocka_unit_test(interpolates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
