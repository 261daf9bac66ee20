/* Printing the kernel's operations: numbers and operands, transfers, steps of queues, instructions. */
#include "base/array.h"
#include "dsl/emit_kernel.h"

#include <inttypes.h>
#include <string.h>

/* A tensor of global memory: `xGm`, or `xList.At(t)` of a list. */
static const char *tensor_text(struct emit *emit, const struct dsl_expr *address)
{
    const struct lower_parameter *tensor = lower_tensor_of(emit->lowering, address);
    if (tensor->type != DSL_TYPE_TENSORS)
        return kernel_gm_name(emit, tensor);
    while (address->kind == DSL_BINARY)
        address =
            address
                ->items[address->items[0]->type == DSL_TYPE_TENSOR || address->items[0]->type == DSL_TYPE_POINTER ? 0
                                                                                                                  : 1];
    return arena_printf(emit->lowering->arena, "%s.At(%s)", kernel_gm_name(emit, tensor),
                        emit_expr_text(emit, address->items[1]));
}

/* An operand: `x`, or `x[offset]`. */
static const char *operand_text(struct emit *emit, const struct dsl_expr *operand)
{
    struct dsl_expr *from;
    const char *name = operand_buffer(operand, &from);
    if (!from)
        return emit_name(emit, name);
    return arena_printf(emit->lowering->arena, "%s[%s]", emit_name(emit, name), emit_expr_text(emit, from));
}

/* A number as an element of a buffer: "0.5f", "static_cast<T>(n)". */
static const char *element_text(struct emit *emit, const struct lower_type *type, const struct dsl_expr *value)
{
    struct arena *arena = emit->lowering->arena;
    const char *text = emit_expr_text(emit, value), *element = emit_element(emit, type);
    bool is_float = strcmp(element, "float") == 0;
    bool negated = value->kind == DSL_UNARY && value->op == DSL_NEGATE;
    const struct dsl_expr *number = negated ? value->items[0] : value;
    bool literal = number->kind == DSL_INT;
    if (is_float && literal) /* which may be hexadecimal */
        return arena_printf(arena, "%s%" PRId64 ".0f", negated ? "-" : "", number->integer);
    const bool may_be_int =
        value->type == DSL_TYPE_INT || value->type == DSL_TYPE_BOOL || value->type == DSL_TYPE_NUMBER;
    if ((is_float && !may_be_int) || (literal && number->integer <= INT32_MAX && strcmp(element, "int32_t") == 0))
        return text;
    return arena_printf(arena, "static_cast<%s>(%s)", element, text);
}

/* A buffer, or a number as one of its elements. */
static const char *value_text(struct emit *emit, const struct lower_type *type, const struct dsl_expr *value)
{
    return operand_buffer(value, NULL) ? operand_text(emit, value) : element_text(emit, type, value);
}

bool emit_kernel_call(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *function = call->items[0];
    if (expr_is(function, "tl", "program_id") || expr_is(function, "tl", "num_programs")) {
        text_addf(emit->out, "GetBlock%s()", strcmp(function->name, "program_id") == 0 ? "Idx" : "Num");
        return true;
    }
    if (expr_is(function, "", "len") && call->items[1]->kind == DSL_NAME && call->items[1]->type == DSL_TYPE_INTS) {
        text_addf(emit->out, "%sLength", emit_name(emit, call->items[1]->name));
        return true;
    }
    if (call->operation && strcmp(call->operation->name, "compress") == 0) {
        emit->aids[AID_COMPRESS] = true;
        text_addf(emit->out, "Compress(%s, %s, %s, %s)", operand_text(emit, call->items[1]),
                  operand_text(emit, call->items[2]), operand_text(emit, call->items[3]),
                  emit_expr_text(emit, call_argument(call, "count")));
        return true;
    }
    if (call->operation && strcmp(call->operation->name, "rounded") == 0) {
        emit->aids[AID_ROUNDED] = true;
        text_addf(emit->out, "Rounded<%s>(%s)",
                  emit_element(emit, &lower_buffer_of(emit->lowering, call->items[2])->type),
                  emit_expr_text(emit, call->items[1]));
        return true;
    }
    if (!call->operation || strcmp(call->operation->name, "extract_scalar") != 0)
        return false;
    const struct dsl_expr *from = call_argument(call, "from");
    const struct lower_buffer *buffer = lower_buffer_of(emit->lowering, from);
    const struct lower_parameter *tensor = buffer ? NULL : lower_tensor_of(emit->lowering, from);
    if (!buffer && !tensor)
        return false;
    struct lower_type type = buffer ? buffer->type : tensor->elements;
    const char *text = arena_printf(emit->lowering->arena, "%s.GetValue(%s)",
                                    buffer ? operand_text(emit, from) : tensor_text(emit, from),
                                    emit_expr_text(emit, call_argument(call, "index")));
    bool plain = !kernel_is_class(emit, &type) && lower_type_in(&type, 0) != AKGEN_BF16 &&
                 lower_type_in(&type, 0) != AKGEN_FLOAT16;
    emit->aids[AID_NUMBER] |= !plain;
    text_addf(emit->out, plain ? "%s" : "Number(%s)", text);
    return true;
}

