/* The words as a tree: a rule for what may follow each begin of a word. Where a begin is a word itself more has to follow. */
#include "base/gbnf.h"

#include <stdbool.h>
#include <string.h>

enum { LETTERS = 128 };

static bool may_follow(int c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

/* A class of characters, in ranges. */
static void add_class(struct text *text, const bool *has)
{
    text_add(text, "[");
    for (int c = 0; c < LETTERS; c++) {
        int last = c;
        while (has[c] && last + 1 < LETTERS && has[last + 1])
            last++;
        if (has[c])
            text_addf(text, last == c ? "%c" : "%c-%c", c, last);
        c = last;
    }
    text_add(text, "]");
}

/* What may follow the first `length` letters of a word. */
static void add_rule(struct text *text, const char *rule, const char *const *words, const char *begin, size_t length)
{
    bool next[LETTERS] = {false}, other[LETTERS] = {false}, word = false;
    for (const char *const *at = words; *at; at++)
        if (strncmp(*at, begin, length) == 0) {
            word |= !(*at)[length];
            next[(unsigned char)(*at)[length] % LETTERS] = true;
        }
    next[0] = false;
    for (int c = 1; c < LETTERS; c++)
        other[c] = !next[c] && may_follow(c, length == 0);
    text_addf(text, length ? "%s-%.*s ::= " : "%s ::= ", rule, (int)length, begin);
    if (length && !word)
        text_add(text, "\"\" | ");
    add_class(text, other);
    text_add(text, " [a-zA-Z0-9_]*");
    for (int c = 1; c < LETTERS; c++)
        if (next[c])
            text_addf(text, " | \"%c\" %s-%.*s%c", c, rule, (int)length, begin, c);
    text_add(text, "\n");
    for (int c = 1; c < LETTERS; c++)
        for (const char *const *at = words; *at && next[c]; at++)
            if (strncmp(*at, begin, length) == 0 && (*at)[length] == c) {
                add_rule(text, rule, words, *at, length + 1);
                next[c] = false;
            }
}

void gbnf_add_names(struct text *text, const char *rule, const char *const *words)
{
    add_rule(text, rule, words, "", 0);
}

void gbnf_add_level(struct text *text, const char *rules, int level, int count)
{
    for (; *rules; rules++)
        if (*rules == '$' || *rules == '!')
            text_addf(text, "%d", level + (*rules == '!'));
        else if (*rules == '~')
            text_addf(text, "%d", count);
        else
            text_append(text, rules, 1);
}
