/* Counting and merging. A word is a piece that is counted once with how often it occurs, as ids; a pair knows how often it occurs in
 * all words, and the heap gives the most frequent one. What a merge changes are the words that hold the pair: only they are gone
 * through, and only the counts of pairs beside it change. A heap's entry may be out of date, and is put back with its count then. */
#include "lm/bpe_train.h"

#include "base/files.h"
#include "base/memory.h"
#include "lm/chat.h"
#include "lm/tokenizer_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include <xxhash.h>

static const struct lm_special own_specials[LM_BPE_OWN_SPECIALS] = {
    {"<|endoftext|>", true}, {"<|im_start|>", true}, {"<|im_end|>", true}, {"<think>", false}, {"</think>", false}};
enum { BYTES = 256 };

struct word {
    struct lm_span piece;
    int64_t count;
    uint32_t *ids; /* once training has begun */
    uint32_t length;
};
/* Words by number, each at most once in a row. */
struct places {
    uint32_t *words;
    uint32_t count, capacity;
};
struct pair {
    uint32_t left, right;
    int64_t count;
    struct places added; /* words that got it since it was last put into the heap */
    bool listed;         /* among `touched` */
};
struct entry {
    int64_t count;
    uint32_t left, right;
    struct places at;
};
struct lm_bpe {
    struct arena arena;
    struct lm_bpe_options options;
    struct lm_special *specials;
    struct lm_tokenizer *cutter; /* has the special tokens and no merge */
    struct word *words;
    size_t word_count, word_capacity;
    uint32_t *slots; /* words by their piece, open addressing: a number + 1, 0 is free */
    size_t slot_mask;

    struct pair *pairs;
    size_t pair_count, pair_capacity;
    uint32_t *pair_slots; /* likewise, by the two ids */
    size_t pair_mask;
    uint32_t *touched; /* pairs that got places in this merge */
    size_t touched_count, touched_capacity;
    struct entry *heap;
    size_t heap_count, heap_capacity;

    struct lm_span *tokens; /* by id */
    uint32_t token_count;
    uint32_t (*merges)[2];
    size_t merge_count, merge_capacity;
};

static void *with_room(void *items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return items;
    while (*capacity < needed)
        *capacity = *capacity ? 2 * *capacity : 1024;
    return memory_grow(items, *capacity * size);
}

/* ---- The words */

/* The 256 tokens of a byte each, in the order of the characters that stand for them. */
static void bytes_by_letter(struct lm_span *tokens)
{
    static char bytes[BYTES];
    int count = 0;
    for (int character = 0; character < LM_LETTERS; character++) {
        int byte = lm_byte_of_letter(character);
        if (byte < 0)
            continue;
        bytes[byte] = (char)byte;
        tokens[count++] = (struct lm_span){&bytes[byte], 1};
    }
}

static struct akgen_error *take_specials(struct lm_bpe *bpe)
{
    const struct lm_bpe_options *options = &bpe->options;
    bpe->specials =
        arena_alloc(&bpe->arena, (size_t)(LM_BPE_OWN_SPECIALS + options->special_count) * sizeof *bpe->specials);
    memcpy(bpe->specials, own_specials, sizeof own_specials);
    for (int i = 0; i < options->special_count; i++) {
        const char *text = options->specials[i];
        int32_t character;
        if (!*text)
            return error_new("a special token has to have a text");
        for (const char *at = text; *at;) {
            utf8proc_ssize_t width = utf8proc_iterate((const utf8proc_uint8_t *)at, -1, &character);
            if (width <= 0)
                return error_new("the special token '%.60s' is no UTF-8", text);
            at += width;
        }
        for (int other = 0; other < LM_BPE_OWN_SPECIALS + i; other++)
            if (strcmp(bpe->specials[other].text, text) == 0)
                return error_new("the special token '%.60s' is there already", text);
        bpe->specials[LM_BPE_OWN_SPECIALS + i] = (struct lm_special){text, true};
    }
    return NULL;
}

