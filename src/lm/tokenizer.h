/* Tokenizers of language models, as Hugging Face's tokenizer.json describes them: byte-level BPE with added tokens.
 *
 *   text -> added tokens and what lies between -> normalised (NFC, ..) -> pieces by the pre-tokenizer's patterns
 *        -> bytes -> merges, by their rank -> ids
 *
 * What a file asks for beyond that (WordPiece, Unigram, byte fallback, ..) is refused by its name, never done another way. The
 * post-processor, truncation and padding are left out: no token is put before or behind the text. */
#ifndef LM_TOKENIZER_H
#define LM_TOKENIZER_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Read-only once it is read: any number of threads may use it. */
struct lm_tokenizer;
/* Reads a file, at most 64 MiB; the caller frees it. Errors name the file and what in it is not understood. */
struct akgen_error *lm_tokenizer_read(const char *path, struct lm_tokenizer **tokenizer);
/* The same of a text in memory, which `path` names in errors. */
struct akgen_error *lm_tokenizer_parse(const char *path, const char *json, size_t length,
                                       struct lm_tokenizer **tokenizer);
void lm_tokenizer_free(struct lm_tokenizer *tokenizer);

/* Ids of a text, in the arena. A byte that is no part of a character in UTF-8 counts as '?'. An error where a pattern of the
 * file takes too many steps on the text. */
struct akgen_error *lm_tokenizer_encode(const struct lm_tokenizer *tokenizer, struct arena *arena, const char *text,
                                        size_t length, uint32_t **ids, int64_t *count);
/* How many there are. */
struct akgen_error *lm_tokenizer_count(const struct lm_tokenizer *tokenizer, const char *text, size_t length,
                                       int64_t *count);
/* The bytes that ids stand for, NUL-terminated in the arena; an id that the file lacks stands for none. They are the text
 * that was encoded but for its normalisation; of some ids alone they need not be UTF-8. `length` may be NULL. */
char *lm_tokenizer_decode(const struct lm_tokenizer *tokenizer, struct arena *arena, const uint32_t *ids, int64_t count,
                          size_t *length);
/* The bytes of one token, `length` of them, which stay as long as the tokenizer; `special`: it is <|im_end|> or the like, which no text is
 * made of; other added tokens are text. */
const char *lm_tokenizer_bytes(const struct lm_tokenizer *tokenizer, uint32_t id, size_t *length, bool *special);
/* One more than the largest id. */
uint32_t lm_tokenizer_size(const struct lm_tokenizer *tokenizer);
/* The id of a token by its text, "<|im_end|>" or " the"; false, and *id as it was, if there is none. */
bool lm_tokenizer_find(const struct lm_tokenizer *tokenizer, const char *text, size_t length, uint32_t *id);

#endif