/* A data type in a question: of a tensor as it is in the OpDef. */
static const char *dtype_text(struct emit *emit, const struct dsl_expr *dtype)
{
    const struct lower_parameter *tensor =
        dtype->kind == DSL_ATTRIBUTE ? lower_tensor_of(emit->lowering, dtype->items[0]) : NULL;
    if (tensor && tensor->operand && tensor->operand->declared)
        return kernel_macro(emit->lowering, tensor->operand);
    if (dtype->kind == DSL_ATTRIBUTE && akgen_dtype_parse(dtype->name) != AKGEN_DTYPE_NONE)
        return kernel_operand_type(akgen_dtype_parse(dtype->name));
    struct lower_type type = lower_type_of(emit->lowering, dtype);
    return kernel_is_class(emit, &type) ? emit_element(emit, &type) : kernel_operand_type(lower_type_in(&type, 0));
}

/* x.dtype == tl.int32. */
static bool type_question(struct emit *emit, const struct dsl_expr *expr)
{
    const struct dsl_expr *a = expr->count ? expr->items[0] : NULL, *b = expr->count > 1 ? expr->items[1] : NULL;
    if (expr->kind == DSL_ATTRIBUTE && strcmp(expr->name, "is_floating_point") == 0) {
        struct lower_type type = lower_type_of(emit->lowering, a);
        emit->aids[AID_IS_FLOAT] = true;
        text_addf(emit->out, "IS_FLOAT<%s>", emit_element(emit, &type));
        return true;
    }
    bool types = expr->kind == DSL_BINARY && a && b && a->type == DSL_TYPE_DTYPE && b->type == DSL_TYPE_DTYPE;
    if (!types || (expr->op != DSL_EQUAL && expr->op != DSL_NOT_EQUAL))
        return false;
    text_addf(emit->out, "%sstd::is_same_v<%s, %s>", expr->op == DSL_EQUAL ? "" : "!", dtype_text(emit, a),
              dtype_text(emit, b));
    return true;
}

bool emit_kernel_part(struct emit *emit, const struct dsl_expr *expr)
{
    if (expr->kind == DSL_INDEX && expr->items[0]->type == DSL_TYPE_INTS && expr->items[0]->kind == DSL_NAME &&
        expr->items[1]->kind != DSL_SLICE) {
        const char *list = emit_name(emit, expr->items[0]->name);
        bool negative = expr->items[1]->kind == DSL_UNARY;
        text_addf(emit->out, "%s[%s%s%s]", list, negative ? list : "", negative ? "Length - " : "",
                  emit_expr_text(emit, negative ? expr->items[1]->items[0] : expr->items[1]));
        return true;
    }
    return type_question(emit, expr);
}

bool emit_is_constexpr(const struct emit *emit, const struct dsl_expr *condition)
{
    return !emit->host && lower_type_answer(emit->lowering, condition, 0) >= 0;
}

