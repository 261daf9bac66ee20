/* Inside the reading of descriptions: what the lines say (describe.c) is checked (describe_check.c) and becomes a task
 * (describe_draft.c). */
#ifndef GEN_DESCRIBE_INTERNAL_H
#define GEN_DESCRIBE_INTERNAL_H

#include "base/arena.h"
#include "gen/describe.h"

#include <regex.h>
#include <stdbool.h>

#define DESCRIBE_WORD "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz" /* the letters of names */
enum { DESCRIBE_TYPES = 3, MOST_DIMS = 24, MOST_PATTERNS = 32 };
extern const char *const describe_types[DESCRIBE_TYPES];

/* What a name stands for. */
enum role { ROLE_STEP, ROLE_OUTPUT, ROLE_INPUT, ROLE_ATTR };
struct name {
    enum role role;
    const char *name, *value; /* value: the right side of a step, the number of an attribute */
    const char *shape;        /* as declared: "N, C"; NULL: it is not */
    const char *type;         /* of its own: "int8"; NULL: that of the others */
    const char *generate;     /* values that the description names; NULL: it does not */
    bool used;                /* by a step */
    bool declared;        /* by a line about it: a shape, a data type or a number that is not only read out of prose */
    bool mentioned;       /* a line is about it: "- `x`: the logits" */
    int line, shape_line; /* of its value, else the first one that names it; of its shape */
};
struct describe_pattern {
    const char *text;
    regex_t compiled;
};
struct gen_description {
    struct describe_pattern patterns[MOST_PATTERNS]; /* while lines are read */
    int pattern_count;
    const char *text;
    struct arena *arena;
    const char *path, *op;
    struct name *names;
    int count, capacity;
    const char *sought; /* each_name looks for it */
    bool found;
    const char *dims[MOST_DIMS]; /* the sizes' names, in order */
    int dim_count;
    bool types[DESCRIBE_TYPES]; /* that are named */
};
/* True for the text of a number: "1e-6". */
bool describe_is_number(const char *text);
/* Checks that the description is whole: formulas parse, each declared name is used or computed, and each name that formulas use is
 * declared where any tensor is. */
struct akgen_error *describe_check(const struct gen_description *description);
/* True if the name takes part in the task as this: outputs, and inputs and attributes that are used. */
bool describe_takes_part(const struct name *name, enum role role);

/* What people write in descriptions, as the language of formulas has it: LaTeX, letters and signs beyond ASCII, prose around a
 * formula. Texts live in the arena. */
/* A line without LaTeX and signs of mathematics: "\frac{x}{2} · σ(y)" is "((x)/(2)) * sigmoid(y)". */
const char *describe_plain(struct arena *arena, const char *line);
/* The line behind words that only say what follows: "Output:", "Compute", "where". */
const char *describe_unlabelled(const char *line);
/* The formula that a text begins with, without what Markdown and a sentence put behind it; |x| is abs(x). `rest`: what follows,
 * "" if nothing does. */
const char *describe_formula(struct arena *arena, const char *text, const char **rest);
/* A word that says nothing about which tensor has a shape: "tensor", "of", "shape", "float16". */
bool describe_is_filler(const char *word);

#endif
