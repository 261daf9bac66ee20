/* Tokenizers by small files whose ids were worked out by hand; tests/peers/tokenizer_test.py compares with the library. */
#include "lm/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ġ is a space, Ċ the end of a line, Ã© the two bytes of é. */
#define VOCABULARY                                                                                                     \
    "{\"l\":0,\"o\":1,\"w\":2,\"e\":3,\"r\":4,\"n\":5,\"\u0120\":6,\"\u010a\":7,\"\u00c3\":8,\"\u00a9\":9,"            \
    "\"lo\":10,\"low\":11,\"er\":12,\"\u0120low\":13,\"ne\":14,\"wer\":15,\"\u00c3\u00a9\":16,\"1\":17,\"we\":18}"
/* `er` has an earlier rank than `we`, so newer is n e w er, then ne, then wer; never n e we r. */
#define MERGES                    "[\"l o\",\"lo w\",\"e r\",\"\u0120 low\",\"n e\",\"w er\",\"w e\",\"\u00c3 \u00a9\"]"
#define BYTE_LEVEL                "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true}"
#define MODEL(vocabulary, merges) "{\"type\":\"BPE\",\"vocab\":" vocabulary ",\"merges\":" merges "}"
#define FILE_OF(normalizer, pre, model, added)                                                                         \
    "{\"version\":\"1.0\",\"added_tokens\":[" added "],\"normalizer\":" normalizer ",\"pre_tokenizer\":" pre           \
    ",\"model\":" model "}"
#define PLAIN FILE_OF("null", BYTE_LEVEL, MODEL(VOCABULARY, MERGES), "")

static struct lm_tokenizer *parsed(const char *json)
{
    struct lm_tokenizer *tokenizer;
    struct akgen_error *error = lm_tokenizer_parse("t.json", json, strlen(json), &tokenizer);
    if (error)
        fail_msg("%s", error->message);
    return tokenizer;
}

/* The ids of a text, as a list; the text that they decode to goes to `decoded`, which may be NULL. */
static const char *ids_of(const char *json, const char *text, const char *decoded)
{
    static char list[400];
    struct lm_tokenizer *tokenizer = parsed(json);
    struct arena arena = {0};
    uint32_t *ids = NULL;
    int64_t count, counted;
    char *to = list;
    *list = 0;
    assert_null(lm_tokenizer_encode(tokenizer, &arena, text, strlen(text), &ids, &count));
    assert_null(lm_tokenizer_count(tokenizer, text, strlen(text), &counted));
    assert_int_equal(count, counted);
    for (int64_t i = 0; i < count; i++)
        to += sprintf(to, "%s%u", i ? " " : "", ids[i]);
    if (decoded)
        assert_string_equal(lm_tokenizer_decode(tokenizer, &arena, ids, count, NULL), decoded);
    arena_free(&arena);
    lm_tokenizer_free(tokenizer);
    return list;
}

static void test_merges_go_by_rank(void **state)
{
    (void)state;
    assert_string_equal(ids_of(PLAIN, "low", "low"), "11");
    assert_string_equal(ids_of(PLAIN, "lower low", "lower low"), "11 12 13");
    assert_string_equal(ids_of(PLAIN, "newer", "newer"), "14 15");
    assert_string_equal(ids_of(PLAIN, "lolo", "lolo"), "10 10");
    /* Of equal ranks the leftmost: e r r, not two pairs; then nothing fits. */
    assert_string_equal(ids_of(PLAIN, "err", "err"), "12 4");
    assert_string_equal(ids_of(PLAIN, "", ""), "");
}

static void test_pieces_are_not_joined(void **state)
{
    (void)state;
    /* Two spaces: the last goes with the word. A digit and a letter are two pieces. */
    assert_string_equal(ids_of(PLAIN, "  low1low", "  low1low"), "6 13 17 11");
    assert_string_equal(ids_of(PLAIN, "\n\nlow", "\n\nlow"), "7 7 11");
}

