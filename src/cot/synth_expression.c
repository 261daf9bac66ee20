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

const char *synth_apply(struct synth *s, const char *of)
{
    static const char *const usual =
        "exp|tanh|sigmoid|sqrt|abs|relu|square|silu|gelu|log|rsqrt|reciprocal|sin|cos|gelu_tanh|softplus|sign|erf";
    static const char *const others = "expm1|log1p|log2|log10|exp2|tan|asin|acos|atan|sinh|cosh|erfc|floor|ceil|round|"
                                      "trunc|logsigmoid|mish|hardswish|hardsigmoid|relu6|selu|softsign";
    const int kind = synth_pick(s, 10);
    if (kind > 3)
        return synth_fill(s, "$2($1)", of, synth_choose(s, kind < 6 ? others : usual));
    static const char *const limits = "min($1, #)|max($1, {0|0|0|1|-1})|(1 / (1 + exp(-($1))))|(1 / sqrt($1))|"
                                      "clamp($1, -{1|2|0.5|6}, {1|3|0.5|6})";
    return kind == 3 ? synth_put(s, limits, of)
                     : synth_fill(s,
                                  kind == 0   ? "($1)**{2|2|2|3|3|4}"
                                  : kind == 1 ? "(-($1))"
                                              : "{50:leaky_relu($1, #)|elu($1, #)}",
                                  of);
}

/* With a number, on either side. */
static const char *with_number(struct synth *s, const char *of)
{
    const char *number = synth_number(s);
    return synth_fill(s,
                      "{4:({2|3|0.5|10|1.5}**($1))|{($2 * ($1))|($2 * ($1))|(($1) * $2)|(($1) + $2)|($2 + ($1))|"
                      "($2 - ($1))|(($1) - $2)|{60:(($1) / $2)|($2 / ($1))}}}",
                      of, number);
}

static const char *combine(struct synth *s, const char *a, const char *b)
{
    static const char *const form = "{5:(($1)**($2))|{(($1) + ($2))|(($1) + ($2))|(($1) + ($2))|(($1) - ($2))|"
                                    "(($1) - ($2))|(($1) * ($2))|(($1) * ($2))|(($1) * ($2))|(($1) * ($2))|"
                                    "(($1) / ($2))|{min|max}($1, $2)|(($1) / (($2) + {1|1e-6|1e-3|2}))}}";
    return synth_fill(s, form, a, b);
}

/* Forms that do not overflow, and others whose parentheses close late. */
static const char *stable(struct synth *s, const char *of)
{
    static const char *const forms =
        "exp($2 * ($1 - abs($1)))|1 / (1 + exp(-$2 * abs($1)))|exp(-$2 * abs($1))|$1 / ($2 + abs($1))|"
        "exp($2 * ($1 - abs($1))) / (1 + exp(-$2 * abs($1)))|(exp($1) - 1) / (exp($1) + $2)|$1 * exp(-$2 * ($1)**2)|"
        "max($1, 0) + log(1 + exp(-abs($1)))|$2 * (abs($1) + $1)";
    return synth_fill(s, synth_fill(s, "($1)", synth_choose(s, forms)), of, synth_number(s));
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

static void expand(struct synth *s, struct text *text, const char *at, const char *end, const char *const *parts);

/* Behind the form that begins at `at`: at its '|', or at `end`. */
static const char *behind_form(const char *at, const char *end)
{
    for (int depth = 0; at < end && (depth || *at != '|'); at++)
        depth += (*at == '{') - (*at == '}');
    return at;
}

/* One of the forms in [at, end). */
static void expand_one(struct synth *s, struct text *text, const char *at, const char *end, const char *const *parts)
{
    int forms = 1, digits = (int)strspn(at, "0123456789"), chosen;
    for (const char *bar = at; (bar = behind_form(bar, end)) < end; bar++)
        forms++;
    if (digits && at[digits] == ':') {
        chosen = !synth_chance(s, atoi(at));
        at += digits + 1;
    } else
        chosen = synth_pick(s, forms);
    for (; chosen; chosen--)
        at = behind_form(at, end) + 1;
    expand(s, text, at, behind_form(at, end), parts);
}

static void expand(struct synth *s, struct text *text, const char *at, const char *end, const char *const *parts)
{
    for (; at < end; at++)
        if (*at == '$')
            text_add(text, parts[*++at - '1']);
        else if (*at == '#')
            text_add(text, synth_number(s));
        else if (*at == '{') {
            const char *first = at + 1;
            for (int depth = 1; depth; depth += (*at == '{') - (*at == '}'))
                at++;
            expand_one(s, text, first, at, parts);
        } else
            text_append(text, at, 1);
}

const char *synth_put_parts(struct synth *s, const char *forms, const char *const *parts)
{
    struct text text = {0};
    expand_one(s, &text, forms, forms + strlen(forms), parts);
    return text_keep(&text, s->arena);
}

const char *synth_fill_parts(struct synth *s, const char *form, const char *const *parts)
{
    struct text text = {0};
    expand(s, &text, form, form + strlen(form), parts);
    return text_keep(&text, s->arena);
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
    return text_keep(&printed, s->arena);
}

const char *synth_shown(struct synth *s, bool shown, const char *name, const char *text, enum synth_place place,
                        const char *type)
{
    s->steps[s->step_count++] = (struct synth_step){.name = name, .tree = synth_parse(s, text), .output = shown};
    if (shown)
        synth_output(s, name, place, type);
    return name;
}

const char *synth_result(struct synth *s, const char *name, const char *text, enum synth_place place, const char *type)
{
    return synth_shown(s, true, name, text, place, type);
}

const char *synth_step(struct synth *s, const char *name, const char *text)
{
    return synth_shown(s, false, name, text, SYNTH_FULL, NULL);
}

const char *synth_named(struct synth *s, int percent, const char *words, const char *text)
{
    return synth_chance(s, percent) ? synth_step(s, synth_name(s, words), text) : synth_fill(s, "($1)", text);
}
