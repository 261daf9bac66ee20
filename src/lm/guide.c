/* Masks by state. When all that is kept is too much, everything is forgotten but the states that texts are in: what they need is found again. */
#include "lm/guide.h"

#include "base/memory.h"
#include "lm/recogniser.h"
#include "lm/trie.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_IDLE = 4, STRIDE = 1024 /* nodes of the trie between looks at what is kept */ };

struct lm_guide {
    struct lm_guides *guides;
    struct lm_recogniser *recogniser;
    const struct lm_grammar *grammar; /* that the recogniser holds */
    uint64_t **masks;                 /* by state; NULL: not found yet */
    size_t mask_room, mask_count;
    uint32_t *path;          /* by depth in the trie: the state before that byte */
    struct lm_guided *texts; /* that follow it now */
    uint64_t used;           /* when it was last */
    struct lm_guide *next;
};
struct lm_guides {
    const struct lm_tokenizer *tokenizer;
    struct lm_trie *trie; /* made for the first text */
    struct lm_guide *list;
    size_t most, words; /* words: of a mask; one more says whether a bit is set */
    int vocabulary, without_count;
    int32_t *without;
    uint64_t now;
};

struct lm_guides *lm_guides_new(const struct lm_tokenizer *tokenizer, int vocabulary, const int32_t *without, int count,
                                size_t most)
{
    struct lm_guides *guides = memory_alloc(sizeof *guides);
    *guides = (struct lm_guides){
        .tokenizer = tokenizer, .most = most, .words = ((size_t)vocabulary + 63) / 64, .vocabulary = vocabulary};
    guides->without = memory_alloc(((size_t)count + 1) * sizeof *without);
    guides->without_count = count;
    for (int i = 0; i < count; i++)
        guides->without[i] = without[i];
    return guides;
}

static void drop_masks(struct lm_guide *guide)
{
    for (size_t i = 0; i < guide->mask_room; i++)
        free(guide->masks[i]);
    free(guide->masks);
    guide->masks = NULL;
    guide->mask_room = guide->mask_count = 0;
}

static void guide_free(struct lm_guide *guide)
{
    drop_masks(guide);
    lm_recogniser_free(guide->recogniser);
    free(guide->path);
    free(guide);
}

void lm_guides_free(struct lm_guides *guides)
{
    if (!guides)
        return;
    for (struct lm_guide *next, *guide = guides->list; guide; guide = next) {
        next = guide->next;
        guide_free(guide);
    }
    lm_trie_free(guides->trie);
    free(guides->without);
    free(guides);
}

/* Of those that no text follows the one that was used the longest time ago goes, if they are too many. */
static void drop_idle(struct lm_guides *guides)
{
    struct lm_guide **oldest = NULL;
    int idle = 0;
    for (struct lm_guide **at = &guides->list; *at; at = &(*at)->next)
        if (!(*at)->texts) {
            idle++;
            if (!oldest || (*at)->used < (*oldest)->used)
                oldest = at;
        }
    if (idle <= MOST_IDLE)
        return;
    struct lm_guide *guide = *oldest;
    *oldest = guide->next;
    guide_free(guide);
}

static struct lm_guide *guide_of(struct lm_guides *guides, const struct lm_grammar *grammar)
{
    for (struct lm_guide *guide = guides->list; guide; guide = guide->next)
        if (guide->grammar == grammar)
            return guide;
    if (!guides->trie)
        guides->trie = lm_trie_new(guides->tokenizer, guides->vocabulary, guides->without, guides->without_count);
    struct lm_guide *guide = memory_alloc(sizeof *guide);
    *guide = (struct lm_guide){.guides = guides, .grammar = grammar, .next = guides->list};
    guide->recogniser = lm_recogniser_new(grammar);
    guide->path = memory_alloc(((size_t)guides->trie->deepest + 1) * sizeof *guide->path);
    guides->list = guide;
    return guide;
}

