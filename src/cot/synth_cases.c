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

/* What is told of a subject: "is greater than". `zero`: where the other side is 0. */
static const struct {
    const char *sign, *words, *zero;
} comparisons[] = {
    {">", "is greater than $1|is larger than $1|is above $1|exceeds $1|is more than $1",
     "is positive|is greater than 0|is above 0"},
    {"<", "is less than $1|is smaller than $1|is below $1|lies below $1|is under $1",
     "is negative|is less than 0|is below 0"},
    {">=", "is at least $1|is not less than $1|is greater than or equal to $1|is $1 or more",
     "is not negative|is at least 0|is 0 or more"},
    {"<=", "is at most $1|does not exceed $1|is less than or equal to $1|is $1 or less",
     "is not positive|is at most 0|is 0 or less"},
    {"==", "equals $1|is equal to $1|is exactly $1", "is 0|equals 0|is zero"},
    {"!=", "differs from $1|is not $1|is not equal to $1|is other than $1", "is not 0|differs from 0|is not zero"},
};

/* Kinds of numbers, and what is none of them. */
enum kind { KIND_FINITE, KIND_INFINITE, KIND_NAN, KIND_NO_NAN, KIND_NOT_FINITE, KIND_ABOVE_ALL, KIND_BELOW_ALL, KINDS };
static const struct {
    const char *is, *not; /* of one thing */
} kinds[KINDS] = {
    [KIND_FINITE] =
        {"is finite|is a finite number|is neither infinite nor nan|is an ordinary number, not inf or nan|has "
         "a finite value|is neither inf, -inf nor nan",
         "is infinite or no number|is inf, -inf or nan|is nan or an infinity|is not finite|is nan or has an "
         "infinite value|has no finite value"},
    [KIND_INFINITE] =
        {"is infinite|is plus or minus infinity|is inf or -inf|is an infinity|has an infinite value",
         "is finite or nan|is nan or finite|is anything else|is no infinity|is not infinite (nan is not)"},
    [KIND_NAN] = {"is nan|is not a number|is no number (nan)",
                  "is a number|is finite or infinite|is any number, inf too"},
    [KIND_NO_NAN] = {"is a number, infinities among them|is not nan|is anything but nan|is no nan",
                     "is nan|is no number"},
    [KIND_NOT_FINITE] =
        {"is infinite or no number|is inf, -inf or nan|is not finite|is nan or an infinity|has no finite "
         "value",
         "is finite|is a finite number|is neither inf, -inf nor nan|has a finite value"},
    [KIND_ABOVE_ALL] = {"is plus infinity|is positive infinity|is inf, not -inf",
                        "is anything else|is not plus infinity"},
    [KIND_BELOW_ALL] = {"is minus infinity|is negative infinity|is -inf", "is anything else|is not minus infinity"},
};

static bool same(const struct expr *a, const struct expr *b);
static bool same_kids(const struct expr *a, const struct expr *b)
{
    for (int i = 0; i < a->kid_count; i++)
        if (!a->kids[i] != !b->kids[i] || (a->kids[i] && !same(a->kids[i], b->kids[i])))
            return false;
    return true;
}
static bool same(const struct expr *a, const struct expr *b)
{
    if (a->node != b->node || a->kid_count != b->kid_count)
        return false;
    if (a->node == NODE_VALUE)
        return a->value.real == b->value.real;
    if (a->node == NODE_WORD || a->node == NODE_CALL)
        return strcmp(a->name, b->name) == 0 && same_kids(a, b);
    return false;
}

