/* Stacks and states are interned: stacks as (node to return to, stack below), states as sets of (node, stack). A call whose rule's
 * end is the caller's end too returns to the caller's caller at once, so that lists by right recursion need no stack. */
#include "lm/recogniser.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = UINT32_MAX - 1 }; /* a step that was not made yet */

struct stack {
    int32_t node;   /* to return to */
    uint32_t below; /* 0: the text's end follows */
};
/* A node that reads a byte, a set of marks and a stack, from the top bits on. */
typedef uint64_t place;
enum { MARKINGS_AT = 28, NODE_AT = 44 };
static_assert(LM_GRAMMAR_MOST_NODES <= 1 << (64 - NODE_AT) && LM_MOST_MARKINGS <= 1 << (NODE_AT - MARKINGS_AT),
              "a place fits into 64 bits");
struct state {
    size_t first; /* of its places */
    uint32_t count, hash;
    bool may_end;
};
struct table { /* of numbers + 1 by hash, open addressing */
    uint32_t *slots;
    size_t size;
};
enum { SEEN = 4 * LM_MOST_PLACES };
struct lm_recogniser {
    struct lm_grammar *grammar;
    struct stack *stacks; /* stack 0 is none */
    struct state *states; /* state LM_DEAD has no places */
    place *places;
    uint32_t *steps;    /* (states, classes) */
    uint64_t *markings; /* sets of marks, bit i for mark i; number 0 is the empty one */
    size_t stack_count, stack_room, state_count, state_room, place_count, place_room, marking_count, marking_room;
    struct table stack_table, state_table, marking_table;
    uint32_t begin;
    /* The state that is being made: places of all kinds of nodes in `queue`, told apart by `seen`, and of these the ones that stay in `kept`. */
    place *queue, *kept;
    uint32_t *seen, queue_count, kept_count; /* seen: a place's number in the queue + 1 */
    bool may_end;
};
/* ---- Interning */

static uint32_t mix(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15U;
    return (uint32_t)(key >> 32 ^ key >> 13);
}

static void *make_room(void *items, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return items;
    while (*room < count)
        *room = *room ? *room * 2 : 64;
    return memory_grow(items, *room * size);
}

static int32_t node_of(place at)
{
    return (int32_t)(at >> NODE_AT);
}

static uint32_t marking_in(place at)
{
    return (uint32_t)(at >> MARKINGS_AT) & (LM_MOST_MARKINGS - 1);
}

static uint32_t stack_in(place at)
{
    return (uint32_t)at & ((1U << MARKINGS_AT) - 1);
}

static uint32_t hash_of_marking(const struct lm_recogniser *r, uint32_t number)
{
    return mix(r->markings[number] + 1);
}

static uint32_t hash_of_stack(const struct lm_recogniser *r, uint32_t number)
{
    return mix((uint64_t)(uint32_t)r->stacks[number].node << 32 | r->stacks[number].below);
}

static uint32_t hash_of_state(const struct lm_recogniser *r, uint32_t number)
{
    return r->states[number].hash;
}

/* Room for one more of `count`. */
static void widen(struct lm_recogniser *r, struct table *table, size_t count,
                  uint32_t (*hash_of)(const struct lm_recogniser *r, uint32_t number))
{
    if (2 * (count + 1) <= table->size)
        return;
    free(table->slots);
    table->size = table->size ? table->size * 2 : 128;
    table->slots = memory_alloc(table->size * sizeof *table->slots);
    for (uint32_t i = 1; i < count; i++) {
        size_t slot = hash_of(r, i);
        while (table->slots[slot & (table->size - 1)])
            slot++;
        table->slots[slot & (table->size - 1)] = i + 1;
    }
}

static uint32_t stack_of(struct lm_recogniser *r, int32_t node, uint32_t below)
{
    widen(r, &r->stack_table, r->stack_count, hash_of_stack);
    size_t slot = mix((uint64_t)(uint32_t)node << 32 | below), mask = r->stack_table.size - 1;
    for (uint32_t found; (found = r->stack_table.slots[slot & mask]); slot++)
        if (r->stacks[found - 1].node == node && r->stacks[found - 1].below == below)
            return found - 1;
    r->stacks = make_room(r->stacks, &r->stack_room, r->stack_count + 1, sizeof *r->stacks);
    r->stacks[r->stack_count] = (struct stack){node, below};
    r->stack_table.slots[slot & mask] = (uint32_t)r->stack_count + 1;
    return (uint32_t)r->stack_count++;
}

