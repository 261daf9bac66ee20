/* Welford's mean and variance and the gradients of LayerNorm on the whole machine, against loops in double. */
/* test: leaves=covered builds=both */
#include "unit/npu/coverage.h"
#include "unit/npu/adv/case.h"
#include "abi/tiling_abi.h"
#include "npu/adv/tiling.h"

#include <math.h>

enum { MOST = 32768 };
static _Alignas(512) uint8_t a_in[MOST], b_in[MOST], c_in[MOST], d_in[MOST], e_in[MOST], x_out[MOST], y_out[MOST];

static uint32_t size_of(uint8_t type)
{
    return type == AKGEN_FLOAT ? 4 : 2;
}

static double load(const uint8_t *at, uint8_t type, uint32_t i)
{
    return type == AKGEN_FLOAT ? ((const float *)at)[i] : (double)((const _Float16 *)at)[i];
}

static void store(uint8_t *at, uint8_t type, uint32_t i, double value)
{
    if (type == AKGEN_FLOAT)
        ((float *)at)[i] = (float)value;
    else
        ((_Float16 *)at)[i] = (_Float16)value;
}

static void fill(uint8_t *at, uint8_t type, uint32_t count, uint32_t seed, double low)
{
    for (uint32_t i = 0; i < count; i++)
        store(at, type, i, low + (double)((i * 37 + seed) % 101) / 50);
}

static uint64_t bits_of(uint8_t type, double value)
{
    uint64_t bits = 0;
    store((uint8_t *)&bits, type, 0, value);
    return bits;
}

static struct adv_operand whole(uint8_t *data, uint8_t type, uint32_t count)
{
    return (struct adv_operand){data, 1, count * size_of(type), 0};
}

static void check_update(uint8_t type, bool reuse, uint32_t all, uint32_t computed, uint32_t tmp)
{
    double reciprocal = 0.125;
    fill(a_in, AKGEN_FLOAT, all, 1, -1);
    fill(b_in, AKGEN_FLOAT, all, 2, 0);
    fill(c_in, type, all, 3, -1);
    adv_now =
        (struct adv_case){.call = {.op = NPU_ADV_WELFORD_UPDATE,
                                   .type = type,
                                   .flags = reuse ? NPU_ADV_REUSE_SOURCE : 0,
                                   .count = computed < all,
                                   .shape = {all, computed},
                                   .scalar = {bits_of(AKGEN_FLOAT, reciprocal)}},
                          .in = {whole(a_in, AKGEN_FLOAT, all), whole(b_in, AKGEN_FLOAT, all), whole(c_in, type, all)},
                          .out = {whole(x_out, AKGEN_FLOAT, all), whole(y_out, AKGEN_FLOAT, all)},
                          .tmp_bytes = tmp};
    adv_run_clean();
    for (uint32_t i = 0; i < all; i++) {
        double mean = load(a_in, AKGEN_FLOAT, i), x = load(c_in, type, i), variance = load(b_in, AKGEN_FLOAT, i);
        double next = i < computed ? mean + (x - mean) * reciprocal : mean;
        assert_float_equal(load(x_out, AKGEN_FLOAT, i), next, 1e-6);
        assert_float_equal(load(y_out, AKGEN_FLOAT, i), i < computed ? variance + (x - mean) * (x - next) : variance,
                           2e-6);
    }
}

