/* The fifth pass: data types. A transfer copies bytes, so a buffer of another type than the tensor gets a queue of the
 * tensor's type beside it, and is converted from it or into it. Where the lifetime of the buffer is a queue's
 * (lifetime.c), both may be the same memory for the combinations of types in which they are equal; else what is loaded is
 * copied out of the queue at once, and what is stored into it.
 *
 * Holds afterwards: a transfer is between a tensor and a queue of its type, in every combination; an instruction has the type
 * that it works on, in every combination. */
#include "base/array.h"
#include "dsl/lower_internal.h"
#include "npu/isa.h"

#include <string.h>

struct transfer {
    struct dsl_expr *call;
    struct lower_parameter *tensor;
};
struct transfers {
    struct lowering *lowering;
    const char *buffer;
    struct transfer items[64];
    int count;
};

static void find_transfer(void *closure, struct dsl_expr *part)
{
    struct transfers *transfers = closure;
    enum { MOST = sizeof transfers->items / sizeof *transfers->items };
    bool transfer = part->kind == DSL_CALL && part->operation && part->operation->place <= DSL_PLACE_COPYOUT &&
                    part->operation->place != DSL_PLACE_COMPUTE;
    if (transfer && lower_use_of(part, transfers->buffer) && transfers->count < MOST)
        transfers->items[transfers->count++] =
            (struct transfer){part, lower_tensor_of(transfers->lowering, call_argument(part, "address"))};
}

static void find_transfers_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, find_transfer, closure);
}

/* `x.dtype`, or the type as it is written. */
static struct dsl_expr *dtype_of(struct lowering *lowering, const struct lower_parameter *tensor)
{
    struct edit *edit = &lowering->edit;
    return edit_attribute(edit, edit_name(edit, tensor->name), "dtype");
}

static struct lower_type tensor_type(struct lowering *lowering, const struct lower_parameter *tensor)
{
    return lower_type_of(lowering, dtype_of(lowering, tensor));
}

/* "x_in" of "x_ub". */
static const char *stem_of(struct lowering *lowering, const char *name, const char *end)
{
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, "_ub") == 0)
        length -= 3;
    return arena_printf(lowering->arena, "%.*s_%s", (int)length, name, end);
}

/* The argument that is the transfer's buffer. */
static struct dsl_expr **buffer_argument(struct dsl_expr *call)
{
    return &call->items[2]; /* the pass `align` has put them in order */
}

/* One type of queue for all transfers, and that a type that the buffer's elements can be converted from or to. */
static bool same_tensors(struct lowering *lowering, const struct transfers *transfers)
{
    struct lower_type first = tensor_type(lowering, transfers->items[0].tensor);
    bool same = true;
    for (int i = 1; same && i < transfers->count; i++) {
        struct lower_type type = tensor_type(lowering, transfers->items[i].tensor);
        same = lower_type_equal(lowering, &first, &type);
    }
    return same;
}

static void set_kind(struct lower_buffer *buffer, enum lower_buffer_kind kind)
{
    static const char *const names[] = {"alloc_ub", "queue_in", "queue_out", "queue_move"};
    buffer->kind = kind;
    buffer->allocation->value->items[0]->name = names[kind];
}

/* A queue of the tensor's type beside the buffer, which is computed with. */
static void add_narrow(struct lowering *lowering, struct lower_buffer *buffer, const struct transfers *transfers)
{
    bool in = buffer->kind == LOWER_QUEUE_IN;
    const char *name = buffer->name;
    struct lower_buffer *queue =
        lower_add_buffer(lowering, in ? "queue_in" : "queue_out", stem_of(lowering, name, in ? "in" : "out"), buffer,
                         buffer->size, dtype_of(lowering, transfers->items[0].tensor));
    ARRAY_ADD(lowering->arena, lowering->pairs, lowering->pair_count, lowering->pair_capacity,
              (struct lower_pair){queue->name, name});
    const char *queue_name = queue->name;
    set_kind(lower_buffer_find(lowering, name), LOWER_UB);
    for (int i = 0; i < transfers->count; i++)
        *buffer_argument(transfers->items[i].call) = edit_name(&lowering->edit, queue_name);
}

