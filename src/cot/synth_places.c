/* Operators that ask where an element stands: triangles, diagonals and bands of the last two dimensions, what depends on the place in a row. What a formula says
 * with index(x, -1) words say otherwise: each kind of them has its own sentences. */
#include "cot/synth_internal.h"

#include <string.h>

static const char *const inputs = "x|a|input|src|scores|data|u|h|m|matrix|attn|logits|z|w|self|t";
static const char *const outputs = "y|out|output|z|result|res|o|dst|ret|masked|r";

/* What it is all about: an input, or something that is computed of one or two. */
static const char *value_of(struct synth *s, const char **input)
{
    const char *atoms[2] = { *input = synth_input(s, SYNTH_FULL, inputs), NULL};
    if (synth_chance(s, 30))
        atoms[1] = synth_input(s, SYNTH_FULL, "b|other|x2|bias|mask_add|v|gate|scale_in|y0");
    return synth_expression(s, atoms, atoms[1] ? 2 : 1, synth_pick(s, 3));
}

void synth_told(struct synth *s, const char *output, const char *formula, const char *told)
{
    synth_result(s, output, formula, SYNTH_FULL, NULL);
    s->steps[s->step_count - 1].told = told;
}

/* A part of the last two dimensions: "index(x, -1) <= index(x, -2)", and what it is called. */
struct part {
    const char *condition, *relation, *words; /* relation: of the column c to the row r */
};
static struct part part_of(struct synth *s, const char *x)
{
    static const char *const signs[] = {"<=", ">=", "<", ">", "==", "!="};
    static const char *const words[] = {
        "the lower triangle|the lower triangle with its diagonal|the lower triangular part",
        "the upper triangle|the upper triangle with its diagonal|the upper triangular part",
        "what lies below the diagonal|the strictly lower triangle",
        "what lies above the diagonal|the strictly upper triangle",
        "the main diagonal|the diagonal",
        "everything but the diagonal|what lies off the diagonal"};
    const int kind = (const int[]){0, 0, 0, 1, 1, 2, 3, 4, 4, 5}[synth_pick(s, 10)];
    struct part part = {.words = synth_choose(s, words[kind])};
    const char *shift = "";
    if (synth_chance(s, 45)) {
        part.words = NULL;
        shift = synth_choose(s, " + 1| - 1| + 2| - 2| + 3");
        if (synth_chance(s, 60)) {
            shift = synth_fill(s, " + $1", synth_attr(s, "diagonal|k|offset|shift|diag|band", "1|2|-1|0"));
            s->attrs[s->attr_count - 1].type = "int";
        }
    }
    part.condition = synth_fill(s, "index($1, -1) $2 index($3, -2)$4", x, signs[kind], x, shift);
    part.relation = synth_fill(s, "c $1 r$2", signs[kind], shift);
    return part;
}

static void make_part(struct synth *s)
{
    const char *x, *value = value_of(s, &x), *output = synth_name(s, outputs);
    struct part part = part_of(s, x);
    const char *other = synth_chance(s, 45) ? synth_choose(s, "0|0|1|-1|-10000|-100|2") : NULL;
    const char *shown = other;
    if (!other) {
        other = synth_expression(s, &x, 1, 1 + synth_pick(s, 2));
        shown = synth_fill(s, "`$1`", synth_printed(s, other));
    }
    value = synth_printed(s, value);
    const char *told;
    if (part.words && synth_chance(s, 65))
        told = synth_chance(s, 50)
                   ? synth_fill(s, "`$1` is `$2` in $3 of every matrix (its last two dimensions), $4 elsewhere", output,
                                value, part.words, shown)
                   : synth_fill(s, "in $1 of each matrix `$2 = $3`, in the rest $4", part.words, output, value, shown);
    else if (synth_chance(s, 50))
        told = synth_fill(s, "`$1[.., r, c] = $2` where `$3`, $4 elsewhere", output, value, part.relation, shown);
    else
        told = synth_fill(s, "element (r, c) of each matrix of `$1` is `$2` if `$3`, else $4", output, value,
                          part.relation, shown);
    synth_told(s, output, synth_fill(s, "where($1, $2, $3)", part.condition, value, other), told);
}

/* The softmax of what a row may see. */
static void make_causal(struct synth *s)
{
    const char *x = synth_input(s, SYNTH_FULL, "scores|x|attn|qk|logits|s"), *output = synth_name(s, outputs),
               *scaled = x;
    if (synth_chance(s, 60))
        scaled = synth_fill(s, "$1 * $2", x,
                            synth_chance(s, 70) ? synth_attr(s, "scale|alpha|inv_sqrt_d|temperature", "0.125|0.5|0.25")
                                                : "0.125");
    const char
        *large = synth_choose(s, "-10000|-1e4|-100"),
        *told = synth_put(
            s,
            "`$1` is the softmax of `$2` over the last dimension, with $3 where the column is behind the row|causal "
            "softmax: `$1[.., r, :]` is the softmax of `$2`, where columns `c > r` are $3|`$1 = softmax($2)` over each "
            "row, of which only columns up to the row's own number are seen, the others being $3",
            output, scaled, large);
    synth_told(s, output, synth_fill(s, "softmax(where(index($1, -1) <= index($2, -2), $3, $4))", x, x, scaled, large),
               told);
}

