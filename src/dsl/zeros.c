/* Workspace made by torch.zeros: nobody fills it before the launch, so behind its buffers the kernel stores zeros, a tile on each
 * core by turns, and all cores wait. Then it is workspace as torch.empty makes it. */
#include "base/array.h"
#include "dsl/lower_internal.h"

#include <string.h>

enum { TILE = 1024 };

/* The statement of the host function's body that makes the workspace of zeros which the name is; NULL: it is something else. */
static struct dsl_statement *zeros_of(const struct lowering *lowering, const char *name)
{
    const struct dsl_block *host = &lowering->program->host->body;
    for (int i = 0; i < host->count; i++) {
        struct dsl_statement *statement = host->items[i];
        if (statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME &&
            strcmp(statement->target->name, name) == 0 && statement->value->kind == DSL_CALL &&
            expr_is(statement->value->items[0], "torch", "zeros"))
            return statement;
    }
    return NULL;
}

/* How many elements torch.zeros makes; NULL: that is not written down. */
static struct dsl_expr *elements_of(struct edit *edit, const struct dsl_expr *call)
{
    struct dsl_expr *size = NULL;
    for (int i = 1; i < call->count; i++)
        if (call->items[i]->kind != DSL_NAMED)
            size = call->items[i];
    if (!size || (size->type != DSL_TYPE_INT && size->kind != DSL_TUPLE && size->kind != DSL_LIST))
        return NULL;
    if (size->type == DSL_TYPE_INT)
        return edit_copy(edit, size);
    struct dsl_expr *elements = edit_integer(edit, 1);
    for (int i = 0; i < size->count; i++)
        elements = edit_product(edit, elements, edit_copy(edit, size->items[i]));
    return elements;
}

/* Its data type in the kernel: one that is written down, or that of the kernel's parameter for the tensor; NULL: there is none. */
static struct dsl_expr *dtype_of_zeros(struct lowering *lowering, const struct dsl_expr *call)
{
    struct edit *edit = &lowering->edit;
    const struct dsl_expr *dtype = NULL;
    for (int i = 1; i < call->count; i++)
        if (call->items[i]->kind == DSL_NAMED && strcmp(call->items[i]->name, "dtype") == 0)
            dtype = call->items[i]->items[0];
    if (!dtype)
        return edit_attribute(edit, edit_name(edit, "tl"), "float32");
    const struct dsl_function *kernel = lowering->program->kernel->function;
    for (int i = 0; dtype->kind == DSL_ATTRIBUTE && i < kernel->count; i++)
        if (tree_equal(launch_argument(lowering->program, i), dtype->items[0]))
            return edit_attribute(edit, edit_name(edit, kernel->parameters[i].name), dtype->name);
    return dtype->kind == DSL_ATTRIBUTE && akgen_dtype_parse(dtype->name) != AKGEN_DTYPE_NONE ? edit_copy(edit, dtype)
                                                                                              : NULL;
}

/* Behind the last buffer, where every core comes by; -1: there is none. */
static int place_for_zeros(const struct dsl_block *kernel)
{
    int place = -1;
    for (int i = 0; i < kernel->count; i++) {
        const struct dsl_expr *call = statement_call(kernel->items[i]);
        if (kernel->items[i]->kind == DSL_ASSIGN && call && strcmp(call->operation->name, "alloc_ub") == 0)
            place = i + 1;
    }
    for (int i = 0; i < place; i++)
        if (kernel->items[i]->kind != DSL_ASSIGN && kernel->items[i]->kind != DSL_EXPRESSION)
            return -1;
    return place;
}

/* A parameter of the kernel for what the launch gives. */
static const char *add_parameter(struct lowering *lowering, const char *stem, struct dsl_expr *given)
{
    struct dsl_function *kernel = lowering->program->kernel->function;
    const char *name = lower_new_name(lowering, stem);
    struct dsl_parameter *parameters = arena_alloc(lowering->arena, (size_t)(kernel->count + 1) * sizeof *parameters);
    memcpy(parameters, kernel->parameters, (size_t)kernel->count * sizeof *parameters);
    parameters[kernel->count] = (struct dsl_parameter){.name = name, .place = kernel->parameters[0].place};
    kernel->parameters = parameters;
    kernel->capacity = ++kernel->count;
    edit_add_named(&lowering->edit, lowering->program->launch, name, given);
    return name;
}

