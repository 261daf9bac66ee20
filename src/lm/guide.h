/* Which tokens may come next in a text that follows a grammar. Each state of the recogniser has a mask over the vocabulary, found by walking the
 * trie of all tokens once and kept. */
#ifndef LM_GUIDE_H
#define LM_GUIDE_H

#include "lm/grammar.h"
#include "lm/tokenizer.h"

/* The grammars that are in use, and some that were last. */
struct lm_guides;
/* A text that follows one; zero-initialised one that follows none. */
struct lm_guided {
    struct lm_guide *guide;
    uint32_t state;
    struct lm_guided *next, **before; /* of the guide's texts */
};

/* Tokens below `vocabulary`, but for those of `without`, which end texts. When what is kept for a grammar has more than `most` bytes it is
 * forgotten, and found again as it is needed. The tokenizer has to stay; the caller frees, when all texts have ended. For one thread at a time. */
enum { LM_GUIDE_BYTES = 256 << 20 };
struct lm_guides *lm_guides_new(const struct lm_tokenizer *tokenizer, int vocabulary, const int32_t *without, int count,
                                size_t most);
void lm_guides_free(struct lm_guides *guides);

/* Begins a text, which must not move; lm_guided_end ends it. Holds the grammar. */
void lm_guided_begin(struct lm_guides *guides, const struct lm_grammar *grammar, struct lm_guided *text);
void lm_guided_end(struct lm_guided *text);
/* The tokens that may come next, a bit each, until the next call of any function here: those whose bytes go on with the text. Added tokens are
 * never among them, nor are those without. False: there is none. */
bool lm_guided_allowed(struct lm_guided *text, const uint64_t **mask);
/* The text may end here. */
bool lm_guided_may_end(const struct lm_guided *text);
/* One more token, which was allowed. */
void lm_guided_take(struct lm_guided *text, int32_t token);

#endif
