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

/* The data type in each combination, as ["float16", ..]. */
static json_t *types_json(const struct lowering *lowering, const struct lower_type *type)
{
    json_t *list = json_array();
    for (int c = 0; c < lowering->opdef->combinations; c++)
        json_array_append_new(list, json_string(akgen_dtype_name(lower_type_in(type, c))));
    return list;
}

/* "float16 or bfloat16": the types of the tensor in the combinations in which the buffer has another. */
static const char *other_types(const struct lowering *lowering, const struct lower_type *type,
                               const struct lower_type *than)
{
    const char *text = "";
    uint64_t told = 0;
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        enum akgen_dtype is = lower_type_in(type, c);
        if (is == lower_type_in(than, c) || told >> is & 1)
            continue;
        text = arena_printf(lowering->arena, "%s%s%s", text, told ? " or " : "", akgen_dtype_name(is));
        told |= UINT64_C(1) << is;
    }
    return text;
}

/* Why a buffer has a queue beside it. */
static void explain_pair(struct lowering *lowering, const char *name, const char *queue,
                         const struct lower_parameter *tensor)
{
    const struct lower_buffer *buffer = lower_buffer_find(lowering, name);
    const struct lower_type type = tensor_type(lowering, tensor);
    bool in = buffer->kind == LOWER_QUEUE_IN;
    if (!lowering->explanation)
        return;
    json_t *facts =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:s}", "buffer", name, "queue", queue, "tensor", tensor->name, "computes",
                  types_json(lowering, &buffer->type), "holds", types_json(lowering, &type), "rounding", "even");
    bool equal = false;
    for (int c = 0; c < lowering->opdef->combinations; c++)
        equal |= lower_type_in(&type, c) == lower_type_in(&buffer->type, c);
    dsl_explain_add(lowering->explanation, DSL_ABOUT_TYPES, "converted", buffer->allocation->place, facts,
                    in ? "`%s` is %s and `%s` %s %s: it is loaded into the queue `%s` as it is and converted behind "
                         "the load%s."
                       : "`%s` is %s and `%s` %s %s: it is converted into the queue `%s` before the store, rounded "
                         "to the nearest, ties to even%s.",
                    name, dsl_expr_text(lowering->arena, buffer->dtype), tensor->name, equal ? "may be" : "is",
                    other_types(lowering, &type, &buffer->type), queue,
                    equal ? "; where the types are equal, it is the queue's tensor itself" : "");
}

/* Whether the buffer can have a queue of its own: a position has events for eight tensors, and where more buffers come through
 * it some share a queue, from which they are copied. */
static bool has_queue_left(const struct lowering *lowering, const struct lower_buffer *buffer)
{
    enum { OWN = 5 };
    int before = 0, all = 0;
    bool staged = false;
    for (int b = 0; b < lowering->loaded_count; b++) {
        bool same = lowering->loaded[b].kind == buffer->kind;
        all += same;
        before += same && lowering->loaded[b].place.line < buffer->allocation->place.line;
        staged |= lowering->loaded[b].staged && buffer->kind != LOWER_QUEUE_MOVE;
    }
    return all + staged <= LOWER_EVENTS || before < OWN;
}

/* Whether, in some combination, the buffer and the tensor have two types between which no instruction converts. */
static bool goes_by_float(struct lowering *lowering, const struct lower_buffer *buffer,
                          const struct lower_parameter *tensor)
{
    const struct lower_type type = tensor_type(lowering, tensor);
    bool found = false;
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        enum akgen_dtype a = lower_type_in(&type, c), b = lower_type_in(&buffer->type, c);
        found |= (a == AKGEN_FLOAT16 && b == AKGEN_BF16) || (a == AKGEN_BF16 && b == AKGEN_FLOAT16);
    }
    return found;
}