void lm_guided_begin(struct lm_guides *guides, const struct lm_grammar *grammar, struct lm_guided *text)
{
    struct lm_guide *guide = guide_of(guides, grammar);
    guide->used = ++guides->now;
    *text = (struct lm_guided){
        .guide = guide, .state = lm_recogniser_begin(guide->recogniser), .next = guide->texts, .before = &guide->texts};
    if (text->next)
        text->next->before = &text->next;
    guide->texts = text;
    drop_idle(guides);
}

void lm_guided_end(struct lm_guided *text)
{
    if (!text->guide)
        return;
    *text->before = text->next;
    if (text->next)
        text->next->before = text->before;
    *text = (struct lm_guided){0};
}

/* Forgets what no text needs, nor the walk that has come to `depth`. */
static void forget(struct lm_guide *guide, int depth)
{
    int count = 0, all = depth + 1;
    for (const struct lm_guided *text = guide->texts; text; text = text->next)
        all++;
    uint32_t **states = memory_alloc((size_t)all * sizeof *states);
    for (struct lm_guided *text = guide->texts; text; text = text->next)
        states[count++] = &text->state;
    for (int i = 0; i <= depth; i++)
        states[count++] = &guide->path[i];
    lm_recogniser_forget(guide->recogniser, states, count);
    drop_masks(guide);
    free(states);
}

static bool too_much(const struct lm_guide *guide)
{
    return lm_recogniser_size(guide->recogniser) + guide->mask_count * (guide->guides->words + 1) * sizeof(uint64_t) >
           guide->guides->most;
}

/* All tokens that go on with a text in path[0]. */
static void walk(struct lm_guide *guide, uint64_t *mask)
{
    const struct lm_guides *guides = guide->guides;
    const struct lm_trie *trie = guides->trie;
    for (uint32_t i = 0; i < trie->count;) {
        const struct lm_trie_node *node = &trie->nodes[i];
        uint32_t to =
            lm_recogniser_step_class(guide->recogniser, guide->path[node->depth], guide->grammar->classes[node->byte]);
        if (to == LM_DEAD) {
            i = node->skip;
            continue;
        }
        guide->path[node->depth + 1] = to;
        for (uint32_t k = node->first; k < node[1].first; k++) {
            mask[trie->tokens[k] / 64] |= 1ULL << trie->tokens[k] % 64;
            mask[guides->words] = 1;
        }
        if (++i % STRIDE == 0 && too_much(guide))
            forget(guide, node->depth + 1);
    }
}

bool lm_guided_allowed(struct lm_guided *text, const uint64_t **found)
{
    struct lm_guide *guide = text->guide;
    const size_t words = guide->guides->words;
    if (text->state >= guide->mask_room || !guide->masks[text->state]) {
        uint64_t *mask = memory_alloc((words + 1) * sizeof *mask);
        guide->path[0] = text->state;
        if (too_much(guide))
            forget(guide, 0);
        walk(guide, mask);
        size_t room = guide->mask_room;
        if (text->state >= room) {
            guide->mask_room = lm_recogniser_states(guide->recogniser);
            guide->masks = memory_grow(guide->masks, guide->mask_room * sizeof *guide->masks);
            memset(guide->masks + room, 0, (guide->mask_room - room) * sizeof *guide->masks);
        }
        guide->masks[text->state] = mask;
        guide->mask_count++;
    }
    *found = guide->masks[text->state];
    return (*found)[words];
}

bool lm_guided_may_end(const struct lm_guided *text)
{
    return lm_recogniser_may_end(text->guide->recogniser, text->state);
}

void lm_guided_take(struct lm_guided *text, int32_t token)
{
    struct lm_guide *guide = text->guide;
    size_t length;
    bool special;
    const char *bytes = lm_tokenizer_bytes(guide->guides->tokenizer, (uint32_t)token, &length, &special);
    for (size_t i = 0; i < length; i++)
        text->state = lm_recogniser_step(guide->recogniser, text->state, (uint8_t)bytes[i]);
}
