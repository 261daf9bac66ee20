/* Printing the host part: the tiling structure, the tiling function and the OpDef. */
#include "base/array.h"
#include "dsl/emit.h"
#include "dsl/usage.h"

#include <inttypes.h>
#include <string.h>

const char *emit_struct_name(struct lowering *lowering)
{
    return arena_printf(lowering->arena, "%sTilingData", lowering->opdef->type);
}

static bool returns(const struct dsl_block *block)
{
    bool found = false;
    for (int i = 0; !found && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        found = statement->kind == DSL_RETURN || returns(&statement->body) || returns(&statement->orelse);
    }
    return found;
}

/* Whether the host function may return before it launches the kernel. */
bool emit_may_skip(const struct lowering *lowering)
{
    const struct dsl_block *host = &lowering->program->host->body;
    bool found = false;
    for (int i = 0; !found && i < host->count && host->items[i]->value != lowering->program->launch; i++)
        found =
            host->items[i]->kind == DSL_RETURN || returns(&host->items[i]->body) || returns(&host->items[i]->orelse);
    return found;
}

int emit_parameter_line(const struct lowering *lowering, const struct lower_parameter *parameter)
{
    return lowering->program->kernel->function->parameters[parameter - lowering->parameters].place.line;
}

static bool has_numbers(const struct lowering *lowering)
{
    bool found = false;
    for (int i = 0; !found && i < lowering->parameter_count; i++)
        found = lowering->parameters[i].source == LOWER_FIELD;
    return found;
}

int emit_fields(struct lowering *lowering, struct emit_field **fields)
{
    int count = 0, capacity = 0;
    *fields = NULL;
    struct arena *arena = lowering->arena;
    if (emit_may_skip(lowering) || !has_numbers(lowering))
        ARRAY_ADD(
            arena, *fields, count, capacity,
            (struct emit_field){.type = "int64_t", .name = "blocks", .meaning = "that have work; 0: there is none"});
    if (lower_has_open_depths(lowering))
        ARRAY_ADD(arena, *fields, count, capacity,
                  (struct emit_field){.type = "int64_t",
                                      .name = EMIT_DEPTH,
                                      .meaning = "tensors of a queue: 2 where UB has room for them"});
    int workspaces = 0;
    for (int i = 0; i < lowering->parameter_count; i++) {
        const struct lower_parameter *parameter = &lowering->parameters[i];
        struct emit_field field = {.type = emit_field_type(lowering, parameter),
                                   .name = emit_variable(lowering, &lowering->program->kernel_names, parameter->name),
                                   .meaning = "",
                                   .parameter = parameter};
        if (parameter->source == LOWER_WORKSPACE && workspaces++ > 0)
            field.name = arena_printf(arena, "%sAt", field.name);
        else if (parameter->source != LOWER_FIELD)
            continue;
        if (parameter->type == DSL_TYPE_INTS) {
            struct emit_field length = field;
            length.name = arena_printf(arena, "%sLength", field.name);
            ARRAY_ADD(arena, *fields, count, capacity, length);
            field.list = true;
        }
        if (parameter->source == LOWER_WORKSPACE)
            field.meaning = "bytes: where it begins in the workspace";
        ARRAY_ADD(arena, *fields, count, capacity, field);
    }
    return count;
}

const char *emit_tiling_header(struct lowering *lowering)
{
    struct text text = {0};
    struct emit_field *fields;
    int count = emit_fields(lowering, &fields);
    text_addf(&text,
              "#pragma once\n#include \"register/tilingdata_base.h\"\n\nnamespace optiling {\n"
              "BEGIN_TILING_DATA_DEF(%s)\n",
              emit_struct_name(lowering));
    for (int i = 0; i < count; i++) {
        emit_mark(&text, fields[i].parameter ? emit_parameter_line(lowering, fields[i].parameter) : 0);
        if (fields[i].list)
            text_addf(&text, "TILING_DATA_FIELD_DEF_ARR(%s, %d, %s);\n", fields[i].type, EMIT_LIST_MAX, fields[i].name);
        else
            text_addf(&text, "TILING_DATA_FIELD_DEF(%s, %s);%s%s\n", fields[i].type, fields[i].name,
                      *fields[i].meaning ? " // " : "", fields[i].meaning);
    }
    text_addf(&text, "END_TILING_DATA_DEF;\n\nREGISTER_TILING_DATA_CLASS(%s, %s)\n} // namespace optiling\n",
              lowering->opdef->type, emit_struct_name(lowering));
    return text_keep(&text, lowering->arena);
}

