/* Why the project is as it is, as far as the lowered program says: what its buffers need, how transfers are padded, what
 * barriers, flags and queues order. */
#include "base/array.h"
#include "dsl/lower_internal.h"
#include "npu/npu.h"

#include <inttypes.h>
#include <string.h>

/* One statement of the explanation, which somebody asks for. */
#define EXPLAIN(lowering, subject, kind, place, facts, ...)                                                            \
    dsl_explain_add((lowering)->explanation, subject, kind, place, facts, __VA_ARGS__)

/* What a step is called in the project: the function of Ascend C or of the project's own, or what the program calls it. */
static const char *step_name(const struct dsl_expr *call)
{
    static const char *const conversions[][2] = {{"widen", "Widen"},   {"narrow", "Narrow"}, {"convert", "Convert"},
                                                 {"enque", "EnQue"},   {"deque", "DeQue"},   {"load_rows", "LoadRows"},
                                                 {"alloc_ub", "Clear"}};
    const char *name = call->operation->name;
    const struct lower_instruction *instruction = lower_instruction_find(name);
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (strcmp(conversions[i][0], name) == 0)
            return conversions[i][1];
    return instruction ? instruction->api : name;
}

const char *explain_steps(const struct lowering *lowering, const char *recipe, json_t *list)
{
    const char *text = "";
    for (const char *step = recipe; step; step = strchr(step, ';')) {
        step += strspn(step, "; ");
        const char *name = arena_strndup(lowering->arena, step, strcspn(step, " ;"));
        json_array_append_new(list, json_string(name));
        text = arena_printf(lowering->arena, "%s%s`%s`", text, *text ? ", " : "", name);
    }
    return text;
}

static json_t *step_json(const struct dsl_expr *call)
{
    return json_pack("{s:s, s:i}", "step", step_name(call), "line", call->place.line);
}

/* The buffer that the earlier step uses, where it is another in the same memory; NULL: it is the buffer itself. */
static const char *other_in_memory(const struct lowering *lowering, const struct dsl_expr *earlier, const char *name)
{
    const struct lower_buffer *buffer = lower_buffer_find(lowering, name);
    const char *other = NULL;
    for (int b = 0; buffer && !lower_use_of(earlier, name) && b < lowering->buffer_count; b++)
        if (lower_memory_of(lowering, &lowering->buffers[b]) == lower_memory_of(lowering, buffer) &&
            lower_use_of(earlier, lowering->buffers[b].name))
            other = lowering->buffers[b].name;
    return other;
}

