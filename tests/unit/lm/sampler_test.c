/* Draws: the cuts in their order, frequencies, seeds; log-probabilities. */
#include "lm/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { V = 6, DRAWS = 40000 };

/* Probabilities 0.4, 0.05, 0.3, 0.05, 0.2 and none. */
static float scores[V];

static int set_up(void **state)
{
    static const double of[V] = {0.4, 0.05, 0.3, 0.05, 0.2, 0};
    (void)state;
    for (int i = 0; i < V; i++)
        scores[i] = (float)log(of[i]) + 3;
    return 0;
}

static void frequencies(const struct lm_sampling *sampling, double *found)
{
    struct lm_sampler *sampler = lm_sampler_new(V);
    memset(found, 0, V * sizeof *found);
    for (int place = 0; place < DRAWS; place++)
        found[lm_sampler_draw(sampler, scores, sampling, place)] += 1.0 / DRAWS;
    lm_sampler_free(sampler);
}

static void check(const struct lm_sampling *sampling, const double *weights)
{
    double found[V], sum = 0;
    frequencies(sampling, found);
    for (int i = 0; i < V; i++)
        sum += weights[i];
    for (int i = 0; i < V; i++) {
        double wanted = weights[i] / sum;
        if (wanted == 0)
            assert_true(found[i] == 0);
        else
            assert_float_equal(found[i], wanted, 5 * sqrt(wanted / DRAWS));
    }
}

static void cuts(void **state)
{
    (void)state;
    struct lm_sampling s = lm_sampling_defaults;
    check(&s, (const double[V]){0.4, 0.05, 0.3, 0.05, 0.2, 0});
    s.temperature = 0.5;
    check(&s, (const double[V]){0.16, 0.0025, 0.09, 0.0025, 0.04, 0});
    s.temperature = 0;
    check(&s, (const double[V]){1, 0, 0, 0, 0, 0});
    s = lm_sampling_defaults;
    s.top_k = 2;
    check(&s, (const double[V]){0.4, 0, 0.3, 0, 0, 0});
    s.top_k = 4; /* of equals the first */
    check(&s, (const double[V]){0.4, 0.05, 0.3, 0, 0.2, 0});
    s.top_k = 0;
    s.top_p = 0.75;
    check(&s, (const double[V]){0.4, 0, 0.3, 0, 0.2, 0});
    s.top_p = 1e-9;
    check(&s, (const double[V]){1, 0, 0, 0, 0, 0});
    s.top_p = 1;
    s.min_p = 0.6;
    check(&s, (const double[V]){0.4, 0, 0.3, 0, 0, 0});
    s.min_p = 1;
    check(&s, (const double[V]){1, 0, 0, 0, 0, 0});
    /* top_p counts what top_k left: 0.4 of 0.7 is not enough for 0.6. */
    s = (struct lm_sampling){.temperature = 1, .top_k = 2, .top_p = 0.6};
    check(&s, (const double[V]){0.4, 0, 0.3, 0, 0, 0});
    s.top_p = 0.5;
    check(&s, (const double[V]){1, 0, 0, 0, 0, 0});
    /* The temperature counts before the cut: at 2 the first two have 0.32 and 0.27 of all. */
    s = (struct lm_sampling){.temperature = 2, .top_p = 0.55};
    check(&s, (const double[V]){sqrt(0.4), 0, sqrt(0.3), 0, 0, 0});
}

static void seeds(void **state)
{
    (void)state;
    struct lm_sampler *sampler = lm_sampler_new(V);
    struct lm_sampling s = lm_sampling_defaults;
    int same = 0;
    for (int place = 0; place < 1000; place++) {
        s.seed = 5;
        int32_t first = lm_sampler_draw(sampler, scores, &s, place);
        assert_int_equal(lm_sampler_draw(sampler, scores, &s, place), first);
        s.seed = 6;
        same += lm_sampler_draw(sampler, scores, &s, place) == first;
    }
    /* 0.295: the sum of the squares of the probabilities. */
    assert_float_equal(same / 1000.0, 0.295, 0.06);
    lm_sampler_free(sampler);
}

static void log_probs(void **state)
{
    (void)state;
    struct lm_likely likely[4];
    assert_float_equal(lm_log_prob(scores, V, 4, likely, 4), log(0.2), 1e-6);
    static const int wanted[] = {0, 2, 4, 1};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(likely[i].token, wanted[i]);
        assert_float_equal(likely[i].log_prob, scores[wanted[i]] - 3, 1e-6);
    }
    assert_float_equal(lm_log_prob(scores, V, 0, NULL, 0), log(0.4), 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts),
        cmocka_unit_test(seeds),
        cmocka_unit_test(log_probs),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
