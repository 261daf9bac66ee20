/* What parse.c and parse_expr.c read, as a grammar that is written out level by level: each pair of brackets and each block have rules of their
 * own. An end of a line stands at the begin of the next line that says something: which block that line belongs to is seen by its blanks. */
#include "base/gbnf.h"
#include "base/text.h"
#include "dsl/dsl.h"
#include "dsl/parse.h"

#include <assert.h>

/* Levels of brackets, and operators in a row in each: parse_expr.c bounds a tree's height by 256, and how deep it is read by 64. Each level adds
 * to the height at most its operators and HEIGHT: six calls, indices and attributes, an index of several slices, an argument's name, a power, two
 * signs, `not`, two choices and a pair of comparisons; and to the depth two choices, `not`, two signs, a power and a value. */
enum { LEVELS = 8, HEIGHT = 16, DEPTH = 7, BLOCKS = 8, MOST_HEIGHT = 255, MOST_DEPTH = 64 };
static const int operators[LEVELS] = {24, 16, 16, 12, 12, 12, 12, 12};
static_assert(24 + 2 * 16 + 5 * 12 + LEVELS * HEIGHT < MOST_HEIGHT, "no expression of the grammar is too high");
static_assert(LEVELS * DEPTH < MOST_DEPTH, "no expression of the grammar is too deep");

static const char head[] =
    "# Programs in AscendDSL (docs/dsl.md).\n"
    "root ::= (comment? \"\\n\")* (outside gap)* def (gap (outside | def))* end\n"
    "outside ::= (import | assignment | text) trail?\n"
    /* Between two lines that say something: empty lines and comments. */
    "gap ::= \"\\n\" ((\" \"* comment)? \"\\n\")*\n"
    "end ::= (\"\\n\" (\" \"* comment)?)*\n"
    "trail ::= \" \"+ comment\n"
    "comment ::= \"#\" [^\\x00-\\x08\\x0a-\\x1f\\x7f]*\n"
    /* Blanks: that may be missing, and that may not; outside of brackets, and in them, where lines may end. */
    "o0 ::= \" \"?\n"
    "w0 ::= \" \"\n"
    "o ::= \" \"? | broken\n"
    "w ::= \" \" | broken\n"
    "broken ::= trail? \"\\n\" ((\" \"* comment)? \"\\n\")* \" \"*\n"
    "number ::= integer | \"0x\" [0-9a-fA-F]{1,15} | integer \".\" [0-9]{0,24} exponent? | integer exponent | \".\" "
    "[0-9]{1,24} exponent?\n"
    "integer ::= \"0\" | [1-9] (\"_\"? [0-9]){0,17}\n"
    "exponent ::= [eE] [-+]? [0-9]{1,2}\n"
    "text ::= \"\\\"\" ([^\"\\\\\\x00-\\x08\\x0a-\\x1f\\x7f] | escape)* \"\\\"\" | \"'\" "
    "([^'\\\\\\x00-\\x08\\x0a-\\x1f\\x7f] | "
    "escape)* \"'\" | \"\\\"\\\"\\\"\" (\"\\\"\"{0,2} ([^\"\\\\\\x00-\\x08\\x0b-\\x1f\\x7f] | escape))* "
    "\"\\\"\\\"\\\"\"\n"
    "escape ::= \"\\\\\" [^\\x00-\\x08\\x0a-\\x1f\\x7f]\n"
    "constant ::= \"True\" | \"False\" | \"None\"\n"
    "dotted ::= name (\".\" name){0,4}\n"
    "import ::= \"import \" known (\", \" known){0,7} | \"from \" dotted \" import \" (\"*\" | known (\", \" "
    "known){0,7})\n"
    "known ::= dotted (\" as \" name)?\n"
    "sign ::= \"+\" | \"-\" | \"*\" | \"/\" | \"//\" | \"%\" | \"&\" | \"|\" | \"^\" | \"<<\" | \">>\" | \"<\" | \">\" "
    "| "
    "\"<=\" | \">=\" | \"==\" | \"!=\"\n"
    "changes ::= (\"+\" | \"-\" | \"*\" | \"/\" | \"//\" | \"%\" | \"**\" | \"&\" | \"|\" | \"^\" | \"<<\" | \">>\") "
    "\"=\"\n"
    "parameters ::= o (parameter (o \",\" o parameter){0,63} (o \",\")?)? o\n"
    "parameter ::= name (o \":\" o e1)? (o \"=\" o e1)?\n"
    "decorator ::= \"@\" dotted trail? gap\n"
    "def ::= decorator{0,3} \"def \" name \"(\" parameters \")\" (\" -> \" e0)? block1\n"
    "values ::= e0 (o0 \",\" o0 e0){0,15}\n"
    "target ::= name trailer0{0,4}\n"
    "targets ::= target (o0 \",\" o0 target){0,15}\n"
    "names ::= name (o0 \",\" o0 name){0,7}\n"
    "assignment ::= (targets | name o0 \":\" o0 e0) o0 \"=\" o0 values | target o0 changes o0 values\n"
    "simple ::= name trailer0{0,5} call0 | text | assignment | \"return\" (\" \" values)? | \"break\" | \"continue\" | "
    "\"pass\"\n"
    "  | \"assert \" e0 (\",\" o0 e0)?\n";

