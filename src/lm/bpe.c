/* Byte pair encoding: the bytes of a piece are joined pair by pair, that of the lowest rank first, of equal ones the leftmost. A
 * list of what is left and a heap of pairs make it n log n for any piece. */
#include "base/memory.h"
#include "lm/tokenizer_internal.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { NONE = -1 };
struct lm_symbol {
    uint32_t id;
    int32_t before, behind; /* symbols; NONE at the ends */
    bool gone;              /* it has become part of the one before it */
};
struct lm_candidate {
    uint32_t rank, merged;
    int32_t at; /* the pair's left symbol */
};

struct lm_vocabulary *lm_vocabulary_new(struct arena *arena, uint32_t size)
{
    struct lm_vocabulary *vocabulary = arena_alloc(arena, sizeof *vocabulary);
    size_t slots = 16;
    while (slots < 2 * (size_t)size)
        slots *= 2;
    *vocabulary = (struct lm_vocabulary){.tokens = arena_alloc(arena, ((size_t)size + 1) * sizeof(struct lm_span)),
                                         .size = size,
                                         .slots = arena_alloc(arena, slots * sizeof(uint32_t)),
                                         .mask = slots - 1};
    return vocabulary;
}

static uint32_t *slot_of(const struct lm_vocabulary *vocabulary, struct lm_span token)
{
    size_t at = XXH3_64bits(token.at, token.length) & vocabulary->mask;
    for (;; at = (at + 1) & vocabulary->mask) {
        uint32_t kept = vocabulary->slots[at];
        const struct lm_span *other = kept ? &vocabulary->tokens[kept - 1] : NULL;
        if (!kept || (other->length == token.length && memcmp(other->at, token.at, token.length) == 0))
            return &vocabulary->slots[at];
    }
}

void lm_vocabulary_add(struct lm_vocabulary *vocabulary, struct lm_span token, uint32_t id, bool found)
{
    if (vocabulary->tokens[id].at) /* of two tokens of an id the first stays */
        return;
    vocabulary->tokens[id] = token;
    if (found)
        *slot_of(vocabulary, token) = id + 1;
}

bool lm_vocabulary_find(const struct lm_vocabulary *vocabulary, struct lm_span token, uint32_t *id)
{
    uint32_t kept = *slot_of(vocabulary, token);
    *id = kept - 1;
    return kept != 0;
}

struct lm_merges *lm_merges_new(struct arena *arena, size_t count)
{
    struct lm_merges *merges = arena_alloc(arena, sizeof *merges);
    size_t slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    merges->slots = arena_alloc(arena, slots * sizeof *merges->slots);
    merges->mask = slots - 1;
    for (size_t i = 0; i < slots; i++)
        merges->slots[i].rank = UINT32_MAX;
    return merges;
}

static struct lm_merge *merge_slot(const struct lm_merges *merges, uint32_t left, uint32_t right)
{
    uint64_t pair = (uint64_t)left << 32 | right;
    size_t at = XXH3_64bits(&pair, sizeof pair) & merges->mask;
    while (merges->slots[at].rank != UINT32_MAX && (merges->slots[at].left != left || merges->slots[at].right != right))
        at = (at + 1) & merges->mask;
    return &merges->slots[at];
}

void lm_merges_add(struct lm_merges *merges, struct lm_merge merge)
{
    *merge_slot(merges, merge.left, merge.right) = merge;
}

const struct lm_merge *lm_merges_find(const struct lm_merges *merges, uint32_t left, uint32_t right)
{
    const struct lm_merge *merge = merge_slot(merges, left, right);
    return merge->rank == UINT32_MAX ? NULL : merge;
}

void lm_ids_add(struct lm_ids *ids, uint32_t id)
{
    if (ids->arena && ids->count == ids->capacity) {
        int64_t capacity = ids->capacity ? 2 * ids->capacity : 64;
        uint32_t *items = arena_alloc(ids->arena, (size_t)capacity * sizeof *items);
        if (ids->count)
            memcpy(items, ids->items, (size_t)ids->count * sizeof *items);
        ids->items = items;
        ids->capacity = capacity;
    }
    if (ids->arena)
        ids->items[ids->count] = id;
    ids->count++;
}

