/* Weights as int8: each is within half a scale; a pass with them is the float32 pass of the model whose weights are what they stand for; a row of a
 * product has the same bits beside any others, in any number of threads. */
/* test: builds=both */
/* test: as=AVX2 env=DNNL_MAX_CPU_ISA=AVX2 builds=release */
/* test: as=AVX512_CORE env=DNNL_MAX_CPU_ISA=AVX512_CORE builds=release */
#include "lm/int8.h"
#include "base/memory.h"
#include "lm/cpu.h"
#include "lm/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 90, VOCABULARY = 131 };

static void make(struct lm_model *model, int experts, bool tied)
{
    struct rng rng;
    const struct lm_config config = {.vocabulary = VOCABULARY,
                                     .hidden = 36,
                                     .layers = 2,
                                     .heads = 4,
                                     .kv_heads = 2,
                                     .head_size = 10,
                                     .intermediate = 44,
                                     .max_positions = 128,
                                     .rope_theta = 10000,
                                     .norm_eps = 1e-6F,
                                     .initial_spread = 0.2F,
                                     .tied = tied,
                                     .experts = experts,
                                     .experts_per_token = 2,
                                     .expert_intermediate = 12,
                                     .normalise_experts = true};
    rng_seed(&rng, 9);
    lm_model_new(model, &config, &rng);
}

/* The model's matrices become what int8 has of them; says by how much of its scale a weight is off at most. */
static float stand_for(struct lm_model *model, const struct lm_int8 *int8)
{
    float worst = 0;
    for (int i = 0; i < model->layout.count; i++) {
        const struct lm_parameter *parameter = &model->layout.parameters[i];
        const float *scales = lm_int8_scales(int8, parameter->offset);
        for (int64_t j = 0; parameter->rank == 2 && j < parameter->count; j++) {
            float scale = scales[j / parameter->shape[1]], *weight = &model->weights[parameter->offset + j],
                  value = scale * (float)int8->weights[parameter->offset + j];
            if (scale > 0)
                worst = fmaxf(worst, fabsf(*weight - value) / scale);
            else
                assert_true(fabsf(*weight) <= 1e-40F && value == 0);
            *weight = value;
        }
    }
    return worst;
}

static void scores_of(struct lm_backend *cpu, const struct lm_model *model, const struct lm_int8 *int8, int count,
                      float *scores)
{
    struct lm_pass *pass;
    const struct lm_pass_options options = {.tokens = LONGEST, .int8 = int8};
    int32_t tokens[LONGEST], rows[LONGEST];
    const int starts[] = {0, count};
    for (int i = 0; i < count; i++) {
        tokens[i] = i * 7 % VOCABULARY;
        rows[i] = i;
    }
    const struct lm_batch batch = {.tokens = tokens, .starts = starts, .texts = 1};
    assert_null(lm_pass_new(cpu, &model->layout, model->weights, &options, &pass));
    lm_pass_forward(pass, &batch);
    lm_pass_scores(pass, rows, count, scores);
    lm_pass_free(pass);
}

static void compare(int experts, bool tied)
{
    static const int counts[] = {1, 3, 4, 32, 33, LONGEST};
    static float wanted[LONGEST * VOCABULARY], found[LONGEST * VOCABULARY];
    struct lm_model model;
    struct lm_int8 *int8;
    make(&model, experts, tied);
    memset(model.weights + model.layout.layers[0].q, 0, 36 * sizeof(float)); /* as good as zeros */
    model.weights[model.layout.layers[0].q + 2] = 1e-40F;
    for (int threads = 1; threads <= 3; threads++) {
        struct lm_backend *cpu = lm_cpu_new(threads);
        assert_null(lm_int8_new(cpu, &model.layout, model.weights, &int8));
        float off = stand_for(&model, int8);
        assert_true(off <= 0.5001F);
        assert_true(threads > 1 || off > 0.4F); /* the first time; then they are what int8 has */
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            float scale = 0, worst = 0;
            scores_of(cpu, &model, NULL, counts[i], wanted);
            scores_of(cpu, &model, int8, counts[i], found);
            for (int j = 0; j < counts[i] * VOCABULARY; j++) {
                scale = fmaxf(scale, fabsf(wanted[j]));
                worst = fmaxf(worst, fabsf(found[j] - wanted[j]));
            }
            assert_true(worst <= 2e-5F * scale);
        }
        lm_int8_free(int8);
        lm_cpu_free(cpu);
    }
    lm_model_free(&model);
}

static void as_what_they_stand_for(void **state)
{
    (void)state;
    compare(0, false);
    compare(0, true);
    compare(5, false);
}

