/* Printing statements in C++, and the small functions that the printed text calls. */
#include "base/array.h"
#include "dsl/emit.h"

#include <stdlib.h>
#include <string.h>

static bool is_declared(const struct emit *emit, const char *name)
{
    for (int i = 0; i < emit->declared_count; i++)
        if (same_name(emit->declared[i], name))
            return true;
    return false;
}

static void declare(struct emit *emit, const char *name)
{
    ARRAY_ADD(emit->lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, name);
}

/* A variable of the function that C++ has to declare: a number or a list, no parameter that keeps its value. */
static bool is_variable(const struct emit *emit, const struct dsl_symbol *symbol)
{
    bool value = (symbol->type >= DSL_TYPE_BOOL && symbol->type <= DSL_TYPE_NUMBER) || symbol->type == DSL_TYPE_INTS;
    return value && !is_declared(emit, symbol->name);
}

/* Variables that a statement assigns. */
struct assigned {
    const struct emit *emit;
    const struct dsl_symbol **items; /* each of them as often as it is assigned */
    int count, capacity;
};

static void assigned_add(void *closure, struct dsl_expr *part)
{
    struct assigned *assigned = closure;
    const struct emit *emit = assigned->emit;
    const struct dsl_symbol *symbol =
        part->kind == DSL_NAME && part->name ? dsl_scope_find(emit->names, part->name) : NULL;
    if (symbol && is_variable(emit, symbol))
        ARRAY_ADD(emit->lowering->arena, assigned->items, assigned->count, assigned->capacity, symbol);
}

static void assigned_find(struct assigned *assigned, const struct dsl_statement *statement)
{
    tree_visit(statement->target, assigned_add, assigned);
    for (int i = 0; i < statement->body.count; i++)
        assigned_find(assigned, statement->body.items[i]);
    for (int i = 0; i < statement->orelse.count; i++)
        assigned_find(assigned, statement->orelse.items[i]);
}

static int by_number(const void *a, const void *b)
{
    return (*(const struct dsl_symbol *const *)a)->number - (*(const struct dsl_symbol *const *)b)->number;
}

/* Declares what statement number `at` assigns below it and what is read behind it in the block. */
static void declare_ahead(struct emit *emit, const struct dsl_block *block, int at)
{
    const struct dsl_statement *statement = block->items[at];
    struct assigned assigned = {.emit = emit};
    if (!statement->body.count && !statement->orelse.count)
        return;
    assigned_find(&assigned, statement);
    if (assigned.count)
        qsort(assigned.items, (size_t)assigned.count, sizeof(struct dsl_symbol *), by_number);
    for (int s = 0; s < assigned.count; s++) {
        const struct dsl_symbol *symbol = assigned.items[s];
        bool later = false;
        if (s && symbol == assigned.items[s - 1])
            continue;
        for (int i = at + 1; !later && i < block->count; i++)
            later = statement_mentions(block->items[i], symbol->name);
        if (!later)
            continue;
        emit_line(emit, "%s %s%s;", emit_type(emit, symbol), emit_name(emit, symbol->name),
                  symbol->type == DSL_TYPE_INTS ? "" : " = 0");
        declare(emit, symbol->name);
    }
}

/* "int64_t " before a variable that is declared here. */
static const char *declaration(struct emit *emit, const struct dsl_expr *target)
{
    const struct dsl_symbol *symbol = dsl_scope_find(emit->names, target->name);
    if (!symbol || !is_variable(emit, symbol))
        return "";
    declare(emit, symbol->name);
    return arena_printf(emit->lowering->arena, "%s ", emit_type(emit, symbol));
}

static void end_line(struct emit *emit, const struct dsl_statement *statement)
{
    const char *trail = statement->trail;
    if (trail)
        text_addf(emit->out, " //%s", emit_remark(emit->lowering->arena, trail));
    text_add(emit->out, "\n");
}

/* a, b = values: each part in a line of its own. */
static void emit_parts(struct emit *emit, const struct dsl_statement *statement)
{
    const struct dsl_expr *targets = statement->target, *values = statement->value;
    bool each = values->kind == DSL_TUPLE || values->kind == DSL_LIST;
    for (int i = 0; i < targets->count; i++) {
        const char *type = declaration(emit, targets->items[i]);
        emit_indent(emit);
        text_addf(emit->out, "%s%s = ", type, emit_name(emit, targets->items[i]->name));
        if (each) {
            emit_expr(emit, values->items[i], 0);
        } else {
            struct dsl_expr index = {.kind = DSL_INT, .integer = i, .op = DSL_NO_OPERATOR, .type = DSL_TYPE_INT},
                            *items[] = {(struct dsl_expr *)values, &index};
            index.digits = arena_printf(emit->lowering->arena, "%d", i);
            const struct dsl_expr part = {
                .kind = DSL_INDEX, .place = values->place, .items = items, .count = 2, .type = DSL_TYPE_INT};
            emit_expr(emit, &part, 0);
        }
        text_add(emit->out, ";\n");
    }
}

static void emit_assign(struct emit *emit, const struct dsl_statement *statement)
{
    const struct dsl_expr *target = statement->target;
    if (target->kind == DSL_TUPLE || target->kind == DSL_LIST) {
        emit_parts(emit, statement);
        return;
    }
    const struct dsl_symbol *symbol = dsl_scope_find(emit->names, target->name);
    bool plain = statement->op == DSL_NO_OPERATOR || statement->op == DSL_ADD || statement->op == DSL_SUBTRACT ||
                 statement->op == DSL_MULTIPLY;
    const char *type = declaration(emit, target);
    emit_indent(emit);
    text_addf(emit->out, "%s%s %s= ", type, emit_name(emit, target->name),
              plain && statement->op != DSL_NO_OPERATOR ? dsl_operator_text(statement->op) : "");
    if (plain) {
        bool text = statement->value->kind == DSL_INT && symbol && symbol->type == DSL_TYPE_REAL;
        emit_expr(emit, statement->value, 0);
        text_add(emit->out, text ? emit->host ? ".0" : ".0f" : "");
    } else { /* a //= b is a = a // b */
        struct dsl_expr *items[] = {(struct dsl_expr *)target, statement->value};
        const struct dsl_expr whole = {.kind = DSL_BINARY,
                                       .place = statement->place,
                                       .op = statement->op,
                                       .items = items,
                                       .count = 2,
                                       .type = target->type};
        emit_expr(emit, &whole, 0);
    }
    text_add(emit->out, ";");
    end_line(emit, statement);
}

static void emit_body(struct emit *emit, const struct dsl_block *block,
                      void (*other)(struct emit *emit, const struct dsl_statement *statement))
{
    int declared = emit->declared_count;
    emit->indent++;
    emit_block(emit, block, other);
    emit->indent--;
    emit->declared_count = declared;
}

static void emit_if(struct emit *emit, const struct dsl_statement *statement,
                    void (*other)(struct emit *emit, const struct dsl_statement *statement))
{
    emit_indent(emit);
    for (;;) {
        text_add(emit->out, emit_is_constexpr(emit, statement->value) ? "if constexpr (" : "if (");
        emit_expr(emit, statement->value, 0);
        text_add(emit->out, ") {\n");
        emit_body(emit, &statement->body, other);
        emit_indent(emit);
        if (!statement->elif)
            break;
        text_add(emit->out, "} else ");
        statement = statement->orelse.items[0];
        emit->line = statement->place.line;
    }
    if (!statement->orelse.count) {
        text_add(emit->out, "}\n");
        return;
    }
    text_add(emit->out, "} else {\n");
    emit->indent++;
    emit_comments(emit, &statement->orelse_lead);
    emit->indent--;
    emit_body(emit, &statement->orelse, other);
    emit_line(emit, "}");
}

