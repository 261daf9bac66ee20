/* The third pass: how many elements. Ranges, masks and places in tensors are followed from where they are made to where they
 * are used; a mask that leaves a range's first elements becomes their number, and every operation on a buffer computes as
 * many elements as its operands have values.
 *
 * Holds afterwards: a transfer has an address `tensor + offset`, every transfer and every operation on whole buffers says
 * count=; no variable is a range, a mask, an address or a piece of a buffer. */
#include "base/array.h"
#include "dsl/lower_internal.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

/* What a variable or an expression of these types stands for. Every part is an expression of integers. */
struct place_value {
    const char *name;        /* the buffer's; NULL of anything else */
    struct dsl_expr *tensor; /* a parameter, or one of a list: xs[i] */
    struct dsl_expr *start;  /* elements */
    struct dsl_expr *length; /* NULL: to the end */
    int64_t stride;          /* of a range */
    struct dsl_expr *count;  /* of a mask: how many of the first elements it leaves */
};
struct variable {
    const char *name;
    struct place_value value;
    bool lost; /* a branch or a loop may have given it another */
};

/* How many of a buffer's elements have a value, from its first on. */
enum extent_kind { EXTENT_NONE, EXTENT_WHOLE, EXTENT_COUNT, EXTENT_UNKNOWN };
struct extent {
    enum extent_kind kind;
    struct dsl_expr *count;
};

/* `name = value`, which a statement before has computed and which holds still. */
struct known {
    const char *name;
    struct dsl_expr *value;
    int depth; /* of blocks around it */
};

struct align {
    struct lowering *lowering;
    struct edit *edit;
    struct variable *variables;
    int variable_count, variable_capacity;
    struct extent *extents; /* by number of the buffer */
    bool *whole_used;       /* somewhere all of it is taken to have a value */
    struct known *known;
    int known_count, known_capacity;
    struct dsl_block *outer; /* where statements go that a stage needs: the block around it */
    int outer_at;            /* number of the stage in it */
    struct dsl_statement *stage;
    struct dsl_statement *loops[64]; /* around */
    int loop_count, depth;
    bool good;
};

static bool align_block(struct align *align, struct dsl_block *block);
static bool place_of(struct align *align, struct dsl_expr *expr, struct place_value *value);

static bool is_place(const struct dsl_expr *expr)
{
    return expr->type >= DSL_TYPE_POINTER && expr->type <= DSL_TYPE_MASK;
}

/* The end of the loop that the name counts, where the name is a loop's and the body leaves it alone. */
static struct dsl_expr *loop_end(const struct align *align, const struct dsl_expr *name)
{
    for (int i = align->loop_count - 1; i >= 0 && name->kind == DSL_NAME; i--) {
        const struct dsl_statement *loop = align->loops[i];
        if (!loop->target || loop->target->kind != DSL_NAME || strcmp(loop->target->name, name->name) != 0)
            continue;
        const struct dsl_expr *range = loop->value;
        bool counts = range->kind == DSL_CALL && expr_is(range->items[0], "", "range") && range->count >= 2;
        bool upwards = counts && (range->count < 4 || range->items[3]->kind != DSL_UNARY);
        return upwards && !block_assigns(&loop->body, name->name) ? range->items[range->count == 2 ? 1 : 2] : NULL;
    }
    return NULL;
}

/* The value of a name that one statement of the kernel assigns, outside of loops; NULL: it is something else. */
static struct dsl_expr *meaning_of(const struct align *align, const struct dsl_expr *name)
{
    const struct dsl_block *kernel = lower_kernel(align->lowering);
    struct dsl_expr *meaning = NULL;
    int assignments = 0;
    for (int i = 0; i < kernel->count; i++) {
        const struct dsl_statement *statement = kernel->items[i];
        if (!statement_assigns(statement, name->name))
            continue;
        assignments++;
        meaning =
            statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME && statement->op == DSL_NO_OPERATOR
                ? statement->value
                : NULL;
    }
    return assignments == 1 ? meaning : NULL;
}

/* Whether `end` is `bound`, or the smaller of it and something else. */
static bool at_most(const struct align *align, struct dsl_expr *end, const struct dsl_expr *bound)
{
    if (tree_equal(end, bound))
        return true;
    if (end->kind == DSL_NAME) {
        struct dsl_expr *meaning = meaning_of(align, end);
        return meaning && meaning->kind != DSL_NAME && at_most(align, meaning, bound);
    }
    bool smaller = end->kind == DSL_CALL && (expr_is(end->items[0], "", "min") || expr_is(end->items[0], "tl", "min"));
    bool found = false;
    for (int i = 1; smaller && !found && i < end->count; i++)
        found = at_most(align, end->items[i], bound);
    return found;
}

/* Whether start < bound is certain: start counts a loop that ends at bound. */
static bool is_below(const struct align *align, struct dsl_expr *start, const struct dsl_expr *bound)
{
    struct dsl_expr *end = loop_end(align, start);
    return end && at_most(align, end, bound);
}

static bool not_compiled(struct align *align, const struct dsl_expr *expr, const char *remedy, const char *what)
{
    align->good = false;
    return LOWER_FAIL(align->lowering, expr->place, DSL_RULE_not_compiled, remedy, "%s", what);
}