/* What the host function computes that somebody needs. */
struct needs {
    struct lowering *lowering;
    bool *needed; /* by number of the host function's symbol */
    bool changed, found;
};

static const struct dsl_symbol *need_symbol(const struct needs *needs, const struct dsl_expr *part)
{
    return part->kind == DSL_NAME && part->name ? dsl_scope_find(&needs->lowering->program->host_names, part->name)
                                                : NULL;
}

static void need_name(void *closure, struct dsl_expr *part)
{
    struct needs *needs = closure;
    const struct dsl_symbol *symbol = need_symbol(needs, part);
    if (!symbol || needs->needed[symbol->number])
        return;
    needs->needed[symbol->number] = true;
    needs->changed = true;
}

static void need(struct needs *needs, struct dsl_expr *expr)
{
    tree_visit(expr, need_name, needs);
}

static void need_target(void *closure, struct dsl_expr *part)
{
    struct needs *needs = closure;
    const struct dsl_symbol *symbol = need_symbol(needs, part);
    needs->found |= symbol && needs->needed[symbol->number];
}

/* From the last statement to the first: those before it compute what it needs. */
static void need_block(struct needs *needs, const struct dsl_block *block)
{
    for (int i = block->count - 1; i >= 0; i--) {
        const struct dsl_statement *statement = block->items[i];
        need_block(needs, &statement->orelse);
        need_block(needs, &statement->body);
        if (statement->kind == DSL_ASSIGN) {
            needs->found = false;
            tree_visit(statement->target, need_target, needs);
            if (needs->found)
                need(needs, statement->value);
        } else if (statement->kind == DSL_IF || statement->kind == DSL_FOR || statement->kind == DSL_WHILE ||
                   statement->kind == DSL_ASSERT) {
            need(needs, statement->value);
        }
    }
}

bool emit_has_open_size(const struct lowering *lowering)
{
    int64_t elements;
    bool found = false;
    for (int b = 0; !found && b < lowering->buffer_count; b++)
        found = !lower_constant(lowering, lowering->buffers[b].size, &elements);
    return found;
}

static void find_needs(struct lowering *lowering, struct needs *needs)
{
    const size_t names = (size_t)lowering->program->host_names.count + 1;
    *needs = (struct needs){.lowering = lowering, .needed = arena_alloc(lowering->arena, names * sizeof(bool))};
    need(needs, lowering->program->launch->items[0]->items[1]);
    for (int i = 0; i < lowering->parameter_count; i++) {
        const struct lower_parameter *parameter = &lowering->parameters[i];
        if (parameter->source == LOWER_FIELD || parameter->source == LOWER_WORKSPACE)
            need(needs, parameter->argument);
    }
    for (int b = 0; emit_has_open_size(lowering) && b < lowering->buffer_count; b++)
        need(needs, lower_host_terms(lowering, lowering->buffers[b].size));
    do {
        needs->changed = false;
        need_block(needs, &lowering->program->host->body);
    } while (needs->changed);
}

/* The parameters of the host function, as the tiling context gives them. */
static const struct dsl_parameter_role *role_of(const struct emit *emit, const char *name, int *number)
{
    const struct dsl_function *host = emit->lowering->program->host->function;
    for (int i = 0; i < host->count; i++)
        if (strcmp(host->parameters[i].name, name) == 0) {
            *number = i;
            return &emit->lowering->opdef->roles[i];
        }
    return NULL;
}

static const char *attr_getter(enum task_attr_type type)
{
    static const char *const getters[TASK_ATTR_TYPES] = {
        [TASK_ATTR_INT] = "GetInt",    [TASK_ATTR_FLOAT] = "GetFloat",      [TASK_ATTR_BOOL] = "GetBool",
        [TASK_ATTR_STRING] = "GetStr", [TASK_ATTR_LIST_INT] = "GetListInt", [TASK_ATTR_LIST_FLOAT] = "GetListFloat"};
    return getters[type];
}

