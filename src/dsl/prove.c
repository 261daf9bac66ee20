/* Proofs of coverage. The elements that one store writes are an interval [from, to) of its tensor, or rows of one, whose ends
 * are polynomials in the number of the core and in the variables of the loops around (polynomial.h). From the inside outwards
 * each loop is taken away: where the interval of a turn ends where that of the next begins, or at a bound that does not change,
 * the turns together are an interval again. The cores are the outermost loop. What is left begins at 0 and ends at the extent.
 * Where one of the steps does not succeed, nothing is proved. */
#include "dsl/prove.h"
#include "base/array.h"
#include "dsl/check.h"
#include "dsl/polynomial.h"

#include <string.h>

enum { LOOPS_MAX = 12 };

enum form_kind { FORM_UNKNOWN, FORM_INTEGER, FORM_TENSOR, FORM_BUFFER, FORM_RANGE, FORM_MASK, FORM_ADDRESS };
/* What an expression yields. INTEGER: at; BUFFER: length elements; RANGE, ADDRESS: from `at` on, of `length` where it is a
 * range's; MASK: the first `length` of a range. */
struct form {
    enum form_kind kind;
    struct polynomial at, length;
    bool ranged;
    const char *tensor;
};

struct loop {
    int variable; /* its atom */
    struct polynomial from, to, step;
};

/* The elements that are stored: [from, to); strided: `rows` pieces of `width`, each `pitch` behind the one before. */
struct cover {
    struct polynomial from, to, rows, width, pitch;
    bool strided;
};

struct prover {
    struct arena *arena;
    const struct dsl_program *program;
    struct atoms atoms;
    struct form *host, *kernel, *constants; /* by number of the symbol */
    int *ranks;                             /* by number of the host's symbol: of a tensor whose shape is taken apart */
    bool in_kernel;
    struct polynomial cores;
    int core; /* the atom of tl.program_id(0) */
    struct loop loops[LOOPS_MAX];
    int loop_count;
    int versions; /* of the host function's variables */
    bool lost;    /* behind a branch, a loop or a way out that is not understood */
    bool single;  /* in a branch of core 0 */
    struct dsl_stores stores;
};

static struct form form_of(struct prover *prover, const struct dsl_expr *expr);

static struct form integer(struct polynomial at)
{
    return (struct form){at.unknown ? FORM_UNKNOWN : FORM_INTEGER, at, {0}, false, NULL};
}

static struct polynomial integer_of(struct prover *prover, const struct dsl_expr *expr)
{
    struct form form = expr ? form_of(prover, expr) : (struct form){0};
    return form.kind == FORM_INTEGER ? form.at : (struct polynomial){.unknown = true};
}

static const struct dsl_symbol *host_symbol(const struct prover *prover, const char *name)
{
    return dsl_scope_find(&prover->program->host_names, name);
}

static struct polynomial size_of(struct prover *prover, const char *tensor, int64_t axis)
{
    int rank = prover->ranks[host_symbol(prover, tensor)->number];
    axis += axis < 0 ? rank : 0;
    return polynomial_named(&prover->atoms, arena_printf(prover->arena, "%s.shape[%lld]", tensor, (long long)axis),
                            false, false);
}

static struct polynomial elements_of_tensor(struct prover *prover, const char *tensor)
{
    int rank = prover->ranks[host_symbol(prover, tensor)->number];
    if (!rank)
        return polynomial_named(&prover->atoms, arena_printf(prover->arena, "%s.numel()", tensor), false, false);
    struct polynomial product = polynomial_of(1);
    for (int axis = 0; axis < rank; axis++)
        product = polynomial_multiply(product, size_of(prover, tensor, axis));
    return product;
}

/* x.shape[1], x.size(-1). */
static struct form form_of_size(struct prover *prover, const struct dsl_expr *tensor, const struct dsl_expr *axis)
{
    struct form of = form_of(prover, tensor);
    bool negative = axis->kind == DSL_UNARY && axis->items[0]->kind == DSL_INT;
    if (of.kind != FORM_TENSOR || (axis->kind != DSL_INT && !negative))
        return (struct form){0};
    return integer(size_of(prover, of.tensor, negative ? -axis->items[0]->integer : axis->integer));
}

