/* Texts of a grammar by chance, made from its nodes without the recogniser: at each node one of the ways on, all as likely. Behind `budget`
 * bytes the shortest way is taken. */
#ifndef UNIT_LM_DERIVE_H
#define UNIT_LM_DERIVE_H

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "lm/grammar.h"

#include <stdlib.h>

enum { DERIVE_WAYS = 4096, DERIVE_FAR = 1 << 28 };

struct deriver {
    const struct lm_grammar *grammar;
    int *least; /* by node: the fewest bytes up to the end of its rule */
    struct rng rng;
    struct text text;
    size_t budget;
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

/* What a node leads to without a byte: nodes that are no FORK. */
static inline int derive_ways(const struct lm_grammar *grammar, int node, int *ways)
{
    int count = 0, kept = 0;
    derive_add(ways, &count, node);
    for (int i = 0; i < count; i++)
        if (grammar->nodes[ways[i]].kind == LM_NODE_FORK) {
            derive_add(ways, &count, grammar->nodes[ways[i]].next);
            derive_add(ways, &count, grammar->nodes[ways[i]].other);
        }
    for (int i = 0; i < count; i++)
        if (grammar->nodes[ways[i]].kind != LM_NODE_FORK)
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

/* Adds a text of the rule that begins at the node. */
static inline void derive_rule(struct deriver *deriver, int node)
{
    const struct lm_grammar *grammar = deriver->grammar;
    for (;;) {
        int ways[DERIVE_WAYS], count = derive_ways(grammar, node, ways), chosen = 0;
        if (deriver->text.length >= deriver->budget)
            for (int i = 1; i < count; i++)
                chosen = deriver->least[ways[i]] < deriver->least[ways[chosen]] ? i : chosen;
        else
            chosen = (int)rng_integer(&deriver->rng, 0, count);
        const struct lm_node *at = &grammar->nodes[ways[chosen]];
        if (at->kind == LM_NODE_END)
            return;
        if (at->kind == LM_NODE_CALL)
            derive_rule(deriver, at->other);
        else
            derive_byte(deriver, &grammar->sets[at->other]);
        node = at->next;
    }
}

/* A text, until the next call. */
static inline const char *derive(struct deriver *deriver, size_t budget)
{
    deriver->text.length = 0;
    deriver->budget = budget;
    text_append(&deriver->text, "", 0);
    derive_rule(deriver, deriver->grammar->root);
    text_append(&deriver->text, "", 0);
    return deriver->text.bytes;
}

#endif