void lm_room_free(struct lm_room *room)
{
    free(room->symbols);
    free(room->heap);
}

static void *with_room(void *items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return items;
    while (*capacity < needed)
        *capacity = *capacity ? 2 * *capacity : 256;
    return memory_grow(items, *capacity * size);
}

static bool comes_before(const struct lm_candidate *a, const struct lm_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void push(struct lm_room *room, struct lm_candidate candidate)
{
    room->heap = with_room(room->heap, &room->heap_capacity, room->heap_count + 1, sizeof *room->heap);
    size_t at = room->heap_count++;
    for (; at && comes_before(&candidate, &room->heap[(at - 1) / 2]); at = (at - 1) / 2)
        room->heap[at] = room->heap[(at - 1) / 2];
    room->heap[at] = candidate;
}

static struct lm_candidate pop(struct lm_room *room)
{
    struct lm_candidate first = room->heap[0], last = room->heap[--room->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < room->heap_count; at = child) {
        if (child + 1 < room->heap_count && comes_before(&room->heap[child + 1], &room->heap[child]))
            child++;
        if (!comes_before(&room->heap[child], &last))
            break;
        room->heap[at] = room->heap[child];
    }
    room->heap[at] = last;
    return first;
}

/* The merge of the pair whose left symbol is `at`; NULL: there is none. */
static const struct lm_merge *merge_at(const struct lm_tokenizer *tokenizer, const struct lm_room *room, int32_t at)
{
    int32_t behind = at == NONE ? NONE : room->symbols[at].behind;
    return behind == NONE ? NULL : lm_merges_find(tokenizer->merges, room->symbols[at].id, room->symbols[behind].id);
}

static void propose(const struct lm_tokenizer *tokenizer, struct lm_room *room, int32_t at)
{
    const struct lm_merge *merge = merge_at(tokenizer, room, at);
    if (merge)
        push(room, (struct lm_candidate){merge->rank, merge->merged, at});
}

/* One symbol for each byte that has a token; the others vanish, as in the library whose files these are. */
static int32_t begin(const struct lm_tokenizer *tokenizer, struct lm_room *room, struct lm_span piece)
{
    int32_t count = 0;
    room->symbols = with_room(room->symbols, &room->symbol_capacity, piece.length + 1, sizeof *room->symbols);
    room->heap_count = 0;
    for (size_t i = 0; i < piece.length; i++) {
        uint32_t id = tokenizer->of_byte[(unsigned char)piece.at[i]];
        if (id == UINT32_MAX)
            continue;
        room->symbols[count] = (struct lm_symbol){id, count - 1, NONE, false};
        if (count)
            room->symbols[count - 1].behind = count;
        count++;
    }
    for (int32_t i = 0; i < count; i++)
        propose(tokenizer, room, i);
    return count;
}

void lm_merge_piece(const struct lm_tokenizer *tokenizer, struct lm_room *room, struct lm_span piece,
                    struct lm_ids *ids)
{
    uint32_t whole;
    if (tokenizer->ignore_merges && lm_vocabulary_find(tokenizer->vocabulary, piece, &whole)) {
        lm_ids_add(ids, whole);
        return;
    }
    int32_t count = begin(tokenizer, room, piece);
    while (room->heap_count) {
        struct lm_candidate candidate = pop(room);
        struct lm_symbol *left = &room->symbols[candidate.at];
        const struct lm_merge *merge = left->gone ? NULL : merge_at(tokenizer, room, candidate.at);
        if (!merge || merge->merged != candidate.merged) /* what it was made for is not there any more */
            continue;
        struct lm_symbol *right = &room->symbols[left->behind];
        right->gone = true;
        left->id = candidate.merged;
        left->behind = right->behind;
        if (left->behind != NONE)
            room->symbols[left->behind].before = candidate.at;
        propose(tokenizer, room, left->before);
        propose(tokenizer, room, candidate.at);
    }
    for (int32_t i = count ? 0 : NONE; i != NONE; i = room->symbols[i].behind)
        lm_ids_add(ids, room->symbols[i].id);
}
