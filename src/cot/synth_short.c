/* Operators of one operation or two, alone or two of them side by side: an answer ends where the description does. */
#include "cot/synth_internal.h"

#include <string.h>

/* A number, an attribute or a tensor of one. */
static const char *scalar(struct synth *s)
{
    static const char *const tensors = "scalar|alpha|scalars|factor|s|value|weight|beta|multiplier|offset|k|values";
    const int kind = synth_pick(s, 4);
    return kind == 0   ? synth_input(s, SYNTH_ONE, tensors)
           : kind == 1 ? synth_attr(s, synth_number_words, "0.5|1.5|2.0|0.1|0.75|0.25|1.25|3.0|-0.5")
                       : synth_number(s);
}

static const char *function(struct synth *s, const char *of)
{
    static const char *const names =
        "exp|log|sqrt|abs|sin|cos|tan|tanh|sinh|cosh|asin|acos|atan|sigmoid|erf|erfc|expm1|log1p|log2|log10|exp2|rsqrt|"
        "reciprocal|square|floor|ceil|round|trunc|sign|relu|silu|gelu|gelu_tanh|softplus|softsign|log10|log2|log|abs|"
        "round|floor|ceil|trunc|erf|erfc|erf|erfc|expm1|log1p|sinh|cosh|tanh|softplus";
    return synth_fill(s, "$1($2)", synth_choose(s, names), of);
}

/* An input against another thing. */
static const char *pair_of(struct synth *s, const char *x, const char *other)
{
    return synth_put(s,
                     "$1 / $2|$2 / $1|$1 - $2|$1 - $2|$2 - $1|max($1, $2)|min($1, $2)|{70:$1**$2|$2**$1}|$1 + $2|"
                     "$1 + $2|$1 + $2|{60:$1 * $2|$2 * $1}|{60:$1 * $2|$2 * $1}|{60:$1 * $2|$2 * $1}",
                     x, other);
}

static const char *one_operation(struct synth *s, const char *x)
{
    const int kind = synth_pick(s, 10);
    return kind == 0   ? synth_fill(s, "-$1", x)
           : kind == 1 ? x
           : kind == 2 ? pair_of(s, x, synth_input(s, SYNTH_FULL, synth_input_words))
           : kind < 6  ? function(s, x)
                       : pair_of(s, x, scalar(s));
}

/* All elements alike: a number, or what becomes of one. */
static const char *fill(struct synth *s)
{
    const char *value = synth_chance(s, 50) ? synth_input(s, SYNTH_ONE, "value|fill_value|scalar|c|number|start|val")
                                            : synth_attr(s, "value|fill_value|c|number|constant", "0.5|2.0|1.5|-1.0");
    return synth_chance(s, 35)   ? synth_fill(s, "-$1", value)
           : synth_chance(s, 50) ? function(s, value)
                                 : pair_of(s, value, synth_number(s));
}

/* Sums with a scaled part, as accumulating operators have them. */
static const char *accumulated(struct synth *s, const char *x)
{
    const char *a = synth_input(s, SYNTH_FULL, synth_input_words), *k = scalar(s);
    if (synth_chance(s, 45))
        return synth_put(s,
                         "$1 + $3 * $2|$1 - $3 * $2|$1 + $2 * $3|$3 * $1 + $2|$1 * $2 + $3|$1 + $2 / $3|($1 + $2) * "
                         "$3|$3 * ($1 - $2)",
                         x, a, k);
    return synth_fill(
        s,
        synth_choose(s, "$1 + $2 / $4 * $3|$1 - $2 * $4 * $3|$1 * $2 + $3 * $4|$1 - $2 / $4 * $3|($1 - $2) * $3 * "
                        "$4|$1 - $3 * $2 * $4|$3 * $1 + $2 / $4|$1 / $4 + $2 * $3|$1 + $3 * ($2 - $4)"),
        x, a, k, synth_input(s, SYNTH_FULL, synth_input_words));
}

/* What follows the point, logarithms to any base, rounding to steps. */
static const char *of_numbers(struct synth *s, const char *x)
{
    const char *step = synth_choose(s, "10|2|4|0.5|100|8|0.1");
    return synth_put(s,
                     "$1 - trunc($1)|$1 - floor($1)|{round|floor|ceil|trunc}($1 * $2) / $2|"
                     "{round|floor|ceil|trunc}($1 / $2)|log($1) / log({3|5|7|1.5|20|16|12|4|6})|"
                     "log($1) / log({3|5|7|1.5|20|16|12|4|6})",
                     x, step);
}

