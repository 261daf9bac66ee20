/* The families of operators: which tensors and attributes one has, and which formulas. */
#include "cot/synth_internal.h"

#include <string.h>

const char *const synth_input_words = "x|y|a|b|c|x1|x2|x3|input|input1|other|u|v|p|q|t|src|hidden|residual|key|query|"
                                      "value|feature|self|start|end|lhs|rhs|dy|grad|z|h|w|state|left|right|"
                                      "predict|label|tensor1|tensor2|in0|in1|data|scores|signal|base|target";
const char *const synth_output_words = "y|out|output|z|result|res|o|dst|dx|y1|out1|ret|yout|r|new_x|update";
const char *const synth_step_words = "d|s|m|n|t|u|v|e|h|k|r|c|a|b|g|w|p|q|f|z|tmp|inner|i1|core|arg";
const char *const synth_number_words = "alpha|beta|scale|gamma|factor|c|k|slope|weight|lam|coef|shift|offset|delta|"
                                       "tau|temperature|theta|bound|limit|gain|bias_value|p|negative_slope|strength";
static const char *const number_values = "0.5|1.5|2.0|0.1|0.75|0.25|1.25|3.0|0.01|-0.5|0.9";
static const char *const eps_words = "eps|epsilon|eps|epsilon|epsilon|delta|small|tiny";
static const char *const eps_values = "1e-5|1e-6|1e-3|1e-8|0.001|0.00001|1e-4";

/* Inputs, attributes and sometimes a tensor of one number, as atoms of an expression. */
static int atoms_of(struct synth *s, int least, int most, const char **atoms)
{
    int count = least + synth_pick(s, most - least + 1);
    for (int i = 0; i < count; i++)
        atoms[i] = synth_input(s, SYNTH_FULL, synth_input_words);
    for (int more = synth_pick(s, 10); more > 6 && count < 6; more--) {
        if (more == 9)
            atoms[count++] = synth_input(s, SYNTH_ONE, "scalar|alpha|factor|s|mulscalar|value|weight|scale_in|k");
        else
            atoms[count++] = synth_attr(s, synth_number_words, number_values);
    }
    return count;
}

void synth_make_elementwise(struct synth *s)
{
    s->small = true;
    const char *atoms[12];
    int count = atoms_of(s, 1, synth_chance(s, 70) ? 2 : 4, atoms), distinct = count;
    for (int again = synth_pick(s, 3); again > 0 && distinct < 4 && count < 8; again--)
        atoms[count] = atoms[synth_pick(s, distinct)], count++;
    int functions = synth_chance(s, 30) ? synth_pick(s, 2) : 1 + synth_pick(s, synth_chance(s, 75) ? 3 : 6);
    if (count == 1 && !functions)
        functions = 1;
    synth_result(s, synth_name(s, synth_output_words), synth_expression(s, atoms, count, functions), SYNTH_FULL, NULL);
}

void synth_make_steps(struct synth *s)
{
    s->small = true;
    const char *atoms[12], *used[4];
    int count = atoms_of(s, 1, 4, atoms), steps = 1 + synth_pick(s, 4);
    int first = 0; /* atoms from here on were not used yet */
    bool middle = synth_chance(s, 20);
    for (int i = 0; i < steps; i++) {
        int take = 1 + synth_pick(s, 2);
        for (int j = 0; j < take; j++)
            used[j] = first < count && synth_chance(s, 70) ? atoms[first++] : atoms[synth_pick(s, count)];
        const char *text = synth_expression(s, used, take, synth_chance(s, 25) ? 0 : 1 + synth_pick(s, 3));
        const char *name = synth_result_name(s, synth_step_words, text, 25);
        synth_shown(s, middle && i == steps - 1, name, text, SYNTH_FULL, NULL);
        atoms[count++] = name;
    }
    const char *left[12], *output;
    int remaining = 0;
    for (; first < count - steps; first++)
        left[remaining++] = atoms[first];
    for (int i = count - steps; i < count; i++)
        left[remaining++] = atoms[i];
    output = synth_name(s, synth_output_words);
    synth_result(s, output, synth_expression(s, left, remaining, synth_pick(s, 3)), SYNTH_FULL, NULL);
    if (synth_chance(s, 15)) { /* another result of the same steps */
        const char *two[2] = {atoms[count - 1], atoms[synth_pick(s, count)]},
                   *second = synth_name(s, synth_output_words);
        synth_result(s, second, synth_expression(s, two, 2, synth_pick(s, 3)), SYNTH_FULL, NULL);
    }
}

