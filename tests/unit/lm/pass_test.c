/* The fast pass against the textbook's: sizes around the blocks and vectors that it cuts by, texts of one token and of several
 * blocks, all of it in one to three threads. */
/* test: builds=both */
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"
#include "lm/plain.h"
#include "unit/lm/adapter_gradient.h"
#include "unit/lm/texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
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

static void near(const char *what, const float *found, const float *wanted, int64_t count)
{
    float scale = 0, worst = 0;
    for (int64_t i = 0; i < count; i++) {
        scale = fmaxf(scale, fabsf(wanted[i]));
        worst = fmaxf(worst, fabsf(found[i] - wanted[i]));
        assert_true(isfinite(found[i]));
    }
    if (worst > 2e-5F * scale + 1e-6F) /* what is 0 is a sum of what cancels */
        fail_msg("%s: %g off, the largest is %g", what, worst, scale);
}

static float *floats(int64_t count)
{
    return memory_alloc((size_t)count * sizeof(float));
}

static void compare(const struct lm_config *config, const struct texts *texts, int threads, bool checkpoint)
{
    struct lm_model model;
    struct rng rng;
    rng_seed(&rng, 3);
    lm_model_new(&model, config, &rng);
    const struct lm_layout *layout = &model.layout;
    int64_t scores = (int64_t)texts->n * config->vocabulary;
    float *wanted_scores = floats(scores), *found_scores = floats(scores), *wanted = floats(layout->size),
          *found = floats(layout->size);
    float wanted_probs[1024], found_probs[1024];
    int32_t rows[1024];
    for (int i = 0; i < texts->n; i++)
        rows[i] = i;
    lm_plain_pass(&model, &texts->batch, wanted_scores, wanted_probs, texts->factors, wanted);
    struct lm_backend *cpu = lm_cpu_new(threads);
    struct lm_pass *pass;
    const struct lm_pass_options options = {.tokens = 1000, .training = true, .checkpoint = checkpoint};
    assert_null(lm_pass_new(cpu, layout, model.weights, &options, &pass));
    lm_pass_forward(pass, &texts->batch);
    lm_pass_scores(pass, rows, texts->n, found_scores);
    near("scores", found_scores, wanted_scores, scores);
    lm_pass_log_probs(pass, found_probs);
    near("log_probs", found_probs, wanted_probs, texts->n);
    memset(found_probs, 0, sizeof found_probs);
    lm_pass_backward(pass, texts->factors, found_probs, found);
    near("log_probs on the way back", found_probs, wanted_probs, texts->n);
    for (int i = 0; i < layout->count; i++)
        near(layout->parameters[i].name, found + layout->parameters[i].offset, wanted + layout->parameters[i].offset,
             layout->parameters[i].count);
    /* Another batch, and this one again: nothing of it is left. */
    const int one[] = {7};
    struct texts other;
    make_texts(&other, one, 1, config->vocabulary);
    lm_pass_forward(pass, &other.batch);
    lm_pass_backward(pass, other.factors, NULL, found);
    memset(found, 0, (size_t)layout->size * sizeof *found);
    lm_pass_forward(pass, &texts->batch);
    lm_pass_backward(pass, texts->factors, NULL, found);
    near("gradients again", found, wanted, layout->size);
    /* Nor is anything of what gradients held before they were renewed; and then they are added to. */
    float *renewed = floats(layout->size);
    memset(renewed, 0x7f, (size_t)layout->size * sizeof *renewed);
    lm_pass_renew(pass, renewed);
    lm_pass_forward(pass, &texts->batch);
    lm_pass_backward(pass, texts->factors, NULL, renewed);
    assert_memory_equal(renewed, found, (size_t)layout->size * sizeof *found);
    for (int i = 0; i < 2; i++) {
        lm_pass_forward(pass, &texts->batch);
        lm_pass_backward(pass, texts->factors, NULL, i ? found : renewed);
    }
    assert_memory_equal(renewed, found, (size_t)layout->size * sizeof *found);
    free(renewed);
    lm_pass_free(pass);
    lm_cpu_free(cpu);
    lm_model_free(&model);
    free(wanted_scores);
    free(found_scores);
    free(wanted);
    free(found);
}

static void as_the_textbook(void **state)
{
    (void)state;
    static const int lengths[] = {65, 1, 64, 130, 2, 63};
    struct texts texts;
    make_texts(&texts, lengths, 6, dense.vocabulary);
    for (int threads = 1; threads <= 3; threads++)
        compare(&dense, &texts, threads, threads == 2);
}

