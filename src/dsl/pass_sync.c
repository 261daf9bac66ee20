/* The last pass: order. Queues order loads, the vector unit and stores among each other; what is left are instructions of the
 * vector unit that depend on each other, loads over loads, the scalar unit, which reads and writes elements of buffers, stores to
 * places in global memory that elements decide, and tl.sync_all().
 * The program is walked as it runs, a loop twice, and each unit's accesses that nothing has ordered yet are kept.
 *
 * Holds afterwards: between two accesses of which one writes, by the vector unit or by it and the scalar unit, stands a
 * barrier, whether the C++ compiler inserts its own or not. */
#include "base/array.h"
#include "dsl/lower_internal.h"

#include <string.h>

/* How a unit has used a buffer: bits of enum lower_use, and the last calls that did. */
struct uses {
    unsigned bits;
    const struct dsl_expr *reader, *writer;
};

/* What was accessed since the last barrier of the vector unit, and since the scalar unit last waited for others. */
struct pending {
    struct uses vector, vector_to_scalar, scalar_to_vector, load_to_scalar;
    bool loaded, loaded_part;               /* from the beginning of the tensor on; from elsewhere on */
    unsigned store_to_store, store_to_load; /* of a tensor in global memory: bits of enum stored */
    const struct dsl_expr *load, *store;    /* the last of these */
};
enum stored { STORED = 1, STORED_ANYWHERE = 2 };

struct sync {
    struct lowering *lowering;
    struct pending
        *pending; /* by number of the buffer; then that of the UB which Select has for itself; then the tensors */
    int count;
    bool insert;
    bool *found; /* by number of the kernel's symbol: its values come from elements of buffers or tensors */
    int found_count;
    struct pending **spare; /* copies that are done with */
    int spare_count, spare_capacity;
};

static void sync_block(struct sync *sync, struct dsl_block *block);

/* Buffers that lie in the same memory have one. */
static struct pending *pending_of(struct sync *sync, const char *name)
{
    const struct lower_buffer *buffer = lower_buffer_find(sync->lowering, name);
    return buffer ? &sync->pending[lower_memory_of(sync->lowering, buffer) - sync->lowering->buffers] : NULL;
}

static bool conflicts(const struct uses *before, unsigned now)
{
    return (before->bits & LOWER_WRITE && now) || (now & LOWER_WRITE && before->bits);
}

static void add_use(struct uses *uses, unsigned bits, const struct dsl_expr *call)
{
    uses->bits |= bits;
    uses->reader = bits & LOWER_READ ? call : uses->reader;
    uses->writer = bits & LOWER_WRITE ? call : uses->writer;
}

static void join_uses(struct uses *uses, const struct uses *other)
{
    uses->reader = uses->bits & LOWER_READ ? uses->reader : other->reader;
    uses->writer = uses->bits & LOWER_WRITE ? uses->writer : other->writer;
    uses->bits |= other->bits;
}

/* Buffers that may be the same memory: a queue's tensor and the buffer that it is computed in. */
static const char *other_name(const struct lowering *lowering, const char *name)
{
    const struct lower_buffer *buffer = lower_buffer_find(lowering, name);
    const struct lower_buffer *queue = buffer ? lower_queue_of(lowering, buffer) : NULL;
    return queue ? queue->name : buffer ? buffer->wide : NULL;
}

/* One instruction of the vector unit. */
struct access {
    struct sync *sync;
    const struct dsl_expr *call;
    bool barrier, scalar;
    struct explain_order on_vector, on_scalar; /* the first access that demands each */
};

/* What a use of the buffer has to wait for: the last that wrote, or, where it only was read, that read. */
static void depend(struct explain_order *order, const char *buffer, const struct uses *before, unsigned use,
                   const struct dsl_expr *later)
{
    bool wrote = before->bits & LOWER_WRITE;
    if (!order->buffer)
        *order = (struct explain_order){buffer, wrote ? before->writer : before->reader, later, wrote,
                                        wrote && use & LOWER_READ};
}

static void look_at(struct access *access, const char *name, unsigned use)
{
    const struct pending *pending = name ? pending_of(access->sync, name) : NULL;
    if (!pending || !conflicts(&pending->vector, use))
        return;
    access->barrier = true;
    depend(&access->on_vector, name, &pending->vector, use, access->call);
}