void explain_order(struct lowering *lowering, const char *operation, const struct explain_order *order)
{
    static const struct {
        const char *operation, *text;
    } orders[] = {{"barrier_v", "PipeBarrier<PIPE_V>"},         {"barrier_mte2", "PipeBarrier<PIPE_MTE2>"},
                  {"barrier_mte3", "PipeBarrier<PIPE_MTE3>"},   {"await_mte3_mte2", "Await<HardEvent::MTE3_MTE2>"},
                  {"barrier_all", "PipeBarrier<PIPE_ALL>"},     {"await_v_s", "Await<HardEvent::V_S>"},
                  {"await_mte2_s", "Await<HardEvent::MTE2_S>"}, {"await_s_v", "Await<HardEvent::S_V>"},
                  {"await_s_mte3", "Await<HardEvent::S_MTE3>"}};
    const struct dsl_expr *earlier = order->earlier, *later = order->later;
    const char *text = operation;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        text = strcmp(orders[i].operation, operation) == 0 ? orders[i].text : text;
    if (!earlier) {
        EXPLAIN(lowering, DSL_ABOUT_ORDER, "barrier", later->place,
                json_pack("{s:s, s:o, s:n, s:n, s:n, s:s, s:b}", "barrier", text, "before", step_json(later), "after",
                          "buffer", "other", "hazard", "all", "turn_before", false),
                "`%s` stands before `%s`: all that this core has begun has ended when the others go on.", text,
                step_name(later));
        return;
    }
    const bool turn = earlier == later || earlier->place.line > later->place.line;
    const char *hazard = order->reads ? "read after write" : order->wrote ? "write after write" : "write after read";
    const bool room = !*order->buffer;
    const char *buffer =
        room ? "the end of UB, where both compute masks" : arena_printf(lowering->arena, "`%s`", order->buffer);
    const char *other = room ? NULL : other_in_memory(lowering, earlier, order->buffer);
    const char *same = other ? arena_printf(lowering->arena, "`%s` in the same memory", other) : "it";
    EXPLAIN(lowering, DSL_ABOUT_ORDER, "barrier", later->place,
            json_pack("{s:s, s:o, s:o, s:s?, s:s?, s:s, s:b}", "barrier", text, "before", step_json(later), "after",
                      step_json(earlier), "buffer", room ? NULL : order->buffer, "other", other, "hazard", hazard,
                      "turn_before", turn),
            "`%s` stands before `%s`, which %s %s: `%s` in line %d %s %s%s.", text, step_name(later),
            order->reads ? "reads" : "writes", buffer, step_name(earlier), earlier->place.line,
            order->wrote ? strcmp(step_name(earlier), "DeQue") == 0 ? "received" : "writes" : "reads", same,
            turn ? " in the turn before" : "");
}

/* Buffers. */
static const char *const units[] = {[LOWER_UB] = "VECCALC",       [LOWER_QUEUE_IN] = "VECIN",
                                    [LOWER_QUEUE_OUT] = "VECOUT", [LOWER_QUEUE_MOVE] = "VECIN to VECOUT",
                                    [LOWER_QUEUE_A1] = "A1",      [LOWER_QUEUE_B1] = "B1",
                                    [LOWER_QUEUE_CO1] = "CO1"};

static const char *memory_of(enum lower_buffer_kind kind)
{
    return kind < LOWER_QUEUE_A1 ? "UB" : kind == LOWER_QUEUE_CO1 ? "L0C" : "L1";
}

/* Bytes of all tensors of the buffer in a combination; -1: the tiling function alone knows. */
static int64_t bytes_of(const struct lowering *lowering, const struct lower_buffer *buffer, int combination)
{
    int64_t bytes = lower_bytes(lowering, buffer, combination);
    return buffer->of || lower_lies_in_queue(lowering, buffer, combination) ? 0
           : bytes < 0                                                      ? -1
                                                                            : bytes * lower_depth(buffer);
}

static json_t *known_json(int64_t bytes)
{
    return bytes < 0 ? json_null() : json_integer(bytes);
}

/* "float32", or "float16 or float32 or bfloat16": the types of a buffer in all combinations. */
static const char *types_text(const struct lowering *lowering, const struct lower_type *type, json_t *list)
{
    const char *text = "";
    uint64_t told = 0;
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        enum akgen_dtype is = lower_type_in(type, c);
        json_array_append_new(list, json_string(akgen_dtype_name(is)));
        if (!(told >> is & 1))
            text = arena_printf(lowering->arena, "%s%s%s", text, told ? " or " : "", akgen_dtype_name(is));
        told |= UINT64_C(1) << is;
    }
    return text;
}

