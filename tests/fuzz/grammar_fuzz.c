/* Grammars of any text: an error with a place, or an automaton that accepts the texts that are made from its nodes, and that forgets without
 * harm. */
#include "fuzz.h"

#include "lm/recogniser.h"
#include "task/expr/formula.h"
#include "unit/lm/derive.h"

#include <string.h>

void fuzz_seeds(void)
{
    static const char *const texts[] = {
        "root ::= sum\nsum ::= term (\"+\" term)*  # a list\nterm ::= [0-9]+ | \"(\" sum \")\"\n",
        "root ::= \"a\" root \"b\" | \"\"\n",
        "root ::= x-1{2,3} [^a-z\\]\\n]? .\n  | \"\\x41\\u00e9\\U0001F680\"{2}\nx-1 ::= (\"a\" | \"bc\"){0,4}\n",
        "root ::= a\na ::= b? c\nb ::= \"y\"?\nc ::= \"z\" a | \"\"\n",
        ("root ::= rest\nrest ::= @!a \"a=\" value @+a more | @!b \"b=\" value @+b more\nmore ::= @a @b | (@!a | @!b) "
         "\";\" rest\n"
         "value ::= ([0-9] | @a \"a\" | @b \"b\") (\"+\" value)?\n"),
        "root ::= [\\u4e00-\\u9fff\xc3\xa9-\xc3\xbc]+ (\"x\"?)*\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed_text(texts[i]);
    struct arena arena = {0};
    fuzz_seed_text(formula_grammar(&arena));
    arena_free(&arena);
}

/* Whether each byte goes on with a text of the grammar; LM_MOST_PLACES may keep the recogniser from knowing. */
static void recognise(struct lm_recogniser *recogniser, const struct text *text)
{
    uint32_t at = lm_recogniser_begin(recogniser);
    size_t i = 0;
    for (; i < text->length && at != LM_DEAD; i++) {
        at = lm_recogniser_step(recogniser, at, (uint8_t)text->bytes[i]);
        if (i % 7 == 6) {
            uint32_t *state = &at;
            lm_recogniser_forget(recogniser, &state, 1);
        }
    }
    if (at != LM_DEAD && !lm_recogniser_may_end(recogniser, at))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { MOST_NODES = 20000, TEXTS = 4, BYTES = 60 };
    struct lm_grammar *grammar;
    struct akgen_error *error = lm_grammar_parse("g", (const char *)bytes, length, &grammar);
    if (!error != (grammar != NULL) || (error && strncmp(error->message, "g:", 2) != 0))
        abort();
    if (grammar && grammar->node_count <= MOST_NODES) { /* texts of larger ones take long to make */
        struct deriver deriver;
        struct lm_recogniser *recogniser = lm_recogniser_new(grammar);
        derive_begin(&deriver, grammar, length);
        for (int i = 0; i < TEXTS && deriver.least[grammar->root] < BYTES; i++) {
            if (derive(&deriver, BYTES))
                recognise(recogniser, &deriver.text);
        }
        derive_end(&deriver);
        lm_recogniser_free(recogniser);
    }
    lm_grammar_free(grammar);
    error_free(error);
    return 0;
}
