/* Which buffers of UB lie in the same memory: those whose lives do not meet. The kernel's statements are numbered in their order.
 * A buffer lives from the first statement that uses it to the last one, and through the whole of a loop if a turn may read what
 * an earlier one left, or if the buffer is used outside of the loop too. A buffer that lies in the memory of another is a view of
 * its TBuf.
 *
 * The buffers of queues, which loads and stores write and read while others are computed, keep their memory for themselves. */
#include "dsl/lower_internal.h"

#include <limits.h>
#include <string.h>

/* Numbers of statements. */
struct life {
    int begin, end;
};

struct walk {
    const struct lowering *lowering;
    const struct lower_buffer *buffer;
    uint64_t bit;                   /* of the buffer in what statements use */
    const struct dsl_block *region; /* of the reads that a write has to cover */
    int uses;                       /* statements that have been seen to use the buffer */
    int all;                        /* how many there are */
    struct life life;
    const struct dsl_block *known; /* the block that is_fresh() was asked about last, and its answer */
    bool fresh;
};

static uint64_t bit_of(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    return buffer ? (uint64_t)1 << (buffer - lowering->buffers) % 64 : 0;
}

struct noting {
    const struct lowering *lowering;
    uint64_t buffers;
};

static void note_buffer(void *closure, struct dsl_expr *part)
{
    struct noting *noting = closure;
    if (part->kind == DSL_NAME && part->name)
        noting->buffers |= bit_of(noting->lowering, lower_buffer_find(noting->lowering, part->name));
}

/* Notes which buffers each statement of the block uses: most have nothing to do with one, and that is seen at a glance. */
static void note_buffers(const struct lowering *lowering, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        const struct dsl_block *const below[] = {&statement->body, &statement->orelse};
        struct noting noting = {lowering, 0};
        tree_visit(statement->value, note_buffer, &noting);
        tree_visit(statement->target, note_buffer, &noting);
        statement->all = 1;
        for (int b = 0; b < 2; b++) {
            note_buffers(lowering, below[b]);
            for (int k = 0; k < below[b]->count; k++) {
                noting.buffers |= below[b]->items[k]->buffers;
                statement->all += below[b]->items[k]->all;
            }
        }
        statement->buffers = noting.buffers;
    }
}

static bool mentions(const struct walk *walk, const struct dsl_statement *statement)
{
    return statement->buffers & walk->bit && statement_mentions(statement, walk->buffer->name);
}

static bool names_are_constant(const struct lowering *lowering, const struct dsl_expr *expr)
{
    int assignments = 0;
    if (!expr)
        return true;
    if (expr->kind == DSL_NAME)
        lower_value_of(lower_kernel(lowering), expr->name, &assignments);
    bool constant = assignments <= 1;
    for (int i = 0; constant && i < expr->count; i++)
        constant = names_are_constant(lowering, expr->items[i]);
    return constant;
}

/* What a call reads of an operand; nothing known: any of its elements. */
static struct lower_extent read_extent(const struct dsl_expr *call, const struct operation_parameter *parameter)
{
    struct dsl_expr *count = call_argument(call, "count"), *pitch = call_argument(call, "src_pitch");
    bool gathered = strstr(call->operation->name, "gather") && strncmp(parameter->name, "src:", 4) == 0;
    if (count || gathered)
        return (struct lower_extent){.count = gathered ? NULL : count};
    if (strncmp(parameter->name, "row:", 4) == 0)
        return (struct lower_extent){.count = call_argument(call, "cols")};
    if (strncmp(parameter->name, "col:", 4) == 0)
        return (struct lower_extent){.count = call_argument(call, "rows")};
    return (struct lower_extent){.rows = call_argument(call, "rows"),
                                 .cols = call_argument(call, "cols"),
                                 .pitch = pitch ? pitch : call_argument(call, "pitch")};
}

