/* The pass on a GPU against the textbook's: sizes around the blocks that it cuts by, heads of each size that has a kernel of its own.
 * Skipped where there is no GPU, or no nvcc when the program was built. */
#include "base/memory.h"
#include "lm/cuda.h"
#include "lm/pass.h"
#include "lm/plain.h"
#include "unit/lm/adapter_gradient.h"
#include "unit/lm/texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lm_config dense = {.vocabulary = 259,
                                       .hidden = 40,
                                       .layers = 2,
                                       .heads = 6,
                                       .kv_heads = 2,
                                       .head_size = 10,
                                       .intermediate = 52,
                                       .max_positions = 512,
                                       .rope_theta = 10000,
                                       .norm_eps = 1e-6F,
                                       .initial_spread = 0.2F,
                                       .tied = true};

/* What a backend may be off: float32 by the largest magnitude, bfloat16 by the root of the sum of squares. */
static const float float_bound = 2e-4F, bf16_bound = 0.06F;

static struct lm_backend *gpu(enum lm_dtype elements)
{
    struct lm_backend *backend;
    struct akgen_error *error = lm_cuda_new(0, elements, &backend);
    if (error) {
        print_message("skipped: %s\n", error->message);
        error_free(error);
        skip();
    }
    return backend;
}

static float *floats(int64_t count)
{
    return memory_alloc((size_t)count * sizeof(float));
}

static void near(const char *what, enum lm_dtype elements, const float *found, const float *wanted, int64_t count)
{
    double scale = 0, worst = 0, wrong = 0, all = 0;
    for (int64_t i = 0; i < count; i++) {
        assert_true(isfinite(found[i]));
        double off = found[i] - wanted[i];
        scale = fmax(scale, fabs(wanted[i]));
        worst = fmax(worst, fabs(off));
        wrong += off * off;
        all += (double)wanted[i] * wanted[i];
    }
    if (elements == LM_F32 && worst > float_bound * scale + 1e-5)
        fail_msg("%s: %g off, the largest is %g", what, worst, scale);
    if (elements == LM_BF16 && sqrt(wrong) > bf16_bound * sqrt(all) + 1e-5)
        fail_msg("%s: %g off, the whole is %g", what, sqrt(wrong), sqrt(all));
}

/* As bfloat16 has them. */
static void round_all(float *weights, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &weights[i], sizeof bits);
        bits = (bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U;
        memcpy(&weights[i], &bits, sizeof bits);
    }
}

struct model {
    struct lm_model model;
    struct lm_backend *gpu;
    struct lm_pass *pass;
    float *gradients; /* on the GPU */
};

static void make(struct model *at, const struct lm_config *config, enum lm_dtype elements, bool checkpoint)
{
    const struct lm_pass_options options = {.tokens = 1000, .training = true, .checkpoint = checkpoint};
    struct rng rng;
    at->gpu = gpu(elements); /* or the test ends here */
    rng_seed(&rng, 3);
    lm_model_new(&at->model, config, &rng);
    if (elements == LM_BF16)
        round_all(at->model.weights, at->model.layout.size);
    assert_null(lm_pass_new(at->gpu, &at->model.layout, at->model.weights, &options, &at->pass));
    at->gradients = at->gpu->operations->allocate(at->gpu, at->model.layout.size * 4);
}

static void release(struct model *at)
{
    at->gpu->operations->release(at->gpu, at->gradients);
    lm_pass_free(at->pass);
    lm_cuda_free(at->gpu);
    lm_model_free(&at->model);
}

/* There and back. */
static void train(struct model *at, const struct texts *texts, float *log_probs, float *gradients)
{
    int64_t bytes = at->model.layout.size * 4;
    at->gpu->operations->zero(at->gpu, at->gradients, bytes);
    lm_pass_forward(at->pass, &texts->batch);
    lm_pass_backward(at->pass, texts->factors, log_probs, at->gradients);
    at->gpu->operations->download(at->gpu, gradients, at->gradients, bytes);
}