/* The number of a set of marks; LM_MOST_MARKINGS: there is no room for it. */
static uint32_t marking_of(struct lm_recogniser *r, uint64_t marks)
{
    if (!marks)
        return 0;
    widen(r, &r->marking_table, r->marking_count, hash_of_marking);
    size_t slot = mix(marks + 1), mask = r->marking_table.size - 1;
    for (uint32_t found; (found = r->marking_table.slots[slot & mask]); slot++)
        if (r->markings[found - 1] == marks)
            return found - 1;
    if (r->marking_count == LM_MOST_MARKINGS)
        return LM_MOST_MARKINGS;
    r->markings = make_room(r->markings, &r->marking_room, r->marking_count + 1, sizeof *r->markings);
    r->markings[r->marking_count] = marks;
    r->marking_table.slots[slot & mask] = (uint32_t)r->marking_count + 1;
    return (uint32_t)r->marking_count++;
}

static bool was_reached(const struct lm_recogniser *r, place here)
{
    size_t slot = mix(here) & (SEEN - 1);
    for (uint32_t found; (found = r->seen[slot]); slot = (slot + 1) & (SEEN - 1))
        if (r->queue[found - 1] == here)
            return true;
    return false;
}

/* Whether the state's places are those that were made, of which there are as many. */
static bool is_same(const struct lm_recogniser *r, const struct state *state)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (!was_reached(r, r->places[state->first + i]))
            return false;
    return true;
}

/* The number of the state that was made. */
static uint32_t intern(struct lm_recogniser *r)
{
    uint32_t hash = r->may_end, classes = (uint32_t)r->grammar->class_count;
    if (!r->kept_count && !r->may_end)
        return LM_DEAD;
    for (uint32_t i = 0; i < r->kept_count; i++) /* in whatever order */
        hash += mix(r->kept[i]) * 0x9e3779b1U;
    widen(r, &r->state_table, r->state_count, hash_of_state);
    size_t slot = hash, mask = r->state_table.size - 1;
    for (uint32_t found; (found = r->state_table.slots[slot & mask]); slot++) {
        const struct state *state = &r->states[found - 1];
        if (state->hash == hash && state->count == r->kept_count && state->may_end == r->may_end && is_same(r, state))
            return found - 1;
    }
    size_t steps_room = r->state_room;
    r->states = make_room(r->states, &r->state_room, r->state_count + 1, sizeof *r->states);
    if (r->state_room != steps_room)
        r->steps = memory_grow(r->steps, r->state_room * classes * sizeof *r->steps);
    r->places = make_room(r->places, &r->place_room, r->place_count + r->kept_count + 1, sizeof *r->places);
    memcpy(r->places + r->place_count, r->kept, r->kept_count * sizeof *r->kept);
    r->states[r->state_count] = (struct state){r->place_count, r->kept_count, hash, r->may_end};
    for (uint32_t i = 0; i < classes; i++)
        r->steps[r->state_count * classes + i] = UNKNOWN;
    r->place_count += r->kept_count;
    r->state_table.slots[slot & mask] = (uint32_t)r->state_count + 1;
    return (uint32_t)r->state_count++;
}

/* ---- Making a state */

static bool reach(struct lm_recogniser *r, int32_t node, uint32_t marking, uint32_t stack)
{
    place here = (place)(uint32_t)node << NODE_AT | (place)marking << MARKINGS_AT | stack;
    if (stack >> MARKINGS_AT || marking == LM_MOST_MARKINGS)
        return false;
    size_t slot = mix(here) & (SEEN - 1);
    for (uint32_t found; (found = r->seen[slot]); slot = (slot + 1) & (SEEN - 1))
        if (r->queue[found - 1] == here)
            return true;
    if (r->queue_count == LM_MOST_PLACES)
        return false;
    r->queue[r->queue_count++] = here;
    r->seen[slot] = r->queue_count;
    return true;
}