/* What numbers of one kind become: those that are not finite, for instance. */
static const char *kind_of_number(struct synth *s, const char *of)
{
    return synth_put(s, "abs($1) < inf|abs($1) < inf|abs($1) == inf|$1 != $1|$1 != $1|$1 - $1 == 0", of);
}

/* One of three, or of four, by limits that fall; values may be numbers. */
static const char *cascade(struct synth *s, const char *of, const char *value, const char *other)
{
    static const char *const limits[] = {"2|1|3|2.5|1.5", "0.5|0|0.25|0", "-0.5|-1|-2|-0.1"};
    static const char *const signs = "1|2|3|0.5|10|1", *const falling = "-1|-2|-0.5|-3|-10|0.25";
    bool numbers = synth_chance(s, 45);
    const char *last = numbers ? synth_choose(s, "0|0|0|0.1|4") : synth_chance(s, 60) ? of : synth_choose(s, "0|1|0");
    if (synth_chance(s, 20)) /* four */
        return synth_fill(s, "where($1 > $2, $3, where($1 > $4, $5, where($1 > $6, $7, $8)))", of,
                          synth_choose(s, limits[0]), numbers ? synth_choose(s, signs) : value,
                          synth_choose(s, limits[1]), other, synth_choose(s, limits[2]),
                          numbers ? synth_choose(s, falling) : of, last);
    bool ends = synth_chance(s, 75); /* above one limit, below another */
    const char *high = ends ? synth_choose(s, "0|1|0.5|2|0|0") : synth_choose(s, limits[1]),
               *low = ends ? synth_choose(s, "0|-1|-0.5|-2|0|0") : synth_choose(s, limits[2]),
               *above = numbers ? synth_choose(s, signs) : value, *below = numbers ? synth_choose(s, falling) : other;
    if (numbers && *high == '0' && strcmp(low, "0") == 0 && strcmp(above, "1") == 0)
        above = "2"; /* the sign is a benchmark's, and has another key as a choice */
    return synth_fill(s, "where($1 $2 $3, $4, where($1 $5 $6, $7, $8))", of, synth_choose(s, ">|>=|>"), high, above,
                      ends ? synth_choose(s, "<|<=|<") : ">", low, below, last);
}

/* One of three, or of two by a mask, or what two limits leave. */
static const char *further_choice(struct synth *s, const char *a, const char *b, const char *c)
{
    const char *value = synth_expression(s, &b, 1, synth_pick(s, 2)),
               *other = synth_expression(s, &c, 1, synth_pick(s, 2));
    int kind = synth_pick(s, 10);
    if (kind < 4)
        return cascade(s, a, value, other);
    if (kind < 7)
        return synth_fill(s, "where($1, $2, $3)", synth_mask(s), value,
                          synth_chance(s, 60) ? other : synth_choose(s, "0|-10000|1|0"));
    bool tensors = synth_chance(s, 50);
    const char *low = tensors ? synth_input(s, SYNTH_ONE, "low|lower|min_val|lo|floor_value|lower_limit|value_min")
                              : synth_attr(s, "low|lower|min_val|lo|clip_min|lower_limit|value_min", "-1.0|-0.5|0.1"),
               *high = tensors ? synth_input(s, SYNTH_ONE, "high|upper|max_val|hi|cap|upper_limit|value_max")
                               : synth_attr(s, "high|upper|max_val|hi|clip_max|upper_limit|value_max", "1.0|0.5|2.5");
    if (synth_chance(s, 65))
        return synth_fill(s, "min(max($1, $2), $3)", value, low, high);
    return synth_fill(s, "max(min($1, $2), $3)", value, high, low);
}

