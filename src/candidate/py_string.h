/* The strings that a Python source assigns, read without Python.
 *
 * Read are: assignments `name = value`, `name: type = value` and `name += value`; values of string literals (every
 * quote, prefixes r, u, f, escapes), decimal numbers, names assigned before, `+`, adjacent literals, parentheses,
 * `.strip()` and `.replace(a, b)` of them; f-strings whose fields are names or literals; comments, strings that stand
 * alone, and imports, which have no effect. Nothing is executed: all else ends the reading with its line. */
#ifndef CANDIDATE_PY_STRING_H
#define CANDIDATE_PY_STRING_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct py_value {
    const char *name;
    const char *text; /* NUL-terminated; may hold no other NUL */
    bool number;      /* the text is a number's, as Python's str() gives it */
    int line;         /* of the assignment */
    int text_line;    /* of the first character of the value's first literal; 0 if it is put together */
};
struct py_strings {
    struct py_value *values; /* in order of their first assignment; a name is there once */
    int count;
};
enum py_problem_kind {
    PY_NONE,
    PY_INVALID,  /* Python would refuse it too */
    PY_BEYOND,   /* Python may take it, this reader does not */
    PY_EXECUTES, /* it asks Python to run, open or load something */
};
struct py_problem {
    enum py_problem_kind kind;
    int line;
    const char *message;
};

/* Reads `source`, whose first line is number `first_line` of its file. Strings live in the arena. On a problem the
 * strings read so far are returned with it. All strings together may have 16 MiB. */
void py_read(struct arena *arena, const char *source, int first_line, struct py_strings *strings,
             struct py_problem *problem);
/* The value of a name, NULL if it was not assigned. */
const struct py_value *py_find(const struct py_strings *strings, const char *name);

#endif
