#include "base/names.h"

#include <ctype.h>
#include <string.h>

int names_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int row[LONGEST + 1], length = (int)strnlen(b, LONGEST);
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] && i <= LONGEST; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            int shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < shift ? change : shift;
        }
    }
    return row[length];
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