static void look(void *closure, struct dsl_expr *operand, unsigned use)
{
    struct access *access = closure;
    const char *name = operand_buffer(operand, NULL);
    const struct pending *pending = pending_of(access->sync, name);
    look_at(access, name, use);
    look_at(access, other_name(access->sync->lowering, name), use);
    if (pending && conflicts(&pending->scalar_to_vector, use)) {
        access->scalar = true;
        depend(&access->on_scalar, name, &pending->scalar_to_vector, use, access->call);
    }
}

static void record(void *closure, struct dsl_expr *operand, unsigned use)
{
    struct access *access = closure;
    struct pending *pending = pending_of(access->sync, operand_buffer(operand, NULL));
    if (!pending)
        return;
    add_use(&pending->vector, use, access->call);
    add_use(&pending->vector_to_scalar, use, access->call);
}

/* Puts it before statement number `at`; `order` says what for. */
static void put(struct sync *sync, struct dsl_block *block, int *at, const char *operation, struct explain_order order)
{
    struct edit *edit = &sync->lowering->edit;
    edit->place = block->items[*at]->place;
    if (!sync->insert)
        return;
    edit_insert(edit, block, (*at)++, edit_statement(edit, edit_call(edit, operation, 0, NULL)));
    if (sync->lowering->explanation)
        explain_order(sync->lowering, operation, &order);
}

static void end_vector(struct sync *sync)
{
    for (int b = 0; b <= sync->lowering->buffer_count; b++)
        sync->pending[b].vector = (struct uses){0};
}

static void sync_vector(struct sync *sync, struct dsl_block *block, int *at, struct dsl_expr *call)
{
    struct access access = {.sync = sync, .call = call};
    const struct lower_instruction *instruction = lower_instruction_find(call->operation->name);
    struct pending *of_select = &sync->pending[sync->lowering->buffer_count];
    bool selects = instruction && (instruction->form == LOWER_FORM_CHOOSE || instruction->form == LOWER_FORM_TO_BITS);
    access.barrier = selects && of_select->vector.bits;
    if (access.barrier)
        depend(&access.on_vector, "", &of_select->vector, LOWER_WRITE, call);
    lower_visit_operands(call, look, &access);
    if (access.scalar) {
        put(sync, block, at, "await_s_v", access.on_scalar);
        for (int b = 0; b < sync->lowering->buffer_count; b++)
            sync->pending[b].scalar_to_vector = (struct uses){0};
    }
    if (access.barrier) {
        put(sync, block, at, "barrier_v", access.on_vector);
        end_vector(sync);
    }
    lower_visit_operands(call, record, &access);
    add_use(&of_select->vector, selects ? LOWER_WRITE : 0, call);
}

/* What the scalar unit does in an expression: reads of elements. */
struct scalar_access {
    struct sync *sync;
    bool vector, load;
    struct explain_order on_vector, on_load;
};

static void look_scalar(void *closure, struct dsl_expr *part)
{
    struct scalar_access *access = closure;
    bool read = part->kind == DSL_CALL && part->operation && strcmp(part->operation->name, "extract_scalar") == 0;
    bool write = part->kind == DSL_CALL && part->operation && strcmp(part->operation->name, "set_scalar") == 0;
    const char *name = read    ? operand_buffer(call_argument(part, "from"), NULL)
                       : write ? operand_buffer(call_argument(part, "to"), NULL)
                               : NULL;
    struct pending *pending = name ? pending_of(access->sync, name) : NULL;
    if (!pending)
        return;
    const unsigned use = write ? LOWER_WRITE : LOWER_READ;
    if (conflicts(&pending->vector_to_scalar, use)) {
        access->vector = true;
        depend(&access->on_vector, name, &pending->vector_to_scalar, use, part);
    }
    if (pending->load_to_scalar.bits) {
        access->load = true;
        depend(&access->on_load, name, &pending->load_to_scalar, use, part);
    }
    add_use(&pending->scalar_to_vector, use, part);
}