static void tell_buffer(struct lowering *lowering, const struct lower_buffer *buffer)
{
    int64_t elements = 0, most = 0, least = INT64_MAX, unit = lower_unit_bytes(lowering, buffer);
    const bool known = lower_constant(lowering, buffer->size, &elements);
    json_t *types = json_array(), *bytes = json_array();
    const char *holds = types_text(lowering, &buffer->type, types);
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        int64_t needed = bytes_of(lowering, buffer, c);
        json_array_append_new(bytes, known_json(needed));
        most = needed > most ? needed : most;
        least = needed < least ? needed : least;
    }
    const char *size = dsl_expr_text(lowering->arena, lower_resolve(lowering, buffer->size));
    bool made = false;
    for (int i = 0; i < lowering->new_name_count; i++)
        made |= strcmp(lowering->new_names[i], buffer->name) == 0;
    json_t *facts =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:I, s:I, s:o, s:b, s:s?}", "buffer", buffer->name, "memory",
                  memory_of(buffer->kind), "unit", units[buffer->kind], "types", types, "elements",
                  known ? json_integer(elements) : json_null(), "size", size, "depth", (json_int_t)lower_depth(buffer),
                  "rounded_to", (json_int_t)unit, "bytes", bytes, "made", (int)made, "in", buffer->of);
    const char *depth = lower_least_depth(buffer) < lower_depth(buffer) ? "two tensors, or one, of "
                        : lower_depth(buffer) > 1                       ? "two tensors of "
                                                                        : "",
               *by = made ? "made by the compiler, " : "";
    if (buffer->of)
        EXPLAIN(lowering, DSL_ABOUT_BUDGET, "buffer", buffer->allocation->place, facts,
                "`%s` in %s: %s`%s` elements of %s in the memory of `%s`, which nobody needs as long as it is used.",
                buffer->name, units[buffer->kind], by, size, holds, buffer->of);
    else if (!known)
        EXPLAIN(lowering, DSL_ABOUT_BUDGET, "buffer", buffer->allocation->place, facts,
                "`%s` in %s: %s%s`%s` elements of %s, which the tiling function computes.", buffer->name,
                units[buffer->kind], by, depth, size, holds);
    else
        EXPLAIN(lowering, DSL_ABOUT_BUDGET, "buffer", buffer->allocation->place, facts,
                "`%s` in %s: %s%s%" PRId64 " elements of %s, %s%" PRId64 " bytes%s.", buffer->name, units[buffer->kind],
                by, depth, elements, holds, least < most ? "at most " : "", most,
                least < most && least == 0 ? "; none where it lies in its queue's tensor" : "");
}

/* What all buffers of a memory need, and what there is. */
static void tell_memory(struct lowering *lowering, const char *memory, int64_t limit, int64_t reserved, int64_t more)
{
    int64_t most = more;
    bool unknown = false, any = false;
    json_t *bytes = json_array();
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        int64_t all = more;
        for (int b = 0; b < lowering->buffer_count; b++) {
            const struct lower_buffer *buffer = &lowering->buffers[b];
            if (strcmp(memory_of(buffer->kind), memory) != 0)
                continue;
            int64_t needed = bytes_of(lowering, buffer, c);
            any = true;
            unknown |= needed < 0;
            all += needed < 0 ? 0 : needed;
        }
        json_array_append_new(bytes, unknown ? json_null() : json_integer(all));
        most = all > most ? all : most;
    }
    if (!any && !more) {
        json_decref(bytes);
        return;
    }
    json_t *facts = json_pack("{s:s, s:o, s:I, s:I}", "memory", memory, "bytes", bytes, "limit", (json_int_t)limit,
                              "reserved", (json_int_t)reserved);
    const char *end = reserved
                          ? arena_printf(lowering->arena,
                                         ", of which instructions take the last %" PRId64 " for themselves", reserved)
                          : "";
    if (unknown)
        EXPLAIN(lowering, DSL_ABOUT_BUDGET, "total", lowering->program->kernel->place, facts,
                "The buffers that the program sizes by shapes have to fit into the %" PRId64
                " bytes of %s%s: the tiling "
                "function refuses a launch where they do not.",
                limit, memory, end);
    else
        EXPLAIN(lowering, DSL_ABOUT_BUDGET, "total", lowering->program->kernel->place, facts,
                "All buffers in %s need %s%" PRId64 " of %" PRId64 " bytes%s.", memory,
                lowering->opdef->combinations > 1 ? "at most " : "", most, limit, end);
}

