/* Expressions in words, and what a step computes as a statement. */
#include "cot/synth_internal.h"

#include <string.h>

static const struct {
    const char *name, *text;
} definitions[] =
    {
#define DEFINITION(name, text) {name, text},
#define PHRASE(name, before, behind)
#define REMARK(name, text)
#include "cot/synth_phrases.def"
},
  remarks[] = {
#define DEFINITION(name, text)
#define PHRASE(name, before, behind)
#define REMARK(name, text) {name, text},
#include "cot/synth_phrases.def"
};
static const struct {
    const char *name, *before, *behind;
} phrases[] = {
#define DEFINITION(name, text)
#define PHRASE(name, before, behind) {name, before, behind},
#define REMARK(name, text)
#include "cot/synth_phrases.def"
};

/* Part of a larger expression. */
static const char *said_within(struct synth *s, const struct expr *expr, int depth);

static const char *sum_in_words(struct synth *s, const struct expr *call, int depth)
{
    const char *noun = synth_choose(s, synth_nouns(call->name)), *range = synth_over(s, call),
               *of = said_within(s, call->kids[0], depth - 1);
    return synth_chance(s, 50) && *range ? synth_fill(s, "the $1$2 of $3", noun, range, of)
                                         : synth_fill(s, "the $1 of $2$3", noun, of, range);
}

/* "a plus b" stands for a whole result alone: within another expression it would be read in two ways. */
static const char *pair_in_words(struct synth *s, const struct expr *call, int depth, bool whole)
{
    static const struct {
        const char *name, *between, *noun;
    } pairs[] = {{"+", " plus ", "sum"},           {"-", " minus ", "difference"},
                 {"*", " times ", "product"},      {"/", " divided by ", "quotient"},
                 {"min", NULL, "smaller"},         {"max", NULL, "larger"},
                 {"**", " to the power of ", NULL}};
    const char *a = synth_is_call(call, "**") ? synth_fill(s, "`$1`", synth_formula(s, call->kids[0]))
                                              : said_within(s, call->kids[0], depth - 1),
               *b = said_within(s, call->kids[1], depth - 1);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (synth_is_call(call, pairs[i].name))
            return whole && pairs[i].between && (!pairs[i].noun || synth_chance(s, 60))
                       ? synth_fill(s, "$1$2$3", a, pairs[i].between, b)
                   : pairs[i].noun ? synth_fill(s, "the $1 of $2 and $3", pairs[i].noun, a, b)
                                   : NULL;
    return NULL;
}

/* "the logarithm of a to base b" for log(a) / log(b); NULL: it is another quotient. */
static const char *any_logarithm(struct synth *s, const struct expr *expr, int depth)
{
    if (!synth_is_call(expr, "/") || !synth_is_call(expr->kids[0], "log") || !synth_is_call(expr->kids[1], "log"))
        return NULL;
    return synth_fill(s, synth_choose(s, "the logarithm of $1 to base $2|the logarithm of $1 to the base $2"),
                      said_within(s, expr->kids[0]->kids[0], depth - 1), synth_formula(s, expr->kids[1]->kids[0]));
}

/* "what follows the point in a" for a - trunc(a); NULL: it is another difference. */
static const char *fraction(struct synth *s, const struct expr *expr)
{
    if (!synth_is_call(expr, "-") || expr->kids[0]->node != NODE_WORD || !synth_is_call(expr->kids[1], "trunc") ||
        expr->kids[1]->kids[0]->node != NODE_WORD || strcmp(expr->kids[1]->kids[0]->name, expr->kids[0]->name) != 0)
        return NULL;
    return synth_put(
        s, "what stands behind the point of `$1`, `$2`|the fraction of `$1`: `$2`|the part of `$1` behind its point",
        synth_formula(s, expr->kids[0]), synth_formula(s, expr));
}

static const char *phrase(struct synth *s, const struct expr *call, int depth, bool whole)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (!synth_is_call(call, phrases[i].name) || call->kid_count != 1)
            continue;
        bool behind = whole && *phrases[i].behind && synth_chance(s, 50);
        return arena_printf(s->arena, synth_choose(s, behind ? phrases[i].behind : phrases[i].before),
                            behind ? synth_fill(s, "`$1`", synth_formula(s, call->kids[0]))
                                   : said_within(s, call->kids[0], depth - 1));
    }
    return NULL;
}