static bool place_of_name(struct align *align, struct dsl_expr *expr, struct place_value *value)
{
    for (int i = align->variable_count - 1; i >= 0; i--)
        if (strcmp(align->variables[i].name, expr->name) == 0 && align->variables[i].lost)
            break;
        else if (strcmp(align->variables[i].name, expr->name) == 0) {
            *value = align->variables[i].value;
            return true;
        }
    if (!lower_buffer_find(align->lowering, expr->name) && !lower_parameter_find(align->lowering, expr->name))
        return not_compiled(align, expr, "assign it where it is used",
                            "which place this is depends on the way that led here");
    bool buffer = lower_buffer_find(align->lowering, expr->name) != NULL;
    *value = (struct place_value){.name = buffer ? expr->name : NULL,
                                  .tensor = buffer ? NULL : edit_name(align->edit, expr->name),
                                  .start = edit_integer(align->edit, 0),
                                  .stride = 1};
    return true;
}

/* A range compared with a bound. */
static bool place_of_mask(struct align *align, struct dsl_expr *expr, struct place_value *value)
{
    struct edit *edit = align->edit;
    bool turned = expr->items[1]->type == DSL_TYPE_RANGE;
    struct dsl_expr *range = expr->items[turned], *bound = expr->items[!turned];
    enum dsl_operator op = expr->op;
    struct place_value of;
    if (turned)
        op = op == DSL_GREATER ? DSL_LESS : op == DSL_GREATER_EQUAL ? DSL_LESS_EQUAL : DSL_NO_OPERATOR;
    if (op != DSL_LESS && op != DSL_LESS_EQUAL)
        return not_compiled(
            align, expr,
            "let the address begin at the first element that is meant, x + max(at, bound), with count= as "
            "many as are left, into another buffer",
            "a mask leaves the first elements of a range: offsets < bound");
    if (!place_of(align, range, &of))
        return false;
    if (of.stride < 1)
        return not_compiled(align, expr, "count upwards, and gather the elements in the other order",
                            "a mask leaves the first elements of a range that grows");
    bound =
        op == DSL_LESS_EQUAL ? edit_sum(edit, edit_copy(edit, bound), edit_integer(edit, 1)) : edit_copy(edit, bound);
    struct dsl_expr *left = edit_difference(edit, bound, edit_copy(edit, of.start));
    if (of.stride != 1)
        left = EDIT_CALL(edit, "cdiv", left, edit_integer(edit, of.stride));
    struct dsl_expr *count = edit_smaller(edit, edit_copy(edit, of.length), left);
    bool positive = is_below(align, of.start, bound);
    if (!positive)
        count = edit_larger(edit, edit_integer(edit, 0), count);
    *value = (struct place_value){.count = count, .length = of.length, .stride = 1};
    return true;
}

static bool place_of_binary(struct align *align, struct dsl_expr *expr, struct place_value *value)
{
    struct edit *edit = align->edit;
    struct dsl_expr *a = expr->items[0], *b = expr->items[1];
    struct place_value other;
    if (expr->type == DSL_TYPE_MASK && (a->type != DSL_TYPE_MASK || b->type != DSL_TYPE_MASK))
        return place_of_mask(align, expr, value);
    if (expr->type == DSL_TYPE_MASK) {
        if (expr->op != DSL_BIT_AND)
            return not_compiled(align, expr, "load or store each run for itself",
                                "a mask that is put together by '|' leaves no single run of elements");
        if (!place_of(align, a, value) || !place_of(align, b, &other))
            return false;
        value->count = edit_smaller(edit, value->count, other.count);
        return true;
    }
    bool first = is_place(a) || a->type == DSL_TYPE_TENSOR || a->type >= DSL_TYPE_BUFFER;
    if (!place_of(align, first ? a : b, value))
        return false;
    struct dsl_expr *rest = first ? b : a;
    if (is_place(rest)) { /* a tensor plus a range */
        if (!place_of(align, rest, &other))
            return false;
        value->start = edit_sum(edit, value->start, other.start);
        value->length = other.length;
        value->stride = other.stride;
        return true;
    }
    rest = edit_copy(edit, rest);
    if (expr->op == DSL_MULTIPLY) {
        if (rest->kind != DSL_INT)
            return not_compiled(align, expr, "write the number", "the step of a range is not known before the run");
        value->start = edit_product(edit, value->start, rest);
        value->stride *= rest->integer;
        return true;
    }
    value->start = expr->op == DSL_SUBTRACT ? edit_difference(edit, value->start, rest)
                   : first                  ? edit_sum(edit, value->start, rest)
                                            : edit_sum(edit, rest, value->start);
    return true;
}

static bool place_of_index(struct align *align, struct dsl_expr *expr, struct place_value *value)
{
    struct edit *edit = align->edit;
    struct dsl_expr *index = expr->items[1];
    bool slice = index->kind == DSL_SLICE;
    struct dsl_expr *from = slice ? index->items[0] : index, *to = slice ? index->items[1] : NULL;
    if (expr->type == DSL_TYPE_TENSOR) { /* of a list */
        *value = (struct place_value){.tensor = edit_copy(edit, expr), .start = edit_integer(edit, 0), .stride = 1};
        return true;
    }
    if (!place_of(align, expr->items[0], value))
        return false;
    from = from ? edit_copy(edit, from) : edit_integer(edit, 0);
    if (to)
        value->length = edit_difference(edit, edit_copy(edit, to), from);
    else if (value->length)
        value->length = edit_difference(edit, value->length, from);
    value->start = edit_sum(edit, value->start, from);
    return true;
}

