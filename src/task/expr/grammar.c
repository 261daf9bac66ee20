/* The formulas that formula.c reads, as a grammar that is written out level by level: each pair of parentheses has rules of its own, so that no text
 * nests deeper than parse.c reads. What a name is no such grammar says, but that of the answers to one task does, by marks. */
#include "base/gbnf.h"
#include "base/text.h"
#include "task/expr/formula_internal.h"

#include <assert.h>
#include <string.h>

/* Levels of parentheses, and operators in a row in each: a tree's height, which parse.c bounds by 128, is at most that of all of them, with
 * HEIGHT for signs, powers, a comparison, `not`, `and`, a choice, a call and a slice in each. */
enum { LEVELS = 6, HEIGHT = 11, MOST_HEIGHT = 128 };
static const int operators[LEVELS] = {20, 8, 6, 6, 6, 6};
static_assert(20 + 8 + 4 * 6 + LEVELS * HEIGHT <= MOST_HEIGHT, "no formula of the grammar is too high");

static const struct {
    const char *word, *name;
} functions[] = {
#define FUNCTION(name, arguments, kind, compute) {name, name},
#define ALIAS(word, name)                        {word, name},
#include "task/expr/formula_functions.def"
#undef FUNCTION
#undef ALIAS
};

static const char head[] =
    "o ::= \" \"?\n"
    "int ::= \"0\" | [1-9] [0-9]{0,14}\n"
    "number ::= int exponent? | int? \".\" [0-9]{1,17} exponent?\n"
    "exponent ::= [eE] [-+]? [0-9]{1,3}\n"
    "constant ::= \"inf\" | \"nan\" | [Tt] \"rue\" | [Ff] \"alse\"\n"
    "sign ::= [-!~]\n"
    "power ::= o (\"**\" | \"^\") o\n"
    "operator ::= o (\"+\" | \"-\" | \"*\" | \"/\" | \"//\" | \"%\") o\n"
    "comparison ::= o (\"<\" | \">\" | \"<=\" | \">=\" | \"==\" | \"!=\") o\n"
    "both ::= \" and \" | \" or \" | o (\"&\" | \"&&\" | \"|\" | \"||\") o\n"
    "comma ::= \",\" o\n"
    /* Axes in their order, no one twice. */
    "axis ::= \"0\" | \"-\"? [1-7] | \"-8\"\n"
    "axes ::= a0 | b8\n"
    "of ::= comma (\"all\" | (\"dim\" | \"axis\") \"=\" axis | axes)\n"
    "along ::= comma ((\"dim\" | \"axis\") \"=\")? axis\n"
    /* Bounds of a slice. */
    "bound ::= term (o (\"+\" | \"-\" | \"*\" | \"//\" | \"%\") o term){0,3}\n"
    "term ::= \"-\"? (int | whole | \"size(\" name (comma (\"all\" | axis))? \")\" | \"(\" part (o [-+*] o part)? "
    "\")\")\n"
    "part ::= int | whole | \"size(\" name \")\"\n"
    "slice ::= o \"[\" (bound | bound? o \":\" (o bound)?) \"]\"\n";

/* Axes from one on upwards: a0 .. a7 of 0 .. 7, b8 .. b1 of -8 .. -1. */
static void add_axes(struct text *text)
{
    for (int i = 0; i < 8; i++) {
        text_addf(text, "a%d ::= \"%d\"", i, i);
        if (i < 7)
            text_addf(text, " (comma a%d)? | a%d", i + 1, i + 1);
        text_addf(text, "\nb%d ::= \"-%d\"", 8 - i, 8 - i);
        if (i < 7)
            text_addf(text, " (comma b%d)? | b%d", 7 - i, 7 - i);
        text_add(text, "\n");
    }
}

static bool is_one_of(const struct formula_function *function, enum formula_kind first, enum formula_kind last,
                      int arguments)
{
    return function->kind >= first && function->kind <= last && function->arguments == arguments;
}

/* The words of functions of a kind, as alternatives; without aliases, and then without min and max, which may have `all` behind them. */
static void add_words(struct text *text, bool aliases, const char *rule, enum formula_kind first,
                      enum formula_kind last, int arguments)
{
    bool any = false;
    text_addf(text, "%s ::=", rule);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct expr call = {.index = formula_function_find(functions[i].name)};
        const char *word = functions[i].word;
        if (!aliases && (strcmp(word, functions[i].name) != 0 || strcmp(word, "min") == 0 || strcmp(word, "max") == 0))
            continue;
        bool operator= !expr_is_word(word) || strcmp(word, "not") == 0 || strcmp(word, "and") == 0 ||
            strcmp(word, "or") == 0;
        if (operator|| !is_one_of(formula_function_of(&call), first, last, arguments))
            continue;
        text_addf(text, "%s \"%s\"", any ? " |" : "", word);
        any = true;
    }
    text_add(text, "\n");
}