static void start_over(struct lm_recogniser *r)
{
    for (uint32_t i = 0; i < r->queue_count; i++) { /* few of many slots are used */
        size_t slot = mix(r->queue[i]) & (SEEN - 1);
        for (; r->seen[slot]; slot = (slot + 1) & (SEEN - 1))
            r->seen[slot] = 0;
    }
    r->queue_count = r->kept_count = 0;
    r->may_end = false;
}

/* From what is in the queue, all that is reached without a byte. False: too much. */
static bool close_over(struct lm_recogniser *r)
{
    const struct lm_node *nodes = r->grammar->nodes;
    bool room = true;
    for (uint32_t i = 0; i < r->queue_count && room; i++) {
        uint32_t marking = marking_in(r->queue[i]), stack = stack_in(r->queue[i]);
        const struct lm_node *node = &nodes[node_of(r->queue[i])];
        switch (node->kind) {
        case LM_NODE_BYTE:
            r->kept[r->kept_count++] = r->queue[i];
            break;
        case LM_NODE_FORK:
            room = reach(r, node->next, marking, stack) && (node->other < 0 || reach(r, node->other, marking, stack));
            break;
        case LM_NODE_CALL:
            room = reach(r, node->other, marking,
                         nodes[node->next].kind == LM_NODE_END ? stack : stack_of(r, node->next, stack));
            break;
        case LM_NODE_END:
            if (stack)
                room = reach(r, r->stacks[stack].node, marking, r->stacks[stack].below);
            else
                r->may_end = true;
            break;
        case LM_NODE_SET:
            room = reach(r, node->next, marking_of(r, r->markings[marking] | 1ULL << node->other), stack);
            break;
        case LM_NODE_IF:
        case LM_NODE_UNLESS:
            if ((r->markings[marking] >> node->other & 1) == (node->kind == LM_NODE_IF))
                room = reach(r, node->next, marking, stack);
        }
    }
    return room;
}

static void clear(struct lm_recogniser *r)
{
    memset(r->stack_table.slots, 0, r->stack_table.size * sizeof *r->stack_table.slots);
    memset(r->state_table.slots, 0, r->state_table.size * sizeof *r->state_table.slots);
    memset(r->marking_table.slots, 0, r->marking_table.size * sizeof *r->marking_table.slots);
    r->stack_count = 1;
    r->state_count = 1;
    r->marking_count = 1;
    r->place_count = 0;
    r->begin = UNKNOWN;
}

struct lm_recogniser *lm_recogniser_new(const struct lm_grammar *grammar)
{
    struct lm_recogniser *r = memory_alloc(sizeof *r);
    r->grammar = lm_grammar_hold(grammar);
    r->queue = memory_alloc(LM_MOST_PLACES * sizeof *r->queue);
    r->kept = memory_alloc(LM_MOST_PLACES * sizeof *r->kept);
    r->seen = memory_alloc(SEEN * sizeof *r->seen);
    r->stacks = make_room(NULL, &r->stack_room, 1, sizeof *r->stacks);
    r->states = make_room(NULL, &r->state_room, 1, sizeof *r->states);
    r->markings = make_room(NULL, &r->marking_room, 1, sizeof *r->markings);
    r->stacks[0] = (struct stack){0};
    r->states[LM_DEAD] = (struct state){0};
    r->markings[0] = 0;
    r->steps = memory_alloc(r->state_room * (size_t)grammar->class_count * sizeof *r->steps); /* of LM_DEAD: LM_DEAD */
    widen(r, &r->stack_table, 1, hash_of_stack);
    widen(r, &r->state_table, 1, hash_of_state);
    widen(r, &r->marking_table, 1, hash_of_marking);
    clear(r);
    return r;
}

void lm_recogniser_free(struct lm_recogniser *r)
{
    if (!r)
        return;
    lm_grammar_free(r->grammar);
    free(r->stacks);
    free(r->states);
    free(r->places);
    free(r->steps);
    free(r->markings);
    free(r->stack_table.slots);
    free(r->state_table.slots);
    free(r->marking_table.slots);
    free(r->queue);
    free(r->kept);
    free(r->seen);
    free(r);
}

uint32_t lm_recogniser_begin(struct lm_recogniser *r)
{
    if (r->begin == UNKNOWN) {
        start_over(r);
        r->begin = reach(r, r->grammar->root, 0, 0) && close_over(r) ? intern(r) : LM_DEAD;
    }
    return r->begin;
}