/* What kind of number a condition asks for; KINDS: it asks for something else. The subject is what it asks of. */
static enum kind asked_kind(const struct expr *condition, const struct expr **subject)
{
    if (synth_is_call(condition, "not"))
        return asked_kind(condition->kids[0], subject) == KIND_FINITE ? KIND_NOT_FINITE : KINDS;
    if (condition->node != NODE_CALL || condition->kid_count != 2)
        return KINDS;
    const struct expr *a = condition->kids[0], *b = condition->kids[1];
    *subject = a;
    if (synth_is_call(condition, "!=") && same(a, b))
        return KIND_NAN;
    if (synth_is_call(condition, "==") && same(a, b))
        return KIND_NO_NAN;
    if (synth_is_call(condition, "==") && synth_is_call(b, "neg") && is_infinity(b->kids[0]))
        return KIND_BELOW_ALL;
    if (synth_is_call(condition, "==") && synth_is_call(a, "-") && is_number(b, 0) && same(a->kids[0], a->kids[1])) {
        *subject = a->kids[0];
        return KIND_FINITE;
    }
    if (!is_infinity(b))
        return KINDS;
    const bool size = synth_is_call(a, "abs");
    *subject = size ? a->kids[0] : a;
    return size && synth_is_call(condition, "<")     ? KIND_FINITE
           : size && synth_is_call(condition, "==")  ? KIND_INFINITE
           : !size && synth_is_call(condition, "==") ? KIND_ABOVE_ALL
                                                     : KINDS;
}

/* "is finite", "is infinite", "is nan" of conditions that say so; the subject is what they say it of. NULL: it is another one. */
static const char *kind_of_number(struct synth *s, const struct expr *condition, const struct expr **subject)
{
    const struct expr *of;
    const enum kind kind = asked_kind(condition, &of);
    if (kind == KINDS)
        return NULL;
    *subject = of;
    return synth_choose(s, kinds[kind].is);
}

/* A condition in words, "`x` is greater than 0"; `*subject` is what the condition before it was about, and then that of this one. */
static const char *condition(struct synth *s, const struct expr *expr, const char **subject)
{
    const char *shown = synth_formula(s, expr);
    if (expr->node == NODE_WORD)
        return synth_chance(s, 60)
                   ? synth_fill(s, "`$1` $2", shown, synth_choose(s, "is true|is set|is not 0|holds|is 1"))
                   : synth_fill(s, "`$1`", shown);
    const struct expr *about = expr->kids[0];
    const char *said = synth_chance(s, 75) ? kind_of_number(s, expr, &about) : NULL;
    for (size_t i = 0; !said && i < sizeof comparisons / sizeof *comparisons; i++)
        if (synth_is_call(expr, comparisons[i].sign) && synth_chance(s, 70)) {
            const char *other = synth_formula(s, expr->kids[1]);
            bool bare = expr->kids[1]->node == NODE_VALUE;
            said = is_number(expr->kids[1], 0)
                       ? synth_choose(s, comparisons[i].zero)
                       : synth_fill(s, synth_choose(s, comparisons[i].words),
                                    bare && synth_chance(s, 60) ? other : synth_fill(s, "`$1`", other));
        }
    if (!said)
        return synth_fill(s, "`$1`", shown);
    const char *of = synth_formula(s, about);
    bool again = *subject && strcmp(*subject, of) == 0;
    *subject = of;
    if (again && synth_chance(s, 70))
        return synth_fill(s, "it $1", said);
    return synth_fill(s, "$1`$2` $3",
                      synth_is_call(about, "abs") && !s->style->bars && synth_chance(s, 30) ? "the magnitude " : "", of,
                      said);
}

/* The condition that holds where a comparison does not, in words; NULL: it is no comparison. */
static const char *opposite(struct synth *s, const struct expr *comparison, const char **subject)
{
    static const char *const signs[][2] = {{">", "<="}, {"<", ">="}, {"==", "!="}};
    const struct expr *of;
    if (asked_kind(comparison, &of) != KINDS)
        return NULL;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        for (int side = 0; side < 2; side++)
            if (synth_is_call(comparison, signs[i][side])) {
                struct expr other = *comparison;
                other.name = signs[i][1 - side];
                return condition(s, &other, subject);
            }
    return NULL;
}