/* What an expression of a range, a mask, an address or a piece of a buffer stands for. */
static bool place_of(struct align *align, struct dsl_expr *expr, struct place_value *value)
{
    struct edit *edit = align->edit;
    *value = (struct place_value){.stride = 1};
    switch (expr->kind) {
    case DSL_NAME:
        return place_of_name(align, expr, value);
    case DSL_CALL: /* tl.arange */
        value->start = edit_copy(edit, call_argument(expr, "start"));
        value->length = edit_difference(edit, edit_copy(edit, call_argument(expr, "end")), value->start);
        return true;
    case DSL_BINARY:
        return place_of_binary(align, expr, value);
    case DSL_INDEX:
        return place_of_index(align, expr, value);
    default:
        return not_compiled(align, expr, "give each place a name of its own",
                            "it is not known before the run which place this is");
    }
}

/* Forgets what a statement that assigns the name makes untrue. */
static void forget(struct align *align, const char *name)
{
    int kept = 0;
    for (int i = 0; i < align->known_count; i++)
        if (strcmp(align->known[i].name, name) != 0 && !tree_mentions(align->known[i].value, name))
            align->known[kept++] = align->known[i];
    align->known_count = kept;
    for (int b = 0; b < align->lowering->buffer_count; b++)
        if (align->extents[b].kind == EXTENT_COUNT && tree_mentions(align->extents[b].count, name))
            align->extents[b] = (struct extent){.kind = EXTENT_UNKNOWN};
}

static void forget_assigned(struct align *align, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *target = statement->target;
        if (target && target->kind == DSL_NAME)
            forget(align, target->name);
        for (int t = 0; target && target->kind == DSL_TUPLE && t < target->count; t++)
            forget(align, target->items[t]->name);
        forget_assigned(align, &statement->body);
        forget_assigned(align, &statement->orelse);
    }
}

static bool is_simple(const struct dsl_expr *expr)
{
    return expr->kind == DSL_NAME || expr->kind == DSL_INT ||
           (expr->kind == DSL_UNARY && expr->items[0]->kind == DSL_INT);
}

/* Whether the stage assigns a name that the expression reads. */
static bool depends_on_stage(const struct align *align, const struct dsl_expr *expr)
{
    bool found = expr->kind == DSL_NAME && align->stage && statement_assigns(align->stage, expr->name);
    for (int i = 0; !found && i < expr->count; i++)
        found = expr->items[i] && depends_on_stage(align, expr->items[i]);
    return found;
}

/* The expression as a name: of a statement that has computed it, or of a new one that goes before the stage, or, if it needs
 * what the stage computes, before statement `at` of the block. */
static struct dsl_expr *named(struct align *align, struct dsl_expr *value, const char *stem, struct dsl_block *block,
                              int *at)
{
    struct edit *edit = align->edit;
    if (is_simple(value))
        return value;
    for (int i = 0; i < align->known_count; i++)
        if (tree_equal(align->known[i].value, value))
            return edit_name(edit, align->known[i].name);
    const char *name = lower_new_name(align->lowering, stem);
    struct dsl_statement *statement = edit_assign(edit, name, value);
    bool outside = align->stage && !depends_on_stage(align, value);
    if (outside)
        edit_insert(edit, align->outer, align->outer_at++, statement);
    else
        edit_insert(edit, block, (*at)++, statement);
    ARRAY_ADD(align->lowering->arena, align->known, align->known_count, align->known_capacity,
              (struct known){name, value, outside ? align->depth - 1 : align->depth});
    return edit_name(edit, name);
}

/* A variable that is a place: it is remembered; its start becomes a variable of integers, if it is more than a name. True: the
 * statement falls away. */
static bool align_place(struct align *align, struct dsl_statement *statement, struct dsl_block *block, int *at,
                        bool *gone)
{
    const char *name = statement->target->name;
    struct place_value value;
    *gone = true;
    if (!place_of(align, statement->value, &value))
        return false;
    if (value.count) {
        value.count = named(align, value.count, "count", block, at);
    } else if (!is_simple(value.start) || (value.start->kind == DSL_NAME && block_assigns(block, value.start->name) &&
                                           !loop_end(align, value.start))) {
        statement->value = value.start;
        value.start = edit_name(align->edit, name);
        forget(align, name);
        *gone = false;
    }
    if (value.length && !is_simple(value.length))
        value.length = named(align, value.length, "length", block, at);
    ARRAY_ADD(align->lowering->arena, align->variables, align->variable_count, align->variable_capacity,
              (struct variable){name, value, false});
    return true;
}

/* Extents. */
static struct extent *extent_of(struct align *align, const char *name)
{
    struct lower_buffer *buffer = lower_buffer_find(align->lowering, name);
    return buffer ? &align->extents[buffer - align->lowering->buffers] : NULL;
}

