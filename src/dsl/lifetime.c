/* The lifetime of a queue's tensor. A tensor is taken from its queue, filled, given on, received, used and freed. Where that
 * goes depends on the blocks: a cycle - a load and the uses of what it loaded, or the computing of a tensor and its store -
 * has to lie in one block, with nothing that leaves the block between. Where it does not, the buffer cannot be a queue's
 * tensor itself. */
#include "dsl/lower_internal.h"

#include <string.h>

void lower_visit_operands(struct dsl_expr *call, void (*visit)(void *closure, struct dsl_expr *operand, unsigned use),
                          void *closure)
{
    struct operation_parameter parameter = {.row = call->operation->parameters, .number = -1};
    if (call->operation->place == DSL_PLACE_ANY) /* what the host function may have too knows no buffers */
        return;
    while (operation_next_parameter(&parameter)) {
        char what = parameter.what;
        unsigned use = what == 'W' ? LOWER_WRITE : what == 'R' || what == 'B' || what == 'G' ? LOWER_READ : 0;
        struct dsl_expr *operand = use ? call_argument_for(call, &parameter) : NULL;
        if (operand && operand_buffer(operand, NULL))
            visit(closure, operand, use);
    }
}

struct use_of {
    const char *buffer;
    unsigned use;
};

static void add_use(void *closure, struct dsl_expr *operand, unsigned use)
{
    struct use_of *of = closure;
    if (same_name(operand_buffer(operand, NULL), of->buffer))
        of->use |= use;
}

unsigned lower_use_of(const struct dsl_expr *call, const char *buffer)
{
    struct use_of of = {.buffer = buffer};
    lower_visit_operands((struct dsl_expr *)call, add_use, &of);
    return of.use;
}

struct lower_extent lower_extent_of(const struct dsl_expr *call)
{
    static struct dsl_expr one = {.kind = DSL_INT, .integer = 1, .op = DSL_NO_OPERATOR};
    const char *name = call->operation->name;
    struct lower_extent extent = {.count = call_argument(call, "count"),
                                  .rows = call_argument(call, "rows"),
                                  .cols = call_argument(call, "cols"),
                                  .pitch = call_argument(call, "pitch")};
    if (strncmp(name, "reduce_", 7) == 0)
        return (struct lower_extent){.count = &one};
    if (strncmp(name, "fold_rows_", 10) == 0)
        return (struct lower_extent){.count = extent.rows};
    if (strncmp(name, "col_", 4) == 0)
        return (struct lower_extent){.count = extent.cols};
    if (strcmp(name, "turn") == 0)
        return (struct lower_extent){
            .rows = extent.cols, .cols = extent.rows, .pitch = call_argument(call, "dst_pitch")};
    return extent;
}

const struct dsl_expr *lower_value_of(const struct dsl_block *block, const char *name, int *assignments)
{
    const struct dsl_expr *value = NULL;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (statement->target && tree_mentions(statement->target, name)) {
            value = statement->kind == DSL_ASSIGN ? statement->value : NULL;
            ++*assignments;
        }
        const struct dsl_expr *body = lower_value_of(&statement->body, name, assignments);
        const struct dsl_expr *orelse = lower_value_of(&statement->orelse, name, assignments);
        value = body ? body : orelse ? orelse : value;
    }
    return value;
}

static bool is_product(const struct dsl_expr *expr, const struct dsl_expr *a, const struct dsl_expr *b)
{
    bool product = expr && expr->kind == DSL_BINARY && expr->op == DSL_MULTIPLY;
    return product && ((tree_equal(expr->items[0], a) && tree_equal(expr->items[1], b)) ||
                       (tree_equal(expr->items[0], b) && tree_equal(expr->items[1], a)));
}

