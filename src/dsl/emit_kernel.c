/* Printing the kernel: a class whose Process() is the kernel function, with a method for each stage. */
#include "base/array.h"
#include "dsl/emit.h"

#include <ctype.h>
#include <string.h>

/* The class while it is printed. */
struct kernel {
    struct emit emit; /* first: emit_kernel_call and the like find the kernel by it */
    struct text methods;
    const char *class_name;
    const struct lower_type *classes[16]; /* data types that differ by combination, each a parameter of the template */
    int class_count;
    bool *members; /* by number of the buffer: its tensor is kept between stages */
    int stages[DSL_PLACE_COPYOUT + 1], stage_totals[DSL_PLACE_COPYOUT + 1];
    bool in_stage;
};

/* Types. */
static bool is_class(const struct emit *emit, const struct lower_type *type)
{
    return type->fixed == AKGEN_DTYPE_NONE ||
           !lower_type_equal(emit->lowering, type, &(struct lower_type){.fixed = lower_type_in(type, 0)});
}

static int class_of(struct kernel *kernel, const struct lower_type *type)
{
    int found = 0;
    while (found < kernel->class_count && !lower_type_equal(kernel->emit.lowering, kernel->classes[found], type))
        found++;
    return found;
}

static void add_class(struct kernel *kernel, const struct lower_type *type)
{
    enum { MOST = sizeof kernel->classes / sizeof *kernel->classes };
    if (is_class(&kernel->emit, type) && class_of(kernel, type) == kernel->class_count && kernel->class_count < MOST)
        kernel->classes[kernel->class_count++] = type;
}

/* A type by the name that an operand's macro stands for. */
static const char *operand_type(enum akgen_dtype type)
{
    return type == AKGEN_COMPLEX64 ? "Complex64" : akgen_dtype_kernel_type(type);
}

/* The type of a buffer's elements: truth values are bits. */
static const char *kernel_type(enum akgen_dtype type)
{
    return type == AKGEN_BOOL ? "uint8_t" : operand_type(type);
}

const char *emit_element(struct emit *emit, const struct lower_type *type)
{
    struct kernel *kernel = (struct kernel *)emit;
    if (!is_class(emit, type))
        return kernel_type(lower_type_in(type, 0));
    int number = class_of(kernel, type);
    return kernel->class_count == 1 ? "T" : arena_printf(emit->lowering->arena, "T%d", number + 1);
}

const char *emit_number_type(struct emit *emit, const struct lower_type *type)
{
    if (!is_class(emit, type))
        return task_is_float(lower_type_in(type, 0)) ? "float" : "int64_t";
    emit->aids[AID_NUMBER] = true;
    return arena_printf(emit->lowering->arena, "NumberOf<%s>", emit_element(emit, type));
}

/* Whether the operand may be complex64, which the kernel's headers do not have. */
static bool may_be_complex(const struct lowering *lowering, const struct dsl_operand *operand)
{
    bool found = false;
    for (int c = 0; c < lowering->opdef->combinations; c++)
        found |= operand->types[c] == AKGEN_COMPLEX64;
    return found;
}