/* The number of an operand among the OpDef's own of its kind. */
static int declared_number(const struct dsl_operand *operands, int number)
{
    int declared = 0;
    for (int i = 0; i < number; i++)
        declared += operands[i].declared;
    return declared;
}

/* The function of the context that gives an input's shape by its place in the OpDef. GetInputShape counts the tensors that are
 * there: it is as good where none is missing and none more comes before. */
static const char *shape_getter(const struct dsl_opdef *opdef, int number)
{
    for (int i = 0; i < number; i++)
        if (opdef->inputs[i].optional || opdef->inputs[i].list)
            return "GetRequiredInputShape";
    return "GetInputShape";
}

static void emit_parameter(struct emit *emit, const char *name)
{
    int number = 0;
    const struct dsl_opdef *opdef = emit->lowering->opdef;
    const struct dsl_parameter_role *role = role_of(emit, name, &number);
    const struct dsl_symbol *symbol = dsl_scope_find(emit->names, name);
    const char *variable = emit_name(emit, name), *type = emit_type(emit, symbol);
    const char *constant = block_assigns(&emit->lowering->program->host->body, name) ? "" : "const ";
    emit->line = emit->lowering->program->host->function->parameters[number].place.line;
    ARRAY_ADD(emit->lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, name);
    if (symbol->type == DSL_TYPE_TENSORS)
        return; /* the context is asked for its tensors where they are used */
    if (role->kind == DSL_PARAMETER_INPUT && opdef->inputs[role->number].optional)
        emit_line(emit, "const gert::StorageShape *%s = context->GetOptionalInputShape(%d);", variable, role->number);
    else if (role->kind == DSL_PARAMETER_INPUT)
        emit_line(emit, "const gert::Shape &%s = context->%s(%d)->GetStorageShape();", variable,
                  shape_getter(opdef, role->number), role->number);
    else if (role->kind == DSL_PARAMETER_OUTPUT)
        emit_line(emit, "const gert::Shape &%s = context->GetOutputShape(%d)->GetStorageShape();", variable,
                  declared_number(opdef->outputs, role->number));
    else if (role->kind == DSL_PARAMETER_ATTR && symbol->type == DSL_TYPE_INTS)
        emit_line(emit, "const auto *%sList = context->GetAttrs()->GetListInt(%d);", variable, role->number),
            emit_line(emit, "std::vector<int64_t> %s(%sList->GetData(), %sList->GetData() + %sList->GetSize());",
                      variable, variable, variable, variable);
    else if (role->kind == DSL_PARAMETER_ATTR && symbol->type == DSL_TYPE_TEXT)
        emit_line(emit, "%sstd::string %s = context->GetAttrs()->GetStr(%d);", constant, variable, role->number);
    else if (role->kind == DSL_PARAMETER_ATTR)
        emit_line(emit, "%s%s %s = *context->GetAttrs()->%s(%d);", constant, type, variable,
                  attr_getter(opdef->attrs[role->number].type), role->number);
    else {
        const struct dsl_expr *value = emit->lowering->program->host->function->parameters[number].value;
        emit_line(emit, "%s%s %s = %s;", constant, type, variable, emit_expr_text(emit, value));
    }
}

/* Whether a name is a parameter whose tensor may be left out. */
static bool is_optional(struct emit *emit, const struct dsl_expr *expr)
{
    int number;
    const struct dsl_parameter_role *role = expr->kind == DSL_NAME ? role_of(emit, expr->name, &number) : NULL;
    return role && role->kind == DSL_PARAMETER_INPUT && emit->lowering->opdef->inputs[role->number].optional;
}

