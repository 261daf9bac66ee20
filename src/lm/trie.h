/* The tokens of a vocabulary by their bytes. Nodes lie in the order of a walk that goes deep first, so that a walk that leaves out what is below
 * a node goes on at `skip`. */
#ifndef LM_TRIE_H
#define LM_TRIE_H

#include "lm/tokenizer.h"

struct lm_trie_node {
    uint32_t skip;  /* the node behind all that begin with it */
    uint32_t first; /* of the tokens that end here: up to those of the next node */
    uint16_t depth; /* bytes before its own */
    uint8_t byte;
};
struct lm_trie {
    struct lm_trie_node *nodes; /* with one behind the last */
    int32_t *tokens;
    uint32_t count;
    int deepest; /* bytes of the longest token */
};
/* Of tokens below `vocabulary`, but for added ones, which are signs to the model and no text, and those of `without`. The caller frees. */
struct lm_trie *lm_trie_new(const struct lm_tokenizer *tokenizer, int vocabulary, const int32_t *without, int count);
void lm_trie_free(struct lm_trie *trie);

#endif
