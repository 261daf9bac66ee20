/* Values of an enum and their words. A list names both once,
 *     #define COLOURS(X) X(COLOUR_RED, "red") X(COLOUR_GREEN, "green")
 * and everything else is made from it: `enum colour { COLOURS(WORD_VALUE) };`, the table
 * `const struct words colours = WORDS(COLOURS);`, and the text "red|green", WORD_CHOICE(COLOURS, ""). */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <string.h>

#define WORD_VALUE(value, word)  value,
#define WORD_ITEM(value, word)   [value] = word,
#define WORD_COUNT(value, word)  +1
#define WORD_BEHIND(value, word) "|" word

struct words {
    int count;
    const char *of[8]; /* by value */
};
#define WORDS(list)                                                                                                    \
    {                                                                                                                  \
        0 list(WORD_COUNT),                                                                                            \
        {                                                                                                              \
            list(WORD_ITEM)                                                                                            \
        }                                                                                                              \
    }
/* All words of a list, with `more` behind: a constant, as argp wants it. */
#define WORD_CHOICE(list, more) (&list(WORD_BEHIND) more[1])

/* The value whose word is `text`; -1 if there is none. */
static inline int words_find(const struct words *words, const char *text)
{
    for (int i = 0; text && i < words->count; i++)
        if (strcmp(words->of[i], text) == 0)
            return i;
    return -1;
}

#endif
