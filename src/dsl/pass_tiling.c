/* The first pass: where the kernel's parameters come from. What the host function gives as a constant becomes a constant of
 * the file; tensors and workspace are addresses, numbers of the host become fields of the tiling structure.
 *
 * Holds afterwards: each parameter of the kernel is a tensor, workspace, a number that the operator gets in a tensor, or a
 * field; the launch gives as many. */
#include "base/array.h"
#include "dsl/lower_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 32, NAMES = 256 }; /* NAMES: whose values one constant is made of, as often as each is */

struct constant {
    bool known, real;
    int64_t integer;
    double number;
};

/* The only statement of the block or below it that assigns the name; NULL: there is none, or several, or it is not certain to
 * run once. */
static const struct dsl_statement *only_assignment(const struct dsl_block *block, const char *name, int *count)
{
    const struct dsl_statement *found = NULL;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (statement->target && tree_mentions(statement->target, name)) {
            *count +=
                statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME && statement->op == DSL_NO_OPERATOR
                    ? 1
                    : 2;
            found = statement;
        }
        if (block_assigns(&statement->body, name) || block_assigns(&statement->orelse, name))
            *count += 2;
    }
    return *count == 1 ? found : NULL;
}

static struct constant constant_of(const struct lowering *lowering, const struct dsl_expr *expr, int deep, int *names);

static struct constant constant_of_name(const struct lowering *lowering, const char *name, int deep, int *names)
{
    const struct dsl_program *program = lowering->program;
    const struct dsl_function *host = program->host->function;
    const struct dsl_symbol *symbol = dsl_scope_find(&program->host_names, name);
    const struct dsl_block *block = symbol ? &program->host->body : &lowering->tree->body;
    int count = 0;
    const struct dsl_statement *assignment = only_assignment(block, name, &count);
    for (int i = 0; i < host->count; i++)
        if (strcmp(host->parameters[i].name, name) == 0) {
            bool fixed = lowering->opdef->roles[i].kind == DSL_PARAMETER_DEFAULT && count == 0;
            return fixed ? constant_of(lowering, host->parameters[i].value, deep + 1, names) : (struct constant){0};
        }
    return assignment ? constant_of(lowering, assignment->value, deep + 1, names) : (struct constant){0};
}

static struct constant integer_constant(int64_t value)
{
    return (struct constant){.known = true, .integer = value, .number = (double)value};
}

static struct constant constant_of_operation(const struct dsl_expr *expr, struct constant a, struct constant b)
{
    int64_t result = 0;
    bool good = false;
    struct constant real = {.known = true, .real = true};
    if (!a.known || !b.known)
        return (struct constant){0};
    switch (expr->op) {
    case DSL_ADD:
        good = !__builtin_add_overflow(a.integer, b.integer, &result);
        real.number = a.number + b.number;
        break;
    case DSL_SUBTRACT:
        good = !__builtin_sub_overflow(a.integer, b.integer, &result);
        real.number = a.number - b.number;
        break;
    case DSL_MULTIPLY:
        good = !__builtin_mul_overflow(a.integer, b.integer, &result);
        real.number = a.number * b.number;
        break;
    case DSL_FLOOR_DIVIDE:
        good = a.integer >= 0 && b.integer > 0;
        result = good ? a.integer / b.integer : 0;
        real.number = floor(a.number / b.number);
        break;
    case DSL_DIVIDE:
        real.number = a.number / b.number;
        return isfinite(real.number) ? real : (struct constant){0};
    default:
        return (struct constant){0};
    }
    if (a.real || b.real)
        return isfinite(real.number) ? real : (struct constant){0};
    return good ? integer_constant(result) : (struct constant){0};
}

static struct constant constant_of(const struct lowering *lowering, const struct dsl_expr *expr, int deep, int *names)
{
    if (!expr || deep > DEEP || (expr->kind == DSL_NAME && ++*names > NAMES))
        return (struct constant){0};
    switch (expr->kind) {
    case DSL_INT:
        return integer_constant(expr->integer);
    case DSL_REAL:
        return (struct constant){.known = isfinite(expr->real), .real = true, .number = expr->real};
    case DSL_NAME:
        return expr->name ? constant_of_name(lowering, expr->name, deep, names) : (struct constant){0};
    case DSL_UNARY:
        return expr->op == DSL_NEGATE
                   ? constant_of_operation(&(struct dsl_expr){.op = DSL_SUBTRACT}, integer_constant(0),
                                           constant_of(lowering, expr->items[0], deep + 1, names))
                   : (struct constant){0};
    case DSL_BINARY:
        return constant_of_operation(expr, constant_of(lowering, expr->items[0], deep + 1, names),
                                     constant_of(lowering, expr->items[1], deep + 1, names));
    default:
        return (struct constant){0};
    }
}

