/* Why the project is as it is, as far as the program says itself: how many cores are launched, and which loops and branches
 * depend on the core. Loops over shares of a core are known by what they are, from * core on or every core-th; of the others the
 * bounds are told as they are. */
#include "dsl/lower_internal.h"

#include <inttypes.h>
#include <string.h>

#define EXPLAIN(lowering, kind, place, facts, ...)                                                                     \
    dsl_explain_add((lowering)->explanation, DSL_ABOUT_PARTITION, kind, place, facts, __VA_ARGS__)

/* What a name stands for: `value`, unless it has been given something else as well. */
struct meaning {
    const struct dsl_expr *value;
    bool other;
};

/* The expression that the statement assigns the name; NULL: it does so in another way. */
static const struct dsl_expr *value_of(const struct dsl_statement *statement, const char *name)
{
    const struct dsl_expr *target = statement->target, *value = statement->value;
    if (statement->kind != DSL_ASSIGN || statement->op != DSL_NO_OPERATOR)
        return NULL;
    if (target->kind == DSL_NAME)
        return value;
    for (int i = 0; value->kind == DSL_TUPLE && i < target->count && i < value->count; i++)
        if (tree_mentions(target->items[i], name))
            return value->items[i];
    return NULL;
}

static void find_meaning(const struct dsl_block *block, const char *name, struct meaning *meaning)
{
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        if (statement->target && tree_mentions(statement->target, name)) {
            const struct dsl_expr *value = value_of(statement, name);
            meaning->other |= !value || (meaning->value && !tree_equal(meaning->value, value));
            meaning->value = value;
        }
        find_meaning(&statement->body, name, meaning);
        find_meaning(&statement->orelse, name, meaning);
    }
}

const struct dsl_expr *explain_meaning(const struct lowering *lowering, const char *name)
{
    const struct dsl_function *kernel = lowering->program->kernel->function;
    struct meaning meaning = {0};
    for (int i = 0; i < kernel->count; i++)
        if (strcmp(kernel->parameters[i].name, name) == 0)
            return NULL;
    find_meaning(lower_kernel(lowering), name, &meaning);
    return meaning.other || (meaning.value && tree_mentions(meaning.value, name)) ? NULL : meaning.value;
}

/* What the host function assigns a name, or the expression itself. */
static const struct dsl_expr *host_meaning(const struct lowering *lowering, const struct dsl_expr *expr)
{
    struct meaning meaning = {0};
    if (expr->kind == DSL_NAME)
        find_meaning(&lowering->program->host->body, expr->name, &meaning);
    return meaning.value && !meaning.other ? meaning.value : expr;
}

/* What the launch gives for a parameter of the kernel; NULL: the name is none. */
static const struct dsl_expr *given_for(const struct lowering *lowering, const char *name)
{
    const struct dsl_function *kernel = lowering->program->kernel->function;
    for (int i = 0; i < kernel->count; i++)
        if (strcmp(kernel->parameters[i].name, name) == 0)
            return launch_argument(lowering->program, i);
    return NULL;
}

static const char *text_of(const struct lowering *lowering, const struct dsl_expr *expr)
{
    return dsl_expr_text(lowering->arena, expr);
}

enum { DEEP = 8 };

/* The expression with every name of the kernel that `wanted` is put in for what it means. */
static struct dsl_expr *resolved(struct lowering *lowering, const struct dsl_expr *expr,
                                 bool (*wanted)(const struct lowering *lowering, const struct dsl_expr *meaning),
                                 int deep)
{
    const struct dsl_expr *meaning =
        expr->kind == DSL_NAME && expr->name && deep < DEEP ? explain_meaning(lowering, expr->name) : NULL;
    if (meaning && wanted(lowering, meaning))
        return resolved(lowering, meaning, wanted, deep + 1);
    struct dsl_expr *copy = edit_copy(&lowering->edit, expr);
    for (int i = 0; i < copy->count; i++)
        if (copy->items[i] && (copy->kind != DSL_CALL || i))
            copy->items[i] = resolved(lowering, copy->items[i], wanted, deep);
    return copy;
}

static bool is_call(const struct dsl_expr *expr, const char *name)
{
    return expr->kind == DSL_CALL && expr_is(expr->items[0], "tl", name);
}

