/* Products of bfloat16: those of rounded numbers, summed in float32, on sizes around vectors, tiles and panels, in any number of threads; a pass with
 * them is near the textbook's; few rows are as in float32, to the bit. */
/* test: builds=both */
/* test: as=without_amx env=DNNL_MAX_CPU_ISA=AVX512_CORE_BF16 builds=release */
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"
#include "lm/plain.h"
#include "unit/lm/texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct lm_backend *new_cpu(int threads)
{
    struct lm_backend *cpu;
    if (!lm_cpu_has_bf16())
        skip();
    assert_null(lm_cpu_new_bf16(threads, &cpu));
    return cpu;
}

static float *draw(struct rng *rng, int64_t count)
{
    float *values = memory_alloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)rng_normal(rng);
    return values;
}

/* The nearest number of 8 significant bits, the even one of two. */
static float rounded(float value)
{
    int exponent;
    float part = frexpf(value, &exponent);
    return ldexpf(rintf(part * 256), exponent - 8);
}

/* One number of a product: sum over k of round(a[k * a_step]) * round(b[k * b_step]), and of what is summed without signs. */
static double dot(const float *a, int64_t a_step, const float *b, int64_t b_step, int k, double *size)
{
    double sum = 0;
    *size = 0;
    for (int i = 0; i < k; i++) {
        double one = (double)rounded(a[i * a_step]) * rounded(b[i * b_step]);
        sum += one;
        *size += fabs(one);
    }
    return sum;
}

static void near(float found, double wanted, double size)
{
    if (fabs((double)found - wanted) > 2e-6 * size + 1e-30)
        fail_msg("%.9g, expected %.9g", (double)found, wanted);
}

/* All three products of n rows, a matrix (out, in); some of their numbers, which every part of the result has. */
static void check(struct lm_backend *cpu, int n, int in, int out, struct rng *rng)
{
    int step_x = in + 3, step_y = out + 5;
    float *x = draw(rng, (int64_t)n * step_x), *w = draw(rng, (int64_t)out * in), *dy = draw(rng, (int64_t)n * step_y),
          *y = draw(rng, (int64_t)n * step_y), *dx = draw(rng, (int64_t)n * step_x), *dw = draw(rng, (int64_t)out * in);
    float *before[3] = {memory_alloc((size_t)n * (size_t)step_y * 4), memory_alloc((size_t)n * (size_t)step_x * 4),
                        memory_alloc((size_t)out * (size_t)in * 4)};
    double size;
    memcpy(before[0], y, (size_t)n * (size_t)step_y * 4);
    memcpy(before[1], dx, (size_t)n * (size_t)step_x * 4);
    memcpy(before[2], dw, (size_t)out * (size_t)in * 4);
    cpu->operations->linear(cpu, y, step_y, x, step_x, w, n, in, out, 0.5F, 1);
    cpu->operations->linear_dx(cpu, dx, step_x, dy, step_y, w, n, in, out, 1, 0);
    cpu->operations->linear_dw(cpu, dw, dy, step_y, x, step_x, n, in, out, 2, 1);
    for (int i = 0; i < 500; i++) {
        int64_t r = rng_integer(rng, 0, n), c = rng_integer(rng, 0, in), o = rng_integer(rng, 0, out);
        double wanted = dot(x + r * step_x, 1, w + o * in, 1, in, &size);
        near(y[r * step_y + o], 0.5 * wanted + before[0][r * step_y + o], size + 1);
        if (out >= 64) { /* fewer rows of its result are float32's */
            wanted = dot(dy + o, step_y, x + c, step_x, n, &size);
            near(dw[o * in + c], 2 * wanted + before[2][o * in + c], 2 * size + 1);
        }
        wanted = dot(dy + r * step_y, 1, w + c, in, out, &size);
        near(dx[r * step_x + c], wanted, size);
    }
    for (int r = 0; r < n; r++) { /* what lies between the rows stays */
        assert_memory_equal(y + (int64_t)r * step_y + out, before[0] + (int64_t)r * step_y + out, 5 * sizeof *y);
        assert_memory_equal(dx + (int64_t)r * step_x + in, before[1] + (int64_t)r * step_x + in, 3 * sizeof *dx);
    }
    float *const arrays[] = {x, w, dy, y, dx, dw, before[0], before[1], before[2]};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void products_are_those_of_rounded_numbers(void **state)
{
    (void)state;
    static const int sizes[][3] = {{64, 1, 1},     {65, 31, 2},    {64, 33, 64},    {100, 64, 63},
                                   {127, 65, 130}, {128, 96, 300}, {130, 257, 129}, {300, 17, 1001}};
    struct rng rng;
    rng_seed(&rng, 5);
    for (int threads = 1; threads <= 3; threads++) {
        struct lm_backend *cpu = new_cpu(threads);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check(cpu, sizes[i][0], sizes[i][1], sizes[i][2], &rng);
        lm_cpu_free(cpu);
    }
}

static void a_vocabulary_is_taken_in_panels(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 6);
    struct lm_backend *cpu = new_cpu(2);
    check(cpu, 70, 2100, 8001, &rng);
    lm_cpu_free(cpu);
}

static void long_sums_are_taken_in_parts(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 9);
    struct lm_backend *cpu = new_cpu(2);
    check(cpu, 66, 4130, 70, &rng);
    check(cpu, 6200, 65, 66, &rng);
    lm_cpu_free(cpu);
}