static void compare(const struct lm_config *config, const struct texts *texts, enum lm_dtype elements, bool checkpoint)
{
    struct model at;
    make(&at, config, elements, checkpoint);
    const struct lm_layout *layout = &at.model.layout;
    int64_t scores = (int64_t)texts->n * config->vocabulary;
    float *wanted_scores = floats(scores), *found_scores = floats(scores), *wanted = floats(layout->size),
          *found = floats(layout->size), *again = floats(layout->size);
    float wanted_probs[1024], found_probs[1024];
    int32_t rows[1024];
    for (int i = 0; i < texts->n; i++)
        rows[i] = i;
    lm_plain_pass(&at.model, &texts->batch, wanted_scores, wanted_probs, texts->factors, wanted);
    lm_pass_forward(at.pass, &texts->batch);
    lm_pass_scores(at.pass, rows, texts->n, found_scores);
    near("scores", elements, found_scores, wanted_scores, scores);
    lm_pass_log_probs(at.pass, found_probs);
    near("log_probs", elements, found_probs, wanted_probs, texts->n);
    memset(found_probs, 0, sizeof found_probs);
    train(&at, texts, found_probs, found);
    near("log_probs on the way back", elements, found_probs, wanted_probs, texts->n);
    for (int i = 0; i < layout->count; i++)
        near(layout->parameters[i].name, elements, found + layout->parameters[i].offset,
             wanted + layout->parameters[i].offset, layout->parameters[i].count);
    /* Another batch, and this one again: nothing of it is left, and the bits are the same. */
    static const int one[] = {7};
    struct texts other;
    make_texts(&other, one, 1, config->vocabulary);
    train(&at, &other, NULL, again);
    train(&at, texts, NULL, again);
    assert_memory_equal(again, found, (size_t)layout->size * sizeof *found);
    release(&at);
    free(wanted_scores);
    free(found_scores);
    free(wanted);
    free(found);
    free(again);
}

/* Texts of one token and of several blocks; heads of an odd size, of 34, 64, 128 and beyond. */
static void all_shapes(enum lm_dtype elements)
{
    static const int lengths[] = {65, 1, 64, 130, 2, 63}, few[] = {70, 9}, one[] = {1};
    struct lm_config config = dense;
    struct texts texts;
    make_texts(&texts, lengths, 6, config.vocabulary);
    compare(&config, &texts, elements, false);
    compare(&config, &texts, elements, true);
    config.hidden = 64; /* what lies by 16 bytes */
    config.intermediate = 96;
    config.vocabulary = 264;
    config.head_size = 64;
    make_texts(&texts, lengths, 6, config.vocabulary);
    compare(&config, &texts, elements, false);
    make_texts(&texts, few, 2, config.vocabulary);
    config.head_size = 128;
    compare(&config, &texts, elements, false);
    config.head_size = 200;
    config.heads = 2;
    compare(&config, &texts, elements, false);
    config.tied = false;
    config.kv_heads = 1;
    config.heads = 3;
    config.head_size = 34;
    config.hidden = 17;
    config.intermediate = 7;
    config.vocabulary = 1001;
    make_texts(&texts, few, 2, config.vocabulary);
    compare(&config, &texts, elements, false);
    make_texts(&texts, one, 1, config.vocabulary);
    compare(&config, &texts, elements, true);
}

static void float32_is_as_the_textbook(void **state)
{
    (void)state;
    all_shapes(LM_F32);
}

static void bfloat16_is_near_it(void **state)
{
    (void)state;
    all_shapes(LM_BF16);
}

