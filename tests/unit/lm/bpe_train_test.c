/* Vocabularies of texts whose pairs were counted by hand; tests/peers/tokenizer_train_test.py compares with the library. */
#include "lm/bpe_train.h"
#include "lm/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPECIALS = 1, LEAST = 256 + LM_BPE_OWN_SPECIALS + SPECIALS };
static const char *const specials[SPECIALS] = {"<tool>"};

static struct lm_bpe *new_bpe(int vocabulary, int64_t least)
{
    const struct lm_bpe_options options = {
        .vocabulary = vocabulary, .specials = specials, .special_count = SPECIALS, .least = least};
    struct lm_bpe *bpe;
    struct akgen_error *error = lm_bpe_new(&options, &bpe);
    if (error)
        fail_msg("%s", error->message);
    return bpe;
}

static struct lm_tokenizer *trained(struct lm_bpe *bpe)
{
    struct lm_tokenizer *tokenizer;
    lm_bpe_train(bpe);
    char *json = lm_bpe_json(bpe);
    struct akgen_error *error = lm_tokenizer_parse("made", json, strlen(json), &tokenizer);
    if (error)
        fail_msg("%s", error->message);
    free(json);
    return tokenizer;
}

/* The texts of the tokens from id 256 on, a '|' behind each. */
static const char *learned(const struct lm_tokenizer *tokenizer)
{
    static char list[400];
    struct arena arena = {0};
    char *to = list;
    *list = 0;
    for (uint32_t id = 256; id < lm_tokenizer_size(tokenizer); id++)
        to += sprintf(to, "%s|", lm_tokenizer_decode(tokenizer, &arena, &id, 1, NULL));
    arena_free(&arena);
    return list;
}

#define OWN "<|endoftext|>|<|im_start|>|<|im_end|>|<think>|</think>|<tool>|"

static void test_the_most_frequent_pair_first(void **state)
{
    (void)state;
    /* " lo" 1, low 3: (l,o) 3, (o,w) 3, of which o is the lower id behind 'l'; then (lo,w) 3; then (Ġ,low) 2 is more than (e,r) 1. */
    struct lm_bpe *bpe = new_bpe(LEAST + 4, 1);
    assert_null(lm_bpe_add(bpe, "low low", 7));
    assert_null(lm_bpe_add(bpe, " lower", 6));
    struct lm_tokenizer *tokenizer = trained(bpe);
    assert_string_equal(learned(tokenizer), "lo|low| low|er|" OWN);
    const struct lm_bpe_counts counts = lm_bpe_counts(bpe);
    assert_int_equal(counts.bytes, 13);
    assert_int_equal(counts.pieces, 3);
    assert_int_equal(counts.different, 3);
    assert_int_equal(counts.tokens, 1 + 1 + 2);
    assert_int_equal(counts.merges, 4);
    assert_int_equal(counts.vocabulary, LEAST + 4);
    lm_tokenizer_free(tokenizer);
    lm_bpe_free(bpe);
}

static void test_equal_counts_go_by_ids(void **state)
{
    (void)state;
    /* xy, ab, ba, yx once each: the lowest left id first, so (a,b) before (b,a) before (x,y) before (y,x); Ġ's id is above all letters'. */
    struct lm_bpe *bpe = new_bpe(LEAST + 4, 1);
    assert_null(lm_bpe_add(bpe, "xy\nab\nba\nyx", 11));
    struct lm_tokenizer *tokenizer = trained(bpe);
    assert_string_equal(learned(tokenizer), "ab|ba|xy|yx|" OWN);
    lm_tokenizer_free(tokenizer);
    lm_bpe_free(bpe);
}

static void test_runs_of_one_letter(void **state)
{
    (void)state;
    /* aaaaa has four (a,a); merged from the left: aa aa a, with (aa,aa) and (aa,a) once each, of which (aa,a) has the lower right id. */
    struct lm_bpe *bpe = new_bpe(LEAST + 10, 1);
    assert_null(lm_bpe_add(bpe, "aaaaa", 5));
    struct lm_tokenizer *tokenizer = trained(bpe);
    assert_string_equal(learned(tokenizer), "aa|aaa|aaaaa|" OWN);
    assert_int_equal(lm_bpe_counts(bpe).vocabulary, LEAST + 3); /* there is no pair left */
    lm_tokenizer_free(tokenizer);
    lm_bpe_free(bpe);
}