void synth_make_choice(struct synth *s)
{
    s->small = true;
    const char *atoms[12], *output;
    int count = atoms_of(s, 1, 3, atoms);
    const char *a = atoms[0], *b = atoms[count > 1 ? 1 : 0], *c = atoms[count - 1];
    const char *sign = synth_choose(s, "<|>|<=|>=|==|!=|>|<");
    const char *sided = synth_chance(s, 50) || count < 2 ? synth_number(s) : b;
    output = synth_name(s, synth_output_words);
    if (synth_chance(s, 40)) {
        const char *subject = synth_chance(s, 60) ? a : synth_expression(s, &a, 1, 1),
                   *text = further_choice(s, subject, b, c);
        if (synth_chance(s, 20))
            text = synth_fill(s, "$1 * $2", text, synth_chance(s, 50) ? a : synth_number(s));
        synth_result(s, output, text, SYNTH_FULL, NULL);
        return;
    }
    bool truth = synth_chance(s, 35);
    const char *text;
    if (truth && synth_chance(s, 60))
        text = synth_fill(s, "$1 $2 $3", synth_expression(s, &a, 1, synth_pick(s, 2)), sign,
                          count > 1 ? synth_expression(s, atoms + 1, count - 1, synth_pick(s, 2)) : synth_number(s));
    else if (truth)
        text = synth_chance(s, 50) ? synth_fill(s, "$1 > # and $2 < #", a, b)
                                   : kind_of_number(s, synth_expression(s, atoms, count, 1));
    else if (synth_chance(s, 12))
        text = synth_fill(s, "where($1, $2, #)", kind_of_number(s, a), synth_expression(s, &b, 1, synth_pick(s, 2)));
    else if (synth_chance(s, 20))
        text = synth_fill(s, "clamp($1, $2, $3)", synth_expression(s, atoms, count, synth_pick(s, 2)),
                          synth_attr(s, "low|lower|min_val|lo|minimum_value|clip_min|min_value", "-1.0|-0.5|-2.0|0.1"),
                          synth_attr(s, "high|upper|max_val|hi|clip_max|max_value", "1.0|0.5|2.5|6.0"));
    else
        text = synth_fill(s, "where($1 $2 $3, $4, $5)", a, sign, sided, synth_expression(s, &b, 1, synth_pick(s, 3)),
                          synth_expression(s, &c, 1, synth_pick(s, 3)));
    synth_result(s, output, text, SYNTH_FULL, truth ? "bool" : NULL);
}

/* What rows are made of: an input, a sum of two, a scaled one, ... */
static const char *row_of(struct synth *s, bool *named)
{
    const char *atoms[12];
    int count = synth_chance(s, 40) ? 1 : 2 + synth_chance(s, 15);
    for (int i = 0; i < count; i++)
        atoms[i] = synth_input(s, SYNTH_FULL, synth_input_words);
    if (count == 1 && synth_chance(s, 75)) {
        *named = true;
        return atoms[0];
    }
    *named = false;
    if (count >= 2 && synth_chance(s, 70)) {
        const char *sum = synth_fill(s, synth_chance(s, 75) ? "$1 + $2" : "$1 * $2", atoms[0], atoms[1]);
        if (synth_chance(s, 25))
            sum = synth_fill(s, "$1 * $2 + $3", synth_attr(s, synth_number_words, number_values), atoms[0], atoms[1]);
        return count == 3 ? synth_fill(s, synth_chance(s, 80) ? "$1 + $2" : "($1) * $2", sum, atoms[2]) : sum;
    }
    return synth_expression(s, atoms, count, 1 + synth_pick(s, 2));
}

/* The same, as a step, perhaps one that is an output too, if it is not a name already. */
static const char *row_step(struct synth *s)
{
    bool named;
    const char *text = row_of(s, &named), *name;
    if (named)
        return text;
    bool output = synth_chance(s, 35);
    name = synth_name(s, output ? "x|sx|sum_out|x_out|residual_out|y2|h" : "sx|x|h|t|z|r|v");
    synth_shown(s, output, name, text, SYNTH_FULL, NULL);
    return name;
}