static struct form form_of_name(struct prover *prover, const struct dsl_expr *expr)
{
    const struct dsl_symbol *symbol = expr->symbol;
    if (!symbol)
        return (struct form){0};
    return symbol->constant ? prover->constants[symbol->number]
                            : (prover->in_kernel ? prover->kernel : prover->host)[symbol->number];
}

/* A tensor or an address, plus an integer or a range. */
static struct form form_of_address(struct form base, struct form by)
{
    base.at = polynomial_add(base.kind == FORM_TENSOR ? polynomial_of(0) : base.at, by.at, 1);
    if (by.kind == FORM_RANGE) {
        base.ranged = true;
        base.length = by.length;
    }
    base.kind = base.at.unknown ? FORM_UNKNOWN : FORM_ADDRESS;
    return base;
}

static struct form form_of_sum(struct form a, struct form b, int sign)
{
    bool place = a.kind == FORM_TENSOR || a.kind == FORM_ADDRESS,
         other = b.kind == FORM_TENSOR || b.kind == FORM_ADDRESS;
    bool steps = (b.kind == FORM_INTEGER || b.kind == FORM_RANGE) && sign > 0;
    if (a.kind == FORM_INTEGER && b.kind == FORM_INTEGER)
        return integer(polynomial_add(a.at, b.at, sign));
    if (a.kind == FORM_RANGE && b.kind == FORM_INTEGER) {
        a.at = polynomial_add(a.at, b.at, sign);
        return a;
    }
    if (a.kind == FORM_INTEGER && b.kind == FORM_RANGE && sign > 0)
        return form_of_sum(b, a, 1);
    if (place && steps)
        return form_of_address(a, b);
    if (other && sign > 0 && (a.kind == FORM_INTEGER || a.kind == FORM_RANGE))
        return form_of_address(b, a);
    return (struct form){0};
}

/* range < bound: the elements before it. */
static struct form form_of_mask(struct prover *prover, struct form range, struct polynomial bound)
{
    struct polynomial left = polynomial_add(bound, range.at, -1);
    return (struct form){FORM_MASK, range.at, polynomial_min(&prover->atoms, range.length, left), false, NULL};
}

static struct form form_of_operation(struct prover *prover, const struct dsl_expr *expr)
{
    struct form a = form_of(prover, expr->items[0]), b = form_of(prover, expr->items[1]);
    bool integers = a.kind == FORM_INTEGER && b.kind == FORM_INTEGER;
    switch (expr->op) {
    case DSL_ADD:
        return form_of_sum(a, b, 1);
    case DSL_SUBTRACT:
        return form_of_sum(a, b, -1);
    case DSL_MULTIPLY:
        return integers ? integer(polynomial_multiply(a.at, b.at)) : (struct form){0};
    case DSL_FLOOR_DIVIDE:
        return integers ? integer(polynomial_divide(&prover->atoms, a.at, b.at, false)) : (struct form){0};
    case DSL_LESS:
        return a.kind == FORM_RANGE && b.kind == FORM_INTEGER ? form_of_mask(prover, a, b.at) : (struct form){0};
    default:
        return (struct form){0};
    }
}

