/* Text that grows: for output of unknown length. Zero-initialise before first use. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct text {
    char *bytes; /* NUL-terminated once something was added; NULL before */
    size_t length, capacity;
};

/* Appends bytes, a string, a printf. They end the process when the system has no memory
 * (base/memory.h). */
void text_append(struct text *text, const char *bytes, size_t length);
void text_add(struct text *text, const char *string);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts a '?' in the place of each byte that is no part of a character in UTF-8 (RFC 3629): what a candidate wrote or
 * named may be anything, and JSON takes nothing else. */
void text_make_utf8(char *string);
/* Returns true if text_make_utf8 would change nothing. */
bool text_is_utf8(const char *string);
/* Returns the bytes of the character at `at`, which is not the zero at the end. `*plain` is false for control characters (C0, C1), for
 * those that change the direction of text, and for a byte that begins no character in UTF-8: a terminal may obey any of these. */
size_t text_character(const char *at, bool *plain);
/* Writes what somebody else wrote for a terminal: characters that are not plain but tabs become '?', so that it moves no cursor and sets
 * no colour. NULL writes nothing. */
void text_put_plain(FILE *out, const char *string);
/* Returns the text for a byte in HTML, in an element and between quotes of either kind; NULL: the byte itself. */
const char *text_html_of(char byte);
/* Writes it so. NULL writes nothing. */
void text_put_html(FILE *out, const char *string);
/* Releases the bytes; the text is empty afterwards. */
void text_free(struct text *text);
/* Moves the text into the arena: "" if nothing was added. */
char *text_keep(struct text *text, struct arena *arena);

#endif