/* An expression with the blanks `o` and `w`: % is "0" outside of brackets, "" in them. */
static const char expression[] = "e$ ::= or$ (w% \"if\" w% or$ w% \"else\" w% c$)?\n"
                                 "c$ ::= or$ (w% \"if\" w% or$ w% \"else\" w% or$)?\n"
                                 "not$ ::= (\"not\" w%)? unary$\n"
                                 "or$ ::= not$ (o% sign o% unary$ | w% (\"is\" | \"is\" w% \"not\") w% unary$ | w% "
                                 "(\"and\" | \"or\") w% not$){0,~}\n"
                                 "unary$ ::= \"-\"? value$ (o% \"**\" o% \"-\"? value$)?\n";
static const char brackets[] =
    "value$ ::= number | text | constant | (name | \"(\" o (list! o)? \")\" | \"[\" o (list! o)? \"]\") trailer${0,6}\n"
    "trailer$ ::= \".\" name | call$ | \"[\" o part! (o \",\" o part!){0,7} (o \",\")? o \"]\"\n"
    "call$ ::= \"(\" o (arguments! (o \",\")? o)? \")\"\n"
    "list! ::= e! (o \",\" o e!){0,63} (o \",\")?\n"
    "part! ::= e! (o \":\" (o e!)?)? | \":\" (o e!)?\n"
    "arguments! ::= e! (o \",\" o e!){0,63} (o \",\" o named!){0,63} | named! (o \",\" o named!){0,63}\n"
    "named! ::= name o \"=\" o e!\n";
static const char no_brackets[] = "value$ ::= number | text | constant | name (\".\" name){0,4} (\"(\" o \")\")?\n";

/* Statements of the blocks of a level, with as many blanks before them. % are these blanks. */
static const char block[] =
    "block$ ::= \":\" trail? (gap \"%\" statement$)+\n"
    "statement$ ::= simple trail? | if$ | (\"for \" names \" in \" values | \"while \" e0 | \"with \" e0) block!\n"
    "if$ ::= \"if \" e0 block! (gap \"%\" \"elif \" e0 block!){0,15} (gap \"%\" \"else\" block!)?\n";
static const char last_block[] = "block$ ::= \":\" trail? (gap \"%\" simple trail?)+\n";

/* Adds rules of a level with a text for each '%'. */
static void add(struct text *text, const char *rules, const char *blanks, int level, int count)
{
    struct text filled = {0};
    for (; *rules; rules++)
        if (*rules == '%')
            text_add(&filled, blanks);
        else
            text_append(&filled, rules, 1);
    gbnf_add_level(text, filled.bytes, level, count);
    text_free(&filled);
}

const char *dsl_grammar(struct arena *arena)
{
    struct text text = {0}, blanks = {0};
    text_add(&text, head);
    for (int d = 0; d < LEVELS; d++) {
        add(&text, expression, d ? "" : "0", d, operators[d]);
        gbnf_add_level(&text, d < LEVELS - 1 ? brackets : no_brackets, d, 0);
    }
    for (int d = 1; d <= BLOCKS; d++) {
        text_add(&blanks, "    ");
        add(&text, d < BLOCKS ? block : last_block, blanks.bytes, d, 0);
    }
    gbnf_add_names(&text, "name", parser_words);
    const char *made = text_keep(&text, arena);
    text_free(&blanks);
    return made;
}
