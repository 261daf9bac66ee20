/* Names that somebody may have misspelt: how far apart two are, and which are nearest. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "base/arena.h"

#include <stdbool.h>

/* Edit distance of two names without regard to case (Wagner and Fischer, 1974); neighbours that are swapped are one edit. */
int names_distance(const char *a, const char *b);
/* "; did you mean a, b?" with at most three of `names` (up to a NULL) that are near `name`, nearest first; "" if none
 * is. The text lives in the arena. */
const char *names_hint(struct arena *arena, const char *name, const char *const *names);
/* True if the first `length` bytes of `name` are one of the words that '|' separates. */
bool names_among(const char *name, size_t length, const char *words);

#endif