static void emit_queue_step(struct emit *emit, const struct dsl_expr *call)
{
    const struct lower_buffer *buffer = lower_buffer_of(emit->lowering, call_argument(call, "queue"));
    const char *queue = kernel_queue_name(emit, buffer), *element = emit_element(emit, &buffer->type);
    const char *name = call->operation->name, *tensor = emit_name(emit, buffer->name);
    bool alloc = strcmp(name, "alloc_tensor") == 0;
    if (alloc || strcmp(name, "deque") == 0) {
        kernel_tensor_target(emit, buffer);
        text_addf(emit->out, "%s.%s<%s>();\n", queue, alloc ? "AllocTensor" : "DeQue", element);
    } else {
        emit_line(emit, "%s.%s(%s);", queue, strcmp(name, "enque") == 0 ? "EnQue" : "FreeTensor", tensor);
    }
}

static bool emit_conversion(struct emit *emit, const struct dsl_expr *call)
{
    const char *name = call->operation->name;
    bool widen = strcmp(name, "widen") == 0, overlay = strcmp(name, "overlay") == 0;
    bool narrow = strcmp(name, "narrow") == 0, convert = strcmp(name, "convert") == 0;
    if (!widen && !overlay && !narrow && !convert)
        return false;
    const struct dsl_expr *dst = call_argument(call, "dst"), *src = call_argument(call, "src"),
                          *count = call_argument(call, "count");
    const struct lower_buffer *buffer = lower_buffer_of(emit->lowering, dst);
    const char *from = operand_text(emit, src);
    if (widen || overlay) {
        emit->aids[widen ? AID_WIDEN : AID_OVERLAY] = true;
        kernel_tensor_target(emit, buffer);
        text_addf(emit->out, "%s<%s>(%s, %s%s%s);\n", widen ? "Widen" : "Overlay", emit_element(emit, &buffer->type),
                  from, kernel_queue_name(emit, buffer), widen ? ", " : "", widen ? emit_expr_text(emit, count) : "");
    } else {
        emit->aids[narrow ? AID_NARROW : AID_CONVERT] = true;
        emit_line(emit, "%s(%s, %s, %s);", narrow ? "Narrow" : "Convert", operand_text(emit, dst), from,
                  emit_expr_text(emit, count));
    }
    return true;
}

/* A transfer of `count` elements that follow each other. */
static void emit_transfer(struct emit *emit, const struct dsl_expr *call, bool load)
{
    struct lowering *lowering = emit->lowering;
    const struct dsl_expr *address = call_argument(call, "address"), *count = call_argument(call, "count");
    const struct dsl_expr *operand = call_argument(call, load ? "dst" : "src");
    const struct lower_parameter *tensor = lower_tensor_of(lowering, address);
    const char *element = emit_element(emit, &tensor->elements), *elements = emit_expr_text(emit, count);
    const char *offset = address->kind == DSL_BINARY ? emit_expr_text(emit, address->items[1]) : "0";
    const char *gm = arena_printf(lowering->arena, "%s[%s]", tensor_text(emit, address), offset);
    const char *local = operand_text(emit, operand);
    if (lower_whole_blocks(lowering, &tensor->elements, count)) {
        emit_line(emit, "DataCopy(%s, %s, %s);", load ? local : gm, load ? gm : local, elements);
        return;
    }
    const char *copy = arena_printf(lowering->arena, "%sCopy", emit_name(emit, operand_buffer(operand, NULL)));
    const char *bytes = arena_printf(lowering->arena, "static_cast<uint32_t>(%s * sizeof(%s))", elements, element);
    if (kernel_declared(emit, copy)) {
        emit_line(emit, "%s.blockLen = %s;", copy, bytes);
    } else {
        emit_line(emit, "DataCopyExtParams %s{1, %s, 0, 0, 0};", copy, bytes);
        ARRAY_ADD(lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, copy);
    }
    const bool fills = load && lower_rounds(lowering);
    emit->aids[AID_FILL_UP] |= fills;
    const char *filling = fills ? arena_printf(lowering->arena, "FillUp<%s>(%s)", element, elements)
                                : arena_printf(lowering->arena, "DataCopyPadExtParams<%s>{}", element);
    if (load)
        emit_line(emit, "DataCopyPad(%s, %s, %s, %s);", local, gm, copy, filling);
    else
        emit_line(emit, "DataCopyPad(%s, %s, %s);", gm, local, copy);
}

/* A store that adds to what is there. */
static void emit_store_add(struct emit *emit, const struct dsl_expr *call)
{
    const struct lower_parameter *tensor = lower_tensor_of(emit->lowering, call_argument(call, "address"));
    emit_line(emit, "SetAtomicAdd<%s>();", emit_element(emit, &tensor->elements));
    emit_transfer(emit, call, false);
    emit_line(emit, "SetAtomicNone();");
}

