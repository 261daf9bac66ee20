/* Positions: where in a vector, or in each row, the largest or smallest element stands, or the first or last of some kind. An answer has one
 * form for each: amin(where(.., index(x), 1e9)) for the first of equal ones, amax(where(.., index(x), -1)) for the last, and 1 more where
 * numbers begin with 1. */
#include "cot/synth_internal.h"

#include <string.h>

struct place {
    const char *x, *element; /* the tensor, and what one element of it is written as */
    const char *other;       /* likewise of a second one; NULL: there is none */
    const char *shown_other;
    const char *range; /* "in each row" */
    const char *letter;
    bool flat, last, one;
};

static const char *element_of(struct synth *s, const struct place *place, const char *name, const char *stride)
{
    if (!place->flat)
        return *place->letter ? synth_fill(s, "$1[.., $2]", name, place->letter) : name;
    return stride && *place->letter ? synth_fill(s, "$1[$2 * $3]", name, place->letter, stride)
           : *place->letter         ? synth_fill(s, "$1[$2]", name, place->letter)
                                    : name;
}

static const char *input_of(struct synth *s, const struct place *place, const char *words, const char **element)
{
    const char *name = synth_input(s, SYNTH_FULL, words), *stride = NULL;
    if (place->flat && synth_chance(s, 75))
        stride = s->tensors[s->tensor_count - 1].stride =
            synth_silent(s, "incx|inc|stride|step_x|incX|distance|inca", "int", "1");
    *element = element_of(s, place, name, stride);
    return name;
}

static void draw_place(struct synth *s, struct place *place)
{
    place->flat = s->flat = synth_chance(s, 55);
    place->last = synth_chance(s, 30);
    place->one = synth_chance(s, 50);
    place->letter = synth_chance(s, place->flat ? 80 : 50) ? synth_name(s, place->flat ? "i|i|k" : "j|j|c") : "";
    place->x = input_of(s, place, "x|a|input|src|v|data|u|sx|h|scores|z|w|t", &place->element);
    if (synth_chance(s, 30))
        place->other = input_of(s, place, "b|y|other|x2|g|sy|z1|r", &place->shown_other);
    if (place->flat && synth_chance(s, 85))
        s->length = synth_silent(s, "n|n|N|count|num|len|k0", "int", "1");
    const char *rows = "in each row|per row|along the last dimension|of every row|for each row";
    place->range = !place->flat ? synth_choose(s, rows)
                   : !s->length ? synth_choose(s, "in the vector|of all elements|in the whole vector")
                   : *place->letter
                       ? synth_put(s,
                                   "for `$2 < $1`|with `$2` from 0 to `$1 - 1`|among the first `$1` elements|(`0 <= $2 "
                                   "< $1`)|where `$2` goes from 0 up to, not including, `$1`",
                                   s->length, place->letter)
                       : synth_put(s, "among the first `$1` elements|of the `$1` elements|in a vector of `$1` elements",
                                   s->length);
}

/* What is compared, as a formula and as it is told: $4 is a bar, which would separate forms. */
static const char *compared(struct synth *s, const struct place *place, const char **shown)
{
    static const struct {
        const char *formula, *shown;
    } alone[] = {{"$1", "$1"},
                 {"$1", "$1"},
                 {"abs($1)", "$4$1$4"},
                 {"abs($1)", "$4$1$4"},
                 {"abs($1)", "abs($1)"},
                 {"$1**2", "$1^2"},
                 {"abs($1 - $3)", "$4$1 - $3$4"},
                 {"$3 * $1", "$3 * $1"},
                 {"cos($1)", "cos($1)"},
                 {"sin($1)", "sin($1)"},
                 {"-$1", "-$1"},
                 {"($1 - $3)**2", "($1 - $3)^2"},
                 {"abs($1) * $3", "$4$1$4 * $3"}},
      both[] = {{"$1 + $2", "$1 + $2"},          {"$1 - $2", "$1 - $2"},
                {"abs($1 - $2)", "$4$1 - $2$4"}, {"abs($1) + abs($2)", "$4$1$4 + $4$2$4"},
                {"$1 * $2", "$1 * $2"},          {"min($1, $2)", "min($1, $2)"},
                {"max($1, $2)", "max($1, $2)"},  {"abs($1 * $2)", "$4$1 * $2$4"}};
    int row = synth_pick(s, place->other ? (int)(sizeof both / sizeof *both) : (int)(sizeof alone / sizeof *alone));
    const char *formula = place->other ? both[row].formula : alone[row].formula,
               *told = place->other ? both[row].shown : alone[row].shown, *number = "";
    if (strstr(formula, "$3"))
        number = synth_chance(s, 50) ? synth_attr(s, "alpha|c|centre|scale|mid|a0|ref", "0.5|2.0|-0.5|1.5")
                                     : synth_choose(s, "2|0.5|1|3|0.25");
    *shown = synth_put(s, told, place->element, place->shown_other, number, "|");
    return synth_put(s, formula, place->x, place->other, number);
}