/* The rules of a level, and what the last one has of them in place of the latter two, as it has no parentheses. */
static const char level[] = "e$ ::= or$ (\" if \" or$ \" else \" c$ | o \"?\" o or$ o \":\" o c$)?\n"
                            "c$ ::= or$ (\" if \" or$ \" else \" or$ | o \"?\" o or$ o \":\" o or$)?\n"
                            "or$ ::= not$ (both not$){0,2}\n"
                            "not$ ::= \"not \"? sum$ (comparison sum$)?\n"
                            "sum$ ::= unary$ (operator unary$){0,~}\n"
                            "unary$ ::= sign? value$ (power sign? value$)?\n";
static const char parentheses[] =
    "value$ ::= number | constant | name slice? | (\"(\" o e! o \")\" | call$) slice?\n"
    "call$ ::= unary \"(\" e! \")\" | (binary | join) \"(\" e! comma e! \")\" | ternary \"(\" e! comma e! comma e! "
    "\")\"\n"
    "  | typed \"(\" e! comma name \")\" | (summary | length) \"(\" e! of? \")\" | (row | place) \"(\" e! along? "
    "\")\" | (\"min\" | \"max\") \"(\" e! (comma "
    "\"all\")? \")\"\n";
static const char no_parentheses[] = "value$ ::= number | constant | name\n";

static const char *const words[] = {"if",    "else",  "and",  "or",  "not", "true", "True",
                                    "false", "False", "None", "inf", "nan", "all",  NULL};

static void add_functions(struct text *text, bool aliases)
{
    add_words(text, aliases, "unary", FORMULA_UNARY, FORMULA_UNARY, 1);
    add_words(text, aliases, "binary", FORMULA_BINARY, FORMULA_BINARY, 2);
    add_words(text, aliases, "ternary", FORMULA_TERNARY, FORMULA_TERNARY, 3);
    add_words(text, aliases, "join", FORMULA_JOIN, FORMULA_JOIN, 2);
    add_words(text, aliases, "typed", FORMULA_TYPED, FORMULA_TYPED, 2);
    add_words(text, aliases, "summary", FORMULA_SUMMARY, FORMULA_SUMMARY, 1);
    add_words(text, aliases, "length", FORMULA_SIZE, FORMULA_SIZE, 1);
    add_words(text, aliases, "row", FORMULA_ROW, FORMULA_ROW, 1);
    add_words(text, aliases, "place", FORMULA_PLACE, FORMULA_PLACE, 1);
}

static void add_levels(struct text *text, const char *of_each, const char *most, const char *last)
{
    for (int d = 0; d < LEVELS; d++) {
        gbnf_add_level(text, of_each, d, operators[d]);
        gbnf_add_level(text, d < LEVELS - 1 ? most : last, d, operators[d] - 1);
    }
}

/* The rules below those for statements, but for `name`, which is read, and `whole`, which a bound of a slice is made of. */
static void add_expressions(struct text *text)
{
    text_add(text, head);
    add_axes(text);
    add_functions(text, true);
    add_levels(text, level, parentheses, no_parentheses);
}

static const char *kept(struct arena *arena, struct text *text)
{
    const char *copy = arena_strdup(arena, text->bytes);
    text_free(text);
    return copy;
}

/* With any names. */
static const char *grammar_of(struct arena *arena, const char *root)
{
    struct text text = {0};
    text_add(&text, root);
    add_expressions(&text);
    gbnf_add_names(&text, "name", words);
    text_add(&text, "whole ::= name\n");
    return kept(arena, &text);
}

const char *formula_grammar(struct arena *arena)
{
    return grammar_of(arena,
                      "# Formulas over tensors (docs/tasks.md): steps `name = expression;`, and the expression that "
                      "they end with.\n"
                      "root ::= (name o \"=\" o e0 o \";\" \" \"*){0,63} e0\n");
}

const char *formula_statements_grammar(struct arena *arena)
{
    return grammar_of(
        arena,
        "# Formulas as answers (docs/answers.md): statements `name = expression`, of which an output is the last.\n"
        "root ::= statement ((\";\" o | \"\\n\") statement){0,63} \"\\n\"?\n"
        "statement ::= name o \"=\" o e0\n");
}

/* ---- The answers to one task */