/* "x" or "bias->GetStorageShape()": the shape of a tensor. */
static const char *shape_of(struct emit *emit, const struct dsl_expr *tensor)
{
    int number;
    if (tensor->kind == DSL_INDEX) { /* of a list */
        const struct dsl_parameter_role *role = role_of(emit, tensor->items[0]->name, &number);
        const char *kind = role->kind == DSL_PARAMETER_INPUT ? "DynamicInput" : "Output";
        return arena_printf(
            emit->lowering->arena, "context->Get%sShape(%s%s)->GetStorageShape()", kind,
            role->kind == DSL_PARAMETER_INPUT ? arena_printf(emit->lowering->arena, "%d, ", role->number) : "",
            emit_expr_text(emit, tensor->items[1]));
    }
    const char *name = emit_expr_text(emit, tensor);
    return is_optional(emit, tensor) ? arena_printf(emit->lowering->arena, "%s->GetStorageShape()", name) : name;
}

/* x.shape[i], where i counts from the end if it is negative. */
static void emit_dim(struct emit *emit, const char *shape, const struct dsl_expr *index)
{
    bool negative = index->kind == DSL_UNARY && index->items[0]->kind == DSL_INT;
    if (negative)
        text_addf(emit->out, "%s.GetDim(%s.GetDimNum() - %s)", shape, shape, index->items[0]->digits);
    else if (emit_is_natural(emit, index))
        text_addf(emit->out, "%s.GetDim(%s)", shape, emit_expr_text(emit, index));
    else
        text_addf(emit->out, "DimOf(%s, %s)", shape, emit_expr_text(emit, index));
    emit->aids[AID_DIM] |= !negative && !emit_is_natural(emit, index);
}

bool emit_host_call(struct emit *emit, const struct dsl_expr *call)
{
    const struct dsl_expr *function = call->items[0];
    if (expr_is(function, "tl", "numels")) {
        int number;
        const struct dsl_parameter_role *role = role_of(emit, call->items[1]->name, &number);
        emit->aids[AID_NUMELS] = true;
        text_addf(emit->out, "NumelsOf(context, %d)", role->number);
        return role->kind == DSL_PARAMETER_INPUT;
    }
    if (expr_is(function, "tl", "num_vec_cores") || expr_is(function, "tl", "num_cube_cores")) {
        text_addf(emit->out, "static_cast<int64_t>(platform.GetCoreNumAi%s())",
                  strstr(function->name, "vec") ? "v" : "c");
        return true;
    }
    if (expr_is(function, "tl", "ub_size")) {
        text_add(emit->out, "static_cast<int64_t>(ubBytes)");
        return true;
    }
    if (expr_is(function, "", "len") && call->items[1]->type == DSL_TYPE_TENSORS) {
        int number;
        const struct dsl_parameter_role *role = role_of(emit, call->items[1]->name, &number);
        text_addf(emit->out, "static_cast<int64_t>(context->GetIrInputInstanceInfo(%d)->GetInstanceNum())",
                  role->number);
        return role->kind == DSL_PARAMETER_INPUT;
    }
    if (expr_is(function, "", "len") && call->items[1]->kind == DSL_ATTRIBUTE) {
        text_addf(emit->out, "static_cast<int64_t>(%s.GetDimNum())", shape_of(emit, call->items[1]->items[0]));
        return true;
    }
    if (expr_is(function, "", "len")) {
        text_addf(emit->out, "static_cast<int64_t>(%s.size())", emit_expr_text(emit, call->items[1]));
        return true;
    }
    if (function->kind != DSL_ATTRIBUTE || function->items[0]->type != DSL_TYPE_TENSOR)
        return false;
    const char *shape = shape_of(emit, function->items[0]);
    if (strcmp(function->name, "numel") == 0 && is_optional(emit, function->items[0]))
        text_addf(emit->out, "(%s ? %s.GetShapeSize() : 0)", emit_expr_text(emit, function->items[0]), shape);
    else if (strcmp(function->name, "numel") == 0)
        text_addf(emit->out, "%s.GetShapeSize()", shape);
    else if (strcmp(function->name, "dim") == 0)
        text_addf(emit->out, "static_cast<int64_t>(%s.GetDimNum())", shape);
    else if (strcmp(function->name, "size") == 0 && call->count == 2)
        emit_dim(emit, shape, call->items[1]);
    else
        return false;
    return true;
}