bool lower_covers(const struct lowering *lowering, const struct lower_extent *written, const struct lower_extent *read)
{
    int assignments = 0;
    if (written->rows && read->rows)
        return tree_equal(written->rows, read->rows) && tree_equal(written->cols, read->cols) &&
               tree_equal(written->pitch, read->pitch);
    if (written->count && read->count)
        return tree_equal(written->count, read->count);
    const struct lower_extent *matrix = written->rows ? written : read;
    const struct dsl_expr *count = written->rows ? read->count : written->count;
    if (!count || !matrix->rows)
        return false;
    if (count->kind == DSL_NAME)
        count = lower_value_of(lower_kernel(lowering), count->name, &assignments);
    return assignments <= 1 && is_product(count, matrix->rows, matrix->pitch);
}

/* How many elements of a buffer a transfer moves, gaps between rows included. */
struct dsl_expr *transfer_elements(struct edit *edit, struct dsl_expr *transfer)
{
    struct lower_extent extent = lower_extent_of(transfer);
    return extent.count ? edit_copy(edit, extent.count)
                        : edit_product(edit, edit_copy(edit, extent.rows), edit_copy(edit, extent.pitch));
}

/* Whether the statement assigns a name that the expression reads. */
static bool changes(const struct dsl_statement *statement, const struct dsl_expr *expr)
{
    bool found = expr->kind == DSL_NAME && statement_assigns(statement, expr->name);
    for (int i = 0; !found && i < expr->count; i++)
        found = expr->items[i] && changes(statement, expr->items[i]);
    return found;
}

/* Whether the call uses the queue's tensor, or the buffer that it is computed in. */
static bool uses(const struct dsl_expr *call, const struct lower_buffer *buffer)
{
    return lower_use_of(call, buffer->name) || (buffer->wide && lower_use_of(call, buffer->wide));
}

/* What a statement is to a buffer. FIRST and SECOND are the halves of a cycle: load and use, or compute and store. */
enum part { PART_NONE, PART_FIRST, PART_SECOND, PART_CLOSED, PART_BAD };

/* A walk over the kernel; `place`: the steps are put where they belong. */
struct walk {
    struct lowering *lowering;
    const struct lower_buffer *buffer;
    bool place;
};

static enum part part_of_block(struct walk *walk, struct dsl_block *block);

static bool is_transfer(const struct dsl_expr *call)
{
    return call->operation->place == DSL_PLACE_COPYIN || call->operation->place == DSL_PLACE_COPYOUT;
}

/* Whether the first half of a cycle computes the tensor. */
static bool makes(const struct lower_buffer *buffer)
{
    return buffer->kind == LOWER_QUEUE_OUT || buffer->kind == LOWER_QUEUE_CO1;
}

struct half {
    const struct walk *walk;
    bool first, second;
};

static void see_use(void *closure, struct dsl_expr *part)
{
    struct half *half = closure;
    const struct lower_buffer *buffer = half->walk->buffer;
    if (part->kind != DSL_CALL || !part->operation || !uses(part, buffer))
        return;
    bool first = makes(buffer) ? !is_transfer(part) : part->operation->place == DSL_PLACE_COPYIN;
    half->first |= first;
    half->second |= !first;
}

static void see_uses(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_use, closure);
}

static enum part part_of_uses(struct walk *walk, struct dsl_statement *statement)
{
    struct half half = {.walk = walk};
    statement_visit(statement, see_uses, &half);
    return half.first && half.second ? PART_BAD : half.first ? PART_FIRST : half.second ? PART_SECOND : PART_NONE;
}

/* Two branches of which one runs. */
static enum part part_of_branches(enum part a, enum part b)
{
    if (a == b)
        return a;
    enum part other = a == PART_NONE ? b : a;
    bool none = a == PART_NONE || b == PART_NONE;
    return none && (other == PART_CLOSED || other == PART_SECOND) ? other : PART_BAD;
}