static struct lm_written written(const struct lm_bpe *bpe, const struct lm_span *tokens, uint32_t count)
{
    return (struct lm_written){.tokens = tokens,
                               .count = count,
                               .merges = (const uint32_t(*)[2])bpe->merges,
                               .merge_count = bpe->merge_count,
                               .specials = bpe->specials,
                               .special_count = LM_BPE_OWN_SPECIALS + bpe->options.special_count};
}

struct akgen_error *lm_bpe_new(const struct lm_bpe_options *options, struct lm_bpe **bpe)
{
    struct lm_span bytes[BYTES];
    int least = BYTES + LM_BPE_OWN_SPECIALS + options->special_count;
    struct lm_bpe *made = memory_alloc(sizeof *made);
    *bpe = NULL;
    made->options = *options;
    struct akgen_error *error = NULL;
    if (options->vocabulary < least || options->vocabulary > LM_BPE_LARGEST)
        error = error_new("a vocabulary of %d: with %d special tokens it has to have from %d to %d",
                          options->vocabulary, least - BYTES, least, LM_BPE_LARGEST);
    if (!error)
        error = take_specials(made);
    if (!error) {
        bytes_by_letter(bytes);
        const struct lm_written none = written(made, bytes, BYTES);
        char *json = lm_written_json(&none);
        error = lm_tokenizer_parse("the new tokenizer.json", json, strlen(json), &made->cutter);
        free(json);
    }
    made->slots = memory_alloc(sizeof *made->slots);
    if (error)
        lm_bpe_free(made);
    else
        *bpe = made;
    return error;
}

void lm_bpe_free(struct lm_bpe *bpe)
{
    if (!bpe)
        return;
    lm_tokenizer_free(bpe->cutter);
    free(bpe->words);
    free(bpe->slots);
    free(bpe->merges);
    arena_free(&bpe->arena);
    free(bpe);
}

static uint64_t hash_of(struct lm_span piece)
{
    return XXH3_64bits(piece.at, piece.length);
}

/* The slot of a piece; 0 is in it if the piece is new. */
static uint32_t *word_slot(const struct lm_bpe *bpe, struct lm_span piece)
{
    for (size_t at = hash_of(piece) & bpe->slot_mask;; at = (at + 1) & bpe->slot_mask) {
        uint32_t kept = bpe->slots[at];
        const struct lm_span *other = kept ? &bpe->words[kept - 1].piece : NULL;
        if (!kept || (other->length == piece.length && memcmp(other->at, piece.at, piece.length) == 0))
            return &bpe->slots[at];
    }
}

static void grow_word_slots(struct lm_bpe *bpe)
{
    size_t slots = bpe->slot_mask ? 2 * (bpe->slot_mask + 1) : 1024;
    free(bpe->slots);
    bpe->slots = memory_alloc(slots * sizeof *bpe->slots);
    bpe->slot_mask = slots - 1;
    for (size_t i = 0; i < bpe->word_count; i++)
        *word_slot(bpe, bpe->words[i].piece) = (uint32_t)i + 1;
}

static void count_piece(void *closure, struct lm_span piece)
{
    struct lm_bpe *bpe = closure;
    if (2 * bpe->word_count >= bpe->slot_mask)
        grow_word_slots(bpe);
    uint32_t *slot = word_slot(bpe, piece);
    if (!*slot) {
        if (bpe->word_count >= UINT32_MAX - 1)
            memory_exhausted(0);
        bpe->words = with_room(bpe->words, &bpe->word_capacity, bpe->word_count + 1, sizeof *bpe->words);
        bpe->words[bpe->word_count++] = (struct word){
            .piece = {arena_strndup(&bpe->arena, piece.at, piece.length), piece.length},
        };
        *slot = (uint32_t)bpe->word_count;
    }
    bpe->words[*slot - 1].count++;
}

struct akgen_error *lm_bpe_add(struct lm_bpe *bpe, const char *text, size_t length)
{
    return lm_tokenizer_cut(bpe->cutter, text, length, count_piece, bpe);
}