static void sync_scalars(struct sync *sync, struct dsl_block *block, int *at, struct dsl_expr *value)
{
    struct scalar_access access = {.sync = sync};
    tree_visit(value, look_scalar, &access);
    if (access.vector)
        put(sync, block, at, "await_v_s", access.on_vector);
    if (access.load)
        put(sync, block, at, "await_mte2_s", access.on_load);
    for (int b = 0; b < sync->lowering->buffer_count; b++) {
        if (access.vector)
            sync->pending[b].vector_to_scalar = (struct uses){0};
        if (access.load)
            sync->pending[b].load_to_scalar = (struct uses){0};
    }
}

/* A tensor that comes out of a queue has been ordered by it; it may be another one than before. */
static void sync_queue(struct sync *sync, const struct dsl_expr *call)
{
    const char *name = call_argument(call, "queue")->name;
    struct pending *pending = pending_of(sync, name);
    const struct lower_buffer *buffer = lower_buffer_find(sync->lowering, name);
    bool deque = strcmp(call->operation->name, "deque") == 0;
    *pending = (struct pending){0};
    if (deque && buffer->kind != LOWER_QUEUE_OUT)
        add_use(&pending->load_to_scalar, LOWER_WRITE, call);
    if (deque && buffer->wide)
        add_use(&pending_of(sync, buffer->wide)->load_to_scalar, LOWER_WRITE, call);
}

static bool is_vector(const struct dsl_expr *call)
{
    static const char *const conversions[] = {"widen", "narrow", "convert"};
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (same_name(call->operation->name, conversions[i]))
            return true;
    const struct lower_instruction *instruction = lower_instruction_find(call->operation->name);
    return instruction && instruction->form != LOWER_FORM_PRODUCT;
}

/* A load over what was loaded before: parts of a buffer that begin elsewhere lie apart. */
static void sync_load(struct sync *sync, struct dsl_block *block, int *at, const struct dsl_expr *call)
{
    struct dsl_expr *from = NULL;
    struct pending *pending = pending_of(sync, operand_buffer(call_argument(call, "dst"), &from));
    if (!pending)
        return;
    if (pending->loaded || (pending->loaded_part && !from)) {
        put(sync, block, at, "barrier_mte2",
            (struct explain_order){operand_buffer(call->items[2], NULL), pending->load, call, .wrote = true});
        for (int b = 0; b < sync->lowering->buffer_count; b++)
            sync->pending[b].loaded = sync->pending[b].loaded_part = false;
    }
    *(from ? &pending->loaded_part : &pending->loaded) = true;
    pending->load = call;
}

static const struct dsl_symbol *found_symbol(const struct sync *sync, const char *name)
{
    return dsl_scope_find(&sync->lowering->program->kernel_names, name);
}

struct origin {
    const struct sync *sync;
    bool found;
};

static void look_for_elements(void *closure, struct dsl_expr *part)
{
    struct origin *origin = closure;
    const char *name = part->kind == DSL_CALL && part->operation ? part->operation->name : "";
    origin->found |= same_name(name, "extract_scalar") || same_name(name, "compress");
    const struct dsl_symbol *symbol = part->kind == DSL_NAME ? found_symbol(origin->sync, part->name) : NULL;
    origin->found |= symbol && origin->sync->found[symbol->number];
}

static bool comes_from_elements(const struct sync *sync, struct dsl_expr *value)
{
    struct origin origin = {.sync = sync};
    tree_visit(value, look_for_elements, &origin);
    return origin.found;
}

/* Adds the variables of the block that get such values. */
static void find_variables(struct sync *sync, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        if (statement->target && statement->target->kind == DSL_NAME && statement->value &&
            !comes_from_elements(sync, statement->target) && comes_from_elements(sync, statement->value)) {
            sync->found[found_symbol(sync, statement->target->name)->number] = true;
            sync->found_count++;
        }
        find_variables(sync, &statement->body);
        find_variables(sync, &statement->orelse);
    }
}

/* A store, or a load, where a core has stored before. Places that the program computes of the core's and the loops' numbers lie
 * apart; those that elements decide may be the same. */