/* Products and quotients with 2, and other things that have a word of their own. */
static const char *multiple(struct synth *s, const struct expr *expr, int depth)
{
    bool product = synth_is_call(expr, "*"), quotient = synth_is_call(expr, "/");
    int number = product && expr->kids[0]->node == NODE_VALUE ? 0 : 1;
    if ((!product && !quotient) || expr->kids[number]->node != NODE_VALUE || !synth_chance(s, 70))
        return NULL;
    double value = expr->kids[number]->value.real;
    const char *forms = value == 2 && product     ? "twice %s|double %s"
                        : value == 2              ? "half of %s|one half of %s"
                        : value == 0.5 && product ? "half of %s|one half of %s"
                        : value == 3 && product   ? "three times %s|the triple of %s"
                        : value == -1 && product  ? "minus %s"
                                                  : NULL;
    return forms ? arena_printf(s->arena, synth_choose(s, forms), said_within(s, expr->kids[1 - number], depth - 1))
                 : NULL;
}

static const char *call_in_words(struct synth *s, const struct expr *expr, int depth, bool whole)
{
    const char *nouns = synth_nouns(expr->name), *said = NULL;
    if (synth_is_summary(expr))
        return sum_in_words(s, expr, depth);
    if ((synth_is_call(expr, "log2") || synth_is_call(expr, "log10")) && synth_chance(s, 60))
        return synth_fill(s, "the logarithm of $1 to $2 $3", said_within(s, expr->kids[0], depth - 1),
                          synth_choose(s, "base|base|the base"), expr->name + strlen("log"));
    if (synth_chance(s, 45) && (said = phrase(s, expr, depth, whole)))
        return said;
    if (*nouns && expr->kid_count == 1)
        return synth_fill(s, "the $1 of $2", synth_choose(s, nouns), said_within(s, expr->kids[0], depth - 1));
    if (synth_is_call(expr, "**") && expr->kids[1]->node == NODE_VALUE && expr->kids[1]->value.real == 2)
        return synth_fill(s, "the square of $1", said_within(s, expr->kids[0], depth - 1));
    if (expr->kid_count != 2)
        return NULL;
    if ((said = any_logarithm(s, expr, depth)) || (said = multiple(s, expr, depth)) ||
        (whole && (said = fraction(s, expr))))
        return said;
    return pair_in_words(s, expr, depth, whole);
}

static const char *in_words(struct synth *s, const struct expr *expr, int depth, bool whole)
{
    const char *said = NULL;
    if (depth > 0 && expr->node == NODE_CALL && synth_chance(s, whole || depth > 2 ? 100 : 60))
        said = call_in_words(s, expr, depth, whole);
    return said ? said : synth_fill(s, "`$1`", synth_formula(s, expr));
}
static const char *said_within(struct synth *s, const struct expr *expr, int depth)
{
    return in_words(s, expr, depth, false);
}
const char *synth_in_words(struct synth *s, const struct expr *expr, int depth)
{
    return in_words(s, expr, depth, true);
}

/* What a function of one argument is by definition, of `argument`; NULL: nothing to be said. */
static const char *definition(struct synth *s, const struct expr *call, const char *argument)
{
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        if (synth_is_call(call, definitions[i].name) && call->kid_count == 1)
            return arena_printf(s->arena, definitions[i].text, argument);
    return NULL;
}

/* Some functions of an expression, written out once more as documentation does, each in a sentence. */
void synth_define(struct synth *s, struct text *text, const struct expr *expr)
{
    const char *letter = synth_choose(s, "v|x|t|u"), *said = definition(s, expr, letter);
    if (said && synth_chance(s, 35))
        text_addf(text, synth_chance(s, 50) ? " `%s(%s)` is `%s`." : " Here `%s(%s) = %s`.",
                  synth_called(s, expr->name), letter, said);
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i])
            synth_define(s, text, expr->kids[i]);
}

/* What is told behind a formula of one of its functions; "": nothing. */
static const char *remark(struct synth *s, const struct expr *expr)
{
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
        if (synth_is_call(expr, remarks[i].name) && synth_chance(s, 70))
            return synth_fill(s, ", $1", synth_choose(s, remarks[i].text));
    for (int i = 0; i < expr->kid_count; i++) {
        const char *said = expr->kids[i] ? remark(s, expr->kids[i]) : "";
        if (*said)
            return said;
    }
    return "";
}