/* By the position in a row. */
static void make_by_position(struct synth *s)
{
    const char *x, *value = synth_printed(s, value_of(s, &x)), *output = synth_name(s, outputs), *told, *formula;
    const char *place = synth_chance(s, 75) ? "index($1, -1)" : "index($1, -2)";
    const char *j = strstr(place, "-1") ? "j" : "i";
    place = synth_fill(s, place, x);
    const char *of =
        *j == 'j' ? synth_choose(s, "the position in the row|the column's number|the index along the last dimension")
                  : synth_choose(s, "the row's number|the index along the second to last dimension");
    switch (synth_pick(s, 5)) {
    case 4: { /* halves */
        const char *other = synth_printed(s, synth_chance(s, 40) ? synth_fill(s, "-($1)", x)
                                                                 : synth_expression(s, &x, 1, 1 + synth_pick(s, 2)));
        formula = synth_fill(s, "where(index($1, -1) < size($2) // 2, $3, $4)", x, x, value, other);
        told = synth_put(s,
                         "the first half of each row of `$1` is `$2`, the second half `$3`|`$1[.., j]` is `$2` for `j "
                         "< n // 2`, `$3` for the other half of the last dimension's `n` elements|`$1` is `$2` in the "
                         "first half of its last dimension and `$3` in the second",
                         output, value, other);
        break;
    }
    case 0: { /* a ramp */
        const char *step = synth_attr(s, "step|slope|delta|rate|omega", "0.5|0.01|2.0|0.1|-0.25");
        const char *ramp = synth_chance(s, 60) ? "$1 + $2 * $3" : "($1) * (1 + $2 * $3)";
        formula = synth_fill(s, ramp, value, step, place);
        told = synth_fill(s, "`$1 = $2`, where `$3` is $4, counted from 0", output,
                          synth_printed(s, synth_fill(s, ramp, value, step, j)), j, of);
        break;
    }
    case 1: { /* the first ones */
        const char *n = synth_attr(s, "n|length|limit|count|valid|keep", "3|8|2|16"),
                   *other = synth_choose(s, "0|0|1|-1");
        s->attrs[s->attr_count - 1].type = "int";
        formula = synth_fill(s, "where($1 < $2, $3, $4)", place, n, value, other);
        told = synth_fill(s,
                          *j == 'j' ? "of each row of `$1` the first `$2` elements are `$3`, the others $4"
                                    : "of each matrix of `$1` the first `$2` rows are `$3`, the others $4",
                          output, n, value, other);
        break;
    }
    case 2: { /* every second one */
        const char *other = synth_chance(s, 50) ? synth_choose(s, "0|1") : synth_fill(s, "-($1)", value);
        formula = synth_fill(s, "where($1 % 2 == 0, $2, $3)", place, value, other);
        told = synth_fill(s, "`$1` is `$2` where $3 is even, `$4` where it is odd", output, value, of,
                          synth_printed(s, other));
        break;
    }
    default: /* a band */
    {
        const char *width = synth_choose(s, "1|2|3|4");
        formula = synth_fill(s, "where(abs(index($1, -1) - index($2, -2)) <= $3, $4, 0)", x, x, width, value);
        told = synth_fill(s, "`$1[.., r, c]` is `$2` in a band around the diagonal, `|c - r| <= $3`, and 0 outside",
                          output, value, width);
    }
    }
    synth_told(s, output, formula, told);
}

/* Relations of the row r and the column c of an element, `$1` and `$2`: by column first as formulas have it, by row first, and in words. */
static const struct {
    const char *formula, *column, *row, *words;
} relations[] = {
    {"==", "$2 == $1", "$1 == $2", "row and column have the same number|the row equals the column"},
    {"!=", "$2 != $1", "$1 != $2", "row and column differ|the row is not the column"},
    {"<=", "$2 <= $1", "$1 >= $2", "the column is at most the row|the column does not exceed the row"},
    {"<", "$2 < $1", "$1 > $2", "the column is less than the row|the row exceeds the column"},
    {">=", "$2 >= $1", "$1 <= $2", "the column is at least the row|the row does not exceed the column"},
    {">", "$2 > $1", "$1 < $2", "the column is above the row|the row is less than the column"},
};