/* The queue through which the buffer is loaded (or stored) from tensors of this type; made where there is none. */
static const char *staging_queue(struct lowering *lowering, const char *name, const struct lower_parameter *tensor,
                                 bool load)
{
    const struct lower_type type = tensor_type(lowering, tensor);
    struct lower_buffer *buffer = lower_buffer_find(lowering, name);
    for (int i = 0; i < lowering->buffer_count; i++) {
        const struct lower_buffer *other = &lowering->buffers[i];
        if (other->kind == (load ? LOWER_QUEUE_IN : LOWER_QUEUE_OUT) && other->room == 's' &&
            tree_equal(other->size, buffer->size) && lower_type_equal(lowering, &other->type, &type))
            return other->name;
    }
    struct lower_buffer *made =
        lower_add_buffer(lowering, load ? "queue_in" : "queue_out", load ? "loaded" : "to_store", buffer, buffer->size,
                         dtype_of(lowering, tensor));
    made->room = 's';
    return made->name;
}

static struct dsl_statement *queue_step(struct edit *edit, const char *operation, const char *queue)
{
    return edit_statement(edit, EDIT_CALL(edit, operation, edit_name(edit, queue)));
}

/* A load into a buffer of UB: into a queue's tensor, and from there into the buffer; a store the other way. Returns how many
 * statements more the block has. */
static int stage_transfer(struct lowering *lowering, struct dsl_block *block, int at)
{
    struct edit *edit = &lowering->edit;
    struct dsl_statement *statement = block->items[at];
    struct dsl_expr *call = statement->value;
    bool load = call->operation->place == DSL_PLACE_COPYIN;
    struct dsl_expr *buffer = *buffer_argument(call), *count = transfer_elements(edit, call);
    edit->place = call->place;
    const char *queue = staging_queue(lowering, operand_buffer(buffer, NULL),
                                      lower_tensor_of(lowering, call_argument(call, "address")), load);
    const struct lower_buffer *of = lower_buffer_find(lowering, operand_buffer(buffer, NULL));
    struct dsl_expr *flags = of->type.fixed == AKGEN_BOOL ? process_flags_room(lowering, buffer) : NULL;
    const char *operation = !flags ? "convert" : load ? "to_bits" : "from_bits";
    struct dsl_expr *tensor = edit_name(edit, queue);
    struct dsl_expr *convert =
        EDIT_CALL(edit, operation, load ? buffer : tensor, load ? tensor : buffer, flags, edit_copy(edit, count));
    *buffer_argument(call) = edit_name(edit, queue);
    struct dsl_statement *steps[] = {queue_step(edit, "alloc_tensor", queue),
                                     load ? statement : edit_statement(edit, convert),
                                     queue_step(edit, "enque", queue),
                                     queue_step(edit, "deque", queue),
                                     load ? edit_statement(edit, convert) : statement,
                                     queue_step(edit, "free_tensor", queue)};
    enum { STEPS = sizeof steps / sizeof *steps };
    for (int i = 0; i < STEPS; i++)
        if (i == 0)
            block->items[at] = steps[0];
        else
            edit_insert(edit, block, at + i, steps[i]);
    if (steps[0] != statement) {
        edit_lead(edit, steps[0], &statement->lead);
        statement->lead = (struct dsl_comments){0};
    }
    return STEPS - 1;
}

static void stage_transfers(struct lowering *lowering, struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        struct dsl_expr *call = statement->kind == DSL_EXPRESSION ? statement_call(statement) : NULL;
        bool transfer =
            call && call->operation->place <= DSL_PLACE_COPYOUT && call->operation->place != DSL_PLACE_COMPUTE;
        const struct lower_buffer *buffer =
            transfer ? lower_buffer_find(lowering, operand_buffer(*buffer_argument(call), NULL)) : NULL;
        if (buffer && buffer->kind == LOWER_UB)
            i += stage_transfer(lowering, block, i);
        stage_transfers(lowering, &statement->body);
        stage_transfers(lowering, &statement->orelse);
    }
}