/* The statement `name = torch.empty(..)` of the host function; NULL: the name is something else. */
static const struct dsl_statement *workspace_of(const struct lowering *lowering, const char *name)
{
    int count = 0;
    const struct dsl_statement *assignment = only_assignment(&lowering->program->host->body, name, &count);
    bool made =
        assignment && assignment->value->kind == DSL_CALL && expr_is(assignment->value->items[0], "torch", "empty");
    return made ? assignment : NULL;
}

/* The operator's operand that a name of the host function is; NULL: it is none. */
static const struct dsl_operand *operand_of(const struct lowering *lowering, const struct dsl_expr *expr)
{
    const struct dsl_function *host = lowering->program->host->function;
    const struct dsl_opdef *opdef = lowering->opdef;
    for (int i = 0; expr->kind == DSL_NAME && expr->name && i < host->count; i++) {
        const struct dsl_parameter_role *role = &opdef->roles[i];
        if (strcmp(host->parameters[i].name, expr->name) != 0)
            continue;
        if (role->kind == DSL_PARAMETER_INPUT)
            return &opdef->inputs[role->number];
        if (role->kind == DSL_PARAMETER_OUTPUT)
            return &opdef->outputs[role->number];
    }
    return NULL;
}

/* The data type of `torch.empty(size, dtype=..)`: one that is written down, or that of a tensor. */
static bool workspace_type(const struct lowering *lowering, const struct dsl_expr *call, struct lower_type *type)
{
    const struct dsl_expr *dtype = NULL;
    for (int i = 1; i < call->count; i++)
        if (call->items[i]->kind == DSL_NAMED && strcmp(call->items[i]->name, "dtype") == 0)
            dtype = call->items[i]->items[0];
    *type = (struct lower_type){.fixed = AKGEN_FLOAT};
    if (!dtype)
        return true;
    const struct dsl_operand *operand = dtype->kind == DSL_ATTRIBUTE ? operand_of(lowering, dtype->items[0]) : NULL;
    if (operand)
        *type = (struct lower_type){.fixed = AKGEN_DTYPE_NONE, .types = operand->types};
    else if (dtype->kind == DSL_ATTRIBUTE)
        type->fixed = akgen_dtype_parse(dtype->name);
    return operand || type->fixed != AKGEN_DTYPE_NONE ||
           LOWER_FAIL(lowering, dtype->place, DSL_RULE_not_compiled, "write tl.float32, or x.dtype of a tensor",
                      "which data type this is, is not known before the launch");
}

static bool find_source(struct lowering *lowering, struct lower_parameter *parameter)
{
    struct dsl_expr *argument = parameter->argument;
    parameter->operand = operand_of(lowering, argument);
    const struct dsl_statement *workspace = argument->kind == DSL_NAME ? workspace_of(lowering, argument->name) : NULL;
    if (parameter->type == DSL_TYPE_TENSOR && workspace) {
        parameter->source = LOWER_WORKSPACE;
        parameter->argument = workspace->value;
        return workspace_type(lowering, workspace->value, &parameter->elements);
    }
    if (parameter->operand)
        parameter->elements = (struct lower_type){.fixed = AKGEN_DTYPE_NONE, .types = parameter->operand->types};
    if (parameter->type == DSL_TYPE_TENSOR || parameter->type == DSL_TYPE_TENSORS) {
        parameter->source = LOWER_TENSOR;
        return parameter->operand || LOWER_FAIL(lowering, argument->place, DSL_RULE_launch,
                                                "pass a parameter of the host function, or what torch.empty() made",
                                                "it is not known before the launch which tensor this is");
    }
    parameter->source = parameter->operand ? LOWER_SCALAR : LOWER_FIELD;
    return true;
}

