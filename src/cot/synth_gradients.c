/* Gradients as documentation gives them: named steps, long constants, inputs that a forward pass left. */
#include "cot/synth_internal.h"

#include <string.h>

static const char *constant(struct synth *s)
{
    return synth_chance(s, 78)
               ? arena_printf(s->arena, "%.*g", 4 + synth_pick(s, 13), 0.03 + rng_uniform(&s->rng) * 1.8)
               : synth_number(s);
}

static const char *polynomial(struct synth *s, const char *x)
{
    static const char *const forms = "$2 * $1 + $3 * $1**3|$2 * ($1 + $3 * $1**3)|$2 * $1|$1 / $2|"
                                     "$2 * $1 - $3|$2 * $1 + $3 * $1**2|$2 * $1 + $3 * $1**3|"
                                     "$2 * $1 + $3 * $1**2 + $4 * $1**3|$1 * ($2 + $3 * $1**2)|$2 * $1 - $3 * $1**3|"
                                     "$2 * $1 + $3 * $1 * $1 * $1|$2 + $3 * $1**2|-$2 * $1 - $3 * $1**3";
    return synth_put(s, forms, x, constant(s), constant(s), constant(s));
}

/* Forms that do not overflow, of an exponential below 1: $1 is the input, $2 the exponential, $3 its factor. */
static const char *stable(struct synth *s, const char *x)
{
    const char *k = synth_chance(s, 60) ? constant(s) : synth_choose(s, "1|2|1.702|0.5|1.5"),
               *e = synth_named(s, 85, "e|t|w|ex|q|small", synth_fill(s, "exp(-$1 * abs($2))", k, x));
    return synth_put(s,
                     "($2 + $3 * $1 * $2 + exp($3 * ($1 - abs($1)))) / ($2 + 1)**2|"
                     "($2 * (1 + $3 * $1) + exp($3 * ($1 - abs($1)))) / (1 + $2)**2|$2 / (1 + $2)**2|"
                     "(1 + $2 + $3 * abs($1) * $2) / (1 + $2)**2|exp($3 * ($1 - abs($1))) / (1 + $2)|"
                     "($2 - $3 * $1 * $2 + exp($3 * ($1 - abs($1)))) / (1 + $2)**2|$3 * $2 * $1 / ($2 + 1)**2|"
                     "where($1 > 0, 1, $2) / (1 + $2)|(1 - $2) / (1 + $2) + 2 * $3 * abs($1) * $2 / (1 + $2)**2",
                     x, e, k);
}

/* "`z = dy * d`, where `d` is the derivative of `x * t`, with `p = ..`: `d = ..` with `t = ..`" */
void synth_tell_derivative(struct synth *s, struct text *text)
{
    const struct synth_step *result = &s->steps[s->step_count - 1], *derivative = result - 1;
    text_addf(text, "`%s = %s`%s, ", result->name, synth_formula(s, result->tree),
              synth_choose(s, "|, elementwise|, element by element|, elementwise in float32"));
    text_add(
        text,
        synth_put(s,
                  "where `$1` is the slope of `$2` for `$3 = $4`: `$1 = $5`|where `$1`, the derivative of `$2` (`$3 = "
                  "$4`), is `$5`|with the derivative `$1` of `$2`, `$3` being `$4`: `$1 = $5`|where `$1 = $5` is the "
                  "slope of `$2` with `$3 = $4`|where `$1` is the gradient of `$2`, `$3 = $4`, that is `$5`",
                  derivative->name, synth_formula(s, synth_parse(s, s->derived)), s->steps[0].name,
                  synth_formula(s, s->steps[0].tree), synth_formula(s, derivative->tree)));
    for (int i = 1; i < s->step_count - 2; i++)
        text_addf(text, "%s%s", i == 1 ? synth_choose(s, ", with |; here |, where ") : synth_choose(s, " and |, "),
                  synth_fill(s, "`$1 = $2`", s->steps[i].name, synth_formula(s, s->steps[i].tree)));
    text_add(text, ".");
}

void synth_make_gradient(struct synth *s)
{
    s->small = true;
    const int percent = synth_chance(s, 8) ? 0 : 85; /* that a step has a name */
    const char *dy = synth_input(s, SYNTH_FULL, "dy|grad|dout|grad_out|gradOutput|dz|g|upstream"),
               *x = synth_input(s, SYNTH_FULL, "x|input|self|a|v|features|src|u");
    if (synth_chance(s, 14)) {
        const char *slope = stable(s, x), *output = synth_name(s, "z|dx|y|out|grad_in|result|res");
        synth_result(s, output, synth_fill(s, synth_chance(s, 65) ? "$1 * ($2)" : "($2) * $1", dy, slope), SYNTH_FULL,
                     NULL);
        return;
    }
    const char *
        p = synth_named(s, percent, "p|u|s|arg|inner|r|k", polynomial(s, x)),
       *t = synth_named(
           s, percent, "t|sig|w|h|a|gate",
           synth_put(s,
                     "1 / (1 + exp(-$1))|tanh($1)|sigmoid($1)|exp(-abs($1))|1 / (1 + exp(-$1))|erf($1)|1 / (1 + $1**2)",
                     p)),
       *q = synth_named(s, percent, "q|c|b|m|slope|dp",
                        synth_chance(s, 60) ? polynomial(s, x)
                                            : synth_fill(s, "$1 + $2 * $3**2", constant(s), constant(s), x)),
       *d = synth_named(s, percent, "d|deriv|f|e|local|jac",
                        synth_put(s,
                                  "$1 + exp(-$2) * $1**2 * $3|$1 + $3 * $1 * (1 - $1)|$1 * (1 + $3 * (1 - $1))|"
                                  "0.5 * (1 + $1) + $3 * (1 - $1**2)|($1 + $3) / (1 + $1)**2|$1 + $1**2 * $3|"
                                  "$3 * (1 - $1**2)|$1 + exp(-$2) * $1**2 * $3|$1 + $1 * (1 - $1) * $3|"
                                  "$1 + $3 * exp(-$2) * $1 * $1|0.5 * ($1 + 1) + 0.5 * $3 * (1 - $1**2)|"
                                  "$1 + $4 * (1 - $1 * $1) * $3|$1 + $4 * exp(-$2) / (1 + exp(-$2))**2 * $3|"
                                  "0.5 * (1 + $1 + $4 * (1 - $1**2) * $3)",
                                  t, p, q, x));
    if (s->step_count && strcmp(s->steps[s->step_count - 1].name, d) == 0 && synth_chance(s, 45)) {
        s->derivative = d;
        s->derived = synth_put(s, "$1 * $2|$1 * ($2)|$1 / (1 + exp(-$3))|$1 * tanh($3)|$2 * $1 + $1", x, t, p);
    }
    const char *output = synth_name(s, "z|dx|y|out|grad_in|x_grad|result|res");
    synth_result(s, output,
                 synth_fill(s,
                            synth_chance(s, 80)   ? "$1 * $2"
                            : synth_chance(s, 50) ? "$2 * $1"
                                                  : "$1 * $2 / 2",
                            dy, d),
                 SYNTH_FULL, NULL);
    if (synth_chance(s, 30)) /* what a forward pass gave, of which nothing is computed */
        s->idle = synth_name(s, "y|y|out_fwd|fwd|saved|y_in|act|result_fwd|output");
}