/* What one branch gives: numbers may stand bare. */
static const char *value(struct synth *s, const struct expr *expr, bool bare)
{
    if (expr->node == NODE_CALL && synth_chance(s, s->style->words / 3))
        return synth_in_words(s, expr, 1);
    return synth_fill(s, bare && expr->node == NODE_VALUE ? "$1" : "`$1`", synth_formula(s, expr));
}

/* A cascade: where(c1, a1, where(c2, a2, ..)). */
static const char *cascade(struct synth *s, const char *name, const struct expr *call)
{
    const char *where = synth_choose(s, " where | where | where | if "), *subject = NULL;
    bool bare = synth_chance(s, 60), first = synth_chance(s, 12);
    const char *is = first ? ": " : synth_choose(s, " is | is | is | = | becomes ");
    const char *text = synth_fill(s, "`$1`$2", name, is);
    const struct expr *at = call;
    for (; synth_is_call(at, "where"); at = at->kids[2]) {
        const char *what = value(s, at->kids[1], bare), *when = condition(s, at->kids[0], &subject);
        text = first ? synth_fill(s, "$1$2$3: $4", text, at == call ? "where " : "; where ", when, what)
                     : synth_fill(s, "$1$2$3$4$5", text, at == call ? "" : ", ", what, where, when);
    }
    const char *rest =
        synth_is_call(call->kids[2], "where")
            ? synth_choose(
                  s,
                  ", else $1|, else $1| and $1 elsewhere|, otherwise $1|, and $1 in all other cases|, $1 anywhere else")
            : synth_choose(s, ", else $1|, else $1|, $1 elsewhere|, otherwise $1| and $1 elsewhere|, or else $1|, and "
                              "$1 in all other places");
    if (first)
        rest = synth_choose(s, "; else $1|; otherwise $1|; elsewhere $1");
    return synth_fill(s, "$1$2", text, synth_fill(s, rest, value(s, at, bare)));
}

/* Of two by a mask, what it has where the mask is false often first. */
static const char *by_mask(struct synth *s, const char *name, const char *mask, const char *a, const char *b)
{
    return synth_put(s,
                     "`$1` is $4 where `$2` is false and $3 where it is true|`$1` is $4, unless `$2` is true: then "
                     "$3|`$2` chooses: $3 where it is true, $4 where not, that is `$1`|where `$2` is false `$1` is $4, "
                     "everywhere else $3|`$1` takes $3 if `$2` is set and $4 if it is not|where `$2` holds `$1` comes "
                     "from $3, elsewhere from $4|`$1` is $3 under the mask `$2` and $4 outside of it",
                     name, mask, a, b);
}

/* "the elements of `a` where `c` and those of `b` elsewhere". */
static const char *selection(struct synth *s, const char *name, const struct expr *call)
{
    const char *subject = NULL, *when = condition(s, call->kids[0], &subject), *a = value(s, call->kids[1], false),
               *b = value(s, call->kids[2], false);
    subject = NULL;
    const char *asks = synth_chance(s, 30) ? condition(s, call->kids[0], &subject) : NULL,
               *not_so = asks ? opposite(s, call->kids[0], &subject) : NULL;
    if (not_so)
        return synth_put(s,
                         "`$1` is $2 where $3 and $4 where $5|where $3 `$1` is $2, where $5 it is $4|`$1`: $2 if $3, "
                         "$4 if $5|$2 where $3, $4 where $5: that is `$1`",
                         name, a, asks, b, not_so);
    if (call->kids[0]->node == NODE_WORD && synth_chance(s, 50))
        return by_mask(s, name, synth_formula(s, call->kids[0]), a, b);
    return synth_put(
        s,
        "`$1` takes $2 where $3 and $4 elsewhere|where $3, `$1` is $2, otherwise $4|`$1` is $4, but $2 where "
        "$3|if $3 then `$1 = $5`, else `$1 = $6`",
        name, a, when, b, synth_formula(s, call->kids[1]), synth_formula(s, call->kids[2]));
}