/* Whether the expression asks which core it is, or how many there are, itself or by a name. */
static bool asks_core(const struct lowering *lowering, const struct dsl_expr *expr, int deep)
{
    bool found = is_call(expr, "program_id") || is_call(expr, "num_programs");
    const struct dsl_expr *meaning =
        expr->kind == DSL_NAME && expr->name && deep < DEEP ? explain_meaning(lowering, expr->name) : NULL;
    found = found || (meaning && asks_core(lowering, meaning, deep + 1));
    for (int i = 0; !found && i < expr->count; i++)
        found = expr->items[i] && asks_core(lowering, expr->items[i], deep);
    return found;
}

static bool meaning_asks_core(const struct lowering *lowering, const struct dsl_expr *meaning)
{
    return asks_core(lowering, meaning, 0);
}

static bool is_any(const struct lowering *lowering, const struct dsl_expr *meaning)
{
    (void)lowering;
    (void)meaning;
    return true;
}

static bool mentions_id(const struct dsl_expr *expr)
{
    bool found = is_call(expr, "program_id");
    for (int i = 0; !found && i < expr->count; i++)
        found = expr->items[i] && mentions_id(expr->items[i]);
    return found;
}

/* `call * factor` or `factor * call`, or the call alone, whose factor is 1: the factor; NULL: it is something else. */
static struct dsl_expr *factor_of(struct lowering *lowering, struct dsl_expr *expr, const char *call)
{
    if (is_call(expr, call))
        return edit_integer(&lowering->edit, 1);
    for (int i = 0; expr->kind == DSL_BINARY && expr->op == DSL_MULTIPLY && i < 2; i++)
        if (is_call(expr->items[i], call) && !mentions_id(expr->items[!i]))
            return expr->items[!i];
    return NULL;
}

/* The range of a loop inside of the block that counts the name; NULL: there is none. */
static struct dsl_expr *range_of(const struct dsl_block *block, const char *name)
{
    struct dsl_expr *range = NULL;
    for (int i = 0; !range && i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        range = statement->kind == DSL_FOR && tree_mentions(statement->target, name) ? statement->value
                                                                                     : range_of(&statement->body, name);
        range = range ? range : range_of(&statement->orelse, name);
    }
    return range;
}

/* Whether the expression, whose names are put in for what they mean, is the same in every turn of the loop: what its body
 * assigns in ways of its own may not be, nor what an inner loop counts from or to something that is not. */
static bool stays(struct lowering *lowering, const struct dsl_statement *loop, const struct dsl_expr *expr, int deep)
{
    bool same = deep < DEEP;
    if (expr->kind == DSL_NAME && expr->name && statement_assigns(loop, expr->name)) {
        struct dsl_expr *range = range_of(&loop->body, expr->name);
        return same && range && stays(lowering, loop, resolved(lowering, range, is_any, 0), deep + 1);
    }
    for (int i = 0; same && i < expr->count; i++)
        same = !expr->items[i] || stays(lowering, loop, expr->items[i], deep);
    return same;
}

/* How much an expression grows with what the loop counts; NULL: not evenly, or it is not known. */
static struct dsl_expr *growth(struct lowering *lowering, const struct dsl_statement *loop, const struct dsl_expr *expr)
{
    struct edit *edit = &lowering->edit;
    if (stays(lowering, loop, expr, 0))
        return edit_integer(edit, 0);
    if (expr->kind == DSL_NAME)
        return strcmp(expr->name, loop->target->name) == 0 ? edit_integer(edit, 1) : NULL;
    if (expr->kind != DSL_BINARY)
        return NULL;
    if (expr->op == DSL_MULTIPLY) {
        const bool first = stays(lowering, loop, expr->items[0], 0);
        struct dsl_expr *by = expr->items[!first], *of = growth(lowering, loop, expr->items[first]);
        return of && stays(lowering, loop, by, 0) ? edit_product(edit, of, edit_copy(edit, by)) : NULL;
    }
    struct dsl_expr *a = growth(lowering, loop, expr->items[0]), *b = growth(lowering, loop, expr->items[1]);
    if (!a || !b || (expr->op != DSL_ADD && expr->op != DSL_SUBTRACT))
        return NULL;
    return expr->op == DSL_ADD ? edit_sum(edit, a, b) : edit_difference(edit, a, b);
}

/* What one step of a loop moves in the tensors that are loaded and stored in it. */
struct steps {
    struct lowering *lowering;
    const struct dsl_statement *loop;
    json_t *moves;      /* [{"tensor", "operation", "line", "elements"}] */
    const char *told;   /* "one element of `x`, `cols` elements of `y`" */
    const char *uneven; /* "`z`": tensors in which it is no fixed number */
    bool plain;         /* all stores begin at that element */
    int stores;
};