static void other_shapes(void **state)
{
    (void)state;
    static const int lengths[] = {70, 9};
    struct lm_config config = dense;
    struct texts texts;
    config.tied = false;
    config.kv_heads = 1;
    config.heads = 3;
    config.head_size = 34;
    config.hidden = 17;
    config.intermediate = 7;
    config.vocabulary = 1001;
    make_texts(&texts, lengths, 2, config.vocabulary);
    compare(&config, &texts, 2, false);
    static const int one[] = {1};
    make_texts(&texts, one, 1, config.vocabulary);
    compare(&config, &texts, 3, true);
}

static void adapters_are_as_the_merged_model(void **state)
{
    (void)state;
    static const int lengths[] = {33, 5};
    static const struct lm_adapters_options some = {
        .rank = 3, .alpha = 6, .targets = {[LM_Q] = true, [LM_V] = true, [LM_UP] = true, [LM_DOWN] = true}};
    struct lm_adapters adapters;
    struct lm_model model;
    struct lm_pass *pass;
    struct texts texts;
    struct rng rng;
    rng_seed(&rng, 4);
    make_texts(&texts, lengths, 2, dense.vocabulary);
    lm_model_new(&model, &dense, &rng);
    assert_null(lm_adapters_make(&adapters, &model.layout, &some));
    float *weights = lm_adapters_new(&adapters, &rng), *merged = floats(model.layout.size),
          *dw = floats(model.layout.size);
    int64_t size = adapters.layout.size, scores = (int64_t)texts.n * dense.vocabulary;
    float *wanted = floats(size), *found = floats(size), *wanted_scores = floats(scores),
          *found_scores = floats(scores);
    float log_probs[1024];
    int32_t rows[1024];
    struct lm_backend *cpu = lm_cpu_new(2);
    const struct lm_pass_options options = {
        .tokens = 50, .training = true, .adapters = &adapters, .adapter_weights = weights};
    assert_null(lm_pass_new(cpu, &model.layout, model.weights, &options, &pass));
    for (int i = 0; i < texts.n; i++)
        rows[i] = i;
    for (int round = 0; round < 2; round++) { /* new ones, which change nothing, and others */
        memcpy(merged, model.weights, (size_t)model.layout.size * sizeof *merged);
        struct lm_model both = {.layout = model.layout, .weights = merged};
        lm_adapters_merge(&adapters, weights, &both);
        assert_true(round == !!memcmp(merged, model.weights, (size_t)model.layout.size * sizeof *merged));
        memset(dw, 0, (size_t)model.layout.size * sizeof *dw);
        memset(wanted, 0, (size_t)size * sizeof *wanted);
        memset(found, 0, (size_t)size * sizeof *found);
        lm_plain_pass(&both, &texts.batch, wanted_scores, log_probs, texts.factors, dw);
        adapter_gradient(&adapters, &model.layout, weights, dw, wanted);
        lm_pass_forward(pass, &texts.batch);
        lm_pass_scores(pass, rows, texts.n, found_scores);
        lm_pass_backward(pass, texts.factors, NULL, found);
        near("scores", found_scores, wanted_scores, scores);
        near("adapters' gradients", found, wanted, size);
        for (int64_t i = 0; i < size; i++)
            weights[i] += 0.1F * (float)rng_normal(&rng);
    }
    lm_pass_free(pass);
    lm_cpu_free(cpu);
    lm_adapters_free(&adapters);
    lm_model_free(&model);
    free(weights);
    free(merged);
    free(dw);
    free(wanted);
    free(found);
    free(wanted_scores);
    free(found_scores);
}

static void what_no_memory_has_room_for_is_an_error(void **state)
{
    (void)state;
    struct lm_layout layout;
    struct lm_backend *cpu = lm_cpu_new(1);
    struct lm_pass *pass;
    const struct lm_pass_options options = {.tokens = 1 << 30, .training = true};
    struct lm_config config = dense;
    config.hidden = 1 << 20;
    lm_layout_make(&layout, &config);
    struct akgen_error *error = lm_pass_new(cpu, &layout, NULL, &options, &pass);
    assert_non_null(error);
    assert_null(pass);
    assert_non_null(strstr(error->message, "GB that batches of 1073741824 tokens need"));
    error_free(error);
    lm_layout_free(&layout);
    lm_cpu_free(cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_textbook),
        cmocka_unit_test(other_shapes),
        cmocka_unit_test(adapters_are_as_the_merged_model),
        cmocka_unit_test(what_no_memory_has_room_for_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