static struct form form_of_call(struct prover *prover, const struct dsl_expr *call)
{
    const struct dsl_expr *function = call->items[0];
    const char *name = function->name;
    bool min = expr_is(function, "", "min") || expr_is(function, "tl", "min");
    bool max = expr_is(function, "", "max") || expr_is(function, "tl", "max");
    if (min || max) {
        struct polynomial result = integer_of(prover, call->items[1]);
        for (int i = 2; i < call->count; i++) {
            struct polynomial next = integer_of(prover, call->items[i]);
            result = min ? polynomial_min(&prover->atoms, result, next) : polynomial_max(&prover->atoms, result, next);
        }
        return integer(result);
    }
    if (!call->operation) {
        bool tensor = function->kind == DSL_ATTRIBUTE && function->items[0]->type == DSL_TYPE_TENSOR;
        if (tensor && strcmp(name, "size") == 0 && call->count == 2)
            return form_of_size(prover, function->items[0], call->items[1]);
        struct form of = tensor ? form_of(prover, function->items[0]) : (struct form){0};
        return of.kind == FORM_TENSOR && strcmp(name, "numel") == 0 ? integer(elements_of_tensor(prover, of.tensor))
                                                                    : (struct form){0};
    }
    if (strcmp(name, "program_id") == 0 || strcmp(name, "num_programs") == 0) {
        const struct dsl_expr *axis = call_argument(call, "axis");
        if (axis->kind != DSL_INT || axis->integer)
            return (struct form){0};
        struct polynomial core = {.count = 1, .terms = {{1, 1, {prover->core}}}};
        return integer(*name == 'p' ? core : prover->cores);
    }
    if (strcmp(name, "cdiv") == 0)
        return integer(polynomial_divide(&prover->atoms, integer_of(prover, call_argument(call, "value")),
                                         integer_of(prover, call_argument(call, "by")), true));
    if (strcmp(name, "pitch") == 0)
        return integer(
            polynomial_multiply(polynomial_divide(&prover->atoms, integer_of(prover, call_argument(call, "cols")),
                                                  polynomial_of(DSL_PITCH), true),
                                polynomial_of(DSL_PITCH)));
    if (strncmp(name, "num_", 4) == 0 || strcmp(name, "ub_size") == 0)
        return integer(polynomial_named(&prover->atoms, arena_printf(prover->arena, "tl.%s()", name), false, false));
    if (strcmp(name, "arange") == 0) {
        struct polynomial start = integer_of(prover, call_argument(call, "start"));
        struct polynomial length = polynomial_add(integer_of(prover, call_argument(call, "end")), start, -1);
        return (struct form){length.unknown ? FORM_UNKNOWN : FORM_RANGE, start, length, true, NULL};
    }
    if (call->operation->result == DSL_TYPE_BUFFER) {
        struct polynomial size = integer_of(prover, call_argument(call, "size"));
        return (struct form){size.unknown ? FORM_UNKNOWN : FORM_BUFFER, {0}, size, false, NULL};
    }
    return (struct form){0};
}

static struct form form_of(struct prover *prover, const struct dsl_expr *expr)
{
    bool shape =
        expr->kind == DSL_INDEX && expr->items[0]->kind == DSL_ATTRIBUTE && strcmp(expr->items[0]->name, "shape") == 0;
    if (expr->kind == DSL_NAME)
        return form_of_name(prover, expr);
    if (expr->kind == DSL_INT)
        return integer(polynomial_of(expr->integer));
    if (expr->kind == DSL_BINARY)
        return form_of_operation(prover, expr);
    if (expr->kind == DSL_UNARY && expr->op == DSL_NEGATE)
        return integer(polynomial_add(polynomial_of(0), integer_of(prover, expr->items[0]), -1));
    if (expr->kind == DSL_CALL)
        return form_of_call(prover, expr);
    return shape ? form_of_size(prover, expr->items[0]->items[0], expr->items[1]) : (struct form){0};
}

/* The bound at which an end stops growing: to = min(next, bound), where the variable does not stand in the bound. */
static bool bound_of(struct prover *prover, struct polynomial to, struct polynomial next, int variable,
                     struct polynomial *bound)
{
    for (int i = 0; i < to.count; i++)
        for (int f = 0; f < to.terms[i].factor_count; f++) {
            int number = to.terms[i].factors[f];
            const struct atom *atom = &prover->atoms.items[number];
            if (atom->kind != ATOM_POSITIVE || !polynomial_has(&prover->atoms, &atom->a, variable))
                continue;
            struct polynomial without = polynomial_replace(&prover->atoms, to, number, polynomial_of(0));
            struct polynomial with = polynomial_replace(&prover->atoms, to, number, atom->a);
            bool grows = polynomial_equal(&without, &next), stops = polynomial_equal(&with, &next);
            *bound = grows ? with : without;
            if ((grows || stops) && !polynomial_has(&prover->atoms, bound, variable) &&
                polynomial_not_negative(&prover->atoms, polynomial_add(without, to, -1)))
                return true;
        }
    return false;
}

