/* A vocabulary of any text: training ends, and what is written is read again and gives the text back (bytes that are no UTF-8 as '?'). The first two
 * bytes choose its size. */
/* test: cost=20 */
#include "fuzz.h"

#include "base/text.h"
#include "lm/bpe_train.h"
#include "lm/tokenizer_internal.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    fuzz_seed_text("\x40\x01low lower lowest, low lower lowest; aaaaaaaaaaaaaaaa");
    fuzz_seed_text(
        "\x10\x02<|im_start|>user\nI'll say caf\xc3\xa9 \xe4\xbd\xa0\xe5\xa5\xbd 123<|im_end|>\n  \t\r\n\n x");
    fuzz_seed_text("\x06\x01\xff\xfe\x80 abababab<tool>abab<tool>");
}

static void check(const struct lm_bpe *bpe, const struct lm_bpe_counts *counts, const char *text, size_t length)
{
    struct lm_tokenizer *tokenizer;
    char *json = lm_bpe_json(bpe);
    struct arena arena = {0};
    uint32_t *ids;
    int64_t count;
    size_t back;
    struct akgen_error *error = lm_tokenizer_parse("made", json, strlen(json), &tokenizer);
    if (!error)
        error = lm_tokenizer_encode(tokenizer, &arena, text, length, &ids, &count);
    if (error || lm_tokenizer_size(tokenizer) != counts->vocabulary || count < counts->tokens)
        abort();
    char *clean = arena_strndup(&arena, text, length);
    for (size_t i = 0; i < length; i++)
        text_make_utf8(clean + i), i += strlen(clean + i);
    struct lm_span normal = lm_normalise(&arena, LM_NFC, (struct lm_span){clean, length});
    const char *decoded = lm_tokenizer_decode(tokenizer, &arena, ids, count, &back);
    /* Beside a special token a text may be in normal form where the whole is not. */
    if (count == counts->tokens && (back != normal.length || memcmp(decoded, normal.at, back) != 0))
        abort();
    lm_tokenizer_free(tokenizer);
    free(json);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const specials[] = {"<tool>", "ab"};
    if (length < 2)
        return 0;
    const struct lm_bpe_options options = {.vocabulary = 263 + (bytes[0] | (bytes[1] & 7) << 8),
                                           .specials = specials,
                                           .special_count = 2,
                                           .least = 1 + (bytes[1] >> 6)};
    const char *text = (const char *)bytes + 2;
    struct lm_bpe *bpe;
    struct akgen_error *error = lm_bpe_new(&options, &bpe);
    if (error)
        abort();
    error = lm_bpe_add(bpe, text, length - 2);
    if (!error) {
        lm_bpe_train(bpe);
        const struct lm_bpe_counts counts = lm_bpe_counts(bpe);
        if (counts.vocabulary > (uint32_t)options.vocabulary)
            abort();
        if (bytes[0] % 4 == 0) /* most of the time goes into reading */
            check(bpe, &counts, text, length - 2);
    }
    error_free(error);
    lm_bpe_free(bpe);
    return 0;
}