/* for at in range(core * TILE, elements, cores * TILE): zeros into `tensor`. */
static struct dsl_statement *loop_of_zeros(struct lowering *lowering, const char *tensor, const char *buffer,
                                           const char *elements)
{
    struct edit *edit = &lowering->edit;
    const char *at = lower_new_name(lowering, "at_zeros");
    struct dsl_expr *from =
        edit_product(edit, EDIT_CALL(edit, "program_id", edit_integer(edit, 0)), edit_integer(edit, TILE));
    struct dsl_expr *step =
        edit_product(edit, EDIT_CALL(edit, "num_programs", edit_integer(edit, 0)), edit_integer(edit, TILE));
    struct dsl_statement *loop = edit_for(edit, at, from, edit_name(edit, elements), step);
    struct dsl_statement *fill = edit_stage(edit, "compute"), *out = edit_stage(edit, "copyout");
    struct dsl_expr *count = edit_smaller(edit, edit_integer(edit, TILE),
                                          edit_difference(edit, edit_name(edit, elements), edit_name(edit, at)));
    struct dsl_expr *zeros = EDIT_CALL(edit, "duplicate", edit_name(edit, buffer), edit_integer(edit, 0));
    struct dsl_expr *store =
        EDIT_CALL(edit, "store", edit_binary(edit, DSL_ADD, edit_name(edit, tensor), edit_name(edit, at)),
                  edit_name(edit, buffer));
    edit_add_named(edit, zeros, "count", count);
    edit_add_named(edit, store, "count", edit_copy(edit, count));
    edit_append(edit, &fill->body, edit_statement(edit, zeros));
    edit_append(edit, &out->body, edit_statement(edit, store));
    edit_append(edit, &loop->body, fill);
    edit_append(edit, &loop->body, out);
    return loop;
}

bool lower_zeros(struct lowering *lowering)
{
    struct edit *edit = &lowering->edit;
    struct dsl_block *kernel = lower_kernel(lowering);
    const int parameters = lowering->program->kernel->function->count;
    struct dsl_block loops = {0};
    int at = place_for_zeros(kernel);
    for (int i = 0; i < parameters; i++) {
        const struct dsl_expr *given = launch_argument(lowering->program, i);
        struct dsl_statement *made = given && given->kind == DSL_NAME ? zeros_of(lowering, given->name) : NULL;
        struct dsl_expr *elements = made ? elements_of(edit, made->value) : NULL,
                        *dtype = made ? dtype_of_zeros(lowering, made->value) : NULL;
        if (!made)
            continue;
        if (!elements || !dtype || at < 0)
            return LOWER_FAIL(lowering, made->value->place, DSL_RULE_not_compiled,
                              "make it by torch.empty, let the cores store zeros, and put tl.sync_all() behind",
                              at < 0 ? "no core that computes comes by behind the kernel's buffers to store the zeros"
                                     : "how many zeros, or of which data type, is not written down");
        const char *tensor = lowering->program->kernel->function->parameters[i].name;
        edit->place = lowering->program->launch->place;
        const char *count = add_parameter(lowering, arena_printf(lowering->arena, "%s_elements", tensor), elements);
        const char *buffer = lower_new_name(lowering, arena_printf(lowering->arena, "%s_zeros_ub", tensor));
        struct dsl_expr *allocation = EDIT_CALL(edit, "alloc_ub", edit_integer(edit, TILE));
        edit->place = kernel->items[at - 1]->place;
        edit_add_named(edit, allocation, "dtype", dtype);
        edit_insert(edit, kernel, at++, edit_assign(edit, buffer, allocation));
        edit_append(edit, &loops, loop_of_zeros(lowering, tensor, buffer, count));
        made->value->items[0] = edit_attribute(edit, edit_name(edit, "torch"), "empty");
    }
    for (int i = 0; i < loops.count; i++)
        edit_insert(edit, kernel, at++, loops.items[i]);
    if (loops.count)
        edit_insert(edit, kernel, at, edit_statement(edit, edit_call(edit, "sync_all", 0, NULL)));
    return true;
}