/* The operand's macro of the preprocessor, "DTYPE_X"; of one that may be complex, the name that stands for its type. */
static const char *macro_of(const struct lowering *lowering, const struct dsl_operand *operand)
{
    char *macro = arena_printf(lowering->arena, "DTYPE_%s", operand->name);
    if (may_be_complex(lowering, operand))
        return arena_printf(lowering->arena, "TypeOf%s", emit_camel(lowering->arena, operand->name, true));
    for (char *c = macro; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return macro;
}

/* Names. */
static const char *queue_name(struct emit *emit, const struct lower_buffer *buffer)
{
    return arena_printf(emit->lowering->arena, "%s%s", emit_name(emit, buffer->name),
                        buffer->kind == LOWER_UB ? "Buffer" : "Queue");
}

static const char *gm_name(struct emit *emit, const struct lower_parameter *tensor)
{
    if (tensor->type == DSL_TYPE_TENSORS)
        return arena_printf(emit->lowering->arena, "%sList",
                            emit_variable(emit->lowering, &emit->lowering->program->kernel_names, tensor->name));
    return arena_printf(emit->lowering->arena, "%sGm",
                        emit_variable(emit->lowering, &emit->lowering->program->kernel_names, tensor->name));
}

/* A tensor of global memory: `xGm`, or `TensorOf<T>(xList, t)` of a list. */
static const char *tensor_text(struct emit *emit, const struct dsl_expr *address)
{
    const struct lower_parameter *tensor = lower_tensor_of(emit->lowering, address);
    if (tensor->type != DSL_TYPE_TENSORS)
        return gm_name(emit, tensor);
    while (address->kind == DSL_BINARY)
        address =
            address
                ->items[address->items[0]->type == DSL_TYPE_TENSOR || address->items[0]->type == DSL_TYPE_POINTER ? 0
                                                                                                                  : 1];
    emit->aids[AID_TENSOR_OF] = true;
    return arena_printf(emit->lowering->arena, "TensorOf<%s>(%s, %s)", emit_element(emit, &tensor->elements),
                        gm_name(emit, tensor), emit_expr_text(emit, address->items[1]));
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
    bool literal = value->kind == DSL_INT || (value->kind == DSL_UNARY && value->items[0]->kind == DSL_INT);
    if (is_float && literal)
        return arena_printf(arena, "%s.0f", text);
    if ((is_float && value->type != DSL_TYPE_INT && value->type != DSL_TYPE_BOOL) ||
        (literal && strcmp(element, "int32_t") == 0))
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
    bool plain =
        !is_class(emit, &type) && lower_type_in(&type, 0) != AKGEN_BF16 && lower_type_in(&type, 0) != AKGEN_FLOAT16;
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
        return macro_of(emit->lowering, tensor->operand);
    if (dtype->kind == DSL_ATTRIBUTE && akgen_dtype_parse(dtype->name) != AKGEN_DTYPE_NONE)
        return operand_type(akgen_dtype_parse(dtype->name));
    struct lower_type type = lower_type_of(emit->lowering, dtype);
    return is_class(emit, &type) ? emit_element(emit, &type) : operand_type(lower_type_in(&type, 0));
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

/* Whether the statement gives the buffer's tensor: an alloc_tensor of the queue and so on. */
static bool gives_tensor(const struct dsl_statement *statement, const char *buffer)
{
    static const char *const words[] = {"alloc_tensor", "deque", "widen", "overlay"};
    const struct dsl_expr *call = statement_call(statement);
    bool gives = false;
    for (size_t i = 0; call && !gives && i < sizeof words / sizeof *words; i++)
        gives = strcmp(call->operation->name, words[i]) == 0 && call->items[1]->kind == DSL_NAME &&
                strcmp(call->items[1]->name, buffer) == 0;
    return gives;
}

/* The first statement in the block, or below it, that mentions the name. */
static const struct dsl_statement *first_mention(const struct dsl_block *block, const char *name)
{
    const struct dsl_statement *found = NULL;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (tree_mentions(statement->value, name))
            return statement;
        found = first_mention(&statement->body, name);
        if (!found)
            found = first_mention(&statement->orelse, name);
    }
    return found;
}

static bool is_allocation(const struct lowering *lowering, const struct dsl_statement *statement)
{
    bool found = false;
    for (int b = 0; !found && b < lowering->buffer_count; b++)
        found = lowering->buffers[b].allocation == statement;
    return found;
}

/* Whether a queue's tensor (or what is computed in it) is used in a stage, or outside of stages, that does not take it. */
static bool is_member(const struct lowering *lowering, const struct dsl_block *block, const char *buffer)
{
    bool member = false;
    for (int i = 0; !member && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (statement->kind == DSL_WITH) {
            const struct dsl_statement *first = first_mention(&statement->body, buffer);
            member = first && !gives_tensor(first, buffer);
        } else {
            member = (!is_allocation(lowering, statement) && tree_mentions(statement->value, buffer)) ||
                     is_member(lowering, &statement->body, buffer) || is_member(lowering, &statement->orelse, buffer);
        }
    }
    return member;
}

static void find_members(struct kernel *kernel)
{
    struct lowering *lowering = kernel->emit.lowering;
    kernel->members = arena_alloc(lowering->arena, (size_t)lowering->buffer_count + 1);
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        bool taken = buffer->kind != LOWER_UB || lower_queue_of(lowering, buffer);
        kernel->members[b] = taken && is_member(lowering, lower_kernel(lowering), buffer->name);
    }
}

/* Statements of stages. */
static bool declared_here(const struct emit *emit, const char *name)
{
    for (int i = 0; i < emit->declared_count; i++)
        if (strcmp(emit->declared[i], name) == 0)
            return true;
    return false;
}

/* `LocalTensor<T> x = `, or `x = ` where it is declared. */
static void emit_tensor_target(struct emit *emit, const struct lower_buffer *buffer)
{
    struct kernel *kernel = (struct kernel *)emit;
    bool known = kernel->members[buffer - emit->lowering->buffers] || declared_here(emit, buffer->name);
    emit_indent(emit);
    if (!known) {
        text_addf(emit->out, "LocalTensor<%s> ", emit_element(emit, &buffer->type));
        ARRAY_ADD(emit->lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, buffer->name);
    }
    text_addf(emit->out, "%s = ", emit_name(emit, buffer->name));
}