/* A condition on row and column: what it is in formulas, and how it is told. */
static const char *where_ones(struct synth *s, const char *y, const char *r, const char *c, const char **told,
                              bool *eye)
{
    const char *c1 = synth_fill(s, "index($1, -1)", y), *r1 = synth_fill(s, "index($1, -2)", y);
    const int kind = synth_pick(s, 12), row = synth_chance(s, 40) ? synth_pick(s, 2) : synth_pick(s, 6);
    *eye = false;
    if (kind < 5) {
        const char *form = synth_choose(s, synth_chance(s, 50) ? relations[row].column : relations[row].row);
        *told = synth_fill(s, "`$1`", synth_fill(s, form, r, c));
        if (synth_chance(s, 45))
            *told = synth_choose(s, relations[row].words);
        *eye = row < 2;
        return synth_fill(s, "$1 $2 $3", c1, relations[row].formula, r1);
    }
    if (kind < 9) { /* shifted */
        const char *shift = synth_choose(s, "1|2|3|4");
        if (synth_chance(s, 55)) {
            shift = synth_attr(s, "k|offset|diagonal|shift|d|off", "1|2|3|-1");
            s->attrs[s->attr_count - 1].type = "int";
        }
        const char *sign = synth_choose(s, "+|+|-");
        *told = synth_fill(s, synth_chance(s, 70) ? "`$2 $5 $1 $3 $4`" : "`$2 $5 ($1 $3 $4)`", r, c, sign, shift,
                           relations[row].formula);
        return synth_fill(s, "$1 $2 $3 $4 $5", c1, relations[row].formula, r1, sign, shift);
    }
    const char *width = synth_choose(s, "1|2|3|5");
    switch (kind) {
    case 9:
        *told = synth_put(s, "`abs($2 - $1) <= $3`|`$2` is within $3 of `$1`|`$1` and `$2` are at most $3 apart", r, c,
                          width);
        return synth_fill(s, "abs($1 - $2) <= $3", c1, r1, width);
    case 10:
        *told = synth_put(s, "`$1 + $2` is even|`($1 + $2) % 2 == 0`|`$1` and `$2` are both even or both odd", r, c);
        return synth_fill(s, "($1 + $2) % 2 == 0", c1, r1);
    default:
        *told = synth_put(s,
                          "`$1 + $2` is one less than the number of columns|`$2` counts from the right end what `$1` "
                          "counts from the top|`$2 == w - 1 - $1`, `w` being the number of columns",
                          r, c);
        return synth_fill(s, "$1 + $2 == size($3) - 1", c1, r1, y);
    }
}

/* $1 the matrix, $2 and $3 what stands where the condition $4 holds and where not, $5 and $6 row and column. */
static const char *ones_told(struct synth *s, const char *const *words)
{
    return synth_put_parts(
        s,
        "`$1[.., $5, $6]` is $2 where $4, elsewhere $3|`$1` is $3 except where $4: there it is $2|each "
        "matrix of `$1` gets $2 where $4 and $3 in all other places|element ($5, $6) of every matrix of "
        "`$1` becomes $2 if $4, else $3|`$1` holds $3, but $2 for all `$5` and `$6` for which $4|if $4, "
        "`$1[.., $5, $6]` is $2; if not, $3|$2 where $4, $3 anywhere else: that is `$1`, with the row "
        "`$5` and the column `$6`|`$1[.., $5, $6]` is set to $2 wherever $4, and to $3 otherwise|every "
        "matrix of `$1` consists of $3, with $2 where $4|where $4 (row `$5`, column `$6`) `$1` is $2, in "
        "all other places $3|all of `$1` is $3 apart from the places where $4, which are $2",
        words);
}

/* Letters that tell which is the row and which the column. */
static void name_row_and_column(struct synth *s, const char **r, const char **c)
{
    static const char *const pairs[][2] = {{"r", "c"}, {"i", "j"}, {"row", "col"},
                                           {"r", "c"}, {"p", "q"}, {"row", "column"}};
    enum { PAIRS = sizeof pairs / sizeof *pairs };
    *r = "r1";
    *c = "c1";
    for (int first = synth_pick(s, PAIRS), i = 0; i < PAIRS; i++) {
        const char *const *pair = pairs[(first + i) % PAIRS];
        if (synth_is_name(s, pair[0]) || synth_is_name(s, pair[1]))
            continue;
        *r = s->names[s->name_count++] = pair[0];
        *c = s->names[s->name_count++] = pair[1];
        return;
    }
}