static struct extent join(struct extent a, struct extent b)
{
    if (a.kind == b.kind && (a.kind != EXTENT_COUNT || tree_equal(a.count, b.count)))
        return a;
    if (a.kind == EXTENT_NONE || b.kind == EXTENT_NONE) /* who reads it has come the other way */
        return a.kind == EXTENT_NONE ? b : a;
    return (struct extent){.kind = EXTENT_UNKNOWN};
}

/* An operand of an operation, made `buffer[offset:]`. */
struct operand {
    const char *buffer; /* NULL: it is no buffer */
    struct place_value value;
};

/* Whether a piece begins where instructions can, as far as the numbers are known before the run. */
static bool begins_block(struct align *align, const struct dsl_expr *piece, const struct place_value *value)
{
    enum { BLOCK = 32 };
    struct lowering *lowering = align->lowering;
    const struct lower_buffer *buffer = lower_buffer_find(lowering, value->name);
    int64_t from = 0;
    bool unknown = !buffer || !lower_constant(lowering, value->start, &from);
    for (int c = 0; !unknown && c < lowering->opdef->combinations; c++) {
        int64_t unit = BLOCK / (int64_t)akgen_dtype_size(lower_type_in(&buffer->type, c));
        if (from % unit)
            return LOWER_FAIL(lowering, piece->place, DSL_RULE_alignment, "begin at a multiple of 32 bytes",
                              "the piece begins at element %" PRId64 " of '%s', no multiple of %" PRId64, from,
                              buffer->name, unit);
    }
    return true;
}

static bool align_operand(struct align *align, struct dsl_expr *call, const char *name, struct operand *operand)
{
    struct edit *edit = align->edit;
    struct dsl_expr *argument = call_argument(call, name);
    *operand = (struct operand){0};
    if (!argument || argument->type < DSL_TYPE_BUFFER || argument->type > DSL_TYPE_PIECE)
        return true;
    if (!place_of(align, argument, &operand->value) || !begins_block(align, argument, &operand->value))
        return false;
    operand->buffer = operand->value.name;
    struct dsl_expr *piece = edit_piece(edit, edit_name(edit, operand->buffer), edit_copy(edit, operand->value.start));
    piece->type = piece->kind == DSL_NAME ? DSL_TYPE_BUFFER : DSL_TYPE_PIECE;
    if (piece->kind == DSL_INDEX)
        piece->items[0]->type = DSL_TYPE_BUFFER;
    for (int i = 1; i < call->count; i++)
        if (call->items[i] == argument)
            call->items[i] = piece;
        else if (call->items[i]->kind == DSL_NAMED && call->items[i]->items[0] == argument)
            call->items[i]->items[0] = piece;
    return true;
}

/* Whether so many elements lie in the operand's buffer, as far as the numbers are known before the run. */
static bool lies_inside(struct align *align, const struct dsl_expr *call, const struct operand *operand,
                        const struct dsl_expr *length)
{
    const struct lower_buffer *buffer = lower_buffer_find(align->lowering, operand->buffer);
    int64_t count, from, all;
    for (int i = 0; length && i < align->known_count; i++)
        if (length->kind == DSL_NAME && strcmp(align->known[i].name, length->name) == 0)
            length = align->known[i].value;
    if (!buffer || !length || !lower_constant(align->lowering, length, &count) ||
        !lower_constant(align->lowering, operand->value.start, &from) ||
        !lower_constant(align->lowering, buffer->size, &all) || count <= all - from)
        return true;
    return LOWER_FAIL(align->lowering, call->place, DSL_RULE_bounds, "give count= as many elements as there are",
                      "%" PRId64 " elements from %" PRId64 " on of '%s', which has %" PRId64, count, from, buffer->name,
                      all);
}

/* How many elements an operand has values of; false: that is not known. */
static bool operand_count(struct align *align, const struct operand *operand, struct dsl_expr **count)
{
    struct lower_buffer *buffer = lower_buffer_find(align->lowering, operand->buffer);
    struct extent *extent = extent_of(align, operand->buffer);
    bool begins = tree_is_integer(operand->value.start, 0);
    if (operand->value.length) {
        *count = edit_copy(align->edit, operand->value.length);
        return extent->kind == EXTENT_WHOLE || extent->kind == EXTENT_UNKNOWN;
    }
    if (extent->kind == EXTENT_WHOLE) {
        align->whole_used[buffer - align->lowering->buffers] = true;
        *count = edit_difference(align->edit, edit_copy(align->edit, buffer->size),
                                 edit_copy(align->edit, operand->value.start));
        return true;
    }
    *count = extent->kind == EXTENT_COUNT ? edit_copy(align->edit, extent->count) : NULL;
    return extent->kind == EXTENT_COUNT && begins;
}

/* What a write of `count` elements leaves a buffer with. */
static void write_extent(struct align *align, const struct operand *operand, struct dsl_expr *count)
{
    struct lower_buffer *buffer = lower_buffer_find(align->lowering, operand->buffer);
    struct extent *extent = extent_of(align, operand->buffer);
    bool begins = tree_is_integer(operand->value.start, 0);
    if (begins && tree_equal(count, buffer->size))
        *extent = (struct extent){.kind = EXTENT_WHOLE};
    else if (begins && extent->kind == EXTENT_NONE)
        *extent = (struct extent){.kind = EXTENT_COUNT, .count = count};
    else if (extent->kind != EXTENT_WHOLE &&
             !(begins && extent->kind == EXTENT_COUNT && tree_equal(extent->count, count)))
        *extent = (struct extent){.kind = EXTENT_UNKNOWN};
}