/* "DT_FLOAT" of tl.float32. */
static const char *ge_type(const struct dsl_expr *dtype)
{
    return akgen_dtype_ge_name(akgen_dtype_parse(dtype->name));
}

static bool emit_question(struct emit *emit, const struct dsl_expr *expr)
{
    const struct dsl_expr *a = expr->items[0], *b = expr->items[1];
    int number;
    if (expr->op == DSL_IS || expr->op == DSL_IS_NOT) {
        if (!is_optional(emit, a))
            text_add(emit->out, expr->op == DSL_IS ? "false" : "true");
        else
            text_addf(emit->out, "%s %s nullptr", emit_name(emit, a->name), expr->op == DSL_IS ? "==" : "!=");
        return true;
    }
    if (a->kind != DSL_ATTRIBUTE || strcmp(a->name, "dtype") != 0 || a->items[0]->kind != DSL_NAME ||
        b->kind != DSL_ATTRIBUTE || akgen_dtype_parse(b->name) == AKGEN_DTYPE_NONE)
        return false;
    const struct dsl_parameter_role *role = role_of(emit, a->items[0]->name, &number);
    if (!role || role->kind > DSL_PARAMETER_OUTPUT)
        return false;
    text_addf(emit->out, "context->Get%sDesc(%d)->GetDataType() %s ge::%s",
              role->kind == DSL_PARAMETER_INPUT ? "Input" : "Output", role->number, dsl_operator_text(expr->op),
              ge_type(b));
    return true;
}

/* (a, b). */
static bool emit_list(struct emit *emit, const struct dsl_expr *expr)
{
    if (expr->kind != DSL_TUPLE && expr->kind != DSL_LIST)
        return false;
    text_add(emit->out, "std::vector<int64_t>{");
    for (int i = 0; i < expr->count; i++)
        text_addf(emit->out, "%s%s", i ? ", " : "", emit_expr_text(emit, expr->items[i]));
    text_add(emit->out, "}");
    return true;
}

bool emit_host_part(struct emit *emit, const struct dsl_expr *expr)
{
    const struct dsl_expr *of = expr->count ? expr->items[0] : NULL;
    if (expr->kind == DSL_BINARY)
        return emit_question(emit, expr);
    if (!of)
        return emit_list(emit, expr);
    if (expr->kind == DSL_INDEX && of->kind == DSL_ATTRIBUTE && strcmp(of->name, "shape") == 0 &&
        expr->items[1]->kind != DSL_SLICE) {
        emit_dim(emit, shape_of(emit, of->items[0]), expr->items[1]);
        return true;
    }
    if (expr->kind == DSL_INDEX && expr->items[1]->kind != DSL_SLICE) {
        const char *list = emit_expr_text(emit, of);
        bool negative = expr->items[1]->kind == DSL_UNARY;
        text_addf(emit->out, negative ? "%s[%s.size() - %s]" : "%s[%.0s%s]", list, list,
                  emit_expr_text(emit, negative ? expr->items[1]->items[0] : expr->items[1]));
        return true;
    }
    if (expr->kind == DSL_INDEX) {
        const struct dsl_expr *slice = expr->items[1];
        emit->aids[AID_SLICE] = true;
        text_addf(emit->out, "Slice(%s, %s, %s)", emit_expr_text(emit, of),
                  slice->items[0] ? emit_expr_text(emit, slice->items[0]) : "0",
                  slice->items[1] ? emit_expr_text(emit, slice->items[1]) : "INT64_MAX");
        return true;
    }
    if (expr->kind == DSL_ATTRIBUTE && strcmp(expr->name, "ndim") == 0) {
        text_addf(emit->out, "static_cast<int64_t>(%s.GetDimNum())", shape_of(emit, of));
        return true;
    }
    if (expr->kind == DSL_ATTRIBUTE && strcmp(expr->name, "shape") == 0) {
        emit->aids[AID_DIMS] = true;
        text_addf(emit->out, "Dims(%s)", shape_of(emit, of));
        return true;
    }
    return emit_list(emit, expr);
}