/* Why a buffer keeps its values in UB and is copied through queues; NULL: it is not. */
static const char *why_staged(struct lowering *lowering, const struct lower_buffer *buffer,
                              const struct transfers *transfers)
{
    return buffer->kind == LOWER_UB             ? "it is loaded or stored and also filled in another way"
           : buffer->type.fixed == AKGEN_BOOL   ? "truth values are bits in UB and bytes in global memory"
           : !same_tensors(lowering, transfers) ? "its tensors have different data types"
           : !has_queue_left(lowering, buffer)  ? "the queues of its position have all the events that there are"
           : goes_by_float(lowering, buffer, transfers->items[0].tensor)
               ? "float16 and bfloat16 are converted by way of float32"
           : buffer->kind == LOWER_QUEUE_MOVE && lifetime_is_clean(lowering, buffer)
               ? "it is loaded in one data type and stored in another"
               : "it keeps values beyond the block that fills it, or is filled in parts";
}

static void explain_staged(struct lowering *lowering, const struct lower_buffer *buffer,
                           const struct transfers *transfers)
{
    if (!lowering->explanation || !transfers->count)
        return;
    const char *why = why_staged(lowering, buffer, transfers);
    dsl_explain_add(
        lowering->explanation, DSL_ABOUT_TYPES, "staged", buffer->allocation->place,
        json_pack("{s:s, s:s, s:o}", "buffer", buffer->name, "why", why, "types", types_json(lowering, &buffer->type)),
        "`%s` keeps its values in UB, and transfers copy it from or to a queue's tensor: %s.", buffer->name, why);
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
    explain_pair(lowering, name, queue_name, transfers->items[0].tensor);
    set_kind(lower_buffer_find(lowering, name), LOWER_UB);
    for (int i = 0; i < transfers->count; i++)
        *buffer_argument(transfers->items[i].call) = edit_name(&lowering->edit, queue_name);
}

/* Makes the queue's tensors as large as the buffer, too. False: their sizes are no single expressions. */
static bool enlarge(struct lowering *lowering, struct lower_buffer *queue, const struct lower_buffer *buffer)
{
    struct dsl_expr *size = lower_resolve(lowering, buffer->size), *own = lower_resolve(lowering, queue->size);
    int64_t needed, has;
    bool enough = lower_constant(lowering, size, &needed) && lower_constant(lowering, own, &has) && needed <= has;
    if (size->kind == DSL_TUPLE || size->kind == DSL_LIST || own->kind == DSL_TUPLE || own->kind == DSL_LIST)
        return enough;
    if (!enough)
        queue->size = queue->allocation->value->items[1] = edit_larger(&lowering->edit, own, size);
    return true;
}

/* The queue through which the buffer is loaded (or stored) from tensors of this type; made where there is none. Where there are
 * events for no more queues, sizes share one. */
static const char *staging_queue(struct lowering *lowering, const char *name, const struct lower_parameter *tensor,
                                 bool load)
{
    const struct lower_type type = tensor_type(lowering, tensor);
    struct lower_buffer *buffer = lower_buffer_find(lowering, name), *similar = NULL;
    int queues = 0;
    for (int i = 0; i < lowering->buffer_count; i++) {
        struct lower_buffer *other = &lowering->buffers[i];
        bool same = other->kind == (load ? LOWER_QUEUE_IN : LOWER_QUEUE_OUT);
        queues += same;
        if (!same || other->room != 's' || !lower_type_equal(lowering, &other->type, &type))
            continue;
        if (tree_equal(other->size, buffer->size))
            return other->name;
        similar = other;
    }
    if (similar && queues >= LOWER_EVENTS && enlarge(lowering, similar, buffer))
        return similar->name;
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
    const struct lower_parameter *tensor_of = lower_tensor_of(lowering, call_argument(call, "address"));
    const char *queue = staging_queue(lowering, operand_buffer(buffer, NULL), tensor_of, load);
    const struct lower_buffer *of = lower_buffer_of(lowering, buffer);
    struct dsl_expr *flags = of->type.fixed == AKGEN_BOOL ? process_room(lowering, buffer, "float16", 'h') : NULL;
    for (int c = 0; c < lowering->opdef->combinations; c++) /* bytes are copied by twos */
        lowering->clears |= !flags && akgen_dtype_size(lower_type_in(&of->type, c)) == 1;
    bool indirect = !flags && goes_by_float(lowering, of, tensor_of);
    const char *operation = flags ? load ? "to_bits" : "from_bits" : indirect ? "cast_to" : "convert";
    struct dsl_expr *tensor = edit_name(edit, queue);
    struct dsl_expr *convert =
        indirect
            ? EDIT_CALL(edit, operation, load ? buffer : tensor, load ? tensor : buffer,
                        process_bytes(lowering, buffer), edit_copy(edit, count), edit_text(edit, "even"))
            : EDIT_CALL(edit, operation, load ? buffer : tensor, load ? tensor : buffer, flags, edit_copy(edit, count));
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
        struct dsl_expr *call = statement_operation(statement);
        bool transfer =
            call && call->operation->place <= DSL_PLACE_COPYOUT && call->operation->place != DSL_PLACE_COMPUTE;
        const struct lower_buffer *buffer = transfer ? lower_buffer_of(lowering, *buffer_argument(call)) : NULL;
        if (buffer && buffer->kind == LOWER_UB)
            i += stage_transfer(lowering, block, i);
        stage_transfers(lowering, &statement->body);
        stage_transfers(lowering, &statement->orelse);
    }
}

