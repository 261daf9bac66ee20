/* Near duplicates: texts as sets of their 8-byte pieces, compared by MinHash and found by locality-sensitive hashing.
 *
 * One hash of each piece chooses one of MINHASH_BINS bins and competes for its least value there (one-permutation hashing, Li, Owen, Zhang 2012); bins
 * that stay empty take the value of the next that is not (Shrivastava, Li 2014). The share of equal bins estimates the Jaccard similarity, with
 * a deviation of sqrt(s(1-s)/MINHASH_BINS). Texts that agree in one of 32 bands of 8 bins are compared: of pairs at 0.8 that leaves out (1 - 0.8^8)^32, 0.3 %.
 * Of each band the latest MINHASH_LOOKED_AT are, so that rows of one template do not take the square of their number. */
#ifndef COT_MINHASH_H
#define COT_MINHASH_H

#include <stddef.h>
#include <stdint.h>

enum { MINHASH_BINS = 256, MINHASH_BAND = 8, MINHASH_PIECE = 8, MINHASH_LOOKED_AT = 64 };
struct minhash {
    uint64_t bins[MINHASH_BINS];
};
/* The signature of a text; one shorter than a piece is a single piece. */
struct minhash minhash_of(const char *text, size_t length);
/* The estimated Jaccard similarity. */
double minhash_similarity(const struct minhash *a, const struct minhash *b);

struct minhash_index;
struct minhash_index *minhash_index_new(void);
void minhash_index_free(struct minhash_index *index);
/* Adds the text, and returns -1; or, adding nothing, the number (from 0) of one that is at least so similar; above 1: of none. */
int64_t minhash_index_add(struct minhash_index *index, const struct minhash *hash, double threshold);

#endif