/* Rows of a matrix, each `gmPitch` elements behind the one before in global memory and `pitch` in the buffer. */
static void emit_transfer_rows(struct emit *emit, const struct dsl_expr *call, bool load)
{
    const struct dsl_expr *address = call_argument(call, "address"), *operand = call->items[2];
    const char *offset = address->kind == DSL_BINARY ? emit_expr_text(emit, address->items[1]) : "0";
    const char *gm = arena_printf(emit->lowering->arena, "%s[%s]", tensor_text(emit, address), offset);
    const char *local = operand_text(emit, operand);
    emit->aids[load ? AID_LOAD_ROWS : AID_STORE_ROWS] = true;
    emit->aids[AID_MIN] = true;
    emit_line(emit, "%s(%s, %s, %s, %s, %s, %s);", load ? "LoadRows" : "StoreRows", load ? local : gm,
              load ? gm : local, emit_expr_text(emit, call->items[3]), emit_expr_text(emit, call->items[4]),
              emit_expr_text(emit, call->items[5]), emit_expr_text(emit, call->items[6]));
}

/* Bit by bit: of truth values 16 in a word, of integers the words that they are. */
static void emit_bits(struct emit *emit, const char *api, const struct dsl_expr *call, const struct lower_type *type,
                      const char *count)
{
    struct text words = {0};
    bool bits = type->fixed == AKGEN_BOOL;
    for (int i = 1; i < call->count && call->items[i]->kind != DSL_NAMED && operand_buffer(call->items[i], NULL); i++)
        text_addf(&words, "%s%s.%sReinterpretCast<uint16_t>()", i > 1 ? ", " : "", operand_text(emit, call->items[i]),
                  kernel_is_class(emit, type) ? "template " : "");
    emit->aids[AID_CEIL_DIV] |= bits;
    if (bits)
        emit_line(emit, "%s(%s, CeilDiv(%s, 16));", api, words.bytes, count);
    else
        emit_line(emit, "%s(%s, %s * (sizeof(%s) / sizeof(uint16_t)));", api, words.bytes, count,
                  emit_element(emit, type));
    text_free(&words);
}

static const char *round_mode(const char *name)
{
    static const char *const modes[][2] = {{"even", "CAST_RINT"},
                                           {"away", "CAST_ROUND"},
                                           {"down", "CAST_FLOOR"},
                                           {"up", "CAST_CEIL"},
                                           {"zero", "CAST_TRUNC"}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i][0], name) == 0)
            return modes[i][1];
    return "CAST_RINT";
}

/* The value in each byte; of truth values, which are bits, in all bits. */
static void emit_fill_bytes(struct emit *emit, const struct dsl_expr *call, const struct lower_type *type)
{
    const struct dsl_expr *value = call_argument(call, "value");
    const char *to = operand_text(emit, call->items[1]), *count = emit_expr_text(emit, call_argument(call, "count"));
    bool bits = type->fixed == AKGEN_BOOL;
    emit->aids[AID_FILL_BYTES] = true;
    emit->aids[AID_CEIL_DIV] |= bits;
    if (bits)
        emit_line(emit, "FillBytes<uint8_t>(%s, (%s) ? 0xff : 0, CeilDiv(%s, 8));", to, emit_expr_text(emit, value),
                  count);
    else
        emit_line(emit, "FillBytes<%s>(%s, %s, %s);", emit_element(emit, type), to, element_text(emit, type, value),
                  count);
}

/* A function that the project brings along, with all arguments of the operation. */
static void emit_call(struct emit *emit, const char *api, const struct dsl_expr *call)
{
    emit_indent(emit);
    text_addf(emit->out, "%s(", api);
    for (int i = 1; i < call->count; i++) {
        const struct dsl_expr *argument = call->items[i]->kind == DSL_NAMED ? call->items[i]->items[0] : call->items[i];
        text_addf(emit->out, "%s%s", i > 1 ? ", " : "",
                  operand_buffer(argument, NULL) ? operand_text(emit, argument) : emit_expr_text(emit, argument));
    }
    text_add(emit->out, ");\n");
}

