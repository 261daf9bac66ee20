/* The formulas that formula.c reads, but for what no grammar says, which names there are, as a grammar that is written out level by level:
 * each pair of parentheses has rules of its own, so that no text nests deeper than parse.c reads. */
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
    "term ::= \"-\"? (int | name | \"size(\" name (comma (\"all\" | axis))? \")\" | \"(\" part (o [-+*] o part)? "
    "\")\")\n"
    "part ::= int | name | \"size(\" name \")\"\n"
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

/* The words of functions of a kind, as alternatives. */
static void add_words(struct text *text, const char *rule, enum formula_kind first, enum formula_kind last,
                      int arguments)
{
    bool any = false;
    text_addf(text, "%s ::=", rule);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct expr call = {.index = formula_function_find(functions[i].name)};
        const char *word = functions[i].word;
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
    "call$ ::= unary \"(\" e! \")\" | binary \"(\" e! comma e! \")\" | ternary \"(\" e! comma e! comma e! \")\"\n"
    "  | (summary | length) \"(\" e! of? \")\" | row \"(\" e! along? \")\" | (\"min\" | \"max\") \"(\" e! (comma "
    "\"all\")? \")\"\n";
static const char no_parentheses[] = "value$ ::= number | constant | name\n";

static const char *grammar_of(struct arena *arena, const char *root)
{
    static const char *const words[] = {"if",    "else",  "and",  "or",  "not", "true", "True",
                                        "false", "False", "None", "inf", "nan", "all",  NULL};
    struct text text = {0};
    text_add(&text, root);
    text_add(&text, head);
    add_axes(&text);
    add_words(&text, "unary", FORMULA_UNARY, FORMULA_UNARY, 1);
    add_words(&text, "binary", FORMULA_BINARY, FORMULA_BINARY, 2);
    add_words(&text, "ternary", FORMULA_TERNARY, FORMULA_TERNARY, 3);
    add_words(&text, "summary", FORMULA_SUMMARY, FORMULA_SUMMARY, 1);
    add_words(&text, "length", FORMULA_SIZE, FORMULA_SIZE, 1);
    add_words(&text, "row", FORMULA_ROW, FORMULA_ROW, 1);
    for (int d = 0; d < LEVELS; d++) {
        gbnf_add_level(&text, level, d, operators[d]);
        gbnf_add_level(&text, d < LEVELS - 1 ? parentheses : no_parentheses, d, 0);
    }
    gbnf_add_names(&text, "name", words);
    const char *made = arena_strdup(arena, text.bytes);
    text_free(&text);
    return made;
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
