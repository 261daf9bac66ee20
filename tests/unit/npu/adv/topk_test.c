/* TopK on the whole machine with the host's tiling and temporary space, against a stable sort. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "abi/tiling_abi.h"

#include <math.h>

enum { MOST = 16384 };
static _Alignas(512) uint8_t x_in[MOST * 4], index_in[MOST * 4], finish_in[512], value_out[MOST * 4],
    index_out[MOST * 4];

struct top_case {
    uint8_t type;
    uint32_t outer, inner, n, k;
    bool largest, has_index, finish, small;
};

static uint32_t size_of(uint8_t type)
{
    return type == AKGEN_FLOAT ? 4 : 2;
}

static float load(const uint8_t *at, uint8_t type, uint32_t i)
{
    return type == AKGEN_FLOAT ? ((const float *)at)[i] : (float)((const _Float16 *)at)[i];
}

static void fill(const struct top_case *t)
{
    for (uint32_t i = 0; i < t->outer * t->inner; i++) {
        uint32_t column = i % t->inner;
        float value = (float)((i * 1103 + 12345) % 509) / 8 - 30; /* many values twice */
        if (column >= t->n)
            value = t->largest ? -INFINITY : INFINITY;
        if (t->type == AKGEN_FLOAT)
            ((float *)x_in)[i] = value;
        else
            ((_Float16 *)x_in)[i] = (_Float16)value;
        ((int32_t *)index_in)[i] = (int32_t)(column * 3 + 5);
    }
    for (uint32_t row = 0; row < t->outer; row++)
        finish_in[row] = row % 3 == 1;
}

/* How many elements of the row come before element c: better ones, and equal ones in front of it. */
static uint32_t rank_of(const struct top_case *t, uint32_t row, uint32_t c)
{
    uint32_t rank = 0;
    float mine = load(x_in, t->type, row * t->inner + c);
    for (uint32_t i = 0; i < t->n; i++) {
        float other = load(x_in, t->type, row * t->inner + i);
        rank += t->largest ? other > mine : other < mine;
        rank += other == mine && i < c;
    }
    return rank;
}

static void check_results(const struct top_case *t)
{
    for (uint32_t row = 0; row < t->outer; row++)
        for (uint32_t c = 0; c < t->n; c++) {
            uint32_t rank = rank_of(t, row, c);
            if (rank >= t->k)
                continue;
            int32_t index = t->has_index ? (int32_t)(c * 3 + 5) : (int32_t)c;
            if (t->finish && finish_in[row])
                index = (int32_t)t->n;
            assert_true(load(value_out, t->type, row * t->k + rank) == load(x_in, t->type, row * t->inner + c));
            assert_int_equal(((int32_t *)index_out)[row * t->k + rank], index);
        }
}

static void check(struct top_case t)
{
    static struct akgen_TopkTiling tiling;
    uint32_t size = size_of(t.type), max = 0, min = 0, block = 32 / size,
             indices = t.small ? t.outer * t.inner : t.inner;
    assert_true(akgen_topk_tiling((int32_t)t.inner, (int32_t)t.outer, (int32_t)t.k, size, t.has_index, t.small,
                                  t.largest, &tiling));
    akgen_tmp_topk((int32_t)t.inner, (int32_t)t.outer, t.has_index, t.small, t.largest, &max, &min);
    fill(&t);
    uint32_t pitch = (t.k + block - 1) / block * 32, index_pitch = (t.k + 7) / 8 * 32, rows = t.outer;
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_TOPK,
                                         .type = t.type,
                                         .count = t.k,
                                         .shape = {t.outer, t.inner, t.n, t.largest, t.has_index, t.finish, t.small},
                                         .tiling = &tiling},
                                .in = {{x_in, 1, t.outer * t.inner * size, 0}},
                                .out = {{value_out, rows, t.k * size, pitch}, {index_out, rows, t.k * 4, index_pitch}},
                                .tmp_bytes = min};
    if (t.small) {
        adv_now.out[0] = (struct adv_operand){value_out, 1, rows * t.k * size, 0};
        adv_now.out[1] = (struct adv_operand){index_out, 1, rows * t.k * 4, 0};
    }
    if (t.has_index)
        adv_now.in[1] = (struct adv_operand){index_in, 1, indices * 4, 0};
    if (t.finish)
        adv_now.in[2] = (struct adv_operand){finish_in, 1, t.outer, 0};
    adv_run_clean();
    check_results(&t);
}

static void normal_mode(void **state)
{
    (void)state;
    static const uint32_t inner[] = {32, 64, 96, 128, 160, 416, 512, 2048, 2144};
    for (uint8_t half = 0; half < 2; half++)
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
            for (int flags = 0; flags < 8; flags += 1 + (i > 4)) {
                uint32_t n = inner[i] - (i % 2 ? 13 : 0), most = n < 600 ? n : 600;
                for (uint32_t k = 1; k <= most; k += k == 1 ? 16 : k < 64 ? 47 : 500)
                    check((struct top_case){.type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT,
                                            .outer = inner[i] < 600 ? 3 : 1,
                                            .inner = inner[i],
                                            .n = n,
                                            .k = k,
                                            .largest = flags & 1,
                                            .has_index = flags & 2,
                                            .finish = flags & 4});
            }
}

static void small_mode(void **state)
{
    (void)state;
    static const uint32_t outer[] = {1, 3, 8, 70}, k[] = {1, 5, 8, 17, 32};
    for (uint8_t half = 0; half < 2; half++)
        for (size_t o = 0; o < sizeof outer / sizeof *outer; o++)
            for (size_t i = 0; i < sizeof k / sizeof *k; i++)
                for (int flags = 0; flags < 4; flags++)
                    check((struct top_case){.type = half ? AKGEN_FLOAT16 : AKGEN_FLOAT,
                                            .outer = outer[o],
                                            .inner = 32,
                                            .n = k[i] > 20 ? 32 : 20,
                                            .k = k[i],
                                            .largest = flags & 1,
                                            .has_index = flags & 2,
                                            .small = true});
}

static void limits(void **state)
{
    (void)state;
    check((struct top_case){.type = AKGEN_FLOAT, .outer = 2, .inner = 64, .n = 64, .k = 8, .largest = true});
    adv_now.tmp_bytes -= 4;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
    adv_now.tmp_bytes += 4;
    adv_now.call.count = 65;
    assert_string_equal(adv_run(0), "adv_shape");
    adv_now.call.count = 8;
    adv_now.call.shape[1] = 48;
    assert_string_equal(adv_run(0), "adv_shape");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_mode),
        cmocka_unit_test(small_mode),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