/* Whether a write fills the buffer. */
static bool is_whole(const struct walk *walk, const struct lower_extent *written)
{
    int64_t count, size;
    if (!written->count)
        return false;
    return tree_equal(written->count, walk->buffer->size) ||
           (lower_constant(walk->lowering, written->count, &count) &&
            lower_constant(walk->lowering, walk->buffer->size, &size) && count >= size);
}

struct reads {
    const struct walk *walk;
    const struct lower_extent *written;
    bool covered;
};

static void see_reads(void *closure, struct dsl_expr *part)
{
    struct reads *reads = closure;
    if (part->kind != DSL_CALL || !part->operation)
        return;
    struct operation_parameter parameter = {.row = part->operation->parameters, .number = -1};
    while (reads->covered && operation_next_parameter(&parameter)) {
        struct dsl_expr *operand = call_argument_for(part, &parameter), *from = NULL;
        const char *name = operand && parameter.what != 'W' ? operand_buffer(operand, &from) : NULL;
        if (!name || strcmp(name, reads->walk->buffer->name) != 0)
            continue;
        struct dsl_expr *index = call_argument(part, "index");
        struct lower_extent read = read_extent(part, &parameter);
        bool first = parameter.what == 'G' && tree_is_integer(index, 0);
        reads->covered = !from && (first || lower_covers(reads->walk->lowering, reads->written, &read));
    }
}

static void see_reads_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_reads, closure);
}

/* Whether all that the region reads of the buffer has been written by the call. */
static bool covers_region(const struct walk *walk, const struct dsl_expr *call)
{
    const struct lower_extent written = lower_extent_of(call);
    struct reads reads = {walk, &written, true};
    const struct dsl_expr *parts[] = {written.count, written.rows, written.cols, written.pitch};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!names_are_constant(walk->lowering, parts[i]))
            return false;
    for (int i = 0; i < walk->region->count && !is_whole(walk, &written); i++)
        if (walk->region->items[i]->buffers & walk->bit)
            statement_visit(walk->region->items[i], see_reads_below, &reads);
    return reads.covered;
}

bool share_covers(const struct lowering *lowering, const struct lower_buffer *buffer,
                  const struct dsl_block *statements, const struct dsl_expr *call)
{
    note_buffers(lowering, statements);
    const struct walk walk = {
        .lowering = lowering, .buffer = buffer, .region = statements, .bit = bit_of(lowering, buffer)};
    return covers_region(&walk, call);
}

static void count_names(void *closure, struct dsl_expr *part)
{
    struct walk *walk = closure;
    walk->uses += part->kind == DSL_NAME && strcmp(part->name, walk->buffer->name) == 0;
}

/* Whether the call writes the buffer from its beginning on, and uses it for nothing else. */
static bool only_writes(const struct walk *walk, struct dsl_expr *call)
{
    struct walk count = {.buffer = walk->buffer};
    int written = 0;
    struct operation_parameter parameter = {.row = call->operation->parameters, .number = -1};
    while (operation_next_parameter(&parameter)) {
        const struct dsl_expr *operand = parameter.what == 'W' ? call_argument_for(call, &parameter) : NULL;
        written += operand && operand->kind == DSL_NAME && strcmp(operand->name, walk->buffer->name) == 0;
    }
    tree_visit(call, count_names, &count);
    return written == count.uses;
}

/* What comes first in a turn: nothing, a write of all that is read, or something that may see what an earlier turn left. */
enum first { FIRST_NONE, FIRST_WRITE, FIRST_OTHER };

static enum first first_in_block(const struct walk *walk, const struct dsl_block *block);

static enum first first_in(const struct walk *walk, const struct dsl_statement *statement)
{
    static const char *const partial[] = {"fill_gaps", "set_scalar"}; /* they write single elements */
    const char *name = walk->buffer->name;
    struct dsl_expr *call = statement_operation(statement);
    if (!mentions(walk, statement))
        return FIRST_NONE;
    if (statement->kind == DSL_WITH)
        return first_in_block(walk, &statement->body);
    if (statement->kind == DSL_IF && !tree_mentions(statement->value, name)) {
        enum first body = first_in_block(walk, &statement->body), orelse = first_in_block(walk, &statement->orelse);
        return body == orelse ? body : FIRST_OTHER;
    }
    if (!call || !only_writes(walk, call))
        return FIRST_OTHER;
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
        if (strcmp(call->operation->name, partial[i]) == 0)
            return FIRST_OTHER;
    return covers_region(walk, call) ? FIRST_WRITE : FIRST_OTHER;
}

