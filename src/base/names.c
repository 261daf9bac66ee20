#include "base/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

int names_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int rows[3][LONGEST + 1], length = (int)strnlen(b, LONGEST), i = 1;
    for (int j = 0; j <= length; j++)
        rows[0][j] = j;
    for (; a[i - 1] && i <= LONGEST; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int change = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            int shift = (above[j] < row[j - 1] ? above[j] : row[j - 1]) + 1;
            row[j] = change < shift ? change : shift;
            bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            if (swapped && second[j - 2] + 1 < row[j])
                row[j] = second[j - 2] + 1;
        }
    }
    return rows[(i - 1) % 3][length];
}

const char *names_hint(struct arena *arena, const char *name, const char *const *names)
{
    enum { MOST = 3 };
    const char *text = "";
    int shown = 0, near = (int)strlen(name) / 3 + 1;
    for (int d = 0; d <= near && shown < MOST; d++)
        for (int i = 0; names[i] && shown < MOST; i++)
            if (names_distance(name, names[i]) == d)
                text = arena_printf(arena, "%s%s%s", text, shown++ ? ", " : "; did you mean ", names[i]);
    return shown ? arena_printf(arena, "%s?", text) : "";
}

bool names_among(const char *name, size_t length, const char *words)
{
    for (size_t word; *words; words += word + (words[word] == '|')) {
        word = strcspn(words, "|");
        if (word == length && memcmp(words, name, word) == 0)
            return true;
    }
    return false;
}
