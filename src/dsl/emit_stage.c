/* Printing the kernel's stages: a method for each, with the tensors that it uses. */
#include "base/array.h"
#include "dsl/emit_kernel.h"

#include <string.h>

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
    bool may_be = statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME && statement_call(statement);
    const struct lower_buffer *buffer = may_be ? lower_buffer_find(lowering, statement->target->name) : NULL;
    return buffer && buffer->allocation == statement;
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

void kernel_find_members(struct kernel *kernel)
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
bool kernel_declared(const struct emit *emit, const char *name)
{
    for (int i = 0; i < emit->declared_count; i++)
        if (strcmp(emit->declared[i], name) == 0)
            return true;
    return false;
}

void kernel_tensor_target(struct emit *emit, const struct lower_buffer *buffer)
{
    struct kernel *kernel = (struct kernel *)emit;
    bool known = kernel->members[buffer - emit->lowering->buffers] || kernel_declared(emit, buffer->name);
    emit_indent(emit);
    if (!known) {
        text_addf(emit->out, "LocalTensor<%s> ", emit_element(emit, &buffer->type));
        ARRAY_ADD(emit->lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, buffer->name);
    }
    text_addf(emit->out, "%s = ", emit_name(emit, buffer->name));
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
bool kernel_is_mixed(const struct lowering *lowering)
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
    if (!kernel_is_mixed(emit->lowering) || (!cube && !vector))
        return NULL;
    if (cube && vector)
        emit->good = LOWER_FAIL(emit->lowering, stage->place, DSL_RULE_not_compiled, "make two stages of it",
                                "a stage has buffers of the cube and of UB");
    return cube ? "AIC" : "AIV";
}

static void emit_stage(struct emit *emit, const struct dsl_statement *stage);

void kernel_statement(struct emit *emit, const struct dsl_statement *statement)
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
    bool guarded = !kernel->in_stage && kernel_is_mixed(emit->lowering) &&
                   (uses_kind(emit->lowering, &alone, true) || uses_kind(emit->lowering, &alone, false));
    if (guarded) { /* a step of a queue between stages */
        emit_line(emit, "if ASCEND_IS_%s {", uses_kind(emit->lowering, &alone, true) ? "AIC" : "AIV");
        kernel->in_stage = true;
        emit->indent++;
        kernel_statement(emit, statement);
        emit->indent--;
        kernel->in_stage = false;
        emit_line(emit, "}");
        return;
    }
    kernel_operation(emit, call);
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
void kernel_buffers_used(struct emit *emit, const struct dsl_block *block, bool outside)
{
    const struct lowering *lowering = emit->lowering;
    for (int b = 0; b < lowering->buffer_count; b++) {
        const struct lower_buffer *buffer = &lowering->buffers[b];
        if (buffer->kind != LOWER_UB || lower_queue_of(lowering, buffer))
            continue;
        if (outside ? !used_outside(lowering, block, buffer->name) : !first_mention(block, buffer->name))
            continue;
        emit_line(emit, "LocalTensor<%s> %s = %s.Get<%s>();", emit_element(emit, &buffer->type),
                  emit_name(emit, buffer->name), kernel_queue_name(emit, buffer), emit_element(emit, &buffer->type));
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

static bool is_number(const struct dsl_symbol *symbol)
{
    return symbol->type >= DSL_TYPE_BOOL && symbol->type <= DSL_TYPE_NUMBER;
}

struct mentions {
    const struct dsl_scope *names;
    int *counts; /* by number of the symbol */
};

static void count_mention(void *closure, struct dsl_expr *part)
{
    const struct mentions *mentions = closure;
    const struct dsl_symbol *symbol = part->kind == DSL_NAME ? part->symbol : NULL;
    if (symbol && symbol->number < mentions->names->count && mentions->names->items[symbol->number] == symbol)
        mentions->counts[symbol->number]++;
}

static void count_mentions_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, count_mention, closure);
}

/* How often the block mentions each of the kernel's names. */
static const int *count_mentions(const struct emit *emit, const struct dsl_block *block)
{
    size_t bytes = (size_t)(emit->names->count + 1) * sizeof(int);
    struct mentions mentions = {emit->names, arena_alloc(emit->lowering->arena, bytes)};
    for (int i = 0; i < block->count; i++)
        statement_visit(block->items[i], count_mentions_below, &mentions);
    return mentions.counts;
}

/* The variables that a stage shares with what is around it: "int64_t at, float &sum", and as arguments "at, sum". `inside`: how
 * often it mentions each. */
static void stage_arguments(struct emit *emit, const struct dsl_block *stage, const int *inside,
                            struct text *parameters, struct text *arguments)
{
    struct lowering *lowering = emit->lowering;
    const int *all = ((struct kernel *)emit)->mentions;
    for (int s = 0; s < emit->names->count; s++) {
        const struct dsl_symbol *symbol = emit->names->items[s];
        if (!is_number(symbol) || !inside[s] || inside[s] == all[s] || lower_parameter_find(lowering, symbol->name))
            continue;
        const char *comma = parameters->length ? ", " : "", *name = emit_name(emit, symbol->name);
        text_addf(parameters, "%s%s %s%s", comma, emit_type(emit, symbol),
                  block_assigns(stage, symbol->name) ? "&" : "", name);
        text_addf(arguments, "%s%s", comma, name);
        ARRAY_ADD(lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, symbol->name);
    }
}

/* A variable that a stage assigns has to be declared where it is called. */
static void declare_results(struct emit *emit, const struct dsl_block *stage, const int *inside)
{
    const int *all = ((struct kernel *)emit)->mentions;
    for (int s = 0; s < emit->names->count; s++) {
        const struct dsl_symbol *symbol = emit->names->items[s];
        bool shared = is_number(symbol) && inside[s] && inside[s] != all[s] && block_assigns(stage, symbol->name);
        if (!shared || kernel_declared(emit, symbol->name))
            continue;
        emit_line(emit, "%s %s = 0;", emit_type(emit, symbol), emit_name(emit, symbol->name));
        ARRAY_ADD(emit->lowering->arena, emit->declared, emit->declared_count, emit->declared_capacity, symbol->name);
    }
}

void kernel_declare_fields(struct emit *emit)
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
    const int *inside = count_mentions(emit, &stage->body);
    declare_results(emit, &stage->body, inside);
    const char **declared = emit->declared;
    int count = emit->declared_count, capacity = emit->declared_capacity, indent = emit->indent;
    const char *name = stage_name(kernel, statement_stage(stage));
    emit->declared = NULL;
    emit->declared_count = emit->declared_capacity = 0;
    kernel_declare_fields(emit);
    stage_arguments(emit, &stage->body, inside, &parameters, &arguments);
    emit->out = &body;
    emit->indent = 2;
    kernel->in_stage = true;
    kernel_buffers_used(emit, &stage->body, false);
    emit_block(emit, &stage->body, kernel_statement);
    kernel->in_stage = false;
    emit->out = out;
    emit->indent = indent;
    emit->declared = declared;
    emit->declared_count = count;
    emit->declared_capacity = capacity;
    emit_mark(&kernel->methods, emit->line);
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

void kernel_count_mentions(struct kernel *kernel)
{
    kernel->mentions = count_mentions(&kernel->emit, lower_kernel(kernel->emit.lowering));
}

void kernel_count_stages(struct kernel *kernel, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        int stage = statement_stage(block->items[i]);
        if (stage >= 0)
            kernel->stage_totals[stage]++;
        kernel_count_stages(kernel, &block->items[i]->body);
        kernel_count_stages(kernel, &block->items[i]->orelse);
    }
}