/* Api(operands, count): numbers among the operands as elements of the type. */
static void emit_operands(struct emit *emit, const char *api, const struct dsl_expr *call,
                          const struct lower_type *type)
{
    const struct dsl_expr *count = call_argument(call, "count");
    emit_indent(emit);
    text_addf(emit->out, "%s(", api);
    for (int i = 1; i < call->count && call->items[i]->kind != DSL_NAMED && call->items[i] != count; i++)
        text_addf(emit->out, "%s, ", value_text(emit, type, call->items[i]));
    text_addf(emit->out, "%s);\n", emit_expr_text(emit, count));
}

/* The functions that the instruction's line calls, and what the project brings along for them. */
static void need_aids(struct emit *emit, const struct lower_instruction *instruction)
{
    static const struct {
        enum lower_form form;
        enum emit_aid aid;
    } of_forms[] = {{LOWER_FORM_COMPARE, AID_WHOLE}, {LOWER_FORM_COMPARE, AID_COMPARE}, {LOWER_FORM_CHOOSE, AID_WHOLE},
                    {LOWER_FORM_CHOOSE, AID_CHOOSE}, {LOWER_FORM_TO_BITS, AID_WHOLE},   {LOWER_FORM_CAST, AID_CAST},
                    {LOWER_FORM_SHIFT, AID_SHIFT},   {LOWER_FORM_EACH, AID_SHIFT_EACH}, {LOWER_FORM_SORT, AID_SORT},
                    {LOWER_FORM_SORT, AID_MIN},      {LOWER_FORM_SORT, AID_MAX}};
    for (size_t i = 0; i < sizeof of_forms / sizeof *of_forms; i++)
        emit->aids[of_forms[i].aid] |= of_forms[i].form == instruction->form;
    static const struct {
        const char *api;
        enum emit_aid aid;
    } of_names[] = {{"ToBits", AID_TO_BITS},
                    {"FromBits", AID_FROM_BITS},
                    {"SignOf", AID_SIGN},
                    {"Exp2", AID_EXP2},
                    {"CastOnce", AID_CAST_ONCE},
                    {"NotEqualTo", AID_NOT_EQUAL},
                    {"WidenBytes", AID_WIDEN_BYTES},
                    {"WrapBytes", AID_WIDEN_BYTES},
                    {"PowerOf", AID_KEEP_NAN},
                    {"PowerOf", AID_POWER},
                    {"PowerBy", AID_KEEP_NAN},
                    {"PowerBy", AID_POWER_BY}};
    for (size_t i = 0; i < sizeof of_names / sizeof *of_names; i++)
        emit->aids[of_names[i].aid] |= strcmp(of_names[i].api, instruction->api) == 0;
    if (instruction->form == LOWER_FORM_INT64 || instruction->form == LOWER_FORM_INT64_TRUTH)
        emit_need_int64(emit, instruction->api);
    if (instruction->form == LOWER_FORM_ROWS)
        emit_need_rows(emit, instruction->api);
}