const char *synth_choice(struct synth *s, const char *name, const struct expr *call)
{
    bool two = !synth_is_call(call->kids[2], "where");
    if (synth_is_call(call->kids[1], "where"))
        return synth_fill(s, "`$1 = $2`", name, synth_formula(s, call));
    if (two && synth_chance(s, 30))
        return selection(s, name, call);
    if (!synth_chance(s, 75)) {
        const char *a = synth_formula(s, call->kids[1]), *c = synth_formula(s, call->kids[0]),
                   *b = synth_formula(s, call->kids[2]);
        return synth_put(
            s, "`$1 = $2` where `$3`, else `$4`|`$1 = $2` where `$3`, `$4` elsewhere|`$1 = $2` if `$3`, else `$4`",
            name, a, c, b);
    }
    return cascade(s, name, call);
}

/* True where a number is of a kind, false where it is of the others: both are told, in one order or the other. NULL: nothing asks for kinds. */
static const char *two_sided(struct synth *s, const char *name, const struct expr *tree)
{
    static const char *const forms =
        "`$1` is true where `$2` $3, false where it $4|`$1` is true (a byte that is 1) where `$2` $3, and false (0) "
        "where `$2` $4|`$1` is false (0) where `$2` $4 and true (1) where it $3|`$1` is 1 where `$2` $3 and 0 where it "
        "$4|where `$2` $4 there `$1` is false, where it $3 true|true in `$1` says that "
        "`$2` $3, false that it $4|`$1` gets a 1 if `$2` $3, a 0 if it $4|`$2` $3: `$1` is true; `$2` $4: `$1` is "
        "false|0 in "
        "`$1` means that `$2` $4, 1 that it $3|for every element, `$1` is true if `$2` $3; if it $4, false";
    const struct expr *of;
    const enum kind kind = asked_kind(tree, &of);
    if (kind == KINDS)
        return NULL;
    return synth_put(s, forms, name, synth_formula(s, of), synth_choose(s, kinds[kind].is),
                     synth_choose(s, kinds[kind].not));
}

/* Of two such conditions. */
static const char *joined_truth(struct synth *s, const char *name, const struct expr *tree)
{
    const struct expr *a, *b;
    if ((!synth_is_call(tree, "and") && !synth_is_call(tree, "or")) || tree->kid_count != 2)
        return NULL;
    const enum kind one = asked_kind(tree->kids[0], &a), other = asked_kind(tree->kids[1], &b);
    if (one == KINDS || other == KINDS)
        return NULL;
    return synth_put(
        s,
        "`$1` is true where `$2` $3 $6 `$4` $5, else false|`$1` says where `$2` $3 $6 `$4` $5|`$1` is 1 if "
        "`$2` $3 $6 `$4` $5; if not, 0|where `$2` $3 $6 `$4` $5 there `$1` is true, false anywhere else",
        name, synth_formula(s, a), synth_choose(s, kinds[one].is), synth_formula(s, b),
        synth_choose(s, kinds[other].is), tree->name);
}

/* Of a comparison, with what holds where it is false. */
static const char *compared_truth(struct synth *s, const char *name, const struct expr *tree)
{
    const char *subject = NULL, *when = NULL, *not_so = NULL;
    if (tree->kid_count != 2 || synth_is_call(tree, "and") || synth_is_call(tree, "or"))
        return NULL;
    when = condition(s, tree, &subject);
    not_so = opposite(s, tree, &subject);
    return not_so
               ? synth_put(
                     s,
                     "`$1` is true where $2, false where $3|`$1` is 1 where $2 and 0 where $3|true in `$1` says that "
                     "$2, false that $3|`$1` gets a 1 if $2, a 0 if $3|where $2 `$1` is true, where $3 it is false",
                     name, when, not_so)
               : NULL;
}

