/* Gates of halves, and their gradients: each half of what comes back is made of both halves and of the gradient of the result. */
#include "cot/synth_internal.h"

#include <string.h>

/* What opens: `step` may have a name, $2, or stand for it; $1 is the half that it is of. `plain`: the function's name in formulas, NULL if it has
 * none there. The first slope is the one that is meant where words say "derivative" alone. */
static const struct {
    const char *name, *step, *value, *slope;
} openings[] = {
    {"silu", "sigmoid($1)|1 / (1 + exp(-$1))", "$1 * $2|$2 * $1",
     "$2 * (1 + $1 * (1 - $2))|($2 + $1 * $2 * (1 - $2))|($2 + $1 * $2 * (1 - $2))"},
    {"sigmoid", "sigmoid($1)|1 / (1 + exp(-$1))", "$2", "$2 * (1 - $2)|($2 - $2**2)|(1 - $2) * $2"},
    {"tanh", "tanh($1)", "$2", "(1 - $2**2)|(1 - $2 * $2)|(1 - $2) * (1 + $2)"},
    {"gelu", "0.5 * (1 + erf($1 / sqrt(2)))|(1 + erf($1 / sqrt(2))) / 2", "$1 * $2|$2 * $1",
     "($2 + $1 * exp(-0.5 * $1**2) / sqrt(2 * pi))|($2 + $1 * exp(-$1**2 / 2) / sqrt(2 * pi))|"
     "($2 + $1 * 0.3989422804014327 * exp(-0.5 * $1 * $1))"},
    {"gelu_tanh", "tanh(sqrt(2 / pi) * ($1 + 0.044715 * $1**3))|tanh(0.7978845608028654 * ($1 + 0.044715 * $1**3))",
     "0.5 * $1 * (1 + $2)|$1 * 0.5 * (1 + $2)",
     "(0.5 * (1 + $2) + 0.5 * $1 * (1 - $2**2) * sqrt(2 / pi) * (1 + 0.134145 * $1**2))|"
     "(0.5 * (1 + $2) + 0.5 * $1 * (1 - $2 * $2) * 0.7978845608028654 * (1 + 0.134145 * $1 * $1))"},
    {"quick_gelu", "sigmoid(1.702 * $1)|1 / (1 + exp(-1.702 * $1))", "$1 * $2|$2 * $1",
     "$2 * (1 + 1.702 * $1 * (1 - $2))|($2 + 1.702 * $1 * $2 * (1 - $2))"},
    {"softplus", "exp($1)", "log(1 + $2)|log1p($2)", "$2 / (1 + $2)|(1 - 1 / (1 + $2))"},
    {"relu", "max($1, 0)|relu($1)", "$2", "where($1 > 0, 1, 0)"},
    {"softsign", "1 + abs($1)", "$1 / $2", "1 / $2**2|(1 / ($2 * $2))"},
    {"exp", "exp($1)", "$2", "$2"},
    {"square_relu", "max($1, 0)|relu($1)", "$2**2|$2 * $2", "2 * $2|($2 + $2)"},
    {"atan", "1 + $1**2", "atan($1)", "1 / $2"},
    {"sin", "cos($1)", "sin($1)", "$2"},
    {"log1p_abs", "1 + abs($1)", "log($2)", "where($1 > 0, 1, -1) / $2"},
};
enum { OPENINGS = sizeof openings / sizeof *openings };

/* Functions of formulas, as the steps above write them. */
static const struct {
    const char *name, *definition;
} known[] = {
    {"silu", "v * sigmoid(v)|v / (1 + exp(-v))"},
    {"sigmoid", "1 / (1 + exp(-v))"},
    {"tanh", "(exp(v) - exp(-v)) / (exp(v) + exp(-v))|1 - 2 / (1 + exp(2 * v))"},
    {"gelu", "v * (1 + erf(v / sqrt(2))) / 2|0.5 * v * (1 + erf(v / sqrt(2)))"},
    {"gelu_tanh", "0.5 * v * (1 + tanh(sqrt(2 / pi) * (v + 0.044715 * v^3)))"},
    {"softplus", "ln(1 + exp(v))"},
    {"relu", "max(v, 0)|v above 0, else 0"},
    {"softsign", "v / (1 + |v|)"},
    {"exp", "e^v"},
    {"atan", "arctan(v)"},
};
enum { KNOWN = sizeof known / sizeof *known };

void synth_take_halves(struct synth *s, const char *x, const char *a, const char *b)
{
    s->even = true;
    if (synth_chance(s, 30))
        s->halved = synth_silent(s, "dim|axis|dim|split_dim|along", "int", "-1");
    synth_step(s, a, synth_fill(s, "$1[:size($2) // 2]", x, x));
    synth_step(s, b, synth_fill(s, "$1[size($2) // 2:]", x, x));
}