/* Workspace, which is in global memory and no part of these. */
static void tell_workspace(struct lowering *lowering, const struct lower_parameter *parameter)
{
    json_t *types = json_array();
    const char *holds = types_text(lowering, &parameter->elements, types), *size = "";
    const struct dsl_expr *made = parameter->argument;
    for (int i = 1; i < made->count && made->items[i]->kind != DSL_NAMED; i++)
        size = arena_printf(lowering->arena, "%s%s%s", size, *size ? " * " : "",
                            dsl_expr_text(lowering->arena, made->items[i]));
    EXPLAIN(lowering, DSL_ABOUT_BUDGET, "workspace", made->place,
            json_pack("{s:s, s:s, s:o}", "tensor", parameter->name, "size", size, "types", types),
            "`%s` is workspace in global memory: `%s` elements of %s, for what cores leave each other.",
            parameter->name, size, holds);
}

/* Transfers. */
/* The text of a number of elements; of a name that one statement assigns, of what it assigns. */
static const char *count_text(struct lowering *lowering, const struct dsl_expr *count)
{
    const struct dsl_expr *value = count->kind == DSL_NAME ? explain_meaning(lowering, count->name) : NULL;
    return dsl_expr_text(lowering->arena, value ? value : count);
}

static void tell_transfer(struct lowering *lowering, const struct dsl_expr *call, const struct lower_parameter *tensor)
{
    const bool load = call->operation->place == DSL_PLACE_COPYIN, rounds = lower_rounds(lowering);
    const struct dsl_expr *count = call_argument(call, "count");
    const char *elements = count_text(lowering, count), *name = call->operation->name;
    const bool blocks = lower_whole_blocks(lowering, &tensor->elements, count);
    json_t *facts =
        json_pack("{s:s, s:s, s:s, s:s, s:b}", "operation", name, "tensor", tensor->name, "copy",
                  blocks ? "DataCopy" : "DataCopyPad", "count", elements, "zeros", load && rounds && !blocks);
    if (blocks)
        EXPLAIN(lowering, DSL_ABOUT_PADDING, "transfer", call->place, facts,
                "The %s of `%s` moves `%s` elements, whole blocks of 32 bytes in every data type: DataCopy.", name,
                tensor->name, elements);
    else
        EXPLAIN(lowering, DSL_ABOUT_PADDING, "transfer", call->place, facts,
                "The %s of `%s` moves `%s` elements, which need not be whole blocks of 32 bytes: DataCopyPad%s.", name,
                tensor->name, elements,
                load && rounds ? ", which fills the last block with zeros"
                : load         ? ", which leaves the rest of the last block open"
                               : ", which writes these bytes alone");
}

static void tell_rows(struct lowering *lowering, const struct dsl_expr *call, const struct lower_parameter *tensor)
{
    static const char *const names[] = {"rows", "cols", "gm_pitch", "pitch"};
    const char *texts[sizeof names / sizeof *names], *name = call->operation->name;
    json_t *facts = json_pack("{s:s, s:s}", "operation", name, "tensor", tensor->name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        texts[i] = dsl_expr_text(lowering->arena, call_argument(call, names[i]));
        json_object_set_new(facts, names[i], json_string(texts[i]));
    }
    EXPLAIN(
        lowering, DSL_ABOUT_PADDING, "rows", call->place, facts,
        "Rows of `%s` elements of `%s` lie `%s` apart in the buffer, so that each begins at a block of 32 bytes: one "
        "DataCopyPad moves up to 4095 rows%s.",
        texts[1], tensor->name, texts[3],
        call->operation->place == DSL_PLACE_COPYIN ? ", and fills the last block of each with zeros" : "");
}

