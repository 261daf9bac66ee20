/* Texts that go on: what a pass makes of a text in pieces, or token by token beside others, is what it makes of the whole; and a step of one token
 * gives the same bits whatever goes on beside it. */
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

enum { TEXTS = 3, LONGEST = 90, CELLS = 100, VOCABULARY = 67 };

static struct lm_config config_of(int experts)
{
    struct lm_config config = {.vocabulary = VOCABULARY,
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
                               .experts = experts,
                               .experts_per_token = 2,
                               .expert_intermediate = 12,
                               .normalise_experts = true};
    return config;
}

static const int lengths[TEXTS] = {LONGEST, 33, 7};

struct model {
    struct lm_model model;
    struct lm_backend *cpu;
    struct lm_pass *pass;
    struct lm_cache *cache;
    int32_t tokens[TEXTS][LONGEST];
};

static void make(struct model *at, int experts)
{
    struct lm_config config = config_of(experts);
    const struct lm_pass_options options = {.tokens = TEXTS * LONGEST};
    struct rng rng;
    rng_seed(&rng, 9);
    lm_model_new(&at->model, &config, &rng);
    at->cpu = lm_cpu_new(2);
    assert_null(lm_pass_new(at->cpu, &at->model.layout, at->model.weights, &options, &at->pass));
    assert_null(lm_cache_new(at->pass, (int64_t)TEXTS * CELLS, &at->cache));
    for (int t = 0; t < TEXTS; t++)
        for (int i = 0; i < LONGEST; i++)
            at->tokens[t][i] = (int32_t)rng_integer(&rng, 0, VOCABULARY);
}

static void release(struct model *at)
{
    lm_cache_free(at->cache);
    lm_pass_free(at->pass);
    lm_cpu_free(at->cpu);
    lm_model_free(&at->model);
}

/* Some of some texts' tokens, [from, from + count) of each, and the scores (V) behind each one's last. */
static void go_on(struct model *at, int texts, const int *which, const int *from, const int *count, float *scores)
{
    int32_t tokens[TEXTS * LONGEST], rows[TEXTS];
    int starts[TEXTS + 1] = {0};
    int64_t cells[TEXTS];
    for (int t = 0; t < texts; t++) {
        memcpy(tokens + starts[t], at->tokens[which[t]] + from[t], (size_t)count[t] * sizeof *tokens);
        starts[t + 1] = starts[t] + count[t];
        rows[t] = starts[t + 1] - 1;
        cells[t] = (int64_t)(TEXTS - 1 - which[t]) * CELLS;
    }
    const struct lm_batch batch = {.tokens = tokens, .starts = starts, .texts = texts};
    lm_pass_continue(at->pass, &batch, at->cache, cells, from);
    lm_pass_scores(at->pass, rows, texts, scores);
}

static void near(const float *found, const float *wanted)
{
    float scale = 0, worst = 0;
    for (int i = 0; i < VOCABULARY; i++) {
        scale = fmaxf(scale, fabsf(wanted[i]));
        worst = fmaxf(worst, fabsf(found[i] - wanted[i]));
    }
    assert_true(worst <= 2e-5F * scale);
}

static void pieces(int experts)
{
    struct model at;
    float wanted[TEXTS][VOCABULARY], found[TEXTS * VOCABULARY];
    int from[TEXTS] = {0};
    static const int each[TEXTS] = {0, 1, 2}, some[TEXTS] = {50, 30, 1};
    make(&at, experts);
    for (int t = 0; t < TEXTS; t++) {
        const int starts[] = {0, lengths[t]};
        const struct lm_batch whole = {.tokens = at.tokens[t], .starts = starts, .texts = 1};
        const int32_t last = lengths[t] - 1;
        lm_pass_forward(at.pass, &whole);
        lm_pass_scores(at.pass, &last, 1, wanted[t]);
    }
    go_on(&at, TEXTS, each, from, some, found);
    memcpy(from, some, sizeof from);
    /* Token by token, those that are not at their end. */
    for (int left = TEXTS; left;) {
        int which[TEXTS], starts[TEXTS], count[TEXTS];
        left = 0;
        for (int t = 0; t < TEXTS; t++)
            if (from[t] < lengths[t]) {
                which[left] = t;
                starts[left] = from[t]++;
                count[left++] = 1;
            }
        if (!left)
            break;
        go_on(&at, left, which, starts, count, found);
        for (int t = 0; t < left; t++)
            if (from[which[t]] == lengths[which[t]])
                near(found + (ptrdiff_t)t * VOCABULARY, wanted[which[t]]);
    }
    release(&at);
}

static void pieces_are_as_the_whole(void **state)
{
    (void)state;
    pieces(0);
    pieces(5);
}

static void bits_do_not_depend_on_others(void **state)
{
    (void)state;
    struct model at;
    float alone[VOCABULARY], beside[TEXTS * VOCABULARY];
    static const int zero[TEXTS] = {0}, one[TEXTS] = {1, 1, 1}, first[] = {1}, others[TEXTS] = {2, 1, 0},
                     past[TEXTS] = {6, 20, 60};
    for (int experts = 0; experts <= 5; experts += 5) {
        make(&at, experts);
        for (int t = 0; t < TEXTS; t++)
            go_on(&at, 1, &others[t], zero, &past[t], beside);
        go_on(&at, 1, first, &past[1], one, alone);
        go_on(&at, TEXTS, others, past, one, beside);
        assert_memory_equal(beside + VOCABULARY, alone, sizeof alone);
        release(&at);
    }
}

static void what_no_memory_has_room_for_is_an_error(void **state)
{
    (void)state;
    struct model at;
    struct lm_cache *cache;
    make(&at, 0);
    struct akgen_error *error = lm_cache_new(at.pass, (int64_t)1 << 44, &cache);
    assert_non_null(error);
    assert_null(cache);
    assert_non_null(strstr(error->message, "GB that the keys and values of 17592186044416 tokens need"));
    error_free(error);
    release(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_as_the_whole),
        cmocka_unit_test(bits_do_not_depend_on_others),
        cmocka_unit_test(what_no_memory_has_room_for_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
