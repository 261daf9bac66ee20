/* Sorted tokens are the walk: each adds the nodes of those of its bytes that it does not share with the one before. */
#include "lm/trie.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = UINT16_MAX };

struct entry {
    const char *bytes;
    size_t length;
    int32_t token;
};

static int by_bytes(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    if (order)
        return order;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return (a->token > b->token) - (a->token < b->token);
}

static bool is_among(const int32_t *tokens, int count, int32_t token)
{
    for (int i = 0; i < count; i++)
        if (tokens[i] == token)
            return true;
    return false;
}

static struct entry *sorted(const struct lm_tokenizer *tokenizer, int vocabulary, const int32_t *without,
                            int without_count, int *count)
{
    struct entry *entries = memory_alloc(((size_t)vocabulary + 1) * sizeof *entries);
    *count = 0;
    for (int token = 0; token < vocabulary; token++) {
        struct entry entry = {.token = token};
        bool special;
        entry.bytes = lm_tokenizer_bytes(tokenizer, (uint32_t)token, &entry.length, &special);
        if (entry.length && entry.length <= LONGEST && !special && !is_among(without, without_count, token))
            entries[(*count)++] = entry;
    }
    qsort(entries, (size_t)*count, sizeof *entries, by_bytes);
    return entries;
}

static size_t shared(const struct entry *a, const struct entry *b)
{
    size_t length = a->length < b->length ? a->length : b->length, i = 0;
    while (i < length && a->bytes[i] == b->bytes[i])
        i++;
    return i;
}

/* Nodes that are open at a depth or below end before node `here`. */
static void close_from(struct lm_trie *trie, const uint32_t *open, size_t depth, size_t deepest, uint32_t here)
{
    for (size_t i = depth; i < deepest; i++)
        trie->nodes[open[i]].skip = here;
}

struct lm_trie *lm_trie_new(const struct lm_tokenizer *tokenizer, int vocabulary, const int32_t *without,
                            int without_count)
{
    int count;
    struct entry *entries = sorted(tokenizer, vocabulary, without, without_count, &count);
    struct lm_trie *trie = memory_alloc(sizeof *trie);
    size_t bytes = 1, before = 0; /* before: bytes of the token before */
    for (int i = 0; i < count; i++) {
        bytes += entries[i].length;
        trie->deepest = (int)entries[i].length > trie->deepest ? (int)entries[i].length : trie->deepest;
    }
    trie->nodes = memory_alloc(bytes * sizeof *trie->nodes);
    trie->tokens = memory_alloc(((size_t)count + 1) * sizeof *trie->tokens);
    uint32_t *open = memory_alloc(((size_t)trie->deepest + 1) * sizeof *open); /* by depth: the node that is open */
    for (int i = 0; i < count; i++) {
        size_t same = i ? shared(&entries[i - 1], &entries[i]) : 0;
        close_from(trie, open, same, before, trie->count);
        for (size_t depth = same; depth < entries[i].length; depth++) {
            open[depth] = trie->count;
            trie->nodes[trie->count++] = (struct lm_trie_node){
                .first = (uint32_t)i, .depth = (uint16_t)depth, .byte = (uint8_t)entries[i].bytes[depth]};
        }
        trie->tokens[i] = entries[i].token;
        before = entries[i].length;
    }
    close_from(trie, open, 0, before, trie->count);
    trie->nodes[trie->count] = (struct lm_trie_node){.skip = trie->count + 1, .first = (uint32_t)count};
    trie->nodes = memory_grow(trie->nodes, ((size_t)trie->count + 1) * sizeof *trie->nodes);
    free(open);
    free(entries);
    return trie;
}

void lm_trie_free(struct lm_trie *trie)
{
    if (!trie)
        return;
    free(trie->nodes);
    free(trie->tokens);
    free(trie);
}
