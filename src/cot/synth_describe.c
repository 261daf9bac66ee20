/* The description of an operator: a style is drawn once for all of it, how formulas are written in it, how much of them is words, and in
 * which order its steps stand. What it says is what the formulas say, no more and no less; notes say what changes no formula. */
#include "cot/synth_internal.h"

#include <ctype.h>
#include <string.h>

enum note {
    NOTE_ANY,
    NOTE_LIST,
    NOTE_FULL,
    NOTE_ONE,
    NOTE_ROW,
    NOTE_COLUMN,
    NOTE_ATTR,
    NOTE_FLAT,
    NOTE_LENGTH,
    NOTE_IN_PLACE
};
static const struct {
    enum note of;
    const char *text;
} notes[] = {
#define NOTE(of, text) {NOTE_##of, text},
#include "cot/synth_notes.def"
};
enum { NOTES = sizeof notes / sizeof *notes };
_Static_assert(NOTES <= 64, "add_rules has a bit for each");

/* The two halves of a row: what two steps say. */
static const char *halves_statement(struct synth *s)
{
    static const char *const forms[] = {
        "the two halves of `$1` along $4 are `$2` and `$3`",
        "`$1` falls into `$2` and `$3`, two halves of equal size along $4",
        "`$2` is the left half of `$1` along $4 and `$3` the right one",
        "`$1` is cut in two, `$2` before `$3`, along $4",
        "`$2`, `$3` are first and second half of each row of `$1`",
        "`$2, $3 = $1.chunk(2, -1)`",
        "the last dimension of `$1` is split in the middle: `$2` is what comes first, `$3` what is left",
        "`$2` is the lower half of every row of `$1`, `$3` its upper half",
        "`$2` is the left, `$3` the right half of each row of `$1`",
        "with the halves `$2 = $1[.., :n]` and `$3 = $1[.., n:]` of rows of `2 n` elements"};
    const char *along = s->halved ? synth_fill(s, "dimension `$1`", s->halved) : "the last dimension";
    return synth_fill(s, forms[s->halved ? synth_pick(s, 4) : 3 + synth_pick(s, 7)], s->steps[0].tree->kids[0]->name,
                      s->steps[0].name, s->steps[1].name, along);
}

const char *synth_capital(struct synth *s, const char *text)
{
    char *kept = arena_strdup(s->arena, text);
    if (strncmp(kept, "σ", strlen("σ")) != 0)
        *kept = (char)toupper((unsigned char)*kept);
    return kept;
}

static const char *scope(struct synth *s)
{
    bool rows = false, all = false, axis = false;
    for (int i = 0; i < s->step_count; i++) {
        rows |= synth_has(s->steps[i].tree, synth_along_rows);
        all |= synth_has(s->steps[i].tree, synth_over_all);
        axis |= !rows && !all && synth_has(s->steps[i].tree, synth_is_summary);
    }
    if (s->steps[0].told || s->columns)
        return "";
    if (rows)
        return synth_choose(s,
                            "over the last dimension|over the last dimension|per row|along the last axis|for each row");
    if (all || axis)
        return "";
    if (s->length)
        return synth_put(s,
                         "for `i` from 0 to `$1 - 1`|for all `i < $1`|where `i` runs up to `$1 - 1`|for every `i` "
                         "below `$1`|with `i < $1`|for each `i < $1`|where `0 <= i < $1`|`i = 0 .. $1 - 1`|for `i = 0, "
                         "1, .., $1 - 1`|for the first `$1` elements|for `i` in `range($1)`|as long as `i < $1`",
                         s->length);
    const char *each = synth_choose(s, "elementwise|elementwise|element by element||for every element");
    if (!s->lists || !synth_chance(s, 60))
        return each;
    return synth_fill(s, "$1$2$3", each, *each ? ", " : "",
                      synth_choose(s, "for each tensor `t` of the list|for all tensors `t` of the lists|where `t` goes "
                                      "through the list|for each member `t` of the lists"));
}

/* A result called "mean", of rows that have but one: "(x - mean) * rstd" says what it is. */
static bool goes_without_saying(struct synth *s, const struct synth_step *step)
{
    return s->style->bare && step->output && strcmp(step->name, "mean") == 0 && synth_is_call(step->tree, "mean") &&
           step->tree->kids[0]->node == NODE_WORD && synth_chance(s, 60);
}