/* ---- The pairs */

static size_t pair_hash(uint32_t left, uint32_t right)
{
    uint64_t mixed = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15; /* 2^64 over the golden ratio */
    return (size_t)(mixed >> 20);
}

static uint32_t *pair_slot(const struct lm_bpe *bpe, uint32_t left, uint32_t right)
{
    for (size_t at = pair_hash(left, right) & bpe->pair_mask;; at = (at + 1) & bpe->pair_mask) {
        uint32_t kept = bpe->pair_slots[at];
        if (!kept || (bpe->pairs[kept - 1].left == left && bpe->pairs[kept - 1].right == right))
            return &bpe->pair_slots[at];
    }
}

/* The number of a pair, which becomes one of the known if it was not. */
static uint32_t pair_of(struct lm_bpe *bpe, uint32_t left, uint32_t right)
{
    if (2 * bpe->pair_count >= bpe->pair_mask) {
        size_t slots = bpe->pair_mask ? 2 * (bpe->pair_mask + 1) : 1 << 14;
        free(bpe->pair_slots);
        bpe->pair_slots = memory_alloc(slots * sizeof *bpe->pair_slots);
        bpe->pair_mask = slots - 1;
        for (size_t i = 0; i < bpe->pair_count; i++)
            *pair_slot(bpe, bpe->pairs[i].left, bpe->pairs[i].right) = (uint32_t)i + 1;
    }
    uint32_t *slot = pair_slot(bpe, left, right);
    if (!*slot) {
        bpe->pairs = with_room(bpe->pairs, &bpe->pair_capacity, bpe->pair_count + 1, sizeof *bpe->pairs);
        bpe->pairs[bpe->pair_count++] = (struct pair){.left = left, .right = right};
        *slot = (uint32_t)bpe->pair_count;
    }
    return *slot - 1;
}

/* A pair occurs `change` times the word's count more often. */
static void change_pair(struct lm_bpe *bpe, uint32_t left, uint32_t right, int change, uint32_t word)
{
    uint32_t number = pair_of(bpe, left, right);
    struct pair *pair = &bpe->pairs[number];
    struct places *added = &pair->added;
    pair->count += change * bpe->words[word].count;
    if (change < 0 || (added->count && added->words[added->count - 1] == word))
        return;
    if (added->count == added->capacity) {
        added->capacity = added->capacity ? 2 * added->capacity : 4;
        added->words = memory_grow(added->words, added->capacity * sizeof *added->words);
    }
    added->words[added->count++] = word;
    if (!pair->listed) {
        bpe->touched = with_room(bpe->touched, &bpe->touched_capacity, bpe->touched_count + 1, sizeof *bpe->touched);
        bpe->touched[bpe->touched_count++] = number;
        pair->listed = true;
    }
}

static bool comes_before(const struct entry *a, const struct entry *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    return a->left != b->left ? a->left < b->left : a->right < b->right;
}

static void push(struct lm_bpe *bpe, struct entry entry)
{
    bpe->heap = with_room(bpe->heap, &bpe->heap_capacity, bpe->heap_count + 1, sizeof *bpe->heap);
    size_t at = bpe->heap_count++;
    for (; at && comes_before(&entry, &bpe->heap[(at - 1) / 2]); at = (at - 1) / 2)
        bpe->heap[at] = bpe->heap[(at - 1) / 2];
    bpe->heap[at] = entry;
}

static struct entry pop(struct lm_bpe *bpe)
{
    struct entry first = bpe->heap[0], last = bpe->heap[--bpe->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < bpe->heap_count; at = child) {
        if (child + 1 < bpe->heap_count && comes_before(&bpe->heap[child + 1], &bpe->heap[child]))
            child++;
        if (!comes_before(&bpe->heap[child], &last))
            break;
        bpe->heap[at] = bpe->heap[child];
    }
    if (bpe->heap_count)
        bpe->heap[at] = last;
    return first;
}