static void emit_queue_step(struct emit *emit, const struct dsl_expr *call)
{
    const struct lower_buffer *buffer = lower_buffer_of(emit->lowering, call_argument(call, "queue"));
    const char *queue = queue_name(emit, buffer), *element = emit_element(emit, &buffer->type);
    const char *name = call->operation->name, *tensor = emit_name(emit, buffer->name);
    bool alloc = strcmp(name, "alloc_tensor") == 0;
    if (alloc || strcmp(name, "deque") == 0) {
        emit_tensor_target(emit, buffer);
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
        emit_tensor_target(emit, buffer);
        text_addf(emit->out, "%s<%s>(%s, %s%s%s);\n", widen ? "Widen" : "Overlay", emit_element(emit, &buffer->type),
                  from, queue_name(emit, buffer), widen ? ", " : "", widen ? emit_expr_text(emit, count) : "");
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
    int64_t known;
    bool blocks = lower_constant(lowering, count, &known);
    for (int c = 0; blocks && c < lowering->opdef->combinations; c++)
        blocks = known * (int64_t)akgen_dtype_size(lower_type_in(&tensor->elements, c)) % 32 == 0;
    if (blocks) {
        emit_line(emit, "DataCopy(%s, %s, %s);", load ? local : gm, load ? gm : local, elements);
        return;
    }
    const char *copy = arena_printf(lowering->arena, "%sCopy", emit_name(emit, operand_buffer(operand, NULL)));
    const char *bytes = arena_printf(lowering->arena, "static_cast<uint32_t>(%s * sizeof(%s))", elements, element);
    if (declared_here(emit, copy)) {
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
                  is_class(emit, type) ? "template " : "");
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
static void emit_operands(struct emit *emit, const char *api, const struct dsl_expr *call, const struct lower_type *type)
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
                    {LOWER_FORM_SHIFT, AID_SHIFT},   {LOWER_FORM_SORT, AID_SORT},       {LOWER_FORM_SORT, AID_MIN},
                    {LOWER_FORM_SORT, AID_MAX}};
    for (size_t i = 0; i < sizeof of_forms / sizeof *of_forms; i++)
        emit->aids[of_forms[i].aid] |= of_forms[i].form == instruction->form;
    if (instruction->form == LOWER_FORM_TO_BITS)
        emit->aids[strcmp(instruction->api, "ToBits") == 0 ? AID_TO_BITS : AID_FROM_BITS] = true;
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
        api = arena_printf(arena, "CastTo<RoundMode::%s>", round_mode(call_argument(call, "round")->name));
        emit_operands(emit, api, call, type);
        break;
    case LOWER_FORM_REDUCE:
        emit_operands(emit, arena_printf(arena, "%s<%s>", api, emit_element(emit, type)), call, type);
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

/* Whether the block mentions a buffer of the cube (or of UB). */
static bool uses_kind(const struct lowering *lowering, const struct dsl_block *block, bool cube)
{
    bool found = false;
    for (int b = 0; !found && b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        found = (buffer->kind >= LOWER_QUEUE_A1) == cube && first_mention(block, buffer->name);
    }
    return found;
}

/* A kernel of cube and vector cores. */
static bool is_mixed(const struct lowering *lowering)
{
    bool cube = false, vector = false;
    for (int b = 0; b < lowering->buffer_count; b++) {
        cube |= lowering->buffers[b].kind >= LOWER_QUEUE_A1;
        vector |= lowering->buffers[b].kind < LOWER_QUEUE_A1;
    }
    return cube && vector;
}

/* The kind of core that a stage of a mixed kernel belongs to; NULL: both. */
static const char *core_of(struct emit *emit, const struct dsl_statement *stage)
{
    bool cube = uses_kind(emit->lowering, &stage->body, true), vector = uses_kind(emit->lowering, &stage->body, false);
    if (!is_mixed(emit->lowering) || (!cube && !vector))
        return NULL;
    if (cube && vector)
        emit->good = LOWER_FAIL(emit->lowering, stage->place, DSL_RULE_not_compiled, "make two stages of it",
                                "a stage has buffers of the cube and of UB");
    return cube ? "AIC" : "AIV";
}

static bool emit_order(struct emit *emit, const struct dsl_expr *call)
{
    static const struct {
        const char *name, *text;
        bool await;
    } orders[] = {
        {"barrier_v", "PipeBarrier<PIPE_V>();", false},     {"barrier_mte2", "PipeBarrier<PIPE_MTE2>();", false},
        {"barrier_all", "PipeBarrier<PIPE_ALL>();", false}, {"sync_all", "SyncAll();", false},
        {"await_v_s", "Await<HardEvent::V_S>();", true},    {"await_mte2_s", "Await<HardEvent::MTE2_S>();", true},
        {"await_s_v", "Await<HardEvent::S_V>();", true},    {"await_s_mte3", "Await<HardEvent::S_MTE3>();", true}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(call->operation->name, orders[i].name) == 0) {
            emit->aids[AID_AWAIT] |= orders[i].await;
            bool all = strcmp(orders[i].name, "sync_all") == 0 && is_mixed(emit->lowering);
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

static void emit_stage(struct emit *emit, const struct dsl_statement *stage);

static void emit_kernel_statement(struct emit *emit, const struct dsl_statement *statement)
{
    struct dsl_expr *call = statement_call(statement);
    if (statement->kind == DSL_WITH) {
        emit_stage(emit, statement);
        return;
    }
    if (statement->kind == DSL_RETURN) {
        emit_line(emit, "return;");
        return;
    }
    if (statement->kind == DSL_ASSIGN || !call)
        return; /* an allocation; a text */
    struct kernel *kernel = (struct kernel *)emit;
    const struct dsl_block alone = {.items = (struct dsl_statement *[]){(struct dsl_statement *)statement}, .count = 1};
    bool guarded = !kernel->in_stage && is_mixed(emit->lowering) &&
                   (uses_kind(emit->lowering, &alone, true) || uses_kind(emit->lowering, &alone, false));
    if (guarded) { /* a step of a queue between stages */
        emit_line(emit, "if ASCEND_IS_%s {", uses_kind(emit->lowering, &alone, true) ? "AIC" : "AIV");
        kernel->in_stage = true;
        emit->indent++;
        emit_kernel_statement(emit, statement);
        emit->indent--;
        kernel->in_stage = false;
        emit_line(emit, "}");
        return;
    }
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

/* Whether the buffer is mentioned outside of stages. */
static bool used_outside(const struct lowering *lowering, const struct dsl_block *block, const char *buffer)
{
    bool used = false;
    for (int i = 0; !used && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        used = statement->kind != DSL_WITH && !is_allocation(lowering, statement) &&
               (tree_mentions(statement->value, buffer) || used_outside(lowering, &statement->body, buffer) ||
                used_outside(lowering, &statement->orelse, buffer));
    }
    return used;
}

/* Tensors of buffers of UB that the block uses. */
static void emit_buffers_used(struct emit *emit, const struct dsl_block *block, bool outside)
{
    const struct lowering *lowering = emit->lowering;
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        if (buffer->kind != LOWER_UB || lower_queue_of(lowering, buffer))
            continue;
        if (outside ? !used_outside(lowering, block, buffer->name) : !first_mention(block, buffer->name))
            continue;
        emit_line(emit, "LocalTensor<%s> %s = %s.Get<%s>();", emit_element(emit, &buffer->type),
                  emit_name(emit, buffer->name), queue_name(emit, buffer), emit_element(emit, &buffer->type));
    }
}

static const char *stage_name(struct kernel *kernel, int stage)
{
    static const char *const names[] = {
        [DSL_PLACE_COPYIN] = "CopyIn", [DSL_PLACE_COMPUTE] = "Compute", [DSL_PLACE_COPYOUT] = "CopyOut"};
    int number = ++kernel->stages[stage];
    return kernel->stage_totals[stage] == 1 ? names[stage]
                                            : arena_printf(kernel->emit.lowering->arena, "%s%d", names[stage], number);
}

/* How often the name is mentioned in the block. */
static int mentions(const struct dsl_block *block, const char *name)
{
    int count = 0;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        count += tree_mentions(statement->value, name) + tree_mentions(statement->target, name) +
                 mentions(&statement->body, name) + mentions(&statement->orelse, name);
    }
    return count;
}

static bool is_number(const struct dsl_symbol *symbol)
{
    return symbol->type >= DSL_TYPE_BOOL && symbol->type <= DSL_TYPE_NUMBER;
}

/* The variables that a stage shares with what is around it: "int64_t at, float &sum", and as arguments "at, sum". */
static void stage_arguments(struct emit *emit, const struct dsl_block *stage, struct text *parameters,
                            struct text *arguments)
{
    struct lowering *lowering = emit->lowering;
    for (int s = 0; s < emit->names->count; s++) {
        const struct dsl_symbol *symbol = emit->names->items[s];
        int inside = mentions(stage, symbol->name);
        if (!is_number(symbol) || !inside || lower_parameter_find(lowering, symbol->name) ||
            inside == mentions(lower_kernel(lowering), symbol->name))
            continue;
        const char *comma = parameters->length ? ", " : "", *name = emit_name(emit, symbol->name);
        text_addf(parameters, "%s%s %s%s", comma, emit_type(emit, symbol),
                  block_assigns(stage, symbol->name) ? "&" : "", name);
        text_addf(arguments, "%s%s", comma, name);
        ARRAY_ADD(lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, symbol->name);
    }
}

/* A variable that a stage assigns has to be declared where it is called. */
static void declare_results(struct emit *emit, const struct dsl_block *stage)
{
    for (int s = 0; s < emit->names->count; s++) {
        const struct dsl_symbol *symbol = emit->names->items[s];
        bool shared = is_number(symbol) && block_assigns(stage, symbol->name) &&
                      mentions(stage, symbol->name) != mentions(lower_kernel(emit->lowering), symbol->name);
        if (!shared || declared_here(emit, symbol->name))
            continue;
        emit_line(emit, "%s %s = 0;", emit_type(emit, symbol), emit_name(emit, symbol->name));
        ARRAY_ADD(emit->lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, symbol->name);
    }
}

static void declare_fields(struct emit *emit)
{
    for (int i = 0; i < emit->lowering->parameter_count; i++)
        ARRAY_ADD(emit->lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity,
                  emit->lowering->parameters[i].name);
}

/* The call of a stage's method, and the method. */
static void emit_stage(struct emit *emit, const struct dsl_statement *stage)
{
    struct kernel *kernel = (struct kernel *)emit;
    struct text parameters = {0}, arguments = {0}, body = {0}, *out = emit->out;
    declare_results(emit, &stage->body);
    const char **declared = emit->declared;
    int count = emit->declared_count, capacity = emit->declared_capacity, indent = emit->indent;
    const char *name = stage_name(kernel, statement_stage(stage));
    emit->declared = NULL;
    emit->declared_count = emit->declared_capacity = 0;
    declare_fields(emit);
    stage_arguments(emit, &stage->body, &parameters, &arguments);
    emit->out = &body;
    emit->indent = 2;
    kernel->in_stage = true;
    emit_buffers_used(emit, &stage->body, false);
    emit_block(emit, &stage->body, emit_kernel_statement);
    kernel->in_stage = false;
    emit->out = out;
    emit->indent = indent;
    emit->declared = declared;
    emit->declared_count = count;
    emit->declared_capacity = capacity;
    text_addf(&kernel->methods, "    __aicore__ inline void %s(%s)\n    {\n%s    }\n\n", name,
              parameters.bytes ? parameters.bytes : "", body.bytes ? body.bytes : "");
    const char *core = core_of(emit, stage), *given = arguments.bytes ? arguments.bytes : "";
    if (core)
        emit_line(emit, "if ASCEND_IS_%s {", core);
    emit_line(emit, "%s%s(%s);", core ? "    " : "", name, given);
    if (core)
        emit_line(emit, "}");
    text_free(&parameters);
    text_free(&arguments);
    text_free(&body);
}

static void count_stages(struct kernel *kernel, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        int stage = statement_stage(block->items[i]);
        if (stage >= 0)
            kernel->stage_totals[stage]++;
        count_stages(kernel, &block->items[i]->body);
        count_stages(kernel, &block->items[i]->orelse);
    }
}

/* The address of an operand in the kernel function: an output of an input's name is told from it. */
static const char *emit_address(const struct lowering *lowering, const struct dsl_operand *operand)
{
    const char *name = emit_camel(lowering->arena, operand->name, false);
    bool twice = false;
    for (int i = 0; operand->output && i < lowering->opdef->input_count; i++)
        twice |= strcmp(lowering->opdef->inputs[i].name, operand->name) == 0;
    return twice ? arena_printf(lowering->arena, "%sOut", name) : name;
}

/* Whether the operand's data type decides what the type is. */
static bool decides(const struct lowering *lowering, const struct dsl_operand *operand, const struct lower_type *type)
{
    int combinations = lowering->opdef->combinations;
    bool decides = operand->declared;
    for (int a = 0; decides && a < combinations; a++)
        for (int b = a + 1; decides && b < combinations; b++)
            decides = operand->types[a] != operand->types[b] || lower_type_in(type, a) == lower_type_in(type, b);
    return decides;
}

/* The type in terms of an operand's: "DTYPE_X", or a choice by it. */
static const char *type_by(struct emit *emit, const struct dsl_operand *operand, const struct lower_type *type)
{
    struct arena *arena = emit->lowering->arena;
    const char *macro = macro_of(emit->lowering, operand), *text = macro;
    int combinations = emit->lowering->opdef->combinations;
    for (int c = 0; c < combinations; c++) {
        enum akgen_dtype other = lower_type_in(type, c);
        bool told = other == operand->types[c];
        for (int before = 0; before < c; before++)
            told |= operand->types[before] == operand->types[c];
        if (!told)
            text = arena_printf(arena, "std::conditional_t<std::is_same_v<%s, %s>, %s, %s>", macro,
                                operand_type(operand->types[c]), operand_type(other), text);
    }
    return text;
}

/* The data type that stands for a type of the template: that of an operand, or what one decides. */
static const char *class_macro(struct emit *emit, const struct lower_type *type)
{
    const struct lowering *lowering = emit->lowering;
    const struct dsl_opdef *opdef = lowering->opdef;
    for (int exact = 1; exact >= 0; exact--)
        for (int i = 0; i < opdef->input_count + opdef->output_count; i++) {
            const struct dsl_operand *operand =
                i < opdef->input_count ? &opdef->inputs[i] : &opdef->outputs[i - opdef->input_count];
            struct lower_type of = {.types = operand->types, .fixed = AKGEN_DTYPE_NONE};
            if (operand->declared && (exact ? lower_type_equal(lowering, type, &of) : decides(lowering, operand, type)))
                return exact ? macro_of(lowering, operand) : type_by(emit, operand, type);
        }
    emit->good = LOWER_FAIL(lowering, lowering->program->kernel->place, DSL_RULE_not_compiled, NULL,
                            "the data type of a buffer depends on several tensors");
    return "float";
}

static bool is_first_workspace(const struct lowering *lowering, const struct lower_parameter *parameter)
{
    int i = 0;
    while (lowering->parameters[i].source != LOWER_WORKSPACE)
        i++;
    return &lowering->parameters[i] == parameter;
}

/* Whether Init() has a parameter of the name. */
static bool is_address(const struct lowering *lowering, const char *name)
{
    bool found = false;
    for (int i = 0; !found && i < lowering->parameter_count; i++)
        found = lowering->parameters[i].operand &&
                strcmp(emit_address(lowering, lowering->parameters[i].operand), name) == 0;
    return found;
}

/* What Init() does for a parameter of the kernel, and the member that keeps it. */
static void emit_parameter(struct emit *emit, const struct lower_parameter *parameter, struct text *members)
{
    struct arena *arena = emit->lowering->arena;
    const char *name = emit_variable(emit->lowering, &emit->lowering->program->kernel_names, parameter->name),
               *element = emit_element(emit, &parameter->elements);
    const char *given = parameter->operand ? emit_address(emit->lowering, parameter->operand) : NULL;
    switch (parameter->source) {
    case LOWER_FIELD:
        if (parameter->type == DSL_TYPE_INTS) {
            emit_line(emit, "%sLength = tiling.%sLength;", name, name);
            emit_line(emit, "for (int64_t i = 0; i < %sLength; i++) {", name);
            emit_line(emit, "    %s[i] = tiling.%s[i];", name, name);
            emit_line(emit, "}");
            text_addf(members, "    int64_t %sLength;\n    int64_t %s[%d];\n", name, name, EMIT_LIST_MAX);
            break;
        }
        emit_line(emit, "%s%s = tiling.%s;", is_address(emit->lowering, name) ? "this->" : "", name, name);
        text_addf(members, "    %s %s;\n", parameter->type == DSL_TYPE_REAL ? "float" : "int64_t", name);
        break;
    case LOWER_TENSOR:
        if (parameter->type == DSL_TYPE_TENSORS) {
            emit_line(emit, "%s = %s;", gm_name(emit, parameter), given);
            text_addf(members, "    GM_ADDR %s;\n", gm_name(emit, parameter));
            break;
        }
        emit_line(emit, "%s.SetGlobalBuffer((__gm__ %s *)%s);", gm_name(emit, parameter), element, given);
        text_addf(members, "    GlobalTensor<%s> %s;\n", element, gm_name(emit, parameter));
        break;
    case LOWER_WORKSPACE:
        emit_line(emit, "%s.SetGlobalBuffer((__gm__ %s *)(workspace%s));", gm_name(emit, parameter), element,
                  is_first_workspace(emit->lowering, parameter) ? "" : arena_printf(arena, " + tiling.%sAt", name));
        text_addf(members, "    GlobalTensor<%s> %s;\n", element, gm_name(emit, parameter));
        break;
    case LOWER_SCALAR:
        emit->aids[AID_NUMBER] = true;
        emit_line(emit, "GlobalTensor<%s> %s;", element, gm_name(emit, parameter));
        emit_line(emit, "%s.SetGlobalBuffer((__gm__ %s *)%s);", gm_name(emit, parameter), element, given);
        emit_line(emit, "this->%s = Number(%s.GetValue(0));", name, gm_name(emit, parameter));
        text_addf(members, "    %s %s;\n", emit_number_type(emit, &parameter->elements), name);
        break;
    }
}

/* The elements of a tensor, as a factor. */
static const char *elements_text(struct emit *emit, const struct lower_buffer *buffer)
{
    struct dsl_expr *size = lower_resolve(emit->lowering, buffer->size);
    if (size->kind == DSL_TUPLE || size->kind == DSL_LIST)
        return arena_printf(emit->lowering->arena, "%s * %s", emit_expr_text(emit, size->items[0]),
                            emit_expr_text(emit, size->items[1]));
    bool simple = size->kind != DSL_BINARY && size->kind != DSL_CHOICE;
    return arena_printf(emit->lowering->arena, simple ? "%s" : "(%s)", emit_expr_text(emit, size));
}

/* The room of one tensor: whole blocks, or whole repeats where instructions round up to them; of truth values an eighth. */
static const char *buffer_bytes(struct emit *emit, const struct lower_buffer *buffer, const char *elements,
                                bool aligned)
{
    struct arena *arena = emit->lowering->arena;
    bool rounds = lower_rounds(emit->lowering), bits = buffer->type.fixed == AKGEN_BOOL && buffer->kind == LOWER_UB;
    const char *bytes = arena_printf(arena, "%s * sizeof(%s)", elements, emit_element(emit, &buffer->type));
    if (bits) {
        emit->aids[AID_CEIL_DIV] = true;
        return arena_printf(arena, "CeilDiv(%s, 256) * 32", elements);
    }
    if (aligned && !rounds)
        return bytes;
    emit->aids[AID_CEIL_DIV] = true;
    return arena_printf(arena, "CeilDiv(%s, %d) * %d", bytes, rounds ? 256 : 32, rounds ? 256 : 32);
}

/* `if constexpr (..) {` before what concerns a buffer that is none where its queue's elements have its type; whether there is
 * something to close. */
static bool open_if_apart(struct emit *emit, const struct lower_buffer *buffer)
{
    const struct lower_buffer *queue = lower_queue_of(emit->lowering, buffer);
    if (!queue || !(is_class(emit, &queue->type) || is_class(emit, &buffer->type)))
        return false;
    emit_line(emit, "if constexpr (!std::is_same_v<%s, %s>) {", emit_element(emit, &queue->type),
              emit_element(emit, &buffer->type));
    emit->indent++;
    return true;
}

static void close_if(struct emit *emit, bool closes)
{
    emit->indent -= closes;
    if (closes)
        emit_line(emit, "}");
}

static void emit_buffer(struct emit *emit, const struct lower_buffer *buffer, struct text *members)
{
    struct lowering *lowering = emit->lowering;
    static const char *const kinds[] = {[LOWER_QUEUE_IN] = "TQue<TPosition::VECIN, ",
                                        [LOWER_QUEUE_OUT] = "TQue<TPosition::VECOUT, ",
                                        [LOWER_QUEUE_MOVE] = "TQueBind<TPosition::VECIN, TPosition::VECOUT, ",
                                        [LOWER_QUEUE_A1] = "TQue<TPosition::A1, ",
                                        [LOWER_QUEUE_B1] = "TQue<TPosition::B1, ",
                                        [LOWER_QUEUE_CO1] = "TQue<TPosition::CO1, "};
    const char *name = queue_name(emit, buffer);
    const struct dsl_expr *depth = call_argument(buffer->allocation->value, "depth");
    const char *elements = elements_text(emit, buffer);
    int64_t known;
    bool aligned = lower_constant(lowering, buffer->size, &known);
    for (int c = 0; aligned && c < lowering->opdef->combinations; c++)
        aligned = known * (int64_t)akgen_dtype_size(lower_type_in(&buffer->type, c)) % 32 == 0;
    const char *bytes = buffer_bytes(emit, buffer, elements, aligned);
    if (buffer->kind != LOWER_UB) {
        emit_line(emit, "pipe->InitBuffer(%s, %s, %s);", name, depth->digits, bytes);
        text_addf(members, "    %s%s> %s;\n", kinds[buffer->kind], depth->digits, name);
        return;
    }
    bool closes = open_if_apart(emit, buffer);
    emit_line(emit, "pipe->InitBuffer(%s, %s);", name, bytes);
    close_if(emit, closes);
    text_addf(members, "    TBuf<TPosition::VECCALC> %s;\n", name);
}

/* "GM_ADDR x, GM_ADDR y, ": what Init() gets of the kernel function's parameters, or gives on. */
static void emit_addresses(struct emit *emit, struct text *out, bool types)
{
    struct lowering *lowering = emit->lowering;
    bool workspace = false;
    const struct dsl_operand *last[64];
    int count = 0;
    for (int i = 0; i < lowering->parameter_count; i++) {
        const struct lower_parameter *parameter = &lowering->parameters[i];
        bool known = false;
        for (int k = 0; k < count; k++)
            known |= last[k] == parameter->operand;
        workspace |= parameter->source == LOWER_WORKSPACE;
        if (!parameter->operand || known || count == (int)(sizeof last / sizeof *last))
            continue;
        last[count++] = parameter->operand;
        text_addf(out, "%s%s, ", types ? "GM_ADDR " : "", emit_address(lowering, parameter->operand));
    }
    if (workspace)
        text_addf(out, "%s, ", types ? "GM_ADDR workspace" : "GetUserWorkspace(workspace)");
}

/* Every element of the buffers gets a value, where instructions read more than was computed. */
static void emit_clears(struct emit *emit)
{
    struct lowering *lowering = emit->lowering;
    if (!lower_rounds(lowering))
        return;
    emit_line(emit, "// Instructions round up to whole blocks: what they read beyond the elements is zero.");
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        const struct dsl_expr *depth = call_argument(buffer->allocation->value, "depth");
        if (buffer->kind >= LOWER_QUEUE_A1 || buffer->kind == LOWER_QUEUE_MOVE) /* nothing computes there */
            continue;
        const char *bytes = buffer_bytes(emit, buffer, elements_text(emit, buffer), false);
        emit->aids[buffer->kind == LOWER_UB ? AID_CLEAR_BUFFER : AID_CLEAR_QUEUE] = true;
        bool closes = open_if_apart(emit, buffer);
        if (buffer->kind == LOWER_UB)
            emit_line(emit, "Clear(%s, %s);", queue_name(emit, buffer), bytes);
        else
            emit_line(emit, "Clear<%s>(%s, %s);", depth->digits, queue_name(emit, buffer), bytes);
        close_if(emit, closes);
    }
    emit_line(emit, "PipeBarrier<PIPE_V>();");
}