static void welford_update(void **state)
{
    (void)state;
    for (uint32_t all = 64; all <= 400; all += 48)
        for (uint32_t computed = all - 5; computed <= all; computed += 5) {
            check_update(AKGEN_FLOAT, false, all, computed, 512);
            check_update(AKGEN_FLOAT, true, all, computed, 300);
            check_update(AKGEN_FLOAT16, false, all, computed, 1600);
        }
    adv_now.tmp_bytes = 767;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

/* The joint mean and variance of elements with `count[i]` values each. */
static void check_finalize(uint32_t all, uint32_t head, uint32_t head_count, uint32_t tail_count, bool counts,
                           uint32_t tmp)
{
    double total = 0, mean = 0, variance = 0;
    int32_t *count = (int32_t *)c_in;
    fill(a_in, AKGEN_FLOAT, all, 1, -1);
    fill(b_in, AKGEN_FLOAT, all, 2, 0);
    for (uint32_t i = 0; i < all; i++) {
        count[i] = counts ? (int32_t)(i % 5 + 1) : (int32_t)(i < head ? head_count : tail_count);
        total += count[i];
        mean += count[i] * load(a_in, AKGEN_FLOAT, i);
    }
    mean /= total;
    for (uint32_t i = 0; i < all; i++)
        variance += (load(b_in, AKGEN_FLOAT, i) + count[i] * pow(load(a_in, AKGEN_FLOAT, i) - mean, 2)) / total;
    adv_now = (struct adv_case){
        .call = {.op = NPU_ADV_WELFORD_FINALIZE,
                 .type = AKGEN_FLOAT,
                 .shape = {all, head_count, head_count, head, head < all ? tail_count : 0, all - head},
                 .scalar = {bits_of(AKGEN_FLOAT, 1.0 / all), bits_of(AKGEN_FLOAT, 1 / total)}},
        .sums_by_space = true,
        .in = {whole(a_in, AKGEN_FLOAT, all), whole(b_in, AKGEN_FLOAT, all)},
        .out = {whole(x_out, AKGEN_FLOAT, 8), whole(y_out, AKGEN_FLOAT, 8)},
        .tmp_bytes = tmp};
    if (counts)
        adv_now.in[2] = whole(c_in, AKGEN_FLOAT, all);
    adv_run_clean();
    assert_float_equal(load(x_out, AKGEN_FLOAT, 0), mean, 1e-5);
    assert_float_equal(load(y_out, AKGEN_FLOAT, 0), variance, 1e-5);
    for (uint32_t i = 1; i < 8; i++)
        assert_true(load(x_out, AKGEN_FLOAT, i) == 0 && load(y_out, AKGEN_FLOAT, i) == 0);
}

static void welford_finalize(void **state)
{
    (void)state;
    for (uint32_t all = 8; all <= 3000; all = all * 3 + 16)
        for (uint32_t tmp = 1024; tmp <= 6000; tmp += 2100) {
            all = all / 8 * 8;
            check_finalize(all, all, 6, 0, false, tmp);
            check_finalize(all, all / 2, 6, 5, false, tmp);
            check_finalize(all, all, 6, 0, true, tmp);
        }
    check_finalize(4608, 4608, 3, 0, false, 1024); /* 72 partial sums */
    adv_now.tmp_bytes = 1023;
    assert_string_equal(adv_run(0), "adv_tmp_too_small");
}

static void check_grad(uint8_t type, uint32_t rows, uint32_t h, uint32_t step, bool reuse)
{
    static struct akgen_LayerNormGradTiling t;
    struct akgen_shape shape = {.rank = 4, .dims = {1, rows, h, h}};
    bool half = type == AKGEN_FLOAT16;
    uint32_t buffers = half ? 9 : reuse ? 4 : 6;
    akgen_layer_norm_grad_tiling(&shape, buffers * step * h * 4, size_of(type), reuse, &t);
    double epsilon = 0.0009765625;
    fill(a_in, type, rows * h, 1, -1);
    fill(b_in, type, rows * h, 2, -1);
    fill(c_in, type, rows, 3, 0.25);
    fill(d_in, type, rows, 4, -1);
    fill(e_in, type, h, 5, 0.5);
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_LAYER_NORM_GRAD,
                                         .type = type,
                                         .flags = reuse ? NPU_ADV_REUSE_SOURCE : 0,
                                         .scalar = {bits_of(type, epsilon)},
                                         .tiling = &t},
                                .in = {whole(a_in, type, rows * h), whole(b_in, type, rows * h),
                                       whole(c_in, type, rows), whole(d_in, type, rows), whole(e_in, type, h)},
                                .out = {whole(x_out, type, rows * h), whole(y_out, type, rows * h)},
                                .tmp_bytes = buffers * t.oneCalSize * 4};
    adv_run_clean();
    double unit = half ? 0x1p-9 : 0x1p-16;
    for (uint32_t r = 0; r < rows; r++) {
        double base = load(c_in, type, r) + epsilon, mean = load(d_in, type, r), by_variance = 0, by_mean = 0, sum = 0;
        for (uint32_t c = 0; c < h; c++) {
            double x1 = load(a_in, type, r * h + c) * load(e_in, type, c), x2 = load(b_in, type, r * h + c) - mean;
            by_variance += -0.5 * x1 * x2 * pow(base, -1.5);
            by_mean -= x1 / sqrt(base);
            sum -= 2 * x2;
        }
        by_mean += by_variance / h * sum;
        for (uint32_t c = 0; c < h; c++) {
            double x1 = load(a_in, type, r * h + c) * load(e_in, type, c), x2 = load(b_in, type, r * h + c) - mean;
            double want = x1 / sqrt(base) + by_variance * 2 / h * x2 + by_mean / h;
            assert_float_equal(load(x_out, type, r * h + c), want, unit * (fabs(want) + 8));
            assert_float_equal(load(y_out, type, r * h + c), x2 / sqrt(base), unit * (fabs(x2 / sqrt(base)) + 1));
        }
    }
}