/* Decides for one buffer that is loaded or stored. */
static void choose_queue(struct lowering *lowering, struct lower_buffer *buffer)
{
    struct transfers transfers = {.lowering = lowering, .buffer = buffer->name};
    struct dsl_block *kernel = lower_kernel(lowering);
    if (buffer->kind == LOWER_UB)
        return;
    for (int i = 0; i < kernel->count; i++)
        statement_visit(kernel->items[i], find_transfers_below, &transfers);
    struct lower_type type = tensor_type(lowering, transfers.items[0].tensor);
    bool one_type = same_tensors(lowering, &transfers),
         same = one_type && lower_type_equal(lowering, &type, &buffer->type);
    struct lower_buffer probe = *buffer;
    if (!same)
        probe.wide = buffer->name;
    bool clean = one_type && lifetime_is_clean(lowering, &probe);
    bool bits = buffer->type.fixed == AKGEN_BOOL;
    if (bits && buffer->kind != LOWER_QUEUE_MOVE) {
        set_kind(buffer, LOWER_UB);
        return;
    }
    if (clean && same)
        return;
    if (clean && buffer->kind != LOWER_QUEUE_MOVE)
        add_narrow(lowering, buffer, &transfers);
    else
        set_kind(buffer, LOWER_UB);
}

/* Instructions. */
static int npu_operation(const char *api)
{
    int op = 0;
    while (op < NPU_OPS && (!npu_isa[op].name || strcmp(npu_isa[op].name, api) != 0))
        op++;
    return op;
}

/* Whether the instruction has the type of its destination, in every combination that comes here. */
static bool check_types(struct lowering *lowering, const struct dsl_expr *call, const bool *comes)
{
    const struct lower_instruction *instruction = lower_instruction_find(call->operation->name);
    const struct lower_buffer *buffer =
        instruction ? lower_buffer_find(lowering, operand_buffer(call_argument(call, "dst"), NULL)) : NULL;
    int op = instruction ? npu_operation(instruction->api) : NPU_OPS;
    for (int c = 0; op < NPU_OPS && c < lowering->opdef->combinations; c++) {
        enum akgen_dtype type = lower_type_in(&buffer->type, c);
        if (comes[c] && !(npu_isa[op].types & (UINT64_C(1) << type)))
            return LOWER_FAIL(lowering, call->place, DSL_RULE_types,
                              "compute in a buffer of tl.float32: loads and stores convert",
                              "no instruction does tl.%s of %s, which '%s' holds", call->operation->name,
                              akgen_dtype_name(type), buffer->name);
    }
    return true;
}

/* The combinations that come into a branch: those for which its question about data types holds. */
static bool *those_of_branch(struct lowering *lowering, const struct dsl_expr *question, const bool *comes, bool holds)
{
    int combinations = lowering->opdef->combinations;
    bool *branch = arena_alloc(lowering->arena, (size_t)combinations + 1);
    for (int c = 0; c < combinations; c++) {
        int answer = lower_type_answer(lowering, question, c);
        branch[c] = comes[c] && (answer < 0 || answer == (int)holds);
    }
    return branch;
}

static bool check_block_types(struct lowering *lowering, const struct dsl_block *block, const bool *comes)
{
    bool good = true;
    for (int i = 0; good && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement_call(statement);
        bool branch = statement->kind == DSL_IF;
        good = (!call || statement->kind != DSL_EXPRESSION || check_types(lowering, call, comes)) &&
               check_block_types(lowering, &statement->body,
                                 branch ? those_of_branch(lowering, statement->value, comes, true) : comes) &&
               check_block_types(lowering, &statement->orelse,
                                 branch ? those_of_branch(lowering, statement->value, comes, false) : comes);
    }
    return good;
}

bool pass_types(struct lowering *lowering)
{
    struct dsl_block *kernel = lower_kernel(lowering);
    int combinations = lowering->opdef->combinations, buffers = lowering->buffer_count;
    bool *all = arena_alloc(lowering->arena, (size_t)combinations + 1);
    memset(all, true, (size_t)combinations);
    if (!check_block_types(lowering, kernel, all))
        return false;
    for (int b = 0; b < buffers; b++)
        choose_queue(lowering, &lowering->buffers[b]);
    stage_transfers(lowering, kernel);
    return true;
}