/* The tensor of an address. */
static const struct dsl_expr *tensor_of(const struct dsl_expr *address)
{
    if (address->type == DSL_TYPE_TENSOR)
        return address;
    for (int i = 0; address->kind == DSL_BINARY && i < address->count; i++)
        if (address->items[i]->type >= DSL_TYPE_TENSOR && tensor_of(address->items[i]))
            return tensor_of(address->items[i]);
    return NULL;
}

/* Whether the address is `tensor + name`, or a range from there on. */
static bool begins_at(const struct dsl_expr *address, const char *name)
{
    const struct dsl_expr *offset = address->kind == DSL_BINARY && address->op == DSL_ADD ? address->items[1] : NULL;
    if (offset && offset->kind == DSL_BINARY && offset->op == DSL_ADD && is_call(offset->items[1], "arange") &&
        tree_is_integer(offset->items[1]->items[1], 0))
        offset = offset->items[0];
    return offset && address->items[0]->type == DSL_TYPE_TENSOR && offset->kind == DSL_NAME &&
           strcmp(offset->name, name) == 0;
}

static void see_transfer(void *closure, struct dsl_expr *call)
{
    struct steps *steps = closure;
    struct lowering *lowering = steps->lowering;
    const struct dsl_expr *written = call->kind == DSL_CALL && call->operation ? call_argument(call, "address") : NULL;
    if (!written)
        return;
    const struct dsl_expr *address = resolved(lowering, written, is_any, 0), *tensor = tensor_of(address);
    struct dsl_expr *by = growth(lowering, steps->loop, address);
    const char *of = tensor ? text_of(lowering, tensor) : text_of(lowering, written);
    const char *elements = by ? text_of(lowering, by) : NULL;
    const bool store = call->operation->place == DSL_PLACE_COPYOUT, one = by && tree_is_integer(by, 1);
    steps->stores += store;
    steps->plain &= !store || begins_at(address, steps->loop->target->name);
    json_array_append_new(steps->moves,
                          json_pack("{s:s, s:s, s:i, s:s?}", "tensor", of, "operation", call->operation->name, "line",
                                    call->place.line, "elements", elements));
    const char *part = !by                      ? arena_printf(lowering->arena, "`%s`", of)
                       : one                    ? arena_printf(lowering->arena, "one element of `%s`", of)
                       : tree_is_integer(by, 0) ? arena_printf(lowering->arena, "none of `%s`", of)
                                                : arena_printf(lowering->arena, "`%s` elements of `%s`", elements, of);
    const char **told = by ? &steps->told : &steps->uneven;
    if (!strstr(*told, part))
        *told = arena_printf(lowering->arena, "%s%s%s", *told, **told ? ", " : "", part);
}

static void see_transfers(void *closure, struct dsl_expr *expr)
{
    tree_visit(expr, see_transfer, closure);
}

/* The integer that a number of elements is a multiple of, as it is written: k of `.. * k`. */
static int64_t multiple_of(const struct lowering *lowering, const struct dsl_expr *expr)
{
    int64_t factor = 1;
    const struct dsl_expr *given = expr->kind == DSL_NAME ? given_for(lowering, expr->name) : NULL;
    const struct dsl_expr *meaning = given                    ? host_meaning(lowering, given)
                                     : expr->kind == DSL_NAME ? explain_meaning(lowering, expr->name)
                                                              : expr;
    for (int i = 0; meaning && meaning->kind == DSL_BINARY && meaning->op == DSL_MULTIPLY && i < 2; i++)
        if (meaning->items[i]->kind == DSL_INT && meaning->items[i]->integer > 0)
            factor = meaning->items[i]->integer;
    return factor;
}

/* The expression that decides a number of the kernel, in terms of the host function where that gives it. */
static const struct dsl_expr *origin_of(const struct lowering *lowering, const struct dsl_expr *expr)
{
    const struct dsl_expr *given = expr->kind == DSL_NAME ? given_for(lowering, expr->name) : NULL;
    const struct dsl_expr *meaning = expr->kind == DSL_NAME ? explain_meaning(lowering, expr->name) : NULL;
    return given ? host_meaning(lowering, given) : meaning ? meaning : expr;
}