static void emit_init(struct emit *emit, struct text *out, struct text *members)
{
    struct lowering *lowering = emit->lowering;
    struct text head = {0};
    emit->out = out;
    emit_addresses(emit, &head, true);
    text_addf(out, "    __aicore__ inline void Init(%sconst %s &tiling, TPipe *pipe)\n    {\n",
              head.bytes ? head.bytes : "", emit_struct_name(lowering));
    text_free(&head);
    emit->indent = 2;
    struct text queues = {0};
    for (int i = 0; i < lowering->parameter_count; i++)
        emit_parameter(emit, &lowering->parameters[i], members);
    bool mixed = is_mixed(lowering);
    for (int cube = 0; cube < 2; cube++) {
        if (mixed)
            emit_line(emit, "if ASCEND_IS_%s {", cube ? "AIC" : "AIV");
        emit->indent += mixed;
        for (int b = 0; b < lowering->buffer_count; b++)
            if ((lowering->buffers[b].kind >= LOWER_QUEUE_A1) == cube)
                emit_buffer(emit, &lowering->buffers[b], &queues);
        if (cube && emit->products)
            emit_halves(emit, &queues);
        if (!cube)
            emit_clears(emit);
        emit->indent -= mixed;
        if (mixed)
            emit_line(emit, "}");
    }
    if (emit->aids[AID_EXP_OF] || emit->aids[AID_LN_OF]) {
        emit_line(emit, "pipe->InitBuffer(scalarBuffer, 32);");
        text_add(&queues, "    TBuf<TPosition::VECCALC> scalarBuffer;\n");
    }
    struct text all = {0};
    text_addf(&all, "%s", queues.bytes ? queues.bytes : "");
    for (int b = 0; b < lowering->buffer_count; b++)
        if (((struct kernel *)emit)->members[b])
            text_addf(&all, "    LocalTensor<%s> %s;\n", emit_element(emit, &lowering->buffers[b].type),
                      emit_name(emit, lowering->buffers[b].name));
    text_addf(&all, "%s", members->bytes ? members->bytes : "");
    text_free(members);
    text_free(&queues);
    *members = all;
    text_add(out, "    }\n\n");
}

