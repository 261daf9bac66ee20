/* A buffer that is loaded, computed in place and stored would have to be copied out of one queue's tensor and into another's. It
 * becomes two buffers where its elements begin anew: what is loaded, up to the last instruction that writes all of what is read
 * behind it, and what that instruction makes, up to the store. Both are tensors of queues then (lifetime.c). What no instruction
 * makes as a whole, or a turn leaves to the next one, stays one buffer. */
#include "base/array.h"
#include "dsl/lower_internal.h"

#include <string.h>

/* The statements of the block that has all uses of a buffer, those of its stages among them. */
struct line {
    struct dsl_statement **items;
    int count, capacity;
};

static const char scratch[] = "(made)"; /* a name that no program has */

/* The innermost block that has all uses; NULL: they stand in two branches. */
static const struct dsl_block *block_of_uses(const struct dsl_block *block, const struct lower_buffer *buffer)
{
    const struct dsl_statement *only = NULL;
    int using = 0;
    for (int i = 0; i < block->count; i++)
        if (block->items[i] != buffer->allocation && statement_mentions(block->items[i], buffer->name)) {
            only = block->items[i];
            using ++;
        }
    if (using != 1 || only->kind == DSL_WITH || (!only->body.count && !only->orelse.count))
        return block;
    if (only->value && tree_mentions(only->value, buffer->name))
        return NULL;
    const bool above = block_mentions(&only->body, buffer->name), below = block_mentions(&only->orelse, buffer->name);
    return above && below ? NULL : block_of_uses(above ? &only->body : &only->orelse, buffer);
}

/* No items: there is no such block. */
static struct line line_of_uses(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    struct line line = {0};
    const struct dsl_block *block = block_of_uses(lower_kernel(lowering), buffer);
    for (int i = 0; block && i < block->count; i++) {
        const struct dsl_block alone = {.items = &block->items[i], .count = block->items[i] != buffer->allocation};
        const struct dsl_block *part = block->items[i]->kind == DSL_WITH ? &block->items[i]->body : &alone;
        for (int k = 0; k < part->count; k++)
            ARRAY_ADD(lowering->arena, line.items, line.count, line.capacity, part->items[k]);
    }
    return line;
}

struct seen {
    const char *buffer;
    bool loaded, stored;
    int written; /* operands that are written */
};

static void see_call(void *closure, struct dsl_expr *part)
{
    struct seen *seen = closure;
    if (part->kind != DSL_CALL || !part->operation || !lower_use_of(part, seen->buffer))
        return;
    seen->loaded |= part->operation->place == DSL_PLACE_COPYIN;
    seen->stored |= part->operation->place == DSL_PLACE_COPYOUT;
}

static void see_calls(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_call, closure);
}

static struct seen see(const struct line *line, int from, int to, const char *buffer)
{
    struct seen seen = {.buffer = buffer};
    for (int i = from; i < to; i++)
        statement_visit(line->items[i], see_calls, &seen);
    return seen;
}

static void count_written(void *closure, struct dsl_expr *operand, unsigned use)
{
    struct seen *seen = closure;
    seen->written += use == LOWER_WRITE && strcmp(operand_buffer(operand, NULL), seen->buffer) == 0;
}

/* Whether the statement is an instruction whose result is the buffer from its beginning on: all of the elements that its extent
 * says. */
static bool makes(const struct dsl_statement *statement, const char *buffer)
{
    static const char *const partial[] = {"fill_gaps", "set_scalar", "compress"};
    struct dsl_expr *call = statement_operation(statement);
    const struct lower_instruction *instruction = call ? lower_instruction_find(call->operation->name) : NULL;
    struct seen seen = {.buffer = buffer};
    if (!call || call->operation->place != DSL_PLACE_COMPUTE || call->count < 2 || call->items[1]->kind != DSL_NAME ||
        strcmp(call->items[1]->name, buffer) != 0)
        return false;
    if (instruction && instruction->form == LOWER_FORM_ADDS) /* to what the buffer holds */
        return false;
    lower_visit_operands(call, count_written, &seen);
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
        if (strcmp(call->operation->name, partial[i]) == 0)
            return false;
    return seen.written == 1;
}

