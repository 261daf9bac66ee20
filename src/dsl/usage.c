/* What a program does with the parameters of its host function. */
#include "dsl/usage.h"
#include "dsl/check.h"
#include "dsl/edit.h"

#include <string.h>

int dsl_usage_parameter(const struct dsl_program *program, const char *name, bool kernel)
{
    const struct dsl_function *host = program->host->function, *function = program->kernel->function;
    const struct dsl_expr *given = NULL;
    for (int i = 0; kernel && name && i < function->count; i++)
        if (strcmp(function->parameters[i].name, name) == 0)
            given = launch_argument(program, i);
    if (kernel)
        name = given && given->kind == DSL_NAME ? given->name : NULL;
    for (int i = 0; name && i < host->count; i++)
        if (strcmp(host->parameters[i].name, name) == 0)
            return i;
    return -1;
}

enum akgen_dtype dsl_usage_buffer_type(const struct dsl_program *program, const char *buffer)
{
    const struct dsl_block *block = &program->kernel->body;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (statement->kind != DSL_ASSIGN || !statement->target->name || strcmp(statement->target->name, buffer) != 0 ||
            statement->value->kind != DSL_CALL || !statement->value->operation)
            continue;
        const struct dsl_expr *type = call_argument(statement->value, "dtype");
        if (type && type->kind == DSL_ATTRIBUTE && type->items[0]->kind == DSL_NAME)
            return akgen_dtype_parse(type->name);
    }
    return AKGEN_DTYPE_NONE;
}

struct survey {
    const struct dsl_program *program;
    struct dsl_usage *usages;
};

/* A load or a store: which parameter it moves, and of which data type. */
static void note_copy(const struct survey *survey, const struct dsl_expr *call)
{
    const struct dsl_expr *address = call_argument(call, "address");
    int index = address ? dsl_usage_parameter(survey->program, address_base(address), true) : -1;
    if (index < 0)
        return;
    bool load = call->operation->place == DSL_PLACE_COPYIN;
    const struct dsl_expr *buffer = call_argument(call, load ? "dst" : "src");
    struct dsl_usage *usage = &survey->usages[index];
    usage->loaded |= load;
    usage->stored |= !load;
    usage->written |= !load && strcmp(call->operation->name, "store_add") != 0;
    while (buffer && buffer->kind != DSL_NAME && buffer->count)
        buffer = buffer->items[0];
    if (buffer && buffer->kind == DSL_NAME && usage->dtype == AKGEN_DTYPE_NONE) {
        usage->dtype = dsl_usage_buffer_type(survey->program, buffer->name);
        if (strcmp(call->operation->name, "store_tile") == 0 && call_argument(call, "scale")) /* never the buffer's */
            usage->dtype = usage->dtype == AKGEN_INT32 ? AKGEN_FLOAT16 : AKGEN_INT8;
    }
}

static void survey_block(const struct survey *survey, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *value = statement->value;
        if (statement->kind == DSL_EXPRESSION && value->kind == DSL_CALL && value->operation &&
            (value->operation->place == DSL_PLACE_COPYIN || value->operation->place == DSL_PLACE_COPYOUT))
            note_copy(survey, value);
        survey_block(survey, &statement->body);
        survey_block(survey, &statement->orelse);
    }
}

struct dsl_usage *dsl_usage_of(struct arena *arena, const struct dsl_program *program)
{
    const struct dsl_function *host = program->host->function;
    struct dsl_usage *usages = arena_alloc(arena, (size_t)(host->count + 1) * sizeof *usages);
    for (int i = 0; i < host->count; i++) {
        const struct dsl_expr *value = host->parameters[i].value;
        usages[i] = (struct dsl_usage){.type = dsl_scope_find(&program->host_names, host->parameters[i].name)->type,
                                       .missing = value && value->kind == DSL_NONE,
                                       .dtype = AKGEN_DTYPE_NONE};
    }
    survey_block(&(struct survey){program, usages}, &program->kernel->body);
    return usages;
}

static void see_call(void *closure, struct dsl_expr *part)
{
    bool *found = closure;
    const struct dsl_expr *function = part->kind == DSL_CALL ? part->items[0] : NULL;
    *found |= function && (expr_is(function, "tl", "sync_all") || expr_is(function, "torch", "zeros"));
}

static void see_calls(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_call, closure);
}

bool dsl_usage_waits(const struct dsl_program *program)
{
    const struct dsl_block *bodies[] = {&program->kernel->body, &program->host->body};
    bool found = false;
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < bodies[b]->count && !found; i++)
            statement_visit(bodies[b]->items[i], see_calls, &found);
    return found;
}

bool dsl_usage_cube(const struct dsl_program *program)
{
    const struct dsl_block *kernel = &program->kernel->body;
    bool cube = false;
    for (int i = 0; i < kernel->count && !cube; i++) {
        const struct dsl_expr *value = kernel->items[i]->kind == DSL_ASSIGN ? kernel->items[i]->value : NULL;
        cube = value && value->kind == DSL_CALL &&
               (expr_is(value->items[0], "tl", "alloc_l1") || expr_is(value->items[0], "tl", "alloc_l0c"));
    }
    return cube;
}
