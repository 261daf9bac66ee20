/* Rows a part of which is computed otherwise than the rest: one half, or a quarter. An answer has one form, where(index(x, -1) < ..). */
#include "cot/synth_internal.h"
#include "toolchain/tokens.h"

#include <string.h>

/* What happens to a part: a formula of $1, and what is told of it. "$3" is a number. */
static const struct {
    const char *formula, *told;
} changes[] = {{"-$1", "negated"},
               {"-$1", "turned in sign"},
               {"-$1", "multiplied by -1"},
               {"-$1", "given the other sign"},
               {"-$1", "of opposite sign"},
               {"-$1", "negated"},
               {"$1 * $3", "multiplied by $3"},
               {"$1 * $3", "scaled by $3"},
               {"$1 / $3", "divided by $3"},
               {"$1 + $3", "raised by $3"},
               {"$1 - $3", "lowered by $3"},
               {"-$1 * $3", "negated and multiplied by $3"},
               {"$3", "set to $3"},
               {"0", "cleared to 0"},
               {"exp($1)", "replaced by its exponential"},
               {"tanh($1)", "passed through tanh"},
               {"abs($1)", "made positive"},
               {"sigmoid($1)", "passed through a sigmoid"},
               {"$1**2", "squared"},
               {"max($1, 0)", "cut off below 0"},
               {"silu($1)", "passed through silu"}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* A part of a row: from its begin or at its end, a half or a quarter. */
struct part {
    const char *limit;          /* formula of the column that begins the second part; %s: the tensor */
    const char *shown;          /* the same of a width $1 */
    const char *first, *second; /* what both parts are called */
};
static const struct part parts[] = {
    {"size(%s) // 2", "$1 // 2", "first half", "second half"},
    {"size(%s) // 2", "$1 // 2", "left half", "right half"},
    {"size(%s) // 2", "$1 / 2", "first half", "second half"},
    {"size(%s) // 4", "$1 // 4", "first quarter", "last three quarters"},
    {"size(%s) - size(%s) // 4", "$1 - $1 // 4", "first three quarters", "last quarter"},
};

/* Sentences of the change and of what stays: $1 output, $2 formula of the part, $3 of the rest, $4 the part's name, $5 the rest's, $6 what is
 * done, $7 the input. */
static const char *by_name(struct synth *s, const char *const *words, bool changed)
{
    static const char *const
        kept = "`$1` is `$7` with the $4 of each row $6|the $4 of every row of `$7` is $6, nothing else is; the result "
               "is `$1`|`$1` equals `$7`, except for the $4 of each row, which is $6|in the $4 of a row `$1 = $2`, in "
               "the $5 `$1 = $7`|each row of `$7` goes into `$1` as it is, but with its $4 $6|`$1` holds `$7`; along "
               "the last dimension its $4 is $6, its $5 copied",
        *const computed =
            "the $4 of each row of `$1` is `$2`, the $5 `$3`|in the $5 of a row `$1 = $3`, in the $4 `$1 = $2`|`$1` is "
            "`$3`, but `$2` in the $4 of each row|along the last dimension `$1` has `$2` in its $4 and `$3` in its $5";
    return synth_put_parts(s, changed ? kept : computed, words);
}

/* By columns: $1 output, $2 first part's formula, $3 the second's, $4 letter, $5 limit, $6 width. */
static const char *by_column(struct synth *s, const char *const *words)
{
    return synth_put_parts(
        s,
        "`$1[.., $4] = $3` if `$4 >= $5`, else `$2`, `$6` being the number of columns|`$1[.., $4] = $2` for `$4 < $5` "
        "and `$3` from there on; rows have `$6` elements|with `$6` columns: `$1[.., $4]` is `$3` where `$4 >= $5` and "
        "`$2` where `$4 < $5`|of rows with `$6` elements, those at `$4 < $5` become `$2`, the others `$3`; that is "
        "`$1`|`$1[.., $4] = $4 < $5 ? $2 : $3`, where a row has `$6` elements|`$1` is `$3` from column `$5` on, `$2` "
        "in front of it; `$6` is how long rows are",
        words);
}

/* What elements are in terms of "x[.., j]". */
static const char *indexed(struct synth *s, const char *text, const char *name, const char *letter)
{
    struct text out = {0};
    size_t length = strlen(name);
    for (const char *at = text; *at;) {
        if ((at == text || !token_name_char(at[-1])) && strncmp(at, name, length) == 0 &&
            !token_name_char(at[length]) && at[length] != '(') {
            text_addf(&out, "%s[.., %s]", name, letter);
            at += length;
        } else {
            text_append(&out, at++, 1);
        }
    }
    return text_keep(&out, s->arena);
}

/* Only where it is changed: $1 output, $2 formula of the changed part, $4 letter, $5 limit, $6 width, $7 input. */
static const char *by_changed_columns(struct synth *s, const char *const *words, bool second)
{
    static const char *const
        behind = "`$1[.., $4] = $2` for every `$4 >= $5`, `$6` being how many columns there are, else `$1` is "
                 "`$7`|`$1` is `$7`, but `$1[.., $4] = $2` from `$4 = $5` on, where rows have `$6` elements|for `$4 >= "
                 "$5` `$1[.., $4] = $2`, all other elements are copied from `$7` (a row has `$6`)|`$1[.., $4]` is `$2` "
                 "if `$4 >= $5` and unchanged otherwise; `$6` is the length of a row of `$7`|with rows of `$6` "
                 "elements, `$1` is `$7` where `$4 < $5`, and `$1[.., $4] = $2` behind that",
        *const front =
            "`$1[.., $4] = $2` for every `$4 < $5`, `$6` being how many columns there are, else `$1` is `$7`|`$1` is "
            "`$7`, but `$1[.., $4] = $2` up to `$4 = $5 - 1`, where rows have `$6` elements|for `$4 < $5` `$1[.., $4] "
            "= $2`, all other elements are copied from `$7` (a row has `$6`)|`$1[.., $4]` is `$2` if `$4 < $5` and "
            "unchanged otherwise; `$6` is the length of a row of `$7`|with rows of `$6` elements, `$1` is `$7` where "
            "`$4 >= $5`, and `$1[.., $4] = $2` before that";
    return synth_put_parts(s, second ? behind : front, words);
}

void synth_make_halves(struct synth *s)
{
    const char *x = synth_input(s, SYNTH_FULL, "x|a|input|src|data|u|h|m|z|w|q|key|t"), *value = x;
    const bool two = synth_chance(s, 30);
    if (two)
        value = synth_fill(s, synth_choose(s, "$1 + $2|$1 * $2|$1 - $2"), x,
                           synth_input(s, SYNTH_FULL, "b|other|x2|bias|v|rot"));
    const int change = synth_pick(s, CHANGES);
    const struct part *part = &parts[synth_pick(s, (int)(sizeof parts / sizeof *parts))];
    const char *number = strcmp(changes[change].formula, "$3") == 0 ? synth_choose(s, "1|-1|2|0.5")
                                                                    : synth_choose(s, "2|0.5|3|0.25|10|0.1|1.5");
    if (strstr(changes[change].formula, "$1 ") && strstr(changes[change].formula, "$3") && synth_chance(s, 35))
        number = synth_attr(s, "scale|alpha|factor|c|k|gain", "0.5|2.0|1.5|0.25");
    const char *enclosed = two ? synth_fill(s, "($1)", value) : value, *of[] = {enclosed, NULL, number},
               *altered = synth_printed(s, synth_put_parts(s, changes[change].formula, of)),
               *told =
                   synth_put(s, changes[change].told, "", "", *number >= 'a' ? synth_fill(s, "`$1`", number) : number);
    value = synth_printed(s, value);
    const bool whole = strstr(part->first, "three"), tail = strstr(part->second, "three"),
               second = !tail && (whole || synth_chance(s, 65));
    const char *a = second ? value : altered, *b = second ? altered : value,
               *output = synth_name(s, "y|out|output|z|result|r|o|rotated|flipped");
    const char *limit = arena_printf(s->arena, part->limit, x, x);
    const char *sentence;
    if (synth_chance(s, 55)) {
        sentence = by_name(s,
                           (const char *[]){output, altered, value, second ? part->second : part->first,
                                            second ? part->first : part->second, told, value},
                           !two);
    } else {
        const char *j = synth_name(s, "j|j|c|k"), *width = synth_name(s, "W|n|N|D|C|cols|width|len");
        const bool elements = !two && synth_chance(s, 75);
        const char *at = synth_put(s, part->shown, width);
        if (elements && synth_chance(s, 35)) /* in words, and once more by columns */
            sentence =
                synth_fill(s,
                           synth_choose(s, "$1: `$2[.., $3] = $4` for `$5 $6 $7`, `$8` being the row's length|$1, so "
                                           "`$2[.., $3] = $4` where `$5 $6 $7` with rows of `$8` elements|$1 (`$2[.., "
                                           "$3] = $4` if `$5 $6 $7` and a row has `$8` elements)"),
                           by_name(s,
                                   (const char *[]){output, altered, value, second ? part->second : part->first,
                                                    second ? part->first : part->second, told, value},
                                   true),
                           output, j, indexed(s, altered, x, j), j, second ? ">=" : "<", at, width);
        else if (elements && synth_chance(s, 55))
            sentence = by_changed_columns(s, (const char *[]){output, indexed(s, altered, x, j), NULL, j, at, width, x},
                                          second);
        else
            sentence = by_column(s, (const char *[]){output, elements ? indexed(s, a, x, j) : a,
                                                     elements ? indexed(s, b, x, j) : b, j, at, width});
    }
    synth_told(s, output, synth_fill(s, "where(index($1, -1) < $2, $3, $4)", x, limit, a, b), sentence);
}