/* The number of the statement from which on the buffer may be another; -1: there is none. */
static int find_split(struct lowering *lowering, const struct lower_buffer *buffer, const struct line *line)
{
    int first = 0, split = line->count - 1;
    while (first < line->count && !statement_mentions(line->items[first], buffer->name))
        first++;
    while (split > first && !makes(line->items[split], buffer->name))
        split--;
    if (split <= first)
        return -1;
    const struct dsl_expr *load = statement_operation(line->items[first]);
    const struct seen before = see(line, 0, split, buffer->name),
                      after = see(line, split + 1, line->count, buffer->name);
    const struct dsl_block rest = {.items = line->items + split + 1, .count = line->count - split - 1};
    bool whole = load && load->operation->place == DSL_PLACE_COPYIN && load->items[2]->kind == DSL_NAME;
    return whole && !before.stored && !after.loaded && after.stored &&
                   share_covers(lowering, buffer, &rest, statement_operation(line->items[split]))
               ? split
               : -1;
}

/* Gives the result of the statement, and all that follows it, another name. */
static void rename_from(struct lowering *lowering, const struct line *line, int split, const char *from, const char *to)
{
    struct edit *edit = &lowering->edit;
    struct dsl_block rest = {.items = line->items + split + 1, .count = line->count - split - 1};
    struct dsl_expr *call = statement_operation(line->items[split]);
    call->items[1] = edit_copy(edit, call->items[1]);
    call->items[1]->name = to;
    edit_substitute(edit, &rest, from, call->items[1]);
}

bool split_buffer(struct lowering *lowering, const char *name,
                  bool (*is_queue)(struct lowering *lowering, const struct lower_buffer *buffer))
{
    struct lower_buffer *buffer = lower_buffer_find(lowering, name);
    const struct line line = line_of_uses(lowering, buffer);
    const int split = find_split(lowering, buffer, &line);
    if (split < 0 || !line.items)
        return false;
    struct lower_buffer loaded = *buffer, made = *buffer;
    loaded.kind = LOWER_QUEUE_IN;
    made.kind = LOWER_QUEUE_OUT;
    made.name = scratch;
    rename_from(lowering, &line, split, name, scratch);
    if (!is_queue(lowering, &loaded) || !is_queue(lowering, &made)) {
        rename_from(lowering, &line, split, scratch, name);
        return false;
    }
    const size_t stem =
        strlen(name) > 3 && strcmp(name + strlen(name) - 3, "_ub") == 0 ? strlen(name) - 3 : strlen(name);
    const char *result = arena_printf(lowering->arena, "%.*s_made_ub", (int)stem, name);
    result = lower_add_buffer(lowering, "queue_out", result, buffer, buffer->size, buffer->dtype)->name;
    rename_from(lowering, &line, split, scratch, result);
    buffer = lower_buffer_find(lowering, name);
    buffer->kind = LOWER_QUEUE_IN;
    buffer->allocation->value->items[0]->name = "queue_in";
    const struct dsl_expr *call = statement_operation(line.items[split]);
    ARRAY_ADD(lowering->arena, lowering->splits, lowering->split_count, lowering->split_capacity,
              (struct lower_split){name, result});
    LOWER_EXPLAIN(lowering, DSL_ABOUT_BUDGET, "split", buffer->allocation->place,
                  json_pack("{s:s, s:s, s:s, s:i}", "buffer", name, "result", result, "operation",
                            call->operation->name, "operation_line", call->place.line),
                  "`%s` is loaded, computed in place and stored: from line %d on, which makes it anew, it is `%s`, "
                  "which is stored as it is.",
                  name, call->place.line, result);
    return true;
}
