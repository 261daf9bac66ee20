/* Gradients of norms whose statistics a forward pass left: what goes back to the rows has sums over a row, what belongs to columns has sums over
 * all rows. */
#include "cot/synth_internal.h"

#include <string.h>

/* A norm on its way back. In forms: $1 is `g`, $2 `r`, $3 `c`, $4 `n`, $5 the length of a row, $6 and $7 sums over a row. */
struct norm {
    const char *dy, *g /* dy, weighted by column */, *c /* a row, centred or not */, *r /* 1 over its deviation */,
        *n /* c * r */, *length, *alpha /* an attribute of what was normalised; NULL: there is none */;
};

static const char *filled(struct synth *s, const struct norm *norm, const char *forms, const char *first,
                          const char *second)
{
    return synth_put(s, forms, norm->g, norm->r, norm->c, norm->n, norm->length, first, second, norm->dy);
}

static const char *row_input(struct synth *s, const char *words)
{
    const char *name = synth_input(s, SYNTH_ROW, words);
    if (synth_chance(s, 60))
        s->tensors[s->tensor_count - 1].type = "float32";
    return name;
}

/* What was normalised: an input, or two in a sum. */
static const char *normalised(struct synth *s, struct norm *norm)
{
    const char *x = synth_input(s, SYNTH_FULL, "x|x|x1|input|residual_in|h|a|src|hidden|u");
    s->counted = x;
    norm->length = synth_fill(s, "size($1)", x);
    if (synth_chance(s, 50))
        return x;
    const char *other = synth_input(s, SYNTH_FULL, "x2|res|gx|residual|skip|b|other|z"), *sum;
    if (synth_chance(s, 55)) {
        sum = synth_fill(s, "$1 + $2", x, other);
    } else {
        const char *factor = synth_chance(s, 70)
                                 ? norm->alpha = synth_attr(s, "alpha|beta|scale|factor|k|lam", "0.3|0.5|1.5|2.0|0.1")
                                 : synth_choose(s, "0.5|2|0.25|3");
        sum = synth_put(s, "$3 * $1 + $2|$1 + $3 * $2|$3 * ($1 + $2)|$1 * $3 - $2", x, other, factor);
    }
    return synth_named(s, 35, "xs|t|h|v|x_sum|total", sum);
}

/* 1 over the deviation of each row: an input, or made of one. */
static const char *deviation(struct synth *s)
{
    if (synth_chance(s, 72))
        return row_input(s, "rstd|rstd|rstd|inv|invstd|r|scale_row|rs|inv_std|save_rstd|irms");
    const char *text;
    if (synth_chance(s, 40))
        text = synth_fill(s, "1 / $1", row_input(s, "std|sigma|dev|save_std|rms"));
    else
        text = synth_fill(s, synth_choose(s, "1 / sqrt($1 + $2)|rsqrt($1 + $2)"),
                          row_input(s, "var|var|variance|save_var|v"),
                          synth_chance(s, 70) ? synth_attr(s, "eps|epsilon|delta|small", "1e-5|1e-6|1e-3") : "1e-5");
    s->generate = "uniform(0.1, 2)";
    const char *name = synth_name(s, "rstd|r|inv|k|scale_row|q");
    synth_step(s, name, text);
    return name;
}