/* count= of an operation that names none: as many elements as its operands have. */
static void find_count(struct align *align, const struct operand *operands, int n, struct dsl_expr **count)
{
    struct lowering *lowering = align->lowering;
    *count = NULL;
    for (int i = 0; i < n; i++) {
        struct dsl_expr *other = NULL;
        struct lower_buffer *buffer = lower_buffer_find(lowering, operands[i].buffer);
        if (!operands[i].buffer)
            continue;
        if (!operand_count(align, &operands[i], &other)) { /* all: what has no value gets one at the beginning */
            align->lowering->clears = true;
            if (!operands[i].value.length)
                other = edit_difference(align->edit, edit_copy(align->edit, buffer->size),
                                        edit_copy(align->edit, operands[i].value.start));
        }
        bool whole = tree_equal(other, buffer->size);
        bool counted_whole = *count && extent_of(align, operands[0].buffer ? operands[0].buffer : operands[i].buffer) &&
                             tree_equal(*count, buffer->size);
        if (!*count || counted_whole)
            *count = other;
        else if (!whole)
            *count = edit_smaller(align->edit, *count, other);
    }
}

/* The text of an expression; of a name that an expression was given before, that one. */
static const char *text_of(const struct align *align, const struct dsl_expr *expr)
{
    for (int i = 0; i < align->known_count; i++)
        if (expr->kind == DSL_NAME && strcmp(align->known[i].name, expr->name) == 0)
            expr = align->known[i].value;
    return dsl_expr_text(align->lowering->arena, expr);
}

/* An operation that computes count elements of buffers. */
static bool align_lanes(struct align *align, struct dsl_expr *call, struct dsl_block *block, int *at)
{
    static const char *const reads[] = {"a", "b", "src", "index", "condition"};
    struct operand operands[sizeof reads / sizeof *reads], dst;
    int n = 0;
    struct edit *edit = align->edit;
    if (!align_operand(align, call, "dst", &dst))
        return false;
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        if (!align_operand(align, call, reads[i], &operands[n]))
            return false;
        bool looked_up = call_argument(call, "index") && strcmp(reads[i], "src") == 0; /* anywhere, not one by one */
        n += operands[n].buffer && !looked_up;
    }
    bool reduces = call_argument(call, "shared") != NULL;
    struct operand shared;
    if (reduces && !align_operand(align, call, "shared", &shared))
        return false;
    struct dsl_expr *count = call_argument(call, "count");
    bool inferred = !count, whole = false;
    for (int i = 0; i < n; i++)
        if (!lies_inside(align, call, &operands[i], count))
            return false;
    if (!reduces && !lies_inside(align, call, &dst, count))
        return false;
    if (!count) {
        if (n)
            find_count(align, operands, n, &count);
        if (!n && dst.value.length)
            count = dst.value.length;
        else if (!n)
            count = edit_difference(edit, edit_copy(edit, lower_buffer_find(align->lowering, dst.buffer)->size),
                                    edit_copy(edit, dst.value.start));
        whole = dst.buffer && tree_is_integer(dst.value.start, 0) &&
                tree_equal(count, lower_buffer_find(align->lowering, dst.buffer)->size);
        LOWER_EXPLAIN(align->lowering, DSL_ABOUT_PADDING, "count", call->place,
                      json_pack("{s:s, s:s}", "operation", call->operation->name, "count", text_of(align, count)),
                      "`tl.%s` says no count=: it computes `%s` elements, as many as %s.", call->operation->name,
                      text_of(align, count), n ? "its operands have values of" : "its destination has");
        count = named(align, count, "count", block, at);
        edit_add_named(edit, call, "count", count);
    } else if (!is_simple(count)) {
        count = edit_take_argument(call, "count");
        count = named(align, count, "count", block, at);
        edit_add_named(edit, call, "count", count);
    }
    bool parts = dst.value.length || !tree_is_integer(dst.value.start, 0);
    for (int i = 0; i < n; i++)
        parts |= operands[i].value.length || !tree_is_integer(operands[i].value.start, 0);
    if (inferred && !parts) /* what is computed of nothing has no value */
        *extent_of(align, dst.buffer) = (struct extent){.kind = EXTENT_NONE};
    write_extent(align, &dst, reduces ? edit_integer(edit, 1) : edit_copy(edit, count));
    if (whole && !reduces)
        *extent_of(align, dst.buffer) = (struct extent){.kind = EXTENT_WHOLE};
    return true;
}

/* `tensor + offset`. */
static struct dsl_expr *address_of(struct edit *edit, const struct place_value *address)
{
    struct dsl_expr *tensor = edit_copy(edit, address->tensor), *place = tensor;
    tensor->type = DSL_TYPE_TENSOR;
    if (!tree_is_integer(address->start, 0)) {
        place = edit_binary(edit, DSL_ADD, tensor, edit_copy(edit, address->start));
        place->type = DSL_TYPE_POINTER;
    }
    return place;
}