static void tell_tile(struct lowering *lowering, const struct dsl_expr *call, const struct lower_parameter *tensor)
{
    const bool load = call->operation->place == DSL_PLACE_COPYIN;
    const char *rows = dsl_expr_text(lowering->arena, call_argument(call, "rows"));
    const char *cols = dsl_expr_text(lowering->arena, call_argument(call, "cols"));
    EXPLAIN(
        lowering, DSL_ABOUT_PADDING, "tile", call->place,
        json_pack("{s:s, s:s, s:s, s:s}", "operation", call->operation->name, "tensor", tensor->name, "rows", rows,
                  "cols", cols),
        load ? "`%s` rows of `%s` elements of `%s` become fractals of 16 rows of 32 bytes in L1; what lies beyond them "
               "in the tile is left open."
             : "`%s` rows of `%s` elements of the product are taken out of L0C's fractals into rows of `%s`.",
        rows, cols, tensor->name);
}

/* A conversion between buffers: that of a program's tl.cast, or of an instruction that is computed in another type. */
static void tell_cast(struct lowering *lowering, const struct dsl_expr *call)
{
    const struct lower_buffer *to = lower_buffer_find(lowering, operand_buffer(call->items[1], NULL));
    const struct lower_buffer *from = lower_buffer_find(lowering, operand_buffer(call->items[2], NULL));
    json_t *become = json_array(), *are = json_array();
    const char *result = types_text(lowering, &to->type, become), *source = types_text(lowering, &from->type, are);
    const char *round = call_argument(call, "round")->name;
    EXPLAIN(lowering, DSL_ABOUT_TYPES, "cast", call->place,
            json_pack("{s:s, s:s, s:o, s:o, s:s}", "from", from->name, "to", to->name, "types", are, "become", become,
                      "rounding", round),
            "`%s`, which is %s, becomes `%s`, which is %s, rounded \"%s\".", from->name, source, to->name, result,
            round);
}

static void tell_call(void *closure, struct dsl_expr *call)
{
    struct lowering *lowering = closure;
    if (call->kind == DSL_CALL && call->operation && strcmp(call->operation->name, "cast_to") == 0)
        tell_cast(lowering, call);
    const struct dsl_expr *address = call->kind == DSL_CALL && call->operation ? call_argument(call, "address") : NULL;
    const struct lower_parameter *tensor = address ? lower_tensor_of(lowering, address) : NULL;
    if (!tensor)
        return;
    if (strstr(call->operation->name, "_rows"))
        tell_rows(lowering, call, tensor);
    else if (strstr(call->operation->name, "_tile"))
        tell_tile(lowering, call, tensor);
    else
        tell_transfer(lowering, call, tensor);
}

static void tell_calls(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, tell_call, closure);
}

/* The first call that takes whole blocks or repeats; NULL: there is none. */
static const struct dsl_expr *first_rounding(const struct dsl_block *block)
{
    const struct dsl_expr *found = NULL;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *call = statement->kind == DSL_EXPRESSION ? statement_call(statement) : NULL;
        found = call && lower_call_rounds(call) ? call : first_rounding(&statement->body);
        found = found ? found : first_rounding(&statement->orelse);
    }
    return found;
}

static void tell_zeros(struct lowering *lowering)
{
    const struct dsl_expr *call = first_rounding(lower_kernel(lowering));
    if (!lower_rounds(lowering))
        return;
    if (call)
        EXPLAIN(lowering, DSL_ABOUT_PADDING, "zeros", call->place,
                json_pack("{s:s, s:i}", "step", step_name(call), "rounded_to", 256),
                "`%s` takes whole blocks or repeats of 256 bytes: every buffer is a multiple of them and begins with "
                "zeros, so that nothing undefined is read.",
                step_name(call));
    else
        EXPLAIN(lowering, DSL_ABOUT_PADDING, "zeros", lowering->program->kernel->place,
                json_pack("{s:n, s:i}", "step", "rounded_to", 256),
                "An operation may take in elements without a value: every buffer is a multiple of 256 bytes and begins "
                "with zeros.");
    EXPLAIN(lowering, DSL_ABOUT_ORDER, "zeros", lowering->program->kernel->place,
            json_pack("{s:s}", "barrier", "PipeBarrier<PIPE_V>"),
            "`PipeBarrier<PIPE_V>` stands behind the zeros that the buffers begin with, before all that computes.");
}

