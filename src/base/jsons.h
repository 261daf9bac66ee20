/* JSON of texts that may hold any bytes, which jansson's own functions refuse. */
#ifndef BASE_JSONS_H
#define BASE_JSONS_H

#include <jansson.h>

/* The text as a string, with what is no UTF-8 replaced (text_make_utf8); NULL is null. The caller's. */
json_t *jsons_text(const char *text);

#endif
