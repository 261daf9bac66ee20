/* Rows that become whole numbers: scaled, shifted, rounded, held within a range. */
#include "cot/synth_internal.h"

#include <string.h>

/* What is brought to whole numbers: rows, perhaps scaled to the same size before. */
static const char *rows_of(struct synth *s)
{
    const char *a = synth_input(s, SYNTH_FULL, synth_input_words);
    if (synth_chance(s, 30))
        return synth_chance(s, 50) ? a : synth_apply(s, a);
    const char *sum = synth_put(s, "$1 + $2|$1 + $2|$1 * $2|$1 - $2", a, synth_input(s, SYNTH_FULL, synth_input_words));
    if (synth_chance(s, 30))
        return synth_fill(s, "($1)", sum);
    const char *x = synth_name(s, "x|s|h|sum_out|res|z|new_residual");
    bool shown = synth_chance(s, 55);
    synth_shown(s, shown, x, sum, SYNTH_FULL, NULL);
    return x;
}

static const char *scaled_rows(struct synth *s, const char *x)
{
    const char *eps = synth_attr(s, "eps|epsilon|eps|epsilon|delta|tiny", "1e-5|1e-6|1e-3"),
               *scale = synth_chance(s, 85) ? synth_input(s, SYNTH_COLUMN, "gamma|weight|gain|w|g") : "1";
    return synth_put(
        s,
        "$1 / sqrt(mean($1**2) + $2) * $3|$1 * rsqrt(mean($1**2) + $2) * $3|$1 / (amax(abs($1)) + $2) * $3|"
        "($1 - mean($1)) / sqrt(var($1) + $2) * $3|$1 / (mean(abs($1)) + $2) * $3",
        x, eps, scale);
}

void synth_make_quantisation(struct synth *s)
{
    const char *x = rows_of(s);
    if (synth_chance(s, 45))
        x = scaled_rows(s, x);
    if (strchr(x, ' ') && synth_chance(s, 50)) {
        x = synth_step(s, synth_name(s, "n|h|normed|t|z|u|v"), x);
    }
    enum synth_place place = synth_chance(s, 60) ? SYNTH_COLUMN : SYNTH_ONE;
    const char *scale = synth_input(s, place, "scale|scales|inv_scale|smooth_scale|scales1|quant_scale");
    const char *text = synth_fill(s, synth_chance(s, 60) ? "($1) / $2" : "($1) * $2", x, scale);
    if (synth_chance(s, 60)) {
        text = synth_fill(s, "$1 + $2", text,
                          synth_input(s, place, "zero_point|offset|zero|zero_points|zp|offset1|zero_points1"));
        if (synth_chance(s, 40))
            s->tensors[s->tensor_count - 1].type = "int32";
    }
    if (synth_chance(s, 25)) {
        text = synth_step(s, synth_name(s, synth_step_words), text);
    }
    static const char *const forms =
        "clamp(round($1), -128, 127)|clamp(round($1), -128, 127)|round(clamp($1, -128, 127))";
    const char *output = synth_name(s, "y|out|q|y_int8|quantized|y1");
    synth_result(s, output, synth_fill(s, synth_choose(s, forms), text), SYNTH_FULL, "int8");
    if (synth_chance(s, 20)) { /* by another scale */
        const char *second = synth_name(s, "y2|out2|q2|other_q");
        if (strchr(x, ' '))
            synth_result(s, second, output, SYNTH_FULL, "int8");
        else
            synth_result(s, second,
                         synth_fill(s, synth_choose(s, forms),
                                    synth_fill(s, "$1 / $2", x, synth_input(s, place, "scales2|scale2|second_scale"))),
                         SYNTH_FULL, "int8");
    }
    s->generate = "uniform(0.5, 4)";
}

const char *synth_clamped(struct synth *s, const char *name, const struct expr *tree)
{
    bool outside = synth_is_call(tree, "clamp");
    const struct expr *kid = tree->kid_count ? tree->kids[0] : NULL;
    if (!kid || !synth_is_call(kid, outside ? "round" : "clamp") || (!outside && !synth_is_call(tree, "round")))
        return NULL;
    const struct expr *ends = outside ? tree : kid;
    const char *what = synth_formula(s, kid->kids[0]), *low = synth_formula(s, ends->kids[1]),
               *high = synth_formula(s, ends->kids[2]),
               *held = synth_put(s,
                                 "clamped to [$1, $2]|held within $1 and $2|cut off at $1 and $2|limited to $1 .. "
                                 "$2|clipped to the range $1 to $2|brought into [$1, $2]",
                                 low, high),
               *rounded = synth_choose(s, "rounded to whole numbers|rounded, halves to the even one|rounded to the "
                                          "next integer|rounded (half to even)|rounded to an integer|rounded");
    return synth_fill(
        s, synth_choose(s, "`$1 = $2`, $3$4$5|`$1 = $2`, then $3$4$5|`$1` is `$2`, $3$4$5|`$1` holds `$2`, $3$4$5"),
        name, what, outside ? rounded : held, synth_choose(s, " and |, then | and then "), outside ? held : rounded);
}