/* What every tiling function ends with. */
static void emit_saving(struct emit *emit, const char *blocks, const char *workspace)
{
    emit_line(emit, "tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), "
                    "context->GetRawTilingData()->GetCapacity());");
    emit_line(emit, "context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());");
    emit_line(emit, "context->SetBlockDim(static_cast<uint32_t>(%s));", blocks);
    emit_line(emit, "context->GetWorkspaceSizes(1)[0] = %s;", workspace);
    emit_line(emit, "return ge::GRAPH_SUCCESS;");
}

/* The elements of `torch.empty(size, ..)`, whose sizes are an integer, a tuple, or several integers. */
static const char *workspace_size(struct emit *emit, const struct dsl_expr *call)
{
    struct text text = {0};
    const struct dsl_expr *first = call->items[1];
    bool tuple = first->kind == DSL_TUPLE || first->kind == DSL_LIST;
    int from = tuple ? 0 : 1, count = tuple ? first->count : call->count;
    struct dsl_expr *const *sizes = tuple ? first->items : call->items;
    for (int i = from; i < count && sizes[i]->kind != DSL_NAMED; i++)
        text_addf(&text, "%s(%s)", i > from ? " * " : "", emit_expr_text(emit, sizes[i]));
    const char *copy = arena_strdup(emit->lowering->arena, text.bytes ? text.bytes : "0");
    text_free(&text);
    return copy;
}

void emit_refusal(struct emit *emit, const char *why)
{
    emit->aids[AID_REFUSE] = true;
    emit_line(emit, "    return Refuse(context, %s);", why);
}

/* The end of the tiling function: fields, cores, workspace. */
static void emit_finish(struct emit *emit)
{
    struct lowering *lowering = emit->lowering;
    struct emit_field *fields;
    int count = emit_fields(lowering, &fields), workspaces = 0;
    const struct dsl_expr *launch = lowering->program->launch;
    for (int i = 0; i < lowering->parameter_count; i++) {
        const struct lower_parameter *parameter = &lowering->parameters[i];
        if (parameter->source != LOWER_WORKSPACE)
            continue;
        const char *name = emit_variable(lowering, &lowering->program->kernel_names, parameter->name);
        if (!workspaces++)
            emit_line(emit, "int64_t workspace = 0;");
        emit_line(emit, "const int64_t %sAt = workspace;", name);
        size_t bytes = 0;
        for (int c = 0; c < lowering->opdef->combinations; c++) {
            size_t size = akgen_dtype_size(lower_type_in(&parameter->elements, c));
            bytes = size > bytes ? size : bytes;
        }
        emit->aids[AID_CEIL_DIV] = true;
        emit_line(emit, "workspace += CeilDiv((%s) * %zu, 512) * 512;", workspace_size(emit, parameter->argument),
                  bytes);
    }
    emit_room_check(emit);
    for (int i = 0; i < count; i++)
        if (fields[i].list) {
            emit_line(emit, "std::vector<int64_t> %sEntries = %s;", fields[i].name,
                      emit_expr_text(emit, fields[i].parameter->argument));
            emit_line(emit, "const int64_t %sLength = %sEntries.size();", fields[i].name, fields[i].name);
            emit_line(emit, "if (%sLength > %d) {", fields[i].name, EMIT_LIST_MAX);
            emit_refusal(emit, "\"a list is longer than the tiling structure holds\"");
            emit_line(emit, "}");
            emit_line(emit, "%sEntries.resize(%d);", fields[i].name, EMIT_LIST_MAX);
        }
    text_add(emit->out, "\n");
    emit_line(emit, "%s tiling;", emit_struct_name(lowering));
    const char *blocks = emit_expr_text(emit, launch->items[0]->items[1]);
    if (dsl_usage_waits(lowering->program) && !lower_cores_run_at_once(lowering)) {
        emit_line(emit, "if (%s > static_cast<int64_t>(platform.GetCoreNumAi%s())) {", blocks,
                  dsl_usage_cube(lowering->program) ? "c" : "v");
        emit_refusal(emit, "\"cores that wait for each other are more than the chip has\"");
        emit_line(emit, "}");
    }
    for (int i = 0; i < count; i++) {
        const struct lower_parameter *parameter = fields[i].parameter;
        if (!parameter)
            emit_line(emit, "tiling.set_%s(%s);", fields[i].name,
                      strcmp(fields[i].name, EMIT_DEPTH) == 0 ? EMIT_DEPTH : blocks);
        else if (fields[i].list)
            emit_line(emit, "tiling.set_%s(%sEntries.data());", fields[i].name, fields[i].name);
        else if (parameter->source == LOWER_WORKSPACE || parameter->type == DSL_TYPE_INTS)
            emit_line(emit, "tiling.set_%s(%s);", fields[i].name, fields[i].name);
        else if (strcmp(fields[i].type, "float") == 0)
            emit_line(emit, "tiling.set_%s(static_cast<float>(%s));", fields[i].name,
                      emit_expr_text(emit, parameter->argument));
        else
            emit_line(emit, "tiling.set_%s(%s);", fields[i].name, emit_expr_text(emit, parameter->argument));
    }
    const char *workspace = workspaces ? "platform.GetLibApiWorkSpaceSize() + workspace" : "0";
    if (emit_may_skip(lowering))
        emit_line(emit, "return Finish(context, tiling, %s, %s);", blocks, workspace);
    else
        emit_saving(emit, blocks, workspace);
}

