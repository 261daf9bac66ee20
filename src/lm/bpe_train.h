/* New vocabularies for byte-level BPE: texts are cut into pieces as Qwen3's tokenizer cuts them, the pieces are counted, and the pair
 * of neighbours that occurs most often becomes a token, again and again (Sennrich et al., 2016). Of equal counts the pair with the
 * lower ids comes first, as in the tokenizers library's BpeTrainer, whose vocabulary and merges are the same. */
#ifndef LM_BPE_TRAIN_H
#define LM_BPE_TRAIN_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Besides the 256 bytes and the special tokens: <|endoftext|>, <|im_start|>, <|im_end|>, <think>, </think>. */
enum { LM_BPE_OWN_SPECIALS = 5, LM_BPE_LARGEST = 1 << 20 };
struct lm_bpe_options {
    int vocabulary;              /* tokens in all, special ones included, at most LM_BPE_LARGEST */
    const char *const *specials; /* besides Qwen3's; their texts are one token wherever they stand */
    int special_count;
    int64_t least; /* pairs that occur less often become no token; at least 1 */
};
struct lm_bpe;
/* Errors: a vocabulary without room for bytes and special tokens; a special token that is empty, no UTF-8, or there twice. The options'
 * strings have to stay. The caller frees. */
struct akgen_error *lm_bpe_new(const struct lm_bpe_options *options, struct lm_bpe **bpe);
void lm_bpe_free(struct lm_bpe *bpe);
/* Counts the pieces of a text. Errors: as of lm_tokenizer_encode. */
struct akgen_error *lm_bpe_add(struct lm_bpe *bpe, const char *text, size_t length);
/* Makes the vocabulary, once, of all that was added. */
void lm_bpe_train(struct lm_bpe *bpe);
/* The text of tokenizer.json, which the caller frees. */
char *lm_bpe_json(const struct lm_bpe *bpe);
/* Writes tokenizer.json and tokenizer_config.json into an existing folder. */
struct akgen_error *lm_bpe_write(const struct lm_bpe *bpe, const char *folder);

struct lm_bpe_counts {
    int64_t bytes, pieces, different; /* bytes: of the pieces */
    int64_t tokens;                   /* that the pieces are, by the new vocabulary */
    uint32_t vocabulary;              /* less than was asked for, where no pair occurred `least` times any more */
    size_t merges;
};
struct lm_bpe_counts lm_bpe_counts(const struct lm_bpe *bpe);

#endif