/* A gate that has the name of its function, if it has one: `gelu = gelu(a)`, or written out; NULL: this time not. */
const char *synth_named_opening(struct synth *s, const char *of, const char **text)
{
    const int row = synth_pick(s, OPENINGS);
    const char *step = synth_fill(s, "($1)", synth_put(s, openings[row].step, of)),
               *name = synth_name(s, synth_fill(s, "!$1|!$2|!$3|act|opened", openings[row].name, openings[row].name,
                                                openings[row].name));
    *text = synth_put(s, openings[row].value, of, step);
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, openings[row].name) == 0 && synth_chance(s, 40))
            *text = synth_fill(s, "$1($2)", known[i].name, of);
    return name;
}

/* A gate on its way back. */
struct gate {
    const char *dy, *open /* the half that opens */, *other, *slope, *value, *weight /* other, or what is made of it */;
};

static const char *product(struct synth *s, const char *a, const char *b, const char *c)
{
    return synth_put(s, c ? "$1 * $2 * $3|$1 * $3 * $2|$2 * $1 * $3" : "$1 * $2|$2 * $1|$1 * $2", a, b, c);
}

/* "the first half of each row of `y` is `a`, the second half `b`". */
const char *synth_joined(struct synth *s, const char *output, const char *first, const char *second)
{
    return synth_put(
        s,
        "the first half of `$1` is `$2`, the second half `$3`|`$1` is `$2` in its first half and `$3` in the "
        "second|the left half of `$1` is `$2`, its right half `$3`|the lower half of each row of `$1` is `$2`, the "
        "upper half `$3`|`$1`: in its first half `$2`, in the second `$3`|`$1` is `$2` and behind it `$3`|`$1 = "
        "cat($2, $3)` along the same dimension|`$1 = concat($2, $3)`|both halves of `$1`: first `$2`, then `$3`|what "
        "goes into the first half of `$1` is `$2`, into the second `$3`|`$2` fills the first half of `$1` and `$3` "
        "what is left|of each row of `$1` the first half is `$2`, the other one `$3`",
        output, first, second);
}

/* The results: one that both halves are joined in, or two. */
static void add_results(struct synth *s, const struct gate *gate, bool left, const char *slope, const char *value,
                        const char *told_slope, const char *told_value)
{
    const char *of_open = told_slope ? synth_fill(s, "$1 * $2 * $3", gate->dy, gate->weight, slope)
                                     : product(s, gate->dy, gate->weight, slope),
               *of_other = told_slope ? synth_fill(s, "$1 * $2", gate->dy, value) : product(s, gate->dy, value, NULL),
               *open = synth_printed(s, of_open), *other = synth_printed(s, of_other);
    if (told_slope) { /* in words the functions keep their names */
        open = synth_fill(s, "$1 * $2 * $3", gate->dy, gate->weight, told_slope);
        other = synth_fill(s, "$1 * $2", gate->dy, told_value);
    }
    const char *parts[] = {left ? of_open : of_other, left ? of_other : of_open},
               *shown[] = {left ? open : other, left ? other : open};
    if (synth_chance(s, 85)) {
        const char *output = synth_name(s, "dx|dx|grad_x|grad_in|out|result|z|d_input");
        synth_result(s, output, synth_fill(s, "concat($1, $2)", parts[0], parts[1]), SYNTH_FULL, NULL);
        s->steps[s->step_count - 1].told = synth_joined(s, output, shown[0], shown[1]);
        return;
    }
    for (int i = 0; i < 2; i++) {
        const char *output = synth_name(s, i ? "db|d2|grad_b|dright|dv" : "da|d1|grad_a|dleft|du");
        synth_result(s, output, parts[i], SYNTH_HALF, NULL);
        if (told_slope)
            s->steps[s->step_count - 1].told = synth_fill(s, "`$1 = $2`", output, shown[i]);
    }
}

/* What the gradient is of: `f(a) * b`. */
static void add_lead(struct synth *s, const struct gate *gate, const char *function)
{
    static const char *const leads =
        "Gradient of `%1$s * %2$s`. |The gradient of `%1$s * %2$s` in both of its factors' inputs. |Here `%3$s` "
        "comes back to `%1$s * %2$s`. |What `%1$s * %2$s` hands back where `%3$s` comes in. |The backward pass of "
        "the gate `%1$s * %2$s`. |`%3$s` is the gradient of `%1$s * %2$s`; here is that of both halves. |Derivative of "
        "`%1$s * %2$s`, times `%3$s`. ";
    s->lead = arena_printf(s->arena, synth_choose(s, leads), function, gate->weight, gate->dy);
}

enum { GELU = 3, GELU_TANH = 4 }; /* rows of `openings` */

