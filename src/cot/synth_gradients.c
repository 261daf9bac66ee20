/* Gradients as documentation gives them: named steps, long constants, inputs that a forward pass left. */
#include "cot/synth_internal.h"

#include <string.h>

/* A step, if it gets a name; returns what stands for it in formulas. */
static const char *named(struct synth *s, int percent, const char *words, const char *text)
{
    if (!synth_chance(s, percent))
        return arena_printf(s->arena, "(%s)", text);
    const char *name = synth_name(s, words);
    synth_step(s, name, false, "%s", text);
    return name;
}

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
    return synth_put(s, forms, (const char *[]){x, constant(s), constant(s), constant(s)});
}

void synth_make_gradient(struct synth *s)
{
    s->small = true;
    const int percent = synth_chance(s, 8) ? 0 : 85; /* that a step has a name */
    const char *dy = synth_input(s, SYNTH_FULL, "dy|grad|dout|grad_out|gradOutput|dz|g|upstream"),
               *x = synth_input(s, SYNTH_FULL, "x|input|self|a|v|features|src|u");
    const char *p = named(s, percent, "p|u|s|arg|inner|r|k", polynomial(s, x)),
               *t = named(s, percent, "t|sig|w|h|a|gate",
                          arena_printf(s->arena,
                                       synth_choose(s, "1 / (1 + exp(-%s))|tanh(%s)|sigmoid(%s)|exp(-abs(%s))|"
                                                       "1 / (1 + exp(-%s))|erf(%s)|1 / (1 + %s**2)"),
                                       p)),
               *q = named(s, percent, "q|c|b|m|slope|dp",
                          synth_chance(s, 60) ? polynomial(s, x)
                                              : arena_printf(s->arena, "%s + %s * %s**2", constant(s), constant(s), x)),
               *d = named(s, percent, "d|deriv|f|e|local|jac",
                          synth_put(s,
                                    "$1 + exp(-$2) * $1**2 * $3|$1 + $3 * $1 * (1 - $1)|$1 * (1 + $3 * (1 - $1))|"
                                    "0.5 * (1 + $1) + $3 * (1 - $1**2)|($1 + $3) / (1 + $1)**2|$1 + $1**2 * $3|"
                                    "$3 * (1 - $1**2)|$1 + exp(-$2) * $1**2 * $3|$1 + $1 * (1 - $1) * $3|"
                                    "$1 + $3 * exp(-$2) * $1 * $1|0.5 * ($1 + 1) + 0.5 * $3 * (1 - $1**2)|"
                                    "$1 + $4 * (1 - $1 * $1) * $3|$1 + $4 * exp(-$2) / (1 + exp(-$2))**2 * $3|"
                                    "0.5 * (1 + $1 + $4 * (1 - $1**2) * $3)",
                                    (const char *[]){t, p, q, x}));
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
    if (synth_chance(s, 30)) /* what a forward pass gave, of which nothing is computed */
        s->idle = synth_name(s, "y|y|out_fwd|fwd|saved|y_in|act|result_fwd|output");
}