/* What pairs got places goes to the heap with them. */
static void push_touched(struct lm_bpe *bpe)
{
    for (size_t i = 0; i < bpe->touched_count; i++) {
        struct pair *pair = &bpe->pairs[bpe->touched[i]];
        if (pair->count > 0)
            push(bpe, (struct entry){pair->count, pair->left, pair->right, pair->added});
        else
            free(pair->added.words);
        pair->added = (struct places){0};
        pair->listed = false;
    }
    bpe->touched_count = 0;
}

/* ---- Merging */

static void begin(struct lm_bpe *bpe)
{
    uint32_t id_of[BYTES];
    bpe->tokens = arena_alloc(&bpe->arena, (size_t)bpe->options.vocabulary * sizeof *bpe->tokens);
    bytes_by_letter(bpe->tokens);
    for (uint32_t id = 0; id < BYTES; id++)
        id_of[(unsigned char)*bpe->tokens[id].at] = id;
    bpe->token_count = BYTES;
    for (uint32_t i = 0; i < bpe->word_count; i++) {
        struct word *word = &bpe->words[i];
        word->length = (uint32_t)word->piece.length;
        word->ids = arena_alloc(&bpe->arena, word->length * sizeof *word->ids);
        for (uint32_t at = 0; at < word->length; at++)
            word->ids[at] = id_of[(unsigned char)word->piece.at[at]];
        for (uint32_t at = 1; at < word->length; at++)
            change_pair(bpe, word->ids[at - 1], word->ids[at], 1, i);
    }
    push_touched(bpe);
}

/* A new token of two others' bytes. It is new indeed: what lies between two places that no merge has crossed depends on its bytes
 * alone, so what two other tokens made of them would have been these two as well, and was merged then. */
static uint32_t join(struct lm_bpe *bpe, uint32_t left, uint32_t right)
{
    const struct lm_span *a = &bpe->tokens[left], *b = &bpe->tokens[right];
    char *bytes = arena_alloc(&bpe->arena, a->length + b->length);
    memcpy(bytes, a->at, a->length);
    memcpy(bytes + a->length, b->at, b->length);
    bpe->tokens[bpe->token_count] = (struct lm_span){bytes, a->length + b->length};
    return bpe->token_count++;
}

/* Left and right become one in a word, from its begin to its end. */
static void merge_word(struct lm_bpe *bpe, uint32_t number, uint32_t left, uint32_t right, uint32_t merged)
{
    struct word *word = &bpe->words[number];
    uint32_t *ids = word->ids, to = 0;
    for (uint32_t from = 0; from < word->length;) {
        if (ids[from] != left || from + 1 == word->length || ids[from + 1] != right) {
            ids[to++] = ids[from++];
            continue;
        }
        if (to) {
            change_pair(bpe, ids[to - 1], left, -1, number);
            change_pair(bpe, ids[to - 1], merged, 1, number);
        }
        ids[to++] = merged;
        from += 2;
        if (from < word->length) {
            change_pair(bpe, right, ids[from], -1, number);
            change_pair(bpe, merged, ids[from], 1, number);
        }
    }
    word->length = to;
}

static void end(struct lm_bpe *bpe)
{
    for (size_t i = 0; i < bpe->heap_count; i++)
        free(bpe->heap[i].at.words);
    free(bpe->heap);
    free(bpe->pairs);
    free(bpe->pair_slots);
    free(bpe->touched);
    bpe->heap = NULL;
    bpe->pairs = NULL;
    bpe->pair_slots = bpe->touched = NULL;
}