/* Puts a constant of the file in the place of a parameter. */
static void make_constant(struct lowering *lowering, struct edit *edit, const char *name, struct constant value)
{
    struct dsl_expr *literal = value.real ? edit_real(edit, value.number) : edit_integer(edit, value.integer);
    struct dsl_block *body = &lowering->tree->body;
    int at = 0;
    while (at < body->count && body->items[at]->kind != DSL_DEF)
        at++;
    if (dsl_scope_find(&lowering->program->file, name)) { /* the file has that name for another value */
        edit_substitute(edit, lower_kernel(lowering), name, literal);
        return;
    }
    edit_insert(edit, body, at, edit_assign(edit, name, literal));
}

/* What the kernel asks of its tensors' shapes: the host function answers, by a parameter more. */
struct question {
    const char *name;          /* of the new parameter */
    struct dsl_expr *argument; /* of the launch */
    enum dsl_type type;
};
struct asking {
    struct lowering *lowering;
    struct dsl_expr **given; /* what the launch gives, by number of the parameter */
    struct question *questions;
    int count, capacity;
};

/* The launch's argument for a tensor of the kernel; NULL: the expression is no parameter. */
static struct dsl_expr *given_for(const struct asking *asking, const struct dsl_expr *tensor)
{
    const struct dsl_function *kernel = asking->lowering->program->kernel->function;
    for (int i = 0; tensor->kind == DSL_NAME && tensor->name && i < kernel->count; i++)
        if (strcmp(kernel->parameters[i].name, tensor->name) == 0)
            return asking->given[i];
    return NULL;
}

/* The name of the parameter that carries the answer. */
static const char *ask(struct asking *asking, const char *tensor, const char *what, struct dsl_expr *argument,
                       enum dsl_type type)
{
    struct arena *arena = asking->lowering->arena;
    const char *stem = arena_printf(arena, "%s_%s", tensor, what);
    for (int i = 0; i < asking->count; i++)
        if (tree_equal(asking->questions[i].argument, argument))
            return asking->questions[i].name;
    const char *name = lower_new_name(asking->lowering, stem);
    ARRAY_ADD(arena, asking->questions, asking->count, asking->capacity, (struct question){name, argument, type});
    return name;
}

static void become(struct dsl_expr *part, struct dsl_expr *other)
{
    struct dsl_place place = part->place;
    *part = *other;
    part->place = place;
}

static void answer(void *closure, struct dsl_expr *part)
{
    struct asking *asking = closure;
    struct edit *edit = &asking->lowering->edit;
    bool call = part->kind == DSL_CALL;
    struct dsl_expr *function = call ? part->items[0] : part,
                    *of = function->kind == DSL_ATTRIBUTE ? function->items[0] : NULL;
    const char *name = function->name;
    edit->place = part->place;
    if (call && expr_is(function, "", "len") && part->items[1]->type == DSL_TYPE_TENSORS) {
        struct dsl_expr *list = part->items[1], *given = given_for(asking, list);
        struct dsl_expr *length = edit_copy(edit, part);
        length->items[1] = edit_copy(edit, given);
        become(part, edit_name(edit, ask(asking, list->name, "length", length, DSL_TYPE_INT)));
    } else if (call && of && of->kind == DSL_INDEX && of->items[0]->type == DSL_TYPE_TENSORS &&
               strcmp(name, "numel") == 0) {
        struct dsl_expr *list = of->items[0], *given = given_for(asking, list);
        struct dsl_expr *numels = EDIT_CALL(edit, "numels", edit_copy(edit, given));
        struct dsl_expr *index =
            edit_piece(edit, edit_name(edit, ask(asking, list->name, "elements", numels, DSL_TYPE_INTS)), of->items[1]);
        if (index->kind == DSL_NAME) /* the first one */
            index = edit_piece(edit, index, edit_integer(edit, 1));
        index->items[1] = of->items[1];
        become(part, index);
    } else if (of && of->type == DSL_TYPE_TENSOR && given_for(asking, of) && strcmp(name, "dtype") != 0) {
        bool shape = strcmp(name, "shape") == 0, size = strcmp(name, "size") == 0;
        struct dsl_expr *asked = shape || size ? edit_attribute(edit, edit_copy(edit, given_for(asking, of)), "shape")
                                               : edit_copy(edit, part);
        if (!shape && !size)
            (call ? asked->items[0] : asked)->items[0] = edit_copy(edit, given_for(asking, of));
        struct dsl_expr *parameter = edit_name(edit, ask(asking, of->name, shape || size ? "shape" : "numel", asked,
                                                         shape || size ? DSL_TYPE_INTS : DSL_TYPE_INT));
        if (size && call) {
            struct dsl_expr *index = edit_piece(edit, parameter, edit_integer(edit, 1));
            index->items[1] = part->items[1];
            parameter = index;
        }
        become(part, parameter);
    }
}

