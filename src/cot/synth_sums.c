/* Sums over a row and sums over all rows: what a description says of which, and gradients of norms, which have both. */
#include "cot/synth_internal.h"

#include <string.h>

/* Along all axes but the last: the rows of matrices, of batches of matrices. */
static bool goes_down(const struct synth *s, const struct expr *call)
{
    bool down = synth_is_summary(call) && s->rank > 1 && call->kid_count == s->rank;
    for (int i = 1; down && i < call->kid_count; i++)
        down = call->kids[i]->node == NODE_VALUE && call->kids[i]->value.real == i - 1;
    return down;
}
static bool is_sum(const struct expr *expr)
{
    return synth_is_call(expr, "sum");
}
static bool is_mean(const struct expr *expr)
{
    return synth_is_call(expr, "mean");
}
bool synth_goes_down(const struct synth *s, const struct expr *expr)
{
    if (goes_down(s, expr))
        return true;
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i] && synth_goes_down(s, expr->kids[i]))
            return true;
    return false;
}

/* " over the rows", behind "the sum". */
const char *synth_over(struct synth *s, const struct expr *call)
{
    if (s->along && call->kid_count == 2)
        return synth_fill(s, "$1`$2`", synth_choose(s, " over dimension | along | along dimension "), s->along);
    if (synth_is_all(call))
        return synth_choose(s, " over all elements| over the whole tensor| over all elements");
    if (goes_down(s, call))
        return synth_choose(s, s->rank == 2 ? " over all rows| over the rows| along the first dimension| over "
                                              "dimension 0| in each column| per column| along axis 0| down the columns"
                                            : " over all rows| over the rows| over all dimensions but the last| over "
                                              "the first two dimensions| over dimensions 0 and 1| per column");
    if (call->kid_count == 2 && s->rank == 2)
        return synth_choose(s, " over dimension 1| along dimension 1| along axis 1| over the second dimension| over "
                               "the columns| along the second of both dimensions");
    if (call->kid_count == 2 && call->kids[1]->value.real < 2 && synth_chance(s, 30))
        return synth_choose(s, call->kids[1]->value.real == 0
                                   ? " over the first dimension| along the first of three dimensions"
                                   : " over the middle dimension| along the second of three dimensions");
    if (call->kid_count == 2)
        return arena_printf(s->arena, "%s%d", synth_choose(s, " over dimension | along dimension | along axis "),
                            (int)call->kids[1]->value.real);
    const char *row = synth_choose(s, " over the last dimension| over the row| of each row| along the last axis");
    return s->columns || synth_chance(s, 65) ? row : "";
}

/* What stands behind a formula whose sums have no axes. */
static const char *down_the_rows(struct synth *s, int count, bool neutral)
{
    if (neutral)
        return synth_choose(s, count > 1
                                   ? ", both over all the rows|, column by column|, one element of each per column, "
                                     "over all the rows|, both along the first axes"
                                   : ", over the rows|, column by column| for each column, over all the rows");
    if (count > 1)
        return synth_choose(s,
                            ", both over all the rows|, each summed over the rows|, column by column|, both added up "
                            "down the rows|, one element of each per column, over all the rows|, both along the "
                            "first dimension");
    return synth_choose(s,
                        ", over the rows|, summed down all the rows|, column by column|, added up over every row| for "
                        "each column, over all the rows|, with the sum over every row|, along the first dimension");
}

/* A formula whose sums over rows are written as if they were of a row. */
static const char *without_axes(struct synth *s, const struct expr *tree)
{
    const struct synth_style *style = s->style;
    struct synth_style mute = *style;
    s->style = &mute;
    mute.mute = true;
    const char *formula = synth_formula(s, tree);
    s->style = style;
    return formula;
}