/* A text in pieces, the last one of a single token, has the scores of the whole. */
static void texts_go_on(void **state)
{
    (void)state;
    static const int length[] = {90}, pieces[] = {0, 50, 89, 90};
    struct model at;
    struct texts texts;
    struct lm_cache *cache;
    float wanted[259], found[259];
    const int64_t cell = 5;
    int32_t row = 89;
    make(&at, &dense, LM_F32, false);
    make_texts(&texts, length, 1, dense.vocabulary);
    assert_null(lm_cache_new(at.pass, 100, &cache));
    lm_pass_forward(at.pass, &texts.batch);
    lm_pass_scores(at.pass, &row, 1, wanted);
    for (int i = 0; i < 3; i++) {
        const int starts[] = {0, pieces[i + 1] - pieces[i]};
        const struct lm_batch piece = {.tokens = texts.tokens + pieces[i], .starts = starts, .texts = 1};
        lm_pass_continue(at.pass, &piece, cache, &cell, &pieces[i]);
    }
    row = 0;
    lm_pass_scores(at.pass, &row, 1, found);
    near("scores", LM_F32, found, wanted, dense.vocabulary);
    lm_cache_free(cache);
    release(&at);
}

/* What a few rows are multiplied to is the same bits beside others and alone. */
static void few_rows_do_not_depend_on_others(void **state)
{
    (void)state;
    enum { IN = 88, OUT = 37 };
    for (enum lm_dtype elements = LM_F32; elements <= LM_BF16; elements += LM_BF16 - LM_F32) {
        struct lm_backend *at = gpu(elements);
        const struct lm_operations *ops = at->operations;
        float x[LM_FEW * IN], w[OUT * IN], all[LM_FEW * OUT], alone[OUT];
        struct rng rng;
        rng_seed(&rng, 1);
        for (int i = 0; i < LM_FEW * IN; i++)
            x[i] = (float)rng_normal(&rng);
        for (int i = 0; i < OUT * IN; i++)
            w[i] = (float)rng_normal(&rng);
        void *gpu_x = ops->allocate(at, sizeof x), *gpu_w = ops->allocate(at, sizeof w),
             *gpu_y = ops->allocate(at, sizeof all);
        ops->narrow(at, gpu_x, x, LM_FEW * IN);
        ops->narrow(at, gpu_w, w, OUT * IN);
        ops->linear(at, gpu_y, OUT, gpu_x, IN, gpu_w, LM_FEW, IN, OUT, 1, 0);
        ops->widen(at, all, gpu_y, LM_FEW * OUT);
        for (int r = 0; r < LM_FEW; r++) {
            ops->linear(at, gpu_y, OUT, (char *)gpu_x + (ptrdiff_t)r * IN * ops->element, IN, gpu_w, 1, IN, OUT, 1, 0);
            ops->widen(at, alone, gpu_y, OUT);
            assert_memory_equal(alone, all + (ptrdiff_t)r * OUT, sizeof alone);
        }
        ops->release(at, gpu_x);
        ops->release(at, gpu_w);
        ops->release(at, gpu_y);
        lm_cuda_free(at);
    }
}

static void adamw_is_as_its_formula(void **state)
{
    (void)state;
    enum { COUNT = 70001 };
    struct lm_backend *at = gpu(LM_BF16);
    const struct lm_operations *ops = at->operations;
    const struct lm_adamw step = {.rate = 0.1F,
                                  .beta1 = 0.9F,
                                  .beta2 = 0.99F,
                                  .eps = 1e-3F,
                                  .decay = 0.5F,
                                  .bias1 = 0.3F,
                                  .bias2 = 0.4F,
                                  .scale = 0.25F};
    float *host[4], *found[4], *gpu_arrays[4]; /* weights, m, v, gradient */
    float *elements = floats(COUNT);
    void *gpu_elements = ops->allocate(at, COUNT * (int64_t)ops->element);
    struct rng rng;
    double squares = 0;
    rng_seed(&rng, 1);
    for (int a = 0; a < 4; a++) {
        host[a] = floats(COUNT);
        found[a] = floats(COUNT);
        for (int i = 0; i < COUNT; i++)
            host[a][i] = a == 2 ? (float)rng_uniform(&rng) : (float)rng_normal(&rng);
        gpu_arrays[a] = ops->allocate(at, COUNT * 4);
        ops->upload(at, gpu_arrays[a], host[a], COUNT * 4);
    }
    for (int i = 0; i < COUNT; i++)
        squares += (double)host[3][i] * host[3][i];
    assert_true(fabs(ops->squares(at, gpu_arrays[3], COUNT) - squares) < 1e-9 * squares);
    ops->adamw(at, gpu_arrays[0], gpu_elements, gpu_arrays[1], gpu_arrays[2], gpu_arrays[3], COUNT, &step);
    for (int a = 0; a < 3; a++)
        ops->download(at, found[a], gpu_arrays[a], COUNT * 4);
    ops->widen(at, elements, gpu_elements, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double g = (double)host[3][i] * step.scale, m = step.beta1 * (double)host[1][i] + (1 - (double)step.beta1) * g,
               v = step.beta2 * (double)host[2][i] + (1 - (double)step.beta2) * g * g,
               w = host[0][i] - (double)step.rate * step.decay * host[0][i] -
                   step.rate / (double)step.bias1 * m / (sqrt(v / step.bias2) + step.eps);
        assert_true(fabs(found[1][i] - m) < 1e-5 && fabs(found[2][i] - v) < 1e-5 && fabs(found[0][i] - w) < 1e-4);
        float rounded = found[0][i];
        round_all(&rounded, 1);
        assert_true(elements[i] == rounded);
    }
    for (int a = 0; a < 4; a++) {
        ops->release(at, gpu_arrays[a]);
        free(host[a]);
        free(found[a]);
    }
    ops->release(at, gpu_elements);
    free(elements);
    lm_cuda_free(at);
}