/* Of both forms of the gelu, which an attribute chooses, that of `row` is meant. */
static const char *either_gelu(struct synth *s, int row)
{
    static const char *const exact = "v * (1 + erf(v / sqrt(2))) / 2|0.5 * v * (1 + erf(v / sqrt(2)))",
                             *const smooth = "0.5 * v * (1 + tanh(sqrt(2 / pi) * (v + 0.044715 * v^3)))|v * (1 + "
                                             "tanh(0.79788456 * (v + 0.044715 * v^3))) / 2";
    const char *mode =
        synth_silent(s, "approximate|mode|variant|form|gelu_kind|approx", "int", row == GELU ? "0" : "1");
    const bool told = row != GELU || synth_chance(s, 60); /* else the first form is meant */
    return synth_fill(
        s,
        synth_choose(
            s, "`gelu(v)` is `$1` where `$3` is 0 and `$2` where it is 1$4|by `$3` the function is, for 0, `gelu(v) = "
               "$1`, or, for 1, `gelu(v) = $2`$4|`$3` = 0 means `gelu(v) = $1`, `$3` = 1 means `gelu(v) = $2`$4"),
        synth_choose(s, exact), synth_choose(s, smooth), mode,
        told ? synth_put(s, "; it is $1|; $1 is asked for|; here it is $1 in all cases", row == GELU ? "0" : "1") : "");
}

/* Words say "f'(a)" and "f(a)" and what f is; formulas write the derivative out. */
static bool make_by_name(struct synth *s, struct gate *gate, bool left, int row)
{
    const char *definition = NULL;
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, openings[row].name) == 0)
            definition = known[i].definition;
    if (!definition)
        return false;
    const bool either = (row == GELU || row == GELU_TANH) && synth_chance(s, 65);
    const char *name = openings[row].name, *called = either ? "gelu" : name,
               *step = arena_printf(s->arena, "(%.*s)", (int)strcspn(openings[row].step, "|"), openings[row].step),
               *inner = synth_put(s, step, gate->open),
               *slope = arena_printf(s->arena, "%.*s", (int)strcspn(openings[row].slope, "|"), openings[row].slope),
               *value = synth_fill(s, "$1($2)", name, gate->open), *said = synth_fill(s, "$1($2)", called, gate->open);
    slope = synth_put(s, slope, gate->open, inner);
    if (synth_chance(s, 30)) {
        const char *held = synth_input(s, SYNTH_HALF, synth_fill(s, "!$1|h|act|!$2|opened|saved", called, called));
        s->held = synth_fill(s, "the input `$1` holds `$2`", held, said);
        value = held;
        said = synth_chance(s, 50) ? held : said;
    }
    add_results(s, gate, left, slope, value, synth_fill(s, "$1'($2)", called, gate->open), said);
    add_lead(s, gate, synth_fill(s, "$1($2)", called, gate->open));
    s->definition =
        either ? either_gelu(s, row)
               : synth_fill(s, synth_choose(s, "`$1(v) = $2`|`$1(v)` is `$2`|`$1'` is the derivative of `$1(v) = $2`"),
                            name, synth_choose(s, definition));
    return true;
}

void synth_make_gate_gradient(struct synth *s)
{
    struct gate gate;
    gate.dy = synth_input(s, SYNTH_HALF, "dy|dy|grad|grad_out|y_grad|dout|g|upstream|gy|dz");
    const char *x = synth_input(s, SYNTH_FULL, "x|x|input|h|src|gate_in|u|xin"),
               *a = synth_name(s, "a|a|left|first|u|x1|h1|p"), *b = synth_name(s, "b|b|right|second|v|x2|h2|q");
    const bool left = synth_chance(s, 65);
    if (synth_chance(s, 14))
        s->opens = synth_fill(
            s,
            synth_choose(s, "`$1` is $2: the $3 half opens the other|`$1` is $2 in all cases, so that what opens is "
                            "the $3 half|with `$1` = $2 the $3 half is the one that goes through the function"),
            synth_silent(s, "open_left|act_left|left_first|activate_first|gate_first", "bool", left ? "true" : "false"),
            left ? "true" : "false", left ? "left" : "right");
    gate.open = left ? a : b;
    gate.other = left ? b : a;
    synth_take_halves(s, x, a, b);
    gate.weight =
        synth_chance(s, 82) ? gate.other : synth_fill(s, "($1 + $2)", gate.other, synth_choose(s, "1|1|2|0.5"));
    const int row = synth_chance(s, 55) ? synth_pick(s, 6) : synth_pick(s, OPENINGS);
    if (synth_chance(s, 35) && make_by_name(s, &gate, left, row))
        return;
    const char *step = synth_put(s, openings[row].step, gate.open);
    if (synth_chance(s, 70)) {
        step = synth_step(s, synth_name(s, "s|t|w|e|sig|k|c|m"), step);
    } else
        step = synth_fill(s, "($1)", step);
    const char *const parts[] = {gate.open, step};
    const char *value = synth_put_parts(s, openings[row].value, parts),
               *slope = synth_put_parts(s, openings[row].slope, parts);
    const char *whole = synth_put(s, openings[row].value, gate.open,
                                  synth_fill(s, "($1)", synth_put(s, openings[row].step, gate.open)));
    add_lead(s, &gate, synth_printed(s, whole));
    if (synth_chance(s, 20)) { /* a forward pass left it */
        const char *held = synth_input(s, SYNTH_HALF, "h|act|opened|saved|fa|gate_value|act_out");
        s->held = synth_fill(s, "the input `$1` holds `$2`", held, synth_printed(s, whole));
        value = held;
    }
    add_results(s, &gate, left, slope, value, NULL, NULL);
    if (synth_chance(s, 30))
        s->lead = NULL;
}
