/* From text to ids and back. */
#include "base/memory.h"
#include "base/text.h"
#include "lm/tokenizer_internal.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* A text on its way into ids. */
struct encoding {
    const struct lm_tokenizer *tokenizer;
    struct arena arena; /* of what lasts no longer than the encoding */
    struct lm_room room;
    pcre2_match_data *match;
    struct lm_ids *ids;
    lm_on_piece *on_piece; /* gets pieces in the place of merging them; NULL: they become ids */
    void *closure;
};

static bool is_ascii(struct lm_span text)
{
    unsigned char all = 0;
    for (size_t i = 0; i < text.length; i++)
        all |= (unsigned char)text.at[i];
    return all < 0x80;
}

struct lm_span lm_normalise(struct arena *arena, enum lm_form form, struct lm_span text)
{
    // NOLINTBEGIN: the library's flags are an enum, and so is their union.
    static const utf8proc_option_t options[] = {
        [LM_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
        [LM_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
        [LM_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
        [LM_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
    };
    // NOLINTEND
    utf8proc_uint8_t *mapped = NULL;
    if (form == LM_NO_FORM || is_ascii(text))
        return text;
    utf8proc_ssize_t length =
        utf8proc_map((const utf8proc_uint8_t *)text.at, (utf8proc_ssize_t)text.length, &mapped, options[form]);
    if (length == UTF8PROC_ERROR_NOMEM)
        memory_exhausted(text.length);
    struct lm_span normalised =
        length < 0 ? text : (struct lm_span){arena_copy(arena, mapped, (size_t)length), (size_t)length};
    free(mapped);
    return normalised;
}

static struct akgen_error *split(struct encoding *encoding, int step, struct lm_span piece);

/* A piece behind step number `step`: the next step's, or bytes to be merged. */
static struct akgen_error *take_piece(struct encoding *encoding, int step, struct lm_span piece)
{
    const struct lm_tokenizer *tokenizer = encoding->tokenizer;
    if (!piece.length)
        return NULL;
    if (step + 1 < tokenizer->split_count)
        return split(encoding, step + 1, piece);
    if (encoding->on_piece)
        encoding->on_piece(encoding->closure, piece);
    else
        lm_merge_piece(tokenizer, &encoding->room, piece, encoding->ids);
    return NULL;
}

static struct lm_span with_space(struct arena *arena, struct lm_span piece)
{
    char *text = arena_alloc(arena, piece.length + 2);
    *text = ' ';
    memcpy(text + 1, piece.at, piece.length);
    return (struct lm_span){text, piece.length + 1};
}

/* Cuts a piece by the pattern of a step. */
static struct akgen_error *split(struct encoding *encoding, int step, struct lm_span piece)
{
    const struct lm_split *how = &encoding->tokenizer->splits[step];
    struct akgen_error *error = NULL;
    if (how->prefix_space && *piece.at != ' ')
        piece = with_space(&encoding->arena, piece);
    if (!how->pattern)
        return take_piece(encoding, step, piece);
    /* Steps within this one have the match data between two matches, which is why the ends are taken out at once. */
    for (size_t done = 0, from = 0; done < piece.length && !error;) {
        int found = pcre2_match(how->pattern, (PCRE2_SPTR)piece.at, piece.length, from, PCRE2_NO_UTF_CHECK,
                                encoding->match, NULL);
        if (found == PCRE2_ERROR_NOMATCH)
            return take_piece(encoding, step, (struct lm_span){piece.at + done, piece.length - done});
        if (found < 0) {
            PCRE2_UCHAR reason[120];
            pcre2_get_error_message(found, reason, sizeof reason);
            return error_new("the tokenizer's pattern gives up on the text: %s", (const char *)reason);
        }
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(encoding->match);
        size_t begin = ends[0], end = ends[1];
        if (end == begin) { /* nothing matched: go on behind the next character */
            from = end;
            do
                from++;
            while (from < piece.length && ((unsigned char)piece.at[from] & 0xc0) == 0x80);
            if (from > piece.length)
                return take_piece(encoding, step, (struct lm_span){piece.at + done, piece.length - done});
            if (begin <= done)
                continue;
        } else {
            from = end;
        }
        error = take_piece(encoding, step, (struct lm_span){piece.at + done, begin - done});
        if (!error)
            error = take_piece(encoding, step, (struct lm_span){piece.at + begin, end - begin});
        done = end;
    }
    return error;
}

static struct akgen_error *take_text(struct encoding *encoding, struct lm_span text)
{
    if (!text.length)
        return NULL;
    return encoding->tokenizer->split_count ? split(encoding, 0, text) : take_piece(encoding, 0, text);
}

typedef struct akgen_error *take_function(struct encoding *encoding, struct lm_span text);

/* Added tokens of the list become ids, what lies between goes to `take`. */
static struct akgen_error *around_added(struct encoding *encoding, const struct lm_added_list *list,
                                        struct lm_span text, take_function *take)
{
    struct akgen_error *error = NULL;
    size_t done = 0;
    struct lm_span found;
    for (const struct lm_added *token; !error && (token = lm_added_next(list, text, done, &found));) {
        error = take(encoding, (struct lm_span){text.at + done, (size_t)(found.at - text.at) - done});
        lm_ids_add(encoding->ids, token->id);
        done = (size_t)(found.at - text.at) + found.length;
    }
    return error ? error : take(encoding, (struct lm_span){text.at + done, text.length - done});
}

static struct akgen_error *normalise_and_take(struct encoding *encoding, struct lm_span text)
{
    const struct lm_tokenizer *tokenizer = encoding->tokenizer;
    return around_added(encoding, &tokenizer->normalised, lm_normalise(&encoding->arena, tokenizer->form, text),
                        take_text);
}

static struct akgen_error *run(struct encoding *encoding, const char *text, size_t length)
{
    char *clean = arena_strndup(&encoding->arena, text, length);
    for (size_t i = 0; i < length; i++) /* a NUL would end the text for who makes it UTF-8 */
        text_make_utf8(clean + i), i += strlen(clean + i);
    encoding->match = pcre2_match_data_create(1, NULL);
    if (!encoding->match)
        memory_exhausted(0);
    struct akgen_error *error =
        around_added(encoding, &encoding->tokenizer->plain, (struct lm_span){clean, length}, normalise_and_take);
    pcre2_match_data_free(encoding->match);
    lm_room_free(&encoding->room);
    arena_free(&encoding->arena);
    return error;
}

static struct akgen_error *encode(const struct lm_tokenizer *tokenizer, const char *text, size_t length,
                                  struct lm_ids *ids)
{
    struct encoding encoding = {.tokenizer = tokenizer, .ids = ids};
    return run(&encoding, text, length);
}

struct akgen_error *lm_tokenizer_cut(const struct lm_tokenizer *tokenizer, const char *text, size_t length,
                                     lm_on_piece *on_piece, void *closure)
{
    struct lm_ids ids = {0}; /* of added tokens, which are only counted */
    struct encoding encoding = {.tokenizer = tokenizer, .ids = &ids, .on_piece = on_piece, .closure = closure};
    return run(&encoding, text, length);
}

struct akgen_error *lm_tokenizer_encode(const struct lm_tokenizer *tokenizer, struct arena *arena, const char *text,
                                        size_t length, uint32_t **ids, int64_t *count)
{
    struct lm_ids encoded = {.arena = arena};
    struct akgen_error *error = encode(tokenizer, text, length, &encoded);
    *ids = encoded.items;
    *count = encoded.count;
    return error;
}

struct akgen_error *lm_tokenizer_count(const struct lm_tokenizer *tokenizer, const char *text, size_t length,
                                       int64_t *count)
{
    struct lm_ids counted = {0};
    struct akgen_error *error = encode(tokenizer, text, length, &counted);
    *count = counted.count;
    return error;
}

static struct lm_span text_of(const struct lm_tokenizer *tokenizer, uint32_t id)
{
    const struct lm_vocabulary *of[] = {tokenizer->added_texts, tokenizer->vocabulary};
    for (int i = 0; i < 2; i++)
        if (id < of[i]->size && of[i]->tokens[id].at)
            return of[i]->tokens[id];
    return (struct lm_span){"", 0};
}

const char *lm_tokenizer_bytes(const struct lm_tokenizer *tokenizer, uint32_t id, size_t *length, bool *special)
{
    struct lm_span token = text_of(tokenizer, id);
    *length = token.length;
    *special = id < tokenizer->added_texts->size && tokenizer->special[id];
    return token.at;
}

char *lm_tokenizer_decode(const struct lm_tokenizer *tokenizer, struct arena *arena, const uint32_t *ids, int64_t count,
                          size_t *length)
{
    struct text text = {0};
    for (int64_t i = 0; i < count; i++) {
        struct lm_span token = text_of(tokenizer, ids[i]);
        text_append(&text, token.at, token.length);
    }
    char *decoded = arena_strndup(arena, text.bytes ? text.bytes : "", text.length);
    if (length)
        *length = text.length;
    text_free(&text);
    return decoded;
}

uint32_t lm_tokenizer_size(const struct lm_tokenizer *tokenizer)
{
    uint32_t size = 0;
    for (uint32_t id = 0; id < tokenizer->vocabulary->size || id < tokenizer->added_texts->size; id++)
        if (text_of(tokenizer, id).length)
            size = id + 1;
    return size;
}

bool lm_tokenizer_find(const struct lm_tokenizer *tokenizer, const char *text, size_t length, uint32_t *id)
{
    struct lm_span token = {text, length};
    uint32_t found;
    bool any = lm_vocabulary_find(tokenizer->added_texts, token, &found) ||
               lm_vocabulary_find(tokenizer->vocabulary, token, &found);
    if (any)
        *id = found;
    return any;
}