/* Sums over a row, and what is made of them. Without a mean there is one sum. */
static const struct {
    const char *first, *second, *forms;
} ways[] = {
    {"sum($1 * $3 * $2**3)|sum($8 * $3 * $2**3)", NULL,
     "$1 * $2 - $6 * $3 / $5|$2 * $1 - $3 * $6 / $5|$1 * $2 - $3 / $5 * $6|$1 * $2 - $6 / $5 * $3"},
    {"mean($1 * $4)|mean($4 * $1)", NULL,
     "$2 * ($1 - $4 * $6)|($1 - $6 * $4) * $2|$1 * $2 - $6 * $4 * $2|$2 * $1 - $2 * $4 * $6"},
    {"sum($1 * $4)|sum($4 * $1)", NULL,
     "$2 * ($1 - $4 * $6 / $5)|($1 - $6 / $5 * $4) * $2|$1 * $2 - $4 * $2 * $6 / $5|$2 / $5 * ($5 * $1 - $4 * $6)"},
    {"sum($1 * $3)|sum($3 * $1)", NULL, "$1 * $2 - $3 * $2**3 * $6 / $5|$2 * $1 - $2**3 / $5 * $6 * $3"},
    {"mean($1 * $3)|mean($3 * $1)", NULL, "$1 * $2 - $3 * $2**3 * $6|$2 * ($1 - $3 * $6 * $2**2)"},
    {"sum(-0.5 * $1 * $3 * $2**3)|sum(-0.5 * $1 * $3) * $2**3", NULL,
     "$1 * $2 + 2 / $5 * $6 * $3|$1 * $2 + $6 * (2 / $5) * $3|$2 * $1 + 2 * $3 * $6 / $5"},
    {"mean($1 * $4)", "mean($1)",
     "$2 * ($1 - $7 - $4 * $6)|($1 - $7 - $6 * $4) * $2|$2 * ($1 - ($7 + $4 * $6))|$1 * $2 - ($7 + $6 * $4) * $2"},
    {"sum($1 * $4)", "sum($1)",
     "$2 * ($1 - ($7 + $4 * $6) / $5)|$2 / $5 * ($5 * $1 - $7 - $4 * $6)|($1 - $7 / $5 - $4 * $6 / $5) * $2|"
     "$2 * ($1 - $7 / $5 - $4 * $6 / $5)"},
    {"sum(-0.5 * $1 * $3 * $2**3)|sum(-$1 * $3 * $2**3)|sum(2 * $1 * $3 * $2**3)|sum(0.5 * $1 * $3) * $2**3",
     "sum(-$1 * $2)|sum(-$1) * $2|sum(-$1 * $2) + $6 * (-2 / $5) * sum($3)|sum(-$2 * $1) - $6 * 2 / $5 * sum($3)",
     "$1 * $2 + 2 / $5 * $6 * $3 + $7 / $5|$1 * $2 + $6 * (2 / $5) * $3 + $7 / $5|"
     "$1 * $2 + ($6 * 2 * $3 + $7) / $5|$2 * $1 + 2 * $6 * $3 / $5 + $7 / $5"},
    {"sum($1 * $3)", "sum($1 * $2)", "$1 * $2 - $7 / $5 - $3 * $2**3 * $6 / $5|$2 * $1 - ($7 + $3 * $6 * $2**3) / $5"},
    {"mean($1 * $3 * $2**2)", "mean($1)", "$2 * ($1 - $7 - $3 * $6)|$2 * ($1 - $7) - $2 * $3 * $6"},
};
enum { WAYS = sizeof ways / sizeof *ways, ONE_SUM = 6 };

/* What goes back to the rows. */
static void add_rows(struct synth *s, const struct norm *norm, bool centred)
{
    const int way = centred ? ONE_SUM + synth_pick(s, WAYS - ONE_SUM) : synth_pick(s, ONE_SUM),
              percent = synth_chance(s, 55) ? 90 : 10;
    const char *first = synth_named(s, percent, "v|a1|s1|dv|p|m1|proj|dot", filled(s, norm, ways[way].first, "", "")),
               *second = !ways[way].second ? ""
                                           : synth_named(s, percent, "m|s2|b1|dm|q|m2|e",
                                                         filled(s, norm, ways[way].second, first, "")),
               *text = filled(s, norm, ways[way].forms, first, second);
    if (synth_chance(s, 22))
        text = synth_fill(s, "$1 + $2", text, synth_input(s, SYNTH_FULL, "dsum|dres|ds|skip_grad|extra_grad|dx_in|dr"));
    else if (synth_chance(s, 8))
        text = synth_fill(s, "$1 * ($2)", synth_attr(s, "scale|factor|loss_scale", "0.5|2.0|0.25"), text);
    const char *output = synth_name(s, "dx|dx|dx|dgx|x_grad|grad_in|out|grad_x|di");
    synth_result(s, output, text, SYNTH_FULL, NULL);
    if (synth_chance(s, norm->alpha ? 55 : 8)) { /* that of the other one of two */
        synth_result(s, synth_name(s, "dx2|dgx|dres_out|grad_res|y2|dx_scaled"),
                     synth_fill(s, "$1 * $2", norm->alpha ? norm->alpha : synth_choose(s, "2|0.5"), output), SYNTH_FULL,
                     NULL);
    }
}

