/* Products of a few rows: float32 is, to the bit, sixteen sums of fused products that are added in one order, on every processor; int8 is the
 * exact product but for rounding; what is not finite stays so, and other rows do not feel it. It runs with newer instructions
 * hidden, too. */
/* test: builds=both */
/* test: as=AVX2 env=DNNL_MAX_CPU_ISA=AVX2 builds=release */
/* test: as=AVX512_CORE env=DNNL_MAX_CPU_ISA=AVX512_CORE builds=release */
#include "base/memory.h"
#include "base/random.h"
#include "lm/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16 };

static float *normal(struct rng *rng, int64_t count)
{
    float *values = memory_alloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)rng_normal(rng);
    return values;
}

static float plain_dot(const float *x, const float *w, int in)
{
    float sums[LANES] = {0};
    int whole = in / LANES * LANES;
    for (int i = 0; i < whole; i++)
        sums[i % LANES] = fmaf(w[i], x[i], sums[i % LANES]);
    for (int i = 0; i < 8; i++)
        sums[i] += sums[8 + i];
    float sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    for (int i = whole; i < in; i++)
        sum = fmaf(w[i], x[i], sum);
    return sum;
}

static void float32_is_the_plain_loop(void **state)
{
    static const int widths[] = {1, 15, 16, 17, 40, 131}, outs[] = {1, 16, 23, 75};
    struct rng rng;
    (void)state;
    rng_seed(&rng, 3);
    struct lm_backend *cpu = lm_cpu_new(2);
    for (int w = 0; w < 6; w++)
        for (int o = 0; o < 4; o++)
            for (int n = 1; n <= LM_FEW; n++) {
                const int in = widths[w], out = outs[o], keep = n % 2, x_stride = in + 3, y_stride = out + 5;
                const float scale = keep ? 0.5F : 1;
                float *x = normal(&rng, (int64_t)n * x_stride), *weights = normal(&rng, (int64_t)in * out),
                      *y = normal(&rng, (int64_t)n * y_stride),
                      *before = memory_alloc((size_t)n * y_stride * sizeof *y);
                memcpy(before, y, (size_t)n * y_stride * sizeof *y);
                cpu->operations->linear(cpu, y, y_stride, x, x_stride, weights, n, in, out, scale, keep);
                for (int i = 0; i < n * y_stride; i++) {
                    int r = i / y_stride, k = i % y_stride;
                    float wanted =
                        k < out ? fmaf(scale, plain_dot(x + (ptrdiff_t)r * x_stride, weights + (ptrdiff_t)k * in, in),
                                       keep ? before[i] : 0)
                                : before[i];
                    assert_memory_equal(&y[i], &wanted, sizeof wanted);
                }
                free(x);
                free(weights);
                free(y);
                free(before);
            }
    lm_cpu_free(cpu);
}

static void int8_is_the_product(void **state)
{
    static const int widths[] = {1, 63, 64, 65, 200, 1031}, outs[] = {1, 31, 32, 33, 100};
    struct rng rng;
    (void)state;
    rng_seed(&rng, 4);
    struct lm_backend *cpu = lm_cpu_new(3);
    for (int w = 0; w < 6; w++)
        for (int o = 0; o < 5; o++)
            for (int n = 1; n <= LM_FEW; n += n < 17 ? 1 : 7) {
                const int in = widths[w], out = outs[o], x_stride = in + 3, y_stride = out + 5;
                float *x = normal(&rng, (int64_t)n * x_stride), *scales = normal(&rng, out),
                      *y = normal(&rng, (int64_t)n * y_stride);
                int8_t *weights = memory_alloc((size_t)in * out);
                for (int i = 0; i < in * out; i++)
                    weights[i] = (int8_t)rng_integer(&rng, -127, 128);
                for (int r = 0; r < n; r++) /* of very different sizes */
                    for (int i = 0; i < in; i++)
                        x[r * x_stride + i] *= powf(10, (float)(r % 9 * 6 - 24)) * (i == in / 2 ? 100 : 1);
                cpu->operations->linear_int8(cpu, y, y_stride, x, x_stride, weights, scales, n, in, out);
                for (int r = 0; r < n; r++)
                    for (int k = 0; k < out; k++) {
                        double sum = 0, size = 0, largest = 0, all = 0;
                        for (int i = 0; i < in; i++) {
                            double product = (double)x[r * x_stride + i] * weights[k * in + i] * scales[k];
                            sum += product;
                            size += fabs(product);
                            largest = fmax(largest, fabs(x[r * x_stride + i]));
                            all += fabs(weights[k * in + i] * scales[k]);
                        }
                        /* Of float32 sums, or of 24 bits of the row's largest number. */
                        assert_true(fabs(y[r * y_stride + k] - sum) <= 2e-6 * size + 6e-8 * largest * all);
                    }
                free(x);
                free(scales);
                free(y);
                free(weights);
            }
    lm_cpu_free(cpu);
}

static void what_is_not_finite_stays_so(void **state)
{
    enum { IN = 70, OUT = 40, ROWS = 9 };
    static const float values[] = {NAN, INFINITY, -INFINITY, 0, 1e-45F, 1e36F};
    float x[ROWS * IN], y[ROWS * OUT], alone[OUT], scales[OUT];
    int8_t weights[IN * OUT];
    (void)state;
    for (int i = 0; i < IN * OUT; i++)
        weights[i] = (int8_t)(1 + i % 127);
    for (int i = 0; i < OUT; i++)
        scales[i] = 1e-3F;
    struct lm_backend *cpu = lm_cpu_new(2);
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        for (int i = 0; i < ROWS * IN; i++)
            x[i] = i / IN == 4 ? (i % IN == 66 ? values[v] : 0) : (float)(i % 13) - 6;
        cpu->operations->linear_int8(cpu, y, OUT, x, IN, weights, scales, ROWS, IN, OUT);
        for (int r = 0; r < ROWS; r++) {
            cpu->operations->linear_int8(cpu, alone, OUT, x + (ptrdiff_t)r * IN, IN, weights, scales, 1, IN, OUT);
            assert_memory_equal(alone, y + (ptrdiff_t)r * OUT, sizeof alone);
        }
        for (int k = 0; k < OUT; k++) {
            float found = y[4 * OUT + k], wanted = (float)weights[k * IN + 66] * 1e-3F * values[v];
            assert_true(isfinite(values[v]) ? fabsf(found - wanted) <= 1e-6F * fabsf(wanted) + 1e-44F
                                            : !isfinite(found));
        }
    }
    lm_cpu_free(cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_is_the_plain_loop),
        cmocka_unit_test(int8_is_the_product),
        cmocka_unit_test(what_is_not_finite_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