static const char *two_operations(struct synth *s, const char *x)
{
    const int kind = synth_pick(s, 13);
    return kind < 3    ? function(s, pair_of(s, x, scalar(s)))
           : kind < 5  ? pair_of(s, function(s, x), scalar(s))
           : kind == 5 ? function(s, pair_of(s, x, synth_input(s, SYNTH_FULL, synth_input_words)))
           : kind == 6 ? synth_fill(s, "-$1", function(s, x))
           : kind == 7 ? synth_fill(s, "-($1)", pair_of(s, x, scalar(s)))
           : kind == 8 ? function(s, function(s, x))
           : kind < 11 ? of_numbers(s, x)
                       : accumulated(s, x);
}

/* Finite, infinite, nan, or not: of an input, or of what is made of it. */
static const char *kind_of_number(struct synth *s, const char *x)
{
    const int kind = synth_pick(s, 5);
    const char *of = kind == 0   ? pair_of(s, x, scalar(s))
                     : kind == 1 ? function(s, x)
                                 : x,
               *other = kind == 2 ? synth_input(s, SYNTH_FULL, synth_input_words) : NULL;
    static const char *const kinds = "abs($1) < inf|abs($1) < inf|abs($1) == inf|abs($1) == inf|$1 != $1|$1 == $1|not "
                                     "abs($1) < inf|$1 == inf|$1 == -inf",
                             *const both =
                                 "abs($1) < inf and abs($2) < inf|abs($1) == inf or abs($2) == inf|$1 != $1 or "
                                 "$2 != $2|abs($1) < inf and $2 == $2";
    return synth_put(s, other ? both : kinds, strchr(of, ' ') ? synth_fill(s, "($1)", of) : of, other);
}

/* A comparison, or one of two by a mask. */
static const char *chosen(struct synth *s, const char *x, bool *truth)
{
    *truth = synth_chance(s, 72);
    if (*truth && synth_chance(s, 50))
        return kind_of_number(s, x);
    if (*truth)
        return synth_fill(s, "$1 $2 $3", x, synth_choose(s, ">|<|>=|<=|==|!="), scalar(s));
    const char *mask = synth_mask(s);
    return synth_chance(s, 70) ? synth_fill(s, "where($1, $2, $3)", mask, x, scalar(s))
                               : synth_fill(s, "where($1, $2, $3)", mask, scalar(s), x);
}

/* Numbers that are written over inputs, 1 for each tensor: 0 alone is a benchmark's. */
static void make_constants(struct synth *s, int count)
{
    s->small = s->replaces = true;
    s->apart = count > 1;
    const char *one[2], *kept[2];
    for (int i = 0; i < count; i++) {
        kept[i] = synth_input(s, SYNTH_FULL, synth_input_words);
        s->tensors[s->tensor_count - 1].kept = true;
        one[i] = synth_choose(s, count == 1 ? "1|1|1|2.5|-1|0.5|2|3|10|100|-2|7|0.25|1.5" : "0|0|0|0|1|1|2.5|-1|0.5|3");
        if (i && strcmp(one[1], one[0]) == 0) /* both 0 would be that, too */
            one[1] = "4";
        if (count > 1 && i && synth_chance(s, 35))
            one[1] = one_operation(s, kept[1]);
    }
    for (int i = 0; i < count; i++) {
        synth_result(s, synth_name(s, synth_output_words), one[i], SYNTH_FULL, NULL);
    }
}

void synth_make_single(struct synth *s)
{
    s->small = true;
    bool truth = false;
    int kind = synth_pick(s, 108);
    if (kind >= 100) {
        make_constants(s, synth_chance(s, 55) ? 1 : 2);
        return;
    }
    const char *text = kind < 8 ? fill(s) : NULL;
    if (!text) {
        const char *x = synth_input(s, SYNTH_FULL, synth_input_words);
        text = kind < 23 ? chosen(s, x, &truth) : kind < 64 ? one_operation(s, x) : two_operations(s, x);
    }
    synth_result(s, synth_name(s, synth_output_words), text, SYNTH_FULL, truth ? "bool" : NULL);
}

void synth_make_pair(struct synth *s)
{
    s->small = true;
    const char *x = synth_input(s, SYNTH_FULL, synth_input_words),
               *other = synth_chance(s, 60) ? x : synth_input(s, SYNTH_FULL, synth_input_words);
    s->apart = other != x;
    const char *texts[] = {one_operation(s, x), one_operation(s, other)};
    for (int i = 0; i < 2; i++) {
        synth_result(s, synth_name(s, synth_output_words), texts[i], SYNTH_FULL, NULL);
    }
}