static void explain_mask(const struct align *align, const struct dsl_expr *call, const struct dsl_expr *mask,
                         const struct dsl_expr *count)
{
    struct lowering *lowering = align->lowering;
    if (!lowering->explanation)
        return;
    const char *of = dsl_expr_text(lowering->arena, mask), *left = text_of(align, count);
    dsl_explain_add(
        lowering->explanation, DSL_ABOUT_PADDING, "mask", call->place,
        json_pack("{s:s, s:s, s:s}", "operation", call->operation->name, "mask", of, "count", left),
        "The mask `%s` leaves the first elements of its range: the %s moves `%s` of them, and no lane of the last "
        "tile lies outside.",
        of, call->operation->name, left);
}

/* tl.load and tl.store: `tensor + offset`, count=. */
static bool align_transfer(struct align *align, struct dsl_expr *call, bool load, struct dsl_block *block, int *at)
{
    struct edit *edit = align->edit;
    struct place_value address, mask = {0};
    struct operand buffer;
    struct dsl_expr *count = edit_take_argument(call, "count"), *masked = edit_take_argument(call, "mask");
    if (!place_of(align, call_argument(call, "address"), &address) ||
        !align_operand(align, call, load ? "dst" : "src", &buffer) || (masked && !place_of(align, masked, &mask)))
        return false;
    if (address.stride != 1)
        return not_compiled(align, call, "load rows and gather, or store a column of rows",
                            "a transfer takes elements that follow each other");
    if (!address.tensor)
        return not_compiled(align, call, "write the tensor's name in the address",
                            "it is not known before the run which tensor this is");
    if (!lies_inside(align, call, &buffer, count ? count : address.length))
        return false;
    if (masked && count)
        count = edit_smaller(edit, count, mask.count);
    else if (masked)
        count = mask.count;
    else if (!count)
        count = address.length ? edit_copy(edit, address.length)
                : buffer.value.length
                    ? edit_copy(edit, buffer.value.length)
                    : edit_difference(edit, edit_copy(edit, lower_buffer_find(align->lowering, buffer.buffer)->size),
                                      edit_copy(edit, buffer.value.start));
    if (masked)
        explain_mask(align, call, masked, count);
    count = named(align, count, "count", block, at);
    struct dsl_expr *other = edit_take_argument(call, "other");
    call->items[1] = address_of(edit, &address);
    edit_add_named(edit, call, "count", count);
    if (other && masked) { /* the others first, what is loaded over them */
        struct dsl_expr *all = edit_copy(edit, address.length ? address.length : mask.length);
        struct dsl_expr *fill = EDIT_CALL(edit, "duplicate", edit_copy(edit, call_argument(call, "dst")), other);
        edit_add_named(edit, fill, "count", all);
        edit_insert(edit, block, (*at)++, edit_statement(edit, fill));
        lower_buffer_find(align->lowering, buffer.buffer)->allocation->value->items[0]->name = "alloc_ub";
        write_extent(align, &buffer, all);
    } else if (load) {
        if (tree_is_integer(buffer.value.start, 0)) /* a load begins a buffer anew */
            *extent_of(align, buffer.buffer) = (struct extent){.kind = EXTENT_NONE};
        write_extent(align, &buffer, edit_copy(edit, count));
    }
    return true;
}

/* Places inside of expressions of numbers: tl.extract_scalar(ub[i:], j). */
static void align_scalar(void *closure, struct dsl_expr *part)
{
    struct align *align = closure;
    struct edit *edit = align->edit;
    static const char *const names[] = {"from", "to"};
    if (part->kind != DSL_CALL || !part->operation || !align->good)
        return;
    for (int i = 0; i < 2; i++) {
        struct dsl_expr *from = call_argument(part, names[i]), *index = call_argument(part, "index");
        struct place_value value;
        if (!from || !index ||
            (from->kind == DSL_NAME && from->type != DSL_TYPE_PIECE && from->type != DSL_TYPE_POINTER))
            continue;
        if (!place_of(align, from, &value))
            return;
        index = edit_sum(edit, edit_copy(edit, value.start), edit_copy(edit, index));
        struct dsl_expr *rest = call_argument(part, "value");
        part->count = 1;
        struct dsl_expr *of = value.tensor ? edit_copy(edit, value.tensor) : edit_name(edit, value.name);
        of->type = value.tensor ? DSL_TYPE_TENSOR : DSL_TYPE_BUFFER;
        part->items[part->count++] = of;
        part->items[part->count++] = index;
        if (rest)
            part->items[part->count++] = rest;
    }
}

static void align_scalars(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, align_scalar, closure);
}

static void write_scalar(struct align *align, const struct dsl_expr *call)
{
    struct extent *extent = extent_of(align, call_argument(call, "to")->name);
    if (extent && extent->kind != EXTENT_WHOLE)
        *extent = (struct extent){.kind = EXTENT_UNKNOWN};
}

