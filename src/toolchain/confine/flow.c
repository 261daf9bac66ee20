/* The blocks of a function in the order in which control flows: depth first from its entry, each before those that it leads
 * to, but for the branches that begin a loop again (reverse postorder). */
#include "toolchain/confine/confine_internal.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

struct node {
    LLVMBasicBlockRef block;
    LLVMMetadataRef loop;
    enum { UNSEEN, OPEN, DONE } state; /* OPEN: the path that is being followed goes through it */
    unsigned next;                     /* of its successors, the one to follow */
};

static int compare_nodes(const void *left, const void *right)
{
    const uintptr_t a = (uintptr_t)((const struct node *)left)->block,
                    b = (uintptr_t)((const struct node *)right)->block;
    return (a > b) - (a < b);
}

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* Follows all paths from a node that was not seen and puts the nodes in front of `end` in the array, the first one first.
 * Returns where they begin. */
static struct node **follow(struct node *nodes, size_t count, struct node *from, struct node **path, struct node **end)
{
    size_t depth = 0;
    path[depth++] = from;
    from->state = OPEN;
    while (depth) {
        struct node *node = path[depth - 1];
        LLVMValueRef last = LLVMGetBasicBlockTerminator(node->block);
        if (node->next == LLVMGetNumSuccessors(last)) {
            node->state = DONE;
            *--end = node;
            depth--;
            continue;
        }
        const struct node key = {.block = LLVMGetSuccessor(last, node->next++)};
        struct node *to = bsearch(&key, nodes, count, sizeof *nodes, compare_nodes);
        if (to->state == OPEN && LLVMInstructionGetDebugLoc(last))
            to->loop = LLVMInstructionGetDebugLoc(last);
        if (to->state == UNSEEN) {
            to->state = OPEN;
            path[depth++] = to;
        }
    }
    return end;
}

struct flow_block *flow_order(LLVMValueRef function, size_t *count)
{
    *count = LLVMCountBasicBlocks(function);
    struct node *nodes = checked(calloc(*count, sizeof *nodes));
    struct node **path = checked(calloc(*count, sizeof *path)), **order = checked(calloc(*count, sizeof *order));
    struct flow_block *blocks = checked(calloc(*count, sizeof *blocks));
    size_t at = 0, reached = 0;
    FOR_BLOCKS(function, block)
    nodes[at++].block = block;
    qsort(nodes, *count, sizeof *nodes, compare_nodes);
    FOR_BLOCKS(function, block) /* the entry first; then what nothing leads to */
    {
        const struct node key = {.block = block};
        struct node *node = bsearch(&key, nodes, *count, sizeof *nodes, compare_nodes);
        if (node->state != UNSEEN)
            continue;
        struct node **first = follow(nodes, *count, node, path, order + *count);
        for (; first < order + *count; first++)
            blocks[reached++] = (struct flow_block){(*first)->block, (*first)->loop};
    }
    free(nodes);
    free(path);
    free(order);
    return blocks;
}