static void test_rare_pairs_stay_apart(void **state)
{
    (void)state;
    struct lm_bpe *bpe = new_bpe(LEAST + 10, 2);
    assert_null(lm_bpe_add(bpe, "on on an", 8));
    struct lm_tokenizer *tokenizer = trained(bpe);
    assert_string_equal(learned(tokenizer), "on|" OWN); /* (Ġ,on) and (a,n) occur once */
    lm_tokenizer_free(tokenizer);
    lm_bpe_free(bpe);
}

static void test_special_tokens_are_not_counted(void **state)
{
    (void)state;
    static const char text[] = "<|im_start|>me<tool><tool><tool>me<|im_end|>";
    struct arena arena = {0};
    uint32_t *ids;
    int64_t count;
    struct lm_bpe *bpe = new_bpe(LEAST + 10, 1);
    assert_null(lm_bpe_add(bpe, text, strlen(text)));
    struct lm_tokenizer *tokenizer = trained(bpe);
    assert_string_equal(learned(tokenizer), "me|" OWN);
    assert_null(lm_tokenizer_encode(tokenizer, &arena, text, strlen(text), &ids, &count));
    static const uint32_t expected[] = {258, 256, 262, 262, 262, 256, 259};
    assert_int_equal(count, 7);
    assert_memory_equal(ids, expected, sizeof expected);
    arena_free(&arena);
    lm_tokenizer_free(tokenizer);
    lm_bpe_free(bpe);
}

/* What is learned and asked for: one token of the two, as the library has it. */
static void test_a_special_token_that_is_learned_too(void **state)
{
    (void)state;
    static const char *const on[] = {"on", "off"};
    const struct lm_bpe_options options = {.vocabulary = LEAST + 3, .specials = on, .special_count = 2, .least = 1};
    struct lm_bpe *bpe;
    uint32_t id;
    assert_null(lm_bpe_new(&options, &bpe));
    assert_null(
        lm_bpe_add(bpe, "o", 1)); /* "on" itself is never counted, but as bytes "o" "n" of NFC forms it may be */
    assert_null(lm_bpe_add(bpe, "o\xef\xbd\x8e o\xef\xbd\x8e", 9));
    struct lm_tokenizer *tokenizer = trained(bpe);
    assert_true(lm_tokenizer_find(tokenizer, "on", 2, &id));
    assert_int_equal(lm_tokenizer_size(tokenizer), lm_bpe_counts(bpe).vocabulary);
    lm_tokenizer_free(tokenizer);
    lm_bpe_free(bpe);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        int vocabulary;
        const char *special, *message;
    } cases[] = {
        {261, "<x>", "a vocabulary of 261: with 6 special tokens it has to have from 262 to 1048576"},
        {LM_BPE_LARGEST + 1, "<x>", "a vocabulary of 1048577"},
        {300, "", "a special token has to have a text"},
        {300, "<think>", "the special token '<think>' is there already"},
        {300, "\xff", "is no UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lm_bpe_options options = {
            .vocabulary = cases[i].vocabulary, .specials = &cases[i].special, .special_count = 1, .least = 1};
        struct lm_bpe *bpe;
        struct akgen_error *error = lm_bpe_new(&options, &bpe);
        assert_non_null(error);
        assert_null(bpe);
        assert_non_null(strstr(error->message, cases[i].message));
        error_free(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_most_frequent_pair_first),
        cmocka_unit_test(test_equal_counts_go_by_ids),
        cmocka_unit_test(test_runs_of_one_letter),
        cmocka_unit_test(test_rare_pairs_stay_apart),
        cmocka_unit_test(test_special_tokens_are_not_counted),
        cmocka_unit_test(test_a_special_token_that_is_learned_too),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
