/* Rules in GBNF, the form of grammars that llama.cpp has (lm/grammar.h reads it), which several languages need. */
#ifndef BASE_GBNF_H
#define BASE_GBNF_H

#include "base/text.h"

/* Adds the rule `rule`, with others called RULE-.. that it needs: names of letters, digits and '_' that begin with no digit and are none of
 * these words, which are of letters. `last`: NULL after the last word. */
void gbnf_add_names(struct text *text, const char *rule, const char *const *words);

/* Adds rules that stand on a level of their language: with the level's number for each '$' of them, that of the next level for each '!', and
 * `count` for each '~'. A level that is written out has rules of its own, so that a grammar bounds how deep its texts nest. */
void gbnf_add_level(struct text *text, const char *rules, int level, int count);

#endif