/* What all turns of a loop store together; false: that is no interval. */
static bool join_turns(struct prover *prover, const struct loop *loop, struct cover *cover)
{
    struct atoms *atoms = &prover->atoms;
    struct polynomial one = polynomial_of(1), bound;
    struct polynomial variable = {.count = 1, .terms = {{1, 1, {loop->variable}}}};
    struct polynomial after = polynomial_add(variable, loop->step, 1);
    struct polynomial first = polynomial_replace(atoms, cover->from, loop->variable, loop->from);
    struct polynomial last = polynomial_replace(atoms, cover->from, loop->variable, loop->to);
    struct polynomial next = polynomial_replace(atoms, cover->from, loop->variable, after);
    struct polynomial by = polynomial_add(next, cover->from, -1);
    if (!by.count || polynomial_has(atoms, &by, loop->variable) || !polynomial_not_negative(atoms, by))
        return false; /* the same elements in each turn, or no straight line upwards */
    struct polynomial cut = polynomial_min(atoms, after, loop->to); /* of the last turn */
    if (cover->strided) {
        struct polynomial width = polynomial_add(cut, variable, -1);
        if (polynomial_has(atoms, &cover->rows, loop->variable) || !polynomial_equal(&by, &loop->step) ||
            !polynomial_equal(&cover->width, &width))
            return false;
        cover->width = polynomial_add(loop->to, loop->from, -1);
        cover->from = first;
        cover->strided = !polynomial_equal(&cover->width, &cover->pitch);
        if (!cover->strided)
            cover->to = polynomial_add(first, polynomial_multiply(cover->rows, cover->pitch), 1);
        return true;
    }
    struct polynomial clamped = polynomial_replace(atoms, cover->from, loop->variable, cut);
    bool steps_of_one = polynomial_equal(&loop->step, &one);
    if (!polynomial_equal(&cover->to, &clamped) && !(steps_of_one && polynomial_equal(&cover->to, &next))) {
        if (!steps_of_one || !bound_of(prover, cover->to, next, loop->variable, &bound))
            return false;
        bool reached = polynomial_not_negative(atoms, polynomial_add(last, bound, -1));
        last = reached ? bound : polynomial_min(atoms, last, bound);
    }
    cover->from = first;
    cover->to = last;
    return true;
}

/* for unit in range(core, units, cores): together the cores go through all units, one by one. */
static bool is_dealt(struct prover *prover, struct loop *loop)
{
    struct atoms *atoms = &prover->atoms;
    struct polynomial core = {.count = 1, .terms = {{1, 1, {prover->core}}}};
    struct polynomial next =
        polynomial_replace(atoms, loop->from, prover->core, polynomial_add(core, polynomial_of(1), 1));
    struct polynomial unit = polynomial_add(next, loop->from, -1);
    struct polynomial all = polynomial_multiply(unit, prover->cores);
    if (!unit.count || polynomial_has(atoms, &unit, prover->core) || !polynomial_equal(&all, &loop->step))
        return false;
    loop->from = polynomial_replace(atoms, loop->from, prover->core, polynomial_of(0));
    loop->step = unit;
    return true;
}

/* The extent of what a store covers; unknown: it is not proved. */
static struct polynomial extent_of(struct prover *prover, struct cover cover)
{
    const struct polynomial unknown = {.unknown = true};
    struct loop cores = {prover->core, polynomial_of(0), prover->cores, polynomial_of(1)};
    bool dealt = false;
    for (int i = prover->loop_count - 1; i >= 0; i--) {
        struct loop loop = prover->loops[i];
        dealt |= !dealt && is_dealt(prover, &loop);
        if (!join_turns(prover, &loop, &cover))
            return unknown;
    }
    if (cover.strided)
        return unknown;
    if (prover->single) {
        cover.from = polynomial_replace(&prover->atoms, cover.from, prover->core, polynomial_of(0));
        cover.to = polynomial_replace(&prover->atoms, cover.to, prover->core, polynomial_of(0));
    } else if (!dealt && !join_turns(prover, &cores, &cover)) {
        return unknown;
    }
    bool good = !cover.from.unknown && !cover.from.count && !polynomial_moves(&prover->atoms, &cover.to);
    return good ? cover.to : unknown;
}

