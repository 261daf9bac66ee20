/* Expressions at random: what is there is combined until one is left. */
#include "base/error.h"
#include "cot/synth_internal.h"
#include "task/expr/print.h"

#include <stdio.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_ATOMS = 12 };

const char *synth_number(struct synth *s)
{
    static const char *const usual = "2|0.5|3|1|4|0.1|1.5|0.25|10|6|0.01|8|0.75|1.702|0.2|100|0.044715|1e-3|2.5|7|0.3";
    if (synth_chance(s, 68))
        return synth_choose(s, usual);
    if (synth_chance(s, 12)) /* as many digits as there are */
        return arena_printf(s->arena, "%.*g", 7 + synth_pick(s, 10), 0.02 + rng_uniform(&s->rng) * 3);
    if (synth_chance(s, 12))
        return synth_choose(s, "sqrt(2)|sqrt(2 / pi)|log(2)|pi|sqrt(2)|log(10)");
    return synth_chance(s, 50) ? arena_printf(s->arena, "%.*g", 1 + synth_pick(s, 4), 0.01 + rng_uniform(&s->rng) * 4)
                               : arena_printf(s->arena, "%d", 1 + synth_pick(s, 30));
}

/* Forms that do not overflow, and others whose parentheses close late. */
static const char *stable(struct synth *s, const char *of)
{
    static const char *const forms =
        "exp(%2$s * (%1$s - abs(%1$s)))|1 / (1 + exp(-%2$s * abs(%1$s)))|exp(-%2$s * abs(%1$s))|%1$s / (%2$s + "
        "abs(%1$s))|"
        "exp(%2$s * (%1$s - abs(%1$s))) / (1 + exp(-%2$s * abs(%1$s)))|(exp(%1$s) - 1) / (exp(%1$s) + %2$s)|"
        "%1$s * exp(-%2$s * (%1$s)**2)|max(%1$s, 0) + log(1 + exp(-abs(%1$s)))|%2$s * (abs(%1$s) + %1$s)";
    return arena_printf(s->arena, arena_printf(s->arena, "(%s)", synth_choose(s, forms)), of, synth_number(s));
}

const char *synth_apply(struct synth *s, const char *of)
{
    static const char *const usual =
        "exp|tanh|sigmoid|sqrt|abs|relu|square|silu|gelu|log|rsqrt|reciprocal|sin|cos|gelu_tanh|softplus|sign|erf";
    static const char *const others = "expm1|log1p|log2|log10|exp2|tan|asin|acos|atan|sinh|cosh|erfc|floor|ceil|round|"
                                      "trunc|logsigmoid|mish|hardswish|hardsigmoid|relu6|selu|softsign";
    switch (synth_pick(s, 10)) {
    case 0:
        return arena_printf(s->arena, "(%s)**%s", of, synth_choose(s, "2|2|2|3|3|4"));
    case 1:
        return arena_printf(s->arena, "(-(%s))", of);
    case 2:
        return synth_chance(s, 50) ? arena_printf(s->arena, "leaky_relu(%s, %s)", of, synth_number(s))
                                   : arena_printf(s->arena, "elu(%s, %s)", of, synth_number(s));
    case 3:
        switch (synth_pick(s, 5)) {
        case 0:
            return arena_printf(s->arena, "min(%s, %s)", of, synth_number(s));
        case 1:
            return arena_printf(s->arena, "max(%s, %s)", of, synth_choose(s, "0|0|0|1|-1"));
        case 2:
            return arena_printf(s->arena, "(1 / (1 + exp(-(%s))))", of);
        case 3:
            return arena_printf(s->arena, "(1 / sqrt(%s))", of);
        default:
            return arena_printf(s->arena, "clamp(%s, -%s, %s)", of, synth_choose(s, "1|2|0.5|6"),
                                synth_choose(s, "1|3|0.5|6"));
        }
    case 4:
    case 5:
        return arena_printf(s->arena, "%s(%s)", synth_choose(s, others), of);
    default:
        return arena_printf(s->arena, "%s(%s)", synth_choose(s, usual), of);
    }
}