static const char *ties(struct synth *s, bool last)
{
    if (!last && synth_chance(s, 15))
        return "";
    return synth_choose(
        s, last
               ? "; of equal ones the last counts|; ties go to the last one|, the last one of several|. If several are "
                 "equal, the highest number is the result|, and of equals the one that comes last"
               : "; of equal ones the first counts|; ties go to the first one|, the first one of several|. If several "
                 "are equal, the lowest number is the result|, and of equals the one that comes first|. The earliest "
                 "of several is taken");
}

static const char *numbered(struct synth *s, bool one)
{
    return one ? synth_choose(s, "counted from 1|with 1 for the first element|numbers beginning with 1|1-based")
               : synth_choose(s, "counted from 0|with 0 for the first element|numbers beginning with 0|0-based|the "
                                 "first having the number 0");
}

/* "argmax(|x|) + 1", or the element's letter and 1 more. */
static const char *by_letter(struct synth *s, const struct place *place, const char *output, const char *shown,
                             const char *which)
{
    const char *letter = *place->letter ? place->letter : "p",
               *result = place->one ? synth_fill(s, "$1 + 1", letter) : letter;
    if (!*place->letter || synth_chance(s, 25))
        return synth_fill(s, "`$1 = $2($3)$4` $5$6", output, strcmp(which, "largest") == 0 ? "argmax" : "argmin", shown,
                          place->one ? " + 1" : "", place->range, ties(s, place->last));
    return synth_fill(s,
                      synth_choose(s, "`$1` is `$2`, `$3` being where `$4` is $5 $6$7|`$1 = $2` for the `$3` whose "
                                      "`$4` is the $5 $6$7|the $5 `$4` $6 has some `$3`: `$1 = $2`$7"),
                      output, result, letter, shown, which, place->range, ties(s, place->last));
}

static const char *extreme_told(struct synth *s, const struct place *place, const char *output, const char *shown,
                                bool largest)
{
    const char *which = largest ? "largest" : "smallest", *behind = "";
    if (synth_chance(s, 35))
        return by_letter(s, place, output, shown, which);
    if (*place->letter && synth_chance(s, 25))
        behind = synth_put(s, ", which is `$1`|: `$1`|, that is `$1`|, in other words `$1`",
                           place->one ? synth_fill(s, "$1 + 1", place->letter) : place->letter);
    return synth_fill(
        s,
        synth_choose(s, "`$1` is the position of the $2 `$3` $4, $5$7$6|`$1` tells which element has the $2 `$3` $4, "
                        "$5$7$6|`$1`: the index of the $2 `$3` $4, $5$7$6|the $2 `$3` $4 is looked for, and `$1` is "
                        "its number, $5$7$6|`$1` says at which place the $2 `$3` stands $4, $5$7$6|the place of the $2 "
                        "`$3` $4, $5, becomes `$1`$6|`$1` is the number ($5) of the $2 `$3` $4$7$6|$4, `$1` is the "
                        "number of the $2 `$3`, $5$7$6|`$1`, $5, points to the $2 `$3` $4$7$6"),
        output, which, shown, place->range, numbered(s, place->one), ties(s, place->last), behind);
}