/* The share of a core, where it says more than its name. */
static void tell_share(struct lowering *lowering, const struct dsl_expr *share, const struct steps *steps)
{
    const struct dsl_expr *origin = origin_of(lowering, share);
    const int64_t multiple = multiple_of(lowering, share);
    int64_t least = INT64_MAX;
    if (share->kind != DSL_NAME || origin == share)
        return;
    for (int o = 0; o < lowering->opdef->output_count; o++)
        for (int c = 0; c < lowering->opdef->combinations; c++) {
            enum akgen_dtype type = lowering->opdef->outputs[o].types[c];
            int64_t size = type == AKGEN_COMPLEX64 ? 4 : (int64_t)akgen_dtype_size(type); /* its parts are elements */
            least = size < least ? size : least;
        }
    const bool apart = steps->stores && steps->plain && multiple * least % 32 == 0;
    json_t *facts = json_pack("{s:s, s:s, s:I, s:b, s:o}", "share", share->name, "is", text_of(lowering, origin),
                              "multiple_of", (json_int_t)multiple, "blocks_apart", (int)apart, "element_bytes",
                              apart ? json_integer(least) : json_null());
    const char *end = multiple == 1 ? ""
                      : !apart      ? arena_printf(lowering->arena, ", a multiple of %" PRId64, multiple)
                                    : arena_printf(lowering->arena,
                                                   ", a multiple of %" PRId64 ": a share begins at a multiple of %" PRId64
                                                   " bytes of each output, and no two cores write into one block of 32",
                                                   multiple, multiple * least);
    EXPLAIN(lowering, "share", origin->place, facts, "`%s` is `%s`%s.", share->name, text_of(lowering, origin), end);
}

/* min(a, b) of which one is `part`: the other; NULL: it is something else. */
static struct dsl_expr *other_bound(struct dsl_expr *expr, const struct dsl_expr *part)
{
    bool smaller = expr->kind == DSL_CALL && expr->count == 3 &&
                   (expr_is(expr->items[0], "", "min") || expr_is(expr->items[0], "tl", "min"));
    for (int i = 1; smaller && i < 3; i++)
        if (tree_equal(expr->items[i], part))
            return expr->items[3 - i];
    return NULL;
}

/* A loop whose bounds or step depend on the core. */
static void tell_loop(struct lowering *lowering, struct dsl_statement *loop, struct dsl_expr *const bounds[3])
{
    struct edit *edit = &lowering->edit;
    struct dsl_expr *from = resolved(lowering, bounds[0], meaning_asks_core, 0);
    struct dsl_expr *to = resolved(lowering, bounds[1], meaning_asks_core, 0);
    struct dsl_expr *step = resolved(lowering, bounds[2], meaning_asks_core, 0);
    struct dsl_expr *share = factor_of(lowering, from, "program_id"),
                    *stride = factor_of(lowering, step, "num_programs");
    const char *name = loop->target->name;
    struct steps steps = {lowering, loop, json_array(), "", "", true, 0};
    statement_visit(loop, see_transfers, &steps);
    struct dsl_expr *of = share && !mentions_id(step)
                              ? other_bound(to, edit_sum(edit, edit_copy(edit, from), edit_copy(edit, share)))
                              : NULL;
    const bool cyclic = share && stride && tree_equal(share, stride) && !mentions_id(to);
    const char *rule = of ? "consecutive" : cyclic ? "cyclic" : "other", *begin = text_of(lowering, from);
    const char *end = text_of(lowering, to), *by = text_of(lowering, bounds[2]);
    json_t *facts = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:s?, s:o}", "loop", name, "rule", rule, "from", begin,
                              "to", end, "step", by, "share", share ? text_of(lowering, share) : NULL, "of",
                              of       ? text_of(lowering, of)
                              : cyclic ? end
                                       : NULL,
                              "moves", steps.moves);
    if (of)
        EXPLAIN(
            lowering, "loop", loop->place, facts,
            "Core c takes `%s` from c * `%s` up to (c + 1) * `%s` and not beyond `%s`, in steps of `%s`: consecutive "
            "shares, the last of which may be smaller.",
            name, text_of(lowering, share), text_of(lowering, share), text_of(lowering, of), by);
    else if (cyclic && tree_is_integer(share, 1))
        EXPLAIN(
            lowering, "loop", loop->place, facts,
            "Core c takes `%s` = c, c + cores, c + 2 * cores and so on below `%s`: every core has as many or one more "
            "than the others.",
            name, end);
    else if (cyclic)
        EXPLAIN(lowering, "loop", loop->place, facts,
                "Core c takes `%s` = c * `%s`, (c + cores) * `%s` and so on below `%s`: strips of `%s` in turn.", name,
                text_of(lowering, share), text_of(lowering, share), end, text_of(lowering, share));
    else
        EXPLAIN(lowering, "loop", loop->place, facts,
                "Which `%s` a core takes depends on its number: from `%s` up to `%s`, in steps of `%s`.", name, begin,
                end, by);
    json_t *axis = json_pack("{s:s, s:O}", "loop", name, "moves", steps.moves);
    if (*steps.told)
        EXPLAIN(lowering, "axis", loop->place, axis, "A step of 1 in `%s` is %s%s%s.", name, steps.told,
                *steps.uneven ? "; it is no fixed number of elements of " : "", steps.uneven);
    else if (*steps.uneven)
        EXPLAIN(lowering, "axis", loop->place, axis,
                "Where a turn begins in %s is computed from `%s`: a step of 1 is no fixed number of elements.",
                steps.uneven, name);
    else
        json_decref(axis);
    if (of)
        tell_share(lowering, share, &steps);
}