uint32_t lm_recogniser_step_class(struct lm_recogniser *r, uint32_t state, unsigned class)
{
    size_t classes = (size_t)r->grammar->class_count, cell = state * classes + class;
    if (r->steps[cell] != UNKNOWN)
        return r->steps[cell];
    unsigned byte = 0;
    while (r->grammar->classes[byte] != class)
        byte++;
    const struct state *from = &r->states[state];
    bool room = true;
    start_over(r);
    for (uint32_t i = 0; i < from->count && room; i++) {
        place at = r->places[from->first + i];
        const struct lm_node *node = &r->grammar->nodes[node_of(at)];
        if (lm_byte_set_has(&r->grammar->sets[node->other], byte))
            room = reach(r, node->next, marking_in(at), stack_in(at));
    }
    uint32_t to = room && close_over(r) ? intern(r) : LM_DEAD;
    r->steps[cell] = to;
    return to;
}

uint32_t lm_recogniser_step(struct lm_recogniser *r, uint32_t state, uint8_t byte)
{
    return lm_recogniser_step_class(r, state, r->grammar->classes[byte]);
}

bool lm_recogniser_may_end(const struct lm_recogniser *r, uint32_t state)
{
    return r->states[state].may_end;
}

uint32_t lm_recogniser_states(const struct lm_recogniser *r)
{
    return (uint32_t)r->state_count;
}

size_t lm_recogniser_size(const struct lm_recogniser *r)
{
    if (r->marking_count > LM_MOST_MARKINGS / 2)
        return SIZE_MAX;
    return r->state_count * ((size_t)r->grammar->class_count * sizeof *r->steps + sizeof *r->states) +
           r->place_count * sizeof *r->places + r->stack_count * sizeof *r->stacks;
}

/* ---- Forgetting */

/* The stacks that places need, once more in the recogniser that has forgotten: their new numbers by the old ones, where those that are needed
 * are not 0 at first. A stack's number is larger than that of the one below it. */
static void carry_over(struct lm_recogniser *r, const struct stack *old, size_t count, uint32_t *moved)
{
    for (size_t i = count; i-- > 1;)
        if (moved[i])
            moved[old[i].below] = 1;
    moved[0] = 0;
    for (size_t i = 1; i < count; i++)
        if (moved[i])
            moved[i] = stack_of(r, old[i].node, moved[old[i].below]);
}

void lm_recogniser_forget(struct lm_recogniser *r, uint32_t **states, int count)
{
    struct stack *old_stacks = r->stacks;
    struct state *old_states = r->states;
    place *old_places = r->places;
    uint64_t *old_markings = r->markings;
    size_t stack_count = r->stack_count;
    uint32_t *moved = memory_alloc(stack_count * sizeof *moved);
    for (int i = 0; i < count; i++)
        for (uint32_t k = 0; k < old_states[*states[i]].count; k++)
            moved[stack_in(old_places[old_states[*states[i]].first + k])] = 1;
    r->stacks = NULL;
    r->states = NULL;
    r->places = NULL;
    r->markings = NULL;
    r->stack_room = r->state_room = r->place_room = r->marking_room = 0;
    r->stacks = make_room(NULL, &r->stack_room, 1, sizeof *r->stacks);
    r->states = make_room(NULL, &r->state_room, 1, sizeof *r->states);
    r->markings = make_room(NULL, &r->marking_room, 1, sizeof *r->markings);
    r->stacks[0] = old_stacks[0];
    r->markings[0] = 0;
    r->states[LM_DEAD] = old_states[LM_DEAD];
    r->steps = memory_grow(r->steps, r->state_room * (size_t)r->grammar->class_count * sizeof *r->steps);
    clear(r);
    carry_over(r, old_stacks, stack_count, moved);
    for (int i = 0; i < count; i++) {
        const struct state *state = &old_states[*states[i]];
        start_over(r);
        r->may_end = state->may_end;
        for (uint32_t k = 0; k < state->count; k++) {
            place at = old_places[state->first + k];
            reach(r, node_of(at), marking_of(r, old_markings[marking_in(at)]), moved[stack_in(at)]);
            r->kept[k] = r->queue[k];
        }
        r->kept_count = state->count;
        *states[i] = intern(r);
    }
    free(old_markings);
    free(old_stacks);
    free(old_states);
    free(old_places);
    free(moved);
}
