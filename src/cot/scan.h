/* C++ in tokens, as far as cutting a file at its declarations takes: names, strings, directives, everything else byte by byte. Comments and spaces
 * lie between tokens. */
#ifndef COT_SCAN_H
#define COT_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum scan_kind { SCAN_NAME, SCAN_STRING, SCAN_DIRECTIVE, SCAN_NUMBER, SCAN_OTHER };
struct scan {
    const char *at; /* what comes next; set it to the text to begin with */
    /* The token that was read: */
    enum scan_kind kind;
    const char *begin;
    size_t length;
};
/* Reads the next token; false at the end of the text. A directive is all of its lines. */
bool scan_next(struct scan *scan);
bool scan_is(const struct scan *scan, const char *text);

#endif