static void sync_memory(struct sync *sync, struct dsl_block *block, int *at, const struct dsl_expr *call)
{
    bool load = call->operation->place == DSL_PLACE_COPYIN;
    struct dsl_expr *address = call_argument(call, "address");
    const struct lowering *lowering = sync->lowering;
    const struct lower_parameter *tensor = lower_tensor_of(lowering, address);
    if (!tensor)
        return;
    struct pending *pending = &sync->pending[lowering->buffer_count + 1 + (tensor - lowering->parameters)];
    unsigned before = load ? pending->store_to_load : pending->store_to_store;
    bool anywhere = comes_from_elements(sync, address);
    if (before & STORED_ANYWHERE || (before && anywhere)) {
        put(sync, block, at, load ? "await_mte3_mte2" : "barrier_mte3",
            (struct explain_order){tensor->name, pending->store, call, .wrote = true, .reads = load});
        for (int i = lowering->buffer_count + 1; i < sync->count; i++)
            *(load ? &sync->pending[i].store_to_load : &sync->pending[i].store_to_store) = 0;
    }
    if (load)
        return;
    unsigned now = STORED | (anywhere ? STORED_ANYWHERE : 0);
    pending->store_to_store |= now;
    pending->store_to_load |= now;
    pending->store = call;
}

static bool is_one_of(const char *name, const char *a, const char *b)
{
    return same_name(name, a) || same_name(name, b);
}

static void sync_call(struct sync *sync, struct dsl_block *block, int *at, struct dsl_expr *call)
{
    const char *name = call->operation->name;
    if (is_one_of(name, "load", "load_rows") || is_one_of(name, "store", "store_rows"))
        sync_memory(sync, block, at, call);
    if (is_vector(call)) {
        sync_vector(sync, block, at, call);
    } else if (call->operation->place == DSL_PLACE_COPYIN) {
        sync_load(sync, block, at, call);
    } else if (strcmp(name, "alloc_tensor") == 0 || strcmp(name, "deque") == 0) {
        sync_queue(sync, call);
    } else if (strcmp(name, "enque") == 0) {
        const struct pending *pending = pending_of(sync, call_argument(call, "queue")->name);
        if (pending->scalar_to_vector.bits & LOWER_WRITE)
            put(sync, block, at, "await_s_mte3",
                (struct explain_order){call->items[1]->name, pending->scalar_to_vector.writer, call, .wrote = true,
                                       .reads = true});
    } else if (strcmp(name, "sync_all") == 0) {
        put(sync, block, at, "barrier_all", (struct explain_order){.later = call});
        memset(sync->pending, 0, (size_t)sync->count * sizeof *sync->pending);
    }
}

static void join_pending(struct sync *sync, const struct pending *other)
{
    for (int b = 0; b < sync->count; b++) {
        join_uses(&sync->pending[b].vector, &other[b].vector);
        join_uses(&sync->pending[b].vector_to_scalar, &other[b].vector_to_scalar);
        join_uses(&sync->pending[b].scalar_to_vector, &other[b].scalar_to_vector);
        join_uses(&sync->pending[b].load_to_scalar, &other[b].load_to_scalar);
        if (!sync->pending[b].loaded && !sync->pending[b].loaded_part)
            sync->pending[b].load = other[b].load;
        if (!sync->pending[b].store_to_store && !sync->pending[b].store_to_load)
            sync->pending[b].store = other[b].store;
        sync->pending[b].loaded |= other[b].loaded;
        sync->pending[b].loaded_part |= other[b].loaded_part;
        sync->pending[b].store_to_store |= other[b].store_to_store;
        sync->pending[b].store_to_load |= other[b].store_to_load;
    }
}

/* A copy of what is pending; give_back() lets the next one have its memory. */
static struct pending *copy_pending(struct sync *sync)
{
    const size_t bytes = (size_t)sync->count * sizeof *sync->pending;
    struct pending *copy =
        sync->spare_count ? sync->spare[--sync->spare_count] : arena_alloc(sync->lowering->arena, bytes);
    return memcpy(copy, sync->pending, bytes);
}

static void give_back(struct sync *sync, struct pending *copy)
{
    ARRAY_ADD(sync->lowering->arena, sync->spare, sync->spare_count, sync->spare_capacity, copy);
}