/* What steps are called whose names the answer chooses: the usual ones of src/cot/synth_families.c. As many as there are marks for. */
static const char *const step_names[] = {
    "d",     "s",    "m",    "t",      "u",     "v",   "e",      "h",   "r",    "n",    "k",     "c",
    "a",     "b",    "g",    "w",      "p",     "q",   "f",      "z",   "x",    "y",    "l",     "i",
    "tmp",   "mean", "mu",   "avg",    "var",   "ms",  "rstd",   "inv", "diff", "xc",   "inner", "core",
    "arg",   "num",  "den",  "total",  "peak",  "top", "logits", "err", "sq",   "ss",   "delta", "centered",
    "right", "left", "gate", "invstd", "power", "ex",  "xm",     "i1",  "g1",   "grad", "lin",   "up"};
enum { MOST_STEPS = sizeof step_names / sizeof *step_names };
/* As expr_print writes them (src/task/expr/print.c), which is what models are taught: one way for each; of a number alone there are functions of one argument, `sqrt(2)`. */
static const char printed_head[] = "int ::= \"0\" | [1-9] [0-9]{0,8}\n"
                                   "number ::= int (\".\" [0-9]{1,10})? (\"e\" \"-\"? [1-9] [0-9]?)?\n"
                                   "constant ::= \"inf\" | \"nan\" | \"pi\"\n"
                                   "operator ::= \" \" (\"+\" | \"-\" | \"*\" | \"/\" | \"//\" | \"%\") \" \"\n"
                                   "comparison ::= \" \" (\"<\" | \">\" | \"<=\" | \">=\" | \"==\" | \"!=\") \" \"\n"
                                   "comma ::= \", \"\n"
                                   "axis ::= \"0\" | \"-\"? [1-7] | \"-8\"\n"
                                   "of ::= comma (\"all\" | axes)\n"
                                   "axes ::= a0 | b8\n"
                                   "along ::= comma axis\n"
                                   "bound ::= term (\" \" (\"+\" | \"-\" | \"*\" | \"//\") \" \" term){0,3}\n"
                                   "term ::= \"-\"? (int | whole | \"size(\" name (comma (\"all\" | axis))? \")\")\n"
                                   "slice ::= \"[\" (bound | bound? \":\" bound?) \"]\"\n";

/* s: a value with a name in its first operand, or more operands than one. */
static const char printed_level[] = "e$ ::= and$ (\" or \" and$){0,1}\n"
                                    "and$ ::= compared$ (\" and \" compared$){0,1}\n"
                                    "compared$ ::= sum$ (comparison sum$)?\n"
                                    "sum$ ::= unary$ (operator unary$){0,~}\n"
                                    "unary$ ::= \"-\"? value$ (\"**\" \"-\"? value$)?\n";
#define PRINTED                                                                                                        \
    "value$ ::= number | constant | named$\n"                                                                          \
    "s$ ::= (\"-\"? named$ (\"**\" \"-\"? value$)? (operator unary$){0,~} | \"-\"? number (operator unary$){1,~}) "    \
    "(comparison sum$)? (\" and \" compared$)?\n"                                                                      \
    "call$ ::= unary \"(\" (s! | number) \")\" | binary \"(\" e! comma e! \")\" | ternary \"(\" e! comma e! comma e! " \
    "\")\"\n"                                                                                                          \
    "  | typed$\n"                                                                                                     \
    "  | (\"min\" | \"max\") \"(\" (s! comma second$ | \"-\"? (number | constant) comma e!) \")\""
static const char printed_elements[] = PRINTED "\nsecond$ ::= e!\nnamed$ ::= name | \"(\" s! \")\" | call$\n";
static const char printed_rows[] =
    PRINTED " | (summary | length) \"(\" s! of? \")\" | row \"(\" s! along? \")\" | join \"(\" s! comma s! \")\"\n"
            "second$ ::= e! | \"all\"\n"
            "named$ ::= name slice? | (\"(\" s! \")\" | call$) slice?\n";
/* Where no input is a tensor of numbers there is no data type to round to. */
static const char printed_typed[] = "typed$ ::= typed \"(\" s! comma type \")\"\n";
static const char printed_places[] = "typed$ ::= typed \"(\" s! comma type \")\" | place \"(\" type along? \")\"\n";
static const char printed_own_places[] =
    "typed$ ::= typed \"(\" s! comma type \")\" | place \"(\" (type | own) along? \")\"\n";
static const char printed_untyped[] = "typed$ ::= unary \"(\" s! \")\"\n";
static const char printed_untyped_places[] = "typed$ ::= place \"(\" own along? \")\"\n";
static const char printed_no_parentheses[] =
    "value$ ::= number | constant | name\n"
    "s$ ::= (\"-\"? name (operator unary$){0,~} | number (operator unary$){1,~})\n";

enum { FORMULA_MARKS = 64 /* LM_GRAMMAR_MOST_MARKS; each statement takes one */ };
static_assert(FORMULA_MARKS <= FORMULA_MAX_STEPS, "no answer has too many statements");

