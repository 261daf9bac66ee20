/* Choices in words: conditions, what holds where, and what the value of an attribute chooses. */
#include "cot/synth_internal.h"

#include <string.h>

static bool is_number(const struct expr *expr, double number)
{
    return expr->node == NODE_VALUE && expr->value.real == number;
}
static bool is_infinity(const struct expr *expr)
{
    return expr->node == NODE_WORD ? strcmp(expr->name, "inf") == 0
                                   : expr->node == NODE_VALUE && expr->value.real > 1e300;
}
static bool same_word(const struct expr *a, const struct expr *b)
{
    return a->node == NODE_WORD && b->node == NODE_WORD && strcmp(a->name, b->name) == 0;
}

/* What is told of a subject: "is greater than". `zero`: where the other side is 0. */
static const struct {
    const char *sign, *words, *zero;
} comparisons[] = {
    {">", "is greater than %s|is larger than %s|is above %s|exceeds %s|is more than %s",
     "is positive|is greater than 0|is above 0"},
    {"<", "is less than %s|is smaller than %s|is below %s|lies below %s|is under %s",
     "is negative|is less than 0|is below 0"},
    {">=", "is at least %s|is not less than %s|is greater than or equal to %s|is %s or more",
     "is not negative|is at least 0|is 0 or more"},
    {"<=", "is at most %s|does not exceed %s|is less than or equal to %s|is %s or less",
     "is not positive|is at most 0|is 0 or less"},
    {"==", "equals %s|is equal to %s|is exactly %s", "is 0|equals 0|is zero"},
    {"!=", "differs from %s|is not %s|is not equal to %s|is other than %s", "is not 0|differs from 0|is not zero"},
};

/* "is finite", "is infinite", "is nan" of conditions that say so; the subject is what they say it of. NULL: it is another one. */
static const char *kind_of_number(struct synth *s, const struct expr *condition, const struct expr **subject)
{
    const struct expr *a = condition->kids[0], *b = condition->kid_count == 2 ? condition->kids[1] : NULL;
    if (!b)
        return NULL;
    if (synth_is_call(a, "abs") && is_infinity(b)) {
        *subject = a->kids[0];
        if (synth_is_call(condition, "<"))
            return synth_choose(s,
                                "is finite|is a finite number|is neither infinite nor nan|is an ordinary number, not "
                                "inf or nan");
        if (synth_is_call(condition, "=="))
            return synth_choose(s, "is infinite|is plus or minus infinity|is inf or -inf|is an infinity");
    }
    if (synth_is_call(condition, "==") && synth_is_call(a, "-") && is_number(b, 0) &&
        same_word(a->kids[0], a->kids[1])) {
        *subject = a->kids[0];
        return synth_choose(s, "is finite|is a finite number|is neither infinite nor nan");
    }
    if (synth_is_call(condition, "!=") && same_word(a, b)) {
        *subject = a;
        return synth_choose(s, "is nan|is not a number|is no number (nan)");
    }
    return NULL;
}

/* A condition in words, "`x` is greater than 0"; `*subject` is what the condition before it was about, and then that of this one. */
static const char *condition(struct synth *s, const struct synth_style *style, const struct expr *expr,
                             const char **subject)
{
    const char *shown = synth_formula(s, style, expr);
    if (expr->node == NODE_WORD)
        return synth_chance(s, 60)
                   ? arena_printf(s->arena, "`%s` %s", shown, synth_choose(s, "is true|is set|is not 0|holds|is 1"))
                   : arena_printf(s->arena, "`%s`", shown);
    const struct expr *about = expr->kids[0];
    const char *said = synth_chance(s, 75) ? kind_of_number(s, expr, &about) : NULL;
    for (size_t i = 0; !said && i < sizeof comparisons / sizeof *comparisons; i++)
        if (synth_is_call(expr, comparisons[i].sign) && synth_chance(s, 70)) {
            const char *other = synth_formula(s, style, expr->kids[1]);
            bool bare = expr->kids[1]->node == NODE_VALUE;
            said = is_number(expr->kids[1], 0)
                       ? synth_choose(s, comparisons[i].zero)
                       : arena_printf(s->arena, synth_choose(s, comparisons[i].words),
                                      bare && synth_chance(s, 60) ? other : arena_printf(s->arena, "`%s`", other));
        }
    if (!said)
        return arena_printf(s->arena, "`%s`", shown);
    const char *of = synth_formula(s, style, about);
    bool again = *subject && strcmp(*subject, of) == 0;
    *subject = of;
    if (again && synth_chance(s, 70))
        return arena_printf(s->arena, "it %s", said);
    return arena_printf(s->arena, "%s`%s` %s",
                        synth_is_call(about, "abs") && !style->bars && synth_chance(s, 30) ? "the magnitude " : "", of,
                        said);
}