/* Statements of steps, in an order that they may be told in. */
static int statements(struct synth *s, const char **said)
{
    int count = 0, first = 0;
    if (s->even && !s->steps[0].told) {
        said[count++] = halves_statement(s);
        first = 2;
    }
    for (int i = first; i < s->step_count; i++)
        if (!goes_without_saying(s, &s->steps[i]))
            said[count++] = s->mode && strcmp(s->modal, s->steps[i].name) == 0
                                ? synth_mode(s, &s->steps[i])
                                : synth_statement(s, &s->steps[i], s->step_count == 1);
    return count;
}

static void add_list(struct text *text, const char **said, int count, const char *last)
{
    for (int i = 0; i < count; i++)
        text_addf(text, "%s%s", !i ? "" : i == count - 1 ? last : ", ", said[i]);
}

/* What may be said behind all: nothing of the formulas. */
static const char *chatter(struct synth *s)
{
    if (s->rounds || !synth_chance(s, 12))
        return "";
    return synth_choose(
        s, ", computed in float32|, in float32|: a smooth step|: an approximation of a smooth function|: a "
           "cheap stand-in for a gate|, formed in float32 and rounded at the end|: what a layer needs in "
           "training|: one step of a longer chain|, at full precision");
}

/* The first statement of which something goes along rows; 0: that is the first one, or there is none. */
static int first_along_rows(const struct synth *s, int count)
{
    int first = 0;
    for (int i = s->step_count - 1; i >= 0 && count == s->step_count; i--)
        if (synth_has(s->steps[i].tree, synth_along_rows))
            first = i;
    return first;
}

/* "A; over the last dimension b, c." */
static void add_with_scope_inside(struct synth *s, struct text *text, const char **said, int count, int at,
                                  const char *where)
{
    said[0] = synth_capital(s, said[0]);
    add_list(text, said, at, " and ");
    text_addf(text, "; %s%s", where, synth_choose(s, " |: | "));
    add_list(text, said + at, count - at, synth_choose(s, ", | and |; "));
    text_addf(text, "%s.", chatter(s));
}

/* "Over the last dimension: a, b." or "A, b, elementwise." */
static void add_together(struct synth *s, struct text *text, const char **said, int count, const char *where)
{
    int rows = first_along_rows(s, count);
    if (*where && rows && synth_chance(s, 50)) {
        add_with_scope_inside(s, text, said, count, rows, where);
        return;
    }
    if (*where && synth_chance(s, 50)) {
        text_addf(text, "%s%s", synth_capital(s, where), synth_choose(s, ": | "));
        add_list(text, said, count, synth_choose(s, ", | and |, and |; "));
        text_addf(text, "%s.", chatter(s));
        return;
    }
    said[0] = synth_capital(s, said[0]);
    add_list(text, said, count, synth_choose(s, ", | and |, then |; |; then "));
    text_addf(text, "%s%s%s.", *where ? ", " : "", where, chatter(s));
}

/* The result first, what it is made of behind it, in the order of computation or against it. */
static void add_result_first(struct synth *s, struct text *text, const char **said, int count, const char *where)
{
    const char *behind[SYNTH_STEPS];
    bool against = synth_chance(s, 50), with = synth_chance(s, 35);
    for (int i = 0; i < count - 1; i++)
        behind[i] = said[against ? count - 2 - i : i];
    text_addf(text, "%s%s%s, %s ", synth_capital(s, said[count - 1]), *where ? ", " : "", where,
              s->even ? "where" : synth_choose(s, "with|where|with"));
    if (with && count > 2) { /* "where d is .., with t .. and q .." */
        text_addf(text, "%s, with ", behind[0]);
        add_list(text, behind + 1, count - 2, synth_choose(s, " and |, "));
    } else {
        add_list(text, behind, count - 1, synth_choose(s, " and |, "));
    }
    text_add(text, ".");
}

static void add_items(struct synth *s, struct text *text, const char **said, int count, const char *where)
{
    text_addf(text, "%s%s\n",
              *where ? synth_capital(s, where) : synth_choose(s, "Steps|What is computed|In this order"), ":");
    for (int i = 0; i < count; i++)
        text_addf(text, "\n- %s", said[i]);
    text_add(text, "\n\n");
}