static void sync_nested(struct sync *sync, struct dsl_statement *statement)
{
    if (statement->kind == DSL_WITH) {
        sync_block(sync, &statement->body);
        return;
    }
    struct pending *before = copy_pending(sync);
    bool insert = sync->insert;
    if (statement->kind == DSL_FOR || statement->kind == DSL_WHILE) {
        sync->insert = false; /* what a turn leaves, the next one finds */
        sync_block(sync, &statement->body);
        join_pending(sync, before);
        sync->insert = insert;
        memcpy(before, sync->pending, (size_t)sync->count * sizeof *before);
    }
    sync_block(sync, &statement->body);
    struct pending *after = sync->pending;
    sync->pending = before;
    if (statement->kind == DSL_IF)
        sync_block(sync, &statement->orelse);
    join_pending(sync, after);
    give_back(sync, after);
}

static void sync_block(struct sync *sync, struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        struct dsl_expr *call = statement_call(statement);
        if (statement->value && statement->kind != DSL_WITH)
            sync_scalars(sync, block, &i, statement->value);
        if (call && (statement->kind == DSL_EXPRESSION || strcmp(call->operation->name, "compress") == 0))
            sync_call(sync, block, &i, call);
        if (statement->body.count || statement->orelse.count)
            sync_nested(sync, statement);
    }
}

/* Whether elements of a buffer are read that may have been computed of nothing. */
static bool read_beyond(const struct lowering *lowering, const struct dsl_block *block, const char *buffer)
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement_operation(statement);
        found = (call && (lowering->clears || lower_call_rounds(call)) && lower_use_of(call, buffer) & LOWER_READ) ||
                read_beyond(lowering, &statement->body, buffer) || read_beyond(lowering, &statement->orelse, buffer);
    }
    return found;
}

/* The same of all buffers that lie in its memory. */
static bool memory_read_beyond(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    bool found = false;
    for (int b = 0; !found && b < lowering->buffer_count; b++)
        found = lower_memory_of(lowering, &lowering->buffers[b]) == lower_memory_of(lowering, buffer) &&
                read_beyond(lowering, lower_kernel(lowering), lowering->buffers[b].name);
    return found;
}

/* Reductions leave their room without values: where it is read beyond what is computed there later, it gets zeros again, which
 * every buffer of such a kernel has at the beginning. */
static void clear_rooms(struct lowering *lowering, struct dsl_block *block)
{
    struct edit *edit = &lowering->edit;
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement_operation(statement);
        const struct lower_instruction *instruction = call ? lower_instruction_find(call->operation->name) : NULL;
        clear_rooms(lowering, &statement->body);
        clear_rooms(lowering, &statement->orelse);
        if (!instruction || instruction->form != LOWER_FORM_REDUCE)
            continue;
        const struct lower_buffer *room = lower_buffer_of(lowering, call_argument(call, "shared"));
        if (!room || !memory_read_beyond(lowering, room))
            continue;
        edit->place = statement->place;
        struct dsl_expr *zeros = EDIT_CALL(edit, "duplicate", edit_name(edit, room->name), edit_real(edit, 0));
        edit_add_named(edit, zeros, "count", edit_copy(edit, room->size));
        edit_insert(edit, block, ++i, edit_statement(edit, zeros));
    }
}

bool pass_sync(struct lowering *lowering)
{
    clear_rooms(lowering, lower_kernel(lowering));
    struct sync sync = {
        .lowering = lowering, .count = lowering->buffer_count + 1 + lowering->parameter_count, .insert = true};
    sync.pending = arena_alloc(lowering->arena, (size_t)sync.count * sizeof *sync.pending);
    sync.found = arena_alloc(lowering->arena, (size_t)lowering->program->kernel_names.count + 1);
    for (int known = -1; known < sync.found_count;) {
        known = sync.found_count;
        find_variables(&sync, lower_kernel(lowering));
    }
    for (int b = 0; lower_rounds(lowering) && b < lowering->buffer_count; b++) /* the zeros that buffers begin with */
        if (lowering->buffers[b].kind == LOWER_UB)
            add_use(&sync.pending[b].vector_to_scalar, LOWER_WRITE, lowering->buffers[b].allocation->value);
    sync_block(&sync, lower_kernel(lowering));
    return true;
}
