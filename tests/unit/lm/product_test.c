/* Products in float32, by oneDNN or where there is AMX in three parts of each number: every bit of a number counts, errors are those of float32, and with
 * parts the result is the same in any number of threads. */
/* test: builds=both */
/* test: as=without_amx env=DNNL_MAX_CPU_ISA=AVX512_CORE_BF16 builds=release */
#include "base/memory.h"
#include "lm/cpu_internal.h"
#include "lm/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static float *draw(struct rng *rng, int64_t count, float scale)
{
    float *values = memory_alloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = scale * (float)rng_normal(rng);
    return values;
}

/* With a matrix of ones on its diagonal all bits of the other one come out again. */
static void no_bit_is_lost(void **state)
{
    (void)state;
    enum { N = 300, C = 96 };
    struct rng rng;
    rng_seed(&rng, 3);
    struct lm_backend *cpu = lm_cpu_new_split(2);
    float *x = draw(&rng, N * C, 1e-5F), *one = memory_alloc(C * C * sizeof *one), *y = memory_alloc(N * C * sizeof *y);
    float *tall = memory_alloc(N * N * sizeof *tall), *dw = memory_alloc(N * C * sizeof *dw);
    for (int i = 0; i < C; i++)
        one[i * C + i] = 1;
    for (int i = 0; i < N; i++)
        tall[i * N + i] = 1;
    cpu->operations->linear(cpu, y, C, x, C, one, N, C, C, 1, 0);
    assert_memory_equal(y, x, N * C * sizeof *x);
    memset(y, 0, N * C * sizeof *y);
    cpu->operations->linear_dx(cpu, y, C, x, C, one, N, C, C, 1, 0);
    assert_memory_equal(y, x, N * C * sizeof *x);
    memset(y, 0, N * C * sizeof *y);
    cpu->operations->linear_dx(cpu, y, C, tall, N, x, N, C, N, 1, 0); /* x as the second one */
    assert_memory_equal(y, x, N * C * sizeof *x);
    cpu->operations->linear_dw(cpu, dw, tall, N, x, C, N, C, N, 1, 1);
    assert_memory_equal(dw, x, N * C * sizeof *x);
    lm_cpu_free(cpu);
    free(x);
    free(one);
    free(y);
    free(tall);
    free(dw);
}

struct errors {
    double squares, largest;
    int64_t count;
};

/* Of sum over k of a[k * a_step] * b[k * b_step], over what is summed without signs. */
static void add_error(struct errors *errors, float found, double before, double scale, const float *a, int64_t a_step,
                      const float *b, int64_t b_step, int k)
{
    double sum = before, size = fabs(before);
    for (int i = 0; i < k; i++) {
        double one = scale * (double)a[i * a_step] * (double)b[i * b_step];
        sum += one;
        size += fabs(one);
    }
    double error = fabs((double)found - sum) / size;
    errors->squares += error * error;
    errors->largest = error > errors->largest ? error : errors->largest;
    errors->count++;
}

/* All three products of n rows and a matrix (out, in), in some and in one thread. */
static void check(int threads, int n, int in, int out, float scale, struct rng *rng)
{
    int step_x = in + 3, step_y = out + 5;
    struct lm_backend *cpu = lm_cpu_new_split(threads), *alone = lm_cpu_new_split(1);
    float *x = draw(rng, (int64_t)n * step_x, 1e10F), *w = draw(rng, (int64_t)out * in, 1e-12F),
          *dy = draw(rng, (int64_t)n * step_y, 1), *before[3], *found[2][3];
    int64_t sizes[3] = {(int64_t)n * step_y, (int64_t)n * step_x, (int64_t)out * in};
    for (int i = 0; i < 3; i++)
        before[i] = draw(rng, sizes[i], i == 2 ? 1e10F : 1e-2F);
    for (int c = 0; c < 2; c++) {
        struct lm_backend *at = c ? alone : cpu;
        for (int i = 0; i < 3; i++) {
            found[c][i] = memory_alloc((size_t)sizes[i] * sizeof(float));
            memcpy(found[c][i], before[i], (size_t)sizes[i] * sizeof(float));
        }
        at->operations->linear(at, found[c][0], step_y, x, step_x, w, n, in, out, scale, 1);
        at->operations->linear_dx(at, found[c][1], step_x, dy, step_y, w, n, in, out, scale, 0);
        at->operations->linear_dw(at, found[c][2], dy, step_y, x, step_x, n, in, out, scale, 1);
    }
    struct errors errors[3] = {0};
    for (int i = 0; i < 2000; i++) {
        int64_t r = rng_integer(rng, 0, n), c = rng_integer(rng, 0, in), o = rng_integer(rng, 0, out);
        add_error(&errors[0], found[0][0][r * step_y + o], before[0][r * step_y + o], scale, x + r * step_x, 1,
                  w + o * in, 1, in);
        add_error(&errors[1], found[0][1][r * step_x + c], 0, scale, dy + r * step_y, 1, w + c, in, out);
        add_error(&errors[2], found[0][2][o * in + c], before[2][o * in + c], scale, dy + o, step_y, x + c, step_x, n);
    }
    for (int i = 0; i < 3; i++) {
        double mean = sqrt(errors[i].squares / (double)errors[i].count);
        if (!(mean < 4e-8 && errors[i].largest < 2.5e-7)) /* 2^-24 is 6e-8 */
            fail_msg("%d rows, %d to %d, product %d: errors of %g, at most %g", n, in, out, i, mean, errors[i].largest);
        if (lm_cpu_has_tiles()) /* oneDNN's may differ */
            assert_memory_equal(found[0][i], found[1][i], (size_t)sizes[i] * sizeof(float));
    }
    for (int r = 0; r < n; r++) { /* what lies between the rows stays */
        assert_memory_equal(found[0][0] + r * step_y + out, before[0] + r * step_y + out, 5 * sizeof(float));
        assert_memory_equal(found[0][1] + r * step_x + in, before[1] + r * step_x + in, 3 * sizeof(float));
    }
    for (int i = 0; i < 3; i++) {
        free(before[i]);
        free(found[0][i]);
        free(found[1][i]);
    }
    free(x);
    free(w);
    free(dy);
    lm_cpu_free(cpu);
    lm_cpu_free(alone);
}

static void errors_are_those_of_float32(void **state)
{
    (void)state;
    static const int sizes[][3] = {{256, 64, 64},   {257, 65, 300},  {300, 257, 129}, {511, 288, 70},
                                   {640, 100, 513}, {258, 2081, 66}, {2110, 70, 260}, {64, 40, 50}};
    struct rng rng;
    rng_seed(&rng, 4);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check(2 + (int)i % 2, sizes[i][0], sizes[i][1], sizes[i][2], i % 3 ? 1 : 0.5F, &rng);
}

/* More columns than are laid out at a time. */
static void a_vocabulary_is_taken_in_panels(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 6);
    check(3, 256, 1030, 4200, 1, &rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bit_is_lost),
        cmocka_unit_test(errors_are_those_of_float32),
        cmocka_unit_test(a_vocabulary_is_taken_in_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