/* What the queues order. */
static void tell_queue(struct lowering *lowering, const struct lower_buffer *buffer)
{
    static const char *const ends[][2] = {
        [LOWER_QUEUE_IN] = {"MTE2", "V"},    [LOWER_QUEUE_OUT] = {"V", "MTE3"},   [LOWER_QUEUE_MOVE] = {"MTE2", "MTE3"},
        [LOWER_QUEUE_A1] = {"MTE2", "MTE1"}, [LOWER_QUEUE_B1] = {"MTE2", "MTE1"}, [LOWER_QUEUE_CO1] = {"M", "FIX"}};
    if (buffer->kind == LOWER_UB)
        return;
    const char *const *units_of = ends[buffer->kind];
    EXPLAIN(
        lowering, DSL_ABOUT_ORDER, "queue", buffer->allocation->place,
        json_pack("{s:s, s:s, s:s, s:I}", "queue", buffer->name, "from", units_of[0], "to", units_of[1], "depth",
                  (json_int_t)lower_depth(buffer)),
        "The queue of `%s` orders %s and %s: DeQue waits for what fills a tensor, AllocTensor for what has used it.",
        buffer->name, units_of[0], units_of[1]);
}

/* Accesses to tensors and tl.sync_all(), in the order of the text. A loop around tl.sync_all() comes twice, as a turn follows
 * another. */
struct access {
    const struct lower_parameter *tensor; /* NULL: tl.sync_all() */
    const struct dsl_expr *call;
    bool stores;
};
struct accesses {
    struct lowering *lowering;
    struct access *items;
    int count, capacity;
};

static void note_access(void *closure, struct dsl_expr *call)
{
    struct accesses *accesses = closure;
    const struct dsl_expr *address = NULL;
    if (call->kind != DSL_CALL || !call->operation)
        return;
    const bool sync = strcmp(call->operation->name, "sync_all") == 0;
    address = call_argument(call, strcmp(call->operation->name, "extract_scalar") == 0 ? "from" : "address");
    const struct lower_parameter *tensor = address ? lower_tensor_of(accesses->lowering, address) : NULL;
    if (sync || tensor)
        ARRAY_ADD(accesses->lowering->arena, accesses->items, accesses->count, accesses->capacity,
                  (struct access){tensor, call, call->operation->place == DSL_PLACE_COPYOUT});
}

static void note_accesses(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, note_access, closure);
}

static void note_block(struct accesses *accesses, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        const bool loop = statement->kind == DSL_FOR || statement->kind == DSL_WHILE;
        if (!block_calls(&statement->body, "sync_all") && !block_calls(&statement->orelse, "sync_all")) {
            statement_visit(statement, note_accesses, accesses);
            continue;
        }
        for (int turn = 0; turn < (loop ? 2 : 1); turn++)
            note_block(accesses, &statement->body);
        note_block(accesses, &statement->orelse);
    }
}

/* The accesses between which the tl.sync_all() number `at` stands: one since the one before it, and one behind it, to the same
 * tensor, of which one stores. */