static void emit_for(struct emit *emit, const struct dsl_statement *statement,
                     void (*other)(struct emit *emit, const struct dsl_statement *statement))
{
    const struct dsl_expr *range = statement->value;
    const char *name = emit_name(emit, statement->target->name);
    bool counts = range->kind == DSL_CALL && expr_is(range->items[0], "", "range");
    bool known = is_declared(emit, statement->target->name);
    int declared = emit->declared_count;
    if (!known)
        declare(emit, statement->target->name);
    emit_indent(emit);
    if (!counts) {
        text_addf(emit->out, "for (int64_t %s : ", name);
        emit_expr(emit, range, 0);
    } else {
        struct dsl_expr *step = range->count > 3 ? range->items[3] : NULL;
        bool down = step && step->kind == DSL_UNARY;
        bool either = step && !down && !emit_is_natural(emit, step); /* which way is known when it runs */
        if (block_assigns(&statement->body, statement->target->name))
            emit->good = LOWER_FAIL(emit->lowering, statement->place, DSL_RULE_not_compiled,
                                    "count with a variable of its own", "the loop's variable is assigned in it");
        text_addf(emit->out, "for (%s%s = ", known ? "" : "int64_t ", name);
        if (range->count > 2)
            emit_expr(emit, range->items[1], 0);
        else
            text_add(emit->out, "0");
        const struct dsl_expr *end = range->items[range->count == 2 ? 1 : 2];
        const char *text = emit_expr_text(emit, end), *open = end->kind == DSL_CHOICE ? "(" : "";
        const char *close = *open ? ")" : "";
        if (either)
            text_addf(emit->out, "; (%s) > 0 ? %s < (%s) : %s > (%s)", emit_expr_text(emit, step), name, text, name,
                      text);
        else
            text_addf(emit->out, "; %s %s %s%s%s", name, down ? ">" : "<", open, text, close);
        if (!step || tree_is_integer(step, 1)) {
            text_addf(emit->out, "; %s++", name);
        } else {
            text_addf(emit->out, "; %s %s= ", name, down ? "-" : "+");
            emit_expr(emit, down ? step->items[0] : step, 0);
        }
    }
    text_add(emit->out, ") {");
    end_line(emit, statement);
    emit_body(emit, &statement->body, other);
    emit_line(emit, "}");
    emit->declared_count = declared;
}

static void emit_statement(struct emit *emit, const struct dsl_statement *statement,
                           void (*other)(struct emit *emit, const struct dsl_statement *statement))
{
    switch (statement->kind) {
    case DSL_ASSIGN:
        if (statement->target->kind == DSL_TUPLE || statement->target->kind == DSL_LIST ||
            (statement->value->type >= DSL_TYPE_BOOL && statement->value->type <= DSL_TYPE_NUMBER) ||
            statement->value->type == DSL_TYPE_INTS)
            emit_assign(emit, statement);
        else
            other(emit, statement);
        break;
    case DSL_IF:
        emit_if(emit, statement, other);
        break;
    case DSL_FOR:
        emit_for(emit, statement, other);
        break;
    case DSL_WHILE:
        emit_indent(emit);
        text_add(emit->out, "while (");
        emit_expr(emit, statement->value, 0);
        text_add(emit->out, ") {\n");
        emit_body(emit, &statement->body, other);
        emit_line(emit, "}");
        break;
    case DSL_BREAK:
        emit_line(emit, "break;");
        break;
    case DSL_CONTINUE:
        emit_line(emit, "continue;");
        break;
    case DSL_PASS:
    case DSL_REMARKS:
    case DSL_IMPORT:
    case DSL_DEF:
        break;
    default:
        other(emit, statement);
    }
}

/* Returns true if a variable of the target is needed. */
static bool is_needed(const struct emit *emit, const struct dsl_expr *target)
{
    const struct dsl_symbol *symbol =
        target->kind == DSL_NAME && target->name ? dsl_scope_find(emit->names, target->name) : NULL;
    bool needed = symbol && emit->needed[symbol->number];
    for (int i = 0; !needed && i < target->count; i++)
        needed = is_needed(emit, target->items[i]);
    return needed;
}

/* A statement that computes what nobody needs. */
static bool is_idle(const struct emit *emit, const struct dsl_statement *statement)
{
    return emit->done || (emit->needed && statement->kind == DSL_ASSIGN && !is_needed(emit, statement->target));
}

void emit_block(struct emit *emit, const struct dsl_block *block,
                void (*other)(struct emit *emit, const struct dsl_statement *statement))
{
    int before = emit->line;
    for (int i = 0; i < block->count && emit->good; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (is_idle(emit, statement))
            continue;
        if (statement->after_blank && i && emit->out->length && emit->out->bytes[emit->out->length - 2] != '{')
            text_add(emit->out, "\n");
        emit->line = statement->place.line;
        emit_comments(emit, &statement->lead);
        declare_ahead(emit, block, i);
        emit_statement(emit, statement, other);
        emit->line = before;
    }
}