/* A tile is loaded as it is, and used where a queue's tensor can be. */
static void check_tiles(struct lowering *lowering, const struct lower_buffer *buffer, const struct transfers *transfers)
{
    for (int i = 0; i < transfers->count && buffer->kind != LOWER_QUEUE_CO1; i++) {
        struct lower_type type = tensor_type(lowering, transfers->items[i].tensor);
        if (!lower_type_equal(lowering, &type, &buffer->type))
            LOWER_FAIL(lowering, transfers->items[i].call->place, DSL_RULE_types,
                       "give the tile the tensor's data type: dtype=x.dtype", "a load into L1 converts nothing");
    }
    if (!lifetime_is_clean(lowering, buffer))
        LOWER_FAIL(lowering, buffer->allocation->place, DSL_RULE_not_compiled,
                   "load it, multiply and store in one block, in this order",
                   "the lifetime of '%s' is none that a queue's tensor has", buffer->name);
}

/* Decides for one buffer that is loaded or stored. */
static void choose_queue(struct lowering *lowering, struct lower_buffer *buffer)
{
    struct transfers transfers = {.lowering = lowering, .buffer = buffer->name};
    struct dsl_block *kernel = lower_kernel(lowering);
    if (buffer->kind == LOWER_UB && !lowering->explanation)
        return;
    for (int i = 0; i < kernel->count; i++)
        statement_visit(kernel->items[i], find_transfers_below, &transfers);
    if (buffer->kind == LOWER_UB) {
        explain_staged(lowering, buffer, &transfers);
        return;
    }
    if (!transfers.count) { /* a tile that nothing loads */
        LOWER_FAIL(lowering, buffer->allocation->place, DSL_RULE_undefined, "load or store it",
                   "'%s' is neither loaded nor stored", buffer->name);
        return;
    }
    struct lower_type type = tensor_type(lowering, transfers.items[0].tensor);
    if (buffer->kind >= LOWER_QUEUE_A1) {
        check_tiles(lowering, buffer, &transfers);
        return;
    }
    bool one_type = same_tensors(lowering, &transfers),
         same = one_type && lower_type_equal(lowering, &type, &buffer->type);
    struct lower_buffer probe = *buffer;
    if (!same)
        probe.wide = buffer->name;
    bool clean = one_type && lifetime_is_clean(lowering, &probe) && has_queue_left(lowering, buffer);
    bool bits = buffer->type.fixed == AKGEN_BOOL;
    if (bits && buffer->kind != LOWER_QUEUE_MOVE) {
        explain_staged(lowering, buffer, &transfers);
        set_kind(buffer, LOWER_UB);
        return;
    }
    if (clean && same)
        return;
    if (clean && buffer->kind != LOWER_QUEUE_MOVE && !goes_by_float(lowering, buffer, transfers.items[0].tensor)) {
        add_narrow(lowering, buffer, &transfers);
    } else {
        explain_staged(lowering, buffer, &transfers);
        set_kind(buffer, LOWER_UB);
    }
}

