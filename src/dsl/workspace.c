/* What the host function asks of workspace - numel(), dim(), ndim, size(i), shape[i] - is what it was made with: the tiling
 * function has no tensor for it. */
#include "dsl/lower_internal.h"

#include <string.h>

enum { AXES = 8 };

/* The sizes of torch.empty(..): so many axes, or the one expression that has them all, as x.shape does. */
struct sizes {
    struct dsl_expr *axes[AXES], *shape;
    int count; /* -1: they are not written down */
};

static bool is_made(const struct dsl_expr *value)
{
    return value && value->kind == DSL_CALL &&
           (expr_is(value->items[0], "torch", "empty") || expr_is(value->items[0], "torch", "zeros"));
}

/* The call that makes the workspace which the expression names; NULL: it names something else. */
static const struct dsl_expr *made_as(const struct lowering *lowering, const struct dsl_expr *expr)
{
    int assignments = 0;
    const struct dsl_expr *value = expr->kind == DSL_NAME && expr->name
                                       ? lower_value_of(&lowering->program->host->body, expr->name, &assignments)
                                       : NULL;
    return assignments == 1 && is_made(value) ? value : NULL;
}

static struct sizes sizes_of(const struct dsl_expr *call)
{
    struct sizes sizes = {0};
    struct dsl_expr *first = call->items[1];
    const bool tuple = first->kind == DSL_TUPLE || first->kind == DSL_LIST;
    if (!tuple && first->type == DSL_TYPE_INTS) {
        sizes.shape = first;
        sizes.count = first->kind == DSL_ATTRIBUTE && strcmp(first->name, "shape") == 0 ? 0 : -1;
        return sizes;
    }
    struct dsl_expr *const *items = tuple ? first->items : call->items;
    for (int i = tuple ? 0 : 1, count = tuple ? first->count : call->count;
         i < count && sizes.count < AXES && items[i]->kind != DSL_NAMED; i++)
        sizes.axes[sizes.count++] = items[i];
    return sizes;
}

/* The size of an axis; NULL: which one it is, is not written down, or there is none. */
static struct dsl_expr *size_of_axis(struct edit *edit, const struct sizes *sizes, const struct dsl_expr *axis)
{
    const bool negative = axis->kind == DSL_UNARY && axis->op == DSL_NEGATE;
    const struct dsl_expr *number = negative ? axis->items[0] : axis;
    const int64_t at = number->kind != DSL_INT ? -1 : negative ? sizes->count - number->integer : number->integer;
    return at >= 0 && at < sizes->count ? edit_copy(edit, sizes->axes[at]) : NULL;
}

static struct dsl_expr *all_elements(struct edit *edit, const struct sizes *sizes)
{
    struct dsl_expr *all = edit_integer(edit, 1);
    for (int i = 0; i < sizes->count; i++)
        all = edit_product(edit, all, edit_copy(edit, sizes->axes[i]));
    return all;
}

/* What is asked of workspace, if anything is: `of` is its name, `axis` an argument or an index. */
struct question {
    struct dsl_expr **of;
    const struct dsl_expr *axis;
    const char *what;
};

static struct question question_in(struct dsl_expr *expr)
{
    struct dsl_expr *attribute = expr->kind == DSL_CALL || expr->kind == DSL_INDEX ? expr->items[0] : expr;
    struct question question = {0};
    if (attribute->kind != DSL_ATTRIBUTE || strcmp(attribute->name, "dtype") == 0 ||
        strcmp(attribute->name, "device") == 0)
        return question;
    question.of = &attribute->items[0];
    question.what = attribute->name;
    question.axis = attribute != expr && expr->count > 1 ? expr->items[1] : NULL;
    return question;
}

/* The answer in terms of the host function; NULL: it has none. */
static struct dsl_expr *answer(struct edit *edit, const struct question *question, struct dsl_expr *expr,
                               const struct sizes *sizes)
{
    const bool axes = strcmp(question->what, "dim") == 0 || strcmp(question->what, "ndim") == 0;
    if (sizes->shape && sizes->count == 0) { /* those of another tensor, which is asked instead */
        *question->of = edit_copy(edit, sizes->shape->items[0]);
        return expr;
    }
    if (sizes->count < 0)
        return NULL;
    if (question->axis)
        return size_of_axis(edit, sizes, question->axis);
    return axes                                   ? edit_integer(edit, sizes->count)
           : strcmp(question->what, "numel") == 0 ? all_elements(edit, sizes)
                                                  : NULL;
}

/* x.numel() for the x.shape that workspace is made with; NULL: its sizes are another list. */
static struct dsl_expr *elements_of_shape(struct edit *edit, const struct sizes *sizes)
{
    if (sizes->count < 0)
        return NULL;
    struct dsl_expr *call = edit_copy(edit, sizes->shape);
    call->kind = DSL_CALL;
    call->name = NULL;
    call->items[0] = edit_attribute(edit, call->items[0], "numel");
    return call;
}

static bool resolve_in(struct lowering *lowering, struct dsl_expr **place, bool *changed)
{
    struct dsl_expr *expr = *place;
    const struct sizes own = is_made(expr) ? sizes_of(expr) : (struct sizes){0};
    if (own.shape) {
        *changed = true;
        expr->items[1] = elements_of_shape(&lowering->edit, &own);
        return expr->items[1] || LOWER_FAIL(lowering, expr->place, DSL_RULE_not_compiled, "write its sizes, or x.shape",
                                            "how large the workspace is, is not written down");
    }
    const struct question question = expr ? question_in(expr) : (struct question){0};
    const struct dsl_expr *made = question.of ? made_as(lowering, *question.of) : NULL;
    if (made) {
        const struct sizes sizes = sizes_of(made);
        struct dsl_expr *found = answer(&lowering->edit, &question, expr, &sizes);
        if (!found)
            return LOWER_FAIL(lowering, expr->place, DSL_RULE_not_compiled, "write the number itself",
                              "this size of the workspace '%s' is not written down", (*question.of)->name);
        *place = found;
        *changed = true;
        return true;
    }
    bool good = true;
    for (int i = 0; expr && good && i < expr->count; i++)
        good = resolve_in(lowering, &expr->items[i], changed);
    return good;
}

/* Uses before what makes the workspace: that is looked up by its name as long as it is what was written. */
static bool resolve_block(struct lowering *lowering, struct dsl_block *block, bool *changed)
{
    bool good = true;
    for (int i = block->count - 1; good && i >= 0; i--) {
        struct dsl_statement *statement = block->items[i];
        good = resolve_block(lowering, &statement->orelse, changed) &&
               resolve_block(lowering, &statement->body, changed) && resolve_in(lowering, &statement->value, changed);
    }
    return good;
}

bool lower_workspace(struct lowering *lowering, bool *changed)
{
    *changed = false;
    return resolve_block(lowering, &lowering->program->host->body, changed);
}