static struct cover cover_of(struct prover *prover, const struct dsl_expr *call, struct form address)
{
    struct cover cover = {.from = address.at, .to = {.unknown = true}};
    const char *name = call->operation->name;
    struct polynomial count = {.unknown = true};
    if (strcmp(name, "store_rows") == 0) {
        cover.rows = integer_of(prover, call_argument(call, "rows"));
        cover.width = integer_of(prover, call_argument(call, "cols"));
        cover.pitch = integer_of(prover, call_argument(call, "gm_pitch"));
        cover.strided = !polynomial_equal(&cover.width, &cover.pitch);
        count = polynomial_multiply(cover.rows, cover.pitch);
    } else if (strcmp(name, "store") == 0) {
        const struct dsl_expr *given = call_argument(call, "count"), *mask = call_argument(call, "mask");
        struct form source = form_of(prover, call_argument(call, "src"));
        struct form masked = mask ? form_of(prover, mask) : (struct form){0};
        if (mask && !given && address.ranged)
            count = masked.kind == FORM_MASK ? masked.length : count;
        else if (given && !mask)
            count = integer_of(prover, given);
        else if (!mask)
            count = address.ranged ? address.length : source.kind == FORM_BUFFER ? source.length : count;
    }
    if (!cover.strided)
        cover.to = polynomial_add(cover.from, count, 1);
    return cover;
}

static void prove_store(struct prover *prover, const struct dsl_expr *call)
{
    struct form address = form_of(prover, call_argument(call, "address"));
    struct dsl_store store = {.place = call->place};
    if (address.kind == FORM_TENSOR)
        address = form_of_address(address, integer(polynomial_of(0)));
    if (address.kind == FORM_ADDRESS && !prover->lost) {
        struct polynomial extent = extent_of(prover, cover_of(prover, call, address));
        store.proved = !extent.unknown;
        store.extent = store.proved ? polynomial_text(&prover->atoms, &extent) : NULL;
    }
    const struct dsl_expr *base = call_argument(call, "address");
    while (base->kind == DSL_BINARY)
        base = base->items[0];
    store.tensor = base->kind == DSL_NAME ? base->name : NULL;
    ARRAY_ADD(prover->arena, prover->stores.items, prover->stores.count, prover->stores.capacity, store);
}

/* Which shapes the host function takes apart. */
static void note_ranks(struct prover *prover, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *target = statement->target, *value = statement->value;
        if (target && target->kind == DSL_TUPLE && value->kind == DSL_ATTRIBUTE && strcmp(value->name, "shape") == 0 &&
            value->items[0]->kind == DSL_NAME)
            prover->ranks[value->items[0]->symbol->number] = target->count;
        note_ranks(prover, &statement->body);
        note_ranks(prover, &statement->orelse);
    }
}

static void assign(struct prover *prover, const struct dsl_expr *target, struct form form)
{
    (prover->in_kernel ? prover->kernel : prover->host)[target->symbol->number] = form;
}

/* What a block assigns has another value in each turn of it, or behind it none that is known; one in the host function still has
 * the one value that the launch sees. */
static void forget(struct prover *prover, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *target = statement->target;
        int parts = !target ? 0 : target->kind == DSL_NAME ? 1 : target->count;
        for (int k = 0; k < parts; k++) {
            const struct dsl_expr *name = target->kind == DSL_NAME ? target : target->items[k];
            const char *now = arena_printf(prover->arena, "%s@%d", name->name, prover->versions++);
            assign(prover, name,
                   prover->in_kernel ? (struct form){0} : integer(polynomial_named(&prover->atoms, now, false, true)));
        }
        forget(prover, &statement->body);
        forget(prover, &statement->orelse);
    }
}

static void take_assign(struct prover *prover, const struct dsl_statement *statement)
{
    const struct dsl_expr *target = statement->target, *value = statement->value;
    if (target->kind == DSL_NAME) {
        struct form now = value->type == DSL_TYPE_TENSOR && value->kind == DSL_CALL
                              ? (struct form){.kind = FORM_TENSOR, .tensor = target->name} /* workspace */
                              : form_of(prover, value),
                    before = form_of(prover, target);
        bool sum = statement->op == DSL_ADD || statement->op == DSL_SUBTRACT;
        assign(prover, target,
               statement->op == DSL_NO_OPERATOR ? now
               : sum                            ? form_of_sum(before, now, statement->op == DSL_ADD ? 1 : -1)
                                                : (struct form){0});
        return;
    }
    bool each = value->kind == DSL_TUPLE || value->kind == DSL_LIST;
    bool shape = value->kind == DSL_ATTRIBUTE && strcmp(value->name, "shape") == 0;
    struct form of = shape ? form_of(prover, value->items[0]) : (struct form){0};
    for (int i = 0; i < target->count; i++) {
        struct form part = each                     ? form_of(prover, value->items[i])
                           : of.kind == FORM_TENSOR ? integer(size_of(prover, of.tensor, i))
                                                    : (struct form){0};
        assign(prover, target->items[i], part);
    }
}

