/* Grammars of texts in GBNF, the form that llama.cpp has: rules `name ::= alternatives`, the text being what `root` yields.
 *
 *   alternatives := sequence ('|' sequence)*          sequence := (item ('?' | '*' | '+' | '{m}' | '{m,}' | '{m,n}')?)*
 *   item := "text" | [class] | [^class] | . | name | (alternatives) | @+mark | @mark | @!mark
 *
 * Escapes in texts and classes: \n \r \t \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH, the last three being code points. A comment goes from # to the
 * end of the line. A rule ends with its line, but within parentheses, behind ::= and |, and where the next line begins with |.
 *
 * Marks are not llama.cpp's. A text has none at its begin. @+mark, which reads nothing, sets one from there on; @mark goes on only where it is set,
 * @!mark only where it is not. So can a grammar say that a name stands only behind what gives it a value, and that a text ends only when all that
 * has to be in it is. Conditions that no text fulfils are not found: they make dead ends.
 *
 * A text becomes nodes of an automaton over bytes (UTF-8), one with calls: a rule is a part of it that begins at a node and
 * ends at one of the kind LM_NODE_END. */
#ifndef LM_GRAMMAR_H
#define LM_GRAMMAR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum lm_node_kind {
    LM_NODE_BYTE, /* a byte of set `other`, then `next` */
    LM_NODE_FORK, /* `next`, or `other` */
    LM_NODE_CALL, /* the rule that begins at `other`, then `next` */
    LM_NODE_END,  /* of a rule */
    LM_NODE_SET,  /* mark number `other` is set, then `next`; reads no byte, nor do the two below */
    LM_NODE_IF,   /* `next`, if mark number `other` is set */
    LM_NODE_UNLESS,
};
struct lm_node {
    enum lm_node_kind kind;
    int32_t next, other;
};
struct lm_byte_set {
    uint64_t bits[4];
};
/* Read-only, for any number of threads. But for marks, the end can be reached from every node; no rule calls itself without a byte before. */
struct lm_grammar {
    struct lm_node *nodes;
    struct lm_byte_set *sets;
    int node_count, set_count, root; /* root: the node that texts begin at */
    uint8_t classes[256];            /* bytes of the same class lie in the same sets */
    int class_count;
    _Atomic int holders;
};
enum {
    LM_GRAMMAR_MOST_NODES = 1 << 20,
    LM_GRAMMAR_MOST_MARKS = 64,
    LM_GRAMMAR_LARGEST = 4 << 20 /* bytes of a text */
};

/* Reads a text, which `name` stands for in errors: "NAME:LINE:COLUMN: ..". Refused are, besides what cannot be read, rules that are missing
 * or there twice, left recursion, rules that no text fulfils, more than LM_GRAMMAR_MOST_MARKS marks, and what has more than
 * LM_GRAMMAR_MOST_NODES nodes once repetitions are written out. The caller has one hold of it. */
struct akgen_error *lm_grammar_parse(const char *name, const char *text, size_t length, struct lm_grammar **grammar);
/* One holder more, who gets it; one less, the last frees it. NULL is nothing. */
struct lm_grammar *lm_grammar_hold(const struct lm_grammar *grammar);
void lm_grammar_free(const struct lm_grammar *grammar);

static inline bool lm_byte_set_has(const struct lm_byte_set *set, unsigned byte)
{
    return set->bits[byte / 64] >> byte % 64 & 1;
}

#endif