/* With a number, on either side. */
static const char *with_number(struct synth *s, const char *of)
{
    const char *number = synth_number(s);
    if (synth_chance(s, 4))
        return arena_printf(s->arena, "(%s**(%s))", synth_choose(s, "2|3|0.5|10|1.5"), of);
    switch (synth_pick(s, 8)) {
    case 0:
    case 1:
        return arena_printf(s->arena, "(%s * (%s))", number, of);
    case 2:
        return arena_printf(s->arena, "((%s) * %s)", of, number);
    case 3:
        return arena_printf(s->arena, "((%s) + %s)", of, number);
    case 4:
        return arena_printf(s->arena, "(%s + (%s))", number, of);
    case 5:
        return arena_printf(s->arena, "(%s - (%s))", number, of);
    case 6:
        return arena_printf(s->arena, "((%s) - %s)", of, number);
    default:
        return arena_printf(s->arena, synth_chance(s, 60) ? "((%s) / %s)" : "(%2$s / (%1$s))", of, number);
    }
}

static const char *combine(struct synth *s, const char *a, const char *b)
{
    if (synth_chance(s, 5))
        return arena_printf(s->arena, "((%s)**(%s))", a, b);
    switch (synth_pick(s, 12)) {
    case 0:
    case 1:
    case 2:
        return arena_printf(s->arena, "((%s) + (%s))", a, b);
    case 3:
    case 4:
        return arena_printf(s->arena, "((%s) - (%s))", a, b);
    case 5:
    case 6:
    case 7:
    case 8:
        return arena_printf(s->arena, "((%s) * (%s))", a, b);
    case 9:
        return arena_printf(s->arena, "((%s) / (%s))", a, b);
    case 10:
        return arena_printf(s->arena, "%s(%s, %s)", synth_choose(s, "min|max"), a, b);
    default:
        return arena_printf(s->arena, "((%s) / ((%s) + %s))", a, b, synth_choose(s, "1|1e-6|1e-3|2"));
    }
}

const char *synth_expression(struct synth *s, const char *const *atoms, int count, int functions)
{
    const char *parts[MOST_ATOMS] = {0};
    for (int i = 0; i < count; i++)
        parts[i] = atoms[i];
    while (count > 1 || functions > 0) {
        int at = synth_pick(s, count);
        if (functions > 0 && (count == 1 || synth_chance(s, 45))) {
            parts[at] = synth_chance(s, 5)    ? stable(s, parts[at])
                        : synth_chance(s, 65) ? synth_apply(s, parts[at])
                                              : with_number(s, parts[at]);
            functions--;
        } else {
            int other = (at + 1 + synth_pick(s, count - 1)) % count;
            parts[at] = combine(s, parts[at], parts[other]);
            parts[other] = parts[--count];
        }
    }
    return parts[0];
}

const char *synth_put(struct synth *s, const char *forms, const char *const *parts)
{
    struct text text = {0};
    for (const char *at = synth_choose(s, forms); *at; at++)
        if (*at == '$')
            text_add(&text, parts[*++at - '1']);
        else
            text_append(&text, at, 1);
    const char *kept = arena_strdup(s->arena, text.bytes);
    text_free(&text);
    return kept;
}

struct expr *synth_parse(struct synth *s, const char *text)
{
    struct expr *tree;
    struct akgen_error *error = expr_tree_parse(s->arena, text, &tree);
    if (error) { /* a family that writes what is no formula */
        fprintf(stderr, "%s: %s\n", s->family, error->message);
        abort();
    }
    return tree;
}

const char *synth_printed(struct synth *s, const char *text)
{
    struct text printed = {0};
    expr_print(&printed, synth_parse(s, text));
    const char *kept = arena_strdup(s->arena, printed.bytes);
    text_free(&printed);
    return kept;
}

void synth_step(struct synth *s, const char *name, bool output, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[8192];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->steps[s->step_count++] = (struct synth_step){.name = name, .tree = synth_parse(s, text), .output = output};
}

const char *synth_named(struct synth *s, int percent, const char *words, const char *text)
{
    if (!synth_chance(s, percent))
        return arena_printf(s->arena, "(%s)", text);
    const char *name = synth_name(s, words);
    synth_step(s, name, false, "%s", text);
    return name;
}
