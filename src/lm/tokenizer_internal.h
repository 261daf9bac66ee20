/* What the parts of a tokenizer share. */
#ifndef LM_TOKENIZER_INTERNAL_H
#define LM_TOKENIZER_INTERNAL_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include "lm/tokenizer.h"

#include <pcre2.h>

/* Bytes of a text that is not NUL-terminated. */
struct lm_span {
    const char *at;
    size_t length;
};

/* Ids by the bytes of their token. */
struct lm_vocabulary {
    struct lm_span *tokens; /* by id; at NULL: there is none */
    uint32_t size;
    uint32_t *slots; /* open addressing: an id + 1, 0 is free */
    size_t mask;
};
struct lm_vocabulary *lm_vocabulary_new(struct arena *arena, uint32_t size);
/* Adds a token. `found`: by its bytes too, not by its id alone. */
void lm_vocabulary_add(struct lm_vocabulary *vocabulary, struct lm_span token, uint32_t id, bool found);
bool lm_vocabulary_find(const struct lm_vocabulary *vocabulary, struct lm_span token, uint32_t *id);

/* Pairs of ids that become one. */
struct lm_merge {
    uint32_t left, right, merged;
    uint32_t rank; /* the lower, the earlier; UINT32_MAX: a free slot */
};
struct lm_merges {
    struct lm_merge *slots;
    size_t mask;
};
struct lm_merges *lm_merges_new(struct arena *arena, size_t count);
/* A pair that is there already gets the new rank. */
void lm_merges_add(struct lm_merges *merges, struct lm_merge merge);
const struct lm_merge *lm_merges_find(const struct lm_merges *merges, uint32_t left, uint32_t right);

/* Ids that grow. */
struct lm_ids {
    struct arena *arena; /* NULL: only counted */
    uint32_t *items;
    int64_t count, capacity;
};
void lm_ids_add(struct lm_ids *ids, uint32_t id);

/* Room that pieces are merged in, kept from one to the next; all zero at first. */
struct lm_room {
    struct lm_symbol *symbols;
    struct lm_candidate *heap;
    size_t symbol_capacity, heap_capacity, heap_count;
};
void lm_room_free(struct lm_room *room);
/* The ids of a piece, by merging its bytes (bpe.c). */
void lm_merge_piece(const struct lm_tokenizer *tokenizer, struct lm_room *room, struct lm_span piece,
                    struct lm_ids *ids);

/* A token that is looked for in the text before everything else. */
struct lm_added {
    struct lm_span text;
    uint32_t id;
    bool single_word, left_strip, right_strip;
};
/* Sorted by their text. */
struct lm_added_list {
    struct lm_added *items;
    int count;
};
void lm_added_sort(struct lm_added_list *list);
/* The first token of the list behind `from`, where the last one ended; NULL: there is none. `found` is what it takes of the
 * text, spaces included. */
const struct lm_added *lm_added_next(const struct lm_added_list *list, struct lm_span text, size_t from,
                                     struct lm_span *found);

enum lm_form { LM_NO_FORM, LM_NFC, LM_NFD, LM_NFKC, LM_NFKD };
/* The text in a normal form; itself where it is in it without looking. In the arena. */
struct lm_span lm_normalise(struct arena *arena, enum lm_form form, struct lm_span text);

/* How a text is cut into pieces: one step after the other, each on what the one before left. */
struct lm_split {
    pcre2_code *pattern; /* matches and what lies between are pieces each; NULL: it cuts nothing */
    bool prefix_space;   /* a piece that begins without a space gets one */
};
/* The pattern as PCRE2 has it: what Oniguruma means by \s. In the arena. */
const char *lm_pattern_for_pcre2(struct arena *arena, const char *pattern);
extern const char lm_gpt2_pattern[];

/* The byte that a character of a byte-level vocabulary stands for; -1: it is none of them. */
int lm_byte_of_letter(int32_t character);

enum { LM_LETTERS = 0x200, LM_SPLITS = 8 }; /* LM_LETTERS: all of those characters are below */
struct lm_tokenizer {
    struct arena arena;
    struct lm_vocabulary *vocabulary;  /* of the model, by bytes */
    struct lm_vocabulary *added_texts; /* of the added tokens, by text */
    struct lm_merges *merges;
    uint32_t of_byte[256]; /* the id of each single byte; UINT32_MAX: there is none */
    bool ignore_merges;    /* a piece that is a token is that token */
    enum lm_form form;
    struct lm_split splits[LM_SPLITS];
    int split_count;
    bool *special; /* by the id of an added token: what a text has no use for, <|im_end|> and the like */
    struct lm_added_list plain, normalised; /* looked for in the text as it is, and in its normal form */
};

/* Gives on_piece the pieces of a text that would be merged into ids, without the added tokens between them. A piece is
 * valid until the call returns. Errors: lm_tokenizer_encode's. */
typedef void lm_on_piece(void *closure, struct lm_span piece);
struct akgen_error *lm_tokenizer_cut(const struct lm_tokenizer *tokenizer, const char *text, size_t length,
                                     lm_on_piece *on_piece, void *closure);

/* What a new tokenizer.json is made of (tokenizer_write.c). */
struct lm_special {
    const char *text;
    bool special; /* decoders leave it out when they are asked to */
};
struct lm_written {
    const struct lm_span *tokens; /* by id; the bytes first, then what merges make */
    uint32_t count;
    const uint32_t (*merges)[2]; /* by rank: ids */
    size_t merge_count;
    const struct lm_special *specials; /* those that are no token yet get the ids behind */
    int special_count;
};
/* The file's text, which the caller frees. Qwen3's normaliser, pre-tokenizer and decoder. */
char *lm_written_json(const struct lm_written *written);
/* The ids (special_count) of the special tokens. Returns how many tokens there are in all. */
uint32_t lm_written_specials(const struct lm_written *written, uint32_t *ids);

#endif