/* Whether a buffer would be a queue's tensor, or be converted from or to one alone. */
static bool would_be_queue(struct lowering *lowering, const struct lower_buffer *buffer)
{
    struct transfers transfers = {.lowering = lowering, .buffer = buffer->name};
    struct lower_buffer probe = *buffer;
    for (int i = 0; i < lower_kernel(lowering)->count; i++)
        statement_visit(lower_kernel(lowering)->items[i], find_transfers_below, &transfers);
    if (!transfers.count || buffer->type.fixed == AKGEN_BOOL || !same_tensors(lowering, &transfers) ||
        goes_by_float(lowering, buffer, transfers.items[0].tensor))
        return false;
    const struct lower_type type = tensor_type(lowering, transfers.items[0].tensor);
    if (!lower_type_equal(lowering, &type, &buffer->type))
        probe.wide = buffer->name;
    return lifetime_is_clean(lowering, &probe);
}

/* Instructions. */
static int npu_operation(const char *api)
{
    int op = 0;
    while (op < NPU_OPS && (!npu_isa[op].name || strcmp(npu_isa[op].name, api) != 0))
        op++;
    return op;
}

enum {
    FLOATS = 1 << AKGEN_FLOAT16 | 1 << AKGEN_FLOAT,
    WORDS = 1 << AKGEN_INT16 | 1 << AKGEN_INT32 | 1 << AKGEN_UINT16 | 1 << AKGEN_UINT32
};

/* Those of a function on rows and columns (emit_rows.c). */
static uint64_t types_of_rows(const char *api)
{
    static const struct {
        const char *begin;
        uint64_t types;
    } functions[] = {{"Turn", UINT64_MAX}, {"Fill", UINT64_MAX}, {"FoldRowsInt", UINT64_C(1) << AKGEN_INT32},
                     {"FoldRows", FLOATS}, {"Div", FLOATS},      {"PlaceOf", UINT64_C(1) << AKGEN_FLOAT}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strncmp(api, functions[i].begin, strlen(functions[i].begin)) == 0)
            return functions[i].types;
    return (uint64_t)FLOATS | 1 << AKGEN_INT16 | 1 << AKGEN_INT32;
}

/* The types that an instruction works on: bits 1 << enum akgen_dtype, of its destination or, of comparisons, of its source. */
static uint64_t types_of(const struct lower_instruction *instruction)
{
    int op = npu_operation(instruction->api);
    switch (instruction->form) {
    case LOWER_FORM_ROWS:
        return types_of_rows(instruction->api);
    case LOWER_FORM_PRODUCT:
    case LOWER_FORM_INT64:
    case LOWER_FORM_BYTES:
    case LOWER_FORM_FUNCTION:
    case LOWER_FORM_INT64_TRUTH:
    case LOWER_FORM_CAST:
    case LOWER_FORM_TO_BITS:
        return UINT64_MAX;
    case LOWER_FORM_BITS:
        return (uint64_t)WORDS | 1 << AKGEN_INT64 | 1 << AKGEN_UINT64 | 1 << AKGEN_BOOL;
    case LOWER_FORM_EACH:
        return (uint64_t)1 << AKGEN_INT16 | 1 << AKGEN_INT32;
    case LOWER_FORM_COMPARE:
        return (uint64_t)FLOATS | 1 << AKGEN_INT32;
    case LOWER_FORM_CHOOSE:
        return (uint64_t)FLOATS | WORDS | UINT64_C(1) << AKGEN_BF16;
    case LOWER_FORM_SORT:
    case LOWER_FORM_WIDE:
    case LOWER_FORM_OF_FLOAT:
        return UINT64_C(1) << AKGEN_FLOAT;
    case LOWER_FORM_POWER:
        return (uint64_t)FLOATS | 1 << AKGEN_INT32;
    default:
        return op < NPU_OPS ? npu_isa[op].types : (uint64_t)FLOATS;
    }
}

/* The buffer whose type decides which instruction it is. */
static const struct lower_buffer *deciding(const struct lowering *lowering, const struct dsl_expr *call,
                                           const struct lower_instruction *instruction)
{
    bool source = instruction->form == LOWER_FORM_COMPARE || strncmp(instruction->api, "PlaceOf", 7) == 0;
    return lower_buffer_of(lowering, call->items[source ? 2 : 1]);
}

