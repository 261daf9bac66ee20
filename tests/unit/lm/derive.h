/* Texts of a grammar by chance, made from its nodes without the recogniser: at each node one of the ways on, all as likely. Behind `budget`
 * bytes the shortest way is taken. Conditions are kept to as far as they stand before a byte or a call; a text that comes to a place from which there is
 * no way on is none, nor is one that they keep from ending for DERIVE_OVER bytes, or with more
 * than DERIVE_DEEPEST rules around each other. */
#ifndef UNIT_LM_DERIVE_H
#define UNIT_LM_DERIVE_H

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "lm/grammar.h"

#include <stdlib.h>

enum { DERIVE_WAYS = 4096, DERIVE_FAR = 1 << 28, DERIVE_OVER = 4000, DERIVE_DEEPEST = 200 };

struct deriver {
    const struct lm_grammar *grammar;
    int *least; /* by node: the fewest bytes up to the end of its rule */
    struct rng rng;
    struct text text;
    uint64_t marks; /* bit i for mark i */
    size_t budget, most;
    int depth;
};

static inline int derive_least(const struct deriver *deriver, int node)
{
    const struct lm_node *at = &deriver->grammar->nodes[node];
    const int *least = deriver->least;
    long sum = 0;
    switch (at->kind) {
    case LM_NODE_BYTE:
        sum = 1L + least[at->next];
        break;
    case LM_NODE_FORK:
        sum = at->other >= 0 && least[at->other] < least[at->next] ? least[at->other] : least[at->next];
        break;
    case LM_NODE_CALL:
        sum = (long)least[at->other] + least[at->next];
        break;
    case LM_NODE_SET:
    case LM_NODE_IF:
    case LM_NODE_UNLESS:
        sum = least[at->next];
        break;
    case LM_NODE_END:
        break;
    }
    return sum < DERIVE_FAR ? (int)sum : DERIVE_FAR;
}

static inline void derive_begin(struct deriver *deriver, const struct lm_grammar *grammar, uint64_t seed)
{
    *deriver = (struct deriver){.grammar = grammar};
    deriver->least = memory_alloc((size_t)grammar->node_count * sizeof *deriver->least);
    for (int i = 0; i < grammar->node_count; i++)
        deriver->least[i] = DERIVE_FAR;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = grammar->node_count - 1; i >= 0; i--) {
            /* Open ends that nothing leads to any more stay FAR. */
            bool dangling = grammar->nodes[i].kind != LM_NODE_END && grammar->nodes[i].next < 0;
            int least = dangling ? DERIVE_FAR : derive_least(deriver, i);
            changed |= least < deriver->least[i];
            deriver->least[i] = least < deriver->least[i] ? least : deriver->least[i];
        }
    }
    rng_seed(&deriver->rng, seed);
}

static inline void derive_end(struct deriver *deriver)
{
    free(deriver->least);
    text_free(&deriver->text);
}

static inline void derive_add(int *nodes, int *count, int node)
{
    for (int i = 0; i < *count; i++)
        if (nodes[i] == node)
            return;
    if (node >= 0 && *count < DERIVE_WAYS)
        nodes[(*count)++] = node;
}

static inline bool derive_is_way(enum lm_node_kind kind)
{
    return kind != LM_NODE_FORK && kind != LM_NODE_IF && kind != LM_NODE_UNLESS;
}

/* What a node leads to without a byte: nodes that are no FORK and no condition. */
static inline int derive_ways(const struct lm_grammar *grammar, uint64_t marks, int node, int *ways)
{
    int count = 0, kept = 0;
    derive_add(ways, &count, node);
    for (int i = 0; i < count; i++) {
        const struct lm_node *at = &grammar->nodes[ways[i]];
        bool set = (at->kind == LM_NODE_IF || at->kind == LM_NODE_UNLESS) && marks >> at->other & 1;
        if (at->kind == LM_NODE_FORK || (at->kind == LM_NODE_IF && set) || (at->kind == LM_NODE_UNLESS && !set))
            derive_add(ways, &count, at->next);
        if (at->kind == LM_NODE_FORK)
            derive_add(ways, &count, at->other);
    }
    for (int i = 0; i < count; i++)
        if (derive_is_way(grammar->nodes[ways[i]].kind))
            ways[kept++] = ways[i];
    return kept;
}

static inline void derive_byte(struct deriver *deriver, const struct lm_byte_set *set)
{
    unsigned char bytes[256];
    int count = 0;
    for (unsigned byte = 0; byte < 256; byte++)
        if (lm_byte_set_has(set, byte))
            bytes[count++] = (unsigned char)byte;
    char byte = (char)bytes[rng_integer(&deriver->rng, 0, count)];
    text_append(&deriver->text, &byte, 1);
}

/* Adds a text of the rule that begins at the node. False: there is no way on. */
static inline bool derive_rule(struct deriver *deriver, int node)
{
    const struct lm_grammar *grammar = deriver->grammar;
    if (++deriver->depth > DERIVE_DEEPEST && deriver->most < SIZE_MAX)
        return false;
    for (;;) {
        int ways[DERIVE_WAYS], count = derive_ways(grammar, deriver->marks, node, ways), chosen = 0;
        if (!count || deriver->text.length > deriver->most)
            return false;
        if (deriver->text.length >= deriver->budget)
            for (int i = 1; i < count; i++)
                chosen = deriver->least[ways[i]] < deriver->least[ways[chosen]] ? i : chosen;
        else
            chosen = (int)rng_integer(&deriver->rng, 0, count);
        const struct lm_node *at = &grammar->nodes[ways[chosen]];
        if (at->kind == LM_NODE_END) {
            deriver->depth--;
            return true;
        }
        if (at->kind == LM_NODE_CALL && !derive_rule(deriver, at->other))
            return false;
        if (at->kind == LM_NODE_SET)
            deriver->marks |= 1ULL << at->other;
        if (at->kind == LM_NODE_BYTE)
            derive_byte(deriver, &grammar->sets[at->other]);
        node = at->next;
    }
}

/* A text, until the next call. NULL: conditions let it go no further. */
static inline const char *derive(struct deriver *deriver, size_t budget)
{
    deriver->text.length = 0;
    deriver->budget = budget;
    deriver->most = SIZE_MAX;
    for (int i = 0; i < deriver->grammar->node_count; i++)
        if (deriver->grammar->nodes[i].kind == LM_NODE_IF || deriver->grammar->nodes[i].kind == LM_NODE_UNLESS)
            deriver->most = budget + DERIVE_OVER;
    deriver->marks = 0;
    deriver->depth = 0;
    text_append(&deriver->text, "", 0);
    if (!derive_rule(deriver, deriver->grammar->root))
        return NULL;
    text_append(&deriver->text, "", 0);
    return deriver->text.bytes;
}

#endif