/* What one branch gives: numbers may stand bare. */
static const char *value(struct synth *s, const struct synth_style *style, const struct expr *expr, bool bare)
{
    if (expr->node == NODE_CALL && synth_chance(s, style->words / 3))
        return synth_in_words(s, style, expr, 1);
    return arena_printf(s->arena, bare && expr->node == NODE_VALUE ? "%s" : "`%s`", synth_formula(s, style, expr));
}

/* A cascade: where(c1, a1, where(c2, a2, ..)). */
static const char *cascade(struct synth *s, const struct synth_style *style, const char *name, const struct expr *call)
{
    const char *where = synth_choose(s, " where | where | where | if "), *subject = NULL;
    bool bare = synth_chance(s, 60), first = synth_chance(s, 12);
    const char *is = first ? ": " : synth_choose(s, " is | is | is | = | becomes ");
    const char *text = arena_printf(s->arena, "`%s`%s", name, is);
    const struct expr *at = call;
    for (; synth_is_call(at, "where"); at = at->kids[2]) {
        const char *what = value(s, style, at->kids[1], bare), *when = condition(s, style, at->kids[0], &subject);
        text = first ? arena_printf(s->arena, "%s%s%s: %s", text, at == call ? "where " : "; where ", when, what)
                     : arena_printf(s->arena, "%s%s%s%s%s", text, at == call ? "" : ", ", what, where, when);
    }
    const char *rest =
        synth_is_call(call->kids[2], "where")
            ? synth_choose(
                  s,
                  ", else %s|, else %s| and %s elsewhere|, otherwise %s|, and %s in all other cases|, %s anywhere else")
            : synth_choose(s, ", else %s|, else %s|, %s elsewhere|, otherwise %s| and %s elsewhere|, or else %s|, and "
                              "%s in all other places");
    if (first)
        rest = synth_choose(s, "; else %s|; otherwise %s|; elsewhere %s");
    return arena_printf(s->arena, "%s%s", text, arena_printf(s->arena, rest, value(s, style, at, bare)));
}

/* "the elements of `a` where `c` and those of `b` elsewhere". */
static const char *selection(struct synth *s, const struct synth_style *style, const char *name,
                             const struct expr *call)
{
    const char *subject = NULL, *when = condition(s, style, call->kids[0], &subject),
               *a = value(s, style, call->kids[1], false), *b = value(s, style, call->kids[2], false);
    switch (synth_pick(s, 4)) {
    case 0:
        return arena_printf(s->arena, "`%s` takes %s where %s and %s elsewhere", name, a, when, b);
    case 1:
        return arena_printf(s->arena, "where %s, `%s` is %s, otherwise %s", when, name, a, b);
    case 2:
        return arena_printf(s->arena, "`%s` is %s, but %s where %s", name, b, a, when);
    default:
        return arena_printf(s->arena, "if %s then `%s = %s`, else `%s = %s`", when, name,
                            synth_formula(s, style, call->kids[1]), name, synth_formula(s, style, call->kids[2]));
    }
}

const char *synth_choice(struct synth *s, const struct synth_style *style, const char *name, const struct expr *call)
{
    bool two = !synth_is_call(call->kids[2], "where");
    if (synth_is_call(call->kids[1], "where"))
        return arena_printf(s->arena, "`%s = %s`", name, synth_formula(s, style, call));
    if (two && synth_chance(s, 30))
        return selection(s, style, name, call);
    if (!synth_chance(s, 75)) {
        const char *a = synth_formula(s, style, call->kids[1]), *c = synth_formula(s, style, call->kids[0]),
                   *b = synth_formula(s, style, call->kids[2]);
        return arena_printf(s->arena,
                            synth_choose(s, "`%s = %s` where `%s`, else `%s`|`%s = %s` where `%s`, `%s` elsewhere|"
                                            "`%s = %s` if `%s`, else `%s`"),
                            name, a, c, b);
    }
    return cascade(s, style, name, call);
}