static void few_rows_are_float32(void **state)
{
    (void)state;
    enum { N = 32, IN = 75, OUT = 90 };
    struct rng rng;
    rng_seed(&rng, 7);
    struct lm_backend *cpu = new_cpu(2), *plain = lm_cpu_new(2);
    float *x = draw(&rng, N * IN), *w = draw(&rng, OUT * IN), found[N * OUT], wanted[N * OUT];
    cpu->operations->linear(cpu, found, OUT, x, IN, w, N, IN, OUT, 1, 0);
    plain->operations->linear(plain, wanted, OUT, x, IN, w, N, IN, OUT, 1, 0);
    assert_memory_equal(found, wanted, sizeof found);
    lm_cpu_free(cpu);
    lm_cpu_free(plain);
    free(x);
    free(w);
}

/* Over the largest of them; the gradient of a small model is about as far off as bfloat16's 8 bits. */
static double apart(const float *found, const float *wanted, int64_t count)
{
    double off = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        assert_true(isfinite(found[i]));
        off += pow((double)found[i] - (double)wanted[i], 2);
        size += pow((double)wanted[i], 2);
    }
    return sqrt(off / (size + 1e-30));
}

/* Attention there and back, of texts around its blocks, and of one that goes on behind keys of before: near float32's, and the same with any threads. */
static void attention_is_near_float32_s(void **state)
{
    (void)state;
    enum { TEXTS = 5, KEYS = 1024 };
    static const struct lm_text texts[TEXTS] = {
        {0, 1, 0, 1}, {1, 63, 1, 63}, {64, 33, 64, 97}, {97, 257, 161, 257}, {354, 600, 418, 600}};
    static const int shapes[][3] = {{6, 2, 64}, {3, 3, 24}, {40, 1, 80}};
    struct rng rng;
    rng_seed(&rng, 10);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct lm_backend *cpus[3] = {lm_cpu_new(1), new_cpu(1), new_cpu(3)};
        int64_t heads = shapes[s][0], kv = shapes[s][1], d = shapes[s][2], n = 954, wide = heads * d, narrow = kv * d;
        const struct lm_attention shape = {{(int)n, (int)heads, (int)kv, (int)d, 1e-6F}, texts, TEXTS};
        float *q = draw(&rng, n * wide), *k = draw(&rng, KEYS * narrow), *v = draw(&rng, KEYS * (narrow + 3)),
              *dout = draw(&rng, n * wide), *all[3];
        int64_t sizes[] = {n * wide, n * heads, n * wide, KEYS * narrow, KEYS * (narrow + 3)}, size = 0;
        for (int i = 0; i < 5; i++)
            size += sizes[i];
        for (int i = 0; i < 3; i++) {
            float *out = all[i] = memory_alloc((size_t)size * sizeof *out), *sums = out + sizes[0],
                  *dq = sums + sizes[1], *dk = dq + sizes[2], *dv = dk + sizes[3];
            cpus[i]->operations->attention(cpus[i], out, sums, q, k, v, (int)narrow + 3, &shape);
            cpus[i]->operations->attention_back(cpus[i], dq, dk, dv, (int)narrow + 3, dout, out, sums, q, k, v,
                                                (int)narrow + 3, &shape);
        }
        assert_memory_equal(all[1], all[2], (size_t)size * sizeof(float));
        for (int64_t i = 0, at = 0; i < 5; at += sizes[i++]) {
            double off = apart(all[1] + at, all[0] + at, sizes[i]);
            if (!(off > 1e-5 && off < 0.01))
                fail_msg("heads %lld: array %lld is %g off", (long long)heads, (long long)i, off);
        }
        for (int i = 0; i < 3; i++) {
            free(all[i]);
            lm_cpu_free(cpus[i]);
        }
        free(q);
        free(k);
        free(v);
        free(dout);
    }
}

static void a_pass_is_near_the_textbook_s(void **state)
{
    (void)state;
    static const struct lm_config config = {.vocabulary = 259,
                                            .hidden = 40,
                                            .layers = 2,
                                            .heads = 6,
                                            .kv_heads = 2,
                                            .head_size = 10,
                                            .intermediate = 80,
                                            .max_positions = 512,
                                            .rope_theta = 10000,
                                            .norm_eps = 1e-6F,
                                            .initial_spread = 0.2F,
                                            .tied = true};
    static const int lengths[] = {65, 1, 64, 130};
    struct texts texts;
    struct lm_model model;
    struct rng rng;
    struct lm_pass *pass;
    rng_seed(&rng, 8);
    make_texts(&texts, lengths, 4, config.vocabulary);
    lm_model_new(&model, &config, &rng);
    int64_t size = model.layout.size;
    float *scores = draw(&rng, (int64_t)texts.n * config.vocabulary), wanted_probs[1024], found_probs[1024];
    float *wanted = memory_alloc((size_t)size * 4), *found = memory_alloc((size_t)size * 4);
    lm_plain_pass(&model, &texts.batch, scores, wanted_probs, texts.factors, wanted);
    struct lm_backend *cpu = new_cpu(2);
    const struct lm_pass_options options = {.tokens = 300, .training = true};
    assert_null(lm_pass_new(cpu, &model.layout, model.weights, &options, &pass));
    lm_pass_forward(pass, &texts.batch);
    lm_pass_backward(pass, texts.factors, found_probs, found);
    double probs = apart(found_probs, wanted_probs, texts.n), gradients = apart(found, wanted, size);
    if (!(probs > 1e-5 && probs < 0.02 && gradients > 1e-4 && gradients < 0.04)) /* and it did round */
        fail_msg("log-probabilities %g off, gradients %g", probs, gradients);
    lm_pass_free(pass);
    lm_cpu_free(cpu);
    lm_model_free(&model);
    free(scores);
    free(wanted);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_rounded_numbers), cmocka_unit_test(a_vocabulary_is_taken_in_panels),
        cmocka_unit_test(long_sums_are_taken_in_parts),          cmocka_unit_test(few_rows_are_float32),
        cmocka_unit_test(attention_is_near_float32_s),           cmocka_unit_test(a_pass_is_near_the_textbook_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