static void take_block(struct prover *prover, const struct dsl_block *block);

/* Whether a turn of a loop may end before its end, or the loop before its last turn. */
static bool leaves(const struct dsl_block *block)
{
    bool found = false;
    for (int i = 0; i < block->count && !found; i++) {
        enum dsl_statement_kind kind = block->items[i]->kind;
        found = kind == DSL_BREAK || kind == DSL_CONTINUE || kind == DSL_RETURN || leaves(&block->items[i]->body) ||
                leaves(&block->items[i]->orelse);
    }
    return found;
}

static void take_for(struct prover *prover, const struct dsl_statement *statement)
{
    const struct dsl_expr *over = statement->value;
    bool range = over->kind == DSL_CALL && expr_is(over->items[0], "", "range"), lost = prover->lost;
    struct loop loop = {.from = polynomial_of(0), .step = polynomial_of(1), .to = {.unknown = true}};
    if (range) {
        loop.to = integer_of(prover, over->items[over->count == 2 ? 1 : 2]);
        loop.from = over->count > 2 ? integer_of(prover, over->items[1]) : loop.from;
        loop.step = over->count > 3 ? integer_of(prover, over->items[3]) : loop.step;
    }
    const char *name = arena_printf(prover->arena, "%s@%d", statement->target->name, statement->place.line);
    struct polynomial variable = polynomial_named(&prover->atoms, name, true, false);
    loop.variable = polynomial_atom(&variable);
    prover->lost |= loop.to.unknown || loop.from.unknown || loop.step.unknown || loop.variable < 0 ||
                    prover->loop_count == LOOPS_MAX || leaves(&statement->body) ||
                    polynomial_not_negative(&prover->atoms, polynomial_add(polynomial_of(0), loop.step, -1));
    bool entered = !prover->lost;
    if (entered)
        prover->loops[prover->loop_count++] = loop;
    forget(prover, &statement->body);
    assign(prover, statement->target, integer(variable));
    take_block(prover, &statement->body);
    forget(prover, &statement->body);
    assign(prover, statement->target, (struct form){0});
    prover->loop_count -= entered;
    prover->lost = lost;
}

/* if core == 0: what follows is one core's. Branches that all cores take alike change nothing. */
static void take_if(struct prover *prover, const struct dsl_statement *statement)
{
    const struct dsl_expr *condition = statement->value;
    bool lost = prover->lost, equal = condition->kind == DSL_BINARY && condition->op == DSL_EQUAL;
    struct polynomial a = equal ? integer_of(prover, condition->items[0]) : polynomial_of(0);
    bool core = equal && condition->items[1]->kind == DSL_INT && !condition->items[1]->integer &&
                polynomial_atom(&a) == prover->core;
    bool uniform = condition->kind == DSL_BINARY && dsl_operator_level(condition->op) == dsl_operator_level(DSL_EQUAL);
    for (int i = 0; i < 2 && uniform; i++) {
        struct form side = form_of(prover, condition->items[i]);
        uniform = side.kind == FORM_INTEGER && !polynomial_moves(&prover->atoms, &side.at);
    }
    const bool single = prover->single;
    prover->lost |= !core && !uniform;
    prover->single |= core;
    take_block(prover, &statement->body);
    prover->single = single;
    prover->lost |= core;
    forget(prover, &statement->body);
    take_block(prover, &statement->orelse);
    prover->lost = lost;
    forget(prover, &statement->body);
    forget(prover, &statement->orelse);
}