const char *synth_truth(struct synth *s, const struct synth_style *style, const char *name, const struct expr *tree)
{
    const char *subject = NULL,
               *when = tree->kid_count == 2 && !synth_is_call(tree, "and") && !synth_is_call(tree, "or")
                           ? condition(s, style, tree, &subject)
                           : arena_printf(s->arena, "`%s`", synth_formula(s, style, tree));
    if (!subject && synth_chance(s, 25))
        return arena_printf(s->arena, "`%s = %s`", name, synth_formula(s, style, tree));
    const char *forms =
        "`%s` is true where %s, else false|`%s` is true where %s, false elsewhere|`%s` says where %s|"
        "`%s` is true (a byte of 1) where %s, else false (0)|`%s` tells whether %s|`%s` marks the places where %s|"
        "`%s` holds true wherever %s, and false anywhere else|`%s` is 1 (true) where %s and 0 where not|"
        "every element of `%s` is true if %s, else false";
    return arena_printf(s->arena, synth_choose(s, forms), name, when);
}

/* How a value of `mode` is written. */
static const char *value_of(struct synth *s, const char *value)
{
    bool letter = strspn(value, "abcdefghijklmnopqrstuvwxyz_") == strlen(value);
    bool truth = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    return letter && !truth ? arena_printf(s->arena, "\"%s\"", value) : value;
}

/* Which value it is. */
static const char *choice_told(struct synth *s)
{
    return arena_printf(s->arena,
                        synth_choose(s, "; `%1$s` is %2$s|. `%1$s` is %2$s in every case|. Here `%1$s` is %2$s|. Only "
                                        "`%1$s` %2$s is asked for|. The default of `%1$s`, %2$s, is what counts|"
                                        ". `%1$s` is always %2$s"),
                        s->mode, value_of(s, s->branches[s->chosen].value));
}

static const char *branch(struct synth *s, const struct synth_style *style, const char *name, int number)
{
    static const struct {
        const char *value, *words;
    } reductions[] = {
        {"sum", "`%1$s` is the sum over all elements|`%1$s = sum(%2$s)`|`%1$s` is what all elements add up to|`%1$s` "
                "is `%2$s` summed up"},
        {"mean", "`%1$s` is the mean over all elements|`%1$s = mean(%2$s)`|`%1$s` is their average|`%1$s` is `%2$s` "
                 "averaged over everything"},
        {"none",
         "`%1$s` is `%2$s` itself|`%1$s = %2$s`|`%1$s` keeps `%2$s` as it is|`%1$s` has each element of `%2$s`"}};
    for (size_t i = 0; s->reductions && i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].value, s->branches[number].value) == 0)
            return arena_printf(s->arena, synth_choose(s, reductions[i].words), name, s->reductions);
    return arena_printf(s->arena, "`%s = %s`", name, synth_formula(s, style, s->branches[number].tree));
}

const char *synth_mode(struct synth *s, const struct synth_style *style, const struct synth_step *step)
{
    struct expr word = {.node = NODE_WORD, .name = step->name};
    const char *name = synth_formula(s, style, &word), *text = "";
    int form = synth_pick(s, 4);
    for (int i = 0; i < s->branch_count; i++) {
        const char *value = value_of(s, s->branches[i].value), *said = branch(s, style, name, i);
        bool last = i == s->branch_count - 1;
        if (form == 0)
            text = arena_printf(s->arena, "%s%s%s: %s", i ? arena_printf(s->arena, "%s; ", text) : "",
                                i ? "" : arena_printf(s->arena, "`%s` ", s->mode), value, said);
        else if (form == 1)
            text = arena_printf(s->arena, "%s%s%s if `%s` is %s", text,
                                !i     ? ""
                                : last ? " and "
                                       : ", ",
                                said, s->mode, value);
        else if (form == 2)
            text = arena_printf(
                s->arena, "%s%s%s",
                i ? arena_printf(s->arena, "%s, ", text) : arena_printf(s->arena, "if `%s` is %s, ", s->mode, value),
                i ? arena_printf(s->arena, last && s->branch_count == 2 ? "else " : "for %s ", value) : "", said);
        else
            text = arena_printf(s->arena, "%s%swith `%s` = %s %s", text, i ? ", " : "", s->mode, value, said);
    }
    return s->told ? arena_printf(s->arena, "%s%s", text, choice_told(s)) : text;
}