/* How many elements an operation on rows and columns writes, gaps between rows included. */
static struct dsl_expr *stated_count(struct edit *edit, const struct dsl_expr *call)
{
    const char *name = call->operation->name;
    struct dsl_expr *rows = call_argument(call, "rows"), *cols = call_argument(call, "cols");
    struct dsl_expr *pitch = call_argument(call, "pitch");
    if (!rows) /* a sort; a product has a matrix of its own */
        return call_argument(call, "count") ? edit_copy(edit, call_argument(call, "count")) : edit_integer(edit, 0);
    if (strncmp(name, "row_", 4) == 0 || strncmp(name, "col_", 4) == 0)
        return edit_copy(edit, name[0] == 'r' ? rows : cols);
    if (!pitch && !call_argument(call, "dst_pitch")) /* a tile */
        return edit_integer(edit, 0);
    if (!pitch) /* a transpose */
        return edit_product(edit, edit_copy(edit, cols), edit_copy(edit, call_argument(call, "dst_pitch")));
    return edit_product(edit, edit_copy(edit, rows), edit_copy(edit, pitch));
}

/* An operation that says itself which elements it works on: rows and columns, a sort. What it writes has values as far as it
 * says, in no simple run of elements. */
static bool align_stated(struct align *align, struct dsl_expr *call, struct dsl_block *block, int *at)
{
    struct edit *edit = align->edit;
    static const char *const operands[] = {"dst", "src", "a", "b", "row", "col", "values", "indices", "room"};
    static const char *const writes[] = {"dst", "values", "indices"};
    struct place_value address;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        struct operand operand;
        if (!align_operand(align, call, operands[i], &operand))
            return false;
        for (size_t w = 0; operand.buffer && w < sizeof writes / sizeof *writes; w++)
            if (strcmp(operands[i], writes[w]) == 0)
                *extent_of(align, operand.buffer) =
                    tree_is_integer(operand.value.start, 0)
                        ? (struct extent){EXTENT_COUNT, named(align, stated_count(edit, call), "elements", block, at)}
                        : (struct extent){.kind = EXTENT_UNKNOWN};
    }
    if (!call_argument(call, "address"))
        return true;
    if (!place_of(align, call_argument(call, "address"), &address) || !address.tensor)
        return false;
    call->items[1] = address_of(edit, &address);
    struct dsl_expr *other = edit_take_argument(call, "other");
    if (other) {
        struct dsl_expr *buffer = call_argument(call, "dst");
        struct dsl_expr *fill =
            EDIT_CALL(edit, "fill_gaps", edit_copy(edit, buffer), other, edit_copy(edit, call_argument(call, "rows")),
                      edit_copy(edit, call_argument(call, "cols")), edit_copy(edit, call_argument(call, "pitch")));
        edit_insert(edit, block, ++*at, edit_statement(edit, fill));
        lower_buffer_of(align->lowering, buffer)->allocation->value->items[0]->name = "alloc_ub";
    }
    return true;
}

static bool align_call(struct align *align, struct dsl_expr *call, struct dsl_block *block, int *at)
{
    const char *name = call->operation->name;
    align->edit->place = call->place;
    edit_order_arguments(align->edit, call);
    if (strcmp(name, "load") == 0 || strcmp(name, "store") == 0)
        return align_transfer(align, call, name[0] == 'l', block, at);
    bool counts = strstr(call->operation->parameters, "count:I?") != NULL;
    if (strcmp(name, "set_scalar") == 0)
        write_scalar(align, call);
    else if (counts && call->operation->place == DSL_PLACE_COMPUTE)
        return align_lanes(align, call, block, at);
    else if (call->operation->place <= DSL_PLACE_COPYOUT)
        return strcmp(name, "store_add") == 0 ? align_transfer(align, call, false, block, at)
                                              : align_stated(align, call, block, at);
    return true;
}

/* What was named in a block that has ended is not known behind it. */
static void leave_block(struct align *align, int variables)
{
    int kept = 0;
    align->depth--;
    align->variable_count = variables;
    for (int i = 0; i < align->known_count; i++)
        if (align->known[i].depth <= align->depth)
            align->known[kept++] = align->known[i];
    align->known_count = kept;
}

/* Places that the block may change. */
static void lose_assigned(struct align *align, const struct dsl_block *block)
{
    for (int i = 0; i < align->variable_count; i++)
        align->variables[i].lost |= block_assigns(block, align->variables[i].name);
}

/* What a loop writes: which of the buffers, by their numbers. */
struct writes {
    const struct lowering *lowering;
    bool *found;
};

static void note_written(void *closure, struct dsl_expr *operand, unsigned use)
{
    struct writes *writes = closure;
    const struct lower_buffer *buffer =
        use & LOWER_WRITE ? lower_buffer_find(writes->lowering, operand_buffer(operand, NULL)) : NULL;
    if (buffer)
        writes->found[buffer - writes->lowering->buffers] = true;
}

static void note_write(void *closure, struct dsl_expr *part)
{
    if (part->kind == DSL_CALL && part->operation)
        lower_visit_operands(part, note_written, closure);
}

static void note_writes(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, note_write, closure);
}