/* The kernel function: its parameters are the OpDef's, in their order. */
static void emit_entry(struct emit *emit, struct text *out)
{
    struct kernel *kernel = (struct kernel *)emit;
    struct lowering *lowering = emit->lowering;
    const struct dsl_opdef *opdef = lowering->opdef;
    struct text arguments = {0}, classes = {0};
    text_addf(out, "extern \"C\" __global__ __aicore__ void %s(", opdef->entry);
    for (int i = 0; i < opdef->input_count; i++)
        text_addf(out, "GM_ADDR %s, ", emit_address(lowering, &opdef->inputs[i]));
    for (int i = 0; i < opdef->output_count; i++)
        if (opdef->outputs[i].declared)
            text_addf(out, "GM_ADDR %s, ", emit_address(lowering, &opdef->outputs[i]));
    text_add(out, "GM_ADDR workspace, GM_ADDR tiling)\n{\n    ");
    if (is_mixed(lowering))
        text_add(out, "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);\n    ");
    text_add(out, "GET_TILING_DATA(tilingData, tiling);\n");
    if (emit_may_skip(lowering))
        text_add(out, "    if (tilingData.blocks == 0) {\n        return;\n    }\n");
    for (int i = 0; i < kernel->class_count; i++)
        text_addf(&classes, "%s%s", i ? ", " : "", class_macro(emit, kernel->classes[i]));
    emit_addresses(emit, &arguments, false);
    text_addf(out, "    TPipe pipe;\n    %s%s%s%s op;\n    op.Init(%stilingData, &pipe);\n    op.Process();\n}\n",
              kernel->class_name, classes.length ? "<" : "", classes.bytes ? classes.bytes : "",
              classes.length ? ">" : "", arguments.bytes ? arguments.bytes : "");
    text_free(&arguments);
    text_free(&classes);
}