static void tell_sync(struct lowering *lowering, const struct accesses *accesses, int at, json_t *pairs,
                      const char **text)
{
    for (int before = at - 1; before >= 0 && accesses->items[before].tensor; before--)
        for (int after = at + 1; after < accesses->count; after++) {
            const struct access *a = &accesses->items[before], *b = &accesses->items[after];
            if (a->tensor != b->tensor || (!a->stores && !b->stores))
                continue;
            const char *part = arena_printf(lowering->arena, "`%s` is %s in line %d and %s in line %d", a->tensor->name,
                                            a->stores ? "stored" : "loaded", a->call->place.line,
                                            b->stores ? "stored" : "loaded", b->call->place.line);
            if (strstr(*text, part))
                continue;
            *text = arena_printf(lowering->arena, "%s%s%s", *text, **text ? ", " : "", part);
            json_array_append_new(pairs,
                                  json_pack("{s:s, s:s, s:i, s:s, s:i}", "tensor", a->tensor->name, "before",
                                            a->stores ? "store" : "load", "before_line", a->call->place.line, "after",
                                            b->stores ? "store" : "load", "after_line", b->call->place.line));
        }
}

static void tell_phases(struct lowering *lowering)
{
    struct accesses accesses = {.lowering = lowering};
    note_block(&accesses, lower_kernel(lowering));
    for (int i = 0; i < accesses.count; i++) {
        const struct dsl_expr *call = accesses.items[i].call;
        const char *text = "";
        bool told = accesses.items[i].tensor;
        for (int other = 0; other < i; other++) /* the second turn of a loop */
            told |= accesses.items[other].call == call;
        if (told)
            continue;
        json_t *pairs = json_array();
        for (int other = i; other < accesses.count; other++)
            if (accesses.items[other].call == call)
                tell_sync(lowering, &accesses, other, pairs, &text);
        EXPLAIN(lowering, DSL_ABOUT_PHASES, "sync_all", call->place,
                json_pack("{s:o, s:b}", "between", pairs, "inferred", call->inferred),
                *text ? "All cores wait for each other between accesses to one tensor: %s.%s"
                      : "All cores wait for each other; no tensor is stored on one side and accessed on the other%s.%s",
                text, call->inferred ? " The program does not say so: the compiler put the tl.sync_all() there." : "");
    }
}

/* Whether all buffers fit with a constant of the file as it is now, and the bytes of UB that they need; of a size that is not
 * known neither is. */
static bool all_fit(struct lowering *lowering, int64_t *ub)
{
    int64_t most[3] = {0};
    const int64_t limits[] = {npu_socs->ub_tiling_bytes - lowering->reserved, npu_socs->l1_bytes, npu_socs->l0c_bytes};
    for (int c = 0; c < lowering->opdef->combinations; c++) {
        int64_t all[3] = {lower_added_bytes(lowering, "UB"), 0, 0};
        for (int b = 0; b < lowering->buffer_count; b++) {
            const struct lower_buffer *buffer = &lowering->buffers[b];
            all[buffer->kind < LOWER_QUEUE_A1     ? 0
                : buffer->kind == LOWER_QUEUE_CO1 ? 2
                                                  : 1] += bytes_of(lowering, buffer, c);
        }
        for (int m = 0; m < 3; m++)
            most[m] = all[m] > most[m] ? all[m] : most[m];
    }
    *ub = most[0];
    return most[0] <= limits[0] && most[1] <= limits[1] && most[2] <= limits[2];
}

/* The largest multiple of `step` that the constant can be with all buffers as they are, or its value if that is larger; 0: none
 * is too large. */
static int64_t largest_that_fits(struct lowering *lowering, struct dsl_expr *literal, int64_t step)
{
    enum { MOST = 1 << 20 };
    const int64_t value = literal->integer;
    int64_t ub, low = value / step, high = MOST / step;
    literal->integer = MOST;
    bool any = all_fit(lowering, &ub);
    while (!any && high - low > 1) {
        literal->integer = (low + high) / 2 * step;
        *(all_fit(lowering, &ub) ? &low : &high) = (low + high) / 2;
    }
    literal->integer = value;
    return any ? 0 : low * step > value ? low * step : value;
}