static enum part part_of(struct walk *walk, struct dsl_statement *statement)
{
    if (statement->kind == DSL_WITH || (!statement->body.count && !statement->orelse.count))
        return part_of_uses(walk, statement);
    struct half condition = {.walk = walk};
    if (statement->value)
        see_uses(&condition, statement->value);
    enum part body = part_of_block(walk, &statement->body);
    if (statement->kind == DSL_IF)
        body = part_of_branches(body, part_of_block(walk, &statement->orelse));
    if (!condition.second)
        return body == PART_FIRST && !makes(walk->buffer) && statement->kind != DSL_IF ? PART_BAD : body;
    return body == PART_NONE || body == PART_SECOND ? PART_SECOND : PART_BAD;
}

/* Whether something in the statement leaves the block that it stands in. */
static bool leaves(const struct dsl_statement *statement, bool inner)
{
    bool found =
        statement->kind == DSL_RETURN || (!inner && (statement->kind == DSL_BREAK || statement->kind == DSL_CONTINUE));
    bool loop = statement->kind == DSL_FOR || statement->kind == DSL_WHILE;
    for (int i = 0; !found && i < statement->body.count; i++)
        found = leaves(statement->body.items[i], inner || loop);
    for (int i = 0; !found && i < statement->orelse.count; i++)
        found = leaves(statement->orelse.items[i], inner);
    return found;
}

/* Puts a step before (or behind) statement number `at`: into it, where that is a stage. Returns how many statements the block
 * has more. */
static int put_call(struct walk *walk, struct dsl_block *block, int at, struct dsl_expr *call, bool behind)
{
    struct dsl_statement *statement = block->items[at];
    struct dsl_statement *made = edit_statement(&walk->lowering->edit, call);
    if (statement->kind == DSL_WITH) {
        edit_insert(&walk->lowering->edit, &statement->body, behind ? statement->body.count : 0, made);
        return 0;
    }
    edit_insert(&walk->lowering->edit, block, behind ? at + 1 : at, made);
    return 1;
}

static int put(struct walk *walk, struct dsl_block *block, int at, const char *operation, bool behind)
{
    struct edit *edit = &walk->lowering->edit;
    edit->place = block->items[at]->place;
    return put_call(walk, block, at, EDIT_CALL(edit, operation, edit_name(edit, walk->buffer->name)), behind);
}

/* A cycle whose statements from `from` on fill the tensor up to `filled` and use it from `used` to `last`. */
struct cycle {
    int from, filled, used, last;
};

static bool cycle_is_whole(struct dsl_block *block, struct cycle cycle)
{
    if (cycle.used < 0)
        return false;
    for (int i = cycle.from; i <= cycle.last; i++)
        if (leaves(block->items[i], false))
            return false;
    return true;
}

/* The first call in the text that uses the buffer; `certain`: it stands in no branch. */
static struct dsl_expr *first_use(struct dsl_statement *statement, const struct lower_buffer *buffer, bool *certain)
{
    struct dsl_expr *call = statement_call(statement);
    if (call && uses(call, buffer))
        return call;
    *certain &= statement->kind != DSL_IF && statement->kind != DSL_WHILE;
    struct dsl_expr *found = NULL;
    for (int i = 0; !found && i < statement->body.count; i++)
        found = first_use(statement->body.items[i], buffer, certain);
    for (int i = 0; !found && i < statement->orelse.count; i++)
        found = first_use(statement->orelse.items[i], buffer, certain);
    return found;
}

/* Whether the call writes all that the stores of the cycle take. */
static bool makes_all(const struct lowering *lowering, struct dsl_block *block, struct cycle cycle,
                      const struct lower_buffer *buffer, struct dsl_expr *make)
{
    struct dsl_expr *from = NULL;
    if (lower_use_of(make, buffer->wide ? buffer->wide : buffer->name) != LOWER_WRITE)
        return false;
    struct lower_extent written = lower_extent_of(make);
    for (int i = cycle.used; i <= cycle.last; i++) {
        bool always = true;
        struct dsl_expr *store = first_use(block->items[i], buffer, &always);
        if (!store)
            continue;
        struct lower_extent stored = lower_extent_of(store);
        if (!operand_buffer(call_argument(store, "src"), &from) || from || !lower_covers(lowering, &written, &stored))
            return false;
    }
    for (int i = 1; i < make->count; i++)
        if (make->items[i]->kind != DSL_NAMED && operand_buffer(make->items[i], &from) &&
            strcmp(operand_buffer(make->items[i], &from), buffer->wide ? buffer->wide : buffer->name) == 0 && from)
            return false;
    return true;
}