static bool emit_instruction(struct emit *emit, const struct dsl_expr *call)
{
    const struct lower_instruction *instruction = lower_instruction_find(call->operation->name);
    if (!instruction)
        return false;
    struct arena *arena = emit->lowering->arena;
    const char *api = instruction->api;
    const struct lower_type *type = &lower_buffer_of(emit->lowering, call->items[1])->type;
    need_aids(emit, instruction);
    switch (instruction->form) {
    case LOWER_FORM_COMPARE:
        emit_operands(emit, api, call, &lower_buffer_of(emit->lowering, call->items[2])->type);
        break;
    case LOWER_FORM_BITS:
        emit_bits(emit, api, call, type, emit_expr_text(emit, call_argument(call, "count")));
        break;
    case LOWER_FORM_CAST:
        api = arena_printf(arena, "%s<RoundMode::%s>", api, round_mode(call_argument(call, "round")->name));
        emit_operands(emit, api, call, type);
        break;
    case LOWER_FORM_REDUCE:
        emit_operands(emit, arena_printf(arena, "%s<%s>", api, emit_element(emit, type)), call, type);
        break;
    case LOWER_FORM_ADDS:
        emit_line(emit, "%s(%s, %s, %s, %s);", api, operand_text(emit, call->items[1]),
                  operand_text(emit, call->items[2]), operand_text(emit, call->items[3]),
                  emit_expr_text(emit, call_argument(call, "count")));
        break;
    case LOWER_FORM_COMPRESS: /* in an expression */
        break;
    case LOWER_FORM_PRODUCT:
        emit_product(emit, call);
        break;
    case LOWER_FORM_SHIFT:
        emit_call(emit, arena_printf(arena, "%sBy", api), call);
        break;
    case LOWER_FORM_BYTES:
        emit_fill_bytes(emit, call, type);
        break;
    case LOWER_FORM_SORT:
    case LOWER_FORM_EACH:
    case LOWER_FORM_FUNCTION:
    case LOWER_FORM_INT64:
    case LOWER_FORM_INT64_TRUTH:
    case LOWER_FORM_ROWS:
        emit_call(emit, api, call);
        break;
    case LOWER_FORM_GATHER:
        emit_line(emit, "%s(%s, %s, %s.template ReinterpretCast<uint32_t>(), static_cast<uint32_t>(%s), %s);", api,
                  operand_text(emit, call->items[1]), operand_text(emit, call->items[2]),
                  operand_text(emit, call->items[3]), emit_expr_text(emit, call->items[4]),
                  emit_expr_text(emit, call_argument(call, "count")));
        break;
    default:
        emit_operands(emit, api, call, type);
    }
    return true;
}

static bool emit_order(struct emit *emit, const struct dsl_expr *call)
{
    static const struct {
        const char *name, *text;
        bool await;
    } orders[] = {{"barrier_v", "PipeBarrier<PIPE_V>();", false},
                  {"barrier_mte2", "PipeBarrier<PIPE_MTE2>();", false},
                  {"barrier_mte3", "PipeBarrier<PIPE_MTE3>();", false},
                  {"await_mte3_mte2", "Await<HardEvent::MTE3_MTE2>();", true},
                  {"barrier_all", "PipeBarrier<PIPE_ALL>();", false},
                  {"sync_all", "SyncAll();", false},
                  {"await_v_s", "Await<HardEvent::V_S>();", true},
                  {"await_mte2_s", "Await<HardEvent::MTE2_S>();", true},
                  {"await_s_v", "Await<HardEvent::S_V>();", true},
                  {"await_s_mte3", "Await<HardEvent::S_MTE3>();", true}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(call->operation->name, orders[i].name) == 0) {
            emit->aids[AID_AWAIT] |= orders[i].await;
            bool all = strcmp(orders[i].name, "sync_all") == 0 && kernel_is_mixed(emit->lowering);
            emit_line(emit, "%s", all ? "SyncAll<false>();" : orders[i].text);
            return true;
        }
    return false;
}

static void emit_set_scalar(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *to = call_argument(call, "to");
    emit_line(emit, "%s.SetValue(%s, %s);", operand_text(emit, to), emit_expr_text(emit, call_argument(call, "index")),
              element_text(emit, &lower_buffer_of(emit->lowering, to)->type, call_argument(call, "value")));
}

void kernel_operation(struct emit *emit, const struct dsl_expr *call)
{
    const char *name = call->operation->name;
    if (strcmp(name, "load") == 0 || strcmp(name, "store") == 0)
        emit_transfer(emit, call, name[0] == 'l');
    else if (strcmp(name, "load_tile") == 0 || strcmp(name, "store_tile") == 0)
        emit_tile(emit, call, tensor_text(emit, call->items[1]), operand_text(emit, call->items[2]));
    else if (strcmp(name, "load_rows") == 0 || strcmp(name, "store_rows") == 0)
        emit_transfer_rows(emit, call, name[0] == 'l');
    else if (strcmp(name, "set_scalar") == 0)
        emit_set_scalar(emit, call);
    else if (strcmp(name, "store_add") == 0)
        emit_store_add(emit, call);
    else if (call_argument(call, "queue"))
        emit_queue_step(emit, call);
    else if (!emit_conversion(emit, call) && !emit_instruction(emit, call) && !emit_order(emit, call))
        emit->good =
            LOWER_FAIL(emit->lowering, call->place, DSL_RULE_not_compiled, NULL, "tl.%s is not compiled yet", name);
}