const char *synth_column_statement(struct synth *s, const char *name, const struct expr *tree)
{
    const bool sum = synth_is_call(tree, "sum"), mean = synth_is_call(tree, "mean");
    if (!goes_down(s, tree) || (!sum && !mean))
        return synth_fill(s, "`$1 = $2`$3", name, without_axes(s, tree), down_the_rows(s, 1, !synth_has(tree, is_sum)));
    const char *of = synth_formula(s, tree->kids[0]), *noun = sum ? "sum" : "mean",
               *form = synth_choose(s, "`$1` is the $3 over all rows of `$2`|for each column `$1` is the $3 of `$2`|"
                                       "`$1`, one element per column, is the $3 of `$2` over the rows|"
                                       "`$1` holds the column $3s of `$2`|`$1[j]` is the $3 of column `j` of `$2`|"
                                       "`$1` has the $3 of each column of `$2`|`$1 = $3($2)`, over the rows|"
                                       "`$1 = $3($2)`, column by column|`$1 = $3($2)` with the $3 over every row|"
                                       "`$1` is the $3 of `$2` along the first dimension|"
                                       "the $3 of `$2` over all rows is `$1`");
    if (s->rank == 2 && synth_chance(s, 20))
        form = tree->kids[0]->node == NODE_WORD ? synth_choose(s, "`$1 = $2.$3(0)`|`$1 = $3($2, dim=0)`")
                                                : synth_choose(s, "`$1 = ($2).$3(0)`|`$1 = $3($2, dim=0)`|"
                                                                  "`$1 = $3($2, axis=0)`");
    else if (sum && synth_chance(s, 25))
        form = synth_choose(s, "`$1` adds up `$2` over all rows|`$1` is `$2`, summed down the columns|"
                               "over all rows `$2` is added up into `$1`|`$1` is `$2`, added up over the rows");
    if (s->rank == 3 && strstr(form, "first dimension"))
        form = "`$1` is the $3 of `$2` over all dimensions but the last";
    return synth_fill(s, form, name, of, noun);
}

const char *synth_row_statement(struct synth *s, const char *name, const struct expr *tree)
{
    static const char *const forms =
        "`$1` is the $3 of each row of `$2`|for each row `$1` is the $3 of `$2`|"
        "`$1[i]` is the $3 of row `i` of `$2`|`$1` holds the row $3s of `$2`|"
        "`$1`, one element per row, is the $3 of `$2` along the row|`$1 = $3($2)`, row by row|"
        "`$1` has the $3 of every row of `$2`|`$1 = $3($2, dim=-1)`|"
        "the $3 of `$2` along each row is `$1`|`$1` is the $3 of `$2` along the last dimension";
    if (!synth_along_rows(tree) || !(synth_is_call(tree, "sum") || synth_is_call(tree, "mean")))
        return NULL;
    return synth_put(s, forms, name, synth_formula(s, tree->kids[0]), tree->name);
}

const char *synth_with_row_sums(struct synth *s, const char *said, const struct expr *tree)
{
    if (synth_has(tree, is_mean))
        return synth_fill(s, "$1$2", said,
                          synth_choose(s, " (over a row)|, over a row each time| per row|, along the row| (along the "
                                          "last dimension)"));
    return synth_fill(s, "$1$2", said,
                      synth_choose(s, " (sums of a row)|, summed over a row|, each sum over one row|, where sums are "
                                      "those of a row|, the sums going along the row| per row| (sums along the last "
                                      "dimension)"));
}

/* Gradients of norms. */
enum part { BEFORE, ROWS, RESULTS, COLUMNS, PARTS };

static enum part part_of(const struct synth *s, const struct synth_step *step)
{
    return synth_goes_down(s, step->tree)            ? COLUMNS
           : step->output                            ? RESULTS
           : synth_has(step->tree, synth_along_rows) ? ROWS
                                                     : BEFORE;
}

/* What all steps of a part say; "": there are none. */
static const char *said_of(struct synth *s, enum part part, bool formulas)
{
    struct text text = {0};
    int count = 0, said = 0;
    const struct expr *sums = NULL; /* the last step that has such of a row */
    bool means = false;
    for (int i = 0; i < s->step_count; i++)
        if (part_of(s, &s->steps[i]) == part) {
            count++;
            means |= synth_has(s->steps[i].tree, is_mean);
            sums = synth_has(s->steps[i].tree, synth_along_rows) ? s->steps[i].tree : sums;
        }
    const bool together = part == COLUMNS && count > 1 && synth_chance(s, 50);
    const char *between = synth_choose(s, " and |, "), *all;
    for (int i = 0; i < s->step_count; i++) {
        const struct synth_step *step = &s->steps[i];
        if (part_of(s, step) != part)
            continue;
        const char *one = together || formulas
                              ? synth_fill(s, "`$1 = $2`", step->name,
                                           together ? without_axes(s, step->tree) : synth_formula(s, step->tree))
                              : synth_statement(s, step, false);
        text_addf(&text, "%s%s", said++ ? between : "",
                  step->tree == sums ? synth_with_row_sums(s, one, step->tree) : one);
    }
    if (together)
        text_add(&text, down_the_rows(s, count, means));
    all = arena_strdup(s->arena, text.length ? text.bytes : "");
    text_free(&text);
    return all;
}

