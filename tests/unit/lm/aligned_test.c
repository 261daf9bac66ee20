/* Texts of a grammar are drawn with the model's own probabilities among them, where taking tokens out at each place draws others; what leads nowhere
 * is left. */
/* test: builds=both */
#include "lm/aligned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { V = 4, LENGTH = 4, TEXTS = 256 /* V to the power of LENGTH */, DRAWS = 30000 };

/* Probabilities of the token behind a text: token 0 is likely at the begin, and makes 3 at the end unlikely. */
static void probabilities(const int32_t *text, int written, double *of)
{
    static const double first[V] = {0.85, 0.08, 0.05, 0.02}, later[V] = {0.4, 0.3, 0.2, 0.1},
                        behind[V] = {0.59, 0.2, 0.2, 0.01};
    memcpy(of, written == 0 ? first : text[0] == 0 ? behind : later, sizeof first);
    if (written && text[written - 1] == 1) { /* and 1 repeats itself */
        of[0] /= 2;
        of[1] += of[0];
    }
}

/* The grammar: texts end with 3, have no two tokens 2 beside each other, and no 3 before. */
static bool is_allowed(const int32_t *text, int written, int32_t token)
{
    if (written == LENGTH - 1)
        return token == 3;
    return token != 3 && !(token == 2 && written && text[written - 1] == 2);
}

static int number_of(const int32_t *text)
{
    int number = 0;
    for (int i = 0; i < LENGTH; i++)
        number = number * V + text[i];
    return number;
}

/* What each text should have: in proportion to the model's probability at a temperature, 0 for those that are none. */
static void exact(double temperature, double *wanted)
{
    double all = 0;
    for (int number = 0; number < TEXTS; number++) {
        int32_t text[LENGTH];
        for (int i = 0, left = number; i < LENGTH; i++, left /= V)
            text[LENGTH - 1 - i] = left % V;
        wanted[number] = 1;
        for (int i = 0; i < LENGTH; i++) {
            double of[V], sum = 0;
            probabilities(text, i, of);
            for (int token = 0; token < V; token++)
                sum += pow(of[token], 1 / temperature);
            wanted[number] *= is_allowed(text, i, text[i]) ? pow(of[text[i]], 1 / temperature) / sum : 0;
        }
        all += wanted[number];
    }
    for (int number = 0; number < TEXTS; number++)
        wanted[number] /= all;
}

/* One text; returns the draws that were not accepted. */
static int draw(struct lm_sampler *sampler, const struct lm_sampling *sampling, int tries, int32_t *text)
{
    struct lm_aligned *aligned = lm_aligned_new(V, sampling, tries);
    int rejected = 0;
    for (int written = 0; written < LENGTH;) {
        double of[V];
        float scores[V], allowed[V];
        probabilities(text, written, of);
        for (int32_t token = 0; token < V; token++) {
            scores[token] = (float)log(of[token]) + 5;
            allowed[token] = is_allowed(text, written, token) ? scores[token] : -INFINITY;
        }
        if (!lm_aligned_weigh(aligned, scores, allowed)) {
            rejected++;
            written = 0;
            continue;
        }
        text[written] = lm_sampler_draw(sampler, allowed, sampling, lm_aligned_place(aligned, written));
        lm_aligned_take(aligned, text[written++]);
    }
    lm_aligned_free(aligned);
    return rejected;
}

/* How far the frequencies of texts are from what they should be, half the sum of differences. */
static double distance(double temperature, int tries, int *most)
{
    static double wanted[TEXTS], found[TEXTS];
    struct lm_sampler *sampler = lm_sampler_new(V);
    struct lm_sampling sampling = lm_sampling_defaults;
    double sum = 0;
    sampling.temperature = temperature;
    memset(found, 0, sizeof found);
    for (int i = 0; i < DRAWS; i++) {
        int32_t text[LENGTH];
        sampling.seed = (uint64_t)i;
        int rejected = draw(sampler, &sampling, tries, text);
        *most = rejected > *most ? rejected : *most;
        found[number_of(text)] += 1.0 / DRAWS;
    }
    lm_sampler_free(sampler);
    exact(temperature, wanted);
    for (int number = 0; number < TEXTS; number++)
        sum += fabs(found[number] - wanted[number]);
    return sum / 2;
}

static void as_the_model_would(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double temperature = i ? 0.7 : 1;
        int most = 0;
        double once = distance(temperature, 1, &most);
        assert_int_equal(most, 0);
        double some = distance(temperature, 16, &most);
        assert_int_equal(most, 15);
        double aligned = distance(temperature, LM_MOST_TRIES, &most);
        print_message("temperature %g: %.3f away at one draw, %.3f at 16, %.4f at %d, of which %d were drawn\n",
                      temperature, once, some, aligned, LM_MOST_TRIES, most + 1);
        assert_true(once > 0.4 && some < once / 2 && aligned < 0.01);
        assert_true(most > 4 && most < 100); /* what is known of beginnings makes it end */
    }
}

/* Behind token 0, which nearly all texts begin with, nothing ends: the second draw has it no more. A text of which all beginnings are
 * like that is drawn so often as it may be. */
static void what_leads_nowhere(void **state)
{
    const float scores[2] = {8, 0};
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct lm_sampling sampling = lm_sampling_defaults;
        struct lm_sampler *sampler = lm_sampler_new(2);
        struct lm_aligned *aligned = lm_aligned_new(2, &sampling, 5);
        int drawn[2] = {0};
        bool rejected = true;
        for (int tries = 0; rejected; tries++) {
            float allowed[2] = {8, 0};
            assert_true(tries < 5 && lm_aligned_weigh(aligned, scores, allowed));
            int32_t token = lm_sampler_draw(sampler, allowed, &sampling, lm_aligned_place(aligned, 0));
            lm_aligned_take(aligned, token);
            drawn[token]++;
            rejected = (token == 0 || both) && lm_aligned_reject(aligned);
        }
        assert_int_equal(drawn[0], both ? 4 : 1);
        assert_int_equal(drawn[1], 1);
        lm_aligned_free(aligned);
        lm_sampler_free(sampler);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_model_would), cmocka_unit_test(what_leads_nowhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