static int last_line(const struct dsl_block *block)
{
    int line = 0;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *statement = block->items[i];
        int lines[] = {statement->place.line, last_line(&statement->body), last_line(&statement->orelse)};
        for (int l = 0; l < 3; l++)
            line = lines[l] > line ? lines[l] : line;
    }
    return line;
}

/* Whether a loop around may decide a condition, not the core alone. */
static bool counts(const struct lowering *lowering, const struct dsl_expr *condition)
{
    bool found = condition->kind == DSL_NAME && condition->name &&
                 block_assigns(lower_kernel(lowering), condition->name) && !explain_meaning(lowering, condition->name);
    for (int i = 0; !found && i < condition->count; i++)
        found = condition->items[i] && counts(lowering, condition->items[i]);
    return found;
}

static void tell_branch(struct lowering *lowering, const struct dsl_statement *branch, const struct dsl_expr *condition)
{
    const int first = branch->body.items[0]->place.line, last = last_line(&branch->body);
    int64_t core = -1;
    for (int i = 0; condition->kind == DSL_BINARY && condition->op == DSL_EQUAL && i < 2; i++)
        if (is_call(condition->items[i], "program_id") && condition->items[!i]->kind == DSL_INT)
            core = condition->items[!i]->integer;
    const char *text = text_of(lowering, condition);
    json_t *facts = json_pack("{s:s, s:i, s:i, s:o}", "condition", text, "first", first, "last", last, "core",
                              core < 0 ? json_null() : json_integer(core));
    if (core >= 0)
        EXPLAIN(lowering, "branch", branch->place, facts, "Only core %lld runs lines %d to %d.", (long long)core, first,
                last);
    else
        EXPLAIN(lowering, "branch", branch->place, facts, "Only cores for which `%s` holds run lines %d to %d.", text,
                first, last);
}

/* Loops and branches that depend on the core; returns how many there are. */
static int tell_block(struct lowering *lowering, const struct dsl_block *block)
{
    int told = 0;
    for (int i = 0; i < block->count; i++) {
        struct dsl_statement *statement = block->items[i];
        const struct dsl_expr *over = statement->value;
        if (statement->kind == DSL_FOR && over->kind == DSL_CALL && expr_is(over->items[0], "", "range")) {
            struct dsl_expr *one = edit_integer(&lowering->edit, 1), *zero = edit_integer(&lowering->edit, 0);
            struct dsl_expr *const bounds[] = {over->count == 2 ? zero : over->items[1],
                                               over->items[over->count == 2 ? 1 : 2],
                                               over->count == 4 ? over->items[3] : one};
            if (asks_core(lowering, bounds[0], 0) || asks_core(lowering, bounds[1], 0)) {
                tell_loop(lowering, statement, bounds);
                told++;
            }
        } else if (statement->kind == DSL_IF) {
            const struct dsl_expr *condition = resolved(lowering, over, meaning_asks_core, 0);
            if (mentions_id(condition) && !counts(lowering, condition)) {
                tell_branch(lowering, statement, condition);
                told++;
            }
        }
        told += tell_block(lowering, &statement->body) + tell_block(lowering, &statement->orelse);
    }
    return told;
}