/* Matrices of two numbers: nothing of the input but its shape counts. */
static void make_ones(struct synth *s)
{
    const char *y = synth_input(s, SYNTH_FULL, "y|x|m|out|mat|a|matrix|result|eye_out|t"), *told;
    const char *r, *c;
    name_row_and_column(s, &r, &c);
    bool eye;
    const char *condition = where_ones(s, y, r, c, &told, &eye);
    const char *one = synth_choose(s, "1|1|1|1|2|0.5|-1|0|10"), *zero = synth_choose(s, "0|0|0|0|-1|1|0.5|-10000");
    const bool trivial = strcmp(one, zero) == 0;
    if (trivial || (eye && strstr(condition, "==") && *one == '1' && !one[1] && *zero == '0' && !zero[1]) ||
        (eye && strstr(condition, "!=") && strcmp(one, "0") == 0)) { /* a benchmark's, or nothing */
        one = "3";
        zero = synth_choose(s, "0|-1|1");
    }
    const bool in_place = !s->plain && synth_chance(s, 65);
    const char *output = synth_name(s, "z|o|res|made|filled|ones"), *name = in_place ? y : output;
    s->replaces = in_place;
    const char *behind = synth_choose(
        s,
        in_place
            ? "|. What was there before does not count|. The values that come in are lost|, in the memory of the "
              "input|. Nothing of the old values is used|, where there were zeros at first|. At first all of it "
              "is 0"
            : synth_fill(
                  s, "|. Of `$1` the shape alone counts|. `$1` lends its shape|. The values of `$1` are not used", y));
    for (int i = synth_pick(s, 3); i > 0; i--) {
        const char *size =
            synth_silent(s, i == 1 ? "rows|n_rows|height|m_rows" : "cols|n_cols|columns|wide", "int", "1");
        if (synth_chance(s, 45))
            behind =
                synth_put(s, "$1. `$2` says how many $3 a matrix has|$1. There are `$2` $3|$1. A matrix has `$2` $3",
                          behind, size, i == 1 ? "rows" : "columns");
    }
    const bool truth = !in_place && synth_chance(s, 20);
    if (truth) {
        synth_told(
            s, output, condition,
            synth_put(
                s, "`$1[.., $2, $3]` is true where $4, else false|`$1` tells of each row $2 and column $3 whether $4",
                output, r, c, told));
        s->tensors[s->tensor_count - 1].type = "bool";
        return;
    }
    told = ones_told(s, (const char *[]){name, one, zero, told, r, c});
    synth_told(s, output, synth_fill(s, "where($1, $2, $3)", condition, one, zero),
               synth_fill(s, "$1$2", told, behind));
}

/* Rows that are put together of what is computed of halves: gradients of gates look like that. */
static void make_joined(struct synth *s)
{
    const char *x = synth_input(s, SYNTH_FULL, inputs), *a = synth_name(s, "a|u|left|x1|h1|first|v"),
               *b = synth_name(s, "b|gate|right|x2|h2|second|w"), *atoms[3] = {a, b, NULL}, *parts[2];
    if (synth_chance(s, 75))
        atoms[2] = synth_input(s, SYNTH_HALF, "dy|grad|grad_out|y_grad|dout|g|upstream");
    const int inputs_of = atoms[2] ? 3 : 2;
    for (int i = 0; i < 2; i++) {
        const char *some[2] = {atoms[synth_pick(s, 2)], atoms[synth_pick(s, inputs_of)]};
        if (i && atoms[2])
            some[1] = atoms[2];
        parts[i] = synth_printed(s, synth_expression(s, some, some[0] == some[1] ? 1 : 2, 1 + synth_pick(s, 2)));
    }
    const char *output = synth_name(s, "dx|y|out|grad_x|x_grad|result|z");
    s->even = true;
    for (int i = 0; i < 2; i++) {
        synth_step(s, atoms[i], synth_fill(s, i ? "$1[size($2) // 2:]" : "$1[:size($2) // 2]", x, x));
        const char *row = synth_choose(
            s, "`%s` is the %s half of each row of `%s`|`%s` is the %s half of `%s`, along the last dimension");
        const bool ends = !strstr(row, "row");
        s->steps[i].told = arena_printf(s->arena, row, atoms[i],
                                        (const char *[]){"first", "second", "left", "right"}[2 * ends + i], x);
    }
    synth_told(s, output, synth_fill(s, "concat($1, $2)", parts[0], parts[1]),
               synth_put(s,
                         "the first half of each row of `$1` is `$2`, the second half `$3`|`$1` is `$2` and behind it "
                         "`$3`, put together along the last dimension|`$1 = cat($2, $3)` along the last dimension|the "
                         "left half of `$1` is `$2`, its right half `$3`",
                         output, parts[0], parts[1]));
}

void synth_make_place(struct synth *s)
{
    const int kind = synth_pick(s, 34);
    (kind < 9    ? make_part
     : kind < 16 ? make_by_position
     : kind < 18 ? make_causal
     : kind < 28 ? make_ones
                 : make_joined)(s);
}
