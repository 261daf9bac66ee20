/* What people write in descriptions, as the language of formulas has it: LaTeX, letters and signs beyond ASCII, prose around a
 * formula. Texts live in the arena. */
#ifndef GEN_DESCRIBE_WORDS_H
#define GEN_DESCRIBE_WORDS_H

#include "base/arena.h"

#include <stdbool.h>

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
