/* Values of an enum and their words. A list names both once,
 *     #define COLOURS(X) X(COLOUR_RED, "red") X(COLOUR_GREEN, "green")
 * and everything else is made from it: enum colour { COLOURS(WORD_VALUE) }; an array of names { COLOURS(WORD_NAME) },
 * the text "red|green" WORD_CHOICE(COLOURS). */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <string.h>

#define WORD_VALUE(value, word)  value,
#define WORD_NAME(value, word)   [value] = word,
#define WORD_BEHIND(value, word) "|" word
/* A constant, as argp wants it. */
#define WORD_CHOICE(list) (&list(WORD_BEHIND)[1])

/* The value whose word is `text`; -1 if there is none. */
static inline int word_find(const char *const *words, size_t count, const char *text)
{
    for (size_t i = 0; text && i < count; i++)
        if (words[i] && strcmp(words[i], text) == 0)
            return (int)i;
    return -1;
}

#endif