/* Types whose every value is exact in float32: what lacks an instruction for them is computed in that. */
static bool widens(enum akgen_dtype type)
{
    return type == AKGEN_INT8 || type == AKGEN_UINT8 || type == AKGEN_INT16 || type == AKGEN_BF16 ||
           type == AKGEN_FLOAT16;
}

/* Steps for integers that no instruction does, and float32 would not hold; NULL: there are none. */
static const char *steps_for_integer(const char *operation, enum akgen_dtype type)
{
    enum {
        I8 = 1 << AKGEN_INT8 | 1 << AKGEN_UINT8 | 1 << AKGEN_BOOL,
        I16 = 1 << AKGEN_INT16,
        I32 = 1 << AKGEN_INT32,
        I64 = 1 << AKGEN_INT64
    };
    static const struct {
        const char *operation;
        unsigned types;
        const char *steps;
    } recipes[] = {
#define INTEGERS(operation, types, steps) {#operation, types, steps},
#include "dsl/integers.def"
#undef INTEGERS
    };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (strcmp(recipes[i].operation, operation) == 0 && recipes[i].types & UINT64_C(1) << type)
            return recipes[i].steps;
    return NULL;
}

/* `dtype == tl.int8 or ..` of the types in the set. */
static struct dsl_expr *question_of(struct lowering *lowering, const struct lower_buffer *buffer, uint64_t types)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *question = NULL;
    for (int type = 0; type < AKGEN_DTYPE_CODES; type++) {
        if (!(types & UINT64_C(1) << type))
            continue;
        struct dsl_expr *one =
            edit_binary(edit, DSL_EQUAL, edit_copy(edit, buffer->dtype),
                        edit_attribute(edit, edit_name(edit, "tl"), akgen_dtype_name((enum akgen_dtype)type)));
        question = question ? edit_binary(edit, DSL_OR, question, one) : one;
    }
    return question;
}

/* Whether every narrow type of the buffer holds the number as it is. */
static bool is_held(const struct lowering *lowering, const struct lower_buffer *buffer, const struct dsl_expr *number)
{
    bool held = number->kind == DSL_INT || number->kind == DSL_REAL;
    double value = number->kind == DSL_INT ? (double)number->integer : number->real;
    if (number->kind == DSL_UNARY && number->op == DSL_NEGATE)
        return is_held(lowering, buffer, number->items[0]);
    for (int c = 0; held && c < lowering->opdef->combinations; c++) {
        enum akgen_dtype type = lower_type_in(&buffer->type, c);
        held = !task_is_float(type) || task_round(type, value) == value;
    }
    return held;
}

/* A number goes into an operation rounded to the data type of the buffer, wherever it is computed. */
static struct dsl_expr *rounded(struct lowering *lowering, const struct dsl_expr *like, struct dsl_expr *number)
{
    struct edit *edit = &lowering->edit;
    const struct lower_buffer *buffer = lower_buffer_of(lowering, like);
    return is_held(lowering, buffer, number) ? number
                                             : EDIT_CALL(edit, "rounded", number, edit_name(edit, buffer->name));
}

