/* Printing the kernel: a class whose Process() is the kernel function, with a method for each stage. */
#include "base/array.h"
#include "dsl/emit_kernel.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* Types. */
bool kernel_is_class(const struct emit *emit, const struct lower_type *type)
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
    if (kernel_is_class(&kernel->emit, type) && class_of(kernel, type) == kernel->class_count &&
        kernel->class_count < MOST)
        kernel->classes[kernel->class_count++] = type;
}

const char *kernel_operand_type(enum akgen_dtype type)
{
    return type == AKGEN_COMPLEX64 ? "Complex64" : akgen_dtype_kernel_type(type);
}

/* The type of a buffer's elements: truth values are bits. */
static const char *kernel_type(enum akgen_dtype type)
{
    return type == AKGEN_BOOL ? "uint8_t" : kernel_operand_type(type);
}

const char *emit_element(struct emit *emit, const struct lower_type *type)
{
    struct kernel *kernel = (struct kernel *)emit;
    if (!kernel_is_class(emit, type))
        return kernel_type(lower_type_in(type, 0));
    int number = class_of(kernel, type);
    return kernel->class_count == 1 ? "T" : arena_printf(emit->lowering->arena, "T%d", number + 1);
}

const char *emit_number_type(struct emit *emit, const struct lower_type *type)
{
    if (!kernel_is_class(emit, type))
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

const char *kernel_macro(const struct lowering *lowering, const struct dsl_operand *operand)
{
    char *macro = arena_printf(lowering->arena, "DTYPE_%s", operand->name);
    if (may_be_complex(lowering, operand))
        return arena_printf(lowering->arena, "TypeOf%s", emit_camel(lowering->arena, operand->name, true));
    for (char *c = macro; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return macro;
}

/* Names. */
const char *kernel_queue_name(struct emit *emit, const struct lower_buffer *buffer)
{
    return arena_printf(emit->lowering->arena, "%s%s", emit_name(emit, lower_memory_of(emit->lowering, buffer)->name),
                        buffer->kind == LOWER_UB ? "Buffer" : "Queue");
}

const char *kernel_gm_name(struct emit *emit, const struct lower_parameter *tensor)
{
    if (tensor->type == DSL_TYPE_TENSORS)
        return arena_printf(emit->lowering->arena, "%sList",
                            emit_variable(emit->lowering, &emit->lowering->program->kernel_names, tensor->name));
    return arena_printf(emit->lowering->arena, "%sGm",
                        emit_variable(emit->lowering, &emit->lowering->program->kernel_names, tensor->name));
}

/* The address of an operand in the kernel function: an output of an input's name is told from it, and so are names that the function and the
 * class have. */
static const char *emit_address(const struct lowering *lowering, const struct dsl_operand *operand)
{
    static const char *const own[] = {"op", "tilingData", "workspace"};
    const char *name = emit_camel(lowering->arena, operand->name, false);
    bool taken = emit_is_belonging(lowering, name);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        taken |= strcmp(own[i], name) == 0;
    if (taken)
        name = arena_printf(lowering->arena, "%sAddress", name);
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
    const char *macro = kernel_macro(emit->lowering, operand), *text = macro;
    int combinations = emit->lowering->opdef->combinations;
    for (int c = 0; c < combinations; c++) {
        enum akgen_dtype other = lower_type_in(type, c);
        bool told = other == operand->types[c];
        for (int before = 0; before < c; before++)
            told |= operand->types[before] == operand->types[c];
        if (!told)
            text = arena_printf(arena, "std::conditional_t<std::is_same_v<%s, %s>, %s, %s>", macro,
                                kernel_operand_type(operand->types[c]), kernel_operand_type(other), text);
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
                return exact ? kernel_macro(lowering, operand) : type_by(emit, operand, type);
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

/* The member for a number or a list of integers that is known. */
static void emit_value(struct emit *emit, const struct lower_parameter *parameter, const char *name,
                       struct text *members)
{
    const struct dsl_expr *value = parameter->argument;
    if (parameter->type != DSL_TYPE_INTS) {
        text_addf(members, "    %s %s = %s;\n", parameter->type == DSL_TYPE_REAL ? "float" : "int64_t", name,
                  emit_expr_text(emit, value));
        return;
    }
    text_addf(members, "    int64_t %sLength = %d;\n    int64_t %s[%d] = {", name, value->count, name,
              value->count ? value->count : 1);
    for (int i = 0; i < value->count; i++)
        text_addf(members, "%s%s", i ? ", " : "", emit_expr_text(emit, value->items[i]));
    text_add(members, "};\n");
}

/* What Init() does for a parameter of the kernel, and the member that keeps it. */
static void emit_parameter(struct emit *emit, const struct lower_parameter *parameter, struct text *members)
{
    struct arena *arena = emit->lowering->arena;
    const char *name = emit_variable(emit->lowering, &emit->lowering->program->kernel_names, parameter->name),
               *element = emit_element(emit, &parameter->elements);
    const char *given = parameter->operand ? emit_address(emit->lowering, parameter->operand) : NULL;
    emit->line = emit_parameter_line(emit->lowering, parameter);
    emit_mark(members, emit->line);
    if (parameter->source == LOWER_FIELD && emit->lowering->opdef->host_given) {
        emit_value(emit, parameter, name, members);
        return;
    }
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
        text_addf(members, "    %s %s;\n",
                  parameter->type == DSL_TYPE_NUMBER
                      ? emit_type(emit, dsl_scope_find(&emit->lowering->program->kernel_names, parameter->name))
                      : emit_field_type(emit->lowering, parameter),
                  name);
        break;
    case LOWER_TENSOR:
        if (parameter->type == DSL_TYPE_TENSORS) {
            emit->aids[AID_LIST_OF] = true;
            emit_line(emit, "%s.Init(%s);", kernel_gm_name(emit, parameter), given);
            text_addf(members, "    ListOf<%s> %s;\n", element, kernel_gm_name(emit, parameter));
            break;
        }
        emit_line(emit, "%s.SetGlobalBuffer((__gm__ %s *)%s);", kernel_gm_name(emit, parameter), element, given);
        text_addf(members, "    GlobalTensor<%s> %s;\n", element, kernel_gm_name(emit, parameter));
        break;
    case LOWER_WORKSPACE:
        emit_line(emit, "%s.SetGlobalBuffer((__gm__ %s *)(workspace%s));", kernel_gm_name(emit, parameter), element,
                  is_first_workspace(emit->lowering, parameter) ? "" : arena_printf(arena, " + tiling.%sAt", name));
        text_addf(members, "    GlobalTensor<%s> %s;\n", element, kernel_gm_name(emit, parameter));
        break;
    case LOWER_SCALAR:
        emit->aids[AID_NUMBER] = true;
        emit_line(emit, "GlobalTensor<%s> %s;", element, kernel_gm_name(emit, parameter));
        emit_line(emit, "%s.SetGlobalBuffer((__gm__ %s *)%s);", kernel_gm_name(emit, parameter), element, given);
        emit_line(emit, "this->%s = Number(%s.GetValue(0));", name, kernel_gm_name(emit, parameter));
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
    if (!queue || !(kernel_is_class(emit, &queue->type) || kernel_is_class(emit, &buffer->type)))
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

/* How many tensors InitBuffer makes: at most what TQue's depth says may be in the queue. */
static const char *tensors_text(struct emit *emit, const struct lower_buffer *buffer)
{
    return lower_least_depth(buffer) < lower_depth(buffer)
               ? "tiling." EMIT_DEPTH
               : arena_printf(emit->lowering->arena, "%" PRId64, lower_depth(buffer));
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
    if (buffer->of)
        return;
    const char *name = kernel_queue_name(emit, buffer), *elements = elements_text(emit, buffer);
    const bool aligned = lower_whole_blocks(lowering, &buffer->type, buffer->size);
    const char *bytes = buffer_bytes(emit, buffer, elements, aligned);
    emit->line = buffer->allocation->place.line;
    emit_mark(members, emit->line);
    if (buffer->kind != LOWER_UB) {
        emit_line(emit, "pipe->InitBuffer(%s, %s, %s);", name, tensors_text(emit, buffer), bytes);
        text_addf(members, "    %s%" PRId64 "> %s;\n", kinds[buffer->kind], lower_depth(buffer), name);
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
    emit->line = lowering->program->kernel->place.line;
    bool any = false;
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        const bool open = lower_least_depth(buffer) < lower_depth(buffer);
        if (buffer->of || buffer->kind >= LOWER_QUEUE_A1 ||
            buffer->kind == LOWER_QUEUE_MOVE) /* nothing computes there */
            continue;
        if (!any)
            emit_line(emit, "// Instructions round up to whole blocks: what they read beyond the elements is zero.");
        any = true;
        const char *bytes = buffer_bytes(emit, buffer, elements_text(emit, buffer), false);
        emit->aids[buffer->kind == LOWER_UB ? AID_CLEAR_BUFFER : open ? AID_CLEAR_OPEN_QUEUE : AID_CLEAR_QUEUE] = true;
        emit->line = buffer->allocation->place.line;
        bool closes = open_if_apart(emit, buffer);
        if (buffer->kind == LOWER_UB)
            emit_line(emit, "Clear(%s, %s);", kernel_queue_name(emit, buffer), bytes);
        else
            emit_line(emit, open ? "Clear<%" PRId64 ">(%s, %s, tiling." EMIT_DEPTH ");" : "Clear<%" PRId64 ">(%s, %s);",
                      lower_depth(buffer), kernel_queue_name(emit, buffer), bytes);
        close_if(emit, closes);
    }
    emit->line = lowering->program->kernel->place.line;
    if (any)
        emit_line(emit, "PipeBarrier<PIPE_V>();");
}

static void emit_init(struct emit *emit, struct text *out, struct text *members)
{
    struct lowering *lowering = emit->lowering;
    struct text head = {0};
    emit->out = out;
    emit_addresses(emit, &head, true);
    emit->line = lowering->program->kernel->place.line;
    emit_mark(out, emit->line);
    if (!lowering->opdef->host_given)
        text_addf(&head, "const %s &tiling, ", emit_struct_name(lowering));
    text_addf(out, "    __aicore__ inline void Init(%sTPipe *pipe)\n    {\n", head.bytes ? head.bytes : "");
    text_free(&head);
    emit->indent = 2;
    struct text queues = {0};
    for (int i = 0; i < lowering->parameter_count; i++)
        emit_parameter(emit, &lowering->parameters[i], members);
    bool mixed = kernel_is_mixed(lowering);
    for (int cube = 0; cube < 2; cube++) {
        emit->line = lowering->program->kernel->place.line;
        if (mixed)
            emit_line(emit, "if ASCEND_IS_%s {", cube ? "AIC" : "AIV");
        emit->indent += mixed;
        for (int b = 0; b < lowering->buffer_count; b++)
            if ((lowering->buffers[b].kind >= LOWER_QUEUE_A1) == cube)
                emit_buffer(emit, &lowering->buffers[b], &queues);
        if (cube)
            emit_halves(emit, &queues);
        if (!cube)
            emit_clears(emit);
        emit->indent -= mixed;
        emit->line = lowering->program->kernel->place.line;
        if (mixed)
            emit_line(emit, "}");
    }
    if (emit->aids[AID_EXP_OF] || emit->aids[AID_LN_OF]) {
        const char *purpose = "exp and log of a number, which the scalar unit has not";
        emit_line(emit, "pipe->InitBuffer(scalarBuffer, 32);");
        lower_add_printed(lowering, (struct lower_added){"scalarBuffer", "UB", purpose, 32});
        text_add(&queues, "    TBuf<TPosition::VECCALC> scalarBuffer;\n");
    }
    struct text all = {0};
    text_addf(&all, "%s", queues.bytes ? queues.bytes : "");
    for (int b = 0; b < lowering->buffer_count; b++)
        if (((struct kernel *)emit)->members[b]) {
            emit_mark(&all, lowering->buffers[b].allocation->place.line);
            text_addf(&all, "    LocalTensor<%s> %s;\n", emit_element(emit, &lowering->buffers[b].type),
                      emit_name(emit, lowering->buffers[b].name));
        }
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
    emit_mark(out, lowering->program->kernel->place.line);
    text_addf(out, "extern \"C\" __global__ __aicore__ void %s(", opdef->entry);
    for (int i = 0; i < opdef->input_count; i++)
        text_addf(out, "GM_ADDR %s, ", emit_address(lowering, &opdef->inputs[i]));
    for (int i = 0; i < opdef->output_count; i++)
        if (opdef->outputs[i].declared)
            text_addf(out, "GM_ADDR %s, ", emit_address(lowering, &opdef->outputs[i]));
    text_add(out, "GM_ADDR workspace, GM_ADDR tiling)\n{\n    ");
    if (kernel_is_mixed(lowering))
        text_add(out, "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);\n    ");
    if (opdef->host_given)
        text_addf(out, "if (GetBlockIdx() >= %s) {\n        return;\n    }\n",
                  emit_expr_text(emit, lowering->program->launch->items[0]->items[1]));
    else
        text_add(out, "GET_TILING_DATA(tilingData, tiling);\n");
    if (emit_may_skip(lowering) && !opdef->host_given)
        text_add(out, "    if (tilingData.blocks == 0) {\n        return;\n    }\n");
    for (int i = 0; i < kernel->class_count; i++)
        text_addf(&classes, "%s%s", i ? ", " : "", class_macro(emit, kernel->classes[i]));
    emit_addresses(emit, &arguments, false);
    text_add(&arguments, opdef->host_given ? "" : "tilingData, ");
    text_addf(out, "    TPipe pipe;\n    %s%s%s%s op;\n    op.Init(%s&pipe);\n    op.Process();\n}\n",
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
    kernel_find_members(&kernel);
    kernel_count_mentions(&kernel);
    kernel_count_stages(&kernel, &function->body);

    struct text process = {0}, members = {0}, init = {0}, out = {0};
    emit->out = &process;
    emit->indent = 2;
    kernel_declare_fields(emit);
    kernel_buffers_used(emit, &function->body, true);
    emit_block(emit, &function->body, kernel_statement);
    emit_init(emit, &init, &members);

    emit->out = &out;
    emit->indent = 0;
    emit->line = function->place.line;
    emit_comments(emit, &function->lead);
    bool lists = emit->aids[AID_LIST_OF];
    text_addf(&out, "#include \"kernel_operator.h\"\n%s\nusing namespace AscendC;\n\n",
              lists ? "#include \"kernel_operator_list_tensor_intf.h\"\n" : "");
    emit_constants(emit, &out);
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
    text_addf(&out, "class %s {\npublic:\n%s", kernel.class_name, init.bytes);
    emit_mark(&out, function->place.line);
    text_addf(&out, "    __aicore__ inline void Process()\n    {\n%s    }\n\nprivate:\n%s%s};\n\n",
              process.bytes ? process.bytes : "", kernel.methods.bytes ? kernel.methods.bytes : "",
              members.bytes ? members.bytes : "");
    emit_entry(emit, &out);
    const char *copy = arena_strdup(lowering->arena, out.bytes);
    struct text *texts[] = {&process, &members, &init, &out, &kernel.methods};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_free(texts[i]);
    return emit->good ? copy : NULL;
}