/* A step of one element per row, which may be an output; returns its name, or the text where it gets no name. */
static const char *statistic(struct synth *s, const char *words, const char *text, int named, int shown)
{
    if (!synth_chance(s, named))
        return synth_fill(s, "$1", text);
    bool output = synth_chance(s, shown);
    const char *name = synth_name(s, words);
    synth_shown(s, output, name, text, SYNTH_ROW, output && synth_chance(s, 60) ? "float32" : NULL);
    return name;
}

/* Scaled and shifted by column, opened, added to: what comes behind a norm. */
static const char *affine(struct synth *s, const char *text)
{
    if (synth_chance(s, 65))
        text = synth_fill(s, synth_chance(s, 80) ? "$1 * $2" : "$2 * ($1)", text,
                          synth_input(s, SYNTH_COLUMN, "gamma|weight|w|scale|gain|g|gamma|weight|alpha_w"));
    if (synth_chance(s, 45))
        text = synth_fill(s, "$1 + $2", text, synth_input(s, SYNTH_COLUMN, "beta|bias|b|shift|offset|beta|bias"));
    if (synth_chance(s, 25))
        text = synth_fill(s, "$1($2)", synth_choose(s, "silu|relu|gelu|tanh|sigmoid|softplus|gelu_tanh"), text);
    if (synth_chance(s, 15))
        text = synth_fill(s, synth_chance(s, 50) ? "($1) * $2" : "$1 + $2", text,
                          synth_input(s, SYNTH_FULL, "gate|residual|res|skip|mask|dropout_mask|z"));
    return text;
}

void synth_make_norm(struct synth *s)
{
    s->rank = 0;
    const char *x = row_step(s), *eps = synth_chance(s, 75) ? synth_attr(s, eps_words, eps_values)
                                                            : synth_choose(s, "1e-5|1e-6|1e-3|1e-12");
    const char *centred = x, *power;
    const bool centre = synth_chance(s, 50), both = centre && synth_chance(s, 30); /* statistics are results */
    const char *mean = NULL;
    if (centre) {
        mean = statistic(s, "mean|mean|mean|mu|m|avg|mean_out|save_mean|u", synth_fill(s, "mean($1)", x),
                         both ? 100 : 60, both ? 100 : 35);
        centred = synth_fill(s, "$1 - $2", x, mean);
        if (synth_chance(s, 40)) {
            centred = synth_step(s, synth_name(s, "d|c|xc|diff|centered|xm"), centred);
        } else
            centred = synth_fill(s, "($1)", centred);
    }
    static const char *const powers[] = {"mean($1**2)",
                                         "mean($1**2)",
                                         "mean($1 * $1)",
                                         "mean(square($1))",
                                         "sum($1**2)",
                                         "{60:sum(abs($1))|mean(abs($1))}",
                                         "{60:amax(abs($1))|amax($1) - amin($1)}",
                                         "mean($1**2)",
                                         "mean($1**2)",
                                         "sum($1**2) / (size($2) - 1)"};
    const int kind = synth_pick(s, 10);
    if (kind == 9) { /* unbiased */
        s->counted = s->tensors[0].name;
        s->count = synth_name(s, "N|n|D|L|H|width");
    }
    power = centre && (kind == 7 || kind == 8) ? synth_fill(s, "var($1)", x)
                                               : synth_fill(s, powers[kind], centred, s->counted);
    bool root = !strstr(power, "abs") && !strstr(power, "amax");
    const char *variance = statistic(s, "var|v|variance|ms|sq|ss|power|a|energy|var", power, 35, 20);
    const char *output = NULL, *text;
    if (root && (both || synth_chance(s, 65))) {
        const char *rstd = statistic(s, "rstd|inv|r|rstd_out|invstd|save_rstd|k|scale_row|inv_rms|rstd",
                                     synth_fill(s, "{60:1 / sqrt($1 + $2)|rsqrt($1 + $2)}", variance, eps),
                                     both ? 100 : 80, both ? 100 : 55);
        text = synth_fill(s, strpbrk(rstd, " (") ? "$1 * ($2)" : "$1 * $2", centred, rstd);
    } else {
        text =
            synth_fill(s, root ? "$1 / {70:sqrt($2 + $3)|(sqrt($2) + $3)}" : "$1 / ($2 + $3)", centred, variance, eps);
    }
    text = affine(s, text);
    output = synth_name(s, synth_output_words);
    synth_result(s, output, text, SYNTH_FULL, NULL);
    if (synth_chance(s, 14)) { /* what is scaled, once more */
        synth_result(s, synth_name(s, "res_out|kept|y2|sum_copy|x_out|state_out"), x, SYNTH_FULL, NULL);
    }
    if (synth_chance(s, 14)) { /* the same in another place, or of another type */
        synth_result(s, synth_name(s, "y2|copy|y_copy|out2|y_cast"), output, SYNTH_FULL,
                     synth_chance(s, 60) ? "float32" : NULL);
    }
    if (root && synth_chance(s, 25))
        s->lead = synth_choose(s, centre ? "Layer norm. |A layer norm, step by step. |Layer norm of rows, in float32. "
                                           "|Each row is centred and scaled. |Normalisation of rows. |A layer norm "
                                           "along the last axis. "
                                         : "RMS norm. |A norm of rows without their means. |RMS norm of rows, in "
                                           "float32. |Each row is scaled. |Normalisation of rows. ");
    if (synth_chance(s, 14)) { /* the sizes that are normalised, of which formulas know without it */
        s->idle = synth_name(s, "norm_shape|row_shape|norm_dims|last_sizes|dims|norm_sizes|shape_in|inner_shape");
        s->idle_as = synth_choose(s, "int32 [1]|int32 [1]|int64 [1]");
    }
}