static void test_what_has_no_token_vanishes(void **state)
{
    (void)state;
    assert_string_equal(ids_of(PLAIN, "loZw", "low"), "11");
}

static void test_normal_form(void **state)
{
    (void)state;
    static const char json[] = FILE_OF("{\"type\":\"NFC\"}", BYTE_LEVEL, MODEL(VOCABULARY, MERGES), "");
    assert_string_equal(ids_of(json, "\xc3\xa9", "\xc3\xa9"), "16");
    assert_string_equal(ids_of(json, "e\xcc\x81", "\xc3\xa9"), "16"); /* e and an accent are one character */
    assert_string_equal(ids_of(PLAIN, "e\xcc\x81", "e"), "3");
    assert_string_equal(ids_of(json, "lo\xffw", NULL), "10 2"); /* no UTF-8: '?', for which there is no token */
}

static void test_split_and_ignored_merges(void **state)
{
    (void)state;
    static const char split[] = FILE_OF("null",
                                        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{"
                                        "\"Regex\":\"(?i:o)|[^o]+\"},\"behavior\":\"Isolated\",\"invert\":false},{"
                                        "\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}",
                                        MODEL(VOCABULARY, MERGES), "");
    /* `we` is a token, but in wer its merge never comes; as a whole piece it does. */
    static const char whole[] = FILE_OF("null", BYTE_LEVEL,
                                        "{\"type\":\"BPE\",\"ignore_merges\":true,\"vocab\":" VOCABULARY
                                        ",\"merges\":[[\"l\",\"o\"],[\"e\",\"r\"]]}",
                                        "");
    assert_string_equal(ids_of(split, "low lower", "low lower"), "0 1 2 6 0 1 15");
    assert_string_equal(ids_of(whole, "wer we wer", "wer we wer"), "15 6 2 3 6 2 12");
    assert_string_equal(ids_of(whole, "lower", "lower"), "10 2 12");
}

static void test_added_tokens(void **state)
{
    (void)state;
    static const char json[] = FILE_OF("null", BYTE_LEVEL, MODEL(VOCABULARY, MERGES),
                                       "{\"id\":30,\"content\":\"<|low\",\"normalized\":false,\"special\":true},"
                                       "{\"id\":31,\"content\":\"<|low|>\",\"normalized\":false,\"special\":true},"
                                       "{\"id\":32,\"content\":\"new\",\"normalized\":true,\"single_word\":true},"
                                       "{\"id\":33,\"content\":\"=\",\"lstrip\":true,\"rstrip\":true}");
    struct lm_tokenizer *tokenizer = parsed(json);
    uint32_t id;
    assert_string_equal(ids_of(json, "low<|low|>low<|lower", "low<|low|>low<|lower"), "11 31 11 30 12");
    assert_string_equal(ids_of(json, "new newer new", NULL), "32 6 14 15 6 32");
    assert_string_equal(ids_of(json, "low  = \n low", NULL), "11 33 11");
    assert_int_equal(lm_tokenizer_size(tokenizer), 34);
    assert_true(lm_tokenizer_find(tokenizer, "<|low|>", 7, &id));
    assert_int_equal(id, 31);
    assert_true(lm_tokenizer_find(tokenizer, " low", 4, &id));
    assert_int_equal(id, 13);
    id = 12345;
    assert_false(lm_tokenizer_find(tokenizer, "lower", 5, &id));
    assert_int_equal(id, 12345);
    lm_tokenizer_free(tokenizer);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"[", "t.json:1: no JSON"},
        {"{}", "it has no 'model'"},
        {FILE_OF("null", BYTE_LEVEL, "{\"type\":\"WordPiece\"}", ""), "the model WordPiece is not understood"},
        {FILE_OF("null", BYTE_LEVEL, "{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0},\"merges\":[]}", ""),
         "model.byte_fallback"},
        {FILE_OF("null", BYTE_LEVEL, "{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"vocab\":{\"a\":0},\"merges\":[]}",
                 ""),
         "model.unk_token"},
        {FILE_OF("null", BYTE_LEVEL, MODEL("{\"a\":-1}", "[]"), ""), "the id of token 'a'"},
        {FILE_OF("null", BYTE_LEVEL, MODEL("{\"a\":4000000000}", "[]"), ""), "the id of token 'a'"},
        {FILE_OF("null", BYTE_LEVEL, MODEL("{\"a\":0}", "[\"a b\"]"), ""), "the vocabulary has no token 'b'"},
        {FILE_OF("null", BYTE_LEVEL, MODEL("{\"a\":0}", "[\"a\"]"), ""), "model.merges[0] is no pair"},
        {FILE_OF("{\"type\":\"Lowercase\"}", BYTE_LEVEL, MODEL("{\"a\":0}", "[]"), ""), "the normalizer Lowercase"},
        {FILE_OF("null", "{\"type\":\"Metaspace\"}", MODEL("{\"a\":0}", "[]"), ""), "the pre-tokenizer Metaspace"},
        {FILE_OF("null", "null", MODEL("{\"a\":0}", "[]"), ""), "is not understood"},
        {FILE_OF("null", "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},\"behavior\":\"Isolated\"}",
                 MODEL("{\"a\":0}", "[]"), ""),
         "pattern '('"},
        {FILE_OF("null", "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\"},\"behavior\":\"Removed\"}",
                 MODEL("{\"a\":0}", "[]"), ""),
         "the behavior Removed"},
        {FILE_OF("null", BYTE_LEVEL, MODEL("{\"a\":0}", "[]"), "{\"id\":1}"), "added_tokens[0] has no content"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lm_tokenizer *tokenizer;
        struct akgen_error *error = lm_tokenizer_parse("t.json", cases[i].json, strlen(cases[i].json), &tokenizer);
        assert_non_null(error);
        assert_null(tokenizer);
        if (strncmp(error->message, "t.json", 6) != 0 || !strstr(error->message, cases[i].message))
            fail_msg("'%s' instead of '%s'", error->message, cases[i].message);
        error_free(error);
    }
}