static void add_statements(struct synth *s, struct text *text, const char **said, int count)
{
    const char *where = scope(s);
    const bool apart = s->apart || strcmp(s->family, "pair") == 0 ||
                       (s->columns && strcmp(s->family, "reduction") == 0); /* neither is made of the other */
    int layout = count == 1 || s->mode ? synth_pick(s, 6) : apart ? synth_pick(s, 8) : synth_pick(s, 12);
    if (layout >= 6 && apart)
        layout = 11;
    if (layout >= 6 && strcmp(s->family, "selected") == 0) /* "with x where m is true" would be read in two ways */
        layout = synth_chance(s, 50) ? 11 : synth_pick(s, 6);
    if (layout < 4) {
        add_together(s, text, said, count, where);
    } else if (layout < 6) { /* sentences */
        for (int i = 0; i < count; i++) {
            const bool then = i && i == count - 1 && synth_chance(s, 30);
            text_addf(text, "%s%s%s%s%s.", i ? " " : "", then ? "Then " : "",
                      then ? said[i] : synth_capital(s, said[i]), !i && *where ? ", " : "", !i ? where : "");
        }
    } else if (layout < 9) {
        add_result_first(s, text, said, count, where);
    } else if (layout < 10) { /* "With a and b: c." */
        text_add(text, s->even ? "Where " : "With ");
        add_list(text, said, count - 1, synth_choose(s, " and |, "));
        text_addf(text, ": %s%s%s%s.", said[count - 1], *where ? ", " : "", where, chatter(s));
    } else {
        add_items(s, text, said, count, where);
    }
}

enum told {
#define TOLD(of, percent, forms) TOLD_##of,
#include "cot/synth_told.def"
};

/* Adds a sentence; false: not this time. */
static bool tell(struct synth *s, struct text *text, enum told of, const char *name, const char *other)
{
    static const struct {
        int percent;
        const char *forms;
    } sentences[] = {
#define TOLD(of, percent, forms) {percent, forms},
#include "cot/synth_told.def"
    };
    if (sentences[of].percent && !synth_chance(s, sentences[of].percent))
        return false;
    text_add(text, synth_put(s, sentences[of].forms, name, other));
    return true;
}

/* What a tensor's size is. */
static void add_size(struct synth *s, struct text *text, const struct synth_tensor *tensor)
{
    const char *name = tensor->name;
    const bool output = tensor->output;
    if (tensor->place == SYNTH_ROW)
        tell(s, text, TOLD_ROW, name, NULL);
    if (tensor->place == SYNTH_COLUMN)
        tell(s, text, output ? TOLD_COLUMN_RESULT : TOLD_COLUMN, name, NULL);
    if (tensor->place == SYNTH_HALF && !output)
        tell(s, text, TOLD_HALF, name, NULL);
    if (!(tensor->each && tell(s, text, TOLD_EACH, name, NULL)) && tensor->place == SYNTH_ONE && !output)
        tell(s, text, TOLD_ONE, name, NULL);
    if (tensor->place == SYNTH_ONE && output)
        tell(s, text, TOLD_ONE_RESULT, name, NULL);
    if (tensor->place == SYNTH_AXIS && synth_chance(s, 40))
        text_addf(text, " Dimension %d %s.", s->axis, synth_choose(s, "stays with size 1|is reduced"));
}

/* What else a description tells. */
static void add_notes(struct synth *s, struct text *text)
{
    const char *of[2];
    int count = 0;
    bool in_place = false;
    for (int i = 0; i < s->tensor_count; i++) {
        if (s->tensors[i].place == SYNTH_ROW && count < 2)
            of[count] = s->tensors[i].name;
        count += s->tensors[i].place == SYNTH_ROW;
        in_place |= s->tensors[i].in_place;
    }
    const bool rows = count == 2 && tell(s, text, TOLD_ROWS, of[0], of[1]); /* of both together */
    for (int i = 0; i < s->tensor_count; i++)
        if (!rows || s->tensors[i].place != SYNTH_ROW)
            add_size(s, text, &s->tensors[i]);
    if (s->counted && strncmp(s->family, "norm", strlen("norm")) == 0)
        tell(s, text, TOLD_COUNTED_ROW, s->count, NULL);
    else if (s->counted && !synth_chance(s, 25))
        text_add(text, synth_put(s, " `$1` has `$2` elements.| The number of elements of `$1` is `$2`.", s->counted,
                                 s->count));
    if (s->absent)
        tell(s, text, TOLD_ABSENT, s->absent, NULL);
    if (s->idle)
        tell(s, text, s->idle_as ? TOLD_IDLE_SIZES : TOLD_IDLE, s->idle, NULL);
    if (s->unused)
        tell(s, text, TOLD_UNUSED, s->unused, NULL);
    if (s->halved)
        tell(s, text, TOLD_HALVED, s->halved, NULL);
    if (in_place)
        tell(s, text, TOLD_IN_PLACE, NULL, NULL);
    if (s->rounds)
        text_add(text, synth_rounds_in_words(s));
    else
        tell(s, text, TOLD_GENERAL, NULL, NULL);
    if (s->counted && strcmp(s->family, "norm") == 0)
        tell(s, text, TOLD_UNBIASED, NULL, NULL);
    else if (strstr(s->family, "norm"))
        tell(s, text, TOLD_BIASED, NULL, NULL);
}