void synth_make_softmax(struct synth *s)
{
    bool named;
    const char *x = row_of(s, &named), *name, *text;
    if (synth_chance(s, 40))
        x = synth_fill(s, synth_chance(s, 50) ? "($1) * $2" : "($1) / $2", x,
                       synth_chance(s, 70)
                           ? synth_attr(s, "scale|temperature|tau|alpha|t|scale_value|inv_t", "0.5|2.0|0.125|1.5|0.8")
                           : synth_choose(s, "8|2|0.5|0.125|0.1"));
    if (synth_chance(s, 25))
        x = synth_fill(s, "$1 + $2", x,
                       synth_input(s, synth_chance(s, 70) ? SYNTH_FULL : SYNTH_COLUMN, "mask|bias|attn_mask|pos|rel"));
    if (synth_chance(s, 12))
        x = synth_fill(s, "where($1, $2, $3)", synth_mask(s), x,
                       synth_chance(s, 50) ? synth_input(s, SYNTH_FULL, synth_input_words)
                                           : synth_choose(s, "-10000|0|-100|-1e4"));
    named = !strpbrk(x, " (");
    if (!named && synth_chance(s, 60)) {
        x = synth_step(s, synth_name(s, "s|z|logits|t|h"), x);
        named = true;
    }
    if (named && synth_chance(s, 22)) {
        text = synth_fill(s, "exp($1 - amax($1)) / sum(exp($1 - amax($1)))", x);
    } else if (named && synth_chance(s, 50)) {
        const char *peak = statistic(s, "m|peak|top|mx|row_max|!max|!max", synth_fill(s, "amax($1)", x), 50, 15);
        name = synth_name(s, "e|w|p|ex|num|!exp");
        synth_step(s, name, synth_fill(s, "exp($1 - $2)", x, peak));
        const char *total = statistic(s, "t|total|den|row_sum|l|!sum", synth_fill(s, "sum($1)", name), 35, 15);
        text = synth_fill(s, "$1 / $2", name, total);
    } else {
        text = synth_fill(s,
                          synth_chance(s, 75)   ? "softmax($1)"
                          : synth_chance(s, 70) ? "log_softmax($1)"
                                                : "$1 - logsumexp($1)",
                          x);
        if (!named && strstr(text, "logsumexp"))
            text = synth_fill(s, "($1) - logsumexp($2)", x, x);
    }
    if (synth_chance(s, 35))
        text = synth_fill(s, synth_chance(s, 60) ? "$1 * $2" : "$1 - $2", text,
                          synth_input(s, SYNTH_FULL, "v|value|gate|dropout_mask|p|other|target"));
    if (synth_chance(s, 15))
        text = synth_fill(s, "$1 * $2", text, synth_attr(s, synth_number_words, number_values));
    synth_result(s, synth_name(s, synth_output_words), text, SYNTH_FULL, NULL);
}

