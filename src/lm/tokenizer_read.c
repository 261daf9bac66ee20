/* tokenizer.json. Every object is looked at for what it is called and for each of its fields that changes ids; what is not
 * understood is refused by its name. */
#include "base/files.h"
#include "base/jsons.h"
#include "base/memory.h"
#include "lm/tokenizer_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { LONGEST_FILE = 64 << 20, LARGEST_ID = 1 << 22 };

/* What GPT-2 cuts by, where a file says ByteLevel and no pattern of its own. */
const char lm_gpt2_pattern[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/* Bytes as byte-level vocabularies write them: those that are seen in print stand for themselves, the others (0 to ' ', DEL to 0xa0,
 * 0xad) for characters from U+0100 on, in their order. */
int lm_byte_of_letter(int32_t character)
{
    enum { LOW = ' ' + 1, HIGH = 0xa0 - 0x7f + 1 };
    int other = (int)character - 0x100;
    if ((character >= '!' && character <= '~') || (character >= 0xa1 && character <= 0xac) ||
        (character >= 0xae && character <= 0xff))
        return (int)character;
    if (other < 0 || other > LOW + HIGH)
        return -1;
    return other < LOW ? other : other < LOW + HIGH ? 0x7f + other - LOW : 0xad;
}

/* A reader of one file. */
struct file {
    const char *path;
    struct lm_tokenizer *tokenizer;
    int16_t byte_of[LM_LETTERS]; /* by character */
};

static struct akgen_error *refuse(const struct file *file, const char *what, const char *expected)
{
    return error_new("%s: %s is not understood; %s", file->path, what, expected);
}

/* The bytes of a token of the vocabulary. False: it is none of the byte-level kind, and stands for itself. */
static bool token_bytes(const struct file *file, const char *token, struct lm_span *bytes)
{
    size_t length = strlen(token);
    char *kept = arena_alloc(&file->tokenizer->arena, length + 1);
    *bytes = (struct lm_span){kept, 0};
    for (size_t at = 0; at < length;) {
        utf8proc_int32_t character;
        utf8proc_ssize_t width =
            utf8proc_iterate((const utf8proc_uint8_t *)token + at, (utf8proc_ssize_t)(length - at), &character);
        int byte = width > 0 && character < LM_LETTERS ? file->byte_of[character] : -1;
        if (byte < 0) {
            memcpy(kept, token, length + 1);
            bytes->length = length;
            return false;
        }
        kept[bytes->length++] = (char)byte;
        at += (size_t)width;
    }
    return true;
}

static const char *type_of(const json_t *object)
{
    const char *type = json_string_value(json_object_get(object, "type"));
    return type ? type : json_is_object(object) ? "an object without a type" : "what is no object";
}

static bool is_type(const json_t *object, const char *type)
{
    return strcmp(type_of(object), type) == 0;
}

/* The model. */
/* A field that has to be absent, null, false, 0 or "". */
static struct akgen_error *want_none(const struct file *file, const json_t *model, const char *field)
{
    const json_t *value = json_object_get(model, field);
    const char *text = json_string_value(value);
    if (!value || json_is_null(value) || json_is_false(value) || (text && !*text) ||
        (json_is_number(value) && json_number_value(value) == 0))
        return NULL;
    char what[80];
    snprintf(what, sizeof what, "model.%s", field);
    return refuse(file, what, "it has to be absent or null");
}

static struct akgen_error *read_id(const struct file *file, const char *token, const json_t *value, uint32_t *id)
{
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    *id = (uint32_t)number;
    return number >= 0 && number < LARGEST_ID
               ? NULL
               : error_new("%s: the id of token '%.60s' is no number from 0 to %d", file->path, token, LARGEST_ID - 1);
}

static struct akgen_error *read_vocabulary(const struct file *file, const json_t *vocabulary)
{
    struct lm_tokenizer *tokenizer = file->tokenizer;
    const char *token;
    json_t *value;
    uint32_t id, size = 0;
    if (!json_is_object(vocabulary) || !json_object_size(vocabulary))
        return refuse(file, "model.vocab", "it has to map tokens to ids");
    json_object_foreach((json_t *)vocabulary, token, value)
    {
        struct akgen_error *error = read_id(file, token, value, &id);
        if (error)
            return error;
        size = id >= size ? id + 1 : size;
    }
    tokenizer->vocabulary = lm_vocabulary_new(&tokenizer->arena, size);
    json_object_foreach((json_t *)vocabulary, token, value)
    {
        struct lm_span bytes;
        bool found = token_bytes(file, token, &bytes);
        id = (uint32_t)json_integer_value(value);
        lm_vocabulary_add(tokenizer->vocabulary, bytes, id, found);
        if (found && bytes.length == 1)
            tokenizer->of_byte[(unsigned char)*bytes.at] = id;
    }
    return NULL;
}

/* The two parts of a merge, "a b" or ["a", "b"], in `room`. False: it has none. */
static bool merge_parts(const json_t *merge, char **room, const char *parts[2])
{
    const char *text = json_string_value(merge), *space = text ? strchr(text, ' ') : NULL;
    *room = NULL;
    if (json_array_size(merge) == 2) {
        parts[0] = json_string_value(json_array_get(merge, 0));
        parts[1] = json_string_value(json_array_get(merge, 1));
        return parts[0] && parts[1];
    }
    if (!space || strchr(space + 1, ' '))
        return false;
    *room = memory_string(text);
    (*room)[space - text] = 0;
    parts[0] = *room;
    parts[1] = *room + (space - text) + 1;
    return true;
}

static struct akgen_error *read_merge(const struct file *file, const json_t *vocabulary, const json_t *item,
                                      size_t number)
{
    const char *parts[2] = {"", ""};
    char *room;
    struct lm_merge merge = {.rank = (uint32_t)number};
    struct akgen_error *error = NULL;
    if (!merge_parts(item, &room, parts))
        return error_new("%s: model.merges[%zu] is no pair of tokens", file->path, number);
    size_t length = strlen(parts[0]) + strlen(parts[1]) + 1;
    char *whole = memory_alloc(length);
    snprintf(whole, length, "%s%s", parts[0], parts[1]);
    const char *tokens[] = {parts[0], parts[1], whole};
    uint32_t *ids[] = {&merge.left, &merge.right, &merge.merged};
    for (int i = 0; i < 3 && !error; i++) {
        const json_t *id = json_object_get(vocabulary, tokens[i]);
        *ids[i] = (uint32_t)json_integer_value(id);
        if (!id)
            error =
                error_new("%s: model.merges[%zu]: the vocabulary has no token '%.60s'", file->path, number, tokens[i]);
    }
    if (!error)
        lm_merges_add(file->tokenizer->merges, merge);
    free(whole);
    free(room);
    return error;
}

static struct akgen_error *read_model(const struct file *file, const json_t *model)
{
    static const char *const unused[] = {
        "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback", NULL};
    const json_t *vocabulary = json_object_get(model, "vocab"), *merges = json_object_get(model, "merges");
    struct akgen_error *error = NULL;
    /* Old files say no type: their model is the one that has merges. */
    if (!json_is_object(model) || (json_object_get(model, "type") && !is_type(model, "BPE")))
        return error_new("%s: the model %s is not understood; byte-level BPE is", file->path, type_of(model));
    for (int i = 0; unused[i] && !error; i++)
        error = want_none(file, model, unused[i]);
    if (!error)
        error = read_vocabulary(file, vocabulary);
    if (!error && !json_is_array(merges))
        error = refuse(file, "model.merges", "it has to be a list of pairs");
    if (error)
        return error;
    file->tokenizer->ignore_merges = json_is_true(json_object_get(model, "ignore_merges"));
    file->tokenizer->merges = lm_merges_new(&file->tokenizer->arena, json_array_size(merges));
    for (size_t i = 0; i < json_array_size(merges) && !error; i++)
        error = read_merge(file, vocabulary, json_array_get(merges, i), i);
    return error;
}

/* The normalizer. */
static struct akgen_error *read_normalizer(const struct file *file, const json_t *normalizer)
{
    static const char *const forms[] = {[LM_NFC] = "NFC", [LM_NFD] = "NFD", [LM_NFKC] = "NFKC", [LM_NFKD] = "NFKD"};
    if (!normalizer || json_is_null(normalizer))
        return NULL;
    if (is_type(normalizer, "Sequence")) {
        const json_t *steps = json_object_get(normalizer, "normalizers");
        if (json_array_size(steps) > 1)
            return refuse(file, "a normalizer of several steps", "one of NFC, NFD, NFKC, NFKD is");
        return read_normalizer(file, json_array_get(steps, 0));
    }
    for (int form = LM_NFC; form <= LM_NFKD; form++)
        if (is_type(normalizer, forms[form])) {
            file->tokenizer->form = (enum lm_form)form;
            return NULL;
        }
    return error_new("%s: the normalizer %s is not understood; NFC, NFD, NFKC, NFKD are", file->path,
                     type_of(normalizer));
}

/* The pre-tokenizer. */
static struct akgen_error *add_split(const struct file *file, const char *pattern, bool prefix_space)
{
    struct lm_tokenizer *tokenizer = file->tokenizer;
    int code = 0;
    PCRE2_SIZE at = 0;
    if (tokenizer->split_count == LM_SPLITS)
        return refuse(file, "a pre-tokenizer of that many steps", "there may be 8");
    struct lm_split split = {.prefix_space = prefix_space};
    if (pattern) {
        const char *translated = lm_pattern_for_pcre2(&tokenizer->arena, pattern);
        split.pattern = pcre2_compile((PCRE2_SPTR)translated, PCRE2_ZERO_TERMINATED,
                                      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &code, &at, NULL);
        if (!split.pattern) {
            PCRE2_UCHAR reason[120];
            pcre2_get_error_message(code, reason, sizeof reason);
            return error_new("%s: the pre-tokenizer's pattern '%.200s': %s, at '%.40s'", file->path, pattern,
                             (const char *)reason, translated + at);
        }
        pcre2_jit_compile(split.pattern, PCRE2_JIT_COMPLETE); /* where there is none it is only slower */
    }
    tokenizer->splits[tokenizer->split_count++] = split;
    return NULL;
}

/* The pattern without what a regular expression means. */
static const char *literal(struct arena *arena, const char *text)
{
    char *pattern = arena_alloc(arena, 2 * strlen(text) + 1), *to = pattern;
    for (; *text; text++) {
        if (strchr("\\^$.[]|()?*+{}-/#", *text))
            *to++ = '\\';
        *to++ = *text;
    }
    return pattern;
}

static struct akgen_error *read_split(const struct file *file, const json_t *split)
{
    const json_t *pattern = json_object_get(split, "pattern");
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    const char *text = json_string_value(json_object_get(pattern, "String"));
    const char *behavior = json_string_value(json_object_get(split, "behavior"));
    if (!regex && !text)
        return refuse(file, "pre_tokenizer Split without a pattern", "Regex and String are");
    if (!behavior || strcmp(behavior, "Isolated") != 0)
        return error_new("%s: the behavior %s of the pre-tokenizer Split is not understood; Isolated is", file->path,
                         behavior ? behavior : "(none)");
    /* What is inverted cuts at the same places: matches and what lies between are pieces either way. */
    return add_split(file, regex ? regex : literal(&file->tokenizer->arena, text), false);
}

static struct akgen_error *read_byte_level(const struct file *file, const json_t *step)
{
    bool pattern = !json_is_false(json_object_get(step, "use_regex"));
    bool space = json_is_true(json_object_get(step, "add_prefix_space"));
    return pattern || space ? add_split(file, pattern ? lm_gpt2_pattern : NULL, space) : NULL;
}

/* One step, or a sequence. `bytes`: the last step was ByteLevel, behind which nothing may come. */
static struct akgen_error *read_pre_tokenizer(const struct file *file, const json_t *step, int depth, bool *bytes)
{
    struct akgen_error *error = NULL;
    if (*bytes)
        return refuse(file, "a pre-tokenizer behind ByteLevel", "ByteLevel has to be the last");
    if (is_type(step, "Sequence") && depth < LM_SPLITS) {
        const json_t *steps = json_object_get(step, "pretokenizers");
        for (size_t i = 0; i < json_array_size(steps) && !error; i++)
            error = read_pre_tokenizer(file, json_array_get(steps, i), depth + 1, bytes);
        return error;
    }
    if (is_type(step, "Split"))
        return read_split(file, step);
    if (is_type(step, "Digits"))
        return add_split(file, json_is_true(json_object_get(step, "individual_digits")) ? "\\p{N}" : "\\p{N}+", false);
    if (is_type(step, "ByteLevel")) {
        *bytes = true;
        return read_byte_level(file, step);
    }
    return error_new("%s: the pre-tokenizer %s is not understood; Split, Digits, ByteLevel and a Sequence of them are",
                     file->path, type_of(step));
}

/* Added tokens. */
static bool flag(const json_t *token, const char *name)
{
    return json_is_true(json_object_get(token, name));
}

static struct akgen_error *read_added(const struct file *file, const json_t *tokens)
{
    struct lm_tokenizer *tokenizer = file->tokenizer;
    size_t count = json_array_size(tokens);
    uint32_t id, size = 0;
    tokenizer->plain.items = arena_alloc(&tokenizer->arena, (count + 1) * sizeof *tokenizer->plain.items);
    tokenizer->normalised.items = arena_alloc(&tokenizer->arena, (count + 1) * sizeof *tokenizer->normalised.items);
    for (size_t i = 0; i < count; i++) {
        const json_t *token = json_array_get(tokens, i);
        const char *content = json_string_value(json_object_get(token, "content"));
        if (!content)
            return error_new("%s: added_tokens[%zu] has no content", file->path, i);
        struct akgen_error *error = read_id(file, content, json_object_get(token, "id"), &id);
        if (error)
            return error;
        size = id >= size ? id + 1 : size;
    }
    tokenizer->added_texts = lm_vocabulary_new(&tokenizer->arena, size);
    tokenizer->special = arena_alloc(&tokenizer->arena, ((size_t)size + 1) * sizeof *tokenizer->special);
    for (size_t i = 0; i < count; i++) {
        const json_t *token = json_array_get(tokens, i);
        const char *content = arena_strdup(&tokenizer->arena, json_string_value(json_object_get(token, "content")));
        struct lm_span text = {content, strlen(content)};
        struct lm_added_list *list = flag(token, "normalized") ? &tokenizer->normalised : &tokenizer->plain;
        id = (uint32_t)json_integer_value(json_object_get(token, "id"));
        if (!text.length)
            continue;
        lm_vocabulary_add(tokenizer->added_texts, text, id, true);
        tokenizer->special[id] = flag(token, "special");
        if (list == &tokenizer->normalised)
            text = lm_normalise(&tokenizer->arena, tokenizer->form, text);
        list->items[list->count++] =
            (struct lm_added){text, id, flag(token, "single_word"), flag(token, "lstrip"), flag(token, "rstrip")};
    }
    lm_added_sort(&tokenizer->plain);
    lm_added_sort(&tokenizer->normalised);
    return NULL;
}

static struct akgen_error *read_all(struct file *file, const json_t *root)
{
    const json_t *step = json_object_get(root, "pre_tokenizer");
    bool bytes = false;
    struct akgen_error *error = NULL;
    for (int character = 0; character < LM_LETTERS; character++)
        file->byte_of[character] = (int16_t)lm_byte_of_letter(character);
    for (int byte = 0; byte < 256; byte++)
        file->tokenizer->of_byte[byte] = UINT32_MAX;
    if (!json_is_object(root) || !json_object_get(root, "model"))
        return error_new("%s: this is no tokenizer.json: it has no 'model'", file->path);
    error = read_model(file, json_object_get(root, "model"));
    if (!error)
        error = read_normalizer(file, json_object_get(root, "normalizer"));
    if (!error)
        error = read_pre_tokenizer(file, step, 0, &bytes);
    if (!error && !bytes)
        error = refuse(file, "a pre-tokenizer without ByteLevel", "the last step has to be ByteLevel");
    return error ? error : read_added(file, json_object_get(root, "added_tokens"));
}

struct akgen_error *lm_tokenizer_parse(const char *path, const char *json, size_t length,
                                       struct lm_tokenizer **tokenizer)
{
    json_error_t wrong;
    json_t *root = jsons_read(json, length, 0, &wrong);
    *tokenizer = NULL;
    if (!root)
        return error_of_the_file(error_new("%s:%d: no JSON: %s", path, wrong.line, wrong.text));
    struct lm_tokenizer *read = memory_alloc(sizeof *read);
    struct file file = {.path = path, .tokenizer = read};
    struct akgen_error *error = read_all(&file, root);
    json_decref(root);
    if (error)
        lm_tokenizer_free(read);
    else
        *tokenizer = read;
    return error ? error_of_the_file(error) : NULL;
}

struct akgen_error *lm_tokenizer_read(const char *path, struct lm_tokenizer **tokenizer)
{
    struct arena arena = {0};
    char *json;
    size_t length;
    *tokenizer = NULL;
    struct akgen_error *error = files_read(&arena, path, LONGEST_FILE, &json, &length);
    if (!error)
        error = lm_tokenizer_parse(path, json, length, tokenizer);
    arena_free(&arena);
    return error;
}

void lm_tokenizer_free(struct lm_tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    for (int i = 0; i < tokenizer->split_count; i++)
        pcre2_code_free(tokenizer->splits[i].pattern);
    arena_free(&tokenizer->arena);
    free(tokenizer);
}

/* Patterns are written for Oniguruma, whose \s are the characters with the property White_Space; PCRE2's \s takes U+180E
 * too. */
const char *lm_pattern_for_pcre2(struct arena *arena, const char *pattern)
{
    char *translated = arena_alloc(arena, strlen(pattern) * 24 + 1), *to = translated;
    bool class = false;
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\' && at[1] == 's') {
            to = stpcpy(to, class ? "\\t-\\r\\x{85}\\p{Z}" : "[\\t-\\r\\x{85}\\p{Z}]");
            at++;
        } else if (*at == '\\' && at[1] == 'S' && !class) {
            to = stpcpy(to, "[^\\t-\\r\\x{85}\\p{Z}]");
            at++;
        } else if (*at == '\\' && at[1]) {
            *to++ = *at++;
            *to++ = *at;
        } else {
            class = *at == '[' || (class && *at != ']');
            *to++ = *at;
        }
    }
    return translated;
}
