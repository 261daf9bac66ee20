/* Fragments of code that answers have in common, which a vocabulary can have as tokens.
 *
 * A program is mostly what every program has: lines, and parts of lines, between the names of its tensors. Such fragments, many words or many
 * lines long, are learned as byte pair encoding learns its tokens (Sennrich et al., 2016), of lexemes in the place of bytes: neighbours that
 * occur often become one, again and again. They lie between the names that a question tells and between an instruction and its operands,
 * which differ from answer to answer, and no question and no formula has one in it: these are cut as before. */
#ifndef COT_FRAGMENTS_H
#define COT_FRAGMENTS_H

#include "lm/tokenizer.h"

struct cot_fragments;
struct cot_fragments *cot_fragments_new(void);
void cot_fragments_free(struct cot_fragments *fragments);
/* Adds an answer in AscendDSL or in Ascend C, and its question as akgen cot has it: the operator, what it computes, "in x float32 [3]". */
void cot_fragments_add(struct cot_fragments *fragments, const char *question, const char *answer);
/* Adds the first rows of a file, at most so many: lines of JSON with "prompt" and "completion", texts or messages, or "question" and
 * "answer". Errors name the file, the line and what is wrong with it. */
struct akgen_error *cot_fragments_read(struct cot_fragments *fragments, const char *path, int most);
/* How many rows there are. */
int cot_fragments_rows(const struct cot_fragments *fragments);

/* What they do for the answers: their tokens by the tokenizer alone, and with the fragments. */
struct cot_fragments_saving {
    int64_t before, after;
};
/* At most `most` fragments of the rows, those that save the most tokens of the tokenizer first; once. Texts in the arena. Errors:
 * lm_tokenizer_encode's. */
struct akgen_error *cot_fragments_choose(struct cot_fragments *fragments, const struct lm_tokenizer *tokenizer,
                                         int most, struct arena *arena, const char ***texts, int *count,
                                         struct cot_fragments_saving *saving);

#endif