/* The text of each aid. %s, twice at most: how the part that has it declares functions. */
static const char *const aids[] = {
    [AID_MIN] = "template <typename N>\n%s N Min(N a, N b)\n{\n    return a < b ? a : b;\n}\n",
    [AID_MAX] = "template <typename N>\n%s N Max(N a, N b)\n{\n    return a > b ? a : b;\n}\n",
    [AID_CEIL_DIV] =
        "%s int64_t CeilDiv(int64_t value, int64_t by)\n{\n    return value / by + (value %% by > 0);\n}\n",
    [AID_FLOOR_DIV] = "// The quotient, rounded down.\n%s int64_t FloorDiv(int64_t value, int64_t by)\n{\n"
                      "    return value / by - (value %% by != 0 && (value < 0) != (by < 0));\n}\n",
    [AID_FLOOR_MOD] = "%s int64_t FloorMod(int64_t value, int64_t by)\n{\n    return value - FloorDiv(value, by) * "
                      "by;\n}\n",
    [AID_REFUSE] = "// Says why there is no tiling for these shapes.\n"
                   "%s ge::graphStatus Refuse(gert::TilingContext *context, const std::string &why)\n{\n"
                   "    std::fprintf(stderr, \"%%s: %%s\\n\", context->GetNodeName(), why.c_str());\n"
                   "    return ge::GRAPH_FAILED;\n}\n",
    [AID_DIM] = "// The size of an axis, which counts from the end if it is negative.\n"
                "%s int64_t DimOf(const gert::Shape &shape, int64_t axis)\n{\n"
                "    return shape.GetDim(axis < 0 ? axis + static_cast<int64_t>(shape.GetDimNum()) : axis);\n}\n",
    [AID_DIMS] =
        "%s std::vector<int64_t> Dims(const gert::Shape &shape)\n{\n    std::vector<int64_t> dims;\n"
        "    for (size_t i = 0; i < shape.GetDimNum(); i++) {\n        dims.push_back(shape.GetDim(i));\n    }\n"
        "    return dims;\n}\n",
    [AID_SLICE] = "// list[from:to], where both count from the end if they are negative.\n"
                  "%s std::vector<int64_t> Slice(const std::vector<int64_t> &list, int64_t from, int64_t to)\n{\n"
                  "    const int64_t size = list.size();\n"
                  "    from = std::min(from < 0 ? std::max<int64_t>(from + size, 0) : from, size);\n"
                  "    to = std::min(to < 0 ? std::max<int64_t>(to + size, 0) : to, size);\n"
                  "    return from < to ? std::vector<int64_t>(list.begin() + from, list.begin() + to) : "
                  "std::vector<int64_t>();\n}\n",
    [AID_AWAIT] = "// One unit waits for what another has begun.\n"
                  "template <HardEvent event>\n%s void Await()\n{\n"
                  "    event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));\n"
                  "    SetFlag<event>(id);\n    WaitFlag<event>(id);\n}\n",
    [AID_LIST_OF] =
        "// The tensors of a list; one is looked up again where another was asked for before.\n"
        "template <typename E>\nclass ListOf {\npublic:\n"
        "    __aicore__ inline void Init(GM_ADDR given)\n    {\n        list = given;\n    }\n\n"
        "    __aicore__ inline const GlobalTensor<E> &At(int64_t index)\n    {\n        if (index != number) {\n"
        "            ListTensorDesc tensors((__gm__ void *)list);\n"
        "            tensor.SetGlobalBuffer(tensors.GetDataPtr<E>(static_cast<uint32_t>(index)));\n"
        "            number = index;\n        }\n        return tensor;\n    }\n\nprivate:\n    GM_ADDR list;\n"
        "    GlobalTensor<E> tensor;\n    int64_t number = -1;\n};\n",
    [AID_NUMELS] =
        "// How many elements each tensor of a list has.\n"
        "%s std::vector<int64_t> NumelsOf(gert::TilingContext *context, size_t input)\n{\n"
        "    std::vector<int64_t> elements;\n"
        "    for (size_t i = 0; i < context->GetIrInputInstanceInfo(input)->GetInstanceNum(); i++) {\n"
        "        elements.push_back(context->GetDynamicInputShape(input, i)->GetStorageShape().GetShapeSize());\n"
        "    }\n    return elements;\n}\n",
    [AID_IS_FLOAT] = "template <typename E>\nconstexpr bool IS_FLOAT =\n    std::is_same_v<E, half> || "
                     "std::is_same_v<E, float> || std::is_same_v<E, bfloat16_t>;\n",
    [AID_LOAD_ROWS] =
        "// `rows` rows of `cols` elements, `gmPitch` apart in global memory and `pitch` in UB; a gmPitch of 0 repeats "
        "one.\n"
        "template <typename E>\n"
        "%s void LoadRows(const LocalTensor<E> &to, const GlobalTensor<E> &from, int64_t rows, int64_t cols,\n"
        "                                int64_t gmPitch, int64_t pitch)\n{\n"
        "    constexpr int64_t BLOCK = 32 / sizeof(E), ROWS_MAX = 4095;\n"
        "    const int64_t blocks = (cols + BLOCK - 1) / BLOCK;\n"
        "    const int64_t most = gmPitch ? ROWS_MAX : 1;\n"
        "    DataCopyPadExtParams<E> pad{true, 0, static_cast<uint8_t>(blocks * BLOCK - cols), static_cast<E>(0)};\n"
        "    for (int64_t row = 0; row < rows; row += most) {\n"
        "        DataCopyExtParams copy{static_cast<uint16_t>(Min(rows - row, most)),\n"
        "                               static_cast<uint32_t>(cols * sizeof(E)),\n"
        "                               static_cast<uint32_t>((gmPitch ? gmPitch - cols : 0) * sizeof(E)),\n"
        "                               static_cast<uint32_t>(pitch / BLOCK - blocks), 0};\n"
        "        DataCopyPad(to[row * pitch], from[row * gmPitch], copy, pad);\n    }\n}\n",
    [AID_STORE_ROWS] =
        "// The same the other way.\n"
        "template <typename E>\n"
        "%s void StoreRows(const GlobalTensor<E> &to, const LocalTensor<E> &from, int64_t rows, int64_t cols,\n"
        "                                 int64_t gmPitch, int64_t pitch)\n{\n"
        "    constexpr int64_t BLOCK = 32 / sizeof(E), ROWS_MAX = 4095;\n"
        "    const int64_t blocks = (cols + BLOCK - 1) / BLOCK;\n"
        "    for (int64_t row = 0; row < rows; row += ROWS_MAX) {\n"
        "        DataCopyExtParams copy{static_cast<uint16_t>(Min(rows - row, ROWS_MAX)),\n"
        "                               static_cast<uint32_t>(cols * sizeof(E)),\n"
        "                               static_cast<uint32_t>(pitch / BLOCK - blocks),\n"
        "                               static_cast<uint32_t>((gmPitch - cols) * sizeof(E)), 0};\n"
        "        DataCopyPad(to[row * gmPitch], from[row * pitch], copy);\n    }\n}\n",
    [AID_COMPRESS] =
        "// The elements whose bit is set, one behind the other; how many they are.\n"
        "template <typename E>\n"
        "%s int64_t Compress(const LocalTensor<E> &to, const LocalTensor<E> &from, const LocalTensor<uint8_t> &bits,\n"
        "                                   int64_t count)\n{\n"
        "    using Word = std::conditional_t<sizeof(E) == sizeof(uint16_t), uint16_t, uint32_t>;\n"
        "    uint64_t kept = 0;\n"
        "    GatherMask(to, from, bits.template ReinterpretCast<Word>(), true, static_cast<uint32_t>(count),\n"
        "               GatherMaskParams{1, 1, 8, 0}, kept);\n"
        "    PipeBarrier<PIPE_ALL>(); // the number is there when the instruction has ended\n    return kept;\n}\n",
    [AID_FILL_UP] =
        "// What a load of `count` elements fills its last block with: zeros.\n"
        "template <typename E>\n%s DataCopyPadExtParams<E> FillUp(int64_t count)\n{\n"
        "    constexpr int64_t BLOCK = 32 / sizeof(E);\n"
        "    return {true, 0, static_cast<uint8_t>((BLOCK - count %% BLOCK) %% BLOCK), static_cast<E>(0)};\n}\n",
    [AID_CLEAR_BUFFER] = "// Zeros in a buffer.\n"
                         "%s void Clear(TBuf<TPosition::VECCALC> &buffer, int64_t bytes)\n{\n"
                         "    Duplicate(buffer.Get<int16_t>(), static_cast<int16_t>(0), bytes / sizeof(int16_t));\n}\n",
    [AID_CLEAR_QUEUE] = "// Zeros in every tensor of a queue.\n"
                        "template <int DEPTH, typename Queue>\n%s void Clear(Queue &queue, int64_t bytes)\n{\n"
                        "    LocalTensor<int16_t> tensors[DEPTH];\n"
                        "    for (int i = 0; i < DEPTH; i++) {\n"
                        "        tensors[i] = queue.template AllocTensor<int16_t>();\n"
                        "        Duplicate(tensors[i], static_cast<int16_t>(0), bytes / sizeof(int16_t));\n    }\n"
                        "    for (int i = 0; i < DEPTH; i++) {\n        queue.FreeTensor(tensors[i]);\n    }\n}\n",
    [AID_CLEAR_OPEN_QUEUE] =
        "// Zeros in every tensor of a queue, which has so many.\n"
        "template <int MOST, typename Queue>\n%s void Clear(Queue &queue, int64_t bytes, int64_t tensors)\n{\n"
        "    LocalTensor<int16_t> all[MOST];\n"
        "    for (int64_t i = 0; i < tensors; i++) {\n        all[i] = queue.template AllocTensor<int16_t>();\n"
        "        Duplicate(all[i], static_cast<int16_t>(0), bytes / sizeof(int16_t));\n    }\n"
        "    for (int64_t i = 0; i < tensors; i++) {\n        queue.FreeTensor(all[i]);\n    }\n}\n",
    [AID_SHIFT] =
        "// Shifts by a number of bits, to the right with the sign. By a negative number, or more bits than there are, "
        "all "
        "are\n// shifted out. ShiftLeft of a signed type would keep the sign.\n"
        "template <typename E>\n%s void ShiftLeftBy(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t by,\n"
        "                                   int64_t count)\n{\n"
        "    using Bits = std::conditional_t<sizeof(E) == 2, uint16_t, uint32_t>;\n"
        "    constexpr int64_t BITS = sizeof(E) * 8;\n"
        "    const LocalTensor<Bits> bits = to.template ReinterpretCast<Bits>();\n"
        "    if (by < 0 || by >= BITS) {\n        Duplicate(bits, static_cast<Bits>(0), count);\n    } else {\n"
        "        ShiftLeft(bits, from.template ReinterpretCast<Bits>(), static_cast<Bits>(by), count);\n    }\n}\n\n"
        "template <typename E>\n%s void ShiftRightBy(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t "
        "by,\n"
        "                                    int64_t count)\n{\n"
        "    constexpr int64_t BITS = sizeof(E) * 8;\n"
        "    ShiftRight(to, from, static_cast<E>(by < 0 || by >= BITS ? BITS - 1 : by), count);\n}\n",
    [AID_SHIFT_EACH] =
        "// Shifts each element by as many bits as `by` says of it, to the right with the sign: by 1, 2, 4, .. bits "
        "those "
        "whose number\n// has them. By a negative number, or more bits than there are, all are shifted out.\n"
        "template <bool LEFT, typename E>\n%s void ShiftEach(const LocalTensor<E> &to, const LocalTensor<E> &from,\n"
        "                                 const LocalTensor<E> &by, const LocalTensor<E> &room,\n"
        "                                 const LocalTensor<E> &second, const LocalTensor<E> &third, int64_t "
        "count)\n{\n"
        "    using Bits = std::make_unsigned_t<E>;\n"
        "    constexpr int BITS = sizeof(E) * 8, MOST = LEFT ? BITS : BITS - 1;\n"
        "    const LocalTensor<Bits> bits = room.template ReinterpretCast<Bits>(),\n"
        "                            amounts = second.template ReinterpretCast<Bits>();\n"
        "    ShiftRight(room, by, static_cast<E>(BITS - 1), count);\n    Mins(second, by, static_cast<E>(MOST), "
        "count);\n"
        "    PipeBarrier<PIPE_V>();\n    Muls(room, room, static_cast<E>(-MOST), count);\n    PipeBarrier<PIPE_V>();\n"
        "    Max(second, second, room, count);\n    Adds(to, from, static_cast<E>(0), count);\n"
        "    for (int k = 0; 1 << k <= MOST; k++) {\n        PipeBarrier<PIPE_V>();\n"
        "        ShiftLeft(bits, amounts, static_cast<Bits>(BITS - 1 - k), count);\n        PipeBarrier<PIPE_V>();\n"
        "        ShiftRight(bits, bits, static_cast<Bits>(BITS - 1), count); // 1: bit k is set\n"
        "        if constexpr (LEFT) { // a product by 2^(2^k), or by 1\n            PipeBarrier<PIPE_V>();\n"
        "            Muls(room, room, static_cast<E>((1ULL << (1 << k)) - 1), count);\n            "
        "PipeBarrier<PIPE_V>();\n"
        "            Adds(room, room, static_cast<E>(1), count);\n            PipeBarrier<PIPE_V>();\n"
        "            Mul(to, to, room, count);\n        } else {\n"
        "            ShiftRight(third, to, static_cast<E>(1 << k), count);\n            PipeBarrier<PIPE_V>();\n"
        "            Sub(third, third, to, count);\n            PipeBarrier<PIPE_V>();\n"
        "            Mul(third, third, room, count);\n            PipeBarrier<PIPE_V>();\n"
        "            Add(to, to, third, count);\n        }\n    }\n}\n",
    [AID_SIGN] =
        "// -1, 0 or 1; NaN of NaN, for which Sign gives 0. A factor twice makes more than 1 of the smallest number.\n"
        "template <typename E>\n%s void SignOf(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t "
        "count)\n{\n"
        "    constexpr float LARGE = sizeof(E) == 2 ? 32768.0f : 1.0e30f;\n"
        "    Muls(to, from, static_cast<E>(LARGE), count);\n    PipeBarrier<PIPE_V>();\n"
        "    for (int turn = 0; turn < 2; turn++) {\n"
        "        Maxs(to, to, static_cast<E>(-1.0f), count);\n        PipeBarrier<PIPE_V>();\n"
        "        Mins(to, to, static_cast<E>(1.0f), count);\n        PipeBarrier<PIPE_V>();\n"
        "        if (turn == 0) {\n            Muls(to, to, static_cast<E>(LARGE), count);\n"
        "        } else { // no sign of 0\n            Adds(to, to, static_cast<E>(0.0f), count);\n        }\n"
        "        PipeBarrier<PIPE_V>();\n    }\n}\n",
    [AID_EXP2] = "// 2 to the power of each element.\n"
                 "%s void Exp2(const LocalTensor<float> &to, const LocalTensor<float> &from, int64_t count)\n{\n"
                 "    constexpr float LN_2 = 0.693147181f;\n    Muls(to, from, LN_2, count);\n"
                 "    PipeBarrier<PIPE_V>();\n    Exp(to, to, count);\n}\n",
    [AID_KEEP_NAN] =
        "// -0, and NaN where there is NaN: added to any number, it leaves it or makes it NaN.\n"
        "template <typename E>\n%s void NansOf(const LocalTensor<E> &to, const LocalTensor<E> &from, int64_t "
        "count)\n{\n"
        "    Maxs(to, from, static_cast<E>(-0.0f), count);\n    PipeBarrier<PIPE_V>();\n"
        "    Mins(to, to, static_cast<E>(-0.0f), count);\n    PipeBarrier<PIPE_V>();\n}\n\n"
        "// Integers of the size of a floating type.\n"
        "template <typename E>\nusing WordOf = std::conditional_t<sizeof(E) == 2, int16_t, int32_t>;\n\n"
        "// Makes the elements integers: 0 where they are 0, else 1.\n"
        "template <typename E>\n%s LocalTensor<WordOf<E>> IsNot0(const LocalTensor<E> &elements, int64_t count)\n{\n"
        "    using Bits = std::make_unsigned_t<WordOf<E>>;\n"
        "    const LocalTensor<Bits> bits = elements.template ReinterpretCast<Bits>();\n"
        "    const LocalTensor<WordOf<E>> words = elements.template ReinterpretCast<WordOf<E>>();\n"
        "    ShiftLeft(bits, bits, static_cast<Bits>(1), count);\n    PipeBarrier<PIPE_V>();\n"
        "    ShiftRight(bits, bits, static_cast<Bits>(1), count);\n    PipeBarrier<PIPE_V>();\n"
        "    Mins(words, words, static_cast<WordOf<E>>(1), count);\n    PipeBarrier<PIPE_V>();\n"
        "    return words;\n}\n",
    [AID_POWER_BY] =
        "// base ** by. Power makes 1 of NaN, which is right where `by` is 0 or `base` 1.\n"
        "template <typename E>\n%s void PowerBy(const LocalTensor<E> &to, const LocalTensor<E> &base, const E &by,\n"
        "                               const LocalTensor<E> &room, int64_t count)\n{\n"
        "    if constexpr (std::is_integral_v<E>) {\n        Power(to, base, by, count);\n    } else {\n"
        "        constexpr WordOf<E> NAN_BITS = sizeof(E) == 2 ? 0x7e00 : 0x7fc00000;\n"
        "        const float exponent = static_cast<float>(by);\n        if (exponent != exponent) {\n"
        "            Adds(room, base, static_cast<E>(-1.0f), count);\n            PipeBarrier<PIPE_V>();\n"
        "            const LocalTensor<WordOf<E>> words = IsNot0(room, count);\n"
        "            Muls(words, words, NAN_BITS, count);\n        } else if (exponent == 0) {\n"
        "            Duplicate(room, static_cast<E>(-0.0f), count);\n        } else {\n"
        "            NansOf(room, base, count);\n        }\n"
        "        Power(to, base, by, count);\n        PipeBarrier<PIPE_V>();\n        Add(to, to, room, count);\n"
        "    }\n}\n",
    [AID_POWER] =
        "// base ** by. Power makes 1 of NaN, which is right where `by` is 0 or `base` 1.\n"
        "template <typename E>\n%s void PowerOf(const LocalTensor<E> &to, const LocalTensor<E> &base,\n"
        "                               const LocalTensor<E> &by, const LocalTensor<E> &room,\n"
        "                               const LocalTensor<E> &second, int64_t count)\n{\n"
        "    if constexpr (std::is_integral_v<E>) {\n        Power(to, base, by, count);\n    } else {\n"
        "        const LocalTensor<WordOf<E>> ofBy = room.template ReinterpretCast<WordOf<E>>(),\n"
        "                                     ofBase = second.template ReinterpretCast<WordOf<E>>();\n"
        "        NansOf(room, by, count);\n        Adds(to, base, static_cast<E>(-1.0f), count);\n"
        "        PipeBarrier<PIPE_V>();\n        Mul(ofBy, ofBy, IsNot0(to, count), count);\n"
        "        NansOf(second, base, count);\n        Adds(to, by, static_cast<E>(0.0f), count);\n"
        "        PipeBarrier<PIPE_V>();\n        Mul(ofBase, ofBase, IsNot0(to, count), count);\n"
        "        PipeBarrier<PIPE_V>();\n        Add(room, room, second, count);\n"
        "        Power(to, base, by, count);\n        PipeBarrier<PIPE_V>();\n        Add(to, to, room, count);\n"
        "    }\n}\n",
    [AID_SORT] =
        "// values = the first `count` elements of `from` in descending order, indices = where they stood. Pairs of "
        "both "
        "are sorted\n// by 32, then up to four lists become one, in the other half of `room`, until one is left.\n"
        "%s void SortPairs(const LocalTensor<float> &values, const LocalTensor<int32_t> &indices,\n"
        "                                 const LocalTensor<float> &from, const LocalTensor<float> &room, int64_t "
        "count)\n{\n"
        "    constexpr int64_t BLOCK = 32, PAIR = 2, LISTS = 4, REPEATS_MAX = 255;\n"
        "    constexpr int32_t LEAST = 0xff800000; // minus infinity\n"
        "    const int64_t whole = (count + BLOCK - 1) / BLOCK * BLOCK;\n"
        "    LocalTensor<float> lists = room, merged = room[PAIR * whole];\n"
        "    const LocalTensor<int32_t> keys = merged.ReinterpretCast<int32_t>(), places = keys[whole];\n"
        "    const LocalTensor<uint16_t> words = from.ReinterpretCast<uint16_t>();\n"
        "    Duplicate(keys[whole - BLOCK], LEAST, BLOCK);\n    CreateVecIndex(places, 0, whole);\n"
        "    PipeBarrier<PIPE_V>();\n"
        "    Or(keys.ReinterpretCast<uint16_t>(), words, words, 2 * count);\n    PipeBarrier<PIPE_V>();\n"
        "    for (int64_t at = 0; at < whole; at += REPEATS_MAX * BLOCK) {\n"
        "        Sort32(lists[PAIR * at], merged[at], places[at].ReinterpretCast<uint32_t>(),\n"
        "               Min((whole - at) / BLOCK, REPEATS_MAX));\n    }\n    PipeBarrier<PIPE_V>();\n"
        "    for (int64_t length = BLOCK; length < whole; length *= LISTS) {\n"
        "        for (int64_t at = 0; at < whole; at += LISTS * length) {\n"
        "            uint16_t lengths[LISTS];\n            int64_t used = 0;\n"
        "            for (int64_t i = 0; i < LISTS; i++) {\n"
        "                lengths[i] = Max<int64_t>(Min(whole - at - i * length, length), 0);\n"
        "                used += lengths[i] > 0;\n            }\n"
        "            const LocalTensor<float> second = lists[PAIR * (used > 1 ? at + length : at)],\n"
        "                                     third = lists[PAIR * (used > 2 ? at + 2 * length : at)],\n"
        "                                     fourth = lists[PAIR * (used > 3 ? at + 3 * length : at)];\n"
        "            if (used > 1) {\n"
        "                MrgSort(merged[PAIR * at], MrgSortSrcList<float>(lists[PAIR * at], second, third, fourth),\n"
        "                        MrgSort4Info(lengths, false, (1 << used) - 1, 1));\n"
        "            } else { // as it is\n"
        "                const LocalTensor<uint16_t> pairs = lists[PAIR * at].ReinterpretCast<uint16_t>();\n"
        "                Or(merged[PAIR * at].ReinterpretCast<uint16_t>(), pairs, pairs, 2 * PAIR * lengths[0]);\n"
        "            }\n        }\n        PipeBarrier<PIPE_V>();\n"
        "        const LocalTensor<float> sorted = merged;\n        merged = lists;\n        lists = sorted;\n    }\n"
        "    uint64_t taken = 0;\n    constexpr uint8_t EVEN = 1, ODD = 2; // patterns of GatherMask\n"
        "    // It leaves the rest of its last block in any state.\n"
        "    GatherMask(merged, lists, EVEN, true, PAIR * count, {1, 1, 8, 0}, taken);\n"
        "    GatherMask(merged[whole], lists, ODD, true, PAIR * count, {1, 1, 8, 0}, taken);\n"
        "    PipeBarrier<PIPE_V>();\n"
        "    const LocalTensor<uint16_t> first = merged.ReinterpretCast<uint16_t>(), second = first[2 * whole];\n"
        "    Or(values.ReinterpretCast<uint16_t>(), first, first, 2 * count);\n"
        "    Or(indices.ReinterpretCast<uint16_t>(), second, second, 2 * count);\n}\n",
    [AID_FILL_BYTES] =
        "// The value in each of `count` bytes, and one more of an odd number.\n"
        "template <typename E>\n%s void FillBytes(const LocalTensor<E> &to, E value, int64_t count)\n{\n"
        "    const uint16_t byte = static_cast<uint8_t>(value);\n"
        "    Duplicate(to.template ReinterpretCast<uint16_t>(), static_cast<uint16_t>(byte << 8 | byte), (count + 1) / "
        "2);\n}\n",
    [AID_WIDEN_BYTES] =
        "// Integers of 8 bits, which nothing computes, in 16; and back, the low bits of each.\n"
        "template <typename E>\n%s void WidenBytes(const LocalTensor<int16_t> &to, const LocalTensor<E> &from, int64_t "
        "count)\n{\n"
        "    const LocalTensor<half> halves = to.ReinterpretCast<half>();\n"
        "    Cast(halves, from, RoundMode::CAST_NONE, count);\n    PipeBarrier<PIPE_V>();\n"
        "    Cast(to, halves, RoundMode::CAST_RINT, count);\n}\n\n"
        "template <typename E>\n%s void WrapBytes(const LocalTensor<E> &to, const LocalTensor<int16_t> &from,\n"
        "                                 const LocalTensor<int16_t> &room, int64_t count)\n{\n"
        "    using Word = std::conditional_t<std::is_signed_v<E>, int16_t, uint16_t>;\n    constexpr int BITS = 8;\n"
        "    const LocalTensor<uint16_t> high = room.ReinterpretCast<uint16_t>();\n"
        "    const LocalTensor<Word> words = room.ReinterpretCast<Word>();\n"
        "    const LocalTensor<half> halves = room.ReinterpretCast<half>();\n"
        "    ShiftLeft(high, from.ReinterpretCast<uint16_t>(), static_cast<uint16_t>(BITS), count);\n"
        "    PipeBarrier<PIPE_V>();\n    ShiftRight(words, words, static_cast<Word>(BITS), count);\n"
        "    PipeBarrier<PIPE_V>();\n    Cast(halves, room, RoundMode::CAST_NONE, count);\n    PipeBarrier<PIPE_V>();\n"
        "    Cast(to, halves, RoundMode::CAST_RINT, count);\n}\n",
    [AID_WHOLE] = "// So many elements rounded up to whole repeats, which comparisons take.\n"
                  "template <typename E>\n%s uint32_t Whole(int64_t count)\n{\n"
                  "    constexpr int64_t REPEAT = 256 / sizeof(E);\n"
                  "    return (count + REPEAT - 1) / REPEAT * REPEAT;\n}\n",
    [AID_COMPARE] =
        "// A bit for each element: MODE holds between it and `by`. Integers of 32 bits can only be compared for "
        "equality: a larger\n"
        "// one is told by the maximum, in `room`.\n"
        "template <CMPMODE MODE, typename E, typename B>\n"
        "%s void CompareTo(const LocalTensor<uint8_t> &to, const LocalTensor<E> &from, const B &by,\n"
        "                                 const LocalTensor<E> &room, int64_t count)\n{\n"
        "    constexpr bool SCALAR = std::is_same_v<B, E>;\n    const uint32_t whole = Whole<E>(count);\n"
        "    if constexpr (!std::is_same_v<E, int32_t>) {\n        if constexpr (SCALAR) {\n"
        "            CompareScalar(to, from, by, MODE, whole);\n        } else {\n"
        "            Compare(to, from, by, MODE, whole);\n        }\n    } else {\n"
        "        constexpr bool NOT = MODE == CMPMODE::NE || MODE == CMPMODE::LT || MODE == CMPMODE::GT;\n"
        "        if constexpr (MODE == CMPMODE::EQ || MODE == CMPMODE::NE) {\n"
        "            if constexpr (SCALAR) {\n                CompareScalar(to, from, by, CMPMODE::EQ, whole);\n"
        "            } else {\n                Compare(to, from, by, CMPMODE::EQ, whole);\n            }\n"
        "        } else {\n            if constexpr (SCALAR) {\n                Maxs(room, from, by, whole);\n"
        "            } else {\n                Max(room, from, by, whole);\n            }\n"
        "            PipeBarrier<PIPE_V>();\n"
        "            if constexpr (MODE == CMPMODE::LT || MODE == CMPMODE::GE) { // not less: it is the maximum\n"
        "                Compare(to, room, from, CMPMODE::EQ, whole);\n            } else if constexpr (SCALAR) {\n"
        "                CompareScalar(to, room, by, CMPMODE::EQ, whole);\n            } else {\n"
        "                Compare(to, room, by, CMPMODE::EQ, whole);\n            }\n        }\n"
        "        if constexpr (NOT) {\n            PipeBarrier<PIPE_V>();\n"
        "            const LocalTensor<uint16_t> words = to.template ReinterpretCast<uint16_t>();\n"
        "            Not(words, words, whole / 16);\n        }\n    }\n}\n",
    [AID_NOT_EQUAL] = "// A bit for each element that differs from `by`, NaN from all: no comparison holds of NaN.\n"
                      "template <typename E, typename B>\n"
                      "%s void NotEqualTo(const LocalTensor<uint8_t> &to, const LocalTensor<E> &from, const B &by,\n"
                      "                                  const LocalTensor<E> &room, int64_t count)\n{\n"
                      "    const LocalTensor<uint16_t> words = to.template ReinterpretCast<uint16_t>();\n"
                      "    CompareTo<CMPMODE::EQ>(to, from, by, room, count);\n    PipeBarrier<PIPE_V>();\n"
                      "    Not(words, words, Whole<E>(count) / 16);\n}\n",
    [AID_CHOOSE] =
        "// Where the bit is set the element of `yes`, else that of `no` or the number.\n"
        "template <typename E, typename N>\n"
        "%s void Choose(const LocalTensor<E> &to, const LocalTensor<uint8_t> &bits, const LocalTensor<E> &yes,\n"
        "                              const N &no, int64_t count)\n{\n"
        "    using F = std::conditional_t<sizeof(E) == 2, half, float>; // moves any bits of its size\n"
        "    if constexpr (std::is_same_v<N, E>) {\n"
        "        Select(to, bits, yes, no, SELMODE::VSEL_TENSOR_SCALAR_MODE, count);\n    } else {\n"
        "        Select(to.template ReinterpretCast<F>(), bits, yes.template ReinterpretCast<F>(),\n"
        "               no.template ReinterpretCast<F>(), SELMODE::VSEL_TENSOR_TENSOR_MODE, count);\n    }\n}\n",
    [AID_TO_BITS] =
        "// A bit for each element that is not 0.\n"
        "template <typename S>\n"
        "%s void ToBits(const LocalTensor<uint8_t> &to, const LocalTensor<S> &from, const LocalTensor<half> &room,\n"
        "                              int64_t count)\n{\n"
        "    const uint32_t whole = Whole<half>(count);\n"
        "    Duplicate(room, static_cast<half>(0), whole);\n    PipeBarrier<PIPE_V>();\n"
        "    Cast(room, from, RoundMode::CAST_NONE, count);\n    PipeBarrier<PIPE_V>();\n"
        "    CompareScalar(to, room, static_cast<half>(0), CMPMODE::NE, whole);\n}\n",
    [AID_FROM_BITS] =
        "// 1 for each bit that is set, else 0.\n"
        "template <typename D>\n"
        "%s void FromBits(const LocalTensor<D> &to, const LocalTensor<uint8_t> &bits, const LocalTensor<half> &room,\n"
        "                                int64_t count)\n{\n"
        "    Duplicate(room, static_cast<half>(1), count);\n    PipeBarrier<PIPE_V>();\n"
        "    Select(room, bits, room, static_cast<half>(0), SELMODE::VSEL_TENSOR_SCALAR_MODE, count);\n"
        "    PipeBarrier<PIPE_V>();\n    Cast(to, room, RoundMode::CAST_RINT, count);\n}\n",
    [AID_CAST] =
        "template <typename E>\nconstexpr bool IS_FLOATING =\n    std::is_same_v<E, half> || std::is_same_v<E, float> "
        "|| "
        "std::is_same_v<E, bfloat16_t>;\n\n// Converts `count` elements; where there is no instruction for the two "
        "types, by way of `room`, eight bytes for each.\n"
        "template <RoundMode MODE, typename D, typename S>\n"
        "%s void CastTo(const LocalTensor<D> &to, const LocalTensor<S> &from, const LocalTensor<uint8_t> &room,\n"
        "                              int64_t count)\n{\n"
        "    constexpr bool BYTES = sizeof(D) == 1, FROM_BYTES = sizeof(S) == 1;\n"
        "    const int64_t size = room.GetSize() / 8;\n"
        "    const LocalTensor<float> wide = room.template ReinterpretCast<float>();\n"
        "    const LocalTensor<int32_t> whole = room.template ReinterpretCast<int32_t>()[size];\n"
        "    const LocalTensor<half> halves = room.template ReinterpretCast<half>()[2 * size];\n"
        "    if constexpr (std::is_same_v<D, S>) {\n"
        "        const LocalTensor<uint16_t> words = from.template ReinterpretCast<uint16_t>();\n"
        "        Or(to.template ReinterpretCast<uint16_t>(), words, words, (count * sizeof(S) + 1) / "
        "sizeof(uint16_t));\n"
        "    } else if constexpr (std::is_same_v<S, bool>) {\n"
        "        CastTo<MODE>(to, from.template ReinterpretCast<uint8_t>(), room, count);\n"
        "    } else if constexpr (std::is_same_v<D, bool>) { // 1 where a bit is set but the sign\n"
        "        const LocalTensor<uint32_t> bits = room.template ReinterpretCast<uint32_t>();\n"
        "        CastTo<MODE>(wide, from, room, count);\n        PipeBarrier<PIPE_V>();\n"
        "        ShiftLeft(bits, bits, static_cast<uint32_t>(1), count);\n        PipeBarrier<PIPE_V>();\n"
        "        ShiftRight(bits, bits, static_cast<uint32_t>(1), count);\n        PipeBarrier<PIPE_V>();\n"
        "        Mins(whole, bits.template ReinterpretCast<int32_t>(), 1, count);\n        PipeBarrier<PIPE_V>();\n"
        "        CastTo<MODE>(to.template ReinterpretCast<uint8_t>(), whole, room, count);\n"
        "    } else if constexpr (std::is_same_v<D, int16_t> && std::is_same_v<S, int64_t>) {\n"
        "        Cast(whole, from, RoundMode::CAST_NONE, count);\n        PipeBarrier<PIPE_V>();\n"
        "        Cast(to, whole, RoundMode::CAST_NONE, count);\n"
        "    } else if constexpr (FROM_BYTES && std::is_same_v<D, half>) {\n"
        "        Cast(to, from, RoundMode::CAST_NONE, count);\n"
        "    } else if constexpr (FROM_BYTES) { // what comes next writes `whole` for bytes, else `wide`\n"
        "        const LocalTensor<half> numbers = BYTES ? room.template ReinterpretCast<half>() : halves;\n"
        "        Cast(numbers, from, RoundMode::CAST_NONE, count);\n        PipeBarrier<PIPE_V>();\n"
        "        CastTo<MODE>(to, numbers, room, count);\n"
        "    } else if constexpr (BYTES && std::is_same_v<S, half>) { // takes the ends of D for what is beyond\n"
        "        Cast(to, from, MODE, count);\n"
        "    } else if constexpr (BYTES) { // whole numbers in the range of D are exact in half\n"
        "        if constexpr (std::is_same_v<S, float>) {\n            Cast(wide, from, MODE, count);\n"
        "        } else if constexpr (IS_FLOATING<S>) {\n            Cast(wide, from, RoundMode::CAST_NONE, count);\n"
        "            PipeBarrier<PIPE_V>();\n            Cast(wide, wide, MODE, count);\n"
        "        } else {\n            CastTo<RoundMode::CAST_RINT>(wide, from, room, count);\n        }\n"
        "        PipeBarrier<PIPE_V>();\n        Cast(halves, wide, RoundMode::CAST_RINT, count);\n"
        "        PipeBarrier<PIPE_V>();\n        Cast(to, halves, RoundMode::CAST_RINT, count);\n"
        "    } else if constexpr (IS_FLOATING<S> && sizeof(S) == 2 &&\n"
        "                         (IS_FLOATING<D> ? sizeof(D) == 2 : sizeof(D) == 8 || (sizeof(D) == 2 && "
        "!std::is_same_v<S, half>))) {\n"
        "        Cast(wide, from, RoundMode::CAST_NONE, count);\n        PipeBarrier<PIPE_V>();\n"
        "        CastTo<MODE>(to, wide, room, count);\n"
        "    } else if constexpr (IS_FLOATING<D> && sizeof(D) == 2 && !std::is_same_v<S, float> &&\n"
        "                         !(std::is_same_v<S, int16_t> && std::is_same_v<D, half>)) {\n"
        "        CastTo<RoundMode::CAST_RINT>(wide, from, room, count);\n        PipeBarrier<PIPE_V>();\n"
        "        Cast(to, wide, RoundMode::CAST_RINT, count);\n"
        "    } else if constexpr (std::is_same_v<S, int16_t> && !IS_FLOATING<D>) {\n"
        "        Cast(wide, from, RoundMode::CAST_NONE, count);\n        PipeBarrier<PIPE_V>();\n"
        "        CastTo<RoundMode::CAST_RINT>(to, wide, room, count);\n"
        "    } else if constexpr (IS_FLOATING<D> && (sizeof(S) == 2)) {\n"
        "        Cast(to, from, RoundMode::CAST_NONE, count);\n"
        "    } else if constexpr (IS_FLOATING<D>) {\n        Cast(to, from, RoundMode::CAST_RINT, count);\n"
        "    } else if constexpr (!IS_FLOATING<S>) {\n        Cast(to, from, RoundMode::CAST_NONE, count);\n"
        "    } else {\n        Cast(to, from, MODE, count);\n    }\n}\n",
    [AID_CAST_ONCE] =
        "// The same, int64 to 16 bits by way of float without rounding there: what is cut off leaves the last bit "
        "set.\n"
        "template <RoundMode MODE, typename D, typename S>\n"
        "%s void CastOnce(const LocalTensor<D> &to, const LocalTensor<S> &from, const LocalTensor<uint8_t> &room,\n"
        "                                int64_t count)\n{\n"
        "    if constexpr (std::is_same_v<S, int64_t> && IS_FLOATING<D> && sizeof(D) == 2) {\n"
        "        const LocalTensor<float> wide = room.template ReinterpretCast<float>(), above = wide[room.GetSize() / "
        "8];\n"
        "        const LocalTensor<int32_t> bits = wide.template ReinterpretCast<int32_t>(),\n"
        "                                   inexact = above.template ReinterpretCast<int32_t>();\n"
        "        const LocalTensor<uint16_t> words = wide.template ReinterpretCast<uint16_t>();\n"
        "        Cast(wide, from, RoundMode::CAST_FLOOR, count);\n"
        "        Cast(above, from, RoundMode::CAST_CEIL, count);\n        PipeBarrier<PIPE_V>();\n"
        "        Sub(inexact, inexact, bits, count); // 1, of negative numbers -1\n        PipeBarrier<PIPE_V>();\n"
        "        Mul(inexact, inexact, inexact, count);\n"
        "        Cast(wide, from, RoundMode::CAST_TRUNC, count);\n        PipeBarrier<PIPE_V>();\n"
        "        Or(words, words, above.template ReinterpretCast<uint16_t>(), 2 * count);\n"
        "        PipeBarrier<PIPE_V>();\n        Cast(to, wide, RoundMode::CAST_RINT, count);\n"
        "    } else {\n        CastTo<MODE>(to, from, room, count);\n    }\n}\n",
    [AID_EXP_OF] = "// Exp of a number: the scalar unit has none, so one block of the vector unit computes it.\n"
                   "%s float ExpOf(TBuf<TPosition::VECCALC> &room, float value)\n{\n"
                   "    constexpr int32_t BLOCK = 8;\n    LocalTensor<float> block = room.Get<float>();\n"
                   "    PipeBarrier<PIPE_ALL>();\n    Duplicate(block, value, BLOCK);\n    PipeBarrier<PIPE_V>();\n"
                   "    Exp(block, block, BLOCK);\n    PipeBarrier<PIPE_ALL>();\n    return block.GetValue(0);\n}\n",
    [AID_LN_OF] = "// Ln of a number: the scalar unit has none, so one block of the vector unit computes it.\n"
                  "%s float LnOf(TBuf<TPosition::VECCALC> &room, float value)\n{\n"
                  "    constexpr int32_t BLOCK = 8;\n    LocalTensor<float> block = room.Get<float>();\n"
                  "    PipeBarrier<PIPE_ALL>();\n    Duplicate(block, value, BLOCK);\n    PipeBarrier<PIPE_V>();\n"
                  "    Ln(block, block, BLOCK);\n    PipeBarrier<PIPE_ALL>();\n    return block.GetValue(0);\n}\n",
    [AID_FLOOR_OF] = "// The largest whole number that is not above a number: the scalar unit has none. From 2^23 on "
                     "all are whole.\n"
                     "%s float FloorOf(float value)\n{\n"
                     "    if (!(value > -8388608.0f && value < 8388608.0f)) {\n        return value;\n    }\n"
                     "    float cut = static_cast<float>(static_cast<int32_t>(value));\n"
                     "    return cut > value ? cut - 1 : cut;\n}\n",
    [AID_NUMBER] =
        "// What the scalar unit computes with: elements of floating types are float, others have 64 bits.\n"
        "template <typename E>\nusing NumberOf = std::conditional_t<std::is_integral_v<E>, int64_t, float>;\n\n"
        "template <typename E>\n%s NumberOf<E> Number(E element)\n{\n"
        "    if constexpr (std::is_same_v<E, bfloat16_t>) {\n        return ToFloat(element);\n"
        "    } else {\n        return static_cast<NumberOf<E>>(element);\n    }\n}\n",
    [AID_ROUNDED] = "// A number as an element of this type holds it; integers are whole.\n"
                    "template <typename E>\n%s float Rounded(float value)\n{\n"
                    "    if constexpr (std::is_same_v<E, bfloat16_t>) {\n        return ToFloat(ToBfloat16(value));\n"
                    "    } else if constexpr (std::is_integral_v<E>) {\n        return value;\n"
                    "    } else {\n        return static_cast<float>(static_cast<E>(value));\n    }\n}\n",
    [AID_SAME_BITS] = "// Types of which one holds the bits of the other: the same, or integers of a size.\n"
                      "template <typename A, typename B>\nconstexpr bool SAME_BITS =\n    std::is_same_v<A, B> || "
                      "(std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) == sizeof(B));\n",
    [AID_CONVERT] =
        "// Copies `count` elements, rounded to nearest where the types differ; integers of a size as they are.\n"
        "template <typename D, typename S>\n"
        "%s void Convert(const LocalTensor<D> &to, const LocalTensor<S> &from, int32_t count)\n{\n"
        "    if constexpr (SAME_BITS<D, S>) {\n"
        "        const LocalTensor<uint16_t> words = from.template ReinterpretCast<uint16_t>();\n"
        "        Or(to.template ReinterpretCast<uint16_t>(), words, words, (count * sizeof(S) + 1) / "
        "sizeof(uint16_t));\n"
        "    } else if constexpr (sizeof(D) > sizeof(S)) {\n"
        "        Cast(to, from, RoundMode::CAST_NONE, count);\n    } else {\n"
        "        Cast(to, from, RoundMode::CAST_RINT, count);\n    }\n}\n",
    [AID_WIDEN] =
        "// The elements in the type that computes: as they are where they have it, else converted into `room`.\n"
        "template <typename D, typename S>\n"
        "%s LocalTensor<D> Widen(const LocalTensor<S> &from, TBuf<TPosition::VECCALC> &room, int32_t count)\n{\n"
        "    if constexpr (SAME_BITS<D, S>) {\n        return from.template ReinterpretCast<D>();\n    } else {\n"
        "        LocalTensor<D> wide = room.Get<D>();\n"
        "        Cast(wide, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);\n"
        "        return wide;\n    }\n}\n",
    [AID_OVERLAY] =
        "// Where results are computed: in `to` itself where that has the type that computes, else in `room`.\n"
        "template <typename D, typename S>\n"
        "%s LocalTensor<D> Overlay(const LocalTensor<S> &to, TBuf<TPosition::VECCALC> &room)\n{\n"
        "    if constexpr (SAME_BITS<D, S>) {\n        return to.template ReinterpretCast<D>();\n    } else {\n"
        "        return room.Get<D>();\n    }\n}\n",
    [AID_NARROW] =
        "// Rounds what Overlay() gave to the type of `to`.\n"
        "template <typename D, typename S>\n"
        "%s void Narrow(const LocalTensor<D> &to, const LocalTensor<S> &from, int32_t count)\n{\n"
        "    if constexpr (!SAME_BITS<D, S>) {\n"
        "        Cast(to, from, sizeof(D) > sizeof(S) ? RoundMode::CAST_NONE : RoundMode::CAST_RINT, count);\n"
        "    }\n}\n",
};

void emit_aids(struct emit *emit, struct text *out)
{
    emit->aids[AID_SAME_BITS] |=
        emit->aids[AID_CONVERT] || emit->aids[AID_WIDEN] || emit->aids[AID_OVERLAY] || emit->aids[AID_NARROW];
    const char *how = emit->host ? "static" : "__aicore__ inline";
    for (int aid = 0; aid < EMIT_AID_COUNT; aid++) {
        if (!emit->aids[aid])
            continue;
        text_addf(out, aids[aid], how, how);
        text_add(out, "\n");
    }
}