static void emit_host_statement(struct emit *emit, const struct dsl_statement *statement)
{
    const struct dsl_expr *note = statement->note;
    if (emit->done)
        return;
    switch (statement->kind) {
    case DSL_RETURN:
        emit_line(emit, "%s tiling;", emit_struct_name(emit->lowering));
        emit_line(emit, "tiling.set_blocks(0);");
        emit_line(emit, "return Finish(context, tiling, 1, 0);");
        break;
    case DSL_ASSERT:
        emit_indent(emit);
        text_add(emit->out, "if (!(");
        emit_expr(emit, statement->value, 0);
        text_add(emit->out, ")) {\n");
        emit_refusal(emit, note && note->kind == DSL_TEXT ? emit_expr_text(emit, note)
                                                          : "\"the program does not compute these shapes\"");
        emit_line(emit, "}");
        break;
    case DSL_EXPRESSION:
        if (statement->value == emit->lowering->program->launch) {
            emit_finish(emit);
            emit->done = true;
        }
        break;
    default:
        break; /* a tensor of workspace, a text */
    }
}

/* Parameters, then the host function's statements up to the launch. */
static void emit_tiling_function(struct emit *emit, struct text *out)
{
    struct lowering *lowering = emit->lowering;
    const struct dsl_program *program = lowering->program;
    struct needs needs;
    struct text body = {0};
    find_needs(lowering, &needs);
    emit->needed = needs.needed;
    emit->out = &body;
    emit->indent = 1;
    for (int i = 0; i < program->host->function->count; i++)
        if (needs.needed[dsl_scope_find(&program->host_names, program->host->function->parameters[i].name)->number])
            emit_parameter(emit, program->host->function->parameters[i].name);
    emit_block(emit, &program->host->body, emit_host_statement);
    bool platform = body.bytes && strstr(body.bytes, "platform."), room = body.bytes && strstr(body.bytes, "ubBytes");
    emit_aids(emit, out);
    if (emit_may_skip(lowering)) {
        emit->out = out;
        emit->indent = 0;
        emit_line(emit,
                  "static ge::graphStatus Finish(gert::TilingContext *context, %s &tiling, int64_t blocks, size_t "
                  "workspace)",
                  emit_struct_name(lowering));
        emit_line(emit, "{");
        emit->indent = 1;
        emit_saving(emit, "blocks", "workspace");
        text_add(out, "}\n\n");
    }
    text_add(out, "static ge::graphStatus TilingFunc(gert::TilingContext *context)\n{\n");
    if (platform || room)
        text_add(out, "    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());\n");
    if (room)
        text_add(out, "    uint64_t ubBytes = 0;\n"
                      "    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);\n");
    text_addf(out, "%s}\n", body.bytes ? body.bytes : "");
    text_free(&body);
}