static void take_block(struct prover *prover, const struct dsl_block *block)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        bool lost = prover->lost;
        switch (statement->kind) {
        case DSL_ASSIGN:
            take_assign(prover, statement);
            break;
        case DSL_FOR:
            take_for(prover, statement);
            break;
        case DSL_IF:
            take_if(prover, statement);
            break;
        case DSL_WHILE:
            prover->lost = true;
            forget(prover, &statement->body);
            take_block(prover, &statement->body);
            forget(prover, &statement->body);
            prover->lost = lost;
            break;
        case DSL_WITH:
            take_block(prover, &statement->body);
            break;
        case DSL_EXPRESSION:
            if (prover->in_kernel && statement->value->kind == DSL_CALL && statement->value->operation &&
                strncmp(statement->value->operation->name, "store", 5) == 0 &&
                strcmp(statement->value->operation->name, "store_add") != 0)
                prove_store(prover, statement->value);
            break;
        default:
            break;
        }
    }
}

/* The forms of the host function's parameters and variables, and of what the launch gives the kernel. */
static void take_host(struct prover *prover)
{
    const struct dsl_program *program = prover->program;
    const struct dsl_function *host = program->host->function, *kernel = program->kernel->function;
    for (int i = 0; i < host->count; i++) {
        const struct dsl_symbol *symbol = host_symbol(prover, host->parameters[i].name);
        if (symbol->type == DSL_TYPE_TENSOR)
            prover->host[symbol->number] = (struct form){.kind = FORM_TENSOR, .tensor = symbol->name};
        else if (symbol->type == DSL_TYPE_INT)
            prover->host[symbol->number] =
                integer(polynomial_named(&prover->atoms, symbol->name, false, !symbol->constexpr));
    }
    for (int i = 0; i < program->tree->body.count; i++) {
        const struct dsl_statement *statement = program->tree->body.items[i];
        if (statement->kind == DSL_ASSIGN)
            prover->constants[dsl_scope_find(&program->file, statement->target->name)->number] =
                form_of(prover, statement->value);
    }
    take_block(prover, &program->host->body);
    prover->cores = integer_of(prover, program->launch->items[0]->items[1]);
    for (int i = 0; i < kernel->count; i++) {
        const struct dsl_symbol *symbol = dsl_scope_find(&program->kernel_names, kernel->parameters[i].name);
        const struct dsl_expr *given = kernel->parameters[i].value;
        for (int a = 1; a < program->launch->count; a++) {
            const struct dsl_expr *argument = program->launch->items[a];
            bool named = argument->kind == DSL_NAMED;
            if (named ? strcmp(argument->name, symbol->name) == 0 : a == i + 1)
                given = named ? argument->items[0] : argument;
        }
        if (given)
            prover->kernel[symbol->number] = form_of(prover, given);
    }
}

struct dsl_stores dsl_prove_stores(struct arena *arena, const struct dsl_program *program)
{
    struct prover *prover = arena_alloc(arena, sizeof *prover);
    size_t host = (size_t)program->host_names.count + 1, kernel = (size_t)program->kernel_names.count + 1;
    *prover = (struct prover){.versions = 1,
                              .arena = arena,
                              .program = program,
                              .atoms = {.arena = arena},
                              .host = arena_alloc(arena, host * sizeof *prover->host),
                              .kernel = arena_alloc(arena, kernel * sizeof *prover->kernel),
                              .constants = arena_alloc(arena, ((size_t)program->file.count + 1) * sizeof *prover->host),
                              .ranks = arena_alloc(arena, host * sizeof(int))};
    struct polynomial core = polynomial_named(&prover->atoms, "tl.program_id(0)", true, false);
    prover->core = polynomial_atom(&core);
    note_ranks(prover, &program->host->body);
    take_host(prover);
    prover->in_kernel = true;
    const struct polynomial one = polynomial_of(1);
    prover->single = polynomial_equal(&prover->cores, &one);
    prover->lost = prover->cores.unknown || leaves(&program->kernel->body);
    take_block(prover, &program->kernel->body);
    return prover->stores;
}

json_t *dsl_stores_json(const struct dsl_stores *stores)
{
    json_t *all = json_array();
    for (int i = 0; i < stores->count; i++) {
        const struct dsl_store *store = &stores->items[i];
        json_array_append_new(all, json_pack("{s:i, s:i, s:s?, s:b, s:s?}", "line", store->place.line, "column",
                                             store->place.column, "tensor", store->tensor, "proved", store->proved,
                                             "extent", store->extent));
    }
    return all;
}