/* The instruction in float32: its operands are converted, then the result. */
static void widen_into(struct lowering *lowering, const struct dsl_expr *call,
                       const struct lower_instruction *instruction, struct dsl_block *block)
{
    static const char rooms[] = "wxyzq";
    struct edit *edit = &lowering->edit;
    struct dsl_expr *made = edit_copy(edit, call), *dst = made->items[1], *count = call_argument(call, "count");
    bool compares = instruction->form == LOWER_FORM_COMPARE;
    struct dsl_expr *bytes = process_bytes(lowering, compares ? made->items[2] : dst);
    for (int i = 2, room = 1; i < made->count; i++) {
        struct dsl_expr *operand = made->items[i];
        const char *name = operand_buffer(operand, NULL);
        bool number = !name && operand->kind != DSL_NAMED && operand != call_argument(made, "count");
        if (number)
            made->items[i] = rounded(lowering, compares ? call->items[2] : call->items[1], operand);
        if (!name || lower_buffer_find(lowering, name)->type.fixed == AKGEN_BOOL)
            continue;
        struct dsl_expr *wide = process_room(lowering, operand, "float32", rooms[room++]);
        made->items[i] = wide;
        if (!(lower_use_of(call, name) & LOWER_READ))
            continue; /* the instruction's own room */
        edit_append(
            edit, block,
            edit_statement(edit, EDIT_CALL(edit, "cast_to", edit_copy(edit, wide), operand, edit_copy(edit, bytes),
                                           edit_copy(edit, count), edit_text(edit, "even"))));
    }
    edit_append(edit, block, edit_statement(edit, made));
    if (compares)
        return;
    made->items[1] = process_room(lowering, dst, "float32", rooms[0]);
    edit_append(edit, block,
                edit_statement(edit, EDIT_CALL(edit, "cast_to", dst, edit_copy(edit, made->items[1]), bytes,
                                               edit_copy(edit, count), edit_text(edit, "even"))));
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

/* The types of the set that are computed as the first of them is: in the same steps, or in float32. */
static uint64_t computed_alike(const char *operation, uint64_t types, const char **steps)
{
    uint64_t alike = 0;
    for (int type = 0; type < AKGEN_DTYPE_CODES; type++) {
        if (!(types & UINT64_C(1) << type))
            continue;
        const char *its = steps_for_integer(operation, (enum akgen_dtype)type);
        *steps = alike ? *steps : its;
        alike |= !alike || its == *steps ? UINT64_C(1) << type : 0;
    }
    return alike;
}

/* Whether the instruction, which lacks the type, can be computed in float32. */
static bool can_widen(const struct dsl_expr *call, const struct lower_instruction *instruction, enum akgen_dtype type)
{
    return widens(type) && call_argument(call, "count") &&
           (instruction->form != LOWER_FORM_POWER || task_is_float(type)) &&
           (instruction->form <= LOWER_FORM_FILL || lower_is_library(instruction->form) ||
            instruction->form == LOWER_FORM_COMPARE || instruction->form == LOWER_FORM_CHOOSE);
}

/* Puts the statements of `made` in the place of one of the block. */
static void put_instead(struct edit *edit, struct dsl_block *block, const struct dsl_statement *statement,
                        const struct dsl_block *made)
{
    int at = 0; /* rooms may stand before it now */
    while (block->items[at] != statement)
        at++;
    made->items[0]->after_blank = statement->after_blank;
    made->items[0]->trail = statement->trail;
    edit_lead(edit, made->items[0], &statement->lead);
    block->items[at] = made->items[0];
    for (int i = 1; i < made->count; i++)
        edit_insert(edit, block, at + i, made->items[i]);
}

/* What computes the operation in the types of the set, which the instruction lacks. */
static void explain_instead(struct lowering *lowering, const struct dsl_expr *call, const struct lower_buffer *buffer,
                            uint64_t types, const char *steps)
{
    const char *text = "";
    json_t *list;
    if (!lowering->explanation)
        return;
    list = json_array();
    for (int type = 0; type < AKGEN_DTYPE_CODES; type++)
        if (types & UINT64_C(1) << type) {
            const char *name = akgen_dtype_name((enum akgen_dtype)type);
            json_array_append_new(list, json_string(name));
            text = arena_printf(lowering->arena, "%s%s%s", text, *text ? " or " : "", name);
        }
    json_t *facts =
        json_pack("{s:s, s:s, s:o}", "operation", call->operation->name, "buffer", buffer->name, "lacking", list);
    const char *api = lower_instruction_find(call->operation->name)->api;
    json_t *names = json_array();
    const char *put_together = steps ? explain_steps(lowering, steps, names) : "";
    json_object_set_new(facts, "steps", names);
    if (steps)
        dsl_explain_add(lowering->explanation, DSL_ABOUT_TYPES, "steps", call->place, facts,
                        "`%s` has no %s, which `%s` holds: it is put together of %s.", api, text, buffer->name,
                        put_together);
    else
        dsl_explain_add(
            lowering->explanation, DSL_ABOUT_TYPES, "in_float32", call->place, facts,
            "`%s` has no %s, which `%s` holds: it is computed in float32, which holds every value of "
            "them%s.",
            api, text, buffer->name,
            lower_instruction_find(call->operation->name)->form == LOWER_FORM_COMPARE ? "" : ", and rounded once");
}

/* int64 to a floating type of 16 bits, in a combination that comes here: no instruction does it, and the way by float32 is to
 * round once. */
static void cast_once(struct lowering *lowering, struct dsl_expr *call, const bool *comes)
{
    const struct lower_type *to = &lower_buffer_of(lowering, call->items[1])->type,
                            *from = &lower_buffer_of(lowering, call->items[2])->type;
    bool found = false;
    for (int c = 0; c < lowering->opdef->combinations; c++)
        found |= comes[c] && lower_type_in(from, c) == AKGEN_INT64 && task_is_float(lower_type_in(to, c)) &&
                 lower_type_in(to, c) != AKGEN_FLOAT;
    if (found)
        call->items[0] = edit_attribute(&lowering->edit, edit_name(&lowering->edit, "tl"), "cast_once");
}

/* Whether what a load or a store moves is converted, in every combination that comes here. Tiles have rules of their own. */
static bool check_transfer(struct lowering *lowering, struct dsl_expr *call, const bool *comes)
{
    const enum dsl_operation_place place = call->operation->place;
    const struct lower_buffer *buffer = place == DSL_PLACE_COPYIN || place == DSL_PLACE_COPYOUT
                                            ? lower_buffer_of(lowering, *buffer_argument(call))
                                            : NULL;
    const struct lower_parameter *tensor =
        buffer && buffer->kind < LOWER_QUEUE_A1 ? lower_tensor_of(lowering, call_argument(call, "address")) : NULL;
    for (int c = 0; tensor && c < lowering->opdef->combinations; c++) {
        const struct lower_type type = tensor_type(lowering, tensor);
        const enum akgen_dtype of = lower_type_in(&type, c), to = lower_type_in(&buffer->type, c);
        if (comes[c] && !dsl_transfer_converts(of, to, place == DSL_PLACE_COPYIN))
            return LOWER_FAIL(lowering, call->place, DSL_RULE_types, DSL_CONVERTED, "'%s' holds %s and '%s' %s",
                              tensor->name, akgen_dtype_name(of), buffer->name, akgen_dtype_name(to));
    }
    return true;
}

/* Whether a number that is written down is one of the type, in every combination that comes here. */
static bool check_number(struct lowering *lowering, const struct dsl_expr *call, const struct lower_buffer *buffer,
                         const bool *comes)
{
    int64_t number;
    const struct dsl_expr *value = call->count > 3 ? call->items[3] : NULL;
    const bool negative = value && value->kind == DSL_UNARY && value->op == DSL_NEGATE;
    value = negative ? value->items[0] : value;
    if (!value || value->kind == DSL_NAMED || operand_buffer((struct dsl_expr *)value, NULL) ||
        !lower_constant(lowering, value, &number))
        return true;
    number = negative ? -number : number;
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        const enum akgen_dtype type = lower_type_in(&buffer->type, c);
        if (comes[c] && dsl_number_misleads(call->operation, type, number))
            return LOWER_FAIL(lowering, call->place, DSL_RULE_types, DSL_FITTING,
                              "%lld is no value of '%s', which holds %s", (long long)number, buffer->name,
                              akgen_dtype_name(type));
    }
    return true;
}

