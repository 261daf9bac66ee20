/* What the parts of reading a grammar share: grammar.c reads the text, grammar_check.c looks for what no text can come of. */
#ifndef LM_GRAMMAR_INTERNAL_H
#define LM_GRAMMAR_INTERNAL_H

#include "base/arena.h"
#include "lm/grammar.h"

/* A rule. `name` lies in the text, where it is defined or, until then, where it is named first. */
struct lm_rule {
    const char *name;
    size_t length;
    uint64_t hash;
    int begin, end; /* nodes; begin below 0: it is not defined */
};
struct lm_rules {
    struct lm_rule *items;
    int count, capacity;
    int *slots; /* open addressing: a rule's number + 1 */
    int slot_count;
};
/* Left recursion and rules that never end. A CALL's `other` is the number of a rule here. */
struct akgen_error *lm_grammar_check(const char *name, const char *text, const struct lm_rules *rules,
                                     const struct lm_node *nodes, int node_count);
/* An error at a place of the text. */
struct akgen_error *lm_grammar_error(const char *name, const char *text, const char *at, const char *format, ...)
    __attribute__((format(printf, 4, 5), returns_nonnull));

/* Code points as sequences of bytes: [low, high] becomes sequences of up to 4 ranges of bytes, given to `add` one by one. Surrogates are no
 * characters and left out. */
struct lm_byte_range {
    uint8_t low, high;
};
void lm_utf8_ranges(uint32_t low, uint32_t high,
                    void (*add)(void *closure, const struct lm_byte_range *ranges, int count), void *closure);

#endif
