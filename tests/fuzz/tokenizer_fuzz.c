/* tokenizer.json of any bytes: reading ends with a tokenizer, which encodes a text, or with an error that names the file. */
#include "fuzz.h"

#include "lm/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#define MODEL                                                                                                          \
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"\u0120\":3,\"\u0120ab\":5},\"merges\":[\"a "    \
    "b\",[\"\u0120\",\"ab\"]]}"

void fuzz_seeds(void)
{
    fuzz_seed_text(
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true},\"normalizer\":{\"type\":\"NFC\"}," MODEL
        ",\"added_tokens\":[{\"id\":7,\"content\":\"<ab>\",\"lstrip\":true},{\"id\":8,\"content\":\"b\",\"normalized\":"
        "true,"
        "\"single_word\":true}]}");
    fuzz_seed_text("{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{"
                   "\"Regex\":\"\\\\s+|[^a]\"},"
                   "\"behavior\":\"Isolated\"},{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":"
                   "\"ByteLevel\",\"use_regex\":"
                   "false}]},\"normalizer\":null," MODEL ",\"ignore_merges\":true}");
    fuzz_seed_text("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\".\"},\"behavior\":\"Isolated\"},"
                   "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKD\"}]}," MODEL "}");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char text[] = " ab<ab>  b aba\xcc\x81\n\xff"
                               "b 12";
    struct arena arena = {0};
    struct lm_tokenizer *tokenizer;
    uint32_t *ids = NULL;
    int64_t count, counted;
    struct akgen_error *error = lm_tokenizer_parse("t.json", (const char *)bytes, length, &tokenizer);
    if (error) {
        if (tokenizer || strncmp(error->message, "t.json", 6) != 0)
            abort();
        error_free(error);
        return 0;
    }
    error = lm_tokenizer_encode(tokenizer, &arena, text, sizeof text, &ids, &count);
    if (!error) {
        error = lm_tokenizer_count(tokenizer, text, sizeof text, &counted);
        if (error || counted != count)
            abort();
        for (int64_t i = 0; i < count; i++)
            if (ids[i] >= lm_tokenizer_size(tokenizer))
                abort();
        lm_tokenizer_decode(tokenizer, &arena, ids, count, NULL);
    }
    error_free(error);
    lm_tokenizer_free(tokenizer);
    arena_free(&arena);
    return 0;
}