/* The name that a note is of; NULL: the operator has no such thing. "": it needs none. */
static const char *noted(struct synth *s, enum note of)
{
    static const enum synth_place places[] = {
        [NOTE_FULL] = SYNTH_FULL, [NOTE_ONE] = SYNTH_ONE, [NOTE_ROW] = SYNTH_ROW, [NOTE_COLUMN] = SYNTH_COLUMN};
    bool in_place = false;
    for (int i = 0; i < s->tensor_count; i++) {
        const struct synth_tensor *tensor = &s->tensors[i];
        in_place |= tensor->in_place;
        if (of >= NOTE_FULL && of <= NOTE_COLUMN && tensor->place == places[of] && !tensor->output &&
            !synth_is_in_place(s, tensor->name))
            return tensor->name;
    }
    switch (of) {
    case NOTE_ANY:
        return "";
    case NOTE_LIST:
        return s->lists ? "" : NULL;
    case NOTE_FLAT:
        return s->flat ? "" : NULL;
    case NOTE_LENGTH:
        return s->length;
    case NOTE_IN_PLACE:
        return in_place ? "" : NULL;
    case NOTE_ATTR:
        return s->attr_count && strcmp(s->attrs[0].type, "float") == 0 ? s->attrs[0].name : NULL;
    default:
        return NULL;
    }
}

/* Items behind the description that change no formula. */
static void add_rules(struct synth *s, struct text *text)
{
    const char *before = synth_chance(s, 50) ? "\n\nRules:\n\n" : "\n\n";
    if (s->along) {
        text_addf(text, "%s- `%s` is %d%s", before, s->along, s->axis,
                  s->rank == 2 || synth_chance(s, 50) ? "."
                  : s->axis                           ? ": `x` is (B, D1, D2), the result (B, D2)."
                                                      : ": `x` is (B, D1, D2), the result (D1, D2).");
        before = "\n";
    }
    int wanted = synth_chance(s, 45) ? 1 + synth_chance(s, 40) + synth_chance(s, 15) : 0;
    uint64_t said = 0; /* rows of the table */
    for (int tries = 0; wanted && tries < 20; tries++) {
        int row = synth_pick(s, NOTES);
        const char *name = noted(s, notes[row].of);
        const char *note = synth_choose(s, notes[row].text);
        if (!name || said >> row & 1 || (s->rounds && (strstr(note, "float32") || strstr(note, "widened"))))
            continue;
        text_addf(text, "%s- ", before);
        text_addf(text, note, name);
        before = "\n";
        said |= 1ULL << row;
        wanted--;
    }
}

/* All means and variances are of one name. */
static const char *row_quantity(const struct expr *expr, const char *name, bool *one)
{
    if (synth_is_summary(expr) && expr->kid_count == 1) {
        bool fits = expr->kids[0]->node == NODE_WORD && (synth_is_call(expr, "mean") || synth_is_call(expr, "var"));
        *one &= fits && (!name || strcmp(name, expr->kids[0]->name) == 0);
        name = fits ? expr->kids[0]->name : name;
    }
    for (int i = 0; i < expr->kid_count; i++)
        if (expr->kids[i])
            name = row_quantity(expr->kids[i], name, one);
    return name;
}
static bool one_row_quantity(const struct synth *s)
{
    bool one = strcmp(s->family, "norm") == 0;
    const char *name = NULL;
    for (int i = 0; i < s->step_count; i++)
        name = row_quantity(s->steps[i].tree, name, &one);
    return one && name;
}

