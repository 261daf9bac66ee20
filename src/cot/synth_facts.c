/* What documentation tells of a function besides naming it: its integral, series, limits, values at some places. Nothing of it is in an
 * answer. */
#include "cot/synth_internal.h"

#include <string.h>

static const struct {
    const char *name, *clauses, *sentences;
} facts[] = {
#define FACT(name, clauses, sentences) {name, clauses, sentences},
#include "cot/synth_facts.def"
};
enum { FACTS = sizeof facts / sizeof *facts };

/* The outermost function that something is told of, its row of the table in *row; NULL: there is none. */
static const struct expr *function_of(const struct expr *tree, int *row)
{
    for (int i = 0; i < FACTS; i++)
        if (synth_is_call(tree, facts[i].name) && tree->kid_count == 1) {
            *row = i;
            return tree;
        }
    bool base = synth_is_call(tree, "/") && synth_is_call(tree->kids[0], "log") && synth_is_call(tree->kids[1], "log");
    for (int i = 0; i < tree->kid_count && !base; i++) { /* log(x) / log(b) is a logarithm of its own */
        const struct expr *found = tree->kids[i] ? function_of(tree->kids[i], row) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

/* A letter that is no name of the operator's. */
static const char *letter(struct synth *s)
{
    static const char *const letters[] = {"u", "v", "t", "w", "z", "q", "y", "x", "theta", "xi", "h"};
    enum { LETTERS = sizeof letters / sizeof *letters };
    for (int first = synth_pick(s, LETTERS), i = 0; i < LETTERS; i++) {
        const char *drawn = letters[(first + i) % LETTERS];
        if (!(s->lists && strcmp(drawn, "t") == 0) && !synth_is_name(s, drawn))
            return drawn;
    }
    return "tau";
}

/* How many of a hundred operators have one told: those of a single function often. */
static int likelihood(const struct synth *s, const struct expr *function, const struct expr *tree)
{
    return s->step_count > 2 ? 5 : function == tree ? 65 : s->step_count == 1 ? 18 : 8;
}

static const char *put(struct synth *s, const struct expr *function, const char *forms)
{
    const struct expr *argument = function->kids[0];
    const char *of = synth_formula(s, argument),
               *operand = argument->node == NODE_WORD ? of : synth_fill(s, "($1)", of);
    return synth_put(s, forms, of, letter(s), synth_called(s, function->name), operand);
}

const char *synth_clause(struct synth *s, const struct expr *tree)
{
    int row;
    const struct expr *function = function_of(tree, &row);
    if (!function || !synth_chance(s, likelihood(s, function, tree) * 2 / 3))
        return "";
    const char *said = put(s, function, facts[row].clauses);
    bool relative = strncmp(said, "wh", 2) == 0 || strncmp(said, "with ", 5) == 0 || strncmp(said, "for ", 4) == 0;
    return synth_fill(s, "$1$2", relative || synth_chance(s, 65) ? ", " : ": ", said);
}

const char *synth_fact(struct synth *s, bool *first)
{
    int row, step = synth_pick(s, s->step_count);
    const struct expr *tree = s->steps[step].tree, *function = function_of(tree, &row);
    if (!function || s->steps[step].told || !synth_chance(s, likelihood(s, function, tree) / 2))
        return "";
    const char *said = put(s, function, facts[row].sentences);
    bool named = strncmp(said, "It", 2) != 0 && (strstr(said, function->name) || strstr(said, "The error function"));
    *first = named && synth_chance(s, 40);
    return named || (s->step_count == 1 && function == tree) ? said : "";
}
