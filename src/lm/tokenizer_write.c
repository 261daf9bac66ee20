/* tokenizer.json of a new vocabulary, with Qwen3's normaliser, pre-tokenizer and decoder. */
#include "base/memory.h"
#include "base/text.h"
#include "lm/tokenizer_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* Qwen3's tokenizer.json: contractions, words with what stands before them, single digits, signs, ends of lines, spaces. */
static const char qwen_pattern[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
                                   "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/* The characters that bytes are written with, in UTF-8. */
struct letters {
    char of_byte[256][4];
};

static void make_letters(struct letters *letters)
{
    *letters = (struct letters){0};
    for (int character = 0; character < LM_LETTERS; character++) {
        int byte = lm_byte_of_letter(character);
        if (byte >= 0)
            utf8proc_encode_char(character, (utf8proc_uint8_t *)letters->of_byte[byte]);
    }
}

static void add_letters(struct text *text, const struct letters *letters, struct lm_span bytes)
{
    for (size_t i = 0; i < bytes.length; i++)
        text_add(text, letters->of_byte[(unsigned char)bytes.at[i]]);
}

/* The token that is written as the text is; `count`: there is none. */
static uint32_t token_written_as(const struct lm_written *written, const char *text)
{
    char *bytes = memory_string(text);
    size_t length = 0;
    bool letters = true;
    for (const char *at = text; *at && letters;) {
        utf8proc_int32_t character;
        at += utf8proc_iterate((const utf8proc_uint8_t *)at, -1, &character);
        int byte = character < LM_LETTERS ? lm_byte_of_letter(character) : -1;
        letters = byte >= 0;
        bytes[length++] = (char)byte;
    }
    uint32_t id = letters ? 0 : written->count;
    while (id < written->count &&
           (written->tokens[id].length != length || memcmp(written->tokens[id].at, bytes, length) != 0))
        id++;
    free(bytes);
    return id;
}

uint32_t lm_written_specials(const struct lm_written *written, uint32_t *ids)
{
    uint32_t next = written->count;
    for (int i = 0; i < written->special_count; i++) {
        uint32_t same = token_written_as(written, written->specials[i].text);
        ids[i] = same < written->count ? same : next++;
    }
    return next;
}

static json_t *byte_level(void)
{
    return json_pack("{s:s s:b s:b s:b}", "type", "ByteLevel", "add_prefix_space", 0, "trim_offsets", 0, "use_regex",
                     0);
}

static json_t *added_tokens(const struct lm_written *written)
{
    json_t *list = json_array();
    uint32_t *ids = memory_alloc((size_t)written->special_count * sizeof *ids);
    lm_written_specials(written, ids);
    for (int i = 0; i < written->special_count; i++)
        json_array_append_new(list, json_pack("{s:I s:s s:b s:b s:b s:b s:b}", "id", (json_int_t)ids[i], "content",
                                              written->specials[i].text, "single_word", 0, "lstrip", 0, "rstrip", 0,
                                              "normalized", 0, "special", written->specials[i].special));
    free(ids);
    return list;
}

static json_t *model(const struct lm_written *written)
{
    struct letters letters;
    struct text text = {0};
    json_t *vocabulary = json_object(), *merges = json_array();
    make_letters(&letters);
    for (uint32_t id = 0; id < written->count; id++) {
        text.length = 0;
        add_letters(&text, &letters, written->tokens[id]);
        json_object_set_new(vocabulary, text.bytes, json_integer(id));
    }
    for (size_t i = 0; i < written->merge_count; i++) {
        text.length = 0;
        add_letters(&text, &letters, written->tokens[written->merges[i][0]]);
        text_add(&text, " ");
        add_letters(&text, &letters, written->tokens[written->merges[i][1]]);
        json_array_append_new(merges, json_string(text.bytes));
    }
    text_free(&text);
    return json_pack("{s:s s:n s:n s:s s:s s:b s:b s:b s:o s:o}", "type", "BPE", "dropout", "unk_token",
                     "continuing_subword_prefix", "", "end_of_word_suffix", "", "fuse_unk", 0, "byte_fallback", 0,
                     "ignore_merges", 0, "vocab", vocabulary, "merges", merges);
}

char *lm_written_json(const struct lm_written *written)
{
    json_t *split = json_pack("{s:s s:{s:s} s:s s:b}", "type", "Split", "pattern", "Regex", qwen_pattern, "behavior",
                              "Isolated", "invert", 0),
           *root = json_pack("{s:s s:n s:n s:o s:{s:s} s:{s:s s:[o,o]} s:o s:o s:o}", "version", "1.0", "truncation",
                             "padding", "added_tokens", added_tokens(written), "normalizer", "type", "NFC",
                             "pre_tokenizer", "type", "Sequence", "pretokenizers", split, byte_level(),
                             "post_processor", byte_level(), "decoder", byte_level(), "model", model(written));
    char *json = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (!json)
        memory_exhausted(0);
    return json;
}
