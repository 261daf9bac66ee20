#include "dsl/specialise.h"
#include "dsl/check.h"
#include "dsl/edit.h"
#include "dsl/lower.h"
#include "dsl/values.h"

#include <math.h>
#include <string.h>

/* Whether the host function's parameter of this name is an operand: the kernel finds a number of one in its tensor. */
static bool is_operand(const struct dsl_program *program, const struct dsl_opdef *opdef,
                       const struct dsl_expr *argument)
{
    const struct dsl_function *host = program->host->function;
    bool found = false;
    for (int i = 0; argument->kind == DSL_NAME && !found && i < host->count; i++)
        found = strcmp(host->parameters[i].name, argument->name) == 0 && opdef->roles[i].kind <= DSL_PARAMETER_OUTPUT;
    return found;
}

/* The value as it is written; NULL: it is none that can be. */
static struct dsl_expr *literal(struct edit *edit, const struct value *value, enum dsl_type type)
{
    if (type == DSL_TYPE_INTS) {
        struct dsl_expr *list = arena_alloc(edit->arena, sizeof *list);
        *list = (struct dsl_expr){.kind = DSL_TUPLE, .place = edit->place, .op = DSL_NO_OPERATOR};
        list->items = arena_alloc(edit->arena, (size_t)(value->length + 1) * sizeof *list->items);
        list->count = list->capacity = (int)value->length;
        for (int i = 0; i < list->count; i++)
            list->items[i] = edit_integer(edit, value->ints[i]);
        return list;
    }
    if (type == DSL_TYPE_REAL)
        return isfinite(value->real) ? edit_real(edit, value->real) : NULL;
    return type == DSL_TYPE_INT || type == DSL_TYPE_BOOL ? edit_integer(edit, value->integer) : NULL;
}

struct cores {
    struct edit *edit;
    int count;
    bool waits; /* the kernel has a tl.sync_all() */
};

static void see_cores(void *closure, struct dsl_expr *part)
{
    struct cores *cores = closure;
    if (part->kind != DSL_CALL)
        return;
    cores->waits |= expr_is(part->items[0], "tl", "sync_all");
    if (expr_is(part->items[0], "tl", "num_programs")) {
        cores->edit->place = part->place;
        *part = *edit_integer(cores->edit, cores->count);
    }
}

static void see_cores_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_cores, closure);
}

#define FAIL(place, remedy, ...) (dsl_complain(messages, place, DSL_RULE_not_compiled, remedy, __VA_ARGS__), false)

/* The number of cores becomes a constant; whether the given host part launches as many as the kernel needs. */
static bool fix_cores(struct edit *edit, const struct dsl_program *program, int count, int blocks,
                      struct dsl_messages *messages)
{
    struct cores cores = {edit, count, false};
    const struct dsl_block *body = &program->kernel->body;
    for (int i = 0; i < body->count; i++)
        statement_visit(body->items[i], see_cores_below, &cores);
    edit->place = program->launch->place;
    program->launch->items[0]->items[1] = edit_integer(edit, count);
    if (count > blocks)
        return FAIL(program->launch->place, "launch at most tl.num_vec_cores()",
                    "the kernel is launched on %d cores, the given host part launches %d blocks", count, blocks);
    if (cores.waits && count < blocks)
        return FAIL(
            program->launch->place, "launch all cores",
            "a core that waits in tl.sync_all() waits for all %d blocks that the given host part launches, and the "
            "program uses %d",
            blocks, count);
    return true;
}

static bool fix_arguments(struct edit *edit, const struct dsl_program *program, const struct dsl_opdef *opdef,
                          const struct value *given, struct dsl_messages *messages)
{
    struct dsl_expr *launch = program->launch;
    for (int i = 0; i + 1 < launch->count; i++) {
        struct dsl_expr *argument = launch->items[i + 1];
        const struct dsl_parameter *parameter = &program->kernel->function->parameters[i];
        enum dsl_type type = dsl_scope_find(&program->kernel_names, parameter->name)->type;
        if (type == DSL_TYPE_TENSOR && given[i].memory && !given[i].memory->parameter)
            return FAIL(argument->place, NULL, "'%s' is workspace, which the given host part does not provide",
                        parameter->name);
        if (type >= DSL_TYPE_TENSOR || is_operand(program, opdef, argument))
            continue;
        edit->place = argument->place;
        struct dsl_expr *value = literal(edit, &given[i], type);
        if (!value)
            return FAIL(argument->place, NULL, "the value of '%s' cannot be written into the kernel", parameter->name);
        launch->items[i + 1] = value;
    }
    return true;
}

/* Runs the host function for the shapes of `instance` on `blocks` cores, and puts what it gives in the place of the launch's arguments. */
static bool specialise(struct arena *arena, struct dsl_tree *tree, const struct dsl_opdef *opdef,
                       const struct task_instance *instance, const struct npu_soc *soc, int blocks,
                       struct dsl_messages *messages)
{
    struct dsl_lowered tiled;
    struct dsl_binding *bindings;
    struct edit edit = {.arena = arena};
    if (!dsl_lower(arena, tree, opdef, DSL_PASS_TILING, &tiled, messages))
        return false;
    const struct dsl_program *program = dsl_check(arena, tree, messages);
    struct akgen_error *error = program ? dsl_bind(arena, program, instance->task, &bindings) : NULL;
    if (!program || error) {
        if (error)
            dsl_complain(messages, tree->body.items[0]->place, DSL_RULE_launch, NULL, "%s", error->message);
        error_free(error);
        return false;
    }
    struct npu_soc chip = *soc;
    chip.aiv = chip.aic = blocks;
    const struct value *given;
    int cores = dsl_launch_case(arena, program, bindings, instance, &chip, &given, messages);
    if (!cores && !messages->count)
        FAIL(program->launch->place, NULL, "the host function returns before the launch: there is nothing to do");
    return cores && fix_arguments(&edit, program, opdef, given, messages) &&
           fix_cores(&edit, program, cores, blocks, messages);
}

struct akgen_error *dsl_specialise(struct arena *arena, struct dsl_tree *tree, const struct task *task, int number,
                                   const struct npu_soc *soc, struct dsl_opdef *opdef, struct dsl_messages *messages)
{
    struct task_instance *instance;
    const struct task_case *row = task->cases;
    struct task_question question;
    while (row->id != number)
        row++;
    struct akgen_error *error = task_question(arena, task, true, &question);
    if (!error && question.cores == TASK_CORES_UNKNOWN)
        error = error_new("%s: the task has no given host part that launches all cores", task->name);
    if (!error)
        error = task_instance_shapes(task, row, &instance);
    if (error)
        return error;
    const int blocks = question.cores == TASK_CORES_CUBE ? soc->aic : soc->aiv;
    opdef->host_given = true;
    specialise(arena, tree, opdef, instance, soc, blocks, messages);
    task_instance_free(instance);
    return NULL;
}