/* "`y = cosh(x) = (exp(x) + exp(-x)) / 2`"; NULL: the step is no such function. */
static const char *defined_statement(struct synth *s, const char *name, const struct expr *tree)
{
    const struct expr *kid = tree->kid_count == 1 ? tree->kids[0] : NULL;
    const char *said = kid && kid->node == NODE_WORD ? definition(s, tree, synth_formula(s, kid)) : NULL;
    if (!said)
        return NULL;
    const char *call = synth_formula(s, tree), *nouns = synth_nouns(tree->name);
    switch (synth_is_summary(tree) ? 1 + synth_pick(s, 3) : synth_pick(s, 4)) {
    case 0:
        return synth_fill(s, "`$1 = $2 = $3`$4", name, call, said, synth_chance(s, 30) ? remark(s, tree) : "");
    case 1:
        return synth_fill(s, "`$1 = $2`: `$3`", name, call, said);
    case 2:
        return synth_fill(s, "`$1 = $2`, the $3", name, call, synth_choose(s, nouns));
    default:
        return synth_fill(s, "`$1` is the $2 of `$3`, that is `$4`", name, synth_choose(s, nouns), kid->name, said);
    }
}

bool synth_is_in_place(const struct synth *s, const char *name)
{
    for (int i = 0; i < s->tensor_count; i++)
        if (s->tensors[i].in_place && strcmp(s->tensors[i].name, name) == 0)
            return true;
    return false;
}

/* "`x *= a`". */
static const char *changed_statement(struct synth *s, const char *name, const struct synth_step *step)
{
    const struct expr *tree = step->tree;
    bool changed = tree->node == NODE_CALL && tree->kid_count == 2 && strchr("+-*/", *tree->name) && !tree->name[1] &&
                   tree->kids[0]->node == NODE_WORD && strcmp(tree->kids[0]->name, step->name) == 0;
    return changed ? synth_fill(s, "`$1 $2= $3`", name, tree->name, synth_formula(s, tree->kids[1])) : NULL;
}

static bool has_full_tensor(const struct synth *s, const struct expr *expr)
{
    const struct synth_tensor *tensor = expr->node == NODE_WORD ? synth_tensor_of(s, expr->name) : NULL;
    if (tensor)
        return tensor->place != SYNTH_ONE;
    for (int i = 0; expr->node == NODE_WORD && i < s->step_count; i++)
        if (strcmp(s->steps[i].name, expr->name) == 0)
            return true;
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i] && has_full_tensor(s, expr->kids[i]))
            return true;
    return false;
}

/* All elements are the same. */
static const char *fill_statement(struct synth *s, const struct synth_step *step)
{
    const char *value = synth_formula(s, step->tree);
    if (step->tree->node == NODE_CALL || synth_chance(s, 50))
        value = synth_fill(s, "`$1`", value);
    if (s->lists && synth_chance(s, 50))
        return synth_put(s,
                         "all tensors of `$1` are filled with $2|every tensor of `$1` holds $2 in each element|each "
                         "tensor of the list `$1` is set to $2|in all of the tensors of `$1` all elements are $2|$2 "
                         "goes into every element of each tensor of `$1`",
                         step->name, value);
    return synth_put(s,
                     "every element of `$1` is $2|`$1` is filled with $2|all elements of `$1` are $2|each element of "
                     "`$1` becomes $2|`$1` is $2 everywhere|every element of `$1` becomes $2|`$1` holds $2 in every "
                     "element|$2 is written to all of `$1`|`$1` is set to $2, whatever stood there|each entry of `$1` "
                     "gets the value $2|all of `$1` is overwritten with $2|`$1` is made $2 throughout",
                     step->name, value);
}

/* "`x` becomes .."; words or a formula. */
static const char *becomes_statement(struct synth *s, const char *name, const struct synth_step *step)
{
    const char *said = synth_chance(s, s->style->words) && !synth_has(step->tree, synth_over_all)
                           ? synth_in_words(s, step->tree, 1 + synth_pick(s, 2))
                           : synth_fill(s, "`$1`", synth_formula(s, step->tree));
    if (synth_chance(s, 55))
        return synth_fill(s, "`$1` becomes $2", name, said);
    return synth_fill(s,
                      synth_choose(s, "every element of `$1` becomes $2|`$1` is replaced by $2|each element of `$1` is "
                                      "overwritten with $2|`$1` is set to $2"),
                      synth_chance(s, 50) ? step->name : name, said);
}