static void emit_operand(const struct lowering *lowering, const struct dsl_operand *operand, struct text *out)
{
    int combinations = lowering->opdef->combinations;
    text_addf(out, "        this->%s(\"%s\")\n            .ParamType(%s)\n            .DataType({",
              operand->output ? "Output" : "Input", operand->name,
              operand->list       ? "DYNAMIC"
              : operand->optional ? "OPTIONAL"
                                  : "REQUIRED");
    for (int c = 0; c < combinations; c++)
        text_addf(out, "%sge::%s", c ? ", " : "", akgen_dtype_ge_name(operand->types[c]));
    text_add(out, "})\n            .Format({");
    for (int c = 0; c < combinations; c++)
        text_addf(out, "%sge::FORMAT_ND", c ? ", " : "");
    text_addf(out, "})%s;\n",
              operand->scalar        ? "\n            .Scalar()"
              : operand->scalar_list ? "\n            .ScalarList()"
                                     : "");
}

static void emit_op_def(const struct lowering *lowering, struct text *out)
{
    static const char *const types[TASK_ATTR_TYPES] = {
        [TASK_ATTR_INT] = "Int",       [TASK_ATTR_FLOAT] = "Float",      [TASK_ATTR_BOOL] = "Bool",
        [TASK_ATTR_STRING] = "String", [TASK_ATTR_LIST_INT] = "ListInt", [TASK_ATTR_LIST_FLOAT] = "ListFloat"};
    const struct dsl_opdef *opdef = lowering->opdef;
    text_addf(
        out,
        "namespace ops {\nclass %s : public OpDef {\npublic:\n    explicit %s(const char *name) : OpDef(name)\n    {\n",
        opdef->type, opdef->type);
    for (int i = 0; i < opdef->input_count; i++)
        emit_operand(lowering, &opdef->inputs[i], out);
    for (int i = 0; i < opdef->output_count; i++)
        if (opdef->outputs[i].declared)
            emit_operand(lowering, &opdef->outputs[i], out);
    for (int i = 0; i < opdef->attr_count; i++)
        text_addf(out, "        this->Attr(\"%s\").AttrType(REQUIRED).%s();\n", opdef->attrs[i].name,
                  types[opdef->attrs[i].type]);
    text_addf(out,
              "        this->AICore().SetTiling(optiling::TilingFunc);\n"
              "        this->AICore().AddConfig(\"ascend910b\");\n"
              "        this->AICore().AddConfig(\"ascend910_93\");\n    }\n};\nOP_ADD(%s);\n} // namespace ops\n",
              opdef->type);
}

const char *emit_host(struct lowering *lowering)
{
    struct emit emit = {.lowering = lowering, .names = &lowering->program->host_names, .host = true, .good = true};
    struct text out = {0}, function = {0}, body = {0};
    emit.out = &function;
    emit_tiling_function(&emit, &function);
    emit_constants(&emit, &body);
    text_add(&body, function.bytes);
    text_addf(&out, "// Host part of %s.\n#include \"%s_tiling.h\"\n\n", lowering->opdef->type, lowering->opdef->entry);
    text_add(&out, "#include \"register/op_def_registry.h\"\n#include \"tiling/platform/platform_ascendc.h\"\n\n");
    static const struct {
        const char *word, *header;
    } headers[] = {{"std::fprintf", "cstdio"}, {"std::m", "algorithm"},  {"std::pow", "cmath"},
                   {"std::log", "cmath"},      {"std::exp", "cmath"},    {"std::ceil", "cmath"},
                   {"std::floor", "cmath"},    {"std::sqrt", "cmath"},   {"std::numeric", "limits"},
                   {"std::string", "string"},  {"std::vector", "vector"}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const char *line = arena_printf(lowering->arena, "#include <%s>\n", headers[i].header);
        if (strstr(body.bytes, headers[i].word) && !strstr(out.bytes, line))
            text_add(&out, line);
    }
    if (out.bytes[out.length - 2] == '>')
        text_add(&out, "\n");
    text_addf(&out, "namespace optiling {\n%s} // namespace optiling\n\n", body.bytes);
    emit_op_def(lowering, &out);
    const char *copy = text_keep(&out, lowering->arena);
    text_free(&function);
    text_free(&body);
    return emit.good ? copy : NULL;
}