/* Many merges in one long piece: what is quadratic would take minutes. */
static void test_a_long_piece(void **state)
{
    (void)state;
    enum { REPEATS = 1 << 18 };
    struct lm_tokenizer *tokenizer = parsed(PLAIN);
    char *text = malloc(4 * REPEATS + 1);
    int64_t count;
    for (int i = 0; i < REPEATS; i++)
        memcpy(text + 4 * (size_t)i, "lowe", 4);
    assert_null(lm_tokenizer_count(tokenizer, text, (size_t)4 * REPEATS, &count));
    assert_int_equal(count, 2 * REPEATS);
    free(text);
    lm_tokenizer_free(tokenizer);
}

static void test_a_pattern_that_gives_up(void **state)
{
    (void)state;
    static const char json[] = FILE_OF("null",
                                       "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{"
                                       "\"Regex\":\"(o+o+)+[wx]\"},\"behavior\":\"Isolated\"}," BYTE_LEVEL "]}",
                                       MODEL(VOCABULARY, MERGES), "");
    struct lm_tokenizer *tokenizer = parsed(json);
    char text[64];
    int64_t count;
    memset(text, 'o', sizeof text);
    struct akgen_error *error = lm_tokenizer_count(tokenizer, text, sizeof text, &count);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "gives up"));
    error_free(error);
    lm_tokenizer_free(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges_go_by_rank),
        cmocka_unit_test(test_pieces_are_not_joined),
        cmocka_unit_test(test_what_has_no_token_vanishes),
        cmocka_unit_test(test_normal_form),
        cmocka_unit_test(test_split_and_ignored_merges),
        cmocka_unit_test(test_added_tokens),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_a_long_piece),
        cmocka_unit_test(test_a_pattern_that_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