static struct synth_style draw_style(struct synth *s)
{
    struct synth_style style = {.power = synth_chance(s, 60)   ? SYNTH_HAT
                                         : synth_chance(s, 60) ? SYNTH_STARS
                                                               : SYNTH_PRODUCT,
                                .choice = synth_pick(s, 3),
                                .index = "",
                                .torch = synth_chance(s, 6) ? "torch." : "",
                                .times = " * ",
                                .bars = synth_chance(s, 60),
                                .dense = synth_chance(s, 12),
                                .grouped = synth_chance(s, 20),
                                .digits = synth_chance(s, strcmp(s->family, "gradient") == 0 ? 50 : 25),
                                .words = synth_chance(s, s->step_count < 3 ? 40 : 55) ? 10 : 75,
                                .seed = rng_next(&s->rng)};
    bool rows = false;
    for (int i = 0; i < s->step_count; i++)
        rows |= synth_has(s->steps[i].tree, synth_is_summary);
    if (!rows && !s->even && synth_chance(s, s->length ? 80 : 12))
        style.index = s->length ? "[i]" : synth_choose(s, "[i]|[i]|[.., i]|[i, j]");
    style.bare = one_row_quantity(s) && synth_chance(s, 55);
    style.spread = !*style.index && !s->lists && !synth_is_name(s, "n") && synth_chance(s, 35);
    if (s->length)
        style.spread = synth_chance(s, 80);
    if (s->lists) {
        style.index = synth_chance(s, 88) ? "[t]" : "";
        style.bare = false;
    }
    if (style.dense)
        style.times = synth_choose(s, "*|*|·");
    return style;
}

/* Letters for inputs, which formulas have in their places; returns the words that say so. "": there are none. */
static const char *aliases(struct synth *s)
{
    const char *said = "";
    bool longer = false;
    for (int i = 0; i < s->tensor_count; i++)
        longer |= strlen(s->tensors[i].name) > 6;
    if (s->lists || s->mode || s->flat || s->counted || s->derivative || s->steps[0].told || s->lead || s->definition ||
        s->held || s->opens || strcmp(s->family, "gate") == 0 || !synth_chance(s, longer ? 14 : 2))
        return said;
    const char *is = synth_choose(s, " = | being | for | = ");
    for (int i = 0; i < s->tensor_count; i++) {
        const char *name = s->tensors[i].name;
        if (s->tensors[i].output || synth_is_in_place(s, name) || strlen(name) < 3 || !synth_chance(s, 75))
            continue;
        const char *alias = synth_name(s, "a|b|c|f|g|p|q|r|u|v|w|x|y|z|A|B|X");
        for (int step = 0; step < s->step_count; step++)
            synth_rename(s->steps[step].tree, name, alias);
        said = synth_fill(s, "$1$2`$3`$4`$5`", said, *said ? ", " : "", alias, is, name);
    }
    return said;
}

const char *synth_describe(struct synth *s)
{
    const char *said[SYNTH_STEPS] = {0}, *letters = aliases(s);
    const struct synth_style style = draw_style(s);
    s->style = &style;
    struct text text = {0};
    bool behind_it = synth_chance(s, 60);
    if (s->lead)
        text_add(&text, s->lead);
    else if (strcmp(s->family, "norm_gradient") != 0 && synth_chance(s, 10))
        text_add(&text, synth_choose(s, "A fused operator. |Part of a transformer's block. |The gradient of an "
                                        "activation. |A step of training. |What a recommendation model needs. "));
    if (*letters && !behind_it)
        text_add(&text, synth_put(s, "With $1. |Let us write $1. |Short names: $1. ", letters));
    bool before = false;
    const char *fact = synth_fact(s, &before);
    if (*fact && before)
        text_addf(&text, "%s ", fact);
    if (strcmp(s->family, "norm_gradient") == 0 && synth_chance(s, 65))
        synth_tell_norm_gradient(s, &text);
    else if (s->derivative && s->step_count > 3 && !s->lists && !*style.index && synth_chance(s, 40))
        synth_tell_derivative(s, &text);
    else
        add_statements(s, &text, said, statements(s, said));
    if (*letters && behind_it)
        text_add(&text, synth_put(s, " Here $1.| This is with $1.| What the letters mean: $1.| In it $1.", letters));
    if (*fact && !before)
        text_addf(&text, " %s", fact);
    const char *const behind[] = {s->definition, s->held, s->opens};
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        if (behind[i])
            text_addf(&text, " %s.", synth_capital(s, behind[i]));
    if (style.bare)
        text_add(&text,
                 synth_choose(
                     s, " Mean and variance are those of each row; the variance is over all of its elements.| "
                        "Variances are those of the number of elements.| Mean and variance over the last dimension.|"));
    if (s->lists && (!*style.index || !synth_chance(s, 35)))
        text_add(&text,
                 synth_choose(
                     s,
                     " This is done for every tensor of the lists.| This holds for each tensor `t` of the lists.| The "
                     "lists have the same length; tensor `t` of one goes with tensor `t` of the others.| Tensor by "
                     "tensor, through all of the list."));
    if (synth_chance(s, 30))
        for (int i = 0; i < s->step_count; i++)
            synth_define(s, &text, s->steps[i].tree);
    add_notes(s, &text);
    add_rules(s, &text);
    return text_keep(&text, s->arena);
}