static enum first first_in_block(const struct walk *walk, const struct dsl_block *block)
{
    enum first first = FIRST_NONE;
    for (int i = 0; first == FIRST_NONE && i < block->count; i++)
        first = first_in(walk, block->items[i]);
    return first;
}

/* Whether running the block once reads nothing of the buffer that was in it before. Inner loops are asked about before those
 * around them. */
static bool is_fresh(struct walk *walk, const struct dsl_block *block)
{
    const struct dsl_statement *only = NULL;
    int using = 0;
    if (block == walk->known)
        return walk->fresh;
    for (int i = 0; i < block->count; i++)
        if (mentions(walk, block->items[i])) {
            only = block->items[i];
            using ++;
        }
    if (using == 1 && (only->body.count || only->orelse.count) && !tree_mentions(only->value, walk->buffer->name))
        return is_fresh(walk, &only->body) && is_fresh(walk, &only->orelse);
    walk->region = block;
    walk->known = block;
    return walk->fresh = first_in_block(walk, block) != FIRST_OTHER;
}

static void live_at(struct walk *walk, int number)
{
    walk->life.begin = number < walk->life.begin ? number : walk->life.begin;
    walk->life.end = number > walk->life.end ? number : walk->life.end;
}

/* Finds the life of the buffer in the block, whose first statement has this number; yields that of the next one behind it. */
static int walk_block(struct walk *walk, const struct dsl_block *block, int number)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (!(statement->buffers & walk->bit)) {
            number += statement->all;
            continue;
        }
        bool loop = statement->kind == DSL_FOR || statement->kind == DSL_WHILE;
        int at = number++, before = walk->uses;
        bool names_only = statement_calls(statement, "overlay"); /* and nothing is there yet */
        if (!names_only && tree_mentions(statement->value, walk->buffer->name)) {
            live_at(walk, at);
            walk->uses++;
        }
        number = walk_block(walk, &statement->body, number);
        number = walk_block(walk, &statement->orelse, number);
        if (!loop || walk->uses == before)
            continue;
        bool inside = walk->uses - before == walk->all;
        bool again = tree_mentions(statement->value, walk->buffer->name);
        /* a buffer with a queue is filled, or computed, anew for each of the queue's tensors */
        bool fresh =
            inside && !again && (lower_queue_of(walk->lowering, walk->buffer) || is_fresh(walk, &statement->body));
        if (!fresh) {
            live_at(walk, at);
            live_at(walk, number - 1);
        }
    }
    return number;
}

static struct life life_of(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    struct walk walk = {.lowering = lowering, .buffer = buffer, .bit = bit_of(lowering, buffer), .life = {INT_MAX, -1}};
    const struct dsl_block *kernel = lower_kernel(lowering);
    walk.all = INT_MAX; /* no loop is known to have all uses yet */
    walk_block(&walk, kernel, 0);
    walk.all = walk.uses;
    walk.uses = 0;
    walk.life = (struct life){INT_MAX, -1};
    walk_block(&walk, kernel, 0);
    return walk.life;
}

/* Whether the memory of `a` has room for `b`, in every combination of types. */
static bool holds(const struct lowering *lowering, const struct lower_buffer *a, const struct lower_buffer *b)
{
    bool same = tree_equal(a->size, b->size), enough = true;
    for (int c = 0; enough && c < lowering->opdef->combinations; c++) {
        if (lower_lies_in_queue(lowering, b, c))
            continue;
        int64_t room = lower_bytes(lowering, a, c), needed = lower_bytes(lowering, b, c);
        bool wider = lower_unit_bytes(lowering, a) * lower_unit_elements(lowering, b, c) >=
                     lower_unit_bytes(lowering, b) * lower_unit_elements(lowering, a, c);
        enough = !lower_lies_in_queue(lowering, a, c) &&
                 (room >= 0 && needed >= 0 ? room >= needed : room < 0 && needed < 0 && same && wider);
    }
    return enough;
}