/* Forms that stand for other functions than the formula's: NULL where the step has none, or not this time. */
static const char *special_statement(struct synth *s, const char *name, const struct synth_step *step)
{
    const char *changed = synth_is_in_place(s, step->name) ? changed_statement(s, name, step) : NULL;
    if (changed && synth_chance(s, 70))
        return changed;
    const char *row = NULL;
    if ((s->columns || strcmp(s->family, "reduction") == 0) && synth_chance(s, 50) &&
        (row = synth_row_statement(s, name, step->tree)))
        return row;
    if (!has_full_tensor(s, step->tree) && synth_chance(s, 70))
        return fill_statement(s, step);
    if (synth_is_in_place(s, step->name) && synth_chance(s, 65))
        return becomes_statement(s, name, step);
    if (s->style->bare && synth_is_call(step->tree, "mean") && step->tree->kids[0]->node == NODE_WORD)
        return arena_printf(s->arena, strncmp(step->name, "mean", 4) == 0 ? "`%s`" : "`%s` is the mean", name);
    if (synth_goes_down(s, step->tree) && (s->columns || synth_chance(s, 45)))
        return synth_column_statement(s, name, step->tree);
    if (step->tree->node == NODE_WORD && synth_chance(s, 75))
        return synth_fill(s,
                          "{25:`$1` is `$2` in the type of `$3`|{`$1` is `$2` in another type|`$1` is `$2` once more|"
                          "`$1` is a copy of `$2`|`$1` holds the values of `$2`|`$1` is `$2`, unchanged|`$1` is `$2`|"
                          "`$1` has the elements of `$2`|`$1` equals `$2`}}",
                          name, step->tree->name, s->tensors[synth_pick(s, s->tensor_count)].name);
    const char *clamped = synth_chance(s, 65) ? synth_clamped(s, name, step->tree) : NULL;
    if (clamped)
        return clamped;
    if (synth_is_call(step->tree, "where") && synth_chance(s, 85))
        return synth_choice(s, name, step->tree);
    return synth_chance(s, 40) ? defined_statement(s, name, step->tree) : NULL;
}

/* What a step computes, its sentence not being given. */
static const char *statement(struct synth *s, const struct synth_step *step, bool alone)
{
    const struct expr word = {.node = NODE_WORD, .name = step->name};
    const char *name = synth_formula(s, &word);
    const struct synth_tensor *tensor = synth_tensor_of(s, step->name);
    if (tensor && tensor->type && strcmp(tensor->type, "bool") == 0)
        return synth_truth(s, name, step->tree);
    if (s->derivative && strcmp(s->derivative, step->name) == 0)
        return synth_put(s,
                         "`$1`, the derivative of `$2`, is `$3`|`$1 = $3`, the derivative of `$2`|`$1 = $3` (what `$2` "
                         "has for a slope)|`$1` is the slope of `$2`, that is `$3`",
                         name, synth_formula(s, synth_parse(s, s->derived)), synth_formula(s, step->tree));
    const char *special = special_statement(s, name, step);
    if (special)
        return special;
    bool all = synth_has(step->tree, synth_over_all);
    if (all && s->style->spread)
        return synth_fill(s, "`$1 = $2`", name, synth_formula(s, step->tree));
    if (s->columns && synth_has(step->tree, synth_along_rows) && (step->output || synth_chance(s, 65)))
        return synth_with_row_sums(s, synth_fill(s, "`$1 = $2`", name, synth_formula(s, step->tree)), step->tree);
    if (!all && !synth_chance(s, s->style->words))
        return synth_fill(s, "`$1 = $2`$3", name, synth_formula(s, step->tree),
                          synth_chance(s, 15)                ? remark(s, step->tree)
                          : synth_chance(s, 5) && !s->rounds ? " in float32"
                                                             : "");
    bool sum = all && !synth_is_summary(step->tree);
    const char *said = synth_in_words(s, step->tree, sum ? 0 : 1 + synth_pick(s, 3));
    if (sum)
        return synth_fill(s, "`$1 = $2`, $3", name, synth_formula(s, step->tree),
                          synth_choose(s, "over all elements|over the whole tensor|summed up over the whole tensor"));
    if (alone && synth_chance(s, 50))
        return synth_chance(s, 50) ? said
                                   : synth_fill(s, "$1$2",
                                                synth_choose(s, "the operator computes |returns |computes |what comes "
                                                                "out is |the result is |it gives "),
                                                said);
    return synth_put(s, "`$1` is $2|`$1` is $2|`$1` is $2|`$1` = $2|`$1` holds $2|`$1` gets $2", name, said);
}

const char *synth_statement(struct synth *s, const struct synth_step *step, bool alone)
{
    if (step->told)
        return step->told;
    const char *said = statement(s, step, alone);
    bool more = synth_is_call(step->tree, "where") || strstr(said, ", ") || strstr(said, ": ");
    return more ? said : synth_fill(s, "$1$2", said, synth_clause(s, step->tree));
}