static void adapters_are_as_the_merged_model(void **state)
{
    (void)state;
    static const int lengths[] = {33, 5};
    static const struct lm_adapters_options some = {
        .rank = 3, .alpha = 6, .targets = {[LM_Q] = true, [LM_V] = true, [LM_UP] = true, [LM_DOWN] = true}};
    struct lm_backend *at = gpu(LM_F32);
    const struct lm_operations *ops = at->operations;
    struct lm_adapters adapters;
    struct lm_model model;
    struct lm_pass *pass;
    struct texts texts;
    struct rng rng;
    float wanted_probs[1024], found_probs[1024];
    rng_seed(&rng, 4);
    make_texts(&texts, lengths, 2, dense.vocabulary);
    lm_model_new(&model, &dense, &rng);
    assert_null(lm_adapters_make(&adapters, &model.layout, &some));
    int64_t size = adapters.layout.size;
    float *weights = lm_adapters_new(&adapters, &rng), *merged = floats(model.layout.size),
          *dw = floats(model.layout.size), *wanted = floats(size), *found = floats(size),
          *gradients = ops->allocate(at, size * 4);
    for (int64_t i = 0; i < size; i++)
        weights[i] += 0.1F * (float)rng_normal(&rng);
    const struct lm_pass_options options = {
        .tokens = 50, .training = true, .adapters = &adapters, .adapter_weights = weights};
    assert_null(lm_pass_new(at, &model.layout, model.weights, &options, &pass));
    memcpy(merged, model.weights, (size_t)model.layout.size * sizeof *merged);
    struct lm_model both = {.layout = model.layout, .weights = merged};
    lm_adapters_merge(&adapters, weights, &both);
    lm_plain_pass(&both, &texts.batch, NULL, wanted_probs, texts.factors, dw);
    adapter_gradient(&adapters, &model.layout, weights, dw, wanted);
    ops->zero(at, gradients, size * 4);
    lm_pass_forward(pass, &texts.batch);
    lm_pass_backward(pass, texts.factors, found_probs, gradients);
    ops->download(at, found, gradients, size * 4);
    near("log_probs", LM_F32, found_probs, wanted_probs, texts.n);
    near("adapters' gradients", LM_F32, found, wanted, size);
    ops->release(at, gradients);
    lm_pass_free(pass);
    lm_cuda_free(at);
    lm_adapters_free(&adapters);
    lm_model_free(&model);
    free(weights);
    free(merged);
    free(dw);
    free(wanted);
    free(found);
}

/* Weights on the GPU, whose elements the pass has: after steps it computes what a pass with the new weights does, and the labels
 * are likelier. */