/* Sums of each row and sums over all rows, of one thing. */
static void make_both_sums(struct synth *s)
{
    const char *atoms[12], *of;
    const int count = atoms_of(s, 1, 2, atoms);
    s->rank = synth_chance(s, 80) ? 2 : 3;
    s->columns = true;
    of = synth_expression(s, atoms, count, synth_pick(s, 3));
    if (synth_chance(s, 50) && strpbrk(of, " (")) {
        of = synth_step(s, synth_name(s, synth_step_words), of);
    }
    const bool rows_first = synth_chance(s, 50);
    for (int i = 0; i < 2; i++) {
        const bool rows = rows_first == (i == 0);
        const char *name =
            synth_name(s, rows ? "row_sum|r|a|out1|y|per_row|total_r|dq" : "col_sum|c|b|out2|z|per_col|dbias|db");
        synth_result(s, name,
                     synth_fill(s, "$1($2$3)", synth_chance(s, 75) ? "sum" : "mean", of,
                                rows           ? ""
                                : s->rank == 3 ? ", 0, 1"
                                               : ", 0"),
                     rows ? SYNTH_ROW : SYNTH_COLUMN, synth_chance(s, 30) ? "float32" : NULL);
    }
}

void synth_make_reduction(struct synth *s)
{
    if (synth_chance(s, 12)) {
        make_both_sums(s);
        return;
    }
    const char *atoms[12], *inner, *axes = "", *text;
    int count = atoms_of(s, 1, 3, atoms), kind = synth_pick(s, 10);
    enum synth_place place = SYNTH_ROW;
    bool both = false; /* the first two of three axes */
    if (kind < 2) {
        axes = ", all";
        place = SYNTH_ONE;
    } else if (kind < 7) {
        s->rank = synth_chance(s, 55) ? 2 : 3;
        s->axis = s->rank == 2 ? synth_chance(s, 25) : synth_pick(s, 2);
        both = s->rank == 3 && synth_chance(s, 20);
        if (!both && synth_chance(s, s->rank == 2 ? 15 : 40)) {
            s->along = synth_name(s, "dim|axis|dim|reduce_dim");
            s->attrs[s->attr_count++] = (struct synth_attr){
                .name = s->along, .value = arena_printf(s->arena, "%d", s->axis), .type = "int", .silent = true};
        }
        axes = both ? ", 0, 1" : arena_printf(s->arena, ", %d", s->axis);
        place = both || (s->rank == 2 && !s->axis && synth_chance(s, 65)) ? SYNTH_COLUMN : SYNTH_AXIS;
    }
    inner = count == 1 && synth_chance(s, 40) ? atoms[0] : synth_expression(s, atoms, count, synth_pick(s, 4));
    if (synth_chance(s, 20)) {
        inner = synth_step(s, synth_name(s, synth_step_words), inner);
    }
    const char *function = synth_choose(s, "sum|mean|amax|amin|sum|mean|sum|sum|norm|var|std|logsumexp|cumsum");
    if (*axes &&
        (strcmp(function, "logsumexp") == 0 || strcmp(function, "std") == 0 || strcmp(function, "cumsum") == 0))
        function = "mean";
    if (strcmp(function, "cumsum") == 0)
        place = SYNTH_FULL;
    text = synth_fill(s, "$1($2$3)", function, inner, axes);
    const char *result = synth_result_name(s, synth_output_words, text, 12);
    if (synth_chance(s, 40)) {
        const char *one[2] = {text, NULL};
        int parts = 1;
        if (place != SYNTH_ONE && synth_chance(s, 25))
            one[parts++] = synth_attr(s, synth_number_words, number_values);
        text = synth_expression(s, one, parts, 1 + synth_pick(s, 2));
    } else if (place == SYNTH_ROW && synth_chance(s, 30)) { /* a row against its sum */
        text = synth_fill(s, synth_chance(s, 50) ? "$1 / $2" : "$1 - $2", atoms[0], text);
        place = SYNTH_FULL;
    }
    synth_result(s, result, text, place, NULL);
}

