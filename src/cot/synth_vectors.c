/* Vectors with a length and steps as attributes, and attributes that choose what is computed: names that stand in a description and in no
 * formula. */
#include "cot/synth_internal.h"

#include <string.h>

static const char *vector(struct synth *s, const char *words, const char *strides, bool stepped)
{
    const char *name = synth_input(s, SYNTH_FULL, words);
    if (stepped)
        s->tensors[s->tensor_count - 1].stride = synth_silent(s, strides, "int", "1");
    return name;
}

static const char *summed(struct synth *s, const char *x, const char *y)
{
    static const char *const alone = "abs($1)|$1**2|exp($1)|abs($1)**3|max($1, 0)|$1**4|$1 * abs($1)|"
                                     "sqrt(abs($1))|tanh($1)|1 / (1 + $1**2)|cos($1)|$1**2 + abs($1)|$1**3|$1",
                             *const both = "$1 * $2|abs($1 - $2)|($1 - $2)**2|abs($1) * $2|max($1, $2)|"
                                           "$1**2 * $2|abs($1 * $2)|$1**2 + $2**2";
    const char *text = synth_put(s, y ? both : alone, x, y);
    return synth_chance(s, 20) ? synth_fill(s, "$1 * ($2)", synth_number(s), text) : text;
}

static const char *elementwise(struct synth *s, const char *x, const char *y)
{
    static const char *const alone = "$1 / $3|$1 + $3|$3 - $1|-$1|sqrt($1)|$3 * abs($1)|$1 * $3 + $4|"
                                     "$1 * $3 * $4|$1 * $3**2|$1 / $3 + $4|exp($3 * $1)|$1 * -$3|$1 * ($3 + $4)|"
                                     "$1 * (1 - $3)|$1 / ($3 * $4)|$1 - $3 * $4|$1 + abs($1) * $3|$1 - $3 * $1**2|"
                                     "$1 * abs($3)|$1 * $4|$1 / $4|$1 + $4|$1 - $4|$1 * $4|$1 * exp($3)|$1 / ($3 - "
                                     "4)|$1 + $3 / $4|$1 * sqrt(abs($3))",
                             *const both =
                                 "$2 + $3 * $1|$3 * $1 + $4 * $2|$2 - $3 * $1|$3 * $2 - $1|"
                                 "$1 * $2 * $3|max($1, $2) * $3|$2 * $3 + $1|$2 + $1 / $3|$2 - abs($1) * $3|"
                                 "$2 + $3 * $1**2|$2 * ($3 * $1)|$2 * ($3 + $1)|$2 - $3 * tanh($1)|"
                                 "$2 / ($3 + abs($1))|$2 + $3 * $1|$2 - $3 * $1|$2 + ($3 + $4) * $1|$2 - $3 * "
                                 "$4 * $1";
    const char *alpha = synth_chance(s, 75) ? synth_attr(s, "alpha|a|scale|c|factor|da|t", "0.5|1.5|2.0|-0.5|0.25")
                                            : synth_input(s, SYNTH_ONE, "alpha|a|scale|factor|s"),
               *beta = synth_chance(s, 60) ? synth_attr(s, "beta|b|shift|d|w", "0.5|1.5|-1.0|0.1") : synth_number(s);
    return synth_put(s, y ? both : alone, x, y, alpha, beta);
}

/* Two vectors, each of which is changed by a number. */
static void make_two_updates(struct synth *s, const char *x, const char *y)
{
    static const char *const changes = "$1 * $2|$1 * $2|$1 / $2|$1 + $2|$1 - $2|$1 * $2";
    s->replaces = synth_chance(s, 85);
    s->apart = true;
    const char *alpha = synth_attr(s, "alpha|a|scale|c|factor|da", "0.5|1.5|2.0|-0.5|0.25"), *beta = alpha;
    if (synth_chance(s, 65))
        beta = synth_attr(s, "beta|b|shift|d|w|db", "0.5|1.5|-1.0|0.1");
    else if (synth_chance(s, 50))
        beta = synth_choose(s, "2|0.5|1|-1|3|10");
    const char *const of[] = {x, y}, *const by[] = {alpha, beta};
    for (int i = 0; i < 2; i++) {
        synth_result(s, synth_name(s, "u|out|result|z|r|out2"), synth_put(s, changes, of[i], by[i]), SYNTH_FULL, NULL);
    }
}

void synth_make_vector(struct synth *s)
{
    s->flat = true;
    bool stepped = synth_chance(s, 80), two = synth_chance(s, 40);
    const char *x = vector(s, "x|a|v|u|src|sx|dx", "incx|inc|stride|step_x|incX|distance|inca", stepped),
               *y = two ? vector(s, "y|b|w|z|sy|other", "incy|inc2|stride_y|step_y|incY|incb", stepped) : NULL;
    s->length = synth_silent(s, "n|n|n|N|count|num|elements|k", "int", "1");
    const char *output;
    if (y && synth_chance(s, 35)) {
        make_two_updates(s, x, y);
        return;
    }
    if (synth_chance(s, 50)) {
        s->replaces = synth_chance(s, 80);
        const char *text = elementwise(s, x, y);
        output = synth_name(s, "y|out|result|z|r");
        synth_result(s, output, text, SYNTH_FULL, NULL);
        return;
    }
    const char *sum = synth_fill(s, synth_chance(s, 88) ? "sum($1, all)" : "amax(abs($1), all)", summed(s, x, y)),
               *form =
                   synth_choose(s, "%s|%s|%s|sqrt(%s)|sqrt(%s)|%s * %s|%s / %s|%s + %s|1 / %s|log(%s)|(%s)**0.25|-%s");
    synth_result(s, synth_name(s, "result|out|y|sum_out|r|norm_out|total|res"),
                 arena_printf(s->arena, form, sum, synth_number(s)), SYNTH_ONE, NULL);
}

