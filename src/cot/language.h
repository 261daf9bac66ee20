/* In which language a text is, by the library CLD2, which is loaded when it is asked for. */
#ifndef COT_LANGUAGE_H
#define COT_LANGUAGE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct cot_languages;
/* "en,zh": languages by their codes, and "un" for texts of which none is known. NULL for NULL. An error: the library is not installed, or does not
 * know a code. In the arena. */
struct akgen_error *cot_languages_read(struct arena *arena, const char *codes, const struct cot_languages **languages);
/* Why a text in UTF-8 is in none of them; NULL: it is in one, or `languages` is NULL. */
const char *cot_languages_refuse(const struct cot_languages *languages, const char *text, size_t length);

#endif