void synth_make_loss(struct synth *s)
{
    const char *a = synth_input(s, SYNTH_FULL, "predictions|predict|x|input|logits|pred|output1|y_hat|p|scores"),
               *b = synth_input(s, SYNTH_FULL, "targets|label|target|y_true|labels|t|y|reference");
    const char *d = synth_name(s, "d|diff|e|err|r|delta|z"), *element,
               *margin = synth_chance(s, 50) ? synth_attr(s, "margin|delta|beta|c|tau|alpha", "1.0|0.5|2.0|0.1")
                                             : synth_choose(s, "1|0.5|2|0.1");
    const bool named = synth_chance(s, 55);
    const char *difference = synth_fill(s, "{75:$1 - $2|$1 * $2}", a, b),
               *of = named ? synth_step(s, d, difference) : synth_fill(s, "($1)", difference);
    static const char *const elements[] = {"$1**2",
                                           "abs($1)",
                                           "where(abs($1) < $2, 0.5 * $1**2, abs($1) - 0.5 * $2)",
                                           "max(0, $2 - $1)",
                                           "log(1 + exp(-$1))",
                                           "log(cosh($1))",
                                           "sqrt($1**2 + {1e-6|1|1e-3})",
                                           "$1 * softplus($1)"};
    const unsigned way = (unsigned)synth_pick(s, 9);
    const char *atoms[3] = {of, margin, a};
    element = way < 8 ? synth_fill(s, elements[way], of, margin)
                      : synth_expression(s, atoms, 1 + synth_pick(s, 3), 1 + synth_pick(s, 2));
    if (synth_chance(s, 25))
        element = synth_fill(s, "$1 * ($2)", synth_input(s, SYNTH_FULL, "weight|w|mask|sample_weight|dout"), element);
    const char *output = synth_name(s, "loss|out|y|result|l|loss_out|value");
    int kind = synth_pick(s, 10);
    if (synth_chance(s, 14)) { /* what a mean leaves for each element */
        s->counted = synth_chance(s, 70) ? a : b;
        s->count = synth_name(s, "n|N|count|numel|total|elements");
        const char *gradient = synth_input(s, SYNTH_FULL, "dout|grad_out|dy|g|grad|upstream"),
                   *c = synth_choose(s, "2|1|0.5|3|4");
        const char *factor = NULL, *of_size = synth_fill(s, "size($1, all)", s->counted);
        if (synth_chance(s, 40))
            factor = synth_step(s, synth_name(s, "c|k|f|s|w"), synth_fill(s, "$1 / $2", c, of_size));
        element = synth_chance(s, 60) ? of : element;
        synth_result(s, output,
                     factor ? synth_fill(s, "$1 * ($2) * $3", factor, element, gradient)
                            : synth_fill(s, "$1 * ($2) * $3 / $4", c, element, gradient, of_size),
                     SYNTH_FULL, NULL);
    } else if (kind < 2)
        synth_result(s, output, element, SYNTH_FULL, NULL);
    else if (kind < 4)
        synth_result(s, output, synth_fill(s, "{sum|mean}($1)", element), SYNTH_ROW, NULL);
    else
        synth_result(s, output, synth_fill(s, kind < 8 ? "mean($1, all)" : "sum($1, all)", element), SYNTH_ONE, NULL);
}