/* Buffers that lie in one memory, which is the first's. */
struct place {
    int *buffers, count;
};

/* Whether the first buffer's life is over when the second's begins. */
static bool ends_before(const struct lowering *lowering, const struct life *lives, int first, int second)
{
    bool split = false;
    for (int i = 0; !split && i < lowering->split_count; i++)
        split = strcmp(lowering->splits[i].loaded, lowering->buffers[first].name) == 0 &&
                strcmp(lowering->splits[i].made, lowering->buffers[second].name) == 0;
    return lives[first].end < lives[second].begin + split;
}

static bool is_free(const struct lowering *lowering, const struct place *place, const struct life *lives, int number)
{
    bool free = true;
    for (int i = 0; free && i < place->count; i++)
        free = ends_before(lowering, lives, number, place->buffers[i]) ||
               ends_before(lowering, lives, place->buffers[i], number);
    return free;
}

/* The place where the buffer may lie: first one of its own size, then one that is larger, or smaller; NULL: there is none. */
static struct place *find_place(const struct lowering *lowering, struct place *places, int count,
                                const struct life *lives, int number)
{
    const struct lower_buffer *buffer = &lowering->buffers[number];
    struct place *found = NULL;
    for (int p = 0; p < count; p++) {
        const struct lower_buffer *owner = &lowering->buffers[places[p].buffers[0]];
        bool fits = holds(lowering, owner, buffer), larger = holds(lowering, buffer, owner);
        if ((!fits && !larger) || !is_free(lowering, &places[p], lives, number))
            continue;
        if (fits && larger)
            return &places[p];
        found = found ? found : &places[p];
    }
    return found;
}

void share_buffers(struct lowering *lowering)
{
    size_t all = (size_t)lowering->buffer_count + 1;
    struct life *lives = arena_alloc(lowering->arena, all * sizeof *lives);
    struct place *places = arena_alloc(lowering->arena, all * sizeof *places);
    int count = 0;
    note_buffers(lowering, lower_kernel(lowering));
    for (int b = 0; b < lowering->buffer_count; b++) {
        if (lowering->buffers[b].kind != LOWER_UB)
            continue;
        lives[b] = life_of(lowering, &lowering->buffers[b]);
        struct place *place = find_place(lowering, places, count, lives, b);
        if (!place) {
            place = &places[count++];
            *place = (struct place){.buffers = arena_alloc(lowering->arena, all * sizeof *place->buffers)};
        }
        place->buffers[place->count++] = b;
        if (!holds(lowering, &lowering->buffers[place->buffers[0]], &lowering->buffers[b])) {
            place->buffers[place->count - 1] = place->buffers[0];
            place->buffers[0] = b;
        }
    }
    for (int p = 0; p < count; p++)
        for (int i = 1; i < places[p].count; i++)
            lowering->buffers[places[p].buffers[i]].of = lowering->buffers[places[p].buffers[0]].name;
}

void share_place(struct lowering *lowering)
{
    struct edit *edit = &lowering->edit;
    struct dsl_block *kernel = lower_kernel(lowering);
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b], *owner = lower_memory_of(lowering, buffer);
        struct dsl_statement *allocation = buffer->allocation;
        if (owner == buffer)
            continue;
        edit->place = allocation->place;
        allocation->value->items[0]->name = "view_ub";
        edit_add_named(edit, allocation->value, "of", edit_name(edit, owner->name));
        int from = 0, to = 0;
        while (kernel->items[from] != allocation)
            from++;
        while (kernel->items[to] != owner->allocation)
            to++;
        if (from < to) {
            memmove(&kernel->items[from], &kernel->items[from + 1],
                    (size_t)(to - from) * sizeof(struct dsl_statement *));
            kernel->items[to] = allocation;
        }
    }
}
