/* The textbook's gradients by differences, and attention that keeps to its text; tests/peers/lm_model_test.py compares the
 * results with transformers'. */
/* test: builds=both */
#include "lm/plain.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct lm_config dense = {.vocabulary = 11,
                                       .hidden = 8,
                                       .layers = 2,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .head_size = 4,
                                       .intermediate = 12,
                                       .max_positions = 64,
                                       .rope_theta = 100,
                                       .norm_eps = 1e-5F,
                                       .initial_spread = 0.4F,
                                       .tied = true};
static const struct lm_config sparse = {.vocabulary = 11,
                                        .hidden = 8,
                                        .layers = 2,
                                        .heads = 2,
                                        .kv_heads = 1,
                                        .head_size = 6,
                                        .intermediate = 12,
                                        .max_positions = 64,
                                        .rope_theta = 100,
                                        .norm_eps = 1e-5F,
                                        .initial_spread = 0.4F,
                                        .experts = 4,
                                        .experts_per_token = 2,
                                        .expert_intermediate = 6,
                                        .normalise_experts = true,
                                        .dense_layer = {true}};

enum { N = 9 };
static const int32_t tokens[N] = {1, 5, 3, 10, 0, 2, 2, 7, 1},
                     labels[N] = {5, 3, 10, 0, LM_NO_LABEL, 2, 7, 1, LM_NO_LABEL};
static const float factors[N] = {1, -0.5F, 0.25F, 2, 9, 1, 1, -1, 9};
static const int starts[] = {0, 5, 9};
static const struct lm_batch batch = {tokens, labels, starts, 2};

static double total(const struct lm_model *model)
{
    float log_probs[N];
    double sum = 0;
    lm_plain_pass(model, &batch, NULL, log_probs, NULL, NULL);
    for (int i = 0; i < N; i++)
        sum += labels[i] == LM_NO_LABEL ? 0 : (double)factors[i] * log_probs[i];
    return sum;
}

/* Some elements of each parameter against (f(w + h) - f(w - h)) / 2h. */
static void check_gradients(const struct lm_config *config)
{
    struct lm_model model;
    struct rng rng;
    rng_seed(&rng, 7);
    lm_model_new(&model, config, &rng);
    float *gradients = memory_alloc((size_t)model.layout.size * sizeof *gradients);
    lm_plain_pass(&model, &batch, NULL, NULL, factors, gradients);
    for (int i = 0; i < model.layout.count; i++) {
        const struct lm_parameter *parameter = &model.layout.parameters[i];
        for (int64_t j = 0; j < parameter->count; j += 1 + parameter->count / 7) {
            float *weight = model.weights + parameter->offset + j, kept = *weight;
            *weight = kept + 1e-3F;
            double up = total(&model);
            *weight = kept - 1e-3F;
            double slope = (up - total(&model)) / 2e-3;
            *weight = kept;
            if (fabs(slope - gradients[parameter->offset + j]) > 2e-3 * (1 + fabs(slope)))
                fail_msg("%s[%lld]: %g, by differences %g", parameter->name, (long long)j,
                         gradients[parameter->offset + j], slope);
        }
    }
    free(gradients);
    lm_model_free(&model);
}

static void gradients_are_slopes(void **state)
{
    (void)state;
    check_gradients(&dense);
    check_gradients(&sparse);
    struct lm_config untied = dense;
    untied.tied = false;
    check_gradients(&untied);
}

static void texts_do_not_see_each_other(void **state)
{
    (void)state;
    enum { V = 11 };
    struct lm_model model;
    struct rng rng;
    float together[N * V], alone[4 * V];
    static const int one[] = {0, 4};
    const struct lm_batch second = {tokens + 5, labels + 5, one, 1};
    rng_seed(&rng, 1);
    lm_model_new(&model, &dense, &rng);
    lm_plain_pass(&model, &batch, together, NULL, NULL, NULL);
    lm_plain_pass(&model, &second, alone, NULL, NULL, NULL);
    assert_memory_equal(together + (ptrdiff_t)5 * V, alone, sizeof alone);
    lm_model_free(&model);
}

static void a_token_does_not_see_the_next(void **state)
{
    (void)state;
    enum { V = 11 };
    struct lm_model model;
    struct rng rng;
    float scores[N * V], changed[N * V];
    int32_t others[N];
    const struct lm_batch other = {others, labels, starts, 2};
    memcpy(others, tokens, sizeof others);
    others[3] = 4;
    rng_seed(&rng, 1);
    lm_model_new(&model, &sparse, &rng);
    lm_plain_pass(&model, &batch, scores, NULL, NULL, NULL);
    lm_plain_pass(&model, &other, changed, NULL, NULL, NULL);
    assert_memory_equal(scores, changed, (size_t)3 * V * sizeof *scores);
    for (int i = 3; i < 5; i++)
        assert_memory_not_equal(scores + (ptrdiff_t)i * V, changed + (ptrdiff_t)i * V, V * sizeof *scores);
    lm_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(texts_do_not_see_each_other),
        cmocka_unit_test(a_token_does_not_see_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