void synth_make_optimizer(struct synth *s)
{
    const char *g = synth_input(s, SYNTH_FULL, "grad|g|gradient|dw|d_param"),
               *p = synth_input(s, SYNTH_FULL, "param|var|w|weight|theta|p|x");
    const char *lr = synth_attr(s, "lr|learning_rate|eta|rate|step_size", "1e-3|0.01|0.1"), *update = g;
    if (synth_chance(s, 30)) {
        const char *decay = synth_attr(s, "weight_decay|wd|decay|lam", "0.01|0.1|1e-4");
        g = update = synth_step(s, synth_name(s, "g1|gd|grad_wd|h|t"), synth_fill(s, "$1 + $2 * $3", g, decay, p));
    }
    if (synth_chance(s, 65)) {
        const char *m = synth_input(s, SYNTH_FULL, "m|exp_avg|momentum_buf|velocity|moment1|buf"),
                   *beta = synth_attr(s, "beta1|momentum|mu|b1|rho", "0.9|0.8|0.95"),
                   *name = synth_name(s, "new_m|m_out|m1|buf_out|a|m_new");
        const bool output = synth_chance(s, 70);
        const char *text = synth_put(s, "$1 * $2 + (1 - $1) * $3|$1 * $2 + $3|$2 + (1 - $1) * ($3 - $2)", beta, m, g);
        update = synth_shown(s, output, name, text, SYNTH_FULL, NULL);
    }
    if (synth_chance(s, 60)) {
        const char *v = synth_input(s, SYNTH_FULL, "v|exp_avg_sq|accum|second|moment2|sq"), *beta = NULL,
                   *eps = synth_attr(s, eps_words, eps_values), *name = synth_name(s, "new_v|v_out|v1|acc_out|b|v_new");
        const bool output = synth_chance(s, 70);
        if (synth_chance(s, 70))
            beta = synth_attr(s, "beta2|alpha|rho2|b2|decay2", "0.999|0.99|0.95");
        const char *form = beta ? "$3 * $1 + (1 - $3) * {60:$2**2|$2 * $2}" : "$1 + {60:$2**2|$2 * $2}";
        synth_shown(s, output, name, synth_fill(s, form, v, g, beta), SYNTH_FULL, NULL);
        update = synth_fill(s, "{70:$1 / (sqrt($2) + $3)|$1 / sqrt($2 + $3)}", update, name, eps);
        s->generate = "uniform(0.1, 2)";
    }
    synth_result(s, synth_name(s, "new_param|param_out|p_out|w_out|var_out|y|updated"),
                 synth_fill(s, synth_chance(s, 75) ? "$1 - $2 * $3" : "$1 + $2 * (-($3))", p, lr,
                            strpbrk(update, " ") && synth_chance(s, 50) ? synth_fill(s, "($1)", update) : update),
                 SYNTH_FULL, NULL);
}

void synth_make_gate(struct synth *s)
{
    const char *x = synth_input(s, SYNTH_FULL, synth_input_words), *a = synth_name(s, "a|left|first|gate|u|g|x0"),
               *b = synth_name(s, "b|right|second|up|v|lin|x1");
    synth_take_halves(s, x, a, b);
    const char *one[2] = {synth_chance(s, 50) ? a : b}, *other = one[0] == a ? b : a, *text;
    if (synth_chance(s, 25))
        one[1] = synth_attr(s, synth_number_words, number_values);
    const char *opening = synth_expression(s, one, one[1] ? 2 : 1, 1 + synth_pick(s, 2));
    if (synth_chance(s, 30)) {
        const char *name = synth_named_opening(s, one[0], &text);
        const bool output = synth_chance(s, 75);
        synth_shown(s, output, name, text, SYNTH_HALF, NULL);
        opening = name;
    } else if (synth_chance(s, 20)) { /* which is a result, too */
        opening = synth_result(s, synth_name(s, "act|gate_out|h|activated|opened|act_out|gate_value"), opening,
                               SYNTH_HALF, NULL);
    }
    text = synth_fill(s, "$1 * $2", opening, other);
    if (synth_chance(s, 20))
        text = synth_fill(s, "$1 + $2", text, other);
    if (synth_chance(s, 20))
        text = synth_fill(s, "$1 * $2", text, synth_input(s, SYNTH_HALF, "dy|grad_out|z|w|mask"));
    synth_result(s, synth_name(s, synth_output_words), text, SYNTH_HALF, NULL);
}

void synth_make_family(struct synth *s)
{
    static const struct {
        const char *name;
        int weight;
        void (*make)(struct synth *s);
    } families[] = {
#define FAMILY(name, weight) {#name, weight, synth_make_##name},
#include "cot/synth_families.def"
#undef FAMILY
    };
    int total = 0, at = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        total += families[i].weight;
    for (int ticket = synth_pick(s, total); ticket >= families[at].weight; at++)
        ticket -= families[at].weight;
    s->family = families[at].name;
    families[at].make(s);
}