static void answer_below(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, answer, closure);
}

/* The launch's arguments in the order of the parameters, and a parameter for each answer. */
static void ask_host(struct lowering *lowering)
{
    struct dsl_function *kernel = lowering->program->kernel->function;
    struct dsl_expr *launch = lowering->program->launch, *grown = NULL;
    struct asking asking = {.lowering = lowering};
    struct edit *edit = &lowering->edit;
    asking.given = arena_alloc(lowering->arena, (size_t)(kernel->count + 1) * sizeof *asking.given);
    for (int i = 0; i < kernel->count; i++)
        asking.given[i] = launch_argument(lowering->program, i);
    for (int i = 0; i < lower_kernel(lowering)->count; i++)
        statement_visit(lower_kernel(lowering)->items[i], answer_below, &asking);
    edit->place = launch->place;
    grown = edit_copy(edit, launch);
    launch->items = arena_alloc(lowering->arena, (size_t)(kernel->count + asking.count + 1) * sizeof *launch->items);
    launch->count = launch->capacity = kernel->count + asking.count + 1;
    launch->items[0] = grown->items[0];
    for (int i = 0; i < kernel->count; i++)
        launch->items[i + 1] = asking.given[i];
    struct dsl_parameter *parameters =
        arena_alloc(lowering->arena, (size_t)(kernel->count + asking.count + 1) * sizeof *parameters);
    memcpy(parameters, kernel->parameters, (size_t)kernel->count * sizeof *parameters);
    for (int i = 0; i < asking.count; i++) {
        launch->items[kernel->count + i + 1] = asking.questions[i].argument;
        parameters[kernel->count + i] =
            (struct dsl_parameter){.name = asking.questions[i].name, .place = kernel->parameters[0].place};
        struct dsl_symbol *symbol =
            scope_add(lowering->arena, &lowering->program->kernel_names, asking.questions[i].name, launch->place);
        symbol->type = asking.questions[i].type;
    }
    kernel->parameters = parameters;
    kernel->count = kernel->capacity = kernel->count + asking.count;
}

bool pass_tiling(struct lowering *lowering)
{
    ask_host(lowering);
    struct dsl_function *kernel = lowering->program->kernel->function;
    struct dsl_expr *launch = lowering->program->launch;
    struct edit *edit = &lowering->edit;
    struct dsl_expr **given = arena_alloc(lowering->arena, (size_t)(kernel->count + 2) * sizeof *given);
    int kept = 0;
    lowering->parameters = arena_alloc(lowering->arena, (size_t)(kernel->count + 1) * sizeof *lowering->parameters);
    given[0] = launch->items[0];
    for (int i = 0; i < kernel->count; i++) {
        struct dsl_parameter parameter = kernel->parameters[i];
        enum dsl_type type = dsl_scope_find(&lowering->program->kernel_names, parameter.name)->type;
        struct lower_parameter *found = &lowering->parameters[kept];
        *found = (struct lower_parameter){
            .name = parameter.name, .argument = launch_argument(lowering->program, i), .type = type};
        int names = 0;
        struct constant constant = constant_of(lowering, found->argument, 0, &names);
        edit->place = parameter.place;
        if (constant.known && (type == DSL_TYPE_INT || type == DSL_TYPE_REAL) &&
            !block_assigns(lower_kernel(lowering), parameter.name)) {
            constant.real = type == DSL_TYPE_REAL;
            make_constant(lowering, edit, parameter.name, constant);
            continue;
        }
        if (!find_source(lowering, found))
            return false;
        parameter.value = NULL;
        parameter.annotation = NULL;
        kernel->parameters[kept] = parameter;
        given[++kept] = found->argument;
    }
    kernel->count = lowering->parameter_count = kept;
    launch->items = given;
    launch->count = kept + 1;
    return true;
}
