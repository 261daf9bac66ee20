/* What no text can come of. Nodes are reached from each rule's begin without a byte; a CALL is passed once its rule is known to be passed, and
 * until then waits for it. So is it found in one walk which rules may be empty, and which rules each calls before it has read a byte: a circle
 * of these is left recursion. The same walk that passes bytes too finds the rules that end. What marks ask for is taken for fulfilled. */
#include "lm/grammar_internal.h"

#include "base/memory.h"

#include <stdlib.h>

struct walk {
    const struct lm_rules *rules;
    const struct lm_node *nodes;
    bool bytes;    /* are passed */
    int *rule_of;  /* by node that is an END: its rule */
    int *queue;    /* nodes */
    int *waiting;  /* by rule: the first CALL that waits for its end, + 1 */
    int *next;     /* by CALL that waits: the one behind it, + 1 */
    bool *reached; /* by node */
    bool *ends;    /* by rule */
    int count;
};

static void reach(struct walk *walk, int node)
{
    if (node < 0 || walk->reached[node])
        return;
    walk->reached[node] = true;
    walk->queue[walk->count++] = node;
}

static void pass(struct walk *walk, int at)
{
    const struct lm_node *node = &walk->nodes[at];
    switch (node->kind) {
    case LM_NODE_BYTE:
        if (walk->bytes)
            reach(walk, node->next);
        break;
    case LM_NODE_FORK:
        reach(walk, node->next);
        reach(walk, node->other);
        break;
    case LM_NODE_SET:
    case LM_NODE_IF:
    case LM_NODE_UNLESS:
        reach(walk, node->next);
        break;
    case LM_NODE_CALL:
        if (walk->ends[node->other]) {
            reach(walk, node->next);
        } else {
            walk->next[at] = walk->waiting[node->other];
            walk->waiting[node->other] = at + 1;
        }
        break;
    case LM_NODE_END: {
        int rule = walk->rule_of[at];
        walk->ends[rule] = true;
        for (int call = walk->waiting[rule]; call; call = walk->next[call - 1])
            reach(walk, walk->nodes[call - 1].next);
        walk->waiting[rule] = 0;
    }
    }
}

static void walk_all(struct walk *walk, const struct lm_rules *rules, const struct lm_node *nodes, int node_count,
                     bool bytes)
{
    size_t n = (size_t)node_count + 1, m = (size_t)rules->count + 1;
    *walk = (struct walk){.rules = rules, .nodes = nodes, .bytes = bytes};
    walk->rule_of = memory_alloc(n * sizeof *walk->rule_of);
    walk->queue = memory_alloc(n * sizeof *walk->queue);
    walk->next = memory_alloc(n * sizeof *walk->next);
    walk->waiting = memory_alloc(m * sizeof *walk->waiting);
    walk->reached = memory_alloc(n * sizeof *walk->reached);
    walk->ends = memory_alloc(m * sizeof *walk->ends);
    for (int i = 0; i < rules->count; i++)
        walk->rule_of[rules->items[i].end] = i;
    for (int i = 0; i < rules->count; i++)
        reach(walk, rules->items[i].begin);
    for (int i = 0; i < walk->count; i++)
        pass(walk, walk->queue[i]);
}

static void walk_free(struct walk *walk)
{
    free(walk->rule_of);
    free(walk->queue);
    free(walk->next);
    free(walk->waiting);
    free(walk->reached);
    free(walk->ends);
}

/* The calls that each rule makes before it has read a byte: those from first[rule] up to first[rule + 1]. */
struct calls {
    int *first, *callees;
};

/* The nodes of a rule lie together, those of rule i being the ones from its predecessor's END on: parts are made rule by rule. */
static struct calls find_calls(const struct walk *walk, int node_count)
{
    int rule_count = walk->rules->count, *owners = memory_alloc((size_t)(node_count + 1) * sizeof *owners);
    struct calls calls = {memory_alloc(((size_t)rule_count + 2) * sizeof *calls.first),
                          memory_alloc(((size_t)node_count + 1) * sizeof *calls.callees)};
    for (int i = node_count - 1, rule = 0; i >= 0; i--) {
        if (walk->nodes[i].kind == LM_NODE_END)
            rule = walk->rule_of[i];
        owners[i] = rule;
        if (walk->nodes[i].kind == LM_NODE_CALL && walk->reached[i])
            calls.first[rule + 1]++;
    }
    for (int i = 0; i < rule_count; i++)
        calls.first[i + 1] += calls.first[i];
    int *at = memory_alloc(((size_t)rule_count + 1) * sizeof *at);
    for (int i = 0; i < rule_count; i++)
        at[i] = calls.first[i];
    for (int i = 0; i < node_count; i++)
        if (walk->nodes[i].kind == LM_NODE_CALL && walk->reached[i])
            calls.callees[at[owners[i]]++] = walk->nodes[i].other;
    free(owners);
    free(at);
    return calls;
}

/* A rule of a circle of calls, -1 if there is none. Depth first, with a stack of its own. */
static int find_circle(const struct calls *calls, int rule_count)
{
    enum { NEW, OPEN, DONE };
    uint8_t *state = memory_alloc((size_t)rule_count + 1);
    int *stack = memory_alloc(((size_t)rule_count + 1) * sizeof *stack),
        *at = memory_alloc(((size_t)rule_count + 1) * sizeof *at), found = -1;
    for (int i = 0; i < rule_count; i++)
        at[i] = calls->first[i];
    for (int start = 0; start < rule_count && found < 0; start++) {
        int depth = 0;
        if (state[start] == NEW) {
            state[start] = OPEN;
            stack[depth++] = start;
        }
        while (depth && found < 0) {
            int rule = stack[depth - 1];
            if (at[rule] == calls->first[rule + 1]) {
                state[rule] = DONE;
                depth--;
                continue;
            }
            int callee = calls->callees[at[rule]++];
            if (state[callee] == OPEN) {
                found = callee;
            } else if (state[callee] == NEW) {
                state[callee] = OPEN;
                stack[depth++] = callee;
            }
        }
    }
    free(state);
    free(stack);
    free(at);
    return found;
}

static struct akgen_error *error_of(const char *name, const char *text, const struct lm_rule *rule, const char *what)
{
    int length = rule->length < 80 ? (int)rule->length : 80;
    return lm_grammar_error(name, text, rule->name, "rule '%.*s' %s", length, rule->name, what);
}

struct akgen_error *lm_grammar_check(const char *name, const char *text, const struct lm_rules *rules,
                                     const struct lm_node *nodes, int node_count)
{
    struct akgen_error *error = NULL;
    struct walk walk;
    walk_all(&walk, rules, nodes, node_count, false);
    struct calls calls = find_calls(&walk, node_count);
    int circle = find_circle(&calls, rules->count);
    if (circle >= 0)
        error = error_of(name, text, &rules->items[circle],
                         "calls itself, through others perhaps, before it has a character (left recursion)");
    free(calls.first);
    free(calls.callees);
    walk_free(&walk);
    if (error)
        return error;
    walk_all(&walk, rules, nodes, node_count, true);
    for (int i = 0; i < rules->count && !error; i++)
        if (!walk.ends[i])
            error = error_of(name, text, &rules->items[i], "has no end: each of its alternatives calls it again");
    walk_free(&walk);
    return error;
}