static void add_position(struct synth *s, const struct place *place, const char *output, const char *condition,
                         const char *none, const char *told)
{
    synth_result(s, output,
                 synth_fill(s, "$1(where($2, index($3), $4))$5", place->last ? "amax" : "amin", condition, place->x,
                            place->last ? "-1" : none, place->one ? " + 1" : ""),
                 place->flat ? SYNTH_ONE : SYNTH_ROW, synth_choose(s, "int32|int32|int32|float32"));
    s->steps[s->step_count - 1].told = told;
}

static void make_extreme(struct synth *s, const struct place *place, const char *output)
{
    const char *shown, *of = compared(s, place, &shown);
    const bool largest = synth_chance(s, 50);
    if (synth_chance(s, 15)) { /* the element itself is a result, too */
        s->apart = true;
        const char *value = synth_name(s, "value|val|extreme|peak|top|best_value");
        synth_result(s, value, synth_fill(s, "$1($2)", largest ? "amax" : "amin", of),
                     place->flat ? SYNTH_ONE : SYNTH_ROW, NULL);
        s->steps[0].told = synth_put(s, "`$1` is the $2 `$3` $4|the $2 `$3` $4 goes to `$1`|`$1` holds the $2 `$3` $4",
                                     value, largest ? "largest" : "smallest", shown, place->range);
    }
    add_position(s, place, output, synth_fill(s, "$1 == $2($3)", of, largest ? "amax" : "amin", of), "1e9",
                 extreme_told(s, place, output, shown, largest));
}

/* The first or last element that meets a condition; what there is where none does is told. */
static void make_meeting(struct synth *s, struct place *place, const char *output)
{
    static const struct {
        const char *formula, *words;
    } conditions[] = {
        {"$1 > $3", "is above $3"},     {"$1 < $3", "is below $3"},         {"$1 > 0", "is positive"},
        {"$1 < 0", "is negative"},      {"abs($1) > $3", "exceeds $3"},     {"abs($1) < $3", "is less than $3"},
        {"$1 >= $3", "is at least $3"}, {"abs($1) <= $3", "is at most $3"}, {"$1 != 0", "is other than 0"},
        {"$1 < 0", "lies below 0"},     {"$1 > $2", "is larger than `$2`"}, {"$1 < $2", "is smaller than `$2`"}};
    int row = synth_pick(s, place->other ? 12 : 10);
    if (place->other)
        row = 10 + row % 2;
    const char *number = strstr(conditions[row].formula, "$3") ? synth_choose(s, "0.5|1|0.25|0.1|0.75") : "";
    const bool size = strncmp(conditions[row].formula, "abs", 3) == 0;
    const char *told_element = size ? synth_fill(s, "|$1|", place->element) : place->element;
    place->one &= place->last; /* else what there is for none would be a size and 1 */
    const char *formula = synth_put(s, conditions[row].formula, place->x, place->other, number),
               *words = synth_put(s, conditions[row].words, "", place->shown_other, number),
               *none = place->last ? place->one ? "0" : "-1" : synth_choose(s, "the number of elements|-2|1000000");
    const char *otherwise = *none == 't' ? synth_fill(s, "size($1)", place->x) : none;
    if (place->flat && *none == 't' && s->length)
        none = synth_fill(s, "`$1`", s->length);
    else if (*none == 't')
        none = "the row's length";
    if (strcmp(otherwise, "-2") == 0)
        none = otherwise = "1e6";
    add_position(
        s, place, output, formula, otherwise,
        synth_fill(
            s,
            synth_choose(
                s,
                "`$1` is the position of the $2 element whose `$3` $4 $5, $6; $7 if there is none|`$1` says which is "
                "the $2 element $5 where `$3` $4, $6, and is $7 without any|the $2 place $5 at which `$3` $4: `$1` is "
                "its number, $6, or $7|`$1`: the number of the $2 `$3` that $4 $5, $6 ($7 where no element does)"),
            output, place->last ? "last" : "first", told_element, words, place->range, numbered(s, place->one), none));
}

void synth_make_position(struct synth *s)
{
    struct place place = {0};
    draw_place(s, &place);
    const char *output = synth_name(s, "idx|index_out|pos|arg|which|out|result|best|result|y0|number");
    if (synth_chance(s, 72))
        make_extreme(s, &place, output);
    else
        make_meeting(s, &place, output);
}