static void steps_train_what_the_pass_uses(void **state)
{
    (void)state;
    static const int length[] = {60};
    struct model at;
    struct texts texts;
    float before[1024], after[1024], again[1024];
    double sums[2] = {0};
    make(&at, &dense, LM_BF16, false);
    const struct lm_operations *ops = at.gpu->operations;
    int64_t size = at.model.layout.size, bytes = size * 4;
    float *gradients = floats(size), *weights = ops->allocate(at.gpu, bytes), *m = ops->allocate(at.gpu, bytes),
          *v = ops->allocate(at.gpu, bytes);
    ops->upload(at.gpu, weights, at.model.weights, bytes);
    ops->zero(at.gpu, m, bytes);
    ops->zero(at.gpu, v, bytes);
    make_texts(&texts, length, 1, dense.vocabulary);
    for (int i = 0; i < texts.n; i++)
        texts.factors[i] = -1.0F / (float)texts.n;
    for (int i = 0; i < 5; i++) {
        struct lm_adamw step = {.rate = 0.01F, .beta1 = 0.9F, .beta2 = 0.99F, .eps = 1e-8F, .scale = 1};
        step.bias1 = 1 - powf(step.beta1, (float)(i + 1));
        step.bias2 = 1 - powf(step.beta2, (float)(i + 1));
        train(&at, &texts, i ? NULL : before, gradients);
        ops->adamw(at.gpu, weights, lm_pass_elements(at.pass), m, v, at.gradients, size, &step);
    }
    lm_pass_forward(at.pass, &texts.batch);
    lm_pass_log_probs(at.pass, after);
    for (int i = 0; i < texts.n; i++) {
        sums[0] += before[i];
        sums[1] += after[i];
    }
    assert_true(sums[1] > 0.9 * sums[0]); /* logarithms, below 0 */
    ops->download(at.gpu, at.model.weights, weights, bytes);
    lm_pass_weights(at.pass, at.model.weights);
    lm_pass_forward(at.pass, &texts.batch);
    lm_pass_log_probs(at.pass, again);
    assert_memory_equal(again, after, (size_t)texts.n * sizeof *after);
    ops->release(at.gpu, weights);
    ops->release(at.gpu, m);
    ops->release(at.gpu, v);
    free(gradients);
    release(&at);
}

static void what_it_has_no_memory_for_is_an_error(void **state)
{
    (void)state;
    struct lm_backend *at = gpu(LM_BF16);
    struct lm_layout layout;
    struct lm_pass *pass;
    const struct lm_pass_options options = {.tokens = 1 << 30, .training = true};
    struct lm_config config = dense;
    config.hidden = 1 << 20;
    lm_layout_make(&layout, &config);
    struct akgen_error *error = lm_pass_new(at, &layout, NULL, &options, &pass);
    assert_non_null(error);
    assert_null(pass);
    assert_non_null(strstr(error->message, "GB that batches of 1073741824 tokens need"));
    error_free(error);
    lm_layout_free(&layout);
    lm_cuda_free(at);
}

/* Of any machine. */
static void what_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct lm_backend *backend;
    struct akgen_error *error = lm_cuda_new(1000, LM_BF16, &backend);
    assert_non_null(error);
    assert_null(backend);
    assert_true(strstr(error->message, "there is no GPU") || strstr(error->message, "akgen-cuda.so"));
    error_free(error);
    error = lm_cuda_new(0, LM_F16, &backend);
    assert_non_null(error);
    assert_null(backend);
    assert_non_null(strstr(error->message, "bfloat16 or float32, not F16"));
    error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_is_as_the_textbook),
        cmocka_unit_test(bfloat16_is_near_it),
        cmocka_unit_test(texts_go_on),
        cmocka_unit_test(few_rows_do_not_depend_on_others),
        cmocka_unit_test(adamw_is_as_its_formula),
        cmocka_unit_test(adapters_are_as_the_merged_model),
        cmocka_unit_test(steps_train_what_the_pass_uses),
        cmocka_unit_test(what_it_has_no_memory_for_is_an_error),
        cmocka_unit_test(what_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