static bool align_loop(struct align *align, struct dsl_statement *loop)
{
    struct lowering *lowering = align->lowering;
    enum { LOOPS = sizeof align->loops / sizeof *align->loops };
    size_t bytes = (size_t)(lowering->buffer_count + 1) * sizeof *align->extents;
    int variables = align->variable_count;
    if (loop->target && loop->target->kind == DSL_NAME)
        forget(align, loop->target->name);
    forget_assigned(align, &loop->body);
    lose_assigned(align, &loop->body);
    struct writes writes = {lowering, arena_alloc(lowering->arena, (size_t)lowering->buffer_count + 1)};
    statement_visit(loop, note_writes, &writes);
    for (int b = 0; b < lowering->buffer_count; b++)
        if (writes.found[b] && align->extents[b].kind != EXTENT_WHOLE)
            align->extents[b] = (struct extent){.kind = EXTENT_UNKNOWN};
    struct extent *before = arena_copy(lowering->arena, align->extents, bytes);
    if (align->loop_count == LOOPS)
        abort(); /* the parser allows fewer blocks in each other */
    align->loops[align->loop_count++] = loop;
    align->depth++;
    bool good = align_block(align, &loop->body);
    leave_block(align, variables);
    align->loop_count--;
    forget_assigned(align, &loop->body);
    for (int b = 0; good && b < lowering->buffer_count; b++) {
        align->lowering->clears |=
            before[b].kind == EXTENT_WHOLE && align->extents[b].kind != EXTENT_WHOLE && align->whole_used[b];
        align->extents[b] = join(before[b], align->extents[b]);
    }
    return good;
}

static bool align_branches(struct align *align, struct dsl_statement *statement)
{
    struct lowering *lowering = align->lowering;
    size_t bytes = (size_t)(lowering->buffer_count + 1) * sizeof *align->extents;
    struct extent *before = arena_copy(lowering->arena, align->extents, bytes), *after;
    int variables = align->variable_count;
    align->depth++;
    bool good = align_block(align, &statement->body);
    leave_block(align, variables);
    after = align->extents;
    align->extents = before;
    align->depth++;
    good = good && align_block(align, &statement->orelse);
    leave_block(align, variables);
    for (int b = 0; b < lowering->buffer_count; b++)
        align->extents[b] = join(align->extents[b], after[b]);
    forget_assigned(align, &statement->body);
    forget_assigned(align, &statement->orelse);
    lose_assigned(align, &statement->body);
    lose_assigned(align, &statement->orelse);
    return good;
}

static bool align_stage(struct align *align, struct dsl_block *block, int *at)
{
    int variables = align->variable_count;
    align->outer = block;
    align->outer_at = *at;
    align->stage = block->items[*at];
    align->depth++;
    bool good = align_block(align, &align->stage->body);
    leave_block(align, variables);
    *at = align->outer_at;
    align->stage = NULL;
    return good;
}

/* `kept = tl.compress(dst, ..)`: how many elements dst has a value of is known when it runs. */
static bool align_compress(struct align *align, struct dsl_expr *call, struct dsl_block *block, int *at)
{
    struct operand dst;
    edit_order_arguments(align->edit, call);
    if (!align_lanes(align, call, block, at) || !align_operand(align, call, "dst", &dst))
        return false;
    *extent_of(align, dst.buffer) = (struct extent){.kind = EXTENT_UNKNOWN};
    return true;
}

static bool align_statement(struct align *align, struct dsl_block *block, int *at, bool *gone)
{
    struct dsl_statement *statement = block->items[*at];
    struct dsl_expr *call = statement_call(statement);
    *gone = false;
    align->edit->place = statement->place;
    if (statement->kind == DSL_WITH)
        return align_stage(align, block, at);
    if (statement->kind == DSL_ASSIGN && statement->op == DSL_NO_OPERATOR && statement->target->kind == DSL_NAME &&
        (is_place(statement->value) || statement->value->type == DSL_TYPE_PIECE ||
         (statement->value->kind == DSL_NAME && statement->value->type >= DSL_TYPE_TENSOR)))
        return align_place(align, statement, block, at, gone);
    if (statement->value)
        align_scalars(align, statement->value);
    if (statement->kind == DSL_FOR || statement->kind == DSL_WHILE)
        return align_loop(align, statement);
    if (statement->kind == DSL_IF)
        return align_branches(align, statement);
    if (statement->kind == DSL_EXPRESSION && call)
        return align->good && align_call(align, call, block, at);
    if (call && strcmp(call->operation->name, "compress") == 0 && !align_compress(align, call, block, at))
        return false;
    if (statement->target && statement->target->kind == DSL_NAME)
        forget(align, statement->target->name);
    return align->good;
}

static bool align_block(struct align *align, struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        bool gone;
        if (!align_statement(align, block, &i, &gone))
            return false;
        if (gone) {
            if (i + 1 < block->count)
                edit_lead(align->edit, block->items[i + 1], &block->items[i]->lead);
            memmove(&block->items[i], &block->items[i + 1], (size_t)(block->count - i - 1) * sizeof *block->items);
            block->count--;
            i--;
        }
    }
    return true;
}

bool pass_align(struct lowering *lowering)
{
    struct align align = {.lowering = lowering, .edit = &lowering->edit, .good = true};
    align.extents = arena_alloc(lowering->arena, (size_t)(lowering->buffer_count + 1) * sizeof *align.extents);
    align.whole_used = arena_alloc(lowering->arena, (size_t)lowering->buffer_count + 1);
    return align_block(&align, lower_kernel(lowering)) && align.good;
}