/* The words of a text, which blanks separate, become the values of branches. */
static void add_branches(struct synth *s, const char *words)
{
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        s->branches[s->branch_count++].value = arena_strndup(s->arena, at, length);
        at += length + (at[length] == ' ');
    }
}

/* "none", "sum", "mean": the shape of the result tells none from the others. */
static void make_reduction_by_name(struct synth *s, const char *const *atoms, int count)
{
    const char *step = synth_name(s, synth_step_words), *output = synth_name(s, "y|loss|out|result|total");
    synth_step(s, step, synth_expression(s, atoms, count, 1 + synth_pick(s, 2)));
    const char *both =
        synth_choose(s, "none sum mean|none sum mean|none mean sum|sum mean none|mean sum|none sum|none mean");
    add_branches(s, both);
    do
        s->chosen = synth_pick(s, s->branch_count);
    while (strcmp(s->branches[s->chosen].value, "none") == 0 && synth_chance(s, 50));
    s->reductions = step;
    const char *how = s->branches[s->chosen].value;
    bool keeps = strcmp(how, "none") == 0;
    s->mode = synth_silent(s, "reduction|reduction|reduce|how|red_mode|agg", "string", how);
    s->modal = output;
    bool usual = strcmp(how, "mean") == 0; /* what a module does that is not told, PyTorch's too */
    s->told = (!keeps && strstr(both, "sum") && strstr(both, "mean") && !usual) || synth_chance(s, 25);
    synth_result(s, output, keeps ? step : synth_fill(s, "$1($2, all)", how, step), keeps ? SYNTH_FULL : SYNTH_ONE,
                 NULL);
}

static void make_flag(struct synth *s, const char *const *atoms, int count)
{
    static const char *const values[] = {"true false", "0 1",        "1 0",       "0 1 2",
                                         "1 2 3",      "fast exact", "tanh none", "left right"},
                             *const types[] = {"bool", "int", "int", "int", "int", "string", "string", "string"};
    int kind = synth_chance(s, 45) ? 0 : synth_pick(s, 8);
    add_branches(s, values[kind]);
    for (int i = 0; i < s->branch_count; i++)
        s->branches[i].tree = synth_parse(s, synth_expression(s, atoms, count, 1 + synth_pick(s, 2)));
    s->chosen = synth_pick(s, s->branch_count);
    s->mode = synth_silent(s,
                           kind == 0   ? "flag|approximate|use_scale|left_first|is_training|inverse|causal|sign_first"
                           : kind <= 4 ? "mode|kind|variant|approximate|method|op_mode|which"
                                       : "mode|approximate|method|variant|side|how",
                           types[kind], s->branches[s->chosen].value);
    s->told = true;
    const char *output = s->modal = synth_name(s, synth_output_words);
    s->steps[s->step_count++] =
        (struct synth_step){.name = output, .tree = s->branches[s->chosen].tree, .output = true};
    synth_output(s, output, SYNTH_FULL, NULL);
}

/* A factor that is divided by the number of elements, or is not. */
static void make_factor(struct synth *s, const char *const *atoms, int count)
{
    const char *factor = s->modal = synth_name(s, "c|k|f|s|norm|w|r"), *number = synth_choose(s, "2|1|0.5|3|4|-1"),
               *gradient = synth_input(s, SYNTH_FULL, "dout|grad_out|dy|g|grad|upstream");
    s->counted = atoms[0];
    s->count = synth_name(s, "n|N|count|numel|total|elements");
    bool mean = synth_chance(s, 60);
    const char *const texts[] = {synth_fill(s, "$1 / size($2, all)", number, atoms[0]), number};
    add_branches(s, synth_choose(s, "mean sum|mean none|avg total|batchmean sum"));
    for (int i = 0; i < 2; i++)
        s->branches[i].tree = synth_parse(s, texts[i]);
    s->chosen = !mean;
    s->mode = synth_silent(s, "reduction|reduction|reduce|how|norm_mode", "string", s->branches[s->chosen].value);
    s->told = true;
    synth_step(s, factor, texts[s->chosen]);
    synth_result(s, synth_name(s, "y|dx|grad_in|out|z"),
                 synth_put(s, "($1) * $2 * $3|$2 * ($1) * $3|$3 * ($1) * $2",
                           synth_expression(s, atoms, count, synth_pick(s, 2)), factor, gradient),
                 SYNTH_FULL, NULL);
}

void synth_make_mode(struct synth *s)
{
    const char *atoms[2];
    int count = 1 + synth_chance(s, 60);
    for (int i = 0; i < count; i++)
        atoms[i] = synth_input(s, SYNTH_FULL, synth_input_words);
    int kind = synth_pick(s, 10);
    if (kind < 2)
        make_factor(s, atoms, count);
    else if (kind < 6)
        make_reduction_by_name(s, atoms, count);
    else
        make_flag(s, atoms, count);
}
