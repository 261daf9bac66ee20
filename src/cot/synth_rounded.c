/* Operators whose modules compute in the tensors' type: formulas round each step to it, and the description says so in one sentence. */
#include "base/names.h"
#include "cot/synth_internal.h"

#include <string.h>

/* What is as exact as its operands: it has been rounded, or needs not be. */
static const char *const exact = "neg|abs|relu|min|max|sign|floor|ceil|round|trunc|<|>|<=|>=|==|!=|and|or|not|where";

/* It is made of tensors: numbers and attributes are Python's. */
static bool has_tensor(const struct synth *s, const struct expr *expr)
{
    bool has = expr->node == NODE_WORD && strcmp(expr->name, "pi") != 0;
    for (int i = 0; i < s->attr_count && has; i++)
        has = strcmp(s->attrs[i].name, expr->name) != 0;
    for (int i = 0; i < expr->kid_count && !has; i++)
        has = expr->kids[i] && has_tensor(s, expr->kids[i]);
    return has;
}

/* Calls in a tree that has nothing else but names and numbers; a hundred where it has. */
static int calls_of(const struct expr *expr)
{
    int calls = expr->node == NODE_CALL ? 1 : expr->node == NODE_WORD || expr->node == NODE_VALUE ? 0 : 100;
    for (int i = 0; i < expr->kid_count; i++)
        calls += expr->kids[i] ? calls_of(expr->kids[i]) : 0;
    return calls;
}

/* The tree with each call of it rounded; `whole`: itself, too. */
static struct expr *rounded(struct synth *s, const struct expr *expr, const char *type, bool whole)
{
    if (expr->node != NODE_CALL || !has_tensor(s, expr))
        return (struct expr *)expr; /* words stay one: an output may take another name */
    struct expr *own = arena_copy(s->arena, expr, sizeof *expr);
    own->kids = arena_copy(s->arena, expr->kids, sizeof *expr->kids * (size_t)expr->kid_count);
    for (int i = 0; i < expr->kid_count; i++)
        own->kids[i] = rounded(s, expr->kids[i], type, true);
    if (!whole || names_among(expr->name, strlen(expr->name), exact))
        return own;
    struct expr *word = arena_alloc(s->arena, sizeof *word), *call = arena_alloc(s->arena, sizeof *call);
    struct expr *kids[2] = {own, word};
    *word = (struct expr){.node = NODE_WORD, .name = type};
    *call = (struct expr){.node = NODE_CALL, .name = "type_as", .kid_count = 2};
    call->kids = arena_copy(s->arena, kids, sizeof kids);
    return call;
}

void synth_round(struct synth *s)
{
    enum { MOST = 8 };
    const char *type = NULL;
    int calls = 0;
    for (int i = 0; i < s->tensor_count; i++) {
        const struct synth_tensor *tensor = &s->tensors[i];
        if (tensor->type) /* of another type than the others */
            return;
        if (!type && !tensor->output && tensor->place == SYNTH_FULL)
            type = tensor->name;
    }
    for (int i = 0; i < s->step_count; i++)
        calls += calls_of(s->steps[i].tree);
    if (!type || s->steps[0].told || calls < 2 || calls > MOST)
        return;
    s->rounds = true;
    for (int i = 0; i < s->step_count; i++) {
        s->steps[i].said = s->steps[i].tree;
        s->steps[i].tree = rounded(s, s->steps[i].tree, type, !s->steps[i].output);
    }
}

const char *synth_rounds_in_words(struct synth *s)
{
    return synth_choose(s, " What is expected was computed in the tensors' type, with a rounding after every step.|"
                           " Computed in the type of the tensors, each step rounded to it.|"
                           " The reference computes in the data type of the tensors and rounds each of its steps.|"
                           " Every step is rounded to the data type of the tensors.|"
                           " The module computes step by step in the tensors' own type and rounds after each.|"
                           " Intermediate results have the data type of the inputs.");
}
