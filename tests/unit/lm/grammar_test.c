/* Grammars: what is read and what is refused, texts that they accept, and which tokens they allow. */
#include "lm/grammar.h"

#include "lm/guide.h"
#include "lm/recogniser.h"
#include "unit/lm/derive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct lm_grammar *parsed(const char *text)
{
    struct lm_grammar *grammar;
    struct akgen_error *error = lm_grammar_parse("g", text, strlen(text), &grammar);
    if (error)
        fail_msg("%s", error->message);
    return grammar;
}

static bool accepts(const struct lm_grammar *grammar, const char *text)
{
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    uint32_t at = lm_recogniser_begin(recogniser);
    for (; *text; text++)
        at = lm_recogniser_step(recogniser, at, (uint8_t)*text);
    bool end = lm_recogniser_may_end(recogniser, at);
    lm_recogniser_free(recogniser);
    return end;
}

static void reads_what_gbnf_has(void **state)
{
    static const struct {
        const char *grammar, *yes[8], *no[8];
    } rows[] = {
        {"root ::= \"ab\"", {"ab"}, {"", "a", "abc", "b"}},
        {"root ::= \"a\" | \"b\"\n\t| \"c\" # one\n", {"a", "b", "c"}, {"", "d", "ab"}},
        {"root ::= \"a\"? \"b\"* \"c\"+", {"c", "abbcc", "bc"}, {"", "ab", "aac"}},
        {"root ::= (\"a\" | \"bc\"){2} \"d\"{1,3} \"e\"{0} \"f\"{2,}",
         {"abcdff", "aadddfff"},
         {"adff", "aaddddff", "aadef", "aadf"}},
        {"root ::= [a-c0\\]\\\\-] [^a-c\"]",
         {"ad", "]x", "\\-", "-\xc3\xa9", "0\xf0\x9f\x9a\x80"},
         {"da", "ab", "a\"", "a\xc3"}},
        {"root ::= . .",
         {"ab", "\xe7\x9f\xa9\xe9\x98\xb5", "\n\xf4\x8f\xbf\xbf"},
         {"a", "\xe7\x9f\xa9", "a\xed\xa0\x80", "a\xc0\x80", "a\xf4\x90\x80\x80"}},
        {"root ::= \"\\x41\\n\\\"\\u00e9\\U0001F680\"", {"A\n\"\xc3\xa9\xf0\x9f\x9a\x80"}, {"A"}},
        {"root ::= [\\u4e00-\\u9fff]+ [é-ü]",
         {"\xe7\x9f\xa9\xc3\xaa"},
         {"\xe7\x9f\xa9", "\xc3\xaa", "\xe7\x9f\xa9\xc3\xbd"}},
        {"root ::= sum\nsum ::= term (\"+\" term)*\nterm ::= [0-9]+ | \"(\" sum \")\"",
         {"1", "(1+2)+3", "((((4))))"},
         {"(1", "1+", "1)", "()"}},
        {"root ::= \"a\" root \"b\" | \"\"", {"", "ab", "aaabbb"}, {"a", "aab", "ba", "abab"}},
        {"root ::= x-1\nx-1 ::= \"a\" x-1 | empty\nempty ::= ", {"", "aaaa"}, {"b"}},
        {"root ::= (\"a\"?)* (\"\" | \"b\"*)+ \"c\"", {"c", "aabbc", "bc"}, {"", "ba"}},
        {"root ::= (\n  \"a\" # first\n  \"b\"\n)\n\n# last", {"ab"}, {"a", ""}},
        {"root ::= \"x\"{3}{2}", {"xxxxxx"}, {"xxx", "xxxxx", "xxxxxxx"}},
        {"root ::= (\"a\" @+a | @a \"b\" | @!a \"c\"){0,6} @a",
         {"a", "ca", "ccabba"},
         {"", "c", "b", "cb", "ac", "aca"}},
        {"root ::= (one | two)* @one @two\none ::= @!one \"1\" @+one\ntwo ::= @!two \"2\" @+two",
         {"12", "21"},
         {"", "1", "2", "11", "121", "1212"}},
        {"root ::= \"(\" in \")\" @x-1 \"x\" | \"y\" @+y @y\nin ::= root | @+x-1 \"\"",
         {"()x", "(()x)x", "y"},
         {"()", "(y)x", "()xx"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lm_grammar *grammar = parsed(rows[i].grammar);
        for (int k = 0; k < 8; k++) {
            if (rows[i].yes[k] && !accepts(grammar, rows[i].yes[k]))
                fail_msg("%s does not accept '%s'", rows[i].grammar, rows[i].yes[k]);
            if (rows[i].no[k] && accepts(grammar, rows[i].no[k]))
                fail_msg("%s accepts '%s'", rows[i].grammar, rows[i].no[k]);
        }
        lm_grammar_free(grammar);
    }
}

static void refuses_with_a_place(void **state)
{
    static const char *const rows[][2] = {
        {"", "g: there is no rule 'root', which texts begin with"},
        {"a ::= \"x\"", "g: there is no rule 'root', which texts begin with"},
        {"root ::= \"a\nb\"", "g:1:12: expected the end of what is quoted, found the end of the line"},
        {"root ::= [a", "g:1:12: expected the end of what is quoted, found the end"},
        {"root ::= \"a\"\nroot ::= \"b\"", "g:2:1: there is a rule 'root' already"},
        {"root ::= a (b\n | a)\na ::= \"x\"", "g:1:13: there is no rule 'b'"},
        {"root := \"a\"", "g:1:6: expected '::=', found ':'"},
        {"root ::= @ \"a\"",
         "g:1:11: expected the name of a mark behind '@', with '+' or '!' before it perhaps, found ' '"},
        {"root ::= @+a @!b @a (@+", "g:1:24: expected the name of a mark"},
        {"root ::= @!", "g:1:12: expected the name of a mark"},
        {"root ::= @+a root | \"b\"", "g:1:1: rule 'root' calls itself"},
        {"root ::= \"a\" )",
         "g:1:14: expected a text, a class, a name, '(', '@', '|' or the end of the line, found ')'"},
        {"root ::= (\"a\"\n", "g:2:1: expected ')', found the end"},
        {"root ::= \"\\q\"", "g:1:12: expected one of n r t \\ \" [ ] x u U behind '\\', found 'q'"},
        {"root ::= \"\\u12g4\"", "g:1:15: an escape has 4 hexadecimal digits"},
        {"root ::= \"\\ud800\"", "g:1:17: d800 is no code point"},
        {"root ::= [z-a]", "g:1:14: the range ends before it begins"},
        {"root ::= [^\\x00-\\U0010ffff]", "g:1:28: no character is in this class"},
        {"root ::= \"a\"{3,2}", "g:1:17: at least 3 and at most 2 times"},
        {"root ::= \"a\"{x}", "g:1:14: expected how many times, found 'x'"},
        {"root ::= \"a\"{99999999999}", "g:1:19: more than 65536 times"},
        {"root ::= ((\"a\"{1000}){1000}){1000}", "the grammar becomes larger than 1048576 nodes"},
        {"root ::= root \"a\" | \"b\"",
         "g:1:1: rule 'root' calls itself, through others perhaps, before it has a character (left recursion)"},
        {"root ::= \"x\" a\na ::= \"\" b? c\nb ::= \"y\"?\nc ::= b a | \"z\"", "calls itself, through others perhaps"},
        {"root ::= \"x\" | a\na ::= \"(\" a \")\"",
         "g:2:1: rule 'a' has no end: each of its alternatives calls it again"},
        {"root ::= \"a\" \"\xc3\x28\"", "g:1:15: the text is no UTF-8: byte 0xc3"},
        {"\xe7\x9f\xa9 ::= \"a\"", "g:1:1: expected the name of a rule, found '\xe7\x9f\xa9'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lm_grammar *grammar;
        struct akgen_error *error = lm_grammar_parse("g", rows[i][0], strlen(rows[i][0]), &grammar);
        if (!error)
            fail_msg("read: %s", rows[i][0]);
        if (!strstr(error->message, rows[i][1]))
            fail_msg("%s\n%s\n%s", rows[i][0], error->message, rows[i][1]);
        assert_true(error->of_the_file && !grammar);
        error_free(error);
    }
    char *deep = memory_alloc(1000);
    memset(deep, '(', 999);
    memcpy(deep, "root ::= ", 9);
    struct lm_grammar *grammar;
    struct akgen_error *error = lm_grammar_parse("g", deep, 999, &grammar);
    assert_non_null(strstr(error->message, "parentheses in more than 200 others"));
    error_free(error);
    free(deep);
}

/* Each range of code points up to 0x800, and ranges around the places where bytes change: exactly their characters are accepted. */
static void classes_are_utf8(void **state)
{
    static const uint32_t ends[] = {0,       0x41,    0x7f,    0x80,     0xbf,    0xc0,   0x7ff,
                                    0x800,   0xfff,   0x1000,  0xd7ff,   0xe000,  0xffff, 0x10000,
                                    0x3ffff, 0x40000, 0xfffff, 0x10fff0, 0x10ffff};
    enum { COUNT = sizeof ends / sizeof *ends };
    (void)state;
    for (int low = 0; low < COUNT; low++)
        for (int high = low; high < COUNT; high++) {
            char text[80];
            snprintf(text, sizeof text, "root ::= [\\U%08x-\\U%08x]", ends[low], ends[high]);
            struct lm_grammar *grammar = parsed(text);
            for (int i = 0; i < COUNT * 3; i++) {
                uint32_t c = ends[i / 3] + (uint32_t)(i % 3) - 1;
                if (c > 0x10ffff || c == 0 || (c >= 0xd800 && c < 0xe000))
                    continue;
                char bytes[5] = {0};
                if (c < 0x80)
                    bytes[0] = (char)c;
                else if (c < 0x800)
                    bytes[0] = (char)(0xc0 | c >> 6), bytes[1] = (char)(0x80 | (c & 63));
                else if (c < 0x10000)
                    bytes[0] = (char)(0xe0 | c >> 12), bytes[1] = (char)(0x80 | (c >> 6 & 63)),
                    bytes[2] = (char)(0x80 | (c & 63));
                else
                    bytes[0] = (char)(0xf0 | c >> 18), bytes[1] = (char)(0x80 | (c >> 12 & 63)),
                    bytes[2] = (char)(0x80 | (c >> 6 & 63)), bytes[3] = (char)(0x80 | (c & 63));
                if (accepts(grammar, bytes) != (c >= ends[low] && c <= ends[high]))
                    fail_msg("%s and U+%04X", text, c);
            }
            lm_grammar_free(grammar);
        }
}

static const char arithmetic[] = "root ::= sum \";\"?\nsum ::= term ([+] term)*\nterm ::= [12]+ | \"(\" sum \")\" | "
                                 "\"ab\" [^\\x00ab1-2;()+ ] | \" \" term\n";

/* Forgetting changes nothing of what follows. */
static void forgets(void **state)
{
    struct lm_grammar *grammar = parsed(arithmetic);
    struct lm_recogniser *keeps = lm_recogniser_new(grammar), *forgets = lm_recogniser_new(grammar);
    struct deriver deriver;
    size_t most = 0;
    (void)state;
    derive_begin(&deriver, grammar, 3);
    for (int i = 0; i < 300; i++) {
        const char *text = derive(&deriver, 200);
        uint32_t a = lm_recogniser_begin(keeps), b = lm_recogniser_begin(forgets), before = b;
        for (; *text; text++) {
            a = lm_recogniser_step(keeps, a, (uint8_t)*text);
            before = b;
            b = lm_recogniser_step(forgets, b, (uint8_t)*text);
            assert_int_not_equal(a, LM_DEAD);
            if (rng_integer(&deriver.rng, 0, 5) == 0) {
                uint32_t *both[] = {&b, &before};
                lm_recogniser_forget(forgets, both, 2);
                assert_true(lm_recogniser_states(forgets) <= 3);
                assert_int_equal(b, lm_recogniser_step(forgets, before, (uint8_t)*text));
            }
            for (int byte = 0; byte < 256; byte++)
                assert_int_equal(lm_recogniser_step(keeps, a, (uint8_t)byte) == LM_DEAD,
                                 lm_recogniser_step(forgets, b, (uint8_t)byte) == LM_DEAD);
            assert_int_equal(lm_recogniser_may_end(keeps, a), lm_recogniser_may_end(forgets, b));
            most = lm_recogniser_size(forgets) > most ? lm_recogniser_size(forgets) : most;
        }
        assert_true(lm_recogniser_may_end(keeps, a));
    }
    assert_true(lm_recogniser_size(keeps) > 2 * most);
    derive_end(&deriver);
    lm_recogniser_free(keeps);
    lm_recogniser_free(forgets);
    lm_grammar_free(grammar);
}

/* Names that have to be assigned before they are read, each once: what is read on is what a set of names lets be read, whatever is forgotten. */
static const char marked[] =
    "root ::= rest\nrest ::= @!a \"a=\" sum @+a more | @!b \"b=\" sum @+b more | @!t \"t=\" sum @+t \";\" rest\n"
    "more ::= @a @b | (@!a | @!b) \";\" rest\nsum ::= value (\"+\" value)*\n"
    "value ::= \"x\" | \"(\" sum \")\" | @a \"a\" | @b \"b\" | @t \"t\"\n";

/* Whether a text is of `marked`: by a reader of its own. */
static bool is_marked_text(const char *text)
{
    bool set[128] = {['x'] = true};
    for (;;) {
        char name = *text;
        if (!name || !strchr("abt", name) || set[(unsigned char)name] || text[1] != '=')
            return false;
        int depth = 0;
        bool value = false; /* one has just ended */
        for (text += 2; *text && *text != ';'; text++) {
            bool opens = *text == '(', closes = *text == ')', plus = *text == '+';
            if ((opens || (!closes && !plus)) == value)
                return false;
            if (!opens && !closes && !plus && ((unsigned char)*text >= 128 || !set[(unsigned char)*text]))
                return false;
            depth += opens - closes;
            if (depth < 0)
                return false;
            value = !opens && !plus;
        }
        if (depth || !value)
            return false;
        set[(unsigned char)name] = true;
        if (name != 't' && set['a'] && set['b'])
            return !*text;
        if (!*text++)
            return false;
    }
}

static void keeps_to_marks(void **state)
{
    static const char letters[] = "abtx=+();";
    struct lm_grammar *grammar = parsed(marked);
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    struct deriver deriver;
    int ended = 0;
    (void)state;
    derive_begin(&deriver, grammar, 7);
    for (int walk = 0; walk < 3000; walk++) {
        const char *made = derive(&deriver, (size_t)rng_integer(&deriver.rng, 0, 40));
        char text[512];
        assert_non_null(made);
        assert_true(snprintf(text, sizeof text, "%s", made) < (int)sizeof text);
        for (int change = 0; change < 2; change++) { /* as it is, then with another letter somewhere */
            uint32_t at = lm_recogniser_begin(recogniser);
            for (const char *c = text; *c; c++)
                at = lm_recogniser_step(recogniser, at, (uint8_t)*c);
            assert_int_equal(lm_recogniser_may_end(recogniser, at), is_marked_text(text));
            ended += lm_recogniser_may_end(recogniser, at);
            text[rng_integer(&deriver.rng, 0, (int64_t)strlen(text))] =
                letters[rng_integer(&deriver.rng, 0, sizeof letters - 1)];
        }
    }
    assert_in_range(ended, 3000, 5000);
    derive_end(&deriver);
    lm_recogniser_free(recogniser);
    lm_grammar_free(grammar);
}

/* As many marks as there may be, set in any order: sets of them are 2^64, and the recogniser keeps some. */
static void bounds_sets_of_marks(void **state)
{
    struct text text = {0};
    (void)state;
    text_add(&text, "root ::= (");
    for (int i = 0; i < LM_GRAMMAR_MOST_MARKS; i++)
        text_addf(&text, "%s\"\\x%02x\" @+m%d", i ? " | " : "", '0' + i, i);
    text_add(&text, ")*");
    struct lm_grammar *grammar = parsed(text.bytes), *other;
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    struct rng rng;
    bool full = false;
    rng_seed(&rng, 5);
    for (int walk = 0; walk < 2000; walk++) {
        uint32_t at = lm_recogniser_begin(recogniser), *state_of_text = &at;
        for (int i = 0; i < 64; i++) {
            at = lm_recogniser_step(recogniser, at, (uint8_t)('0' + rng_integer(&rng, 0, LM_GRAMMAR_MOST_MARKS)));
            assert_int_not_equal(at, LM_DEAD);
            if (lm_recogniser_size(recogniser) == SIZE_MAX) {
                full = true;
                lm_recogniser_forget(recogniser, &state_of_text, 1);
            }
        }
    }
    assert_true(full);
    text_add(&text, " @one-more");
    struct akgen_error *error = lm_grammar_parse("g", text.bytes, text.length, &other);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "more than 64 marks"));
    error_free(error);
    text_free(&text);
    lm_recogniser_free(recogniser);
    lm_grammar_free(grammar);
}

/* A grammar with so many readings of a text that their stacks double with each byte. */
static void bounds_ambiguity(void **state)
{
    struct lm_grammar *grammar = parsed("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"\"");
    struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
    uint32_t at = lm_recogniser_begin(recogniser);
    int bytes = 0;
    (void)state;
    for (; at != LM_DEAD && bytes < 100; bytes++)
        at = lm_recogniser_step(recogniser, at, 'a');
    assert_in_range(bytes, 8, 20);
    lm_recogniser_free(recogniser);
    lm_grammar_free(grammar);
}

/* Single bytes, tokens of several, two of the same bytes in part, one that ends texts, added ones: special and text. */
static const char vocabulary[] = "{\"added_tokens\":[{\"id\":19,\"content\":\"12\",\"special\":true,\"single_word\":"
                                 "false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false},"
                                 "{\"id\":22,\"content\":\"+(1\",\"special\":false,\"single_word\":"
                                 "false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false}],"
                                 "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":"
                                 "false,\"trim_offsets\":true,\"use_regex\":true},"
                                 "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"1\":2,\"2\":3,\"(\":4,\")\":"
                                 "5,\"+\":6,\";\":7,\"((\":8,\"))\":9,\")+(\":10,"
                                 "\"12\":11,\"1+\":12,\"ab\":13,\"abx\":14,\"\u00c3\":15,\"\u00a9\":16,"
                                 "\"\u00c3\u00a9\":17,\"\u0120\":18,\"\u0120\u0120(\":20,\"21\":21},\"merges\":[]}}";
enum { TOKENS = 24, END = 21 };

static void allows_tokens(void **state)
{
    struct lm_tokenizer *tokenizer;
    struct lm_grammar *grammars[] = {parsed(arithmetic),
                                     parsed("root ::= [ab]{3} | \"12\"+ | (@!one \"1+\" @+one | @one \"(\")*")};
    struct akgen_error *error = lm_tokenizer_parse("t", vocabulary, strlen(vocabulary), &tokenizer);
    struct rng rng;
    int32_t end = END;
    bool added = false; /* the token that was added and is text was allowed somewhere */
    (void)state;
    if (error)
        fail_msg("%s", error->message);
    rng_seed(&rng, 1);
    for (size_t most = 0; most <= LM_GUIDE_BYTES; most += LM_GUIDE_BYTES) { /* forgetting always, and never */
        struct lm_guides *guides = lm_guides_new(tokenizer, TOKENS, &end, 1, most);
        for (int walk = 0; walk < 300; walk++) {
            const struct lm_grammar *grammar = grammars[walk % 2];
            struct lm_guided text, other;
            struct text bytes = {0};
            text_add(&bytes, "");
            lm_guided_begin(guides, grammar, &text);
            lm_guided_begin(guides, grammar, &other);
            for (int length = 0; length < 30; length++) {
                struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
                uint32_t at = lm_recogniser_begin(recogniser);
                int32_t allowed[TOKENS];
                const uint64_t *mask;
                int count = 0;
                for (size_t i = 0; i < bytes.length; i++)
                    at = lm_recogniser_step(recogniser, at, (uint8_t)bytes.bytes[i]);
                bool any = lm_guided_allowed(&text, &mask);
                for (int32_t token = 0; token < TOKENS; token++) {
                    size_t size;
                    bool special;
                    const char *piece = lm_tokenizer_bytes(tokenizer, (uint32_t)token, &size, &special);
                    uint32_t to = at;
                    assert_int_equal(special, token == 19);
                    added |= token == 22 && size && (mask[0] >> token & 1);
                    for (size_t i = 0; i < size; i++)
                        to = lm_recogniser_step(recogniser, to, (uint8_t)piece[i]);
                    bool may = size && to != LM_DEAD && token != END && !special;
                    assert_int_equal(mask[0] >> token & 1, may);
                    if (may)
                        allowed[count++] = token;
                }
                assert_int_equal(any, count > 0);
                assert_int_equal(lm_guided_may_end(&text), lm_recogniser_may_end(recogniser, at));
                lm_recogniser_free(recogniser);
                if (!count)
                    break;
                int32_t chosen = allowed[rng_integer(&rng, 0, count)];
                size_t size;
                bool special;
                const char *piece = lm_tokenizer_bytes(tokenizer, (uint32_t)chosen, &size, &special);
                lm_guided_take(&text, chosen);
                text_append(&bytes, piece, size);
            }
            lm_guided_end(&text);
            lm_guided_end(&other);
            text_free(&bytes);
        }
        lm_guides_free(guides);
    }
    assert_true(added);
    lm_tokenizer_free(tokenizer);
    lm_grammar_free(grammars[0]);
    lm_grammar_free(grammars[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_gbnf_has), cmocka_unit_test(refuses_with_a_place),
        cmocka_unit_test(classes_are_utf8),    cmocka_unit_test(forgets),
        cmocka_unit_test(bounds_ambiguity),    cmocka_unit_test(allows_tokens),
        cmocka_unit_test(keeps_to_marks),      cmocka_unit_test(bounds_sets_of_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