static void bits_do_not_depend_on_others(void **state)
{
    (void)state;
    enum { OUT = 70, IN = 59 };
    int8_t w[OUT * IN];
    float x[LM_FEW * IN], scales[OUT], alone[OUT], all[LM_FEW * OUT];
    struct rng rng;
    rng_seed(&rng, 2);
    for (int i = 0; i < OUT * IN; i++)
        w[i] = (int8_t)rng_integer(&rng, -127, 128);
    for (int i = 0; i < LM_FEW * IN; i++)
        x[i] = (float)rng_normal(&rng);
    for (int i = 0; i < OUT; i++)
        scales[i] = (float)rng_uniform(&rng);
    struct lm_backend *one = lm_cpu_new(1), *three = lm_cpu_new(3);
    for (int n = 1; n <= LM_FEW; n++) {
        three->operations->linear_int8(three, all, OUT, x, IN, w, scales, n, IN, OUT);
        for (int r = 0; r < n; r++) {
            one->operations->linear_int8(one, alone, OUT, x + (ptrdiff_t)r * IN, IN, w, scales, 1, IN, OUT);
            assert_memory_equal(all + (ptrdiff_t)r * OUT, alone, sizeof alone);
        }
    }
    lm_cpu_free(one);
    lm_cpu_free(three);
}

/* A pass of a model whose float32 matrices are gone makes the same scores, to the bit; what is counted is what stays. */
static void taken_models_are_the_same(void **state)
{
    (void)state;
    for (int experts = 0; experts <= 5; experts += 5)
        for (int tied = 0; tied <= 1; tied++) {
            static float wanted[LM_FEW * VOCABULARY], found[LM_FEW * VOCABULARY];
            struct lm_model model;
            struct lm_int8 *int8, *taken;
            make(&model, experts, tied);
            const struct lm_layout *layout = &model.layout;
            struct lm_backend *cpu = lm_cpu_new(2);
            assert_null(lm_int8_new(cpu, layout, model.weights, &int8));
            scores_of(cpu, &model, int8, LM_FEW, wanted);
            assert_null(lm_int8_take(cpu, layout, model.weights, &taken));
            for (int i = 0; i < layout->count; i++) { /* as if each had pages of its own */
                const struct lm_parameter *parameter = &layout->parameters[i];
                bool router = false;
                for (int l = 0; l < layout->config.layers; l++)
                    router |= parameter->offset == layout->layers[l].router;
                if (parameter->rank == 2 && parameter->offset != layout->embedding && !router)
                    memset(model.weights + parameter->offset, 0, (size_t)parameter->count * sizeof(float));
            }
            scores_of(cpu, &model, taken, LM_FEW, found);
            assert_memory_equal(found, wanted, sizeof found);
            assert_true(lm_int8_bytes(layout) < layout->size * (int64_t)sizeof(float));
            lm_int8_free(int8);
            lm_int8_free(taken);
            lm_cpu_free(cpu);
            lm_model_free(&model);
        }
}

static void what_cannot_be_is_an_error(void **state)
{
    (void)state;
    struct lm_model model;
    struct lm_int8 *int8;
    struct lm_pass *pass;
    make(&model, 0, true);
    struct lm_backend *cpu = lm_cpu_new(1);
    struct lm_operations without = *cpu->operations;
    struct lm_backend other = {.operations = &without};
    without.linear_int8 = NULL;
    struct akgen_error *error = lm_int8_new(&other, &model.layout, model.weights, &int8);
    assert_string_equal(error->message, "CPU, float32 does not multiply weights that are int8");
    assert_null(int8);
    error_free(error);
    assert_null(lm_int8_new(cpu, &model.layout, model.weights, &int8));
    const struct lm_pass_options options = {.tokens = 8, .training = true, .int8 = int8};
    error = lm_pass_new(cpu, &model.layout, model.weights, &options, &pass);
    assert_string_equal(error->message, "weights that are int8 are not trained");
    error_free(error);
    lm_int8_free(int8);
    model.weights[model.layout.layers[1].q + 36 + 5] = NAN;
    error = lm_int8_new(cpu, &model.layout, model.weights, &int8);
    assert_string_equal(error->message,
                        "row 1 of model.layers.1.self_attn.q_proj.weight has a weight that is no finite number");
    assert_null(int8);
    error_free(error);
    lm_cpu_free(cpu);
    lm_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_what_they_stand_for),
        cmocka_unit_test(bits_do_not_depend_on_others),
        cmocka_unit_test(taken_models_are_the_same),
        cmocka_unit_test(what_cannot_be_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