void lm_bpe_train(struct lm_bpe *bpe)
{
    uint32_t most = (uint32_t)(bpe->options.vocabulary - LM_BPE_OWN_SPECIALS - bpe->options.special_count);
    begin(bpe);
    while (bpe->token_count < most && bpe->heap_count) {
        struct entry top = pop(bpe);
        int64_t count = bpe->pairs[pair_of(bpe, top.left, top.right)].count;
        if (count != top.count) {
            top.count = count;
            push(bpe, top);
            continue;
        }
        if (count < 1 || count < bpe->options.least) {
            free(top.at.words);
            break;
        }
        uint32_t merged = join(bpe, top.left, top.right);
        bpe->merges = with_room(bpe->merges, &bpe->merge_capacity, bpe->merge_count + 1, sizeof *bpe->merges);
        bpe->merges[bpe->merge_count][0] = top.left;
        bpe->merges[bpe->merge_count++][1] = top.right;
        for (uint32_t i = 0; i < top.at.count; i++)
            merge_word(bpe, top.at.words[i], top.left, top.right, merged);
        free(top.at.words);
        push_touched(bpe);
    }
    end(bpe);
}

/* ---- What comes out */

static struct lm_written result(const struct lm_bpe *bpe)
{
    return written(bpe, bpe->tokens, bpe->token_count);
}

struct lm_bpe_counts lm_bpe_counts(const struct lm_bpe *bpe)
{
    const struct lm_written all = result(bpe);
    uint32_t *ids = memory_alloc((size_t)all.special_count * sizeof *ids);
    struct lm_bpe_counts counts = {.different = (int64_t)bpe->word_count,
                                   .vocabulary = lm_written_specials(&all, ids),
                                   .merges = bpe->merge_count};
    free(ids);
    for (size_t i = 0; i < bpe->word_count; i++) {
        counts.bytes += bpe->words[i].count * (int64_t)bpe->words[i].piece.length;
        counts.pieces += bpe->words[i].count;
        counts.tokens += bpe->words[i].count * bpe->words[i].length;
    }
    return counts;
}

/* What transformers wants to know besides: Qwen3's ends, padding and chat template. */
static json_t *describe(const struct lm_written *all)
{
    json_t *config = json_pack("{s:b s:b s:n s:b s:s s:s s:i s:s s:b s:s s:n}", "add_bos_token", 0, "add_prefix_space",
                               0, "bos_token", "clean_up_tokenization_spaces", 0, "eos_token", "<|im_end|>", "errors",
                               "replace", "model_max_length", 131072, "pad_token", "<|endoftext|>",
                               "split_special_tokens", 0, "tokenizer_class", "PreTrainedTokenizerFast", "unk_token");
    json_t *decoder = json_object(), *additional = json_array();
    uint32_t *ids = memory_alloc((size_t)all->special_count * sizeof *ids);
    lm_written_specials(all, ids);
    for (int i = 0; i < all->special_count; i++) {
        const struct lm_special *special = &all->specials[i];
        char id[24];
        snprintf(id, sizeof id, "%u", ids[i]);
        json_object_set_new(decoder, id,
                            json_pack("{s:s s:b s:b s:b s:b s:b}", "content", special->text, "lstrip", 0, "normalized",
                                      0, "rstrip", 0, "single_word", 0, "special", special->special));
        if (special->special)
            json_array_append_new(additional, json_string(special->text));
    }
    free(ids);
    json_object_set_new(config, "added_tokens_decoder", decoder);
    json_object_set_new(config, "additional_special_tokens", additional);
    json_object_set_new(config, "chat_template", json_string(lm_chat_template));
    return config;
}

char *lm_bpe_json(const struct lm_bpe *bpe)
{
    const struct lm_written all = result(bpe);
    return lm_written_json(&all);
}

struct akgen_error *lm_bpe_write(const struct lm_bpe *bpe, const char *folder)
{
    struct arena arena = {0};
    const struct lm_written all = result(bpe);
    json_t *config = describe(&all);
    char *json = lm_bpe_json(bpe), *description = json_dumps(config, JSON_INDENT(2));
    struct akgen_error *error = files_write(arena_printf(&arena, "%s/tokenizer.json", folder), json, strlen(json));
    if (!error)
        error = files_write(arena_printf(&arena, "%s/tokenizer_config.json", folder), description, strlen(description));
    json_decref(config);
    free(json);
    free(description);
    arena_free(&arena);
    return error;
}