/* Sees to it that the instruction has the type, in every combination that comes here. */
static bool check_types(struct lowering *lowering, struct dsl_block *block, struct dsl_statement *statement,
                        const bool *comes)
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *call = statement->value;
    const struct lower_instruction *instruction = lower_instruction_find(call->operation->name);
    const struct lower_buffer *buffer = instruction ? deciding(lowering, call, instruction) : NULL;
    uint64_t lacking = 0, had = 0, types = instruction ? types_of(instruction) : 0;
    for (int c = 0; instruction && c < lowering->opdef->combinations; c++) {
        uint64_t type = UINT64_C(1) << lower_type_in(&buffer->type, c);
        if (comes[c])
            *(types & type ? &had : &lacking) |= type;
    }
    if (instruction && !check_number(lowering, call, buffer, comes))
        return false;
    if (instruction && instruction->form == LOWER_FORM_CAST)
        cast_once(lowering, call, comes);
    const bool written = dsl_operation_find(call->operation->name) != NULL; /* else it is a step of a recipe */
    for (int type = 0; type < AKGEN_DTYPE_CODES; type++)
        if (lacking & UINT64_C(1) << type && !steps_for_integer(call->operation->name, (enum akgen_dtype)type) &&
            !can_widen(call, instruction, (enum akgen_dtype)type))
            return LOWER_FAIL(lowering, call->place, DSL_RULE_types,
                              "compute in a buffer of tl.float32 (loads and stores convert) or tl.int32 (tl.cast)",
                              "no instruction does %s%s of %s, which '%s' holds", written ? "tl." : "this",
                              written ? call->operation->name : "", akgen_dtype_name((enum akgen_dtype)type),
                              buffer->name);
    if (!lacking)
        return true;
    const char *steps = NULL;
    uint64_t alike = computed_alike(call->operation->name, lacking, &steps);
    edit->place = statement->place;
    explain_instead(lowering, call, buffer, alike, steps);
    struct dsl_block made = {0};
    if (steps)
        process_steps(lowering, call, steps, &made);
    else
        widen_into(lowering, call, instruction, &made);
    if (!had && alike == lacking) {
        put_instead(edit, block, statement, &made);
        return true;
    }
    struct dsl_expr *question = question_of(lowering, buffer, alike);
    struct dsl_statement *original = edit_statement(edit, call);
    *statement = (struct dsl_statement){.kind = DSL_IF,
                                        .place = statement->place,
                                        .lead = statement->lead,
                                        .op = DSL_NO_OPERATOR,
                                        .value = question,
                                        .body = made,
                                        .after_blank = statement->after_blank};
    edit_append(edit, &statement->orelse, original);
    return alike == lacking ||
           check_types(lowering, &statement->orelse, original, those_of_branch(lowering, question, comes, false));
}