/* A tensor of an output queue is another one in each cycle: what a cycle stores, it has to have computed. True if what uses the
 * tensor first, in the statement or below it, writes all that the store takes, whichever branches are taken. */
static bool makes_what_it_stores(const struct lowering *lowering, struct dsl_block *block, struct cycle cycle,
                                 const struct lower_buffer *buffer, struct dsl_statement *statement)
{
    struct dsl_expr *call = statement_call(statement);
    const struct dsl_block *branches[] = {&statement->body, &statement->orelse};
    if (call && uses(call, buffer))
        return makes_all(lowering, block, cycle, buffer, call);
    if (statement->kind == DSL_WHILE)
        return false;
    for (int b = 0; b < (statement->kind == DSL_IF ? 2 : 1); b++) {
        struct dsl_expr *first = NULL;
        for (int i = 0; !first && i < branches[b]->count; i++) {
            bool certain = true;
            first = first_use(branches[b]->items[i], buffer, &certain);
            if (first && !makes_what_it_stores(lowering, block, cycle, buffer, branches[b]->items[i]))
                return false;
        }
        if (!first)
            return false;
    }
    return true;
}

static void count_uses(struct dsl_statement *statement, const struct lower_buffer *buffer, int *count)
{
    struct dsl_expr *call = statement_call(statement);
    *count += call && uses(call, buffer);
    for (int i = 0; i < statement->body.count; i++)
        count_uses(statement->body.items[i], buffer, count);
    for (int i = 0; i < statement->orelse.count; i++)
        count_uses(statement->orelse.items[i], buffer, count);
}

/* The transfer of a cycle, where there is one alone that moves the beginning of the buffer, and how much is known when the
 * elements are converted: behind a load, before a store. NULL: it is another. */
static struct dsl_expr *only_transfer(struct dsl_block *block, struct cycle cycle, const struct lower_buffer *buffer)
{
    bool certain = true, in = buffer->kind == LOWER_QUEUE_IN;
    int number = in ? cycle.from : cycle.used, transfers = 0;
    for (int i = in ? cycle.from : cycle.used; i <= (in ? cycle.filled : cycle.last); i++)
        count_uses(block->items[i], buffer, &transfers);
    struct dsl_expr *transfer = first_use(block->items[number], buffer, &certain), *from = NULL;
    if (!transfer || !certain || transfers != 1)
        return NULL;
    struct lower_extent extent = lower_extent_of(transfer);
    const struct dsl_expr *parts[] = {extent.count, extent.rows, extent.pitch};
    operand_buffer(transfer->items[2], &from);
    bool known = true;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (int i = in ? number : cycle.from; parts[p] && i <= number; i++)
            known &= !changes(block->items[i], parts[p]);
    return known && !from ? transfer : NULL;
}

static bool cycle_is_good(struct walk *walk, struct dsl_block *block, struct cycle cycle)
{
    const struct lower_buffer *buffer = walk->buffer;
    return cycle_is_whole(block, cycle) && (!buffer->wide || only_transfer(block, cycle, buffer)) &&
           (buffer->kind != LOWER_QUEUE_OUT ||
            makes_what_it_stores(walk->lowering, block, cycle, buffer, block->items[cycle.from]));
}