/* Names for the types of operands that may be complex64. */
static void emit_complex(const struct lowering *lowering, struct text *out)
{
    const struct dsl_opdef *opdef = lowering->opdef;
    bool known = false;
    for (int i = 0; i < opdef->input_count + opdef->output_count; i++) {
        const struct dsl_operand *operand =
            i < opdef->input_count ? &opdef->inputs[i] : &opdef->outputs[i - opdef->input_count];
        if (!operand->declared || !may_be_complex(lowering, operand))
            continue;
        const char *name = emit_camel(lowering->arena, operand->name, true);
        char *upper = arena_strdup(lowering->arena, operand->name);
        for (char *c = upper; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        text_add(out, known ? "" : "struct Complex64; // the parts of a number are float\n\n");
        known = true;
        text_addf(out, "#if ORIG_DTYPE_%s == DT_COMPLEX64\nusing TypeOf%s = Complex64;\n#else\n", upper, name);
        text_addf(out, "using TypeOf%s = DTYPE_%s;\n#endif\n\n", name, upper);
    }
}

static void emit_constants(struct emit *emit, struct text *out)
{
    const struct dsl_block *body = &emit->lowering->tree->body;
    emit->out = out;
    emit->indent = 0;
    for (int i = 0; i < body->count; i++) {
        const struct dsl_statement *statement = body->items[i];
        if (statement->kind != DSL_ASSIGN || statement->target->kind != DSL_NAME ||
            !mentions(lower_kernel(emit->lowering), statement->target->name))
            continue;
        bool real = statement->value->type == DSL_TYPE_REAL;
        emit_comments(emit, &statement->lead);
        emit_line(emit, "constexpr %s %s = %s;", real ? "float" : "int64_t", emit_name(emit, statement->target->name),
                  emit_expr_text(emit, statement->value));
    }
}

const char *emit_kernel(struct lowering *lowering)
{
    const struct dsl_statement *function = lowering->program->kernel;
    struct kernel kernel = {.emit = {.lowering = lowering, .names = &lowering->program->kernel_names, .good = true},
                            .class_name = arena_printf(lowering->arena, "%sKernel", lowering->opdef->type)};
    struct emit *emit = &kernel.emit;
    for (int i = 0; i < lowering->parameter_count; i++)
        if (lowering->parameters[i].source != LOWER_FIELD)
            add_class(&kernel, &lowering->parameters[i].elements);
    for (int b = 0; b < lowering->buffer_count; b++)
        add_class(&kernel, &lowering->buffers[b].type);
    find_members(&kernel);
    count_stages(&kernel, &function->body);

    struct text process = {0}, members = {0}, init = {0}, out = {0}, constants = {0};
    emit->out = &process;
    emit->indent = 2;
    declare_fields(emit);
    emit_buffers_used(emit, &function->body, true);
    emit_block(emit, &function->body, emit_kernel_statement);
    emit_init(emit, &init, &members);
    emit_constants(emit, &constants);

    emit->out = &out;
    emit->indent = 0;
    emit_comments(emit, &function->lead);
    bool lists = emit->aids[AID_TENSOR_OF];
    text_addf(&out, "#include \"kernel_operator.h\"\n%s\nusing namespace AscendC;\n\n",
              lists ? "#include \"kernel_operator_list_tensor_intf.h\"\n" : "");
    if (constants.length)
        text_addf(&out, "%s\n", constants.bytes);
    emit_complex(lowering, &out);
    emit_aids(emit, &out);
    emit_rows_aids(emit, &out);
    emit_int64_aids(emit, &out);
    emit_tiles_aids(emit, &out);
    if (kernel.class_count) {
        text_add(&out, "template <");
        for (int i = 0; i < kernel.class_count; i++)
            text_addf(&out, "%stypename %s", i ? ", " : "", emit_element(emit, kernel.classes[i]));
        text_add(&out, ">\n");
    }
    text_addf(&out,
              "class %s {\npublic:\n%s    __aicore__ inline void Process()\n    {\n%s    }\n\nprivate:\n%s%s};\n\n",
              kernel.class_name, init.bytes ? init.bytes : "", process.bytes ? process.bytes : "",
              kernel.methods.bytes ? kernel.methods.bytes : "", members.bytes ? members.bytes : "");
    emit_entry(emit, &out);
    const char *copy = arena_strdup(lowering->arena, out.bytes);
    struct text *texts[] = {&process, &members, &init, &out, &constants, &kernel.methods};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_free(texts[i]);
    return emit->good ? copy : NULL;
}