const char *synth_truth(struct synth *s, const char *name, const struct expr *tree)
{
    const char *told = synth_chance(s, 55) ? two_sided(s, name, tree) : NULL;
    if (!told && synth_chance(s, 80))
        told = joined_truth(s, name, tree);
    if (!told && synth_chance(s, 25))
        told = compared_truth(s, name, tree);
    if (told)
        return told;
    const char *subject = NULL, *when = (tree->kid_count == 2 || synth_is_call(tree, "not")) &&
                                                !synth_is_call(tree, "and") && !synth_is_call(tree, "or")
                                            ? condition(s, tree, &subject)
                                            : synth_fill(s, "`$1`", synth_formula(s, tree));
    if (!subject && synth_chance(s, 25))
        return synth_fill(s, "`$1 = $2`", name, synth_formula(s, tree));
    static const char *const forms =
        "`$1` is true where $2, else false|`$1` is true where $2, false elsewhere|`$1` says where $2|`$1` is true (a "
        "byte of 1) where $2, else false (0)|`$1` tells whether $2|`$1` marks the places where $2|`$1` holds true "
        "wherever $2, and false anywhere else|`$1` is 1 (true) where $2 and 0 where not|every element of `$1` is true "
        "if $2, else false";
    return synth_put(s, forms, name, when);
}

/* How a value of `mode` is written. */
static const char *value_of(struct synth *s, const char *value)
{
    bool letter = strspn(value, "abcdefghijklmnopqrstuvwxyz_") == strlen(value);
    bool truth = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    return letter && !truth ? synth_fill(s, "\"$1\"", value) : value;
}

static const char *branch(struct synth *s, const char *name, int number)
{
    static const struct {
        const char *value, *words;
    } reductions[] = {{"sum",
                       "`$1` is the sum over all elements|`$1 = sum($2)`|`$1` is what all elements add up to|`$1` "
                       "is `$2` summed up"},
                      {"mean", "`$1` is the mean over all elements|`$1 = mean($2)`|`$1` is their average|`$1` is `$2` "
                               "averaged over everything"},
                      {"none", "`$1` is `$2` itself|`$1 = $2`|`$1` keeps `$2` as it is|`$1` has each element of `$2`"}};
    for (size_t i = 0; s->reductions && i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].value, s->branches[number].value) == 0)
            return synth_put(s, reductions[i].words, name, s->reductions);
    return synth_fill(s, "`$1 = $2`", name, synth_formula(s, s->branches[number].tree));
}

const char *synth_mode(struct synth *s, const struct synth_step *step)
{
    struct expr word = {.node = NODE_WORD, .name = step->name};
    const char *name = synth_formula(s, &word), *text = "";
    int form = synth_pick(s, 4);
    for (int i = 0; i < s->branch_count; i++) {
        const char *value = value_of(s, s->branches[i].value), *said = branch(s, name, i);
        bool last = i == s->branch_count - 1;
        if (form == 0)
            text = synth_fill(s, "$1$2$3: $4", i ? synth_fill(s, "$1; ", text) : "",
                              i ? "" : synth_fill(s, "`$1` ", s->mode), value, said);
        else if (form == 1)
            text = synth_fill(s, "$1$2$3 if `$4` is $5", text, !i ? "" : last ? " and " : ", ", said, s->mode, value);
        else if (form == 2)
            text = synth_fill(s, "$1$2$3",
                              i ? synth_fill(s, "$1, ", text) : synth_fill(s, "if `$1` is $2, ", s->mode, value),
                              i ? synth_fill(s, last && s->branch_count == 2 ? "else " : "for $1 ", value) : "", said);
        else
            text = synth_fill(s, "$1$2with `$3` = $4 $5", text, i ? ", " : "", s->mode, value, said);
    }
    static const char *const forms =
        "; `$1` is $2|. `$1` is $2 in every case|. Here `$1` is $2|. Only `$1` $2 is asked "
        "for|. The default of `$1`, $2, is what counts|. `$1` is always $2";
    return s->told
               ? synth_fill(s, "$1$2", text, synth_put(s, forms, s->mode, value_of(s, s->branches[s->chosen].value)))
               : text;
}
