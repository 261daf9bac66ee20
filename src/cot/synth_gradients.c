/* Gradients as documentation gives them: named steps, long constants, inputs that a forward pass left. */
#include "cot/synth_internal.h"

#include <string.h>

/* A step that has a name, mostly; returns what stands for it in formulas. */
static const char *named(struct synth *s, const char *words, const char *text)
{
    if (!synth_chance(s, 85))
        return arena_printf(s->arena, "(%s)", text);
    const char *name = synth_name(s, words);
    synth_step(s, name, false, "%s", text);
    return name;
}

static const char *constant(struct synth *s)
{
    return synth_chance(s, 60)
               ? arena_printf(s->arena, "%.*g", 4 + synth_pick(s, 12), 0.03 + rng_uniform(&s->rng) * 1.8)
               : synth_number(s);
}

static const char *polynomial(struct synth *s, const char *x)
{
    static const char *const forms = "$2 * $1 + $3 * $1**3|$2 * ($1 + $3 * $1**3)|$2 * $1|$1 / $2|"
                                     "$2 * $1 - $3|$2 * $1 + $3 * $1**2|$2 * $1 + $3 * $1**3";
    return synth_put(s, forms, (const char *[]){x, constant(s), constant(s)});
}

void synth_make_gradient(struct synth *s)
{
    s->small = true;
    const char *dy = synth_input(s, SYNTH_FULL, "dy|grad|dout|grad_out|gradOutput|dz|g|upstream"),
               *x = synth_input(s, SYNTH_FULL, "x|input|self|a|v|features|src|u");
    const char *p = named(s, "p|u|s|arg|inner|r|k", polynomial(s, x)),
               *t = named(s, "t|sig|w|h|a|gate",
                          arena_printf(s->arena,
                                       synth_choose(s, "1 / (1 + exp(-%s))|tanh(%s)|sigmoid(%s)|exp(-abs(%s))|"
                                                       "1 / (1 + exp(-%s))|erf(%s)|1 / (1 + %s**2)"),
                                       p)),
               *q = named(s, "q|c|b|m|slope|dp",
                          synth_chance(s, 60) ? polynomial(s, x)
                                              : arena_printf(s->arena, "%s + %s * %s**2", constant(s), constant(s), x)),
               *d = named(s, "d|deriv|f|e|local|jac",
                          synth_put(s,
                                    "$1 + exp(-$2) * $1**2 * $3|$1 + $3 * $1 * (1 - $1)|$1 * (1 + $3 * (1 - $1))|"
                                    "0.5 * (1 + $1) + $3 * (1 - $1**2)|($1 + $3) / (1 + $1)**2|$1 + $1**2 * $3|"
                                    "$3 * (1 - $1**2)",
                                    (const char *[]){t, p, q}));
    if (s->step_count && strcmp(s->steps[s->step_count - 1].name, d) == 0 && synth_chance(s, 45)) {
        s->derivative = d;
        s->derived =
            synth_put(s, "$1 * $2|$1 * ($2)|$1 / (1 + exp(-$3))|$1 * tanh($3)|$2 * $1 + $1", (const char *[]){x, t, p});
    }
    const char *output = synth_name(s, "z|dx|y|out|grad_in|x_grad|result|res");
    synth_step(s, output, true,
               synth_chance(s, 80)   ? "%s * %s"
               : synth_chance(s, 50) ? "%2$s * %1$s"
                                     : "%s * %s / 2",
               dy, d);
    synth_output(s, output, SYNTH_FULL, NULL);
}

/* dx of a layer norm, or of one without means, whose statistics are given; sums over a row. */
void synth_make_norm_gradient(struct synth *s)
{
    const char *dy = synth_input(s, SYNTH_FULL, "dy|grad|dout|grad_out|dz|gy"),
               *x = synth_input(s, SYNTH_FULL, "x|x1|input|residual_in|h|a"), *of = x;
    if (synth_chance(s, 40))
        of = arena_printf(s->arena, "%s + %s", x, synth_input(s, SYNTH_FULL, "x2|res|gx|residual|skip|b"));
    const char *rstd = synth_input(s, SYNTH_ROW, "rstd|inv|invstd|r|scale_row|rs"), *g = dy;
    if (synth_chance(s, 70))
        of = arena_printf(s->arena, "%s - %s", of, synth_input(s, SYNTH_ROW, "mean|mu|avg|m_in|save_mean"));
    const char *c = strpbrk(of, " ") ? named(s, "c|xc|d|centred|h2", of) : of;
    if (synth_chance(s, 80))
        g = named(s, "g|gd|w|gg|dn",
                  arena_printf(s->arena, "%s * %s", dy, synth_input(s, SYNTH_COLUMN, "gamma|weight|scale|gain")));
    s->counted = x;
    s->count = synth_name(s, "D|N|n|width|size_row|L|K");
    const char *v = named(
                   s, "v|a1|s1|dv|p",
                   arena_printf(s->arena, "sum(%s * %s * %s * %s**3)", synth_choose(s, "-0.5|-1|0.5|2"), g, c, rstd)),
               *m = named(s, "m|s2|b1|dm|q",
                          arena_printf(s->arena, synth_choose(s, "sum(-%s * %s)|sum(%s * %s)|sum(%s) * %s"), g, rstd));
    const char *output = synth_name(s, "dx|dgx|x_grad|grad_in|out|y");
    synth_step(s, output, true, "%s",
               synth_put(s,
                         "$1 * $2 + $3 * (2 / size($6)) * $4 + $5 / size($6)|"
                         "$1 * $2 + ($4 * $3 + $5) / size($6)|"
                         "$2 * ($1 - $5 / size($6)) - $4 * $3 / size($6)|"
                         "$1 * $2 + $4 * $3 / size($6)",
                         (const char *[]){g, rstd, v, c, m, x}));
    synth_output(s, output, SYNTH_FULL, NULL);
}