/* A constant that the launch gave: the buffers that it sizes, and how large it could be. */
static void tell_constant(struct lowering *lowering, const struct dsl_statement *constant, bool all_known)
{
    enum { STEP = 16 };
    const char *name = constant->target->name, *text = "";
    const int64_t value = constant->value->integer;
    int64_t bytes = 0, largest = 0;
    json_t *sizes = json_array();
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        if (!tree_mentions(lower_resolve(lowering, buffer->size), name))
            continue;
        json_array_append_new(sizes, json_string(buffer->name));
        text = arena_printf(lowering->arena, "%s%s`%s`", text, *text ? ", " : ": it sizes ", buffer->name);
    }
    if (all_known && json_array_size(sizes) && all_fit(lowering, &bytes))
        largest = largest_that_fits(lowering, constant->value, STEP);
    const char *end = largest > value ? arena_printf(lowering->arena,
                                                     "; %" PRId64 " is the largest multiple of %d for which they would "
                                                     "fit, with as many tensors",
                                                     largest, STEP)
                      : largest       ? arena_printf(lowering->arena,
                                                     "; with the next multiple of %d they would not fit with as many "
                                                           "tensors",
                                                     STEP)
                                      : "";
    EXPLAIN(lowering, DSL_ABOUT_TILING, "constant", constant->place,
            json_pack("{s:s, s:I, s:o, s:o}", "constant", name, "value", (json_int_t)value, "sizes", sizes, "largest",
                      largest ? json_integer(largest) : json_null()),
            "`%s` is %" PRId64 "%s%s.", name, value, text, end);
}

static void tell_constants(struct lowering *lowering)
{
    const struct dsl_block *body = &lowering->tree->body;
    bool known = true;
    int64_t elements;
    for (int b = 0; b < lowering->buffer_count; b++)
        known &= lower_constant(lowering, lowering->buffers[b].size, &elements);
    for (int i = 0; i < body->count; i++)
        if (body->items[i]->kind == DSL_ASSIGN && body->items[i]->value->kind == DSL_INT &&
            body->items[i]->value->integer > 0)
            tell_constant(lowering, body->items[i], known);
}

void explain_lowered(struct lowering *lowering)
{
    struct dsl_block *kernel = lower_kernel(lowering);
    for (int b = 0; b < lowering->buffer_count; b++) {
        tell_buffer(lowering, &lowering->buffers[b]);
        tell_queue(lowering, &lowering->buffers[b]);
    }
    for (size_t i = 0; i < sizeof lowering->added / sizeof *lowering->added; i++) {
        const struct lower_added *added = &lowering->added[i];
        if (added->name)
            EXPLAIN(lowering, DSL_ABOUT_BUDGET, "added", lowering->program->kernel->place,
                    json_pack("{s:s, s:s, s:I}", "buffer", added->name, "memory", added->memory, "bytes",
                              (json_int_t)added->bytes),
                    "`%s` takes %" PRId64 " bytes of %s: %s.", added->name, added->bytes, added->memory,
                    added->purpose);
    }
    for (int i = 0; i < lowering->parameter_count; i++)
        if (lowering->parameters[i].source == LOWER_WORKSPACE)
            tell_workspace(lowering, &lowering->parameters[i]);
    tell_memory(lowering, "UB", npu_socs->ub_tiling_bytes, lowering->reserved, lower_added_bytes(lowering, "UB"));
    tell_memory(lowering, "L1", npu_socs->l1_bytes, 0, 0);
    tell_memory(lowering, "L0A", npu_socs->l0a_bytes, 0, lower_added_bytes(lowering, "L0A"));
    tell_memory(lowering, "L0B", npu_socs->l0b_bytes, 0, lower_added_bytes(lowering, "L0B"));
    tell_memory(lowering, "L0C", npu_socs->l0c_bytes, 0, 0);
    for (int i = 0; i < kernel->count; i++)
        statement_visit(kernel->items[i], tell_calls, lowering);
    tell_zeros(lowering);
    tell_phases(lowering);
    tell_constants(lowering);
}