static bool may_be_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    for (const char *const *word = words; *word; word++)
        if (strcmp(*word, name) == 0)
            return false;
    return length && !name[length] && !(*name >= '0' && *name <= '9');
}

static bool is_taken(const struct formula_answer *answer, const char *name)
{
    for (int i = 0; i < answer->name_count; i++)
        if (strcmp(answer->names[i].name, name) == 0)
            return true;
    for (int i = 0; i < answer->output_count; i++)
        if (strcmp(answer->outputs[i], name) == 0)
            return true;
    return false;
}

/* Each name is given a value once, and the text ends with the last output. */
static void add_statements(struct text *text, const struct formula_answer *answer, const char *const *steps, int count)
{
    text_add(text, "root ::= statement\nstatement ::=");
    for (int i = 0; i < answer->output_count; i++)
        text_addf(text, "%s @!%s \"%s\" is e0 @+%s more", i ? " |" : "", answer->outputs[i], answer->outputs[i],
                  answer->outputs[i]);
    for (int i = 0; i < count; i++)
        text_addf(text, " | @!%s \"%s\" is e0 @+%s next", steps[i], steps[i], steps[i]);
    text_add(text, "\nis ::= \" = \"\nnext ::= \"; \" statement\nmore ::=");
    for (int i = 0; i < answer->output_count; i++)
        text_addf(text, " @%s", answer->outputs[i]);
    for (int i = 0; i < answer->output_count; i++)
        text_addf(text, " | @!%s next", answer->outputs[i]);
    text_add(text, "\n");
}

static bool is_type(const struct formula_answer *answer, int name)
{
    return answer->names[name].typed && may_be_name(answer->names[name].name);
}

static bool has_type(const struct formula_answer *answer)
{
    bool has = false;
    for (int i = 0; i < answer->name_count; i++)
        has |= is_type(answer, i);
    return has;
}

/* What may be read: names of the task, and behind their statements those of outputs and steps. */
static void add_names(struct text *text, const struct formula_answer *answer, const char *const *steps, int count)
{
    bool whole = false;
    text_add(text, "name ::=");
    for (int i = 0; i < answer->output_count; i++)
        text_addf(text, "%s @%s \"%s\"", i ? " |" : "", answer->outputs[i], answer->outputs[i]);
    for (int i = 0; i < answer->name_count; i++)
        if (may_be_name(answer->names[i].name))
            text_addf(text, " | \"%s\"", answer->names[i].name);
    for (int i = 0; i < count; i++)
        text_addf(text, " | @%s \"%s\"", steps[i], steps[i]);
    text_add(text, "\nwhole ::=");
    for (int i = 0; i < answer->name_count; i++)
        if (answer->names[i].whole && may_be_name(answer->names[i].name)) {
            text_addf(text, "%s \"%s\"", whole ? " |" : "", answer->names[i].name);
            whole = true;
        }
    text_add(text, whole ? "\n" : " int\n");
    bool typed = false;
    text_add(text, "type ::=");
    for (int i = 0; i < answer->name_count; i++)
        if (is_type(answer, i)) {
            text_addf(text, "%s \"%s\"", typed ? " |" : "", answer->names[i].name);
            typed = true;
        }
    text_add(text, typed ? "\n" : " name\n");
    text_addf(text, "own ::= \"%s\"\n", answer->outputs[0]);
}

const char *formula_answer_grammar(struct arena *arena, const struct formula_answer *answer)
{
    const char *steps[MOST_STEPS];
    struct text text = {0};
    int count = 0;
    if (answer->output_count < 1 || answer->output_count > FORMULA_MARKS)
        return NULL;
    for (int i = 0; i < answer->output_count; i++)
        if (!may_be_name(answer->outputs[i]))
            return NULL;
    for (int i = 0; i < MOST_STEPS && count < FORMULA_MARKS - answer->output_count; i++)
        if (!is_taken(answer, step_names[i]))
            steps[count++] = step_names[i];
    /* Positions in the output: where there is one, it is the one whose formula it is, and the text ends when it has a value. */
    const bool own = answer->output_count == 1;
    text_add(&text, "# Formulas as answers to one task (docs/lm.md): over its names, all its outputs.\n");
    add_statements(&text, answer, steps, count);
    text_add(&text, printed_head);
    add_axes(&text);
    add_functions(&text, false);
    add_levels(&text, printed_level,
               arena_printf(arena, "%s%s", answer->elements ? printed_elements : printed_rows,
                            answer->elements    ? has_type(answer) ? printed_typed : printed_untyped
                            : !has_type(answer) ? own ? printed_untyped_places : printed_untyped
                            : own               ? printed_own_places
                                                : printed_places),
               printed_no_parentheses);
    add_names(&text, answer, steps, count);
    return kept(arena, &text);
}