static bool check_block_types(struct lowering *lowering, struct dsl_block *block, const bool *comes)
{
    bool good = true;
    for (int i = 0; good && i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement_call(statement);
        bool branch = statement->kind == DSL_IF;
        if (call && statement->kind == DSL_EXPRESSION) {
            int before = block->count;
            good = check_transfer(lowering, statement->value, comes) && check_types(lowering, block, statement, comes);
            i += block->count - before; /* rooms, in the kernel's own block */
            continue;
        }
        good = check_block_types(lowering, &statement->body,
                                 branch ? those_of_branch(lowering, statement->value, comes, true) : comes) &&
               check_block_types(lowering, &statement->orelse,
                                 branch ? those_of_branch(lowering, statement->value, comes, false) : comes);
    }
    return good;
}

bool pass_types(struct lowering *lowering)
{
    struct dsl_block *kernel = lower_kernel(lowering);
    int combinations = lowering->opdef->combinations;
    for (int b = 0, count = lowering->buffer_count; b < count; b++)
        if (lowering->buffers[b].kind == LOWER_UB)
            split_buffer(lowering, lowering->buffers[b].name, would_be_queue);
    int buffers = lowering->buffer_count;
    bool *all = arena_alloc(lowering->arena, (size_t)combinations + 1);
    memset(all, true, (size_t)combinations);
    if (!check_block_types(lowering, kernel, all))
        return false;
    lowering->loaded = arena_alloc(lowering->arena, (size_t)(buffers + 1) * sizeof *lowering->loaded);
    lowering->loaded_count = buffers;
    for (int b = 0; b < buffers; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        struct transfers transfers = {.lowering = lowering, .buffer = buffer->name};
        for (int i = 0; buffer->kind == LOWER_UB && i < kernel->count; i++)
            statement_visit(kernel->items[i], find_transfers_below, &transfers);
        lowering->loaded[b] = (struct lower_transferred){buffer->kind, buffer->allocation->place, transfers.count > 0};
    }
    for (int b = 0; b < buffers; b++)
        choose_queue(lowering, &lowering->buffers[b]);
    stage_transfers(lowering, kernel);
    return !lowering->messages->count;
}