static void add_column(struct synth *s, const char *words, const char *of)
{
    const char *name = synth_name(s, words), *axes = s->rank == 3 ? "0, 1" : "0",
               *text = synth_fill(s, "$1($2, $3)", synth_chance(s, 92) ? "sum" : "mean", of, axes);
    if (synth_chance(s, 6))
        text = synth_fill(s, "$1 * $2", synth_choose(s, "2|0.5|-1|0.1"), text);
    synth_result(s, name, text, SYNTH_COLUMN, synth_chance(s, 65) ? "float32" : NULL);
}

/* What goes back to parameters: sums over all rows. */
static void add_columns(struct synth *s, const struct norm *norm, int first, int count)
{
    for (int i = first; i < first + count; i++)
        if (i % 2 == 0)
            add_column(s, "dgamma|dgamma|dw|dweight|gamma_grad|dscale|dg|grad_weight",
                       filled(s, norm, "$8 * $3 * $2|$8 * $2 * $3|$8 * $4|$4 * $8|$3 * $2 * $8|$8 * $4", "", ""));
        else
            add_column(s, "dbeta|dbeta|dbias|db|beta_grad|grad_bias|dshift", synth_chance(s, 85) ? norm->dy : norm->g);
}

static bool is_size(const struct expr *expr)
{
    return synth_is_call(expr, "size");
}

void synth_make_norm_gradient(struct synth *s)
{
    const int kind = synth_pick(s, 10); /* below 3: rows alone; 9: columns alone */
    struct norm norm = {.dy = synth_input(s, SYNTH_FULL, "dy|dy|grad|dout|grad_out|dz|gy|upstream|g_in")};
    s->columns = kind >= 3;
    s->rank = !s->columns ? 0 : synth_chance(s, 12) ? 3 : 2;
    norm.c = normalised(s, &norm);
    norm.r = deviation(s);
    const bool centred = synth_chance(s, 55);
    if (centred)
        norm.c = synth_named(s, 80, "c|c|xc|d|centred|h2|xm",
                             synth_fill(s, "$1 - $2", norm.c, row_input(s, "mean|mean|mu|avg|m_in|save_mean|mean")));
    else if (strpbrk(norm.c, " "))
        norm.c = synth_named(s, 80, "xs|t|h2|xr", norm.c);
    norm.g = norm.dy;
    if (synth_chance(s, 85)) {
        const char *weight = synth_input(s, SYNTH_COLUMN, "gamma|gamma|weight|scale_w|gain|w_in");
        const char *text = synth_fill(s, synth_chance(s, 90) ? "$1 * $2" : "$1 * (1 + $2)", norm.dy, weight);
        norm.g = synth_chance(s, 65) ? synth_named(s, 100, "g|g|gd|w|gg|dn|dh", text) : text;
    }
    norm.n = synth_fill(s, "$1 * $2", norm.c, norm.r);
    if (synth_chance(s, 45))
        norm.n = synth_named(s, 100, "n|n|xhat|x_hat|norm_x|z1", norm.n);
    const int columns = s->columns ? 1 + synth_chance(s, 60) : 0, swap = synth_chance(s, 30);
    const bool before = synth_chance(s, 15);
    if (before)
        add_columns(s, &norm, swap, columns);
    if (kind < 9)
        add_rows(s, &norm, centred);
    if (!before)
        add_columns(s, &norm, swap, columns);
    s->count = synth_name(s, "D|D|N|n|width|H|L|K|C");
    bool counts = false;
    for (int i = 0; i < s->step_count; i++)
        counts |= synth_has(s->steps[i].tree, is_size);
    if (!counts)
        s->counted = NULL;
    s->without_mean = !centred;
}
