/* Losses of texts against the plain pass, alone and beside others, whole and cut. */
/* test: builds=both */
#include "lm/likelihood.h"
#include "lm/model.h"
#include "lm/plain.h"
#include "lm/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODEL AKGEN_SOURCE_DIR "/models/graph-14m"
enum { LONGEST = 24 };

static const char *const texts[] = {"Sqrt\nin x float32 [8,2048]\nout y float32 [8,2048]\ny = sqrt(x)", "", "y",
                                    "qz8#kjw vxx!! ppq", "Sqrt in x float32"};
enum { TEXTS = sizeof texts / sizeof *texts };

/* By the plain pass; NaN where the text has fewer than two tokens. */
static double plain_loss(const struct lm_model *model, const struct lm_tokenizer *tokenizer, const char *text)
{
    struct arena arena = {0};
    uint32_t *ids;
    int64_t count;
    assert_null(lm_tokenizer_encode(tokenizer, &arena, text, strlen(text), &ids, &count));
    const int n = (int)(count < LONGEST ? count : LONGEST), starts[] = {0, n};
    float log_probs[LONGEST];
    int32_t labels[LONGEST];
    double sum = 0;
    for (int i = 0; i < n; i++)
        labels[i] = i + 1 < n ? (int32_t)ids[i + 1] : LM_NO_LABEL;
    const struct lm_batch batch = {.tokens = (int32_t *)ids, .labels = labels, .starts = (int *)starts, .texts = 1};
    if (n > 1)
        lm_plain_pass(model, &batch, NULL, log_probs, NULL, NULL);
    for (int i = 0; i + 1 < n; i++)
        sum -= (double)log_probs[i];
    arena_free(&arena);
    return n > 1 ? sum / (n - 1) : NAN;
}

static void losses_are_those_of_the_plain_pass(void **state)
{
    (void)state;
    struct lm_model model;
    struct lm_tokenizer *tokenizer;
    struct lm_likelihood *likelihood;
    double together[TEXTS], alone;
    assert_null(lm_model_read(&model, MODEL));
    assert_null(lm_tokenizer_read(MODEL "/tokenizer.json", &tokenizer));
    assert_null(lm_likelihood_new(MODEL, LONGEST, 1, &likelihood));
    lm_likelihood_of(likelihood, texts, TEXTS, together);
    for (int i = 0; i < TEXTS; i++) {
        double expected = plain_loss(&model, tokenizer, texts[i]);
        lm_likelihood_of(likelihood, &texts[i], 1, &alone);
        assert_int_equal(isnan(together[i]), isnan(expected));
        assert_int_equal(isnan(alone), isnan(expected));
        if (isnan(expected))
            continue;
        assert_true(fabs(together[i] - expected) < 1e-4 * expected);
        assert_true(fabs(alone - expected) < 1e-4 * expected);
    }
    assert_true(isnan(together[1]) && isnan(together[2]) && together[0] < together[3]);
    lm_likelihood_free(likelihood);
    lm_tokenizer_free(tokenizer);
    lm_model_free(&model);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    struct lm_likelihood *likelihood;
    struct akgen_error *error = lm_likelihood_new("/nowhere", LONGEST, 1, &likelihood);
    assert_non_null(strstr(error->message, "/nowhere/config.json"));
    assert_null(likelihood);
    error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(losses_are_those_of_the_plain_pass),
                                       cmocka_unit_test(what_is_missing_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