static void layer_norm_grad(void **state)
{
    (void)state;
    for (uint32_t h = 16; h <= 144; h += 64)
        for (uint32_t rows = 1; rows <= 33; rows += 8) {
            /* mean and variance are read from where a part begins: parts are whole blocks of them. */
            uint32_t step = rows < 16 ? rows : 16;
            check_grad(AKGEN_FLOAT, rows, h, step, false);
            check_grad(AKGEN_FLOAT, rows, h, step, true);
            check_grad(AKGEN_FLOAT16, rows, h, step, false);
        }
    /* Less than the tiling counts on: the rest lies behind, where nothing is. */
    check_grad(AKGEN_FLOAT16, 9, 16, 3, false);
    adv_now.tmp_bytes -= 9 * 16;
    assert_string_equal(adv_run(0), "");
    assert_true(adv_noted("adv_tmp_too_small"));
}

static void check_beta(uint8_t type, uint32_t rows, uint32_t h, uint32_t step, bool reuse)
{
    static struct akgen_LayerNormGradBetaTiling t;
    struct akgen_shape shape = {.rank = 4, .dims = {rows, 1, h, h}};
    bool half = type == AKGEN_FLOAT16;
    uint32_t max, min, space = (half ? 2 * h + 2 * step * h : step < 2 ? 2 * h : step * h) * 4;
    akgen_tmp_layer_norm_grad_beta(&shape, size_of(type), &max, &min);
    assert_true(space >= min && (space <= max || rows == 1));
    akgen_layer_norm_grad_beta_tiling(&shape, space, size_of(type), &t);
    fill(a_in, type, rows * h, 1, -1);
    fill(b_in, type, rows * h, 2, -1);
    adv_now = (struct adv_case){.call = {.op = NPU_ADV_LAYER_NORM_GRAD_BETA,
                                         .type = type,
                                         .flags = reuse ? NPU_ADV_REUSE_SOURCE : 0,
                                         .tiling = &t},
                                .in = {whole(a_in, type, rows * h), whole(b_in, type, rows * h)},
                                .out = {whole(x_out, type, h), whole(y_out, type, h)},
                                .tmp_bytes = space};
    adv_run_clean();
    for (uint32_t c = 0; c < h; c++) {
        double gamma = 0, beta = 0;
        for (uint32_t r = 0; r < rows; r++) {
            gamma += load(a_in, type, r * h + c) * load(b_in, type, r * h + c);
            beta += load(b_in, type, r * h + c);
        }
        double unit = half ? 0x1p-10 : 0x1p-20;
        assert_float_equal(load(x_out, type, c), gamma, unit * (fabs(gamma) + 1));
        assert_float_equal(load(y_out, type, c), beta, unit * (fabs(beta) + 1));
    }
}

static void layer_norm_grad_beta(void **state)
{
    (void)state;
    for (uint32_t h = 16; h <= 144; h += 64)
        for (uint32_t rows = 1; rows <= 9; rows += 4)
            for (uint32_t step = 1; step <= rows; step += 3) {
                check_beta(AKGEN_FLOAT, rows, h, step, false);
                check_beta(AKGEN_FLOAT, rows, h, step, true);
                check_beta(AKGEN_FLOAT16, rows, h, step, false);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(welford_update), cmocka_unit_test(welford_finalize),
                                       cmocka_unit_test(layer_norm_grad), cmocka_unit_test(layer_norm_grad_beta)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
