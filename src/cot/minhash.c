#include "cot/minhash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct link {
    uint64_t key;
    int64_t text, next; /* next of the same head, -1: none */
};
struct minhash_index {
    struct minhash *texts;
    int64_t count, capacity;
    struct link *links; /* MINHASH_BINS / MINHASH_BAND of each text */
    int64_t *heads, head_count;
    int64_t *compared; /* of each text: the last search that compared it */
    int64_t searches;
};

/* A bijection of 64 bits that leaves none of them where it was (splitmix64's finalizer). */
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

struct minhash minhash_of(const char *text, size_t length)
{
    struct minhash hash;
    memset(hash.bins, 0xff, sizeof hash.bins);
    size_t pieces = length > MINHASH_PIECE ? length - MINHASH_PIECE + 1 : 1;
    for (size_t i = 0; i < pieces; i++) {
        uint64_t piece = 0;
        memcpy(&piece, text + i, length < MINHASH_PIECE ? length : MINHASH_PIECE);
        uint64_t mixed = mix(piece + 0x9e3779b97f4a7c15u), bin = mixed % MINHASH_BINS, value = mixed / MINHASH_BINS;
        if (value < hash.bins[bin])
            hash.bins[bin] = value;
    }
    struct minhash full = hash;
    for (size_t i = 0; i < MINHASH_BINS; i++)
        for (uint64_t step = 1; full.bins[i] == UINT64_MAX; step++)
            if (hash.bins[(i + step) % MINHASH_BINS] != UINT64_MAX) /* one is: there is a piece */
                full.bins[i] = hash.bins[(i + step) % MINHASH_BINS] + (step << 56);
    return full;
}

double minhash_similarity(const struct minhash *a, const struct minhash *b)
{
    int equal = 0;
    for (int i = 0; i < MINHASH_BINS; i++)
        equal += a->bins[i] == b->bins[i];
    return (double)equal / MINHASH_BINS;
}

struct minhash_index *minhash_index_new(void)
{
    return memory_alloc(sizeof(struct minhash_index));
}

void minhash_index_free(struct minhash_index *index)
{
    free(index->texts);
    free(index->links);
    free(index->compared);
    free(index->heads);
    free(index);
}

static uint64_t key_of(const struct minhash *hash, int band)
{
    return XXH3_64bits_withSeed(hash->bins + (ptrdiff_t)band * MINHASH_BAND, MINHASH_BAND * sizeof *hash->bins,
                                (XXH64_hash_t)band);
}

static void hang(struct minhash_index *index, int64_t link)
{
    int64_t *head = &index->heads[index->links[link].key % (uint64_t)index->head_count];
    index->links[link].next = *head;
    *head = link;
}

static void grow(struct minhash_index *index)
{
    enum { BANDS = MINHASH_BINS / MINHASH_BAND, FIRST = 1024 };
    index->capacity = index->capacity ? index->capacity * 2 : FIRST;
    index->texts = memory_grow(index->texts, (size_t)index->capacity * sizeof *index->texts);
    index->links = memory_grow(index->links, (size_t)index->capacity * BANDS * sizeof *index->links);
    index->compared = memory_grow(index->compared, (size_t)index->capacity * sizeof *index->compared);
    memset(index->compared + index->count, 0, (size_t)(index->capacity - index->count) * sizeof *index->compared);
    index->head_count = index->capacity * BANDS;
    index->heads = memory_grow(index->heads, (size_t)index->head_count * sizeof *index->heads);
    memset(index->heads, 0xff, (size_t)index->head_count * sizeof *index->heads); /* -1 */
    for (int64_t link = 0; link < index->count * BANDS; link++)
        hang(index, link);
}

/* The number of a text that is at least so similar, among the latest that agree in a band; -1: there is none. */
static int64_t find(struct minhash_index *index, const struct minhash *hash, double threshold)
{
    enum { BANDS = MINHASH_BINS / MINHASH_BAND };
    index->searches++;
    for (int band = 0; band < BANDS; band++) {
        uint64_t key = key_of(hash, band);
        int looked = 0;
        for (int64_t at = index->heads[key % (uint64_t)index->head_count]; at >= 0 && looked < MINHASH_LOOKED_AT;
             at = index->links[at].next) {
            int64_t text = index->links[at].text;
            if (index->links[at].key != key)
                continue;
            looked++;
            if (index->compared[text] == index->searches)
                continue;
            index->compared[text] = index->searches;
            if (minhash_similarity(hash, &index->texts[text]) >= threshold)
                return text;
        }
    }
    return -1;
}

int64_t minhash_index_add(struct minhash_index *index, const struct minhash *hash, double threshold)
{
    enum { BANDS = MINHASH_BINS / MINHASH_BAND };
    if (index->count == index->capacity)
        grow(index);
    int64_t found = threshold > 1 ? -1 : find(index, hash, threshold);
    if (found >= 0)
        return found;
    for (int band = 0; band < BANDS; band++) {
        index->links[index->count * BANDS + band] = (struct link){.key = key_of(hash, band), .text = index->count};
        hang(index, index->count * BANDS + band);
    }
    index->texts[index->count++] = *hash;
    return -1;
}