/* "the vector cores of the chip", "one for each `512` of `total`": what a number of cores is at most. */
static const char *bound_text(const struct lowering *lowering, const struct dsl_expr *bound)
{
    if (is_call(bound, "num_vec_cores"))
        return "the vector cores of the chip";
    if (is_call(bound, "num_cube_cores"))
        return "the cube cores of the chip";
    if (is_call(bound, "cdiv") && bound->count == 3)
        return arena_printf(lowering->arena, "one for each `%s` of `%s`, or part of them",
                            text_of(lowering, bound->items[2]), text_of(lowering, bound->items[1]));
    return arena_printf(lowering->arena, "`%s`", text_of(lowering, bound));
}

static void tell_cores(struct lowering *lowering)
{
    const struct dsl_expr *given = lowering->program->launch->items[0]->items[1],
                          *cores = host_meaning(lowering, given);
    const bool smallest = cores->kind == DSL_CALL && expr_is(cores->items[0], "", "min");
    const char *text = "";
    json_t *most = json_array();
    for (int i = 1; smallest && i < cores->count; i++) {
        json_array_append_new(most, json_string(text_of(lowering, cores->items[i])));
        text = arena_printf(lowering->arena, "%s%s%s", text, i > 1 ? ", and no more than " : "",
                            bound_text(lowering, cores->items[i]));
    }
    json_t *facts = json_pack("{s:s, s:s, s:o}", "cores", text_of(lowering, given), "is", text_of(lowering, cores),
                              "at_most", most);
    if (smallest)
        EXPLAIN(lowering, "cores", cores->place, facts, "The kernel runs on as many cores as %s.", text);
    else
        EXPLAIN(lowering, "cores", cores->place, facts, "The kernel runs on %s.",
                is_call(cores, "num_vec_cores") || is_call(cores, "num_cube_cores")
                    ? arena_printf(lowering->arena, "all %s", bound_text(lowering, cores) + strlen("the "))
                    : arena_printf(lowering->arena, "%s cores", bound_text(lowering, cores)));
}

/* Loops that take more than one at a time. */
static void tell_tiles(struct lowering *lowering, const struct dsl_block *block)
{
    struct edit *edit = &lowering->edit;
    for (int i = 0; i < block->count; i++) {
        const struct dsl_statement *loop = block->items[i];
        const struct dsl_expr *over = loop->value;
        tell_tiles(lowering, &loop->body);
        tell_tiles(lowering, &loop->orelse);
        if (loop->kind != DSL_FOR || over->kind != DSL_CALL || over->count != 4 ||
            !expr_is(over->items[0], "", "range") || loop->target->kind != DSL_NAME)
            continue;
        const char *name = loop->target->name, *step = text_of(lowering, over->items[3]), *left = NULL;
        struct dsl_expr *rest = edit_difference(edit, edit_copy(edit, over->items[2]), edit_name(edit, name));
        for (int s = 0; s < loop->body.count && !left; s++) {
            const struct dsl_statement *statement = loop->body.items[s];
            struct dsl_expr *other = statement->kind == DSL_ASSIGN && statement->target->kind == DSL_NAME
                                         ? other_bound(statement->value, rest)
                                         : NULL;
            left = other && tree_equal(other, over->items[3]) ? statement->target->name : NULL;
        }
        json_t *facts = json_pack("{s:s, s:s, s:s, s:s, s:s?}", "loop", name, "from", text_of(lowering, over->items[1]),
                                  "to", text_of(lowering, over->items[2]), "step", step, "rest", left);
        const char *end = left ? arena_printf(lowering->arena,
                                              ": a turn takes `%s` of them, `%s` but in the last, which takes what is "
                                              "left",
                                              left, step)
                               : "";
        dsl_explain_add(lowering->explanation, DSL_ABOUT_TILING, "loop", loop->place, facts,
                        "`%s` goes from `%s` to `%s` in steps of `%s`%s.", name, text_of(lowering, over->items[1]),
                        text_of(lowering, over->items[2]), step, end);
    }
}

void explain_program(struct lowering *lowering)
{
    tell_cores(lowering);
    if (!tell_block(lowering, lower_kernel(lowering)))
        EXPLAIN(lowering, "same", lowering->program->kernel->place, json_object(),
                "No loop and no branch of the kernel depends on the core.");
    tell_tiles(lowering, lower_kernel(lowering));
}