/* The steps between the queue's tensor and the buffer that it is computed in. */
static struct dsl_expr *conversion(struct walk *walk, const char *operation, const struct dsl_expr *transfer)
{
    struct edit *edit = &walk->lowering->edit;
    edit->place = transfer ? transfer->place : edit->place;
    struct dsl_expr *queue = edit_name(edit, walk->buffer->name), *wide = edit_name(edit, walk->buffer->wide);
    struct dsl_expr *count = transfer ? transfer_elements(edit, (struct dsl_expr *)transfer) : NULL;
    bool narrow = strcmp(operation, "narrow") == 0;
    return EDIT_CALL(edit, operation, narrow ? queue : wide, narrow ? wide : queue, count);
}

/* Puts the steps around a cycle, from the last to the first. */
static int place_cycle(struct walk *walk, struct dsl_block *block, struct cycle cycle)
{
    const struct lower_buffer *buffer = walk->buffer;
    const struct dsl_expr *transfer = buffer->wide ? only_transfer(block, cycle, buffer) : NULL;
    bool in = buffer->kind == LOWER_QUEUE_IN;
    int more = put(walk, block, cycle.last, "free_tensor", true);
    if (transfer && in)
        more += put_call(walk, block, cycle.used, conversion(walk, "widen", transfer), false);
    more += put(walk, block, cycle.used, "deque", false);
    int narrow = transfer && !in ? put_call(walk, block, cycle.filled, conversion(walk, "narrow", transfer), true) : 0;
    more += narrow + put(walk, block, cycle.filled + narrow, "enque", true);
    if (transfer && !in)
        more += put_call(walk, block, cycle.from, conversion(walk, "overlay", NULL), false);
    return more + put(walk, block, cycle.from, "alloc_tensor", false);
}

/* Finds the cycles of a block, and puts their steps in place. */
static enum part part_of_block(struct walk *walk, struct dsl_block *block)
{
    int firsts = 0, seconds = 0, closed = 0;
    struct cycle cycle = {-1, -1, -1, -1};
    bool made = makes(walk->buffer);
    for (int i = 0; i < block->count; i++) {
        enum part part = part_of(walk, block->items[i]);
        bool open = cycle.from >= 0 && cycle.used < 0;
        if (part == PART_BAD || (part == PART_CLOSED && open))
            return PART_BAD;
        firsts += part == PART_FIRST;
        seconds += part == PART_SECOND;
        closed += part == PART_CLOSED;
        if (part == PART_SECOND && cycle.from >= 0) {
            cycle.used = open ? i : cycle.used;
            cycle.last = i;
        } else if (part == PART_FIRST && open && made) {
            cycle.filled = i;
        } else if (part == PART_FIRST || part == PART_CLOSED) {
            if (firsts + closed == 1 && seconds) /* used before it is filled: by the turn before */
                return PART_BAD;
            if (cycle.from >= 0 && !cycle_is_good(walk, block, cycle))
                return PART_BAD;
            if (cycle.from >= 0 && walk->place)
                i += place_cycle(walk, block, cycle);
            cycle = part == PART_FIRST ? (struct cycle){i, i, -1, -1} : (struct cycle){-1, -1, -1, -1};
        } else if (part == PART_SECOND && (firsts || closed)) {
            return PART_BAD; /* used, and nothing filled it since the last cycle ended */
        }
    }
    if (!firsts)
        return seconds && closed ? PART_BAD : seconds ? PART_SECOND : closed ? PART_CLOSED : PART_NONE;
    if (!seconds)
        return closed || (firsts > 1 && !made) ? PART_BAD : PART_FIRST;
    if (!cycle_is_good(walk, block, cycle))
        return PART_BAD;
    if (walk->place)
        place_cycle(walk, block, cycle);
    return PART_CLOSED;
}

bool lifetime_is_clean(struct lowering *lowering, const struct lower_buffer *buffer)
{
    struct walk walk = {lowering, buffer, false};
    enum part part = part_of_block(&walk, lower_kernel(lowering));
    return part == PART_CLOSED || part == PART_NONE;
}

void lifetime_place(struct lowering *lowering, const struct lower_buffer *buffer)
{
    struct walk walk = {lowering, buffer, true};
    part_of_block(&walk, lower_kernel(lowering));
}
