/* A choice first, and then more: what was chosen is normalised, opened, summed. */
#include "cot/synth_internal.h"

#include <string.h>

/* One side of the choice. */
static const char *side(struct synth *s, const char *tensor)
{
    return synth_put(s, "$1 * {0.5|2|0.1|0.125}|{-10000|0|-100|1|-1e4|0.5|-1}|{exp|tanh|abs|sigmoid|sin}($1)|$1|$1|$1",
                     tensor);
}

static const char *condition(struct synth *s, const char *a)
{
    if (synth_chance(s, 65))
        return synth_mask(s);
    return synth_fill(s, "$1 $2 $3", synth_chance(s, 50) ? a : synth_input(s, SYNTH_FULL, "c|g|cond|sel|d|p"),
                      synth_choose(s, ">|<|>=|<=|!="), synth_choose(s, "0|0|0.5|1|-1"));
}

/* What becomes of what was chosen: "$1", with a number "$2" and another tensor "$3". */
static const char *further(struct synth *s, const char *h, enum synth_place *place)
{
    static const char *const softmax = "softmax($1)|softmax($1)|log_softmax($1)|softmax($1) * $3|exp($1 - amax($1)) / "
                                       "sum(exp($1 - amax($1)))|softmax($1 * 0.5)|softmax($1) - $3";
    static const char *const norm =
        "$1 * rsqrt(mean($1**2) + $2)|($1 - mean($1)) / sqrt(var($1) + $2)|$1 - mean($1)|$1 / (sum(abs($1)) + $2)|$1 / "
        "sqrt(sum($1**2) + $2)|($1 - mean($1)) * rsqrt(var($1) + $2) * $3";
    static const char *const gate =
        "silu($1) * $3|tanh($1) + $3|gelu($1)|$1 * $3 + $1|sigmoid($1) * $3|abs($1) + $3|relu($1) - $3|$1**2 - "
        "$3|exp($1) * $3|softplus($1)|max($1, $3)|$3 / (1 + $1**2)";
    const char *number = synth_choose(s, "1e-6|1e-5|1e-3");
    const int kind = synth_pick(s, 6);
    *place = kind == 3 ? SYNTH_ROW : SYNTH_FULL;
    const char *text = synth_choose(s, kind < 2    ? softmax
                                       : kind == 2 ? norm
                                       : kind == 3 ? "sum($1)|mean($1)|amax($1)|amin($1)|logsumexp($1)|sum($1 * $3)"
                                                   : gate);
    const char *parts[] = {h, number, NULL};
    if (strstr(text, "$3"))
        parts[2] = synth_input(s, SYNTH_FULL, "v|value|g|gate|residual|w|other|dropout_mask");
    return synth_put_parts(s, text, parts);
}

void synth_make_selected(struct synth *s)
{
    const char *a = synth_input(s, SYNTH_FULL, "a|x|scores|x1|logits|self|input|left|q"),
               *b = synth_input(s, SYNTH_FULL, "b|y|other|x2|fixed|fill|alt|right|u"), *sides[] = {side(s, a), b};
    if (synth_chance(s, 40))
        sides[1] = side(s, b);
    const int first = synth_pick(s, 2);
    const char *h = synth_name(s, "x|h|m|s|t|sel|chosen|masked|z|e"), *output = synth_name(s, synth_output_words);
    const bool shown = synth_chance(s, 15);
    synth_shown(s, shown, h, synth_fill(s, "where($1, $2, $3)", condition(s, a), sides[first], sides[1 - first]),
                SYNTH_FULL, NULL);
    enum synth_place place;
    const char *text = further(s, h, &place);
    if (place == SYNTH_FULL && synth_chance(s, 20)) {
        const char *next = synth_name(s, synth_step_words);
        synth_step(s, next, text);
        text = synth_fill(s, synth_choose(s, "$1 * $2|$1 + $2|$1 - $2"), next,
                          synth_chance(s, 50) ? synth_input(s, SYNTH_FULL, "r|skip|k|res|p") : h);
    }
    synth_result(s, output, text, place, NULL);
}
