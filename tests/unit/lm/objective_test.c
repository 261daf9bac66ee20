/* Objectives: values by hand, and derivatives by differences. */
/* test: builds=both */
#include "lm/objective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { N = 12, TEXTS = 4 };

static const int32_t labels[N] = {-1, 4, 2, -1, 5, 5, 5, 1, -1, 3, -1, 6};
static const int starts[TEXTS + 1] = {0, 3, 7, 9, 12};
static const struct lm_batch batch = {.labels = labels, .starts = starts, .texts = TEXTS};
static const float now[N] = {0, -1, -2, 0, -0.5F, -3, -1, -0.2F, 0, -1, 0, -2.5F},
                   reference[N] = {0, -1.5F, -1, 0, -0.75F, -2, -1.2F, -0.6F, 0, -0.5F, 0, -2},
                   old[N] = {0, -1.1F, -2.4F, 0, -0.5F, -2.9F, -1.3F, -0.1F, 0, -1.05F, 0, -2},
                   rewards[TEXTS] = {1, 0, 0.25F, 3};

static double loss_of(const struct lm_objective_options *options, const float *log_probs, float *factors,
                      struct lm_objective_sums *sums)
{
    *sums = (struct lm_objective_sums){0};
    lm_objective(options, &batch, 4, log_probs, reference, old, rewards, 2, sums, factors);
    return sums->loss;
}

static void derivatives(void **state)
{
    (void)state;
    static const struct lm_objective_options kinds[] = {
        {.kind = LM_SFT}, {.kind = LM_DPO, .beta = 0.5}, {.kind = LM_GRPO, .beta = 0.3, .clip = 0.15}};
    struct lm_objective_sums sums;
    float factors[N], ignored[N], moved[N];
    for (int kind = 0; kind < 3; kind++) {
        loss_of(&kinds[kind], now, factors, &sums);
        for (int i = 0; i < N; i++) {
            double step = 1.0 / 1024, slope;
            memcpy(moved, now, sizeof now);
            moved[i] += (float)step;
            slope = loss_of(&kinds[kind], moved, ignored, &sums);
            moved[i] -= (float)(2 * step);
            slope = (slope - loss_of(&kinds[kind], moved, ignored, &sums)) / (2 * step);
            if (labels[i] == LM_NO_LABEL)
                assert_true(factors[i] == 0);
            else
                assert_float_equal(factors[i], slope, 1e-5);
        }
    }
}

static void values_by_hand(void **state)
{
    (void)state;
    struct lm_objective_sums sums;
    float factors[N];
    assert_float_equal(loss_of(&(struct lm_objective_options){.kind = LM_SFT}, now, factors, &sums),
                       (1 + 2 + 0.5 + 3 + 1 + 0.2 + 1 + 2.5) / 4, 1e-6);
    /* Pairs: gains -0.5 and -0.55, 0.4 and -1. */
    double first = 0.5 * (-0.5 + 0.55), second = 0.5 * (0.4 + 1);
    assert_float_equal(loss_of(&(struct lm_objective_options){.kind = LM_DPO, .beta = 0.5}, now, factors, &sums),
                       (log(1 + exp(-first)) + log(1 + exp(-second))) / 4, 1e-6);
    assert_float_equal(sums.chosen, 0.5 * (-0.5 + 0.4), 1e-6);
    assert_float_equal(sums.rejected, 0.5 * (-0.55 - 1), 1e-6);
    assert_true(sums.right == 2);
    /* The last group: advantages +-1.375 / (1.9445 + 1e-4); ratios e^-0.1 of the one, e^0.05 and e^-0.5 of the other, of which the minimum
     * clips none. */
    const struct lm_objective_options grpo = {.kind = LM_GRPO, .beta = 0, .clip = 0.15};
    const struct lm_batch last = {.labels = labels, .starts = starts + 2, .texts = 2};
    sums = (struct lm_objective_sums){0};
    lm_objective(&grpo, &last, 1, now, reference, old, rewards + 2, 2, &sums, factors);
    double a = 1.375 / (sqrt(2) * 1.375 + 1e-4);
    assert_float_equal(sums.loss, -(exp(0.05) + exp(-0.5)) / 2 * a + exp(-0.1) * a, 1e-4);
}

/* Where two texts are as good, or a margin is out of what exp can hold, nothing becomes NAN. */
static void extremes(void **state)
{
    (void)state;
    struct lm_objective_sums sums;
    float factors[N], far[N];
    for (int i = 0; i < N; i++)
        far[i] = i < 3 || (i >= 7 && i < 9) ? -5000 : 0;
    const struct lm_objective_options dpo = {.kind = LM_DPO, .beta = 10};
    assert_true(isfinite(loss_of(&dpo, far, factors, &sums)));
    for (int i = 0; i < N; i++)
        assert_true(isfinite(factors[i]));
    const float same[TEXTS] = {1, 1, 0, 0};
    const struct lm_objective_options grpo = {.kind = LM_GRPO, .beta = 0, .clip = 0.2};
    sums = (struct lm_objective_sums){0};
    lm_objective(&grpo, &batch, 4, now, reference, old, same, 2, &sums, factors);
    assert_true(sums.loss == 0);
    for (int i = 0; i < N; i++)
        assert_true(factors[i] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives),
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