static const char *of_which_norm(struct synth *s)
{
    static const char *const centred =
                                 "a layer norm|a norm of centred rows|a normalisation of rows by mean and deviation|"
                                 "layer normalisation|a layer norm",
                             *const plain = "an RMS norm|a norm of rows without a mean|a root-mean-square norm|RMS "
                                            "normalisation|an RMS norm";
    const char *norm = synth_choose(s, s->without_mean ? plain : centred), *given[3], *text;
    int count = 0;
    for (int i = 0; i < s->tensor_count && count < 3; i++)
        if (s->tensors[i].place == SYNTH_ROW && !s->tensors[i].output)
            given[count++] = s->tensors[i].name;
    text = synth_put(s,
                     "The gradient of $1|The backward pass of $1|What comes back through $1|Derivatives of $1|The way "
                     "back through $1|Gradients of $1",
                     norm);
    if (count && synth_chance(s, 55)) {
        const char *names =
            count == 1 ? synth_fill(s, "`$1`", given[0]) : synth_fill(s, "`$1` and `$2`", given[0], given[1]);
        text = synth_put(s,
                         "$1, with $2 of each row|$1 ($2 per row: an input)|$1 whose $2 the forward pass left|$1; "
                         "given per row: $2|$1 for which $2 come in",
                         text, names);
        if (count == 1 && strstr(text, " come in"))
            text = arena_printf(s->arena, "%.*scomes in", (int)(strlen(text) - strlen("come in")), text);
    }
    return synth_fill(s, "$1$2", text, synth_choose(s, ", in float32||, computed in float32||"));
}

static void add_item(struct synth *s, struct text *text, const char *said)
{
    if (*said)
        text_addf(text, "\n- %s%s", said, synth_choose(s, "||."));
}

static void add_sentence(struct synth *s, struct text *text, const char *said)
{
    if (*said)
        text_addf(text, " %s.", synth_capital(s, said));
}

void synth_tell_norm_gradient(struct synth *s, struct text *text)
{
    const char *said[PARTS];
    int first = 0;
    const bool formulas = synth_chance(s, 75);
    for (int i = 0; i < PARTS; i++)
        said[i] = said_of(s, (enum part)i, i == BEFORE ? formulas : i != COLUMNS);
    while (!s->steps[first].output)
        first++;
    const bool columns_first = part_of(s, &s->steps[first]) == COLUMNS, before = *said[BEFORE];
    const enum part order[] = {columns_first ? COLUMNS : ROWS, columns_first ? ROWS : RESULTS,
                               columns_first ? RESULTS : COLUMNS};
    text_add(text, of_which_norm(s));
    const int layout = synth_pick(s, 10);
    if (layout < 4) { /* items */
        if (before && layout)
            text_addf(text, ". %s %s:\n", formulas ? "With" : "Where", said[BEFORE]);
        else
            text_add(text, ":\n");
        if (!layout)
            add_item(s, text, said[BEFORE]);
        for (int i = 0; i < 3; i++)
            add_item(s, text, said[order[i]]);
        text_add(text, "\n\n");
    } else if (layout < 7 && *said[RESULTS]) { /* the results first */
        text_addf(text, ": %s%s", columns_first && *said[COLUMNS] ? said[COLUMNS] : "",
                  columns_first && *said[COLUMNS] ? synth_choose(s, ", and |; ") : "");
        text_add(text, said[RESULTS]);
        if (!columns_first && *said[COLUMNS])
            text_addf(text, "%s%s", synth_choose(s, ", and |; "), said[COLUMNS]);
        if (*said[ROWS] || before)
            text_addf(text, "%s%s%s%s",
                      synth_choose(s, formulas ? "; here |, where |; with |, with " : "; here |, where "), said[BEFORE],
                      before && *said[ROWS] ? " and " : "", said[ROWS]);
        text_add(text, ".");
    } else { /* as it is computed */
        text_add(text, ".");
        if (before && synth_chance(s, 50)) {
            text_addf(text, " %s %s:", formulas ? "With" : "Where", said[BEFORE]);
            const char *between = " ";
            for (int i = 0; i < 3; i++)
                if (*said[order[i]]) {
                    text_addf(text, "%s%s", between, said[order[i]]);
                    between = i == 0 ? ", " : "; ";
                }
            text_add(text, ".");
        } else {
            add_sentence(s, text, said[BEFORE]);
            for (int i = 0; i < 3; i++)
                add_sentence(s, text, said[order[i]]);
        }
    }
}
